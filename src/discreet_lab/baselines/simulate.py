"""Paired simulation: several pipelines release the same table again and again, from the same random numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.evaluate.metrics import w1
from discreet.numbers import whole

ERRORS = ("count_error", "distribution_error")


class Pipeline(Protocol):
    """True counts in, released counts out. Simulated: nothing it makes is private."""

    def __call__(self, counts: Integers, rng: np.random.Generator) -> Integers: ...


@dataclass(frozen=True)
class SimulatedMean:
    """A mean over simulations and the half width of its confidence interval."""

    mean: float
    margin: float

    @property
    def interval(self) -> tuple[float, float]:
        return self.mean - self.margin, self.mean + self.margin

    @property
    def below_zero(self) -> bool:
        return self.mean + self.margin < 0

    @property
    def above_zero(self) -> bool:
        return self.mean - self.margin > 0


@dataclass(frozen=True)
class Simulation:
    """Errors of every pipeline in every repeat: errors[name][repeat] = (count error, distribution error)."""

    errors: dict[str, Floats]
    level: float

    def mean(self, name: str) -> dict[str, SimulatedMean]:
        return self._estimates(self.errors[name])

    def difference(self, name: str, reference: str) -> dict[str, SimulatedMean]:
        """Errors of `name` minus those of `reference`, repeat by repeat."""
        return self._estimates(self.errors[name] - self.errors[reference])

    def _estimates(self, values: Floats) -> dict[str, SimulatedMean]:
        from scipy.stats import t

        repeats = len(values)
        factor = float(t.ppf((1 + self.level) / 2, repeats - 1)) / math.sqrt(repeats)
        return {
            name: SimulatedMean(float(values[:, k].mean()), factor * float(values[:, k].std(ddof=1)))
            for k, name in enumerate(ERRORS)
        }


def simulate(
    pipelines: Mapping[str, Pipeline],
    counts: Any,
    max_count: int,
    repeats: int = 100,
    seed: int = 0,
    level: float = 0.95,
) -> Simulation:
    """Release `counts` (top-coded at `max_count`) `repeats` times with every pipeline.

    In one repeat all pipelines start from the same seed, so that their difference varies less than either.
    """
    whole(repeats, "the number of repeats", least=2)
    true = np.minimum(np.asarray(counts, dtype=np.int64), max_count)
    histogram = np.bincount(true, minlength=max_count + 1)
    errors = {name: np.empty((repeats, 2)) for name in pipelines}
    for repeat in range(repeats):
        for name, pipeline in pipelines.items():
            out = pipeline(true, np.random.default_rng((seed, repeat)))
            distance = w1(np.bincount(out, minlength=max_count + 1), histogram)
            errors[name][repeat] = np.abs(out - true).mean(), distance
    return Simulation(errors, level)
