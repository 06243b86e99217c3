"""How many rows have a count of at most t, where few are near it: by the exact law of what is seen there.

Geometric noise has no memory: how far a row is from t tells only how often it is seen at t or across it, not where it
is seen then. So counts that are further off than a window are as good as infinitely far. For every number k of rows
with at most t the likeliest counts are looked for, of k rows up to t and of the others above it. The unbiased estimate
from k draws of the ones and from the others of the others has a law that is worked out by convolution, and k is refused
where what was seen is in a tail of it. Nothing is taken as normal, and the ends are whole numbers of rows.

Other noises have no estimate that is unbiased and varies little. For the lower end one is taken that is never too
large on average, for the upper one that is never too small (`onesided`); the laws of these are worked out as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.estimate.evidence import Evidence
from discreet.mechanism import NoiseThenMap

MOST = 100  # rows; of more the unbiased estimate is near enough to a normal law
MOST_BIASED, LARGEST = 5_000, 320  # rows and counts where there is none: more would take seconds
FAR = 1e-3  # chance to be seen at t, or across it, of a row so far off that it does not matter
PARTS = 8  # of a row: weights are rounded to these, so that their sums are whole numbers
FINE = 64  # the same where weights are any numbers: small ones tell whether a row was seen at all
LARGEST_LAW = 1 << 20  # parts that all rows together have at most
HEAVIEST = 200  # rows that one seen at t stands for: more than there are of all is no different
WINDOW = 400  # counts that are looked at one by one; of more those where a row was seen
KEPT = 8  # thresholds that were asked about last
TIED = 1e-6  # of a row, or of a part of one
STEPS, NEWTON = 60, 4  # of the search for the likeliest, and of that for odds in each of them
TINY = 1e-300  # so that nothing is divided by zero


@dataclass(frozen=True, eq=False)
class FewRows:
    """What the rows tell, without a measured distribution."""

    evidence: Evidence

    def share(self, t: int, level: float) -> tuple[float, float]:
        """Between which shares of rows have a count of at most t."""
        rows, tail, fewest, most = self.evidence.rows, self._tail(level), self._fewest(t), self._most(t)
        low = first_where(0, rows, lambda k: fewest.as_many(k) > tail)
        high = rows - first_where(0, rows - low, lambda k: most.as_few(rows - k) > tail)
        return low / rows, high / rows

    def quantile(self, share: float, level: float) -> tuple[int, int]:
        """The smallest and the largest count that may be the smallest which this share of rows do not exceed."""
        tail, wanted = self._tail(level), int(np.ceil(share * self.evidence.rows - TIED))
        last = self.evidence.size - 1
        low = first_where(self.evidence.least, last, lambda t: self._most(t).as_few(wanted) > tail)
        high = first_where(low, last, lambda t: self._fewest(t).as_many(wanted - 1) <= tail)
        return low, high

    def _tail(self, level: float) -> float:
        """What may be missed at either end: half of it where values follow what was seen, and tell it too well."""
        return (1 - level) / (2 if _memoryless(self.evidence) else 4)

    def _fewest(self, t: int) -> Near:
        """What tells that there are at least so many rows."""
        return _near(self.evidence, t, False)

    def _most(self, t: int) -> Near:
        """What tells that there are at most so many."""
        return _near(self.evidence, t, True)


@dataclass(frozen=True, eq=False)
class Near:
    """Of the rows near a count: a histogram of what is seen, T[count, seen] of counts up to it and of others, and what
    each thing that is seen adds to the estimate, in parts of a row, from the least on.

    An estimate that is wrong in one direction has a mean beyond k in the likeliest table. The true one may be another,
    in which it is right: so the law is taken as if the mean were k. (Else 86% covered where half of 240 rows have 0 and
    half 5, behind the explicit fair mechanism at epsilon 3: rows that noise moved from 0 to 1 were taken for ones.)
    Values are rounded for the law alone, and its mean is told by those that are not: rounding may add 100 of
    5,000 rows, in the wrong direction.
    """

    histogram: Floats
    below: Floats
    above: Floats
    values: Integers
    parts: int = PARTS  # of a row
    exact: Floats | None = None  # in rows and not rounded, where the estimate is wrong in one direction

    def as_many(self, k: int) -> float:
        """The chance that the estimate is as large as it is, or larger, if k rows have at most this count."""
        seen = self.likeliest(k)
        first = int(np.ceil(self._found + sum(min(one, 0.0) for one in self._off(k, seen)) - TIED))
        return float(self._law(k, seen)[max(first, 0) :].sum())

    def as_few(self, k: int) -> float:
        """The same, or smaller."""
        seen = self.likeliest(k)
        last = int(np.floor(self._found + sum(max(one, 0.0) for one in self._off(k, seen)) + TIED))
        return float(self._law(k, seen)[: max(last + 1, 0)].sum())

    def _off(self, k: int, seen: tuple[Floats, Floats]) -> tuple[float, float]:
        """How far the mean is above k, and how much more rounding adds to the mean than to what was seen."""
        if self.exact is None:
            return 0.0, 0.0
        expected = k * seen[0] + (self.rows - k) * seen[1]
        rounding = float((expected - self.histogram) @ (self.values - self.parts * self.exact))
        return self.parts * (float(expected @ self.exact) - k), rounding

    @property
    def rows(self) -> int:
        return int(self.histogram.sum())

    @property
    def _found(self) -> int:
        return int(self.histogram @ self.values)

    def _law(self, k: int, seen: tuple[Floats, Floats]) -> Floats:
        """P(0), P(1), ... of the estimate."""
        size = 1 << int(self.rows * self.values.max()).bit_length()
        law = np.ones(size // 2 + 1, dtype=complex)
        for chances, number in zip(seen, (k, self.rows - k)):
            law *= np.fft.rfft(np.bincount(self.values, weights=chances, minlength=size)) ** number
        return np.maximum(np.fft.irfft(law, size), 0.0)

    def likeliest(self, k: int) -> tuple[Floats, Floats]:
        """How k rows up to the count are seen, and how the others: by expectation and maximisation. What is seen is
        shared out between the two by odds that make just k rows of the ones. (If every row were one of them with the
        chance k in all rows, as in `profile`, 80% would cover where two rows are near the count and many far off.)"""
        one, other = (np.full(len(part), 1 / len(part)) for part in (self.below, self.above))
        tilt = np.log((k + 0.5) / (self.rows - k + 0.5))
        for _ in range(STEPS):
            ones, others = np.maximum(one @ self.below, TINY), np.maximum(other @ self.above, TINY)
            tilt = self._tilt(np.log(ones / others), tilt, k)
            share = _odds(np.log(ones / others) + tilt)
            one = _scaled(one * (self.below @ (self.histogram * share / ones)), one)
            other = _scaled(other * (self.above @ (self.histogram * (1 - share) / others)), other)
        return one @ self.below, other @ self.above

    def _tilt(self, odds: Floats, tilt: float, k: int) -> float:
        """With which the shares of rows add up to k: by Newton's steps."""
        if not 0 < k < self.rows:
            return -np.inf if k == 0 else np.inf
        for _ in range(NEWTON):
            share = _odds(odds + tilt)
            missing, slope = k - float(self.histogram @ share), float(self.histogram @ (share * (1 - share)))
            tilt += float(np.clip(missing / max(slope, TINY), -2.0, 2.0))
        return tilt


