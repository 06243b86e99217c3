"""Refinement against dense matrices, the slow and obvious version."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.distribution.expectation import blur, noise_kernel, unblur
from discreet.distribution.projections import median
from discreet.distribution.refine import FLOOR, _covariance, _newton_step, _pull_of, _reach, geometric_blur, refine
from discreet.errors import BadInput
from discreet.evaluate.metrics import w1
from discreet.evaluate.shapes import SHAPES, rows_of
from discreet.laws import Gaussian, Geometric, Staircase, draw_noise
from discreet.sample.bits import simulated

ratios = st.floats(0.01, 0.99)
sizes = st.integers(2, 12)


def clamped(noise: Geometric | Gaussian | Staircase, size: int) -> np.ndarray:
    """M[i, l] = P(count i is seen as l) after noise and clamping, entry by entry."""
    tails, masses = noise.tails(2 * size), noise.masses(2 * size)
    matrix = np.empty((size, size))
    for i in range(size):
        for seen in range(size):
            end = seen in (0, size - 1)
            matrix[i, seen] = tails[abs(seen - i)] if end else masses[abs(seen - i)]
        for end in (0, size - 1):
            if i == end:
                matrix[i, end] = 1 - tails[1]
    return matrix


def drawn(noise: Geometric, size: int, rng: np.random.Generator) -> np.ndarray:
    """Two-sided geometric noise, as the difference of two geometric variables."""
    chance = 1 - 1 / float(noise.odds)
    return rng.geometric(chance, size) - rng.geometric(chance, size)


def histogram_of(seed: int, size: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 9, size).astype(float) + 0.5


@settings(max_examples=60, deadline=None)
@given(ratio=ratios, size=sizes, seed=st.integers(0, 2**32))
def test_blur_by_recursion_is_the_matrix_product(ratio: float, size: int, seed: int) -> None:
    bins = histogram_of(seed, size)
    np.testing.assert_allclose(
        geometric_blur(bins, ratio), bins @ clamped(Geometric(Fraction(1 / ratio)), size), rtol=1e-8
    )


@settings(max_examples=60, deadline=None)
@given(ratio=ratios, size=sizes, seed=st.integers(0, 2**32))
def test_the_prefix_estimate_is_unbiased_and_its_covariance_is_the_one_of_fixed_rows(
    ratio: float, size: int, seed: int
) -> None:
    bins, matrix, reach = histogram_of(seed, size), clamped(Geometric(Fraction(1 / ratio)), size), _reach(size, ratio)
    # the estimate is linear in the noisy histogram: column l of `linear` gives prefix l
    linear = np.triu(np.ones((size, size)))[:, :-1]
    for prefix in range(size - 1):
        linear[prefix, prefix] += reach[prefix]
        linear[prefix + 1, prefix] -= reach[prefix + 1]
    expected = bins @ matrix
    np.testing.assert_allclose(expected @ linear, np.cumsum(bins)[:-1], rtol=1e-6)
    # every row is seen once: a multinomial for each true count
    dense = sum(count * (np.diag(matrix[i]) - np.outer(matrix[i], matrix[i])) for i, count in enumerate(bins))
    dense = linear.T @ dense @ linear
    variance, neighbour = _covariance(expected, reach)
    ours = np.diag(variance - FLOOR) + np.diag(neighbour, 1) + np.diag(neighbour, -1)
    np.testing.assert_allclose(ours, dense, rtol=1e-5, atol=1e-6 * np.abs(dense).max())


@settings(max_examples=40, deadline=None)
@given(size=st.integers(3, 10), seed=st.integers(0, 2**32), rate=st.floats(0.1, 2), barrier=st.floats(0.01, 5))
def test_the_banded_step_is_newtons_step(size: int, seed: int, rate: float, barrier: float) -> None:
    rng = np.random.default_rng(seed)
    bins, unbiased, prefix = rng.random(size) + 0.2, rng.normal(3, 2, size - 1), rng.normal(3, 2, size - 1)
    variance, neighbour = _covariance(rng.random(size) + 0.1, _reach(size, 0.6))
    inverse = np.linalg.inv(np.diag(variance) + np.diag(neighbour, 1) + np.diag(neighbour, -1))
    current = np.cumsum(bins)[:-1]
    residual = current - prefix
    pull = rate / np.maximum(np.abs(residual), 1 / rate)
    slope = np.vstack([np.eye(size - 1), np.zeros(size - 1)]) - np.vstack([np.zeros(size - 1), np.eye(size - 1)])
    gradient = inverse @ (current - unbiased) - slope.T @ (barrier / bins) + pull * residual
    hessian = inverse + slope.T @ np.diag(barrier / bins**2) @ slope + np.diag(pull)
    dense = slope @ -np.linalg.solve(hessian, gradient)
    law = Geometric(Fraction(math.exp(rate)))
    step = _newton_step(bins, unbiased, variance, neighbour, prefix, _pull_of(law), barrier)
    np.testing.assert_allclose(step, dense, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "noise",
    [Gaussian(Fraction(4)), Gaussian(Fraction(1, 4)), Gaussian(Fraction(900)), Staircase(Fraction(2), Fraction(1, 3))],
)
@pytest.mark.parametrize("size", [2, 7, 30])
def test_convolution_is_the_matrix_product(noise: Gaussian | Staircase, size: int) -> None:
    matrix, kernel, bins = clamped(noise, size), noise_kernel(noise, size), histogram_of(3, size)
    np.testing.assert_allclose(blur(bins, kernel), bins @ matrix, atol=1e-7)
    np.testing.assert_allclose(unblur(bins, kernel), matrix @ bins, atol=1e-7)


laws = st.one_of(
    st.floats(1e-3, 30).map(lambda rate: Geometric(Fraction(math.exp(rate)))),
    st.floats(0.05, 1e4).map(lambda variance: Gaussian(Fraction(variance))),
)


@settings(max_examples=80, deadline=None)
@given(
    noisy=st.lists(st.integers(0, 1000), min_size=2, max_size=30).filter(sum),
    noise=laws,
    measured=st.one_of(st.none(), laws),
    seed=st.integers(0, 2**32),
)
def test_whatever_is_seen_the_result_is_a_distribution_and_repeats(
    noisy: list[int], noise: Geometric | Gaussian, measured: Geometric | Gaussian | None, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    prefix = None if measured is None else rng.integers(-500, 2 * sum(noisy) + 500, len(noisy) - 1)
    out = refine(noisy, noise, prefix, measured)
    assert (out >= 0).all() and out.sum() == pytest.approx(1) and len(out) == len(noisy)
    np.testing.assert_array_equal(out, refine(noisy, noise, prefix, measured))


@pytest.mark.parametrize("noise", [Geometric(Fraction(10**6)), Gaussian(Fraction(1, 100))])
def test_nearly_without_noise_the_noisy_histogram_stays(noise: Geometric | Gaussian) -> None:
    seen = np.array([500, 20, 300, 1, 180])
    assert w1(refine(seen, noise, smoothing=0.01), seen) < 0.01


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rate", [0.2, 0.8])
def test_refinement_beats_both_of_its_sources(shape: str, rate: float) -> None:
    """On average over simulated releases; sources: the measurement by itself, and the noisy histogram by itself."""
    rng, top, errors = np.random.default_rng(8), 40, []
    counts = rows_of(SHAPES[shape](top), 3000)
    true = np.bincount(counts, minlength=top + 1)
    first, second = Geometric(Fraction(math.exp(rate / 5))), Geometric(Fraction(math.exp(rate)))
    for _ in range(30):
        prefix = np.cumsum(true)[:-1] + draw_noise(first, top, simulated(rng))
        seen = np.bincount(np.clip(counts + draw_noise(second, 3000, simulated(rng)), 0, top), minlength=top + 1)
        alone = median(np.diff(prefix.astype(float), prepend=0.0, append=3000.0), 3000)
        errors.append((w1(refine(seen, second, prefix, first), true), w1(alone, true), w1(seen, true)))
    refined, measured, noisy = np.mean(errors, axis=0)
    assert refined < measured * 1.001 and refined < noisy


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([3],), "at least two bins"),
        (([3, -1],), "not a histogram"),
        (([3, 1], [2]), "law of its noise"),
        (([3, 1], [2, 3], Geometric(Fraction(2))), "do not fit 2 bins"),
    ],
)
def test_bad_input_is_explained(arguments: tuple, message: str) -> None:
    noisy, *stage_one = arguments
    with pytest.raises(BadInput, match=message):
        refine(noisy, Geometric(Fraction(2)), *stage_one)
    with pytest.raises(BadInput, match="must not be negative"):
        refine([3, 1], Geometric(Fraction(2)), smoothing=-1)
