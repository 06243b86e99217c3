"""Designs that are about the structure of a mechanism only, of any size: what is minimised, and what is kept."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.arrays import Floats
from discreet.build.formulation import Problem
from discreet.requirements import STRUCTURAL
from discreet.requirements.truth import Truth

USUAL_COSTS = 30  # costs between 2^-30 and 2^30 are left as they are: the solver has no trouble with them


@dataclass(frozen=True, eq=False)
class Structured:
    """A problem without delta whose requirements are structural, or the chance of the truth.

    `kinds` are the requirements that no other one implies. `below` and `above` enclose what each entry costs, as much
    as it counts for, in units of 2^exponent. `mirrored`: counting from the top leaves everything as it is, so that a
    symmetric optimum exists.
    """

    problem: Problem
    kinds: frozenset[str]
    truth: Fraction | None
    below: Floats
    above: Floats
    exponent: int
    mirrored: bool

    @property
    def unit(self) -> Fraction:
        return Fraction(2) ** self.exponent

    @property
    def size(self) -> int:
        return self.problem.size

    @property
    def prices(self) -> Floats:
        return (self.below + self.above) / 2

    @property
    def fair(self) -> bool:
        return "fair" in self.kinds or self.truth is not None


def structured(problem: Problem) -> Structured | None:
    """None for other problems."""
    truths = {one.chance for one in problem.requirements if isinstance(one, Truth)}
    others = [one for one in problem.requirements if not isinstance(one, Truth)]
    if problem.delta or problem.minimax or len(truths) > 1 or any(one.kind not in STRUCTURAL for one in others):
        return None
    implied = {name for one in problem.requirements for name in one.implies}
    kinds = frozenset(one.kind for one in others) - implied
    exponent = _exponent(problem.costs)
    below, above = _enclosed(problem, exponent)
    if "symmetric" in kinds:  # what an entry and its mirror image cost together is all that counts
        below, above = _down((below + below[::-1, ::-1]) / 2), _up((above + above[::-1, ::-1]) / 2)
    mirrored = np.array_equal(below, below[::-1, ::-1]) and np.array_equal(above, above[::-1, ::-1])
    return Structured(problem, kinds, next(iter(truths), None), below, above, exponent, mirrored)


def _exponent(costs: Floats) -> int:
    """Of the largest cost, where it is unusual."""
    exponent = int(np.frexp(np.abs(costs).max())[1])
    return exponent if abs(exponent) > USUAL_COSTS else 0


def _enclosed(problem: Problem, exponent: int) -> tuple[Floats, Floats]:
    """costs times shares, rounded down and up."""
    costs = np.ldexp(problem.costs, -exponent)
    shares = np.array([float(share) for share in problem.shares])
    products = [costs * _down(shares)[:, None], costs * _up(shares)[:, None]]
    below = _down(np.minimum(*products))
    return np.where(costs >= 0, np.maximum(below, 0.0), below), _up(np.maximum(*products))


def _down(numbers: Floats) -> Floats:
    """Below what was rounded to these: the double before each."""
    return np.nextafter(numbers, -np.inf)


def _up(numbers: Floats) -> Floats:
    return np.nextafter(numbers, np.inf)
