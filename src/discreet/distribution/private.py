"""Stage one: the distribution of counts, made private."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers
from discreet.distribution.max_count import MaxCount, private_max_count, share_for_max_count
from discreet.distribution.privatizer import Idealised, privatizer
from discreet.distribution.projections import PROJECTIONS
from discreet.errors import BadInput, choose
from discreet.guarantee import Grade
from discreet.numbers import Epsilon, Number, epsilon_of, positive, probability, whole
from discreet.sample.bits import Bits, source
from discreet.sample.laws import Gaussian, Geometric
from discreet.sample.noise import gaussian, geometric

LARGEST_RANGE = 10_000_000


@dataclass(frozen=True, eq=False)
class PrivateDistribution:
    """An estimate of the distribution of counts that may be published, and the noisy answers it came from.

    For the method `cumulative`, `measurements` holds the noisy numbers of rows with a count of at most 0, 1, ...
    """

    distribution: Floats
    measurements: NDArray[Any] = field(repr=False)
    noise: Geometric | Gaussian | None  # the law of the noise in every measurement; None where it is continuous
    method: str
    projection: str
    max_count: int
    rows: int
    epsilon: Epsilon | None  # everything spent here; None where rho is
    rho: Fraction | None
    delta: Fraction
    contributions: int
    bought_max_count: MaxCount | None
    grade: Grade
    private: bool

    def as_json(self) -> dict[str, Any]:
        return {
            "distribution": [float(share) for share in self.distribution],
            "method": self.method,
            "projection": self.projection,
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "rho": None if self.rho is None else str(self.rho),
            "delta": str(self.delta),
            "max_count": self.max_count,
            "rows": self.rows,
            "contributions": self.contributions,
            "grade": self.grade,
            "private": self.private,
        }


@dataclass(frozen=True)
class _Budget:
    """Epsilon (with a delta for the idealised) or rho, and in how many rows one person may be counted."""

    epsilon: Epsilon | None
    rho: Fraction | None
    delta: Fraction
    contributions: int


def private_distribution(
    table_or_histogram: Any,
    epsilon: Number | Epsilon | None = None,
    alpha: Number | None = None,
    method: str = "cumulative",
    max_count: int | str | None = None,
    *,
    rho: Number | None = None,
    delta: Number = 0,
    projection: str | None = None,
    contributions: int | None = None,
    allow_idealised: bool = False,
    seed: int | None = None,
    bits: Bits | None = None,
) -> PrivateDistribution:
    """The distribution of counts under differential privacy: one person more or less in one row changes little.

    A table needs `max_count` (larger counts are treated as max_count), or "auto": a twentieth of epsilon buys one.
    `contributions`: in how many rows one person may be counted; what the table itself says cannot be lowered.
    A histogram, how many rows have each count 0, 1, ..., is taken to end at a public max_count.
    """
    chosen, words = privatizer(method), source(seed) if bits is None else bits
    project = choose(projection, PROJECTIONS, "projection") if projection is not None else chosen.PROJECTION
    counts, histogram, declared = _read(table_or_histogram)
    people = whole(1 if contributions is None else contributions, "the contribution bound", least=1)
    budget = _budget(epsilon, alpha, rho, delta, max(declared, people))
    bought, left = (None, budget) if max_count != "auto" else _buy_max_count(counts, budget, words)
    bins = _binned(counts, histogram, max_count if bought is None else bought.max_count)
    noisy, noise = _measure(method, bins, left, words, allow_idealised)
    rows = int(bins.sum())
    return PrivateDistribution(
        distribution=PROJECTIONS[project](chosen.estimate(noisy, rows, len(bins)), float(rows)),
        measurements=noisy,
        noise=noise,
        method=method,
        projection=project,
        max_count=len(bins) - 1,
        rows=rows,
        epsilon=budget.epsilon,
        rho=budget.rho,
        delta=budget.delta if noise is None else Fraction(0),
        contributions=budget.contributions,
        bought_max_count=bought,
        grade="exact" if noise is not None else "diagnosed",
        private=words.private,
    )


def _budget(
    epsilon: Number | Epsilon | None, alpha: Number | None, rho: Number | None, delta: Number, people: int
) -> _Budget:
    if rho is None:
        return _Budget(epsilon_of(epsilon, alpha), None, probability(delta, "delta"), people)
    if epsilon is not None or alpha is not None:
        raise BadInput("a privacy parameter was needed", "both rho and epsilon were given", "Give one of them")
    return _Budget(None, positive(rho, "rho"), Fraction(0), people)


def _buy_max_count(counts: Integers | None, budget: _Budget, bits: Bits) -> tuple[MaxCount, _Budget]:
    if budget.epsilon is None or counts is None:
        raise BadInput('max_count = "auto" was asked for', "it needs a table of counts, and epsilon", "Give max_count")
    share, left = share_for_max_count(budget.epsilon)
    bought = private_max_count(counts, share, contributions=budget.contributions, bits=bits)
    return bought, replace(budget, epsilon=left)


def _read(data: Any) -> tuple[Integers | None, Integers | None, int]:
    """The counts of a table or the histogram as given, and the table's own contribution bound."""
    if hasattr(data, "counts"):
        schema = getattr(data, "schema", None)
        counts = np.asarray(data.counts, dtype=np.int64)
        if len(counts) == 0 or counts.min() < 0:
            raise BadInput(
                "a table of counts was given", "it has no rows" if len(counts) == 0 else "a count is negative"
            )
        return counts, None, int(getattr(schema, "contributions", 1))
    values = np.asarray(data)
    if values.ndim != 1 or values.size < 2 or values.dtype.kind not in "iu":
        raise BadInput(
            "a histogram of counts was given",
            "it is not a list of at least two whole numbers",
            "Give how many rows have each count 0, 1, ..., or a table",
        )
    if (values < 0).any() or values.sum() < 1:
        raise BadInput("a histogram of counts was given", "it has a negative entry, or no rows at all")
    return None, values.astype(np.int64), 1


