"""Properties that cost nothing: among equally good mechanisms, one that has more of the structural properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.build.formulation import Problem
from discreet.build.optimum import Optimum, solved
from discreet.errors import SolverFailed
from discreet.requirements import Requirement, structural

NO_LOSS = Fraction(1, 10**9)  # of the cost: as much as the margin with which programs are solved may take
LARGEST = 61  # inputs; each try solves a program as large as the first, which takes half a minute beyond


def with_free(problem: Problem, best: Optimum) -> tuple[Optimum, tuple[str, ...]]:
    """A mechanism as good as the best, and the properties that it has beyond those required; all at once if that can
    be, otherwise one after the other."""
    missed = [one for one in structural() if one.check(best.rows, best.total) is not None]
    if not missed or problem.size > LARGEST:
        return best, ()
    found = _also(problem, best, missed)
    if found is not None:
        return found, tuple(one.name for one in missed)
    given: list[Requirement] = []
    for one in missed:
        if one.check(best.rows, best.total) is None:  # it came with another
            given.append(one)
        elif (found := _also(problem, best, [*given, one])) is not None:
            best, given = found, [*given, one]
    return best, tuple(one.name for one in given)


def _also(problem: Problem, best: Optimum, more: Sequence[Requirement]) -> Optimum | None:
    """The optimum with more requirements, if it costs no more; what bounds the cost without them bounds it still."""
    try:
        other = solved(replace(problem, requirements=(*problem.requirements, *more)))
    except SolverFailed:
        return None
    if other is None or other.value - best.value > NO_LOSS * abs(best.value):
        return None
    return Optimum(other.rows, other.total, other.value, best.bound)
