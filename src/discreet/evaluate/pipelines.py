"""Whole releases as functions of the true counts, in floats and with numpy's generators: for simulation only."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.distribution.projections import clip, integer_bins, isotonic
from discreet.distribution.refine import SMOOTHING, geometric_blur, refine
from discreet.distribution.split import default_split, kl_split
from discreet.errors import choose
from discreet.evaluate.simulate import Integers, Pipeline
from discreet.sample.laws import Geometric

Floats = NDArray[np.float64]
MAPS = ("rank", "observed", "expected")


def two_stage(
    epsilon: float,
    max_count: int,
    split: float | None = None,
    refined: bool = True,
    onto: str = "rank",
    smoothing: float = SMOOTHING,
) -> Pipeline:
    """Cumulative privatizer, geometric noise, refinement, and a monotone map onto the estimated distribution.

    `onto`: `rank` gives the k-th smallest noisy row the k-th smallest count; `observed` maps every row by itself, from
    the noisy histogram as observed to the estimate; `expected` from the histogram that the estimate makes one expect.
    """
    choose(onto, MAPS, "map")
    share = float(default_split(epsilon, refined)) if split is None else split

    def run(counts: Integers, rng: np.random.Generator) -> Integers:
        first, second = share * epsilon, (1 - share) * epsilon
        histogram = np.bincount(counts, minlength=max_count + 1)
        measured = np.cumsum(histogram)[:-1] + geometric_noise(first, max_count, rng) if first > 0 else None
        noisy = np.clip(counts + geometric_noise(second, len(counts), rng), 0, max_count)
        seen = np.bincount(noisy, minlength=max_count + 1)
        if refined:
            law = None if measured is None else Geometric(_odds(first))
            target = refine(seen, Geometric(_odds(second)), measured, law, smoothing)
        else:
            assert measured is not None, "a split of zero needs refinement"
            target = isotonic(np.diff(measured, prepend=0, append=len(counts)).astype(float), len(counts))
        if onto == "rank":
            return rank_map(noisy, target, rng)
        source = seen.astype(float) if onto == "observed" else geometric_blur(target, math.exp(-second))
        return quantile_map(noisy, source, target, rng)

    return run


def paper(epsilon: float, max_count: int, split: float | None = None) -> Pipeline:
    """Kohli and Laskowski's release: cyclic Laplace, clipped and rescaled, their split, and a fixed-point mechanism.

    The mechanism is the one of least count error: an advantage over their heuristic, with the same distribution.
    """
    share = float(kl_split(epsilon)) if split is None else split

    def run(counts: Integers, rng: np.random.Generator) -> Integers:
        noise = rng.laplace(0, 1 / (share * epsilon), max_count + 1)
        histogram = np.bincount(counts, minlength=max_count + 1)
        target = clip(histogram + noise - np.roll(noise, -1), len(counts))
        rest = (1 - share) * epsilon
        noisy = np.clip(counts + geometric_noise(rest, len(counts), rng), 0, max_count)
        return quantile_map(noisy, geometric_blur(target, math.exp(-rest)), target, rng)

    return run


def clamped_geometric(epsilon: float, max_count: int) -> Pipeline:
    """All of the budget on the counts, and nothing but clamping after the noise."""

    def run(counts: Integers, rng: np.random.Generator) -> Integers:
        return np.clip(counts + geometric_noise(epsilon, len(counts), rng), 0, max_count)

    return run


def geometric_noise(epsilon: float, size: int, rng: np.random.Generator) -> Integers:
    chance = -math.expm1(-epsilon)
    return rng.geometric(chance, size) - rng.geometric(chance, size)


def rank_map(noisy: Integers, target: Floats, rng: np.random.Generator) -> Integers:
    """The k-th smallest noisy value (ties at random) becomes the k-th smallest count of the target histogram."""
    rows = len(noisy)
    shuffled = rng.permutation(rows)
    order = shuffled[np.argsort(noisy[shuffled], kind="stable")]
    out = np.empty(rows, dtype=np.int64)
    out[order] = np.repeat(np.arange(len(target)), integer_bins(target, rows))
    return out


def quantile_map(noisy: Integers, source: Floats, target: Floats, rng: np.random.Generator) -> Integers:
    """Every noisy value to the same quantile of the target, if noisy values had the law `source`; at random within a value."""
    ends = np.concatenate([[0.0], np.cumsum(source)])
    place = (ends[noisy] + rng.random(len(noisy)) * source[noisy]) / ends[-1]
    upper = np.cumsum(target)
    last = int(np.flatnonzero(target)[-1])
    return np.minimum(np.searchsorted(upper / upper[-1], place, side="right"), last)


def _odds(epsilon: float) -> Fraction:
    return Fraction(math.exp(epsilon))
