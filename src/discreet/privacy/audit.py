"""An audit from the outside: a lower bound on what a mechanism lets out, from draws of two neighbouring tables alone.

A part of the draws teaches which outcomes speak for which table, a second part chooses one event, the rest are held out
and count how often it happens under each. Whatever was learned before, Clopper and Pearson's bounds on the held-out
counts hold with the stated confidence. So an audit can refute a claim; it can never prove one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadInput
from discreet.privacy.values import Approximate, Loss, Pure

CONFIDENCE = 1 - 1e-6  # a sound mechanism is accused once in a million audits
LEAST_DRAWS = 100  # of each table: fewer could refute nothing
LEARNED, CHOSEN = 0.25, 0.5  # where the draws that teach and those that choose an event end; half is held out
THRESHOLDS = 40  # events tried for each score: more would differ by less than the draws can tell
# the orders at which Renyi divergences are looked at: near 1 where the event is likely, large where it is rare
ORDERS = np.concatenate([1 + np.logspace(-3, 0, 20), np.linspace(2.5, 40, 20)])

Draws = NDArray[Any]
Score = Callable[[Draws], NDArray[np.float64]]


@dataclass(frozen=True)
class Audit:
    """One event that tells two neighbouring tables apart, and how likely it is, on draws that did not choose it."""

    chance: float  # of the event under the one table: at least this
    other: float  # under the other: at most this
    draws: int  # held out, of each table
    confidence: float

    def epsilon(self, delta: float = 0.0) -> float:
        """The mechanism loses at least this much, if it may lose delta beside."""
        return max(0.0, math.log((self.chance - delta) / self.other)) if self.chance > delta else 0.0

    def delta(self, epsilon: float) -> float:
        """At least this much lies beyond e^epsilon times the other chance."""
        return max(0.0, self.chance - math.exp(min(epsilon, 700.0)) * self.other)

    def rho(self) -> float:
        """At least so much zero-concentrated privacy is lost."""
        return float(_rho(np.array([self.chance]), np.array([self.other]))[0])

    def refutes(self, claim: Loss) -> bool:
        """Whether the claim is false, with the stated confidence."""
        if isinstance(claim, Pure):
            return self.epsilon() > float(claim.epsilon)
        if isinstance(claim, Approximate):
            return self.delta(float(claim.epsilon)) > float(claim.delta)
        return self.rho() > float(claim.rho)


def audit(one: Any, other: Any, claim: Loss, *, confidence: float = CONFIDENCE) -> Audit:
    """What draws of two neighbouring tables show against `claim`.

    one, other: an array each, with a row for every independent draw and a column for every published number. Publish
    what is published together in the same row: table, measurements and answers are audited jointly.
    """
    first, second = _as_draws(one), _as_draws(other)
    size = min(len(first), len(second))
    if size < LEAST_DRAWS or first.shape[1] != second.shape[1]:
        found = f"{len(first)} and {len(second)} draws of {first.shape[1]} and {second.shape[1]} numbers were given"
        raise BadInput("a mechanism was to be audited", found, f"Give {LEAST_DRAWS} draws or more, of the same numbers")
    learn, choose = int(LEARNED * size), int(CHOSEN * size)
    risk = (1 - confidence) / 2  # two chances are bounded
    best = max(
        (
            _best_event(score, pair, claim, risk)
            for score in _scores(first[:learn], second[:learn])
            for pair in _both_ways(first[learn:choose], second[learn:choose])
        ),
        key=lambda event: event.worth,
    )
    held = (first[choose:size], second[choose:size])
    likely, unlikely = held if not best.swapped else held[::-1]
    counts = [int((best.score(part) * best.sign >= best.least).sum()) for part in (likely, unlikely)]
    low, _ = _bounds(np.array(counts[:1]), len(likely), risk)
    _, high = _bounds(np.array(counts[1:]), len(unlikely), risk)
    return Audit(float(low[0]), float(high[0]), size - choose, confidence)


@dataclass(frozen=True)
class _Event:
    """{score * sign >= least}, more likely under the first table unless swapped."""

    worth: float
    score: Score
    sign: int
    least: float
    swapped: bool


def _as_draws(given: Any) -> Draws:
    values = np.asarray(given)
    return values.reshape(len(values), math.prod(values.shape[1:]))


def _both_ways(one: Draws, other: Draws) -> Iterator[tuple[Draws, Draws, bool]]:
    yield one, other, False
    yield other, one, True


def _scores(one: Draws, other: Draws) -> Iterator[Score]:
    """Each number as it is; how each, all together, and all as one speak for the first table."""
    columns = range(one.shape[1])
    learned = [_log_odds(one[:, k], other[:, k]) for k in columns]
    for k in columns:
        yield lambda draws, k=k: draws[:, k].astype(float)  # type: ignore[misc]
        yield lambda draws, k=k: learned[k](draws[:, k])  # type: ignore[misc]
    yield lambda draws: np.sum([learned[k](draws[:, k]) for k in columns], axis=0)
    whole = _log_odds(_as_one(one), _as_one(other))
    yield lambda draws: whole(_as_one(draws))


def _as_one(draws: Draws) -> Draws:
    """Every row as one value."""
    rows = np.ascontiguousarray(draws)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()


def _log_odds(one: Draws, other: Draws) -> Score:
    """How much each value speaks for the first table; nothing is known of values that were never seen."""
    values = np.unique(np.concatenate([one, other]))
    seen = [np.bincount(np.searchsorted(values, part), minlength=len(values)) for part in (one, other)]
    odds = np.log((seen[0] + 1) / (seen[1] + 1))

    def score(draws: Draws) -> NDArray[np.float64]:
        places = np.minimum(np.searchsorted(values, draws), len(values) - 1)
        found: NDArray[np.float64] = np.where(values[places] == draws, odds[places], 0.0)
        return found

    return score


def _best_event(score: Score, pair: tuple[Draws, Draws, bool], claim: Loss, risk: float) -> _Event:
    likely, unlikely, swapped = pair
    found = []
    for sign in (1, -1):
        ours, theirs = np.sort(score(likely) * sign), np.sort(score(unlikely) * sign)
        values = np.unique(np.concatenate([ours, theirs]))
        least = values[np.unique(np.linspace(0, len(values) - 1, THRESHOLDS).astype(int))]
        low, _ = _bounds(len(ours) - np.searchsorted(ours, least), len(ours), risk)
        _, high = _bounds(len(theirs) - np.searchsorted(theirs, least), len(theirs), risk)
        worths = _worth(low, high, claim)
        best = int(np.argmax(worths))
        found.append(_Event(float(worths[best]), score, sign, float(least[best]), swapped))
    return max(found, key=lambda event: event.worth)


def _worth(low: NDArray[np.float64], high: NDArray[np.float64], claim: Loss) -> NDArray[np.float64]:
    """How much an event with these chances would show against the claim."""
    if isinstance(claim, Pure):
        return np.log(np.maximum(low, 1e-300) / high)
    if isinstance(claim, Approximate):
        return low - math.exp(min(float(claim.epsilon), 700.0)) * high
    return _rho(low, high)


def _rho(chance: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest Renyi divergence between the event's two chances, divided by its order."""
    p, q = np.clip(chance, 1e-300, 1 - 1e-12)[:, None], np.clip(other, 1e-300, 1 - 1e-12)[:, None]
    inside = ORDERS * np.log(p) + (1 - ORDERS) * np.log(q)
    outside = ORDERS * np.log1p(-p) + (1 - ORDERS) * np.log1p(-q)
    found: NDArray[np.float64] = (np.logaddexp(inside, outside) / (ORDERS - 1) / ORDERS).max(axis=1)
    return np.where(chance > other, np.maximum(found, 0.0), 0.0)


def _bounds(hits: NDArray[Any], size: int, risk: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Clopper and Pearson's: a chance is below the one, or above the other, with `risk` each."""
    from scipy.stats import beta

    low = np.where(hits > 0, beta.ppf(risk, np.maximum(hits, 1), size - hits + 1), 0.0)
    high = np.where(hits < size, beta.ppf(1 - risk, hits + 1, np.maximum(size - hits, 1)), 1.0)
    return low, high
