"""Scales: vectors whose neighbouring entries all differ by exactly the factor r or 1/r.

Every column of every private mechanism is a sum of scales with weights that are not negative. Everything here is exact:
entries are rationals, r is the odds. A pattern says of every step whether the scale rises (+1) or falls (-1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product

from discreet.errors import BadInput
from discreet.numbers import Number, exact

Vector = tuple[Fraction, ...]
Pattern = tuple[int, ...]
Matrix = Sequence[Sequence[Fraction]]


def scale(pattern: Sequence[int], odds: Fraction) -> Vector:
    """The scale with this pattern, as a probability vector."""
    entries = [Fraction(1)]
    for step in pattern:
        if step not in (1, -1):
            raise BadInput(f"the pattern {tuple(pattern)} was given", "its steps must be +1 (rises) or -1 (falls)")
        entries.append(entries[-1] * odds**step)
    total = sum(entries)
    return tuple(entry / total for entry in entries)


def patterns(size: int) -> list[Pattern]:
    """All patterns of vectors with `size` entries, those that fall first coming first."""
    return list(product((-1, 1), repeat=size - 1))


def single_peaked(size: int, peak: int) -> Pattern:
    """Rises to the peak, falls after it."""
    return tuple(1 if i < peak else -1 for i in range(size - 1))


def pattern_of(vector: Sequence[Fraction], odds: Fraction) -> Pattern | None:
    """The pattern, if the vector is a positive multiple of a scale."""
    if any(entry <= 0 for entry in vector):
        return None
    ratios = [after / before for before, after in pairwise(vector)]
    if any(ratio not in (odds, 1 / odds) for ratio in ratios):
        return None
    return tuple(1 if ratio == odds else -1 for ratio in ratios)


def decompose(column: Sequence[Number], odds: Fraction) -> dict[Pattern, Fraction]:
    """The column as a sum of weight * scale, with at most as many scales as entries; it must be private at the odds.

    Take away as much as possible of one scale: a privacy constraint becomes tight, stays tight, and from then on
    decides that step of the next scale.
    """
    rest = [exact(entry, "an entry of the column") for entry in column]
    _refuse_unprivate(rest, odds)
    out: dict[Pattern, Fraction] = {}
    while any(rest):
        pattern = tuple(-1 if before == odds * after else 1 for before, after in pairwise(rest))
        vector = scale(pattern, odds)
        amount = min([_room(rest, vector, i, step, odds) for i, step in enumerate(pattern)] + [_whole(rest, vector)])
        out[pattern] = out.get(pattern, Fraction(0)) + amount
        rest = [entry - amount * part for entry, part in zip(rest, vector)]
    return out


def _refuse_unprivate(column: Sequence[Fraction], odds: Fraction) -> None:
    for i, (before, after) in enumerate(pairwise(column)):
        if before < 0 or after < 0 or before > odds * after or after > odds * before:
            raise BadInput(
                "a column was to be written as a sum of scales",
                f"its entries {i} and {i + 1} differ by more than the factor {odds}",
            )


def _room(rest: Sequence[Fraction], vector: Vector, i: int, step: int, odds: Fraction) -> Fraction:
    """How much of the scale can go before the constraint that it uses up at this step is tight."""
    if step > 0:
        return (odds * rest[i + 1] - rest[i]) / (odds * vector[i + 1] - vector[i])
    return (odds * rest[i] - rest[i + 1]) / (odds * vector[i] - vector[i + 1])


def _whole(rest: Sequence[Fraction], vector: Vector) -> Fraction:
    return min(entry / part for entry, part in zip(rest, vector))


def representation(matrix: Matrix, odds: Fraction) -> list[dict[Pattern, Fraction]]:
    """For every column of the mechanism the weights of its scales."""
    return [decompose(column, odds) for column in zip(*matrix)]


def mechanism_of(columns: Sequence[Mapping[Pattern, Fraction]], odds: Fraction) -> list[list[Fraction]]:
    """The matrix whose columns have these weights of scales."""
    size = 1 + max(len(pattern) for weights in columns for pattern in weights)
    return [
        [sum((w * scale(p, odds)[i] for p, w in weights.items()), Fraction(0)) for weights in columns]
        for i in range(size)
    ]
