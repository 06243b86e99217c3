"""The budget is divided well: against all Gaussian mechanisms, against finite differences, against every division."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import cosh, prod, sqrt

import numpy as np
import pytest

from discreet.arrays import Floats
from discreet.errors import BadInput
from discreet.levels.combine import Spread
from discreet.levels.design import LevelDesign, Question, subsets, tree_of
from discreet.levels.division import PARTS, Division
from discreet.levels.loss import alike, loss_by_precision
from discreet.levels.shares import CANDIDATES, FLOOR, Shares, candidates, choose_shares
from tests.levels.dense import random_design

ADULT = (16, 7, 15, 5, 2, 2)
TOP = np.zeros(1, dtype=np.int64)


def flat(shape: tuple[int, ...]) -> LevelDesign:
    return LevelDesign((TOP,), shape)


def ways(design: LevelDesign, sizes: range) -> list[Question]:
    return [q for q in design.questions() if len(q.attributes) in sizes]


def two_levels(seed: int = 0) -> LevelDesign:
    """Some fifty states of up to a hundred counties."""
    state = np.repeat(np.arange(50), np.random.default_rng(seed).integers(1, 100, 50))
    return LevelDesign(tree_of([state, np.arange(len(state))])[0])


def noise(shares: Shares, kept: list[Question], budget: float, pure: bool) -> dict[Question, float]:
    spent = {q: budget * float(share) for q, share in shares.shares.items()}
    return {q: 1 / (cosh(x) - 1) if pure else 1 / (2 * x) for q, x in spent.items()} | dict.fromkeys(kept, 0.0)


def loss_by_spread(design: LevelDesign, asked: list[Question], variances: dict[Question, float]) -> float:
    """The specification: every node of the whole tree."""
    spread = Spread(design, variances)
    return sum(float(spread.variance(q).sum()) * design.size(q.attributes) for q in asked)


def least_of_all_gaussian(design: LevelDesign, asked: list[Question], rho: float) -> float:
    """The least loss of any mechanism that adds Gaussian noise to weighted sums of a table without levels.

    Such a mechanism may measure each component r by itself (Xiao, He, Zhang and Kifer, ResidualPlanner, 2023): with
    precision lambda_r it costs p_r lambda_r / 2 of rho, where p_r = prod over a in r of (1 - 1/n_a) is the squared
    length of what one person is in the component. The loss is the sum of c_r / lambda_r, where c_r is the weight of
    the component in all entries asked. By Cauchy-Schwarz

        sum of c_r / lambda_r >= (sum of sqrt(c_r p_r))^2 / sum of p_r lambda_r,

    with equality where lambda_r is proportional to sqrt(c_r / p_r); and all of rho is spent.
    """

    def size(attributes: object) -> int:
        return prod(design.shape[a] for a in attributes)  # type: ignore[attr-defined]

    total = 0.0
    for r in subsets(design.attributes):
        p = prod(1 - 1 / design.shape[a] for a in r)
        having = [set(q.attributes) for q in asked if set(r) <= set(q.attributes)]
        total += sqrt(p * sum(size(own) * p / size(own - set(r)) ** 2 for own in having))
    return total**2 / (2 * rho)


def random_case(seed: int) -> tuple[LevelDesign, list[Question], list[Question], list[Question], Floats]:
    """A design, what is asked, kept and measured, and with what precision."""
    rng = np.random.default_rng(seed)
    design = random_design(rng)
    everything = list(design.questions())
    asked = [everything[i] for i in rng.permutation(len(everything))[: rng.integers(1, 6)]]
    kept = [everything[i] for i in rng.permutation(len(everything))[: rng.integers(0, 2)]]
    measured = [q for q in asked if not any(one.gives(q) for one in kept)]
    measured += [q for q in everything if q not in measured and q not in kept and rng.random() < 0.3]
    precision = rng.uniform(0.1, 3, len(measured)) * rng.choice([1, 1e-6], len(measured), p=[0.7, 0.3])
    return design, asked, kept, measured, precision


@pytest.mark.parametrize("seed", range(60))
def test_loss_and_gradient(seed: int) -> None:
    """As over the whole tree, and as small steps give it."""
    design, asked, kept, measured, precision = random_case(seed)
    loss_at = loss_by_precision(design, asked, kept, measured)
    loss, slope = loss_at(precision)
    wanted = loss_by_spread(design, asked, dict(zip(measured, 1 / precision)) | dict.fromkeys(kept, 0.0))
    assert loss == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    for i, step in enumerate(np.diag(precision * 1e-5)):
        by_steps = (loss_at(precision + step)[0] - loss_at(precision - step)[0]) / 2e-5
        assert slope[i] * precision[i] == pytest.approx(by_steps, abs=1e-6 * max(loss, 1e-9))


def test_gradient_of_what_is_not_measured() -> None:
    """A question without a share has a slope, too: that of its first small share."""
    design = two_levels()
    loss_at = loss_by_precision(design, [Question(1)], [], list(design.questions()))
    precision = np.array([0.0, 1.0, 0.0])
    slope = loss_at(precision)[1]
    for i, step in enumerate(np.eye(3) * 1e-6):
        assert slope[i] == pytest.approx((loss_at(precision + step)[0] - loss_at(precision)[0]) / 1e-6, rel=1e-4)


def test_alike_nodes_are_one() -> None:
    """Counties of as many precincts in one state are one, and all states that have the same counties."""
    state = np.repeat([0, 1, 2], [6, 6, 5])
    county = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 7])
    design = LevelDesign(tree_of([state, county, np.arange(17)])[0])
    tree = alike(design)
    assert [nodes.tolist() for nodes in tree.nodes] == [[1], [2, 1], [6, 1, 1], [12, 2, 3]]
    assert [own.tolist() for own in tree.siblings] == [[1], [2, 1], [3, 1, 1], [2, 2, 3]]
    assert [up.tolist() for up in tree.parents] == [[0], [0, 0], [0, 1, 1], [0, 1, 2]]


def test_many_leaves() -> None:
    """Of thirty thousand precincts no more than one a county is looked at, and nothing is lost."""
    rng = np.random.default_rng(3)
    county = np.repeat(np.arange(1000), rng.integers(1, 60, 1000))
    design = LevelDesign(tree_of([county // 30, county, np.arange(len(county))])[0], (4,))
    assert len(alike(design).nodes[3]) <= 1000 < design.nodes(3) / 20
    asked = list(design.questions())
    found = choose_shares(design, asked, [Question(0)], 0.5, pure=True)
    wanted = loss_by_spread(design, asked, noise(found, [Question(0)], 0.5, True))
    assert found.loss == pytest.approx(wanted, rel=1e-9)


CASES = [((74, 2, 2), range(4)), (ADULT, range(3)), (ADULT, range(4)), ((10,) * 4, range(3)), ((2,) * 8, range(4))]


@pytest.mark.parametrize(("shape", "sizes"), CASES)
def test_near_the_best_gaussian_mechanism(shape: tuple[int, ...], sizes: range) -> None:
    design = flat(shape)
    asked = ways(design, sizes)
    found = choose_shares(design, asked, [], 0.05, pure=False)
    assert found.gap is not None and found.gap < 0.01
    assert 1 - 1e-9 < found.loss / least_of_all_gaussian(design, asked, 0.05) < 1.10


def test_three_way_margins_of_many_small_attributes() -> None:
    """Many attributes: here no shares of whole margins are within 10% of the best mechanism."""
    design = flat((2,) * 8)
    asked = ways(design, range(3, 4))
    found = choose_shares(design, asked, [], 0.05, pure=False)
    assert found.gap is not None and found.gap < 0.01
    assert found.loss / least_of_all_gaussian(design, asked, 0.05) < 1.11
    only_asked = choose_shares(design, asked, [], 0.05, False, {asked[0]: Fraction(1, len(asked))})
    assert only_asked.loss > 1.3 * found.loss


def without_floors(design: LevelDesign, asked: list[Question]) -> tuple[float, float]:
    """Of a rho of 1/20 divided among all margins, the best that is found, and what none is below."""
    everything = list(design.questions())
    division = Division(
        loss_by_precision(design, asked, [], everything), 0.05, False, np.zeros(len(everything)),
        np.ones(len(everything), bool), 1.0, np.zeros(len(everything), np.int64),
    )  # fmt: skip
    parts, bound = division.best()
    return division.loss(parts)[0], bound


@pytest.mark.parametrize(
    ("shape", "sizes", "above", "floored"),
    [((2, 3, 4, 7, 4, 2, 2, 2), range(3), 1.15, 1.17), ((3,) * 6, range(2, 3), 1.19, 1.20)],
)
def test_many_attributes(shape: tuple[int, ...], sizes: range, above: float, floored: float) -> None:
    """Here no division among whole margins, floors or not, is within a tenth of the best mechanism: a bound proves it.
    With floors it is only a little worse."""
    design = flat(shape)
    asked = ways(design, sizes)
    least = least_of_all_gaussian(design, asked, 0.05)
    found, bound = without_floors(design, asked)
    assert above * least < bound <= found < 1.003 * bound
    assert choose_shares(design, asked, [], 0.05, pure=False).loss < floored * least


def test_what_floors_cost_beside_the_best_gaussian_mechanism() -> None:
    """A hundredth for each of 22 questions is more than a tenth above it where less would be within."""
    design = flat((4,) * 6)
    asked = ways(design, range(3))
    least = least_of_all_gaussian(design, asked, 0.05)
    assert without_floors(design, asked)[0] < 1.07 * least
    assert 1.10 * least < choose_shares(design, asked, [], 0.05, pure=False).loss < 1.12 * least


def test_a_bound_by_several_tangents() -> None:
    """The tangent where the search ends left 4.6% open; the shares are much better than that."""
    design = flat((2, 16, 4, 2, 2, 2, 2))
    gap = choose_shares(design, ways(design, range(4)), [], 0.05, pure=False).gap
    assert gap is not None and gap < 0.003


@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_promises(seed: int, pure: bool) -> None:
    """Thousandths that add up to one, floors, the loss of the whole tree, nothing that is kept, coarse ones first."""
    design, asked, kept, _, _ = random_case(seed)
    found = choose_shares(design, asked, kept, 0.7, pure)
    wanted = {design.plain(q) for q in asked if not any(design.tells(one, q) for one in kept)}
    if not wanted:
        assert found.shares == {} and found.loss == 0
        return
    assert sum(found.shares.values()) == 1
    assert all((share * PARTS).denominator == 1 and share > 0 for share in found.shares.values())
    plain = {design.plain(q): share for q, share in found.shares.items()}
    assert len(plain) == len(found.shares)  # of questions with the same entries, one
    assert all(plain[q] >= Fraction(FLOOR, PARTS) for q in wanted)
    assert not any(design.tells(one, q) for one in kept for q in found.shares)
    assert list(found.shares) == [q for q in design.questions() if q in found.shares]
    assert found.loss == pytest.approx(loss_by_spread(design, asked, noise(found, kept, 0.7, pure)), rel=1e-9)
    cells = noise(Shares({design.cells: Fraction(1)}, 0, 0, 0), kept, 0.7, pure)
    cells |= dict.fromkeys(kept, 0.0)
    assert found.cells_alone == pytest.approx(loss_by_spread(design, asked, cells), rel=1e-9, abs=1e-9)
    assert (found.gap is None) == pure
    assert pure or (found.gap is not None and found.gap < 0.01)


@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize("budget", [0.1, 1.0, 6.0])
def test_against_every_division(pure: bool, budget: float) -> None:
    """No division into hundredths is better, and under rho none is below the certified bound."""
    design = two_levels()
    asked = list(design.questions())
    found = choose_shares(design, asked, [], budget, pure)
    losses = []
    loss_at = loss_by_precision(design, asked, [], asked)
    for a, b in product(range(1, 99), repeat=2):
        if a + b <= 99:
            spent = budget * np.array([a, b, 100 - a - b]) / 100
            losses.append(loss_at(np.cosh(spent) - 1 if pure else 2 * spent)[0])
    assert found.loss < min(losses) * (1 + 1e-3)
    if found.gap is not None:
        assert found.loss / (1 + found.gap) <= min(losses)


@pytest.mark.parametrize("sizes", [range(3), range(2, 4)])
def test_no_random_start_is_better(sizes: range) -> None:
    """Without convexity nothing is certain: a hundred random starts in many more steps are the specification."""
    design = flat((6, 5, 3, 2, 2))
    asked, everything = ways(design, sizes), list(design.questions())
    found = choose_shares(design, asked, [], 0.5, pure=True)
    floors = np.array([10 if q in asked else 0 for q in everything])
    loss_at = loss_by_precision(design, asked, [], everything)

    def losses(weights: Floats) -> list[float]:
        """Of shares proportional to the weights, each next one with more for what told more."""
        found = []
        for _ in range(200):
            weights = weights / weights.sum()
            shares = (floors + (1000 - floors.sum()) * weights) / 1000
            loss, slope = loss_at(np.cosh(0.5 * shares) - 1)
            weights = weights * np.maximum(-slope * np.sinh(0.5 * shares), 1e-300) ** (1 / 3)
            found.append(loss)
        return found

    rng = np.random.default_rng(1)
    starts = [rng.exponential(size=len(everything)) ** rng.uniform(1, 6) for _ in range(100)]
    assert found.loss < 1.01 * min(min(losses(start)) for start in starts)


def test_cells_where_they_tell_most() -> None:
    """Many small margins of few cells: under epsilon the cells get all but the floors."""
    design = flat((2,) * 8)
    found = choose_shares(design, ways(design, range(3, 4)), [], 1.0, pure=True)
    assert found.shares[design.cells] == Fraction(944, 1000)
    assert found.cells_alone < found.loss < 1.2 * found.cells_alone


@pytest.mark.parametrize("pure", [False, True])
def test_kept_sums_are_free(pure: bool) -> None:
    """What a kept question gives has no share, and what is left is as good as it was with more."""
    design = LevelDesign(two_levels().parents, (3,))
    asked = list(design.questions())
    kept = [Question(1)]
    found = choose_shares(design, asked, kept, 1.0, pure)
    assert Question(0) not in found.shares and Question(1) not in found.shares
    assert found.loss < choose_shares(design, asked, [], 1.0, pure).loss
    everything = choose_shares(design, asked, [design.cells], 1.0, pure)
    assert everything.shares == {} and everything.loss == everything.cells_alone == 0


def test_shares_of_the_user() -> None:
    design = two_levels()
    asked = list(design.questions())
    third = Fraction(1, 3)
    found = choose_shares(design, asked, [], 1.0, True, {Question(1): third})
    assert found.shares[Question(1)] == third and sum(found.shares.values()) == 1 and set(found.shares) == set(asked)
    own = {Question(0): third, Question(1): third, Question(2): third}
    all_given = choose_shares(design, asked, [], 1.0, False, own)
    assert all_given.shares == own
    assert all_given.loss == pytest.approx(loss_by_spread(design, asked, noise(all_given, [], 1.0, False)))
    only = choose_shares(design, [Question(2)], [], 1.0, False, {Question(2): Fraction(1)})
    assert only.loss == pytest.approx(only.cells_alone)


@pytest.mark.parametrize(
    ("fixed", "kept", "said"),
    [
        ({Question(0): Fraction(0)}, [], "share of 0 was given for level 0"),
        ({Question(0): Fraction(-1, 2)}, [], "share of -1/2 was given"),
        ({Question(0): Fraction(1, 2), Question(1): Fraction(1, 2)}, [], "nothing is left"),
        ({Question(q): Fraction(1, 2) for q in range(3)}, [], "add up to 3/2"),
        ({Question(q): Fraction(1, 4) for q in range(3)}, [], "add up to 3/4"),
        ({Question(0): Fraction(1, 2)}, [Question(1)], "not measured"),
        ({Question(0, (0,)): Fraction(1, 2)}, [], "not measured"),
    ],
)
def test_shares_that_cannot_be(fixed: dict[Question, Fraction], kept: list[Question], said: str) -> None:
    design = two_levels()
    with pytest.raises(BadInput, match=said):
        choose_shares(design, list(design.questions()), kept, 1.0, False, fixed, lambda q: f"level {q.level}")


def test_too_many_questions() -> None:
    design = flat((2,) * 10)
    with pytest.raises(BadInput, match="1024 questions"):
        choose_shares(design, list(design.questions()), [], 1.0, False)


def test_candidates_of_many_attributes() -> None:
    """Not all of a million questions, but all that are asked, and those near them."""
    design = flat((2,) * 20)
    asked = [Question(0, (a, a + 1)) for a in range(19)]
    found = candidates(design, asked, [Question(0, (0,))])
    assert {*asked, design.cells, Question(0, (0, 1, 7))} <= set(found)
    assert Question(0) not in found and len(set(found)) == len(found) <= CANDIDATES


@pytest.mark.parametrize("pure", [False, True])
def test_floors(pure: bool) -> None:
    """A hundredth for each of up to 25 questions; a thousandth where there are more."""
    design = flat(ADULT)
    pairs, everything = ways(design, range(3)), list(design.questions())
    found = choose_shares(design, pairs, [], 1.0, pure)
    assert len(pairs) == 22 and min(found.shares[q] for q in pairs) == Fraction(1, 100)
    assert min(choose_shares(design, everything[:25], [], 1.0, pure).shares.values()) == Fraction(1, 100)
    for many in (everything[:26], everything):
        found = choose_shares(design, many, [], 1.0, pure)
        assert min(found.shares[q] for q in many) == Fraction(1, PARTS)


def test_nothing_that_does_not_help() -> None:
    """One question asked, and no other tells more about it; whoever asks twice is told once."""
    design = LevelDesign(two_levels().parents, (5, 2))
    for pure in (False, True):
        found = choose_shares(design, [Question(1, (0,))] * 2, [], 1.0, pure)
        assert found.shares == {Question(1, (0,)): 1}
        assert found.loss == pytest.approx(250 / (cosh(1) - 1 if pure else 2))


@pytest.mark.parametrize("budget", [1e-8, 40.0, 700.0, 1e6])
def test_any_budget(budget: float) -> None:
    """Very little and very much: numbers, no warnings."""
    design = two_levels()
    for pure in (False, True):
        found = choose_shares(design, list(design.questions()), [], budget, pure)
        assert np.isfinite([found.loss, found.cells_alone]).all() and sum(found.shares.values()) == 1


def test_the_same_every_time() -> None:
    design = flat((5, 3, 2))
    asked = ways(design, range(3))
    assert choose_shares(design, asked, [], 0.5, True) == choose_shares(design, asked, [], 0.5, True)
