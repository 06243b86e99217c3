"""Any matrix as exact rows: integers, each row with its own sum. This normalised matrix is what gets certified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

from discreet.errors import BadInput
from discreet.mechanism import Weights
from discreet.numbers import exact

TOLERANCE = Fraction(1, 10**9)  # rows may sum to one within this; they are then divided by their sum


@dataclass(frozen=True)
class ExactRows:
    """T[i, j] = rows[i][j] / sums[i]."""

    rows: tuple[tuple[int, ...], ...]
    sums: tuple[int, ...]


def exact_rows(matrix: Any) -> ExactRows:
    """Floats are taken at their exact binary value, strings and decimals as written."""
    plain = matrix.to_numpy() if hasattr(matrix, "to_numpy") else matrix  # a data frame
    entries = plain.tolist() if hasattr(plain, "tolist") else plain
    if (
        not isinstance(entries, Sequence)
        or not entries
        or not all(isinstance(row, Sequence) and row for row in entries)
    ):
        raise BadInput("a matrix was to be certified", "it is not a list of rows of probabilities")
    if len({len(row) for row in entries}) != 1:
        raise BadInput("a matrix was to be certified", "its rows have different lengths")
    pairs = [_integer_row(row, i) for i, row in enumerate(entries)]
    return ExactRows(tuple(row for row, _ in pairs), tuple(total for _, total in pairs))


def weights_of(matrix: Any) -> Weights:
    """Any matrix whose rows sum to one within 1e-9, normalised as rationals, with one common row sum."""
    exact = exact_rows(matrix)
    total = lcm(*exact.sums)
    pairs = zip(exact.rows, exact.sums)
    return Weights(tuple(tuple(entry * (total // own) for entry in row) for row, own in pairs), total)


def _integer_row(row: Sequence[Any], i: int) -> tuple[tuple[int, ...], int]:
    ratios = [_ratio(entry, i, j) for j, entry in enumerate(row)]
    common = lcm(*(denominator for _, denominator in ratios))
    integers = tuple(numerator * (common // denominator) for numerator, denominator in ratios)
    total = sum(integers)
    if abs(Fraction(total, common) - 1) > TOLERANCE:
        raise BadInput(
            "a matrix was to be certified", f"row {i} sums to {_shown(total, common)}, not to 1 within 1e-9", row=i
        )
    return integers, total


def _shown(total: int, common: int) -> str:
    return f"{total / common:.12g}" if total < common << 1000 else "more than 2^1000"


def _ratio(entry: Any, i: int, j: int) -> tuple[int, int]:
    try:
        numerator, denominator = (
            entry.as_integer_ratio() if isinstance(entry, (float, int, Fraction)) else exact(entry).as_integer_ratio()
        )
    except (ValueError, OverflowError, BadInput) as error:
        raise BadInput(
            "a matrix was to be certified", f"row {i}, column {j} is not a finite number", row=i, column=j
        ) from error
    if numerator < 0:
        raise BadInput("a matrix was to be certified", f"row {i}, column {j} is negative", row=i, column=j)
    return numerator, denominator
