"""Every exact sampler against enumeration of a small lattice."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.lattice.invariants import invariant_matrix, sums
from discreet.lattice.plan import LatticePlan, lattice_sampler
from discreet.sample.bits import seeded
from tests.lattice.enumeration import THREE_SETS, check, gaussian, l1, l2, law, margins

DRAWS = 20_000


def plan_for(matrix: np.ndarray, **options: object) -> LatticePlan:
    keep = invariant_matrix([sums(matrix)], {"cell": np.arange(matrix.shape[1])})
    return lattice_sampler(keep, per_unit=True, **options)  # type: ignore[arg-type]


L1_CASES = {
    "total": (np.ones((1, 3), dtype=int), "compositions", 9),
    "disjoint and nested": (np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]]), "compositions", 7),
    "a free cell": (np.array([[1, 1, 0]]), "independent+compositions", 12),
    "2 x 3": (margins(2, 3), "row-transfer", 9),
    "2 x 4": (margins(2, 4), "row-transfer", 8),
    "3 x 3": (margins(3, 3), "row-transfer", 6),
    "2 x 2 of pairs": (margins(2, 2)[:, [0, 0, 1, 2, 3]], "row-transfer", 7),
    "3 x 3 with a hole": (margins(3, 3)[:, 1:], "halved-columns", 6),
    "4 x 3 with holes": (np.delete(margins(4, 3), [0, 5, 8], axis=1), "halved-columns", 5),
    "3 x 3, two cells in a place": (margins(3, 3)[:, [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]], "halved-columns", 5),
    "overlapping": (np.array([[1, 1, 1, 0, 0], [0, 1, 1, 1, 0], [0, 0, 1, 1, 1]]), "merging", 10),
    "overlapping, merged": (np.array([[1, 1, 1, 0], [0, 1, 1, 1]]), "merging", 12),
}


@pytest.mark.parametrize("name", L1_CASES)
def test_l1(name: str) -> None:
    matrix, sampler, reach = L1_CASES[name]
    plan = plan_for(matrix, alpha="1/3")
    assert (plan.sampler, plan.grade) == (sampler, "exact")
    draws = plan.draws(DRAWS, seeded(1))
    assert not (matrix @ draws.T).any()
    rate = math.log(3)
    check(draws, law(matrix, reach, l1(rate)), law(matrix, reach, l1(1.15 * rate)))


@pytest.mark.parametrize(
    ("matrix", "variance", "sampler", "reach"),
    [
        (np.ones((1, 4), dtype=int), Fraction(2), "halving", 7),
        (np.array([[1, 1, 0], [0, 0, 1]]), Fraction(9), "halving", 15),
        (margins(2, 3), Fraction(1), "merging", 6),
        (margins(3, 3), Fraction(1, 2), "merging", 4),
        (np.array([[1, 1, 1, 0], [0, 1, 1, 1]]), Fraction(3), "merging", 9),
    ],
)
def test_gaussian(matrix: np.ndarray, variance: Fraction, sampler: str, reach: int) -> None:
    plan = plan_for(matrix, law="gaussian", rho=1 / (2 * variance))
    assert (plan.sampler, plan.grade, plan.law.variance) == (sampler, "exact", variance)
    draws = plan.draws(DRAWS, seeded(2))
    assert not (matrix @ draws.T).any()
    right, wrong = gaussian(float(variance)), gaussian(1.2 * float(variance))
    check(draws, law(matrix, reach, right), law(matrix, reach, wrong))


@pytest.mark.parametrize(
    ("matrix", "rate", "reach"),
    [
        (np.ones((1, 3), dtype=int), Fraction(3, 2), 12),
        (margins(2, 3), Fraction(1), 12),
        (np.array([[1, 1, 0]]), 2, 10),
    ],
)
def test_l2(matrix: np.ndarray, rate: Fraction, reach: int) -> None:
    plan = plan_for(matrix, law="l2", epsilon=rate)
    assert (plan.sampler, plan.grade) == ("klein", "exact")
    draws = plan.draws(3000, seeded(3))
    assert not (matrix @ draws.T).any()
    check(draws, law(matrix, reach, l2(float(rate))), law(matrix, reach, l2(1.3 * float(rate))))


@pytest.mark.parametrize(
    ("matrix", "counts", "sampler", "reach"),
    [
        (np.ones((1, 4), dtype=int), [0, 1, 2, 5], "compositions", 12),
        (np.array([[1, 1, 0]]), [0, 3, 1], "independent+compositions", 16),
        (np.array([[1, 1, 1, 0, 0], [0, 0, 0, 1, 1]]), [0, 0, 1, 4, 0], "compositions", 10),
        (np.array([[1, 1, 1, 0], [0, 1, 1, 1]]), [1, 2, 0, 2], "merging", 20),
        (margins(2, 3), [1, 2, 3, 1, 2, 40], "halved-nonnegative", 14),
    ],
)
def test_l1_without_negative_counts(matrix: np.ndarray, counts: list[int], sampler: str, reach: int) -> None:
    plan = plan_for(matrix, alpha="1/4", nonnegative=True)
    assert (plan.sampler, plan.grade) == (sampler, "exact")
    draws = plan.draws(DRAWS, seeded(4), np.array(counts))
    assert (draws + counts).min() >= 0

    def allowed(v: tuple[int, ...]) -> bool:
        return all(z + x >= 0 for z, x in zip(v, counts))

    assert plan.law.odds is not None
    rate = math.log(plan.law.odds)
    check(draws, law(matrix, reach, l1(rate), allowed), law(matrix, reach, l1(1.3 * rate), allowed))


@pytest.mark.parametrize("holes", [[0], [4]])
def test_structural_zeros_without_negative_counts(holes: list[int]) -> None:
    """Conditioned one by one, single draws."""
    matrix = np.delete(margins(3, 3), holes, axis=1)
    counts = np.array([2, 0, 1, 3, 0, 1, 1, 2][: matrix.shape[1]])
    plan, bits = plan_for(matrix, alpha="1/4", nonnegative=True), seeded(4)
    assert plan.sampler == "halved-nonnegative"
    draws = np.concatenate([plan.draws(40, bits, counts) for _ in range(60)])

    def allowed(v: tuple[int, ...]) -> bool:
        return all(z + x >= 0 for z, x in zip(v, counts))

    rate = math.log(2)
    right, wrong = (law(matrix, 9, l1(factor * rate), allowed) for factor in (1.0, 1.6))
    check(draws, right, wrong)


def test_merged_classes_one_draw_at_a_time() -> None:
    matrix, counts = np.array([[1, 1, 1, 0], [0, 1, 1, 1]]), np.array([1, 2, 0, 2])
    plan, bits = plan_for(matrix, alpha="1/4", nonnegative=True), seeded(14)
    draws = np.stack([plan.draw(bits, counts) for _ in range(3000)])

    def allowed(v: tuple[int, ...]) -> bool:
        return all(z + x >= 0 for z, x in zip(v, counts))

    rate = math.log(2)
    check(draws, law(matrix, 20, l1(rate), allowed), law(matrix, 20, l1(1.5 * rate), allowed))


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


def test_any_inequality_by_conditioning() -> None:
    matrix, counts = np.ones((1, 3), dtype=int), np.array([2, 1, 0])
    plan = plan_for(matrix, alpha="1/9", inequalities=([[1, -1, 0]], [0]))
    draws = plan.draws(4000, seeded(5), counts)

    def allowed(v: tuple[int, ...]) -> bool:
        return v[0] + counts[0] >= v[1] + counts[1]

    rate = math.log(3)
    check(draws, law(matrix, 9, l1(rate), allowed), law(matrix, 9, l1(1.3 * rate), allowed))


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

    matrix = margins(3, 3)
    right, wrong = law(matrix, 4, gaussian(0.5)), law(matrix, 4, gaussian(0.65))
    for steps in (ladder(kernel_basis(matrix)), box_ladder(np.arange(9).reshape(3, 3), 9)):
        walker, bits = KleinGaussian(steps, Fraction(1, 2)), seeded(9)
        check(np.array([walker.draw(bits) for _ in range(3000)]), right, wrong)


def two_way_margins(*shape: int) -> np.ndarray:
    """All two-way margins of a three-way table."""
    cells = np.arange(math.prod(shape)).reshape(shape)
    lines = [line for axis in range(3) for line in np.moveaxis(cells, axis, 2).reshape(-1, shape[axis])]
    matrix = np.zeros((len(lines), cells.size), dtype=int)
    for row, line in enumerate(lines):
        matrix[row, line] = 1
    return matrix


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
    assert part.box is not None and sorted(part.box.shape) == [2, 3, 4]
    holed = plan_for(shuffled[:, 1:], law="gaussian", rho="1/2")
    assert all(part.box is None for part in holed.structure.parts)


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
