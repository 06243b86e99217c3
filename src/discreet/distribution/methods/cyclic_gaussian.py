"""Kohli and Laskowski's cyclic mechanism with continuous Gaussian noise: (epsilon, delta), for real numbers only.

A common shift of all noise terms leaves the output as it is, so the effect of one person can be spread: its least
Euclidean length is sqrt(1 - 1/n). The standard deviation is the least one for that length (Balle and Wang 2018).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet.arrays import Floats
from discreet.distribution.methods.cyclic_laplace import answers, estimate, sensitivity, squared
from discreet.errors import BadInput
from discreet.numbers import Epsilon
from discreet.sample.bits import Bits

__all__ = ["PROJECTION", "SUMMARY", "answers", "estimate", "noise", "sensitivity", "squared", "standard_deviation"]


SUMMARY = "continuous Gaussian noise passed between neighbouring bins (idealised)"
PROJECTION = "clip"  # as published


def noise(size: int, epsilon: Epsilon, delta: Fraction, bits: Bits) -> Floats:
    from scipy.special import ndtri

    if not 0 < delta < 1:
        raise BadInput("cyclic-gaussian was asked for", f"delta = {delta}", "Give a delta between 0 and 1")
    uniform = (bits.words(size) >> np.uint64(11)).astype(float) * 2.0**-53 + 2.0**-54
    return standard_deviation(size, float(epsilon), float(delta)) * ndtri(uniform)


def standard_deviation(bins: int, epsilon: float, delta: float) -> float:
    """The least one whose Gaussian noise is (epsilon, delta)-private for a shift of length sqrt(1 - 1/bins)."""
    length = math.sqrt(1 - 1 / bins)
    low, high = 0.0, length
    while _delta(high, length, epsilon) > delta:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _delta(middle, length, epsilon) > delta else (low, middle)
    return high


def _delta(deviation: float, length: float, epsilon: float) -> float:
    from scipy.special import log_ndtr, ndtr

    near, far = length / (2 * deviation), epsilon * deviation / length
    return float(ndtr(near - far) - math.exp(epsilon + log_ndtr(-near - far)))
