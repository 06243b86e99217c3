"""Paper 000, examples 1 and 2: all vertices of the polytopes for n = 3, epsilon = ln 2, in exact rationals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet_lab.experiment import Claim, Control, Experiment, Result, RunSetting, printed, stated
from discreet_lab.theory.scales import mechanism_of, patterns
from discreet_lab.theory.vertices import Rows, mechanism_vertices, representation_vertices

SIZE = 3
ODDS = Fraction(2)
EVEN = [Fraction(1, 3)] * SIZE
SKEWED = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]


def mechanisms(fixed: list[Fraction] | None) -> list[Rows]:
    """Vertices of the private 3 x 3 mechanisms, with or without a fixed point."""
    return mechanism_vertices(SIZE, ODDS, fixed)


def representations(fixed: list[Fraction] | None) -> list[Rows]:
    """Vertices of the amounts of the four scales in the three columns."""
    return representation_vertices(SIZE, ODDS, fixed)


def image(amounts: Rows) -> Rows:
    """The mechanism that amounts of scales make."""
    return mechanism_of([dict(zip(patterns(SIZE), column)) for column in zip(*amounts)], ODDS)


def _claims(made: list[Rows], amounts: list[Rows], counts: tuple[str, str]) -> tuple[Claim, ...]:
    images = [image(point) for point in amounts]
    several = sum(one in images[:k] for k, one in enumerate(images))
    inner = sum(one not in made for one in images)
    represented = all(one in images for one in made)
    return (
        printed("vertices of the mechanisms", counts[0], len(made)),
        printed("vertices of the representations", counts[1], len(amounts)),
        stated("every vertex is represented", "yes", "yes" if represented else "no", represented),
        stated("representations that share a mechanism", "some", str(several), several > 0),
        stated("representations of no vertex", "some", str(inner), inner > 0),
    )


def _single(made: list[Rows], amounts: list[Rows], counts: tuple[str, str]) -> Control:
    """What would be found if every vertex had one representation and nothing else were one."""
    images = [image(point) for point in amounts]
    first = [amounts[images.index(one)] for one in made]
    return Control("one representation for every vertex", _claims(made, first, counts))


def _missing(made: list[Rows], amounts: list[Rows], counts: tuple[str, str]) -> Control:
    """What would be found if the scales could not dip between two columns."""
    dips = [k for k, pattern in enumerate(patterns(SIZE)) if tuple(pattern) == (-1, 1)]
    without = [point for point in amounts if not any(point[k][j] for k in dips for j in range(SIZE))]
    return Control("scales that never dip", _claims(made, without, counts))


def example_1(setting: RunSetting) -> Result:
    made, amounts, counts = mechanisms(EVEN), representations(EVEN), ("36", "78")
    best = min(_absolute(matrix, EVEN) for matrix in made)
    skewed = _claims(mechanisms(SKEWED), representations(SKEWED), counts)
    return Result(
        _claims(made, amounts, counts),
        (
            Control("a fixed point of 1/2, 1/4, 1/4", skewed),
            _single(made, amounts, counts),
            _missing(made, amounts, counts),
        ),
        f"The least absolute error over all {len(made)} vertices is {best}; the transport mechanism has "
        f"{_transport(EVEN):.12f}: it is optimal, without looking at any vertex.",
    )


def example_2(setting: RunSetting) -> Result:
    made, amounts, counts = mechanisms(None), representations(None), ("27", "36")
    fixed = _claims(mechanisms(EVEN), representations(EVEN), counts)
    return Result(
        _claims(made, amounts, counts),
        (
            Control("the polytope with a fixed point instead", fixed),
            _single(made, amounts, counts),
            _missing(made, amounts, counts),
        ),
        "Both polytopes grow beyond listing within a few counts; the closed form needs neither.",
    )


def _absolute(matrix: Rows, z: list[Fraction]) -> Fraction:
    return sum((z[i] * abs(i - j) * matrix[i][j] for i in range(SIZE) for j in range(SIZE)), Fraction(0))


def _transport(z: list[Fraction]) -> float:
    import numpy as np

    from discreet.build.transport import transport, transport_cost
    from discreet.laws import Geometric

    law: Any = np.array([float(share) for share in z])
    return transport_cost(transport(law, Geometric(ODDS)), law, "absolute")


EXPERIMENTS = (
    Experiment("000-example-1", "vertices of the fixed-point polytope for three counts", example_1),
    Experiment("000-example-2", "vertices of the unfixed polytope for three counts", example_2),
)
