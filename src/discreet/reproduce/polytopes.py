"""Paper 000, examples 1 and 2: all vertices of the polytopes for n = 3, epsilon = ln 2, in exact rationals."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

from discreet.reproduce.experiment import Claim, Control, Experiment, Result, Setting, printed, stated

Row = list[Fraction]
Point = tuple[Fraction, ...]
SIZE = 3
SCALES = ((4, 2, 1), (2, 1, 2), (1, 2, 1), (1, 2, 4))  # at odds 2, before normalising


def vertices(equalities: list[Row], inequalities: list[Row]) -> set[Point]:
    """All vertices of {x: A x = b, G x >= 0}; the last entry of an equality is b."""
    from flint import fmpq, fmpq_mat

    width = len(inequalities[0])
    base = _independent(equalities)
    found: set[Point] = set()
    for chosen in combinations(inequalities, width - len(base)):
        rows = [row[:-1] for row in base] + list(chosen)
        right = [row[-1] for row in base] + [Fraction(0)] * len(chosen)
        matrix = fmpq_mat(width, width, [fmpq(e.numerator, e.denominator) for row in rows for e in row])
        if matrix.det() == 0:
            continue
        solution = matrix.solve(fmpq_mat(width, 1, [fmpq(e.numerator, e.denominator) for e in right]))
        point = tuple(Fraction(int(solution[i, 0].p), int(solution[i, 0].q)) for i in range(width))
        if all(sum(g * x for g, x in zip(row, point)) >= 0 for row in inequalities):
            found.add(point)
    return found


def _independent(rows: list[Row]) -> list[Row]:
    """Rows that are not combinations of the ones before."""
    kept: list[Row] = []
    reduced: list[tuple[int, Row]] = []
    for row in rows:
        left = list(row)
        for lead, other in reduced:
            left = [e - left[lead] * o for e, o in zip(left, other)] if left[lead] else left
        leads = [i for i, e in enumerate(left[:-1]) if e]
        if leads:
            reduced.append((leads[0], [e / left[leads[0]] for e in left]))
            kept.append(row)
    return kept


def _cell(i: int, j: int, value: Fraction | int = 1, size: int = SIZE * SIZE) -> Row:
    row = [Fraction(0)] * size
    row[i * SIZE + j] = Fraction(value)
    return row


def _sum(rows: list[Row]) -> Row:
    return [sum(column, Fraction(0)) for column in zip(*rows)]


def mechanisms(odds: Fraction, fixed: list[Fraction] | None) -> set[Point]:
    """Vertices of the private 3 x 3 mechanisms, with or without a fixed point."""
    equalities = [[*_sum([_cell(i, j) for j in range(SIZE)]), Fraction(1)] for i in range(SIZE)]
    if fixed is not None:
        equalities += [[*_sum([_cell(i, j, fixed[i]) for i in range(SIZE)]), fixed[j]] for j in range(SIZE)]
    inequalities = []
    for j in range(SIZE):
        for i, k in ((0, 1), (1, 0), (1, 2), (2, 1)):
            inequalities.append(_sum([_cell(i, j, odds), _cell(k, j, -1)]))
    return vertices(equalities, inequalities)


def representations(fixed: list[Fraction] | None) -> set[Point]:
    """Vertices of the amounts of the four scales in the three columns."""
    scales = [[Fraction(entry, sum(scale)) for entry in scale] for scale in SCALES]
    size = len(scales) * SIZE
    equalities = [[scale[i] for scale in scales for _ in range(SIZE)] + [Fraction(1)] for i in range(SIZE)]
    if fixed is not None:
        for j in range(SIZE):
            row = [Fraction(0)] * size
            for s, scale in enumerate(scales):
                row[s * SIZE + j] = sum((z * e for z, e in zip(fixed, scale)), Fraction(0))
            equalities.append([*row, fixed[j]])
    return vertices(equalities, [[Fraction(int(k == m)) for m in range(size)] for k in range(size)])


def image(amounts: Point) -> Point:
    """The mechanism that amounts of scales make."""
    scales = [[Fraction(entry, sum(scale)) for entry in scale] for scale in SCALES]
    return tuple(
        sum((scales[s][i] * amounts[s * SIZE + j] for s in range(len(scales))), Fraction(0))
        for i in range(SIZE)
        for j in range(SIZE)
    )


def _claims(made: set[Point], amounts: set[Point], counts: tuple[str, str]) -> tuple[Claim, ...]:
    images = [image(point) for point in amounts]
    several = len(images) - len(set(images))
    inner = sum(one not in made for one in images)
    return (
        printed("vertices of the mechanisms", counts[0], len(made)),
        printed("vertices of the representations", counts[1], len(amounts)),
        stated("every vertex is represented", "yes", "yes" if made <= set(images) else "no", made <= set(images)),
        stated("representations that share a mechanism", "some", str(several), several > 0),
        stated("representations of no vertex", "some", str(inner), inner > 0),
    )


def example_1(setting: Setting) -> Result:
    even = [Fraction(1, 3)] * 3
    made, amounts = mechanisms(Fraction(2), even), representations(even)
    best = min(_absolute(point, even) for point in made)
    return Result(
        _claims(made, amounts, ("36", "78")),
        Control(
            "a fixed point of 1/2, 1/4, 1/4",
            _claims(mechanisms(Fraction(2), SKEWED), representations(SKEWED), ("36", "78")),
        ),
        f"The least absolute error over all {len(made)} vertices is {best}; the transport mechanism has "
        f"{_transport(even):.12f}: it is optimal, without looking at any vertex.",
    )


SKEWED = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]


def example_2(setting: Setting) -> Result:
    made, amounts = mechanisms(Fraction(2), None), representations(None)
    other = mechanisms(Fraction(2), [Fraction(1, 3)] * 3)
    return Result(
        _claims(made, amounts, ("27", "36")),
        Control("the polytope with a fixed point instead", _claims(other, amounts, ("27", "36"))),
        "Both polytopes grow beyond listing within a few counts; the closed form needs neither.",
    )


def _absolute(point: Point, z: list[Fraction]) -> Fraction:
    return sum((z[i] * abs(i - j) * point[i * SIZE + j] for i in range(SIZE) for j in range(SIZE)), Fraction(0))


def _transport(z: list[Fraction]) -> float:
    import numpy as np

    from discreet.build.transport import transport, transport_cost
    from discreet.laws import Geometric

    law: Any = np.array([float(share) for share in z])
    return transport_cost(transport(law, Geometric(Fraction(2))), law, "absolute")


EXPERIMENTS = (
    Experiment("000-example-1", "vertices of the fixed-point polytope for three counts", example_1),
    Experiment("000-example-2", "vertices of the unfixed polytope for three counts", example_2),
)
