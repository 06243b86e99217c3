"""One fit: the log-density that is most likely given what was seen and one prior, and the evidence for that prior.

A prior is a basis: the log-density of the cells is the basis times independent standard normal weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.distribution.evidence.climb import Foothold, Ground, Precision, climbed
from discreet.distribution.evidence.factor import Factor, factor_of
from discreet.distribution.evidence.seen import Seen, apart

ROUNDS = 2  # where stage one was measured: the covariance of its residuals is worked out again at the top, unless
UNMOVED = 0.02  # of the rows, or less, are elsewhere than where it was worked out
ENOUGH_GAIN = 1e-9  # nats still to be gained, by the slope: so that fits on two machines agree
EQUAL = 1e-3  # nats: of two fits that are no further apart the one tried first is taken
ENOUGH_MEASURED = 1e-5  # the same beside a stage one, where the last steps to the top are small ones
WORTHLESS = 12.0  # nats below the best: a weight of one in 160,000, so it matters nowhere that one falls out
FEW_CELLS = 32  # with a few columns more than cells nothing takes long
LEAST_ROWS = 0.1  # in a cell, so that an empty one says little rather than nothing


@dataclass(frozen=True, eq=False)
class Fit:
    """The mode, and how well the prior that it belongs to explains what was seen; of some cells."""

    seen: Seen
    cells: Integers
    top: Foothold
    precision: Precision  # of the weights, given what was seen
    left: float  # nats to be gained, by the slope
    price: float = 0.0  # of having chosen this prior among others

    @property
    def log_density(self) -> Floats:
        return self.top.density

    @property
    def weights(self) -> Floats:
        return self.top.weights

    @property
    def basis(self) -> Floats:
        return self.top.ground.basis

    @property
    def explained(self) -> float:
        return self.top.value - 0.5 * self.precision.factor.log_determinant

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
    factor: Factor | None = None,
) -> Fit:  # fmt: skip
    """From some weights of the basis, until no more is to be gained, or the fit is seen to be worthless to who has
    explained as much as the goal; counts are in those cells. `factor`: of a precision that may do at first."""
    inside, least = seen.within(cells), goal - WORTHLESS
    for _ in range(ROUNDS):
        before = inside.expectation(basis @ weights)
        top = climbed(Ground(inside.held(before), basis, before), weights, enough, least, factor)
        weights, factor = top.here.weights, top.factor
        if top.hopeless or seen.measured is None or apart(before, top.here.at) < UNMOVED:
            break
    return Fit(seen, cells, top.here, top.here.precision, top.left)


def polished(one: Fit) -> Fit:
    """Until no more is to be gained."""
    enough = ENOUGH_GAIN if one.seen.measured is None else ENOUGH_MEASURED
    if one.left < enough:
        return one
    return replace(
        fit(one.seen, one.cells, one.basis, one.weights, enough, factor=one.precision.factor), price=one.price
    )
