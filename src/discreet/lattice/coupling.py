"""How far a chain still is from its law: L-lag coupling, an empirical bound on the total-variation distance.

A chain and a copy that starts `lag` iterations later are fed the same random words until they meet. If tau is the
meeting time, TV(l) <= E max(0, ceil((tau - lag - l) / lag)). An average over N runs shows nothing below about 3/N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadInput, NotProven
from discreet.lattice.chains import Chain
from discreet.numbers import whole
from discreet.sample.bits import source

CURVE_POINTS = 200  # enough for a smooth picture


@dataclass(frozen=True)
class Diagnosis:
    """Meeting times of coupled chains, and the bounds they give. The claim they carry is `diagnosed`, not proved."""

    lag: int
    meetings: NDArray[np.int64]
    private_side: bool
    grade: str = "diagnosed"

    @property
    def runs(self) -> int:
        return len(self.meetings)

    @property
    def floor(self) -> float:
        """What this many runs cannot tell from zero."""
        return min(1.0, 3 / self.runs)

    def bound(self, iteration: int) -> float:
        """The average of max(0, ceil((tau - lag - iteration) / lag)), at most 1."""
        return min(1.0, float(np.maximum(0, -((self.lag + iteration - self.meetings) // self.lag)).mean()))

    def iterations_for(self, distance: float) -> int:
        """The first iteration at which the bound is at most `distance`."""
        low, high = -1, int(self.meetings.max() - self.lag)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.bound(middle) <= distance else (middle, high)
        return max(0, high)

    def curve(self, points: int = CURVE_POINTS) -> list[tuple[int, float]]:
        """(iteration, bound) from the start to where the bound is zero."""
        end = int(self.meetings.max() - self.lag)
        return [(at, self.bound(at)) for at in range(0, end + 1, max(1, math.ceil(end / points)))] + [
            (end, self.bound(end))
        ]

    def delta(self, epsilon_total: float, iterations: int) -> float:
        """What to add to delta if the chain stops there: (1 + e^epsilon) times the distance, or the floor if larger."""
        return min(1.0, (1 + math.exp(epsilon_total)) * max(self.bound(iterations), self.floor))


def diagnose(
    sampler: Chain,
    *,
    counts: Any = None,
    runs: int = 1000,
    lag: int | None = None,
    most: int | None = None,
    seed: int | None = None,
) -> Diagnosis:
    """Couple the chain with itself `runs` times. Without a lag, one long enough for the bound to be sharp is tried.

    Pairs that have not met after `most` iterations (if not given, twice a draw's) show nothing, and that is an error.
    """
    whole(runs, "runs", 1)
    patience = 2 * sampler.iterations if most is None else most
    lag = whole(lag, "lag", 1) if lag is not None else _sharp_lag(sampler, counts, patience, seed)
    words = source(seed).words(runs)
    meetings = _meetings(sampler, counts, words, lag, lag + patience if most is None else most)
    return Diagnosis(lag, meetings, sampler.private_side)


def _sharp_lag(sampler: Chain, counts: Any, patience: int, seed: int | None, pilots: int = 20) -> int:
    """Twice the longest of a few pilot meetings: then the bound is hardly ever more than one run's share."""
    words = source(seed).words(pilots) ^ np.uint64(0xD1B54A32D192ED03)  # apart from the words of the runs
    return max(1, int(2 * (_meetings(sampler, counts, words, 1, patience).max() - 1)))


def _meetings(sampler: Chain, counts: Any, words: Any, lag: int, most: int) -> NDArray[np.int64]:
    if not sampler.dimension:
        raise BadInput("a chain was to be diagnosed", "what is kept leaves nothing free, so there is no chain")
    meeting = sampler.meeting(counts)
    meetings = np.empty(len(words), dtype=np.int64)
    for run, word in enumerate(words):
        meetings[run] = meeting(int(word), lag, most)
        if meetings[run] > most:
            raise NotProven(
                f"{len(words)} pairs of coupled chains were asked for",
                f"pair {run + 1} had not met after {most} iterations, so they show nothing about this chain",
                "Use an exact sampler (law gaussian has one for two-way and three-way tables), or keep less",
                run=run + 1,
                iterations=most,
            )
    return meetings
