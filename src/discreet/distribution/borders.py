"""Stage one over a range that nobody knows: borders chosen from noisy answers about borders, at no further price.

Every question is how many rows have a count of at most b. A neighbour moves one row from d to d + 1, so only the
answer about d changes, by one: as long as no border is asked about twice, all answers together cost what one does,
however later borders were chosen from earlier answers (and nothing but these).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Integers
from discreet.distribution.max_count import BORDERS, QUANTILE
from discreet.laws import NoiseLaw
from discreet.public_map import SeenValues
from discreet.sample.bits import Bits


@dataclass(frozen=True, eq=False)
class Adaptive:
    """Noisy numbers of rows: with a count of at most each of `BORDERS`; and of at most 0, 1, ..., as far as matters."""

    coarse: Integers
    prefix: Integers


def ask(counted: SeenValues, noise: NoiseLaw, most: int, bits: Bits) -> Adaptive:
    """First about few borders, then about all that lie below the one that nearly all rows do not exceed."""
    coarse = noise.add(counted.at_most(np.asarray(BORDERS)), bits)
    top = range_of(coarse, counted.rows, noise, most)
    borders = np.arange(top)
    asked = np.isin(borders, BORDERS)
    prefix = np.empty(top, dtype=np.int64)
    prefix[asked] = coarse[: int(asked.sum())]
    prefix[~asked] = noise.add(counted.at_most(borders[~asked]), bits)
    return Adaptive(coarse, prefix)


def range_of(coarse: Integers, rows: int, noise: NoiseLaw, most: int) -> int:
    """The first border above which, as far as the noise lets it be seen, one row in two hundred lies."""
    from scipy.optimize import isotonic_regression

    above = isotonic_regression((rows - coarse).astype(float), increasing=False).x
    within = np.flatnonzero(above <= float((1 - QUANTILE) * rows) + np.sqrt(noise.spread / 2))
    return min(most, BORDERS[int(within[0]) if len(within) else -1])


def fits(adaptive: Adaptive, rows: int, noise: NoiseLaw, most: int) -> bool:
    """Whether the borders follow from the answers, and no border has two answers."""
    top = len(adaptive.prefix)
    if len(adaptive.coarse) != len(BORDERS) or top != range_of(adaptive.coarse, rows, noise, most):
        return False
    known = np.asarray(BORDERS)[np.asarray(BORDERS) < top]
    return bool((adaptive.prefix[known] == adaptive.coarse[: len(known)]).all())
