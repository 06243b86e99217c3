"""How much computing an estimate takes: shapes that took longest, and noise that is next to none or drowns all."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from discreet.arrays import Integers
from discreet.distribution.evidence import climb, posterior
from discreet.laws import Gaussian, NoiseLaw
from tests.clock import within
from tests.distribution.noisy import drawn, geometric

RANGE = 1000
SECONDS = 10.0  # of computing; half a second to one and a half on an ordinary machine
Law = Callable[[float], NoiseLaw]


def gaussian(epsilon: float) -> Gaussian:
    return Gaussian(Fraction(1 / epsilon**2))


def spikes(rng: np.random.Generator, rows: int) -> Integers:
    spike = np.array([0, 12, 13, 400, -1])[rng.integers(0, 5, rows)]
    return np.where(spike < 0, rng.integers(0, RANGE + 1, rows), spike)


def cliffs(rng: np.random.Generator, rows: int) -> Integers:
    return rng.integers(300, 600, rows)


def fives(rng: np.random.Generator, rows: int) -> Integers:
    return np.minimum(5 * rng.geometric(0.02, rows) - 5, RANGE)


def two_counts(rng: np.random.Generator, rows: int) -> Integers:
    return rng.choice([3, 400], rows)


@pytest.fixture
def climbs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The steps of each climb."""
    found: list[int] = []
    climbed, stepped = climb.climbed, climb._stepped

    def counted(*given: object, **named: object) -> object:
        found[-1] += 1
        return stepped(*given, **named)  # type: ignore[arg-type]

    def begun(*given: object, **named: object) -> object:
        found.append(0)
        return climbed(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(climb, "_stepped", counted)
    monkeypatch.setattr("discreet.distribution.evidence.fit.climbed", begun)
    return found


@pytest.mark.parametrize(
    ("shape", "rows", "law", "epsilon", "first"),
    [
        (spikes, 300_000, gaussian, 1.0, 0.25),
        (fives, 300_000, gaussian, 0.04, 0.01),
        (cliffs, 3_000_000, gaussian, 0.05, None),
        (cliffs, 5000, geometric, 0.08, 0.02),
        (two_counts, 5000, gaussian, 60.0, 60.0),
        (spikes, 5000, gaussian, 60.0, 0.1),
        (spikes, 5000, gaussian, 60.0, None),
        (spikes, 2000, geometric, 0.001, 0.001),
    ],
)
@pytest.mark.filterwarnings("error")
def test_an_estimate_ends_soon(
    shape: Callable[[np.random.Generator, int], Integers], rows: int, law: Law, epsilon: float, first: float | None,
    climbs: list[int],
) -> None:  # fmt: skip
    """Whatever the noise, without an overflow; and hardly a climb is ended by the limit of its steps."""
    rng, noise, stage_one = np.random.default_rng(7), law(epsilon), law(first or 1.0)
    true = shape(rng, rows)
    noisy = true + drawn(noise, rows, rng)
    prefix = np.cumsum(np.bincount(true, minlength=RANGE + 1))[:-1] + drawn(stage_one, RANGE, rng)
    measured = {} if first is None else {"prefix": prefix, "prefix_noise": stage_one}
    with within(SECONDS):
        post = posterior(np.bincount(noisy - noisy.min()), int(noisy.min()), noise, RANGE, cut=True, **measured)  # type: ignore[arg-type]
    assert np.isfinite(post.mean).all() and post.mean[-1] == pytest.approx(rows)
    assert len(climbs) > 20 and np.mean(np.array(climbs) >= climb.MOST_STEPS) <= 0.02
