"""Structural properties of a mechanism, exact, without writing out weights that would be huge."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.laws.law import constant_odds
from discreet.mechanism import Exponents, Mechanism, NoiseThenMap
from discreet.requirements import STRUCTURAL, properties

ALMOST = 2.0**40  # probabilities that no integers can hold are compared at this resolution


def structural_properties(mechanism: Mechanism) -> dict[str, bool]:
    """Which of the seven structural requirements hold."""
    form = mechanism.form
    if isinstance(form, Exponents):
        return _of_powers(form)
    odds = constant_odds(form.noise) if isinstance(form, NoiseThenMap) and form.map is None else None
    if odds is not None:
        return _of_geometric(odds, form.shape[0] - 1)
    found = properties(*integer_rows(mechanism))
    return {name: witness is None for name, witness in found.items()}


def integer_rows(mechanism: Mechanism) -> tuple[Any, int]:
    """The exact weights and their sum; where no integers of a bearable size hold them, rounded ones."""
    try:
        return mechanism.weights.rows, mechanism.weights.total
    except BadInput:
        return np.rint(mechanism.matrix() * ALMOST).astype(np.int64), int(ALMOST)


def _of_powers(form: Exponents) -> dict[str, bool]:
    """Probabilities are ordered as their negated powers; only weak honesty needs the normaliser."""
    order = int(form.powers.max()) - form.powers
    found = {name: witness is None for name, witness in properties(order, 1).items()}
    weights, total = power_weights(form.odds, form.powers[0].tolist())
    least = weights[int(np.diagonal(form.powers).max())]
    return {**found, "weakly-honest": least * len(form.powers) >= total}


def power_weights(odds: Fraction, powers: Sequence[int]) -> tuple[list[int], int]:
    """Integers in the proportion of odds^-k for k = 0, 1, .., and the sum of those at `powers`."""
    p, q, top = odds.numerator, odds.denominator, max(powers)
    falling, rising = [1], [1]
    for _ in range(top):
        falling.append(falling[-1] * q)
        rising.append(rising[-1] * p)
    weights = [falling[k] * rising[top - k] for k in range(top + 1)]
    return weights, sum(weights[k] for k in powers)


def _of_geometric(odds: Fraction, max_count: int) -> dict[str, bool]:
    """With a = 1/odds: fair for one person only; column properties if a <= 1/2; weakly honest if m >= 2a/(1-a)."""
    p, q = odds.numerator, odds.denominator
    alone = max_count == 1
    holds = dict.fromkeys(STRUCTURAL, True)
    columns = alone or 2 * q <= p
    return holds | {
        "fair": alone,
        "column-honest": columns,
        "column-monotone": columns,
        "weakly-honest": alone or max_count * (p - q) >= 2 * q,
    }
