"""Every exact sampler against enumeration of a small lattice."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, is_dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from discreet.lattice import sampler, two_way_pieces
from discreet.lattice.invariants import invariant_matrix, sums
from discreet.lattice.plan import LatticePlan, lattice_sampler
from discreet.sample.bits import seeded
from tests.lattice import test_halved_columns, test_three_layers
from tests.lattice.enumeration import (
    FALSE_ALARM,
    THREE_SETS,
    Law,
    check,
    l1,
    law,
    margins,
    p_of,
    p_value,
    points,
    rejected,
)

EXPECTED = 35.0  # of the logarithm of how much likelier draws are under their law than under one that is 5% off


def plan_for(matrix: np.ndarray, **options: object) -> LatticePlan:
    keep = invariant_matrix([sums(matrix)], {"cell": np.arange(matrix.shape[1])})
    return lattice_sampler(keep, per_unit=True, **options)  # type: ignore[arg-type]


def two_way_margins(*shape: int) -> np.ndarray:
    """All two-way margins of a three-way table."""
    cells = np.arange(math.prod(shape)).reshape(shape)
    lines = [line for axis in range(3) for line in np.moveaxis(cells, axis, 2).reshape(-1, shape[axis])]
    matrix = np.zeros((len(lines), cells.size), dtype=int)
    for row, line in enumerate(lines):
        matrix[row, line] = 1
    return matrix


@dataclass(frozen=True)
class Case:
    """A small lattice and its law; `singly`: whether draws are made one at a time, many at once, or both in turn."""

    sampler: str
    matrix: np.ndarray
    reach: int
    alpha: str = "1/3"
    law: dict[str, Any] = field(default_factory=dict)  # in place of alpha
    counts: tuple[int, ...] | None = None
    limits: tuple[list[list[int]], list[int]] | None = None
    singly: tuple[bool, ...] = (False, True)

    @property
    def options(self) -> dict[str, Any]:
        privacy = self.law or {"alpha": self.alpha}
        return {**privacy, "nonnegative": self.counts is not None and self.limits is None, "inequalities": self.limits}

    @cached_property
    def plan(self) -> LatticePlan:
        return plan_for(self.matrix, **self.options)

    def vectors(self) -> np.ndarray:
        found = np.array(points(self.matrix, self.reach))
        if self.limits is not None:
            rows, least = self.limits
            return found[((found + self.counts) @ np.array(rows).T >= least).all(axis=1)]
        return found if self.counts is None else found[(found + self.counts).min(axis=1) >= 0]

    def drawn(self, number: int, single: bool) -> np.ndarray:
        bits, counts = seeded(1), None if self.counts is None else np.array(self.counts)
        if single:
            return np.stack([self.plan.draw(bits, counts) for _ in range(number)])
        return self.plan.draws(number, bits, counts)


MANY = (False,)
ONE = (True,)  # many at once are no more than one after the other
OVERLAPPING = np.array([[1, 1, 1, 0, 0, 0], [0, 1, 1, 1, 1, 0], [0, 0, 0, 1, 1, 1]])
GAUSSIAN = {"law": "gaussian", "rho": "1/4"}  # of variance 2
CASES = {
    "total": Case("compositions", np.ones((1, 6), dtype=int), 5),
    "disjoint and nested": Case("compositions", np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]]), 7, singly=MANY),
    "free cells": Case("independent+compositions", np.array([[1, 1, 0, 0, 0]]), 6),
    "3 x 3": Case("row-transfer", margins(3, 3), 6),
    "2 x 2 of pairs": Case("row-transfer", margins(2, 2)[:, [0, 0, 1, 2, 3]], 7, singly=MANY),
    "3 x 3 with a hole": Case("halved-columns", margins(3, 3)[:, 1:], 8, alpha="1/2"),
    "4 x 3 with holes": Case("halved-columns", np.delete(margins(4, 3), [0, 5, 8], axis=1), 5, singly=MANY),
    "two cells in a place": Case("halved-columns", margins(3, 3)[:, [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]], 5, singly=MANY),
    "2 x 2 x 4": Case("halved-columns", two_way_margins(2, 2, 4), 6, alpha="2/3"),
    "overlapping": Case("merging", OVERLAPPING, 9, alpha="1/2"),
    "total, not negative": Case("compositions", np.ones((1, 5), dtype=int), 18, alpha="1/3", counts=(0, 4, 6, 5, 3)),
    "free cells, not negative": Case(
        "independent+compositions", np.array([[1, 1, 0, 0]]), 12, alpha="1/4", counts=(0, 3, 1, 4), singly=MANY
    ),
    "overlapping, not negative": Case("merging", OVERLAPPING, 14, alpha="1/4", counts=(3, 4, 2, 5, 3, 4)),
    "3 x 3, not negative": Case(
        "halved-nonnegative", margins(3, 3), 9, alpha="1/3", counts=(2, 1, 1, 3, 5, 1, 1, 2, 4), singly=MANY
    ),
    "3 x 3 with a hole, not negative": Case(
        "halved-nonnegative", margins(3, 3)[:, 1:], 9, alpha="1/4", counts=(2, 3, 3, 1, 4, 1, 1, 2), singly=MANY
    ),
    "an inequality": Case(
        "compositions", np.ones((1, 4), dtype=int), 16, alpha="1/6", counts=(2, 1, 0, 1), limits=([[1, -1, 0, 0]], [0]),
        singly=ONE,
    ),
    "Gaussian, total": Case("halving", np.ones((1, 5), dtype=int), 7, law=GAUSSIAN),
    "Gaussian, free cells": Case("independent+halving", np.array([[1, 1, 0, 0]]), 8, law=GAUSSIAN),
    "Gaussian, 3 x 3": Case("merging", margins(3, 3), 6, law=GAUSSIAN),
    "l2, total": Case("klein", np.ones((1, 5), dtype=int), 9, law={"law": "l2", "epsilon": 2}, singly=ONE),
    "l2, an inequality": Case(
        "klein", np.ones((1, 4), dtype=int), 12, law={"law": "l2", "epsilon": 4}, counts=(2, 1, 0, 0),
        limits=([[1, -1, 0, 0]], [0]), singly=ONE,
    ),
}  # fmt: skip


def chances(plan: LatticePlan, vectors: np.ndarray, factor: float) -> np.ndarray:
    """Of these vectors alone, where noise is narrower by this factor."""
    law = plan.law
    if law.odds is not None:
        logs = -factor * math.log(law.odds) * np.abs(vectors).sum(axis=1)
    elif law.variance is not None:
        logs = -(factor**2) * (vectors**2).sum(axis=1) / (2 * float(law.variance))
    else:
        assert law.rate is not None
        logs = -factor * float(law.rate) * np.sqrt((vectors**2).sum(axis=1))
    weights = np.exp(logs)
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize(("name", "single"), [(name, single) for name, case in CASES.items() for single in case.singly])
def test_every_exact_sampler_against_enumeration(name: str, single: bool) -> None:
    """Among the vectors that are listed, draws follow the law; and they show that it is not one 5% wider or narrower.
    There are as many as are expected to be e^35 times as likely as under these."""
    case = CASES[name]
    plan, vectors = case.plan, case.vectors()
    assert (plan.sampler, plan.grade) == (case.sampler, "exact")
    right = chances(plan, vectors, 1.0)
    surprises = [np.log(right / chances(plan, vectors, factor)) for factor in (0.95, 1.05)]
    needed = math.ceil(EXPECTED / min(float(right @ surprise) for surprise in surprises))
    draws = case.drawn(needed, single)
    assert not (case.matrix @ draws.T).any()
    place = {vector: i for i, vector in enumerate(map(tuple, vectors.tolist()))}
    found = [place[draw] for draw in map(tuple, draws.tolist()) if draw in place]
    assert len(found) > 0.8 * needed
    seen = np.bincount(found, minlength=len(vectors))
    assert p_of(seen, right) > 1e-4
    assert all(seen @ surprise > math.log(1 / FALSE_ALARM) for surprise in surprises)


def test_no_exact_sampler_is_left_out() -> None:
    """Every kind of piece there is, and every law that it serves, is above; two are tested alone, one at a time too."""
    made = {type(piece) for case in CASES.values() for piece in case.plan.pieces}
    alone = {two_way_pieces.LayeredPiece: test_three_layers.test_the_law_among_short_tables}
    kinds = {
        kind
        for module in (sampler, two_way_pieces)
        for kind in vars(module).values()
        if getattr(kind, "__module__", None) == module.__name__ and is_dataclass(kind)
    }
    assert made | set(alone) == {kind for kind in kinds if kind.grade == "exact"} and len(made) >= 7
    singly = {(name, c.plan.law.name) for c in CASES.values() if True in c.singly for name in c.plan.sampler.split("+")}
    assert callable(test_halved_columns.test_nonnegative_tables_against_enumeration)  # one at a time, too
    names = {"compositions", "independent", "merging", "row-transfer", "halved-columns"}
    assert singly >= {(name, "l1") for name in names} | {("klein", "l2")}
    assert singly >= {(name, "gaussian") for name in ("halving", "independent", "merging")}


def test_inequalities_that_nothing_ties_are_met_one_by_one() -> None:
    """Areas of two counts, one at most the other, beside a third that keeps the sum: each area has its own law."""
    areas, one = 400, np.array([1, 1, 2])
    matrix = np.kron(np.eye(areas, dtype=int), np.ones((1, 3), dtype=int))
    at_most = np.kron(np.eye(areas, dtype=int), np.array([[-1, 1, 0]]))
    plan = plan_for(matrix, alpha="1/9", inequalities=(at_most, [0] * areas))
    draws = plan.draws(20, seeded(5), np.tile(one, areas)).reshape(-1, 3)

    def allowed(v: tuple[int, ...]) -> bool:
        return v[0] <= v[1]

    rate, small = math.log(3), np.ones((1, 3), dtype=int)
    check(draws, law(small, 9, l1(rate), allowed), law(small, 9, l1(1.2 * rate), allowed))


def test_three_intersecting_sets_agree_with_plain_rejection() -> None:
    """Merged classes against plain rejection: independent noise, kept when all three sums happen to be zero."""
    plan = plan_for(THREE_SETS, alpha="1/2")
    ours = np.abs(plan.draws(20_000, seeded(6))).sum(axis=1)
    rng = np.random.default_rng(7)
    free = rng.geometric(0.5, (2_000_000, 14)) - rng.geometric(0.5, (2_000_000, 14))
    plain = np.abs(free[~(THREE_SETS @ free.T).any(axis=0)]).sum(axis=1)
    assert len(plain) > 1000
    error = math.sqrt(ours.var() / len(ours) + plain.var() / len(plain))
    assert abs(ours.mean() - plain.mean()) < 5 * error
    assert abs(1.15 * ours.mean() - plain.mean()) > 5 * error


def test_klein_on_a_wide_table_keeps_both_margins_and_has_the_right_size() -> None:
    matrix = margins(12, 12)
    plan = plan_for(matrix, law="gaussian", rho="1/18")  # variance 9
    assert plan.sampler == "klein"
    draws = plan.draws(30, seeded(8))
    assert not (matrix @ draws.T).any()
    # for a wide Gaussian |v|^2 / variance is nearly chi-squared with 121 degrees of freedom
    sizes = (draws**2).sum(axis=1) / 9
    assert abs(sizes.mean() - 121) < 6 * math.sqrt(2 * 121 / 30)


def test_a_dense_basis_walks_the_same_law_as_the_known_one() -> None:
    from discreet.lattice.basis import kernel_basis
    from discreet.lattice.klein import KleinGaussian, box_ladder, ladder

    vectors = np.array(points(margins(3, 3), 5))

    def weights(variance: float) -> Law:
        every = np.exp(-(vectors**2).sum(axis=1) / (2 * variance))
        return dict(zip(map(tuple, vectors.tolist()), (every / every.sum()).tolist()))

    right, wider, narrower = (weights(0.75 * factor**2) for factor in (1, 1.05, 0.95))
    for steps in (ladder(kernel_basis(margins(3, 3))), box_ladder(np.arange(9).reshape(3, 3), 9)):
        walker, bits = KleinGaussian(steps, Fraction(3, 4)), seeded(9)
        draws = np.array([walker.draw(bits) for _ in range(4000)])
        assert p_value(draws, right) > 1e-4 and rejected(draws, right, wider) and rejected(draws, right, narrower)


def test_the_ladder_of_a_box_is_that_of_its_basis() -> None:
    from discreet.lattice.klein import box_ladder, ladder

    box = box_ladder(np.arange(24).reshape(2, 3, 4), 24)
    same = ladder(box.dense)
    assert box.norms == same.norms
    assert [sorted(steps) for steps in box.below] == [sorted(steps) for steps in same.below]


def test_boxes_are_recognised_in_any_order() -> None:
    matrix, rng = two_way_margins(2, 3, 4), np.random.default_rng(3)
    shuffled = matrix[rng.permutation(len(matrix))][:, rng.permutation(24)]
    plan = plan_for(shuffled, law="gaussian", rho="1/2")
    (part,) = plan.structure.parts
    assert part.shape.box is not None and sorted(part.shape.box.shape) == [2, 3, 4]
    holed = plan_for(shuffled[:, 1:], law="gaussian", rho="1/2")
    assert all(part.shape.box is None for part in holed.structure.parts)


def test_gaussian_noise_under_all_two_way_margins() -> None:
    matrix = two_way_margins(4, 10, 10)
    plan = plan_for(matrix, law="gaussian", rho="1/18")  # variance 9
    assert (plan.sampler, plan.grade) == ("klein", "exact")
    draws = plan.draws(20, seeded(8))
    assert not (matrix @ draws.T).any()
    sizes = (draws**2).sum(axis=1) / 9
    assert abs(sizes.mean() - 243) < 6 * math.sqrt(2 * 243 / 20)


def test_narrow_tables_of_many_rows() -> None:
    matrix = margins(500, 4)
    plan = plan_for(matrix, epsilon="1/4")
    assert (plan.sampler, plan.grade) == ("row-transfer", "exact")
    draw = plan.draw(seeded(10))
    assert not (matrix @ draw).any()
    # the column sums tie so many rows only loosely: rows look like rows of four cells that sum to zero
    rows = plan_for(np.kron(np.eye(500, dtype=int), np.ones((1, 4), dtype=int)), epsilon="1/4").draw(seeded(11))
    assert abs(np.abs(draw).mean() / np.abs(rows).mean() - 1) < 0.12


def test_a_secure_draw_differs_from_the_next() -> None:
    from discreet.sample.bits import secure

    plan = plan_for(np.ones((1, 50), dtype=int), epsilon="1/10")
    assert not np.array_equal(plan.draw(secure()), plan.draw(secure()))