def _binned(counts: Integers | None, histogram: Integers | None, max_count: int | str | None) -> Integers:
    """The histogram on 0..max_count, larger counts in its last bin."""
    if max_count is None:
        if histogram is None:
            raise BadInput(
                "a distribution was asked for",
                "max_count is missing and the largest count is a secret",
                'Give max_count, or "auto"',
            )
        return histogram
    if isinstance(max_count, str):
        raise BadInput(f"max_count = {max_count!r} was asked for", "it must be a whole number or 'auto'")
    largest = whole(max_count, "max_count", least=1)
    if largest > LARGEST_RANGE:
        raise BadInput(
            f"max_count = {largest} was asked for",
            f"a distribution over more than {LARGEST_RANGE} counts does not fit",
            "Release without max_count, or top-code",
        )
    if counts is not None:
        return np.bincount(np.minimum(counts, largest), minlength=largest + 1)
    assert histogram is not None
    kept = np.pad(histogram[: largest + 1], (0, max(0, largest + 1 - len(histogram))))
    kept[-1] += histogram[largest + 1 :].sum()
    return kept


def _measure(
    method: str, bins: Integers, budget: _Budget, bits: Bits, allow_idealised: bool
) -> tuple[NDArray[Any], Geometric | Gaussian | None]:
    """Noisy answers and the law of their noise."""
    chosen = privatizer(method)
    answers, sensitivity = chosen.answers(bins), chosen.sensitivity(len(bins))
    if isinstance(chosen, Idealised):
        if not allow_idealised or budget.epsilon is None or budget.contributions > 1:
            raise BadInput(
                f"the privatizer {method!r} was asked for",
                "its continuous noise is unproven in floating point; it takes epsilon and delta, and one row a person",
                "Use another one, or insist with allow_idealised=True",
            )
        return answers + chosen.noise(len(answers), budget.epsilon, budget.delta, bits), None
    if budget.rho is not None:
        if sensitivity != 1:
            raise BadInput(f"{method!r} was asked for with rho", "it has not sensitivity 1", "Use 'cumulative'")
        # all of a person's rows may have the same count, and then move the same answer
        variance = Fraction(budget.contributions**2) / (2 * budget.rho)
        return answers + gaussian(variance, len(answers), bits), Gaussian(variance)
    assert budget.epsilon is not None
    odds = budget.epsilon.times(Fraction(1, sensitivity * budget.contributions)).odds()
    return answers + geometric(odds, len(answers), bits), Geometric(odds)
