"""One fit: the log-density that is most likely given what was seen and one prior, and the evidence for that prior.

A prior is a basis: the log-density of the cells is the basis times independent standard normal weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.distribution.evidence.climb import Ground, Precision, climbed
from discreet.distribution.evidence.factor import factor_of
from discreet.distribution.evidence.seen import Seen, apart

ROUNDS = 2  # where stage one was measured: the covariance of its residuals is worked out again at the top, unless
UNMOVED = 0.02  # of the rows, or less, are elsewhere than where it was worked out
ENOUGH_GAIN = 1e-9  # nats still to be gained, by the slope: so that fits on two machines agree
EQUAL = 1e-3  # nats: of two fits that are no further apart the one tried first is taken
ROUGHLY = 1e-2  # nats still to be gained where fits are only compared; those that count are gone over again
WORTHLESS = 12.0  # nats below the best: a weight of one in 160,000, so it matters nowhere that one falls out
FEW_CELLS = 32  # with a few columns more than cells nothing takes long
LEAST_ROWS = 0.1  # in a cell, so that an empty one says little rather than nothing


@dataclass(frozen=True, eq=False)
class Fit:
    """The mode, and how well the prior that it belongs to explains what was seen; of some cells."""

    seen: Seen
    explained: float
    log_density: Floats
    basis: Floats
    weights: Floats
    precision: Precision  # of the weights, given what was seen
    gradient: Floats  # of the log-likelihood there
    cells: Integers
    left: float  # nats to be gained, by the slope
    price: float = 0.0  # of having chosen this prior among others

    @property
    def inside(self) -> Seen:
        return self.seen.within(self.cells)

    @property
    def evidence(self) -> float:
        return self.explained - self.price


def likeliest(fits: list[Fit]) -> Fit:
    """The first of the best."""
    best = fits[0]
    for one in fits[1:]:
        if one.evidence > best.evidence + EQUAL:
            best = one
    return best


def regressed(basis: Floats, target: Floats, weights: Floats) -> Floats:
    """The weights of the basis that bring it near a log-density, in cells that hold so many rows."""
    weighted = (weights + LEAST_ROWS)[:, None] * basis
    return factor_of(np.eye(basis.shape[1]) + basis.T @ weighted).solve(weighted.T @ target)


def narrowed(basis: Floats) -> Floats:
    """No more columns than cells, with the same prior; where that saves something."""
    if len(basis) < FEW_CELLS or basis.shape[1] <= len(basis):
        return basis
    return np.asarray(np.linalg.qr(basis.T).R.T, dtype=float)


def fit(
    seen: Seen, cells: Integers, basis: Floats, weights: Floats, enough: float = ENOUGH_GAIN, goal: float = -math.inf,
    near: Fit | None = None,
) -> Fit:  # fmt: skip
    """From some weights of the basis, until no more is to be gained, or the fit is seen to be worthless to who has
    explained as much as the goal; counts are in those cells. `near`: a fit with that basis, whose precision may do."""
    inside, density, factor = seen.within(cells), basis @ weights, None if near is None else near.precision.factor
    for _ in range(ROUNDS):
        before = inside.expectation(density)
        held = inside.held(before)
        ground = Ground(held, basis, before)
        top = climbed(ground, weights, enough, goal - WORTHLESS, factor)
        weights, density, at = top.here.weights, top.here.density, top.here.at
        if top.hopeless or seen.measured is None or apart(before, at) < UNMOVED:
            break
    precision = top.precision or ground.precision(at)
    explained = top.here.value - 0.5 * precision.factor.log_determinant
    return Fit(seen, explained, density, basis, weights, precision, held.gradient(at), cells, top.left)
