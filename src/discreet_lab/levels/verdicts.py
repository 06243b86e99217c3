"""What the study must show, judged by numbers. A goal fails where it is missed by more than two standard errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor, isfinite, log10, sqrt

import numpy as np

from discreet.arrays import Floats
from discreet.levels.asked import parse_asked
from discreet_lab.frontier.verdicts import MeanRatio, estimate
from discreet_lab.levels.methods import LEVEL, LevelsOutcome, Method, draws_of
from discreet_lab.levels.runs import LevelsRun
from discreet_lab.levels.scale import GIGABYTE, Scale
from discreet_lab.levels.tables import LevelsTable

STATES, NATION, COUNTIES = 11.0, 45.0, 1.2  # errors of murders; the last in parts of the default's
TWO_WAY = 30.0  # of adults by six attributes
COVERAGE = (0.94, 0.97)
WELL_KNOWN = 0.01  # standard error of a coverage that can be judged by itself
FEWEST_MISSES = 5  # to be expected: of fewer, a standard error says little about chance
MEMORY, TIMES, SEARCH = 2.0, 25.0, 10.0  # gigabytes; of the time that randomness takes; seconds
GOAL_BUDGET = "epsilon 0.5"
NAMED = 8  # errors that are named where they miss a goal; the others are counted
MANY_QUESTIONS = 8  # more of them are shown by how many columns they have


@dataclass(frozen=True, eq=False)
class LevelsCell:
    """A table and a budget, with the outcomes of every method in it, repeat by repeat."""

    study: LevelsTable
    budget: str
    outcomes: Mapping[Method, Mapping[int, LevelsOutcome]]

    @cached_property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """What is shown of the questions: each by itself, or those of one table by the number of columns they have."""
        layout = self.study.layout
        names = {str(layout.name(question)): question for question in self.study.truth}
        if len(names) <= MANY_QUESTIONS:
            return {name: (name,) for name in names}
        found: dict[str, tuple[str, ...]] = {}
        for name, question in names.items():
            ways = len(question.attributes) + question.level
            shown = name if name in ("total", "cells") else f"{ways}-way"
            found[shown] = (*found.get(shown, ()), name)
        return found

    def has(self, *methods: Method) -> bool:
        return all(self.outcomes.get(method) for method in methods)

    def values(self, method: Method, column: str, repeats: Iterable[int] | None = None) -> Floats:
        """The error of each repeat; of several questions in a column the mean, each as much as any other."""
        outcomes, names = self.outcomes[method], self.columns[column]
        chosen = sorted(outcomes) if repeats is None else repeats
        return np.array([np.mean([outcomes[r].errors[name] for name in names]) for r in chosen])

    def known(self, method: Method, column: str) -> bool:
        """Whether the method answers the questions of this column at all."""
        return self.has(method) and all(
            name in outcome.errors for outcome in self.outcomes[method].values() for name in self.columns[column]
        )

    def excess(self, method: Method, other: Method, column: str, factor: float = 1.0) -> MeanRatio:
        """By how much an error exceeds `factor` times that of the other method, paired by seed."""
        shared = sorted(set(self.outcomes[method]) & set(self.outcomes[other]))
        return estimate(self.values(method, column, shared) - factor * self.values(other, column, shared))

    def mean(self, method: Method, column: str) -> MeanRatio:
        return estimate(self.values(method, column))

    def __str__(self) -> str:
        return f"{self.study.name} {self.budget}"


@dataclass(frozen=True)
class Goal:
    """A goal, what was found, and whether it holds."""

    goal: str
    holds: bool
    found: str


def cells_of(runs: Sequence[LevelsRun], tables: Iterable[LevelsTable], budgets: Iterable[str]) -> list[LevelsCell]:
    found = []
    for table in tables:
        for budget in budgets:
            outcomes: dict[Method, dict[int, LevelsOutcome]] = {}
            for run in runs:
                if (run.table, run.budget) == (table.name, budget):
                    outcomes.setdefault(run.outcome.method, {})[run.repeat] = run.outcome
            if outcomes:
                found.append(LevelsCell(table, budget, outcomes))
    return found


def verdicts(cells: Sequence[LevelsCell], scale: Scale | None) -> list[Goal]:
    return [
        below(cells, "measure", "top-down", "at every level at or below top-down, with the same measurements"),
        below(cells, "measure, even shares", "top-down, even shares", "the same, both with even shares"),
        below(cells, "measure", "top-down, even shares", "the same, against top-down with even shares"),
        *murders(cells), *adults(cells), coverage(cells), *sizes(scale),
    ]  # fmt: skip


def below(cells: Sequence[LevelsCell], ours: Method, other: Method, goal: str) -> Goal:
    """No error surely above that of the other method; of those that are, the worst are named."""
    asked = [(one, column) for one in cells for column in one.columns if one.has(ours, other)]
    above = [(one, column, one.excess(ours, other, column)) for one, column in asked]
    worse = {
        f"{one} {column}": one.mean(ours, column).mean / one.mean(other, column).mean
        for one, column, excess in above
        if excess.surely_positive
    }
    unsure = sum(excess.mean > 0 for *_, excess in above) - len(worse)
    worst = sorted(worse, key=lambda name: worse[name], reverse=True)[:NAMED]
    named = ": " + "; ".join(f"{name} x {worse[name]:.3g}" for name in worst) if worst else ""
    more = f"; and {len(worse) - NAMED} more" if len(worse) > NAMED else ""
    found = f"{len(asked)} errors compared, {len(worse)} above{named}{more}"
    return Goal(goal, not worse and bool(asked), f"{found} ({unsure} on the wrong side within 2 standard errors)")


def murders(cells: Sequence[LevelsCell]) -> list[Goal]:
    one = _cell(cells, "murders", "measure", "default")
    if one is None:
        return []
    found = [
        _at_most(f"murders, {GOAL_BUDGET}: {name}", one.mean("measure", column), most)
        for name, column, most in (("states", "margin:state", STATES), ("nation", "total", NATION))
    ]
    excess, error = one.excess("measure", "default", "cells", COUNTIES), one.mean("measure", "cells")
    ratio = error.mean / one.mean("default", "cells").mean
    words = f"{plus_minus(error)}, {ratio:.3f} times the default's"
    goal = f"murders, {GOAL_BUDGET}: counties at most {COUNTIES} times the default's"
    return [*found, Goal(goal, not excess.surely_positive, words)]


def adults(cells: Sequence[LevelsCell]) -> list[Goal]:
    one = _cell(cells, "adult-6", "measure")
    if one is None:
        return []
    return [_at_most(f"adult-6, {GOAL_BUDGET}: two-way margins", one.mean("measure", "2-way"), TWO_WAY)]


def _cell(cells: Sequence[LevelsCell], table: str, *methods: Method) -> LevelsCell | None:
    some = (one for one in cells if one.study.name == table and one.budget == GOAL_BUDGET and one.has(*methods))
    return next(some, None)


def _at_most(goal: str, value: MeanRatio, most: float) -> Goal:
    """Judged by the mean itself; what chance may have done is said beside it."""
    near = abs(value.mean - most) <= 2 * value.error
    chance = ", within 2 standard errors of the goal" if near else ""
    return Goal(f"{goal} at most {most:g}", value.mean <= most, plus_minus(value) + chance)


def coverage(cells: Sequence[LevelsCell]) -> Goal:
    low, high = COVERAGE
    wrong, many, known = [], 0, []
    for one in cells:
        for name, share, least in covered(one):
            many += 1
            if (1 - LEVEL) * intervals_of(one, name) < FEWEST_MISSES:
                continue
            known += [share.mean] if share.error <= WELL_KNOWN else []
            if share.mean + 2 * share.error < low or share.mean - 2 * share.error > max(high, least):
                wrong.append(f"{one} {name}: {share.mean:.3f}")
    reached = f": {min(known):.3f} to {max(known):.3f}" if known else ""
    outside = f"; outside: {'; '.join(wrong)}" if wrong else ""
    found = f"{many} questions; {len(known)} are known to {WELL_KNOWN:g}{reached}; of the others too few were drawn"
    goal = f"coverage of 95% intervals from {low} to {high}, or the least that whole noise allows"
    return Goal(goal, bool(many) and not wrong, found + outside)


def covered(one: LevelsCell) -> list[tuple[str, MeanRatio, float]]:
    """Of every question: how many intervals held the truth, and how many would if they were as short as can be."""
    if not one.has("intervals"):
        return []
    outcomes = list(one.outcomes["intervals"].values())
    shares = {name: np.array([outcome.errors[name] for outcome in outcomes]) for name in outcomes[0].errors}
    return [(name, _share(one, name, values), outcomes[0].least[name]) for name, values in shares.items()]


def _share(one: LevelsCell, name: str, values: Floats) -> MeanRatio:
    """With a standard error of at least that of as many intervals that do not depend on each other."""
    found, alone = estimate(values), sqrt(LEVEL * (1 - LEVEL) / intervals_of(one, name))
    return MeanRatio(found.mean, max(found.error, alone) if isfinite(found.error) else alone)


def intervals_of(one: LevelsCell, name: str) -> int:
    """How many were drawn for a question."""
    layout = one.study.layout
    draws = len(one.outcomes["intervals"]) * draws_of(one.study)
    return draws * layout.design.entries(layout.question(parse_asked(name).what))


def sizes(scale: Scale | None) -> list[Goal]:
    if scale is None:
        return []
    memory, place = scale.memory / GIGABYTE, f"us, {scale.rows:,} cells"
    steps = " + ".join(f"{seconds:.2g} s" for seconds in (scale.measuring, scale.combining, scale.rounding))
    rounds = f"from {scale.ratios[0]:.0f} to {scale.ratios[1]:.0f} by round"
    whole = f"with all estimates and intervals {scale.whole_ratio:.0f} times"
    work = f"{steps}, {scale.ratio:.0f} times ({rounds}); {whole}"
    goal = f"{place}: measuring, combining and rounding at most {TIMES:g} times os.urandom"
    return [
        Goal(f"{place}: memory under {MEMORY:g} GB", memory < MEMORY, f"{memory:.2f} GB"),
        Goal(goal, scale.ratio <= TIMES, work),
        Goal(f"{place}: search for shares under {SEARCH:g} s", scale.search < SEARCH, f"{scale.search:.2g} s"),
    ]  # fmt: skip


def plus_minus(value: MeanRatio) -> str:
    """A mean and its standard error, where there is one."""
    return plain(value.mean, 3) + (f" ± {plain(value.error, 2)}" if isfinite(value.error) else "")


def plain(number: float, digits: int) -> str:
    """So many digits, and no exponent."""
    if not number:
        return "0"
    places = digits - 1 - floor(log10(abs(number)))
    return f"{round(number, places):,.{max(places, 0)}f}"
