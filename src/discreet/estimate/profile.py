"""How many rows can have a count of at most t: as many as do not make what was seen much less likely.

An unbiased estimate pays for being right on average with a variance that grows fast with the noise, and one through a
damped inverse with a bias that has to be bounded for the worst of all tables. The likelihood knows that no number of
rows is negative. A share of rows with at most t is refused where the likeliest distribution with this share is less
likely than the likeliest of all by more than chance explains (Wilks). Rows are fixed and not drawn from a distribution,
so that chance is less than that: the interval is rather too wide.

Both are found by expectation and maximisation, which keeps the share where it is asked for by scaling either side. It
comes near the likeliest one slowly, but how near is known: the likelihood is concave, and its gradient bounds what is
missing. So a share is refused only if no distribution with it is likely enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from discreet.arrays import Flags, Floats
from discreet.estimate.evidence import Evidence

STEPS, AT_ONCE = 600, 20  # of the search, and how many before it is looked how much is missing
NEAR = 0.02  # of a logarithm of the likelihood: far less than what is refused
HALVINGS = 10  # of a share: to a part in a thousand
LARGEST = 320  # counts: more would take seconds
TINY = 1e-300  # so that no logarithm is infinite
WIDE = 2.0  # variance of noise: geometric noise has it at epsilon 0.96


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Of distributions of counts, by what was seen: `histogram` of it, and `matrix` T[count, seen]."""

    histogram: Floats
    matrix: Floats

    def likeliest(self, upto: int | None = None, share: float = 0.0) -> tuple[float, float, Floats]:
        """The logarithm of the likelihood, at most how much it is short of the largest, and the distribution: of all,
        or of those with this share of counts of at most `upto`."""
        size = len(self.matrix)
        below = np.arange(size) <= (size if upto is None else upto)
        part = 1.0 if upto is None else share
        shares = np.full(size, 1 / size) if upto is None else self._scaled(self.free[2] + 1e-6, below, part)
        short = np.inf
        for step in range(STEPS):
            seen = np.maximum(shares @ self.matrix, TINY)
            pull = self.matrix @ (self.histogram / seen)
            if step % AT_ONCE == 0:
                best = part * pull[below].max(initial=0.0) + (1 - part) * pull[~below].max(initial=0.0)
                short = float(best - shares @ pull)
                if short < NEAR:
                    break
            shares = self._scaled(shares * pull, below, part)
        seen = np.maximum(shares @ self.matrix, TINY)
        return float(self.histogram @ np.log(seen)), short, shares

    @cached_property
    def free(self) -> tuple[float, float, Floats]:
        return self.likeliest()

    def _scaled(self, weights: Floats, below: Flags, part: float) -> Floats:
        out = np.zeros(len(weights))
        for side, mass in ((below, part), (~below, 1 - part)):
            if mass > 0:
                out[side] = weights[side] * (mass / max(float(weights[side].sum()), TINY))
        return out

    def refuses(self, upto: int, share: float, level: float) -> bool:
        """Whether counts of at most `upto` cannot well be this share."""
        from scipy.stats import chi2

        found, short, _ = self.likeliest(upto, share)
        return 2 * (self.free[0] - found - short) > float(chi2.ppf(level, 1))

    def upto(self, t: int) -> float:
        """The likeliest share of counts of at most t."""
        return float(self.free[2][: t + 1].sum())

    def share(self, t: int, level: float) -> tuple[float, float]:
        """Between which shares of rows have a count of at most t."""
        middle = float(np.clip(self.upto(t), 0.0, 1.0))
        return self._end(t, middle, 0.0, level), self._end(t, middle, 1.0, level)

    def _end(self, t: int, inside: float, outside: float, level: float) -> float:
        """The farthest share from the likeliest that is not refused, and a little more."""
        if not self.refuses(t, outside, level):
            return outside
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if self.refuses(t, middle, level) else (middle, outside)
        return outside

    def quantile(self, share: float, level: float) -> tuple[int, int]:
        """The smallest and the largest count that may be the smallest which this share of rows do not exceed."""
        running = np.cumsum(self.free[2])
        middle = int(np.searchsorted(running, share - 1e-12))
        last = len(self.matrix) - 1
        low, high = -1, min(middle, last)  # the quantile is above `low`: fewer rows than the share are at most it
        while high - low > 1:
            t = (low + high) // 2
            low, high = (t, high) if self.refuses(t, share, level) else (low, t)
        smallest = high
        low, high = middle - 1, last  # at `high` the share is surely reached
        while high - low > 1:
            t = (low + high) // 2
            sure = running[t] > share and self.refuses(t, share, level)
            low, high = (low, t) if sure else (t, high)
        return smallest, high


@lru_cache(maxsize=8)
def likelihood_of(evidence: Evidence) -> Likelihood | None:
    """None where there are too many counts for it, or another interval is the better one.

    Which is better is told by the noise and the number of rows, never by what came out: of two intervals that cover in
    95 of 100 cases each, the narrower one does not.
    """
    if evidence.cumulative is not None or evidence.size > LARGEST:
        return None
    if evidence.only_sums or len(evidence.beyond) or not _wide(evidence):
        return None
    matrix = evidence.matrix.copy()
    matrix[: evidence.least] = 0.0  # no count is there
    return Likelihood(evidence.histogram, matrix)


def _wide(evidence: Evidence) -> bool:
    """Whether noise is so wide that an unbiased estimate varies more than rows which are drawn would."""
    if evidence.law is not None:
        return evidence.law.spread > WIDE
    outputs = np.arange(evidence.matrix.shape[1])
    spread = evidence.matrix @ outputs**2 - (evidence.matrix @ outputs) ** 2
    return float(spread[evidence.least :].mean()) > WIDE
