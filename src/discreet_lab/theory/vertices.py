"""Extreme points of the sets of private mechanisms, in exact arithmetic, for tiny sizes.

Four polytopes: private mechanisms with a fixed point z or without one; and their representations, matrices B >= 0 with
a row a scale, such that scales * B is such a mechanism.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from discreet.errors import BadInput
from discreet_lab.theory.scales import Matrix, Pattern, Vector, pattern_of, patterns, scale

if TYPE_CHECKING:
    from flint import fmpq_mat

Rows = list[list[Fraction]]
Representation = Sequence[Mapping[Pattern, Fraction]]

MOST_CANDIDATES = 200_000


def mechanism_vertices(size: int, odds: Fraction, z: Sequence[Fraction] | None = None) -> list[Rows]:
    """The extreme points of all private mechanisms with `size` counts; with z, of those with that fixed point."""
    equal, right = _sums_and_fixed_point(size, z, [_unit(size, i) for i in range(size)])
    private = []
    for j in range(size):
        for i in range(size - 1):
            for high, low in ((i + 1, i), (i, i + 1)):
                row = [Fraction(0)] * (size * size)
                row[high * size + j], row[low * size + j] = odds, Fraction(-1)
                private.append(row)
    points = _tight_points(equal, right, private)
    return [[list(point[i * size : (i + 1) * size]) for i in range(size)] for point in points]


def representation_vertices(size: int, odds: Fraction, z: Sequence[Fraction] | None = None) -> list[Rows]:
    """The extreme points of the representations; rows in the order of `patterns(size)`."""
    scales = [scale(pattern, odds) for pattern in patterns(size)]
    equal, right = _sums_and_fixed_point(size, z, [list(entries) for entries in zip(*scales)])
    many = len(scales)
    points = _basic_points(equal, right)
    return [[list(point[k * size : (k + 1) * size]) for k in range(many)] for point in points]


def is_extreme_unfixed(matrix: Matrix, odds: Fraction) -> bool:
    """Whether a private mechanism without zeros is extreme: its columns are independent multiples of scales."""
    columns = [list(column) for column in zip(*matrix)]
    if any(entry <= 0 for column in columns for entry in column):
        raise BadInput(
            "an extreme-point test was asked for", "it is for matrices without zeros", "Use a representation"
        )
    return all(pattern_of(column, odds) is not None for column in columns) and rank(columns) == len(columns)


def is_extreme_representation(columns: Representation, odds: Fraction, z: Sequence[Fraction] | None = None) -> bool:
    """Whether the weights of scales (a dict a column) are an extreme point among all representations.

    Without a fixed point: the scales used, each as often as it is used, are independent. With one: in every column the
    differences from its first scale are, when each scale is divided by its mean under z.
    """
    vectors: list[Vector] = []
    for weights in columns:
        used = [scale(pattern, odds) for pattern in sorted(weights) if weights[pattern] > 0]
        if z is None:
            vectors += used
            continue
        scaled = [tuple(entry / _dot(z, vector) for entry in vector) for vector in used]
        vectors += [tuple(a - b for a, b in zip(vector, scaled[0])) for vector in scaled[1:]]
    return rank(vectors) == len(vectors)


def scales_allowed(z: Sequence[Fraction]) -> tuple[int, int]:
    """An extreme representation with fixed point z uses at least and at most so many scales."""
    support = sum(1 for entry in z if entry > 0)
    return support, support + len(z) - 1


def rank(vectors: Sequence[Sequence[Fraction]]) -> int:
    return _flint(vectors).rank() if vectors else 0


def _sums_and_fixed_point(
    size: int, z: Sequence[Fraction] | None, parts: Sequence[Sequence[Fraction]]
) -> tuple[Rows, Vector]:
    """Equations for a matrix X, row by row: parts * X has row sums one and, with z, z * parts * X = z."""
    many = len(parts[0])
    rows = [[part[k] for k in range(many) for _ in range(size)] for part in parts]
    right = [Fraction(1)] * size
    if z is not None:
        means = [_dot(z, [part[k] for part in parts]) for k in range(many)]
        rows += [
            [means[k] if j == column else Fraction(0) for k in range(many) for j in range(size)]
            for column in range(size)
        ]
        right += list(z)
    return rows, tuple(right)


def _tight_points(equal: Rows, right: Vector, private: Rows) -> list[Vector]:
    """Points of {equal x = right, private x >= 0} where as many constraints are tight as there are unknowns."""
    unknowns = len(equal[0])
    free = unknowns - rank(equal)
    _refuse_large(len(private), free)
    found: dict[Vector, None] = {}
    for tight in combinations(private, free):
        point = _only_solution(equal + list(tight), (*right, *[Fraction(0)] * free), unknowns)
        if point is not None and all(_dot(row, point) >= 0 for row in private):
            found[point] = None
    return list(found)


def _basic_points(equal: Rows, right: Vector) -> list[Vector]:
    """Points of {equal x = right, x >= 0} whose positive entries have independent columns."""
    unknowns, independent = len(equal[0]), rank(equal)
    _refuse_large(unknowns, independent)
    found: dict[Vector, None] = {}
    for chosen in combinations(range(unknowns), independent):
        part = _only_solution([[row[k] for k in chosen] for row in equal], right, independent)
        if part is not None and min(part) >= 0:
            point = [Fraction(0)] * unknowns
            for k, entry in zip(chosen, part):
                point[k] = entry
            found[tuple(point)] = None
    return list(found)


def _refuse_large(many: int, chosen: int) -> None:
    if comb(many, chosen) > MOST_CANDIDATES:
        raise BadInput(
            "all extreme points were asked for", f"there are {comb(many, chosen)} candidates", "Take a smaller size"
        )


def _only_solution(rows: Rows, right: Vector, unknowns: int) -> Vector | None:
    """The solution of rows x = right, if there is exactly one."""
    reduced, found = _flint([[*row, value] for row, value in zip(rows, right)]).rref()
    if found != unknowns:
        return None
    pivots = [next(j for j in range(unknowns + 1) if reduced[i, j] != 0) for i in range(found)]
    if pivots != list(range(unknowns)):
        return None
    return tuple(Fraction(int(reduced[i, unknowns].p), int(reduced[i, unknowns].q)) for i in range(unknowns))


def _flint(rows: Sequence[Sequence[Fraction]]) -> fmpq_mat:
    from flint import fmpq, fmpq_mat

    entries = [fmpq(entry.numerator, entry.denominator) for row in rows for entry in row]
    return fmpq_mat(len(rows), len(rows[0]), entries)


def _dot(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(one, other)), Fraction(0))


def _unit(size: int, i: int) -> list[Fraction]:
    return [Fraction(int(k == i)) for k in range(size)]