def _odds(logarithm: Floats) -> Floats:
    share: Floats = 1 / (1 + np.exp(np.clip(-logarithm, -700, 700)))
    return share


def _scaled(weights: Floats, else_: Floats) -> Floats:
    whole = float(weights.sum())
    return weights / whole if whole > TINY else else_


@lru_cache(maxsize=KEPT)
def _near(evidence: Evidence, t: int, too_many: bool = False) -> Near:
    """In a window around t; whatever is further off is always seen at its end."""
    law, top = evidence.law, evidence.top
    if law is None or law.decay is None:
        return _anywhere(evidence, t, too_many)
    reach = int(np.ceil(np.log(FAR) / np.log(law.decay)))
    low, high = max(evidence.least, t - reach), t + 1 + reach if top is None else min(top, t + 1 + reach)
    clipped = np.clip(evidence.seen, low, high)
    if high - low < WINDOW:
        places, matrix, up = np.arange(low, high + 1), NoiseThenMap(law, (0, high - low)).matrix(), np.zeros(0)
    else:
        places = np.unique(np.concatenate([[low, t, t + 1, high], clipped]))
        matrix, up = _where_seen(places, t, law.decay), np.array([1.0, 0.0])
    beyond, before, at = high != top, low > evidence.least, int(np.searchsorted(places, t))
    ends = np.eye(matrix.shape[1])
    matrix = np.concatenate([ends[:1]] * before + [matrix] + [ends[[len(places) - 1]]] * beyond)
    seen = np.bincount(np.searchsorted(places, clipped), weights=evidence.numbers, minlength=matrix.shape[1])
    at_end, between = (min(law.decay / (1 - law.decay) ** power, HEAVIEST) for power in (1, 2))
    values = np.append(np.where(places <= t, 1.0, 0.0), up)
    values[at] += at_end if t == evidence.least else between
    values[at + 1] -= at_end if t + 1 == top else between
    steps, upto = np.rint(PARTS * values).astype(np.int64), at + 1 + before
    return Near(seen.astype(float), matrix[:upto], matrix[upto:], steps - steps.min())


