"""The published samplers, as baselines: Metropolis on Smith's coordinates, its coupling, and independent proposals.

The first three are algorithms 1, 2 and 3 of 'Integer Subspace Differential Privacy'; the last is algorithm 1 of
'Congenial Differential Privacy under Mandated Disclosure'. Nothing they draw is for release.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np

from discreet.arrays import Integers, Objects
from discreet.errors import BadInput, MissingExtra, NotProven, choose
from discreet.lattice.laws import LAWS

PROPOSAL_RATES = tuple(round(0.1 * step, 1) for step in range(2, 13))


@dataclass(frozen=True)
class Smith:
    """left @ matrix @ right = diagonal, left and right unimodular, each diagonal entry dividing the next."""

    left: Objects
    diagonal: Objects
    right: Objects
    rank: int

    def kernel(self) -> Integers:
        """A basis of what the matrix sends to zero, one vector a row: the last columns of `right`."""
        return self.right[:, self.rank :].T.astype(np.int64)


def smith(matrix: Any) -> Smith:
    """Smith's normal form with both transforms, in exact integers."""
    work = np.array([[int(entry) for entry in row] for row in np.asarray(matrix)], dtype=object)
    height, width = work.shape
    left, right = _identity(height), _identity(width)
    rank = 0
    while rank < min(height, width) and _bring_pivot(work, left, right, rank):
        while not _clear(work, left, right, rank):
            pass
        if work[rank, rank] < 0:
            work[rank], left[rank] = -work[rank], -left[rank]
        rank += 1
    return Smith(left, work, right, rank)


def _identity(size: int) -> Objects:
    return np.array([[int(i == j) for j in range(size)] for i in range(size)], dtype=object).reshape(size, size)


def _bring_pivot(work: Objects, left: Objects, right: Objects, at: int) -> bool:
    """Move an entry of least size, zero excepted, to the place `at` of the diagonal."""
    rows, columns = np.nonzero(work[at:, at:])
    if not len(rows):
        return False
    best = min(range(len(rows)), key=lambda i: abs(work[at + rows[i], at + columns[i]]))
    _swap(work, left, at, at + int(rows[best]))
    _swap(work.T, right.T, at, at + int(columns[best]))
    return True


def _swap(work: Objects, transform: Objects, one: int, other: int) -> None:
    for matrix in (work, transform):
        matrix[[one, other]] = matrix[[other, one]]


def _clear(work: Objects, left: Objects, right: Objects, at: int) -> bool:
    """One round towards an empty row and column beside the pivot, dividing all that is left; True when done."""
    for side, transform in ((work.T, right.T), (work, left)):
        _subtract_pivot(side, transform, at)
        rest = at + 1 + np.flatnonzero(side[at + 1 :, at])
        if len(rest):
            _swap(side, transform, at, int(min(rest, key=lambda i: abs(side[i, at]))))
            return False
    rows, _ = np.nonzero(work[at + 1 :, at + 1 :] % work[at, at])
    if len(rows):
        other = at + 1 + int(rows[0])
        work[at] = work[at] + work[other]
        left[at] = left[at] + left[other]
        return False
    return True


def _subtract_pivot(work: Objects, transform: Objects, at: int) -> None:
    """Take the largest multiple of the pivot's row off every row below."""
    times = work[at + 1 :, at] // work[at, at]
    rows = at + 1 + np.flatnonzero(times)
    if len(rows):
        for matrix in (work, transform):
            matrix[rows] = matrix[rows] - np.outer(times[rows - at - 1], matrix[at])


@dataclass(frozen=True)
class Path:
    """Recorded states, one a row, and the share of proposals that were accepted."""

    states: Integers
    acceptance: float


@dataclass(frozen=True)
class MetropolisSampler:
    """Double-geometric jumps in the coordinates of a basis, with parameter `ratio`, accepted by the target's ratio.

    `joint`: all coordinates jump at once, as printed; otherwise one after the other, which accepts far more often.
    """

    basis: Integers
    law: str
    rate: float
    ratio: float
    joint: bool = True

    def path(self, rng: np.random.Generator, records: int, thin: int = 1) -> Path:
        kernels, width = compiled(), self.basis.shape[1]
        out = np.empty((records, width), dtype=np.int64)
        accepted = kernels.metropolis(
            rng, *sparse_rows(self.basis), math.log(self.ratio), LAWS.index(self.law), self.rate, self.joint, thin,
            np.zeros(width, dtype=np.int64), out,
        )  # fmt: skip
        return Path(out, accepted / (records * thin * (1 if self.joint else len(self.basis))))

    def meetings(self, rng: np.random.Generator, runs: int, lag: int, most: int) -> Integers:
        """Meeting times of the published coupling: jumps coupled maximally, one uniform number for both acceptances."""
        if not self.joint:
            raise BadInput("a coupling was asked for", "it is defined for joint jumps only")
        kernels, rows = compiled(), sparse_rows(self.basis)
        args = (self.basis.shape[1], math.log(self.ratio), LAWS.index(self.law), self.rate, lag, most)
        found = np.array([kernels.meeting(rng, *rows, *args) for _ in range(runs)], dtype=np.int64)
        if (found > most).any():
            raise NotProven(
                f"{runs} meetings were asked for", f"{int((found > most).sum())} took over {most} iterations"
            )
        return found


