"""Whole releases as functions of the true counts, in floats and with numpy's generators: for simulation only."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats, Integers
from discreet.distribution.expectation import blur, noise_kernel
from discreet.distribution.projections import clip, integer_bins, median
from discreet.distribution.refine import SMOOTHING, geometric_blur, refine
from discreet.distribution.split import kl_split
from discreet.errors import BadInput, choose
from discreet.laws import Geometric, NoiseLaw, draw_noise
from discreet.sample.bits import simulated
from discreet_lab.baselines.simulate import Pipeline

MAPS = ("spread", "rank", "observed", "expected")


def two_stage(
    epsilon: float,
    max_count: int,
    split: float | None = None,
    refined: bool = True,
    onto: str = "spread",
    smoothing: float = SMOOTHING,
) -> Pipeline:
    """The default release of version 0.1: cumulative privatizer, geometric noise, refinement, and a monotone map.

    `onto`: `spread` maps from the noisy histogram as observed to the estimate, rows of one noisy value evenly; `rank`
    gives the k-th smallest noisy row the k-th smallest count; `observed` maps every row independently; `expected` does
    so from the histogram that the estimate makes one expect.
    """
    share = split_of_0_1(epsilon, refined) if split is None else split
    first = Geometric(_odds(share * epsilon)) if share > 0 else None
    return two_stage_of(first, Geometric(_odds((1 - share) * epsilon)), max_count, refined, onto, smoothing)


def split_of_0_1(epsilon: float, refined: bool = True) -> float:
    """The share of stage one in version 0.1, to a thousandth; none below a two-hundredth."""
    if not refined:
        return float(kl_split(epsilon))
    share = round(0.7 * (0.106 + 0.533 * math.exp(-2.87 * epsilon)) / (1 + (epsilon / 2.6) ** 6), 3)
    return share if share >= 0.005 else 0.0


def two_stage_of(
    first: NoiseLaw | None, second: NoiseLaw, max_count: int, refined: bool, onto: str, smoothing: float = SMOOTHING
) -> Pipeline:
    """A two-stage release with given laws of noise on the cumulative histogram (None: unmeasured) and on the counts."""
    choose(onto, MAPS, "map")
    if first is None and not refined:
        raise BadInput("a release without stage one was to be simulated", "only refinement could tell the distribution")

    def run(counts: Integers, rng: np.random.Generator) -> Integers:
        prefix = np.cumsum(np.bincount(counts, minlength=max_count + 1))[:-1]
        measured = None if first is None else prefix + draw_noise(first, max_count, simulated(rng))
        noisy = np.clip(counts + draw_noise(second, len(counts), simulated(rng)), 0, max_count)
        seen = np.bincount(noisy, minlength=max_count + 1)
        if refined or measured is None:
            target = refine(seen, second, measured, first, smoothing)
        else:
            target = median(np.diff(measured.astype(float), prepend=0.0, append=len(counts)), len(counts))
        return mapped(noisy, target, second, onto, rng)

    return run


def mapped(noisy: Integers, target: Floats, noise: NoiseLaw, onto: str, rng: np.random.Generator) -> Integers:
    """Noisy values within the range of the target, mapped onto it in one of the ways of `two_stage`."""
    if onto == "rank":
        ends = np.cumsum(integer_bins(target, len(noisy)))
        return rank_map(noisy, ends, rng.random(len(noisy)))
    seen = np.bincount(noisy, minlength=len(target)).astype(float)
    if onto == "spread":
        whole_rows = integer_bins(target, len(noisy)).astype(float)
        return quantile_map(noisy, seen, whole_rows, evenly(noisy, rng))
    source = blur(target, noise_kernel(noise, len(target))) if onto == "expected" else seen
    return quantile_map(noisy, source, target, rng.random(len(noisy)))


def by_matrix(matrix: Floats) -> Pipeline:
    """Every row by itself, from the row of the matrix that belongs to its count."""
    upper = np.cumsum(matrix, axis=1)
    steps = (upper / upper[:, -1:] + np.arange(len(matrix))[:, None]).ravel()

    def run(counts: Integers, rng: np.random.Generator) -> Integers:
        places = np.searchsorted(steps, counts + rng.random(len(counts)), side="right")
        drawn: Integers = np.minimum(places - counts * matrix.shape[1], matrix.shape[1] - 1)
        return drawn

    return run


def paper(epsilon: float, max_count: int, split: float | None = None, selector: str | None = None) -> Pipeline:
    """Kohli and Laskowski's release: cyclic Laplace, clipped and rescaled, their split, and a fixed-point mechanism.

    With a `selector` (max, min, sandwich) the mechanism is their heuristic's; without, the one of least count error
    among all with that fixed point: never worse for the counts, and the same distribution.
    """
    share = float(kl_split(epsilon)) if split is None else split

    def run(counts: Integers, rng: np.random.Generator) -> Integers:
        rest = (1 - share) * epsilon
        target = _cyclic_laplace(counts, share * epsilon, max_count, rng)
        if selector is not None:
            from discreet.build.heuristic import heuristic

            return by_matrix(heuristic(target, _odds(rest), selector).matrix)(counts, rng)
        noisy = np.clip(counts + geometric_noise(rest, len(counts), rng), 0, max_count)
        return quantile_map(noisy, geometric_blur(target, math.exp(-rest)), target, rng.random(len(noisy)))

    return run


def unfixed(epsilon: float, max_count: int, split: float | None = None) -> Pipeline:
    """The least count error without regard for the distribution: each noisy value becomes the median of what it may
    have been, judged by a cyclic Laplace estimate of the distribution (Ghosh et al.; Kohli and Laskowski)."""
    share = float(kl_split(epsilon)) if split is None else split
    counts_of = np.arange(max_count + 1)

    def run(counts: Integers, rng: np.random.Generator) -> Integers:
        rest = (1 - share) * epsilon
        prior = _cyclic_laplace(counts, share * epsilon, max_count, rng)
        noisy = np.clip(counts + geometric_noise(rest, len(counts), rng), 0, max_count)
        posterior = np.cumsum(np.exp(-rest * np.abs(counts_of[:, None] - counts_of)) * prior, axis=1)
        medians: Integers = (posterior < posterior[:, -1:] / 2).sum(axis=1)[noisy]
        return medians

    return run


def clamped_geometric(epsilon: float, max_count: int) -> Pipeline:
    """All of the budget on the counts, and nothing but clamping after the noise."""

    def run(counts: Integers, rng: np.random.Generator) -> Integers:
        clamped: Integers = np.clip(counts + geometric_noise(epsilon, len(counts), rng), 0, max_count)
        return clamped

    return run


def _cyclic_laplace(counts: Integers, epsilon: float, max_count: int, rng: np.random.Generator) -> Floats:
    noise = rng.laplace(0, 1 / epsilon, max_count + 1)
    return clip(np.bincount(counts, minlength=max_count + 1) + noise - np.roll(noise, -1), len(counts))


def geometric_noise(epsilon: float, size: int, rng: np.random.Generator) -> Integers:
    chance = -math.expm1(-epsilon)
    return rng.geometric(chance, size) - rng.geometric(chance, size)


def rank_map(noisy: ArrayLike, cumulative: ArrayLike, tie_words: ArrayLike) -> Integers:
    """The counts for noisy values; cumulative[i] is the number of rows that are to have a count of at most i.

    Equal noisy values are put in the order of their (random) words.
    """
    values, ends = np.asarray(noisy), np.asarray(cumulative)
    if len(ends) == 0 or ends[-1] != len(values) or ends[0] < 0 or (np.diff(ends) < 0).any():
        raise BadInput(
            f"{len(values)} rows were to get the counts of a histogram",
            "its cumulative counts must ascend from at least 0 to the number of rows",
        )
    if len(np.asarray(tie_words)) != len(values):
        raise BadInput("ties between noisy values were to be broken", "one random word a row is needed")
    out = np.empty(len(values), dtype=np.int64)
    out[np.lexsort((np.asarray(tie_words), values))] = np.searchsorted(ends, np.arange(len(values)), side="right")
    return out


def evenly(noisy: Integers, rng: np.random.Generator) -> Floats:
    """A uniform number for every row; of the k rows of one noisy value one lies in every k-th part of 0..1."""
    shuffled = rng.permutation(len(noisy))
    order = shuffled[np.argsort(noisy[shuffled], kind="stable")]
    many = np.bincount(noisy)
    first = np.cumsum(many) - many
    out = np.empty(len(noisy))
    out[order] = np.arange(len(noisy)) - first[noisy[order]]
    return (out + rng.random(len(noisy))) / many[noisy]


def quantile_map(noisy: Integers, source: Floats, target: Floats, parts: Floats) -> Integers:
    """Every noisy value to the same quantile of the target as it has in `source`; `parts`: where within the value."""
    ends = np.concatenate([[0.0], np.cumsum(source)])
    place = (ends[noisy] + parts * source[noisy]) / ends[-1]
    upper = np.cumsum(target)
    last = int(np.flatnonzero(target)[-1])
    mapped: Integers = np.minimum(np.searchsorted(upper / upper[-1], place, side="right"), last)
    return mapped


def _odds(epsilon: float) -> Fraction:
    return Fraction(math.exp(epsilon))
