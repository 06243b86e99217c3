"""Refinement under Gaussian noise: expectation and maximisation, with the noise applied by convolution."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.sample.laws import Gaussian, Geometric

Floats = NDArray[np.float64]

ITERATIONS = 60  # few: stopping early is what keeps the estimate smooth
REACH = 9  # standard deviations
NEWTON_STEPS = 2
SMALLEST_BIN = 1e-12
TOWARDS_EDGE = 0.9


def gaussian_kernel(variance: float) -> Floats:
    """P(-reach..reach) of the discrete Gaussian."""
    reach = math.ceil(REACH * math.sqrt(variance)) + 1
    mass = np.exp(-np.arange(-reach, reach + 1) ** 2 / (2 * variance))
    return mass / mass.sum()


def blur(histogram: Floats, kernel: Floats) -> Floats:
    """The expected histogram after noise and clamping."""
    from scipy.signal import oaconvolve

    reach = len(kernel) // 2
    spread = np.maximum(oaconvolve(histogram, kernel), 0)
    out = spread[reach : reach + len(histogram)].copy()
    out[0] += spread[:reach].sum()
    out[-1] += spread[reach + len(histogram) :].sum()
    return out


def unblur(weights: Floats, kernel: Floats) -> Floats:
    """The transpose of `blur`: the mean of `weights` at the noisy value, for every true value."""
    from scipy.signal import oaconvolve

    reach = len(kernel) // 2
    return np.maximum(oaconvolve(np.pad(weights, reach, mode="edge"), kernel, mode="valid"), 0)


def expectation_steps(
    histogram: Floats, variance: float, prefix: Floats | None, measured: Gaussian | Geometric | None, start: Floats
) -> Floats:
    """Early-stopped maximum likelihood of the noisy histogram and the stage-one prefix counts."""
    rows, kernel, share = histogram.sum(), gaussian_kernel(variance), start
    for _ in range(ITERATIONS):
        expected = np.maximum(blur(share, kernel), SMALLEST_BIN)
        bins = share * unblur(histogram / expected, kernel)
        if prefix is None or measured is None:
            share = bins / bins.sum()
        else:
            share = _towards_prefix(share, bins, prefix, measured, rows)
    return share / share.sum()


def _towards_prefix(share: Floats, bins: Floats, prefix: Floats, measured: Gaussian | Geometric, rows: float) -> Floats:
    """Newton steps for: maximise sum of bins * log(share) minus the loss of the measurement, tridiagonal in the prefix."""
    from scipy.linalg import solveh_banded

    from discreet.distribution.refine import _pull

    weights = np.maximum(bins, 1e-9)
    for _ in range(NEWTON_STEPS):
        share = np.maximum(share, SMALLEST_BIN)
        share = share / share.sum()
        current = np.cumsum(share)[:-1]
        pull = _pull(rows * current - prefix, measured) * rows**2
        slope, curve = weights / share, weights / share**2
        gradient = slope[:-1] - slope[1:] - pull * (current - prefix / rows)
        band = np.zeros((2, len(current)))
        band[0, 1:] = -curve[1:-1]
        band[1] = curve[:-1] + curve[1:] + pull
        step = np.diff(solveh_banded(band, gradient), prepend=0.0, append=0.0)
        falling = step < 0
        shrink = TOWARDS_EDGE / np.max(-step[falling] / share[falling]) if falling.any() else 1.0
        share = share + min(1.0, shrink) * step
    return share
