"""The way up to the top of one penalised likelihood: by Fisher scoring and Newton's steps where rows alone tell the
law, by steps that remember the last ones where something was measured besides and a curvature costs too much."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats
from discreet.distribution.evidence.factor import Factor, Times, factor_of, solved_near
from discreet.distribution.evidence.seen import Away, Implied, Seen, apart

MOST_STEPS = 40  # a dozen usually do
MOST_SHORT_STEPS = 200  # that remember
LONGEST_STEP = 4.0  # in log-density: a curvature is to be believed no further; or twice as far after a step in which
KEPT = 0.5  # of what the curvature promised was gained
SMALLEST_STEP = 1e-4  # of a whole one: where not even that helps, the top is reached; a step helps if it gains
LEAST_GAIN = 1e-4  # of what was promised
MOST_GAINS = 4.0  # times what the slope promises may be left to be gained: no good fit needed more in 1,500 climbs
CERTAIN = 0.5  # of the logarithm of the precision, which changes on the way up, is certain to be there at the top
ROUGHLY = 1e-2  # nats still to be gained where tops are only compared; those that count are gone over again
NEAR = 1.0  # nats still to be gained: from here on the curvature itself is used
ROUNDING = 1e-13  # of a sum of logarithms, relative: a step that loses no more than that is no loss
MANY_WEIGHTS = 96  # of fewer a new factor takes no longer than the use of an old one
REMEMBERED = 5  # steps
AGED, ASTRAY = 10, 0.3  # steps since a factor was worked out, or rows elsewhere than there: then it is worked out again
LEAST_BEND = 1e-10  # relative: a slope that changes less along a step tells no curvature


@dataclass(frozen=True, eq=False)
class Foothold:
    """On the way up."""

    ground: Ground
    weights: Floats
    density: Floats

    @cached_property
    def at(self) -> Implied:
        return self.ground.seen.expectation(self.density)

    @cached_property
    def away(self) -> Away | None:
        return self.ground.seen.away(self.at)

    @cached_property
    def value(self) -> float:
        """Of the penalised likelihood."""
        return self.ground.seen.log_likelihood_at(self.at, self.away) - 0.5 * float(self.weights @ self.weights)

    @cached_property
    def gradient(self) -> Floats:
        """Of the log-likelihood in the log-density."""
        return self.ground.seen.gradient(self.at, self.away)

    @cached_property
    def slope(self) -> Floats:
        return np.asarray(self.ground.basis.T @ self.gradient - self.weights, dtype=float)

    @cached_property
    def precision(self) -> Precision:
        return self.ground.precision(self.at)

    def along(self, move: Floats, moved: Floats, length: float) -> Foothold:
        return Foothold(self.ground, self.weights + length * move, self.density + length * moved)


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

    @cached_property
    def sure(self) -> Floats:
        """Of the weights: by their prior, and by what was measured as it is under that law."""
        known = self.seen.measured_root(self.at, self.basis)
        return np.asarray(known @ known.T + np.eye(self.basis.shape[1]), dtype=float)

    def precision(self, at: Implied) -> Precision:
        root = self.seen.root(at, self.basis)
        return Precision(at, root, root @ root.T + self.sure)

    def times(self, at: Implied, bent: bool) -> Times:
        """The precision of the weights under some law, or the curvature there, times a direction; by rows alone."""
        by_rows = self.seen.bent(at) if bent else self.seen.informed(at)

        def times(way: Floats) -> Floats:
            return np.asarray(self.basis.T @ by_rows(self.basis @ way) + way, dtype=float)

        return times


class Top(NamedTuple):
    """Where a climb ended."""

    here: Foothold
    factor: Factor  # of a precision near it
    left: float = 0.0  # nats to be gained, by the last slope
    hopeless: bool = False  # whether it was given up, since the top explains too little


def climbed(ground: Ground, weights: Floats, enough: float, least: float, near: Factor | None = None) -> Top:
    """From those weights, until no more than enough is to be gained, or the top is seen to explain less than the least.
    `near`: the factor of a precision that may be near the first."""
    start = Foothold(ground, weights, ground.basis @ weights)
    by = _by_curvature if ground.seen.measured is None else _by_memory
    return by(start, enough, least, near)


def _by_curvature(here: Foothold, enough: float, least: float, near: Factor | None) -> Top:
    longest, bent = LONGEST_STEP, False
    for _ in range(MOST_STEPS):
        move, near = _moved(here, near, bent)
        promised = float(here.slope @ move)
        hopeless = _hopeless(here, promised, near, least)
        if promised < enough or hopeless:
            return Top(here, near, promised, hopeless)
        there, longest, trusted = _stepped(here, move, promised, longest)
        if there is None:
            break
        here, bent = there, promised < NEAR or not trusted
    return Top(here, near or here.precision.factor)


def _moved(here: Foothold, near: Factor | None, bent: bool) -> tuple[Floats, Factor]:
    """The move by Fisher's information or, if bent, by the curvature itself; and the factor that it took."""
    times = here.ground.times(here.at, bent)
    if near is not None and (bent or len(here.slope) >= MANY_WEIGHTS):
        move, solved = solved_near(times, near, here.slope)
        if solved:
            return move, near
    near = here.precision.factor
    return solved_near(times, near, here.slope)[0] if bent else near.solve(here.slope), near


