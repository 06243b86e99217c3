"""How far off a published count is, from the published mechanism alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.laws import NoiseLaw
from discreet.mechanism import LARGEST_MATRIX, Mechanism, NoiseThenMap

WIDEST_SUM = 100_000  # values; wider noise is so smooth that every so many of its values tell the sum


@dataclass(frozen=True, eq=False)
class Errors:
    """The expected absolute error of a published count, for each true count; and over all of them."""

    counts: Floats
    absolute: Floats
    typical: float


def errors_of(mechanism: Mechanism, shares: Floats | None = None) -> Errors:
    """By true count where there is a largest one; averaged over the published distribution where there is one."""
    form, top = mechanism.form, mechanism.max_count
    if isinstance(form, NoiseThenMap) and (top is None or form.range != (0, top) or top + 1 > LARGEST_MATRIX):
        return _noise_alone(form.noise)
    assert top is not None
    counts = np.arange(top + 1.0)
    absolute = (np.abs(counts[None, :] - counts[:, None]) * mechanism.matrix()).sum(axis=1)
    weights = shares if shares is not None and len(shares) == len(counts) else None
    return Errors(counts, absolute, float(np.average(absolute, weights=weights)))


def _noise_alone(noise: NoiseLaw) -> Errors:
    reach = 4 * noise.centre[1]
    if reach <= WIDEST_SUM:
        mean = float(2 * (np.arange(reach + 1) * noise.masses(reach)).sum())
    else:
        values = np.linspace(0, reach, WIDEST_SUM + 1).round()
        mean = float(2 * (values * np.exp(noise.log_mass(values))).sum() * (reach / WIDEST_SUM))
    return Errors(np.array([0.0, 1.0]), np.array([mean, mean]), mean)
