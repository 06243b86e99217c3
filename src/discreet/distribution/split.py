"""How much of the budget the distribution gets, before anything is known about the counts."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.errors import BadInput, called
from discreet.numbers import Epsilon, Number, exact
from discreet.privacy import Pure, loss_of, pure_only

UNKNOWN_RANGE = 400  # rows: where nobody knows max_count, fewer had more of both errors with a measurement beforehand
RHO_SHARE = Fraction(1, 10)  # of rho: Gaussian noise falls with the root of the budget, so a small share goes far
SMALLEST_FOLLOWED = Fraction(1, 50)  # at epsilon 4 a measurement for less had more of both errors than none


def sparse(rows: int, max_count: int | None) -> bool:
    """Whether there may be more different counts than rows. These are then so far apart that their noisy values tell
    their distribution better than a measurement of every count would."""
    return rows < (UNKNOWN_RANGE if max_count is None else max_count)


def default_split(epsilon: Number | Epsilon | Pure, refined: bool = True) -> Fraction:
    """The share of epsilon for stage one where the distribution is favoured."""
    return followed_split(float(_asked(epsilon)), refined)


def followed_split(budget: float, refined: bool) -> Fraction:
    """The same, of a number.

    Seven tenths of the published share; and since with refinement the noisy counts themselves tell the distribution at
    large epsilon, less and less beyond 2, down to nothing. Without refinement the published share.
    """
    if not refined:
        return _thousandths(_published(budget))
    share = _thousandths(0.7 * _published(budget) / (1 + (budget / 2.6) ** 6))
    return share if share >= SMALLEST_FOLLOWED else Fraction(0)


def kl_split(epsilon: Number | Epsilon | Pure) -> Fraction:
    """Kohli and Laskowski's rule of thumb, fitted for the cyclic Laplace privatizer."""
    return _thousandths(_published(float(_asked(epsilon))))


def checked_split(split: Number, refined: bool) -> Fraction:
    """A split as asked for: in [0, 1), and zero only where refinement supplies the distribution."""
    share = exact(split, "the split")
    if not 0 <= share < 1:
        raise BadInput(f"{called('split', split)} was asked for", "it must be at least 0 and below 1")
    if share == 0 and not refined:
        raise BadInput(
            f"{called('split', 0)} without refinement was asked for",
            "nothing would tell the distribution",
            "Refine, or raise the split",
        )
    return share


def _asked(epsilon: Number | Epsilon | Pure) -> Epsilon:
    return epsilon if isinstance(epsilon, Epsilon) else pure_only(loss_of(epsilon), "a split of epsilon").epsilon


def _published(epsilon: float) -> float:
    return 0.106 + 0.533 * math.exp(-2.87 * epsilon)


def _thousandths(share: float) -> Fraction:
    return Fraction(round(1000 * share), 1000)
