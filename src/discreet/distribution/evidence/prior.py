"""What is believed of a distribution of counts before any is seen: a smooth log-density, with spikes where data ask.

The log-density of the cells is normal with mean 0. Its covariance adds up from trends that are nearly free (a level, a
slope in the count and one in its logarithm, a separate value at 0 and, where counts were cut, at the largest one), a
smooth curve (the integrated Wiener process, whose mean is the cubic smoothing spline), in the count or in its
logarithm, and independent spikes at every count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers

FREE = 25.0  # variance of a logarithm that may be anything: a factor of e^5 either way
STEEP = 100.0  # the slope over the whole range may be twice that


@dataclass(frozen=True, eq=False)
class Prior:
    """Covariances of the log-density of the cells."""

    trends: Floats
    curves: tuple[Floats, ...]  # at roughness 1
    spikes: Floats  # variances at strength 1, of every cell by itself

    def covariance(self, curve: int, roughness: float, strength: float) -> Floats:
        return self.trends + roughness**2 * self.curves[curve] + np.diag(strength**2 * self.spikes)


def prior_of(edges: Integers, unit: float, cut: bool) -> Prior:
    """For counts in those cells; `unit` is the width of the noise, below which nothing can be told apart."""
    middle = (edges[:-1] + edges[1:] - 1) / 2
    last = max(1.0, float(middle[-1]))
    place, log_place = middle / last, np.log1p(middle / unit) / np.log1p(last / unit)
    slope, log_slope = 2 * place - 1, 2 * log_place - 1
    trends = FREE + STEEP * np.outer(slope, slope) + FREE * np.outer(log_slope, log_slope)
    trends[0, 0] += FREE
    if cut:
        trends[-1, -1] += FREE
    return Prior(trends, (_integrated_wiener(place), _integrated_wiener(log_place)), 1.0 / np.diff(edges))


def _integrated_wiener(place: Floats) -> Floats:
    low, high = np.minimum(place[:, None], place), np.maximum(place[:, None], place)
    covariance: Floats = low**2 * (3 * high - low) / 6
    return covariance
