"""Refinement under noise other than geometric: expectation and maximisation, with the noise applied by convolution."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats
from discreet.distribution.convolve import convolved
from discreet.laws import NoiseLaw

ITERATIONS = 60  # few: stopping early is what keeps the estimate smooth
NEGLIGIBLE = 1e-15  # a tail below the rounding of a float: the kernel may end there
NEWTON_STEPS = 2  # few, since the next iteration goes on where they end
SMALLEST_BIN = 1e-12  # so that nothing is divided by zero
TOWARDS_EDGE = 0.9  # of the way to an empty bin, whose logarithm would not be finite


def expectation_steps(
    histogram: Floats, noise: NoiseLaw, prefix: Floats | None, measured: NoiseLaw | None, start: Floats
) -> Floats:
    """Early-stopped maximum likelihood of the noisy histogram and the stage-one prefix counts."""
    rows, kernel, share = histogram.sum(), noise_kernel(noise, len(histogram)), start
    for _ in range(ITERATIONS):
        expected = np.maximum(blur(share, kernel), SMALLEST_BIN)
        bins = share * unblur(histogram / expected, kernel)
        if prefix is None or measured is None:
            share = bins / bins.sum()
        else:
            share = _towards_prefix(share, bins, prefix, measured, rows)
    found: Floats = share / share.sum()
    return found


def noise_kernel(noise: NoiseLaw, bins: int) -> Floats:
    """P(-reach..reach); mass farther out, which is clamped to an end in any case, is put at the ends of the kernel."""
    tails = noise.tails(bins)
    reach = int(np.flatnonzero(tails > NEGLIGIBLE)[-1])
    half = noise.masses(reach)
    half[-1] = tails[reach]
    return np.concatenate([half[:0:-1], half])


def blur(histogram: Floats, kernel: Floats) -> Floats:
    """The expected histogram after noise and clamping."""
    reach = len(kernel) // 2
    spread = np.maximum(convolved(histogram, kernel), 0)
    out = spread[reach : reach + len(histogram)].copy()
    out[0] += spread[:reach].sum()
    out[-1] += spread[reach + len(histogram) :].sum()
    return out


def unblur(weights: Floats, kernel: Floats) -> Floats:
    """The transpose of `blur`: the mean of `weights` at the noisy value, for every true value."""
    padded = np.pad(weights, len(kernel) // 2, mode="edge")
    return np.maximum(convolved(padded, kernel)[len(kernel) - 1 : len(padded)], 0)


def _towards_prefix(share: Floats, bins: Floats, prefix: Floats, measured: NoiseLaw, rows: float) -> Floats:
    """Newton steps, tridiagonal in the prefix, to maximise sum of bins * log(share) minus the measurement's loss."""
    from scipy.linalg import solve_banded

    weights = np.maximum(bins, 1e-9)
    for _ in range(NEWTON_STEPS):
        share = np.maximum(share, SMALLEST_BIN)
        share = share / share.sum()
        current = np.cumsum(share)[:-1]
        pull = measured.curvature(rows * current - prefix) * rows**2
        slope, curve = weights / share, weights / share**2
        gradient = slope[:-1] - slope[1:] - pull * (current - prefix / rows)
        band = np.zeros((3, len(current)))
        band[0, 1:] = band[2, :-1] = -curve[1:-1]
        band[1] = curve[:-1] + curve[1:] + pull
        step = np.diff(solve_banded((1, 1), band, gradient), prepend=0.0, append=0.0)
        falling = step < 0
        shrink = TOWARDS_EDGE / np.max(-step[falling] / share[falling]) if falling.any() else 1.0
        share = share + min(1.0, shrink) * step
    return share