def _where_seen(places: Integers, t: int, decay: float) -> Floats:
    """The chance of a count at each of some places to be seen at each of them, and elsewhere up to t, or above it. No
    count between two values that were seen, one after the other, explains all of them better than both of these: how
    likely it makes them is convex there."""
    tails = decay ** np.abs(places[:, None] - places[None, :]).astype(float) / (1 + decay)
    matrix = (1 - decay) * tails
    matrix[:, [0, -1]] = tails[:, [0, -1]]
    below = places <= t
    across = decay ** np.where(below, t + 1 - places, places - t).astype(float) / (1 + decay)
    upto, told = np.where(below, 1 - across, across), matrix[:, below].sum(axis=1)
    others = [upto - told, (1 - upto) - (matrix.sum(axis=1) - told)]
    found: Floats = np.maximum(np.column_stack([matrix, *others]), 0.0)
    return found


def _anywhere(evidence: Evidence, t: int, too_many: bool) -> Near:
    """Behind any noise: by an estimate that is wrong in one direction alone."""
    from discreet.estimate.onesided import counted

    values = counted(evidence, t, too_many, HEAVIEST)
    parts = max(1, min(FINE, int(LARGEST_LAW / (evidence.rows * max(float(np.ptp(values)), 1.0)))))
    steps, below = np.rint(parts * values).astype(np.int64), evidence.matrix[evidence.least : t + 1]
    return Near(evidence.histogram, below, evidence.matrix[t + 1 :], steps - steps.min(), parts, values)


def _memoryless(evidence: Evidence) -> bool:
    return evidence.law is not None and evidence.law.decay is not None


def few_rows(evidence: Evidence) -> FewRows | None:
    """None where there are more, or another interval is the better one."""
    if _memoryless(evidence):
        return FewRows(evidence) if evidence.rows <= MOST else None
    if evidence.only_sums or len(evidence.beyond) or evidence.size > LARGEST or evidence.rows > MOST_BIASED:
        return None
    return FewRows(evidence)


def first_where(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The least whole number from `low` on for which this holds; `high`, where none below it does."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
