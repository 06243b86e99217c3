"""How hard a noisy measurement pulls."""

from __future__ import annotations

import math

import numpy as np

from discreet.arrays import Floats
from discreet.sample.laws import Gaussian, Geometric, Staircase

Noise = Geometric | Gaussian | Staircase


def curvature(residual: Floats, noise: Noise) -> Floats:
    """Of the parabola through 0 that touches the negative log-likelihood of the noise at `residual` from above."""
    if isinstance(noise, Gaussian):
        return np.full(len(residual), 1 / float(noise.variance))
    rate = math.log(noise.odds)
    return rate / np.maximum(np.abs(residual), 1 / rate)
