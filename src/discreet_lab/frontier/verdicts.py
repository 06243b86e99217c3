"""What the study must show, judged cell by cell. A cell fails where it is wrong by more than two standard errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet_lab.frontier.methods import Method
from discreet_lab.frontier.runs import Run, StudyCell
from discreet_lab.frontier.tables import StudyTable

STANDARD_ERRORS = 2  # beyond which a difference is not put down to chance
SAME = 1.01  # of an error: less than a hundredth more is no difference to anybody
NEAR_ORACLE = 1.03  # of the error of who knows the true distribution
PROMISE = 0.10  # of the measured error: how far the one in the record may be off
TWENTIETH = 0.05  # of a count: by so much it may be off where next to nothing is left of the error
BETTER, LOWER = 0.7, 0.8  # shares of the cells that are to be better than plain noise, and than version 0.1
SMALL_BUDGET = 1.0  # epsilon; above it plain noise is hard to improve on
MANY_ROWS, ENOUGH_ROWS = 1000, 100  # for the oracle, whose knowledge is worth most in small tables; for the promise
COUNT, DISTRIBUTION, SUM = 0, 1, 2  # the columns of errors
BOTH = (COUNT, DISTRIBUTION)
NAMES = ("count error", "distribution error", "sum of both")


@dataclass(frozen=True)
class MeanRatio:
    """A mean over repeats, and its standard error."""

    mean: float
    error: float

    @property
    def surely_positive(self) -> bool:
        return self.mean > STANDARD_ERRORS * self.error

    @property
    def surely_negative(self) -> bool:
        return self.mean < -STANDARD_ERRORS * self.error


def estimate(values: Floats) -> MeanRatio:
    spread = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return MeanRatio(float(values.mean()), spread)


@dataclass(frozen=True, eq=False)
class Judged:
    """A cell with the errors of every method in it."""

    cell: StudyCell
    table: StudyTable
    runs: tuple[Run, ...]

    def has(self, *methods: Method) -> bool:
        return set(methods) <= {run.method for run in self.runs}

    def run(self, method: Method) -> Run:
        return next(run for run in self.runs if run.method == method)

    def errors(self, method: Method) -> Floats:
        """A line for each repeat: count error, distribution error, their sum."""
        both = self.run(method).errors
        return np.column_stack([both, both.sum(axis=1)])

    def paired(self, method: Method, other: Method, error: int) -> tuple[Floats, Floats]:
        """One error of both methods in the repeats that both have."""
        shared = min(self.run(method).repeats, self.run(other).repeats)
        return self.errors(method)[:shared, error], self.errors(other)[:shared, error]

    def mean(self, method: Method, error: int) -> float:
        return float(self.errors(method)[:, error].mean())

    def excess(self, method: Method, other: Method, error: int, factor: float = 1.0) -> MeanRatio:
        """By how much the method's error exceeds `factor` times that of the other, repeat by repeat."""
        one, two = self.paired(method, other, error)
        return estimate(one - factor * two)

    def ratio(self, method: Method, other: Method, error: int) -> float:
        above, below = (float(values.mean()) for values in self.paired(method, other, error))
        return above / below if below else 1.0 if not above else math.inf


@dataclass(frozen=True)
class Finding:
    """A cell that is not as it should be."""

    cell: StudyCell
    what: str
    ratio: float  # of the error to what it is compared with
    sure: bool  # beyond two standard errors
    apart: float = math.nan  # two standard errors of the ratio

    def __str__(self) -> str:
        within = f" ± {self.apart:.2g}" if math.isfinite(self.apart) else ""
        return f"{self.cell}: {self.what} x {self.ratio:.3g}{within}"


@dataclass(frozen=True)
class Verdict:
    """One thing that the study must show."""

    name: str
    cells: int
    findings: tuple[Finding, ...] = ()
    share: float | None = None  # of the cells that are better
    needed: float | None = None

    @property
    def failing(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.sure)

    @property
    def holds(self) -> bool:
        return not self.failing and (self.share is None or self.needed is None or self.share >= self.needed)


def judged(runs: Sequence[Run], tables: Iterable[StudyTable]) -> list[Judged]:
    """The cells of these tables that have been run, in the order of the tables."""
    by_cell: dict[StudyCell, list[Run]] = {}
    for run in runs:
        by_cell.setdefault(run.cell, []).append(run)
    named = {table.name: table for table in tables}
    order = {name: place for place, name in enumerate(named)}
    cells = sorted(
        (cell for cell in by_cell if cell.table in named),
        key=lambda cell: (cell.with_max_count, order[cell.table], cell.budget),
    )
    return [Judged(cell, named[cell.table], tuple(by_cell[cell])) for cell in cells]


