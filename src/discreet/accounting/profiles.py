"""Privacy profiles: for a factor r >= 1, the least delta with which likelihoods differ by no more than r.

A profile here is never below the truth, and stands for both directions: the larger of the two, for every pair of
neighbours that there is. So it is that of a pair which is at least as easy to tell apart as any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from discreet.certify.profile import RowPair, judged_rows, pairs_of
from discreet.laws import NoiseLaw, ending_epsilon
from discreet.mechanism import Form, NoiseThenMap
from discreet.numbers import Epsilon, log_bounds
from discreet.privacy.values import above

BITS = 192  # of e^epsilon
TINY = Fraction(1, 2**100)  # so that a point at the end of a profile lies beyond it, however it is rounded
LARGEST_ROWS = 201  # of a matrix whose profile is worked out at hundreds of points in a second or so


class Profile(Protocol):
    """Hashable, so that equal ones are worked out once."""

    def __hash__(self) -> int: ...

    def reach(self, negligible: Fraction) -> Fraction:
        """An epsilon from which on the profile is that of the end, or at most `negligible` above nothing."""

    def at(self, odds: Sequence[Fraction]) -> list[Fraction]:
        """At each factor of a rising list, all at least 1; exact, or rounded up."""


@dataclass(frozen=True)
class OfPrice:
    """The profile of whatever costs epsilon and delta: none that does is above it (Kairouz, Oh and Viswanath)."""

    epsilon: Epsilon
    delta: Fraction = Fraction(0)

    def reach(self, negligible: Fraction) -> Fraction:
        return above(self.epsilon) + TINY

    def at(self, odds: Sequence[Fraction]) -> list[Fraction]:
        """delta, and of the rest that of an answer which is true with odds of e^epsilon."""
        high = self.epsilon.bounds(BITS)[1]
        return [self.delta + (1 - self.delta) * max(Fraction(0), (high - r) / (1 + high)) for r in odds]


@dataclass(frozen=True)
class OfNoise:
    """The profile of noise when a value changes by `shift`; of one row, or more independent ones."""

    noise: NoiseLaw
    shift: int = 1

    def reach(self, negligible: Fraction) -> Fraction:
        worst = self.noise.worst_odds
        if worst is not None:
            return self.shift * log_bounds(worst)[1]
        return ending_epsilon(self.noise, negligible, self.shift)

    def at(self, odds: Sequence[Fraction]) -> list[Fraction]:
        return [self.noise.delta(Epsilon(ratio=r), self.shift) for r in odds]


@dataclass(frozen=True)
class OfRows:
    """The profile of a matrix: of every pair of rows `shift` apart."""

    rows: tuple[tuple[int, ...], ...]
    total: int
    shift: int = 1

    @property
    def _pairs(self) -> list[RowPair]:
        from discreet.certify.rows import ExactRows

        sums = (self.total, self.total)
        return [
            pair
            for one, other in zip(self.rows, self.rows[self.shift :])
            for pair in pairs_of(ExactRows((one, other), sums))
        ]

    def reach(self, negligible: Fraction) -> Fraction:
        firsts = [pair.falling[0] for pair in self._pairs if pair.falling]
        largest = max((Fraction(a, b) for a, b in firsts), default=Fraction(1))
        return log_bounds(largest)[1] if largest > 1 else Fraction(0)

    def at(self, odds: Sequence[Fraction]) -> list[Fraction]:
        found = [Fraction(0)] * len(odds)
        for pair in self._pairs:
            found = [max(one, other) for one, other in zip(found, pair.excesses(odds))]
        return found


def profile_of(form: Form) -> OfNoise | OfRows | None:
    """Of what a count goes through before it is published; None where it is too large."""
    if isinstance(form, NoiseThenMap):
        return OfNoise(form.noise)
    rows = judged_rows(form)
    if rows is None or len(rows.rows) > LARGEST_ROWS:
        return None
    return OfRows(rows.rows, rows.sums[0])
