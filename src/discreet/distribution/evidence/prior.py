"""What is believed of a distribution of counts before any is seen: a smooth log-density, with spikes where data ask.

The log-density of the cells is a sum of columns with independent standard normal weights: trends that are nearly free
(a level, a slope in the count and one in its logarithm, a separate value at 0 and, where counts were cut, at the
largest one), a smooth curve (the integrated Wiener process, whose mean is the cubic smoothing spline) in the count or
in its logarithm; and, as the evidence has it, a spike at every count, or a few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers

FREE = 5.0  # standard deviation of a logarithm that may be anything: a factor of e^5 either way
STEEP = 10.0  # the slope over the whole range may be twice that
# but over few counts such laws are nearly all on one of them, which noisy counts that say little would be taken for:
SLOPE = 0.5  # half the standard deviation of the slope from one count to the next, at most
LEAST_FREE = 1.0  # standard deviation of a logarithm over next to no counts; by half the slope more with each
UNSEEN = 1e-4  # variance of a logarithm, 1% either way, below which a wave of the curve is left out


@dataclass(frozen=True, eq=False)
class Prior:
    """Columns of the log-density of the cells."""

    edges: Integers
    trends: Floats
    curves: tuple[Floats, ...]  # at roughness 1, the longest waves first
    spikes: Floats  # at strength 1, of every cell by itself

    def smooth(self, curve: int, roughness: float) -> Floats:
        waves = roughness * self.curves[curve]
        return np.column_stack([self.trends, waves[:, (waves**2).max(axis=0) > UNSEEN]])


def prior_of(edges: Integers, unit: float, cut: bool) -> Prior:
    """For counts in those cells; `unit` is the width of the noise, below which nothing can be told apart."""
    middle, widths = (edges[:-1] + edges[1:] - 1) / 2, np.diff(edges)
    last = max(1.0, float(middle[-1]))
    place, log_place = middle / last, np.log1p(middle / unit) / np.log1p(last / unit)
    steep, free = min(STEEP, SLOPE * last), min(FREE, LEAST_FREE + SLOPE / 2 * last)
    trends = [np.full(len(place), FREE), steep * (2 * place - 1), free * (2 * log_place - 1), free * _at(place, 0)]
    if cut:
        trends.append(free * _at(place, -1))
    curves = (_waves(_integrated_wiener(place)), _waves(_integrated_wiener(log_place)))
    return Prior(edges, np.column_stack(trends), curves, np.diag(1 / np.sqrt(widths)))


def _at(place: Floats, cell: int) -> Floats:
    column = np.zeros(len(place))
    column[cell] = 1.0
    return column


def _integrated_wiener(place: Floats) -> Floats:
    low, high = np.minimum(place[:, None], place), np.maximum(place[:, None], place)
    covariance: Floats = low**2 * (3 * high - low) / 6
    return covariance


def _waves(covariance: Floats) -> Floats:
    """Columns whose squares add up to the covariance."""
    values, vectors = np.linalg.eigh(covariance)
    waves: Floats = (vectors * np.sqrt(np.maximum(values, 0)))[:, ::-1]
    return waves