def verdicts(cells: Sequence[Judged]) -> tuple[Verdict, ...]:
    """All of them, of these cells."""
    return (
        not_above(cells, "balance against plain noise: neither error above", "balance", "plain", BOTH, SAME),
        both_better(cells),
        not_above(cells, "balance against version 0.1: the sum not above", "balance", "version 0.1", (SUM,), SAME),
        sum_lower(cells),
        near_oracle(cells, "counts", "oracle"),
        near_oracle(cells, "balance", "oracle by rank"),
        near_oracle(cells, "balance", "oracle"),
        not_above(
            [one for one in cells if one.cell.budget <= SMALL_BUDGET],
            "distribution against the paper's pipeline: both errors below", "distribution", "paper", BOTH,
        ),
        not_above(
            cells, "distribution against version 0.1: W1 not above", "distribution", "version 0.1", (DISTRIBUTION,)
        ),
        promise(cells, "balance"),
        promise(cells, "balance", TWENTIETH),
        promise(cells, "counts"),
        promise(cells, "counts", TWENTIETH),
        promise(cells, "distribution"),
        promise(cells, "distribution", TWENTIETH),
    )  # fmt: skip


def held_out(cells: Sequence[Judged]) -> tuple[Verdict, ...]:
    """The same, of the tables that chose nothing."""
    return verdicts([one for one in cells if one.table.held_out])


def not_above(
    cells: Sequence[Judged], name: str, method: Method, other: Method, errors: tuple[int, ...], factor: float = 1.0
) -> Verdict:
    """In no cell is an error above `factor` times that of the other method."""
    asked = [one for one in cells if one.has(method, other)]
    found = [_finding(one, method, other, error, factor) for one in asked for error in errors]
    return Verdict(name, len(asked), tuple(one for one in found if one is not None))


def _finding(one: Judged, method: Method, other: Method, error: int, factor: float) -> Finding | None:
    excess = one.excess(method, other, error, factor)
    if excess.mean <= 0:
        return None
    below = float(one.paired(method, other, error)[1].mean())
    apart = STANDARD_ERRORS * excess.error / below if below else math.nan
    return Finding(one.cell, NAMES[error], one.ratio(method, other, error), excess.surely_positive, apart)


def both_better(cells: Sequence[Judged]) -> Verdict:
    asked = [one for one in cells if one.cell.budget <= SMALL_BUDGET and one.has("balance", "plain")]
    name = f"balance against plain noise: both errors lower (epsilon up to {SMALL_BUDGET:g})"

    def better(one: Judged) -> bool:
        return all(one.excess("balance", "plain", error).mean < 0 for error in BOTH)

    return _share(name, asked, better, BETTER)


def sum_lower(cells: Sequence[Judged]) -> Verdict:
    asked = [one for one in cells if one.has("balance", "version 0.1")]
    name = "balance against version 0.1: the sum lower"
    return _share(name, asked, lambda one: one.excess("balance", "version 0.1", SUM).mean < 0, LOWER)


def _share(name: str, cells: Sequence[Judged], better: Callable[[Judged], bool], needed: float) -> Verdict:
    share = sum(better(one) for one in cells) / len(cells) if cells else None
    return Verdict(name, len(cells), (), share, needed)


def near_oracle(cells: Sequence[Judged], method: Method, oracle: Method) -> Verdict:
    asked = [one for one in cells if one.table.rows >= MANY_ROWS and one.cell.budget <= SMALL_BUDGET]
    name = f"{method} against the {oracle}: count error at most {NEAR_ORACLE} of it ({MANY_ROWS:,} rows or more)"
    return not_above(asked, name, method, oracle, (COUNT,), NEAR_ORACLE)


def promise(cells: Sequence[Judged], method: Method, least: float = 0.0) -> Verdict:
    """The count error in the record is the measured one, on average; or no more than `least` counts from it."""
    asked = [one for one in cells if one.table.rows >= ENOUGH_ROWS and one.has(method)]
    found = (_broken(one, method, least) for one in asked)
    within = f"{PROMISE:.0%} or {least} of a count" if least else f"{PROMISE:.0%}"
    name = f"{method}: the count error in the record within {within} of the measured one"
    return Verdict(name, len(asked), tuple(one for one in found if one is not None))


def _broken(one: Judged, method: Method, least: float) -> Finding | None:
    run = one.run(method)
    promised, measured = np.array(run.promised), np.array(run.count)
    allowed = np.maximum(PROMISE * measured, least)
    over, under = (estimate(sign * (promised - measured) - allowed) for sign in (1, -1))
    if over.mean <= 0 and under.mean <= 0:
        return None
    worst = max(over, under, key=lambda side: side.mean)
    below = float(measured.mean())
    ratio, apart = math.inf, math.nan
    if below:
        ratio, apart = float(promised.mean()) / below, STANDARD_ERRORS * worst.error / below
    return Finding(one.cell, "promised", ratio, worst.surely_positive, apart)
