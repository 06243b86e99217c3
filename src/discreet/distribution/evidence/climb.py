"""The way up to the top of one penalised likelihood, by Fisher scoring and, near the top, by Newton's steps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats
from discreet.distribution.evidence.factor import Factor, Times, factor_of, solved_near
from discreet.distribution.evidence.seen import Implied, Seen, apart

MOST_STEPS = 40  # a dozen usually do
LONGEST_STEP = 4.0  # in log-density: a curvature is to be believed no further; or twice as far after a step in which
KEPT = 0.5  # of what the curvature promised was gained
SMALLEST_STEP = 1e-4  # of a whole one: where not even that helps, the top is reached
MOST_GAINS = 4.0  # times what the slope promises may be left to be gained: no good fit needed more in 1,500 climbs
MOVED = 0.1  # of the rows: then what is known by measurements is worked out again on the way
CERTAIN = 0.5  # of the logarithm of the precision, which changes on the way up, is certain to be there at the top
NEAR = 1.0  # nats still to be gained: from here on the curvature itself is used
ROUNDING = 1e-13  # of a sum of logarithms, relative: a step that loses no more than that is no loss
MANY_WEIGHTS = 96  # of fewer a new factor takes no longer than the use of an old one


class Foothold(NamedTuple):
    """On the way up."""

    weights: Floats
    density: Floats
    at: Implied
    value: float  # of the penalised likelihood


@dataclass(frozen=True, eq=False)
class Precision:
    """Of the weights under some law, by Fisher's information."""

    at: Implied
    root: Floats  # of what the rows add to it
    matrix: Floats

    @cached_property
    def factor(self) -> Factor:
        return factor_of(self.matrix)


@dataclass(frozen=True, eq=False)
class Ground:
    """What a climb goes over: what was seen, the basis, and a law not far away."""

    seen: Seen
    basis: Floats
    at: Implied

    def foothold(self, weights: Floats, density: Floats) -> Foothold:
        at = self.seen.expectation(density)
        return Foothold(weights, density, at, self.seen.log_likelihood_at(at) - 0.5 * float(weights @ weights))

    @cached_property
    def sure(self) -> Floats:
        """Of the weights: by their prior, and by what was measured as it is under that law."""
        known = self.seen.measured_root(self.at, self.basis)
        return np.asarray(known @ known.T + np.eye(self.basis.shape[1]), dtype=float)

    def precision(self, at: Implied) -> Precision:
        root = self.seen.root(at, self.basis)
        return Precision(at, root, root @ root.T + self.sure)

    def times(self, at: Implied, bent: bool) -> Times:
        """The precision of the weights under some law, or the curvature there, times a direction."""
        by_rows, known = self.seen.bent(at) if bent else self.seen.informed(at), self.seen.known(at)

        def times(way: Floats) -> Floats:
            moved = self.basis @ way
            return np.asarray(self.basis.T @ (by_rows(moved) + known(moved)) + way, dtype=float)

        return times

    def moved_to(self, at: Implied) -> Ground:
        if self.seen.measured is None or apart(self.at, at) <= MOVED:
            return self
        return Ground(self.seen, self.basis, at)


class Top(NamedTuple):
    """Where a climb ended."""

    here: Foothold
    precision: Precision | None  # there, if it was worked out
    left: float  # nats to be gained, by the last slope
    hopeless: bool  # whether it was given up, since the top explains too little


def climbed(ground: Ground, weights: Floats, enough: float, least: float, near: Factor | None = None) -> Top:
    """From those weights, until no more than enough is to be gained, or the top is seen to explain less than the least.
    `near`: the factor of a precision that may be near the first."""
    here, longest, start = ground.foothold(weights, ground.basis @ weights), LONGEST_STEP, ground
    bent = False
    for _ in range(MOST_STEPS):
        slope = ground.basis.T @ ground.seen.gradient(here.at) - here.weights
        move, near, precision = _moved(ground, here.at, slope, near, bent)
        promised = float(slope @ move)
        if promised < enough:
            return Top(here, precision if ground is start else None, promised, False)
        if here.value + MOST_GAINS * promised - CERTAIN * 0.5 * near.log_determinant < least:
            return Top(here, None, promised, True)
        there, longest, trusted = _stepped(ground, here, move, promised, longest)
        if there is None:
            break
        here, ground, bent = there, ground.moved_to(there.at), promised < NEAR or not trusted
    return Top(here, None, 0.0, False)


def _moved(
    ground: Ground, at: Implied, slope: Floats, near: Factor | None, bent: bool
) -> tuple[Floats, Factor, Precision | None]:
    """The move by Fisher's information or, if bent, by the curvature itself; the factor that it took, and the precision
    there, if it was worked out."""
    times = ground.times(at, bent)
    if near is not None and (bent or len(slope) >= MANY_WEIGHTS):
        move, solved = solved_near(times, near, slope)
        if solved:
            return move, near, None
    precision = ground.precision(at)
    move = solved_near(times, precision.factor, slope)[0] if bent else precision.factor.solve(slope)
    return move, precision.factor, precision


def _stepped(
    ground: Ground, here: Foothold, move: Floats, promised: float, longest: float
) -> tuple[Foothold | None, float, bool]:
    """As far along a move as is no loss, if that is any way; and how long the next may be."""
    moved = ground.basis @ move
    length = longest / max(longest, float(moved.max() - here.at.shares @ moved))
    while length >= SMALLEST_STEP:
        there = ground.foothold(here.weights + length * move, here.density + length * moved)
        if there.value >= here.value - ROUNDING * abs(here.value):
            gain = (there.value - here.value) / (length * (1 - length / 2) * promised)
            return there, 2 * longest if gain > KEPT else longest, KEPT < gain < 1.5
        length, longest = length / 2, LONGEST_STEP
    return None, longest, False
