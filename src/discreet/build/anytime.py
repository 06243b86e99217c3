"""Designs without a largest size: better and better answers, each with the gap that is left, until time is up.

Every step allows more free counts near both ends: the best mechanism of such a family from above, multipliers of the
same kind from below. From the start there are the explicit fair mechanism and the one that ignores its input, which
have every structural property, or where the chance of the truth is given a mixture of both that has it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.arrays import Floats
from discreet.build.explicit import explicit_fair, uniform
from discreet.build.optimum import meets
from discreet.build.relaxed import relaxed_bound
from discreet.build.repeated import best_of_family, tied
from discreet.build.structure import power_weights
from discreet.build.structured import Structured
from discreet.errors import SolverFailed, called
from discreet.mechanism import Exponents, Mechanism, of_weights
from discreet.numbers import Epsilon, text

Told = Callable[[float, float], None]  # the relative gap, and the seconds spent
CLOSE_ENOUGH = 3e-5  # relative gap: half of it takes twice as long
WIDTHS = (1, 2, 3, 4, 5, 6.5, 8, 10, 12, 15, 20)  # of the free edges, in parts of 1/epsilon, which noise is wide
LEAST_EDGE, LEAST_REACH = 2, 2  # counts, where noise is narrow
REACH = 0.4  # in parts of 1/epsilon, beyond where the best answers are: more made bounds worse and programs larger
FARTHEST = 6.0  # in parts of 1/epsilon: answers that are best so far from the truth are tried as far away as this
AROUND = 2  # times as far as the best answers are: columns rise up to there, and have to fall again
ROOMS = (1e-7, 1e-6, 1e-5)  # parts of epsilon, and of every order, left for the errors of the solver
MIXED = 2.0**-32  # share of a uniform answer: no entry is then so small that it needs many bits
FRACTION_BITS = 84  # of integer weights: the smallest, MIXED over the counts, still has as many digits as ROOMS need
LONGEST_GROWTH = 2.0  # how many times as long as the last step the next one is expected to take


@dataclass(frozen=True, eq=False)
class NearOptimum:
    """The best mechanism that was found, what it costs, and what none can cost less than; `edge` made it, if any."""

    mechanism: Mechanism
    value: float
    bound: Fraction
    edge: int | None

    @property
    def gap(self) -> float:
        return max(0.0, self.value - float(self.bound)) / abs(self.value) if self.value else 0.0


def anytime(
    task: Structured, epsilon: Epsilon, seconds: float, known: Fraction | None = None, tell: Told | None = None
) -> NearOptimum:
    """The best that is found in about so many seconds, sooner if hardly anything is left to gain.

    `known` is a cost that no private mechanism is below, whatever else is required.
    """
    start = time.monotonic()
    best, bound, spent = _first(task, epsilon), _least(task), 0.0
    bound = bound if known is None else max(bound, known / task.unit)
    for edge, reach in _edges(task, epsilon):
        left = seconds - (time.monotonic() - start)
        if (best is not None and replace(best, bound=bound).gap <= CLOSE_ENOUGH) or LONGEST_GROWTH * spent > left:
            break
        begun = time.monotonic()
        bound = max(bound, relaxed_bound(task, epsilon, edge, reach, left) or bound)
        found = _of_family(task, epsilon, edge, reach, left - (time.monotonic() - begun))
        if found is not None and (best is None or found.value < best.value):
            best = found
        spent = time.monotonic() - begun
        if tell is not None and best is not None:
            tell(replace(best, bound=bound).gap, time.monotonic() - start)
    if best is None:
        asked = f"a mechanism with {called('max_count')} {task.size - 1} was asked for"
        found_none = f"none with truth={text(task.truth or Fraction(0))} was found"
        raise SolverFailed(asked, found_none, f"From 1/{task.size} to {_nearly_fairest(task, epsilon)} there is one")
    return replace(best, value=best.value * float(task.unit), bound=bound * task.unit)


def _edges(task: Structured, epsilon: Epsilon) -> Iterator[tuple[int, int]]:
    """The widths of edges to try, the last without anything between them; a reach of one is enough there."""
    size, loss = task.size, float(np.log(float(epsilon.bounds()[0])))
    reach = max(LEAST_REACH, round(REACH / loss)) + AROUND * displaced(task, loss)
    for width in WIDTHS:
        edge = max(LEAST_EDGE, round(width / loss))
        if 2 * (edge + 2 * reach) + 2 >= size:
            yield size, 1
            return
        yield edge, reach


def displaced(task: Structured, loss: float) -> int:
    """How far from the truth the best answers are, where costs are lopsided: those of a middle count, with noise."""
    middle, places = task.size // 2, np.arange(task.size)
    noise = np.exp(-loss * np.abs(np.subtract.outer(places, places)))
    noise /= noise.sum(axis=1, keepdims=True)
    best = int(np.argmin(noise @ task.prices[middle]))
    return min(abs(best - middle), round(FARTHEST / loss))


def _first(task: Structured, epsilon: Epsilon) -> NearOptimum | None:
    """The cheapest of those that need no program."""
    last = task.size - 1
    if task.truth is None:
        known = [explicit_fair(last, epsilon), uniform(last)]
    else:
        known = [made for made in (_mixed(task, task.truth, epsilon),) if made is not None]
    return min((_costing(task, made, None) for made in known), key=lambda one: one.value, default=None)


def _nearly_fairest(task: Structured, epsilon: Epsilon) -> float:
    """A chance of the truth that some mechanism has for certain, in few digits."""
    return math.floor(float(np.diagonal(explicit_fair(task.size - 1, epsilon).matrix()).min()) * 10**9) / 10**9


def _costing(task: Structured, mechanism: Mechanism, edge: int | None) -> NearOptimum:
    return NearOptimum(mechanism, float((task.prices * mechanism.matrix()).sum()), Fraction(0), edge)


def _mixed(task: Structured, truth: Fraction, epsilon: Epsilon) -> Mechanism | None:
    """The explicit fair mechanism and the uniform one in such shares that the truth has this chance; below 1/n
    everything else is as likely as everything else. Every row holds the same numbers, so their sums agree."""
    form = explicit_fair(task.size - 1, epsilon).form
    assert isinstance(form, Exponents)
    weights, total = power_weights(form.odds, form.powers[0].tolist())
    even, most = Fraction(1, task.size), Fraction(weights[0], total)
    share = min(max((truth - even) / (most - even), Fraction(0)), Fraction(1))
    chances = [share * weight / total + (1 - share) * even for weight in weights]
    levels = np.array([int(chance * 2**FRACTION_BITS) for chance in chances], dtype=object)
    told, others = truth.numerator, int(levels[form.powers[0][1:]].sum())
    rows = levels[form.powers] * (truth.denominator - told)
    np.fill_diagonal(rows, others * told)
    made = rows.tolist()
    if not meets(task.problem, made, others * truth.denominator):
        return None
    return of_weights("designed", made, odds=text(task.problem.odds))


def _least(task: Structured) -> Fraction:
    """No answer costs less than the cheapest."""
    return sum((Fraction(low) for low in task.below.min(axis=1).tolist()), Fraction(0))


def _of_family(task: Structured, epsilon: Epsilon, edge: int, reach: int, seconds: float) -> NearOptimum | None:
    """In integers and checked, with as little room for rounding as will do."""
    ties, loss = tied(task.size, edge, reach, task.mirrored, task.fair), float(np.log(float(task.problem.odds)))
    for room in ROOMS:
        found = best_of_family(task, ties, float(np.exp(-loss * (1 - room))), room, seconds)
        if found is None:
            return None
        rows, total = integers(task, found)
        if meets(task.problem, rows, total):
            made = of_weights("designed", rows, odds=text(task.problem.odds))
            return _costing(task, made, edge)
    return None


def integers(task: Structured, matrix: Floats) -> tuple[list[list[int]], int]:
    """Integer weights; what the sum of a row lacks goes to its largest entry off the diagonal."""
    size, denominator = task.size, 1 if task.truth is None else task.truth.denominator
    mixed = np.maximum(matrix, 0.0) * (1 - MIXED) + MIXED / size
    total = denominator << (FRACTION_BITS + 1)
    rows: list[list[int]] = []
    for i, line in enumerate(mixed.tolist()):
        if task.mirrored and 2 * i >= size:
            rows.append(rows[size - 1 - i][::-1])
            continue
        row = [2 * denominator * int(math.ldexp(entry, FRACTION_BITS)) for entry in line]
        row[i] = row[i] if task.truth is None else int(total * task.truth)
        largest, lack = int(np.argmax(np.where(np.arange(size) == i, -1.0, line))), total - sum(row)
        if task.mirrored and 2 * i == size - 1:  # the row is its own mirror image, and every weight is even
            row[size - 1 - largest] += lack // 2
            lack -= lack // 2
        row[largest] += lack
        rows.append(row)
    return rows, total