@dataclass(eq=False)
class Memory:
    """The precision at some place, and how the slope changed along the last steps since."""

    factor: Factor
    at: Implied
    borrowed: bool = False  # from another climb
    age: int = 0
    steps: deque[tuple[Floats, Floats, float]] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    def move(self, slope: Floats) -> tuple[Floats, float]:
        """By the curvature that they show: two rounds through the steps, back and forth (Broyden and others); and what
        it promises."""
        left, shares = slope.copy(), []
        for step, change, bend in reversed(self.steps):
            shares.append(float(step @ left) / bend)
            left -= shares[-1] * change
        move = self.factor.solve(left)
        for (step, change, bend), share in zip(self.steps, reversed(shares)):
            move += (share - float(change @ move) / bend) * step
        return move, float(slope @ move)

    def learn(self, here: Foothold, there: Foothold) -> None:
        step, change = there.weights - here.weights, here.slope - there.slope
        bend, self.age = float(step @ change), self.age + 1
        if bend > LEAST_BEND * math.sqrt(float(step @ step) * float(change @ change)):
            self.steps.append((step, change, bend))

    def old(self, at: Implied) -> bool:
        return self.age >= AGED or apart(self.at, at) > ASTRAY


def _by_memory(here: Foothold, enough: float, least: float, near: Factor | None) -> Top:
    longest, memory = LONGEST_STEP, Memory(near or here.precision.factor, here.at, near is not None)
    for _ in range(MOST_SHORT_STEPS):
        move, promised = memory.move(here.slope)
        hopeless = _hopeless(here, promised, memory.factor, least)
        if hopeless or promised < enough >= ROUGHLY:
            return Top(here, memory.factor, promised, hopeless)
        if promised < enough:  # by old steps; the precision that is here decides
            memory = Memory(here.precision.factor, here.at)
            move, promised = memory.move(here.slope)
            if promised < enough:
                return Top(here, memory.factor, promised)
        there, longest, trusted = _stepped(here, move, promised, longest)
        if there is None and not (memory.age or memory.borrowed):
            break
        if there is not None:
            memory.learn(here, there)
            here = there
        if there is None or memory.old(here.at) or (memory.borrowed and not trusted):
            memory = Memory(replace(here.ground, at=here.at).precision(here.at).factor, here.at)
    return Top(here, memory.factor)


def _hopeless(here: Foothold, promised: float, near: Factor, least: float) -> bool:
    return here.value + MOST_GAINS * promised - CERTAIN * 0.5 * near.log_determinant < least


def _stepped(here: Foothold, move: Floats, promised: float, longest: float) -> tuple[Foothold | None, float, bool]:
    """As far along a move as is no loss, if that is any way; and how long the next may be."""
    moved = here.ground.basis @ move
    length = longest / max(longest, float(moved.max() - here.at.shares @ moved))
    while length >= SMALLEST_STEP:
        there = here.along(move, moved, length)
        if there.value >= here.value + LEAST_GAIN * length * promised - ROUNDING * abs(here.value):
            gain = (there.value - here.value) / (length * (1 - length / 2) * promised)
            return there, 2 * longest if gain > KEPT else longest, KEPT < gain < 1.5
        length, longest = length / 2, LONGEST_STEP
    return None, longest, False