def metropolis_sampler(
    matrix: Any, *, law: str = "l1", rate: float = 0.25, ratio: float = math.exp(-1), joint: bool = True
) -> MetropolisSampler:
    """The published sampler of the generalized Laplace law, on the basis that Smith's form gives."""
    choose(law, LAWS, "law")
    return MetropolisSampler(smith(matrix).kernel(), law, rate, ratio, joint)


@dataclass(frozen=True)
class IndependenceSampler:
    """Proposals that do not depend on the state: free cells get double-geometric noise, the others are solved for."""

    free: Integers
    dependent: Integers
    solve: Integers
    divisor: int
    rate: float
    proposal_rate: float
    lower: Integers

    def path(self, rng: np.random.Generator, records: int, thin: int = 1) -> Path:
        width = len(self.free) + len(self.dependent)
        out, state = np.empty((records, width), dtype=np.int64), np.zeros(width, dtype=np.int64)
        accepted = compiled().independence(
            rng, self.free, self.dependent, self.solve, self.divisor, self.rate, self.proposal_rate, self.lower, thin,
            state, out,
        )  # fmt: skip
        return Path(out, accepted / (records * thin))


def independence_sampler(
    matrix: Any,
    counts: Any,
    *,
    rate: float,
    proposal_rate: float,
    nonnegative: bool = True,
    dependent: Iterable[int] | None = None,
) -> IndependenceSampler:
    """The published sampler under inequalities. `dependent`: the cells solved for, one per independent sum."""
    dense = np.asarray(matrix, dtype=np.int64)
    kept = _independent_rows(dense)
    solved = np.array(_independent_rows(dense[kept].T) if dependent is None else sorted(dependent), dtype=np.int64)
    free = np.setdiff1d(np.arange(dense.shape[1]), solved)
    solve, divisor = _solution(dense[kept][:, solved], dense[kept][:, free])
    bounds = -np.asarray(counts, dtype=np.int64) if nonnegative else np.full(dense.shape[1], -(1 << 40))
    return IndependenceSampler(free, solved, solve, divisor, rate, proposal_rate, bounds)


def tuned(
    sampler: IndependenceSampler,
    rng: np.random.Generator,
    rates: Iterable[float] = PROPOSAL_RATES,
    proposals: int = 20_000,
) -> IndependenceSampler:
    """The proposal rate that is accepted most often."""
    tried = [_with_rate(sampler, rate) for rate in rates]
    return max(tried, key=lambda one: one.path(rng, 1, proposals).acceptance)


def _with_rate(sampler: IndependenceSampler, rate: float) -> IndependenceSampler:
    from dataclasses import replace

    return replace(sampler, proposal_rate=rate)


def _independent_rows(matrix: Any) -> list[int]:
    """Rows that span the row space, taken greedily, by exact elimination."""
    found: list[int] = []
    reduced: list[tuple[int, list[Fraction]]] = []
    for number, row in enumerate(matrix):
        left = [Fraction(int(entry)) for entry in row]
        for lead, basis in reduced:
            if left[lead]:
                times = left[lead]
                left = [entry - times * other for entry, other in zip(left, basis)]
        first = next((place for place, entry in enumerate(left) if entry), None)
        if first is not None:
            reduced.append((first, [entry / left[first] for entry in left]))
            found.append(number)
    return found


def _solution(square: Integers, rest: Integers) -> tuple[Integers, int]:
    """Integers S and q with dependent = S free / q wherever square dependent + rest free = 0."""
    from flint import fmpz_mat

    if square.shape[0] != square.shape[1] or not fmpz_mat(square.tolist()).det():
        raise BadInput(
            "the dependent cells were named",
            "the sums do not determine them",
            f"Name {square.shape[0]} cells whose columns are independent",
        )
    adjugate_times, divisor = fmpz_mat(square.tolist()).solve(fmpz_mat((-rest).tolist())).numer_denom()
    table = [[int(entry) for entry in row] for row in adjugate_times.tolist()]
    return np.array(table, dtype=np.int64).reshape(rest.shape), int(divisor)


def sparse_rows(basis: Integers) -> tuple[Integers, Integers, Integers]:
    """Where each vector starts, its cells, its steps."""
    rows, cells = np.nonzero(basis)
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(basis)))]).astype(np.int64)
    return start, cells.astype(np.int64), basis[rows, cells].astype(np.int64)


def compiled() -> ModuleType:
    """The compiled baselines, or an error that says how to get them."""
    try:
        from discreet_lab.samplers import _kernels
    except ImportError as error:
        raise MissingExtra(
            "a published sampler was asked for", "it needs numba, which is not installed", "Install discreet[fast]"
        ) from error
    return _kernels
