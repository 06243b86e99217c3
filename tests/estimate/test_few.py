"""Shares and quantiles of few rows: the law of the estimate against all draws, and coverage in shapes of all kinds."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import discreet as dc
from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.estimate import few
from discreet.estimate.evidence import Evidence
from discreet.estimate.few import Near, few_rows
from discreet.estimate.intervals import draw_sums, one_sided, sum_half_width
from discreet.estimate.prefix import prefix_of
from discreet.estimate.shares import CountShares
from discreet.estimate.sized import RowPart
from discreet.io.frames import frame_of
from discreet.laws import Geometric
from discreet.mechanism import NoiseThenMap

ODDS = {"1": Fraction(27183, 10000), "2": Fraction(73891, 10000), "0.3": Fraction(13499, 10000)}


def rows_seen(seen: Integers, law: Geometric, top: int | None = None) -> Evidence:
    return Evidence(seen, law, None, top, None, None, None, None)


def shares_of(seen: Integers, law: Geometric) -> CountShares:
    return CountShares((RowPart(np.arange(len(seen)), rows_seen(seen, law)),), 0.95)


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_the_law_of_the_estimate_is_that_of_all_draws(k: int) -> None:
    rng = np.random.default_rng(k)
    below, above = rng.dirichlet(np.ones(4), 2), rng.dirichlet(np.ones(4), 3)
    near = Near(np.array([1.0, 1.0, 0.0, 1.0]), below, above, np.array([3, 5, 0, 2]))
    one, other = near.likeliest(k)
    expected = np.zeros(16)
    for drawn in product(range(4), repeat=3):
        chance = np.prod([(one if row < k else other)[seen] for row, seen in enumerate(drawn)])
        expected[near.values[list(drawn)].sum()] += chance
    assert near.as_many(k) == pytest.approx(expected[10:].sum(), abs=1e-12)
    assert near.as_few(k) == pytest.approx(expected[:11].sum(), abs=1e-12)


@pytest.mark.parametrize("k", [0, 1, 2, 3])
@pytest.mark.parametrize("least", [-9, -4, 3])
@pytest.mark.parametrize("rounded", [0.0, 0.4])
def test_the_law_of_an_estimate_that_is_wrong_is_taken_as_if_it_were_right(k: int, least: int, rounded: float) -> None:
    """Moved to where its mean, without rounding, is k, as far as that makes nothing less likely; and by what rounding
    adds to its mean and not to what was seen."""
    rng = np.random.default_rng(k)
    below, above = rng.dirichlet(np.ones(4), 2), rng.dirichlet(np.ones(4), 3)
    values = np.array([3, 5, 0, 2])
    exact = (values + least + rounded * np.array([1, 1, -1, 1])) / 4  # of a row; the law is in quarters
    near = Near(np.array([1.0, 1.0, 0.0, 1.0]), below, above, values, 4, exact)
    one, other = near.likeliest(k)
    every = list(product(range(4), repeat=3))
    chances = np.array([np.prod([(one if row < k else other)[at] for row, at in enumerate(drawn)]) for drawn in every])
    sums = np.array([values[list(drawn)].sum() for drawn in every])
    rows = np.array([exact[list(drawn)].sum() for drawn in every])
    beyond = 4 * (chances @ rows - k)
    rounding = chances @ (sums - 4 * rows) - (10 - 4 * exact[[0, 1, 3]].sum())
    first, last = (10 + end(beyond, 0) + end(rounding, 0) for end in (min, max))
    assert near.as_many(k) == pytest.approx(chances[sums >= first - 1e-6].sum(), abs=1e-12)
    assert near.as_few(k) == pytest.approx(chances[sums <= last + 1e-6].sum(), abs=1e-12)


def test_the_likeliest_counts_are_the_likeliest_on_a_grid() -> None:
    """Of two counts on either side, where what is seen is shared out so that k rows are up to the count."""
    rng = np.random.default_rng(5)
    below, above = rng.dirichlet(np.ones(4), 2), rng.dirichlet(np.ones(4), 2)
    histogram, k = np.array([7.0, 4.0, 5.0, 4.0]), 8
    grid = np.linspace(0, 1, 21)

    def likely(one: np.ndarray, other: np.ndarray) -> float:
        """The largest over the odds is the least over the tilt of this convex function."""
        tilt = np.linspace(-6, 6, 241)[:, None]
        return float((np.log(np.exp(tilt) * one + other) @ histogram - k * tilt[:, 0]).min())

    best = max(likely(a * below[0] + (1 - a) * below[1], b * above[0] + (1 - b) * above[1]) for a in grid for b in grid)
    near = Near(histogram, below, above, np.arange(4))
    assert likely(*near.likeliest(k)) >= best - 0.05  # of a logarithm: 1.9 is what 95% leave to chance
    assert likely(below.mean(axis=0), above.mean(axis=0)) < best - 0.05  # where the search begins


FAR = 40  # a count from which nothing is ever seen near those that are asked about
CASES = [
    # counts near, how many rows are far off, the threshold, epsilon
    ((0,), 9, 0, "2"),
    ((0,), 39, 0, "1"),
    ((3,), 9, 2, "2"),
    ((2, 3), 8, 2, "2"),
    ((0, 0, 3), 7, 0, "2"),
    ((1, 2), 20, 1, "1"),
]


def all_seen(near: tuple[int, ...], law: Geometric, last: int) -> dict[tuple[int, ...], float]:
    """Everything that may be seen of these counts, cut to 0..last as the estimate does, in any order: its chance."""
    matrix, found = NoiseThenMap(law, (0, last)).matrix(), dict[tuple[int, ...], float]()
    for seen in product(range(last + 1), repeat=len(near)):
        chance = float(np.prod([matrix[true, one] for true, one in zip(near, seen)]))
        found[tuple(sorted(seen))] = found.get(tuple(sorted(seen)), 0.0) + chance
    return found


@pytest.mark.parametrize("near, far, threshold, epsilon", CASES)
def test_shares_of_few_rows_are_covered(near: tuple[int, ...], far: int, threshold: int, epsilon: str) -> None:
    """The chance itself, over all that may be seen: nothing is drawn."""
    law, true = Geometric(ODDS[epsilon]), (far + sum(one > threshold for one in near)) / (far + len(near))
    covered = 0.0
    for seen, chance in all_seen(near, law, 6).items():
        rows = np.array([*seen, *[FAR] * far])
        few = few_rows(rows_seen(rows, law))
        assert few is not None
        low, high = few.share(threshold, 0.95)
        covered += chance * (low - 1e-9 <= 1 - true <= high + 1e-9)
    assert covered >= 0.93


def test_normal_noise_would_not_cover() -> None:
    """One row of ten at 0: an interval of the unbiased estimate as if its noise were normal covers too rarely."""
    law, covered = Geometric(ODDS["2"]), 0.0
    for seen, chance in all_seen((0,), law, 9).items():
        prefix = prefix_of(rows_seen(np.array([*seen, *[FAR] * 9]), law))
        covered += chance * (abs(prefix.estimate[0] - 1) <= prefix.half_width(0, 0.95))
    assert covered < 0.9


def test_a_table_of_zeros_may_be_one() -> None:
    """Under wide noise the likelihood of five rows refused it in 16 of 100 cases. The law of their sum is exact."""
    law = Geometric(ODDS["0.3"])
    furthest = int(sum_half_width(0.95, law, 9))
    for seen in ([furthest, *[0] * 8], [furthest // 9] * 9, [*[-4] * 8, furthest + 32]):
        assert shares_of(np.array(seen), law).above(0).interval[0] == 0


def test_the_median_of_few_rows_is_covered() -> None:
    law, covered = Geometric(ODDS["2"]), 0.0
    for seen, chance in all_seen((1, 4), law, 7).items():
        few = few_rows(rows_seen(np.array([0, *seen]), law))
        assert few is not None
        low, high = few.quantile(0.5, 0.95)
        covered += chance * (low <= 1 <= high)
    assert covered >= 0.93


def test_of_more_rows_or_other_noise_it_is_not_asked() -> None:
    law = Geometric(ODDS["1"])
    assert few_rows(rows_seen(np.zeros(100, np.int64), law)) is not None
    assert few_rows(rows_seen(np.zeros(101, np.int64), law)) is None


def test_groups_without_a_row_have_no_noise() -> None:
    """An area where nobody of one kind is listed was a raw error."""
    drawn = draw_sums(Geometric(ODDS["1"]), np.array([0, 2]), 50, np.random.default_rng(1))
    assert not drawn[:, 0].any() and drawn[:, 1].any()
    frame = frame_of({"area": ["a", "a", "b"], "sex": ["f", "m", "f"], "n": np.array([500, 400, 300])})
    view = dc.estimate(dc.release(dc.table(frame, "n", keys=["area", "sex"]), 1, seed=1))
    low, high = view.dissimilarity("sex", "f", "m", "area").interval
    assert low <= 0.375 <= high


def test_rows_of_a_tiny_table_have_the_law_of_their_noise() -> None:
    """One row tells no distribution: its interval was that of a prior learnt from itself, and as narrow as a point."""
    table = dc.table(frame_of({"k": ["a", "b"], "n": np.array([7, 30])}), "n", keys=["k"])
    out = dc.release(table, 1, seed=2)
    view = dc.estimate(out)
    assert view.rows()["a"] == view.by("k")["a"]
    reach = sum_half_width(0.95, Geometric(ODDS["1"]), 1)
    assert view.rows()["b"].interval == (view.rows()["b"].estimate - reach, view.rows()["b"].estimate + reach)


def test_the_share_of_all_in_all_is_one_or_unknown() -> None:
    """Where the end of the total is just at zero, rounding made the interval of its share 0 to 0."""
    table = dc.table(frame_of({"k": ["a", "b"], "all": ["x", "x"], "n": np.array([4, 4])}), "n", keys=["k", "all"])
    for seed in (1014, 1083, 1085):
        found = dc.estimate(dc.release(table, "0.05", seed=seed)).share("all")["x"]
        assert found.interval[0] <= 1 + 1e-9 and found.interval[1] == pytest.approx(1)


@pytest.mark.parametrize("name, said", [("g011", "Did you mean 'g01'?"), (slice(0, 2), "There is"), (["g01"], "g01")])
def test_an_unknown_group_is_named_with_what_there_is(name: object, said: str) -> None:
    table = dc.table(frame_of({"k": ["g01", "g02"], "n": np.array([4, 4])}), "n", keys=["k"])
    found = dc.estimate(dc.release(table, 1, seed=1)).by("k")
    with pytest.raises(KeyError) as caught:
        found[name]
    assert isinstance(caught.value, BadInput) and said in str(caught.value) and "by k" in str(caught.value)
    assert "g03" not in found and found.get("g03") is None


def test_a_group_is_called_by_the_type_of_its_value() -> None:
    table = dc.table(frame_of({"k": np.array([2020, 2021]), "n": np.array([4, 4])}), "n", keys=["k"])
    found = dc.estimate(dc.release(table, 1, seed=1)).by("k")
    wrong = "2020" if 2020 in found else 2020
    with pytest.raises(KeyError, match=r"Write \["):
        found[wrong]


@pytest.mark.parametrize("t", [0, 4, 11])
def test_of_many_counts_those_that_were_seen_are_looked_at(t: int) -> None:
    """As often as in the matrix of all counts; and wherever else, on either side of the threshold."""
    law, places = Geometric(Fraction(11, 10)), np.unique([0, 3, 9, t, t + 1, 12])
    whole, some = NoiseThenMap(law, (0, 12)).matrix()[places], few._where_seen(places, t, law.decay)
    other = np.setdiff1d(np.arange(13), places)
    assert some[:, :-2] == pytest.approx(whole[:, places], abs=1e-14)
    assert some[:, -2] == pytest.approx(whole[:, other[other <= t]].sum(axis=1), abs=1e-14)
    assert some[:, -1] == pytest.approx(whole[:, other[other > t]].sum(axis=1), abs=1e-14)


def test_a_count_that_was_not_seen_is_no_likelier(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that intervals are the same, whether all counts are looked at or some."""
    law, seen = Geometric(ODDS["0.3"]), np.random.default_rng(4).integers(-5, 40, 9)
    found = [few_rows(rows_seen(seen, law))]
    every = [one.share(t, 0.95) for one in found if one is not None for t in (0, 5, 20)]
    monkeypatch.setattr(few, "WINDOW", 0)
    few._near.cache_clear()
    assert [one.share(t, 0.95) for one in found if one is not None for t in (0, 5, 20)] == every


def test_a_weight_above_the_number_of_rows_is_as_good_as_any_larger_one(monkeypatch: pytest.MonkeyPatch) -> None:
    law, seen = Geometric(Fraction(11, 10)), np.random.default_rng(5).integers(0, 30, 12)
    chances = []
    for heaviest in (13, 1 << 20):
        monkeypatch.setattr(few, "HEAVIEST", heaviest)
        few._near.cache_clear()
        near = few._near(rows_seen(seen, law), 7)
        chances.append([(near.as_many(k), near.as_few(k)) for k in range(13)])
    assert np.array(chances[0]) == pytest.approx(np.array(chances[1]), abs=1e-9)


@pytest.mark.parametrize("epsilon", ["0.001", "1e-9"])
def test_noise_as_wide_as_can_be_takes_no_more_memory(epsilon: str) -> None:
    """A matrix of all counts within its reach would take gigabytes."""
    table = dc.table(frame_of({"row": [*"abcdef"], "n": np.array([0, 3, 9, 40, 4000, 0])}), "n", keys=["row"])
    view = dc.estimate(dc.release(table, epsilon, max_count=3, seed=1))
    for answer, true in ((view.share_above(0), 4 / 6), (view.share_above(3), 3 / 6)):
        assert answer.interval[0] <= true <= answer.interval[1]


def test_the_end_of_noise_that_is_too_wide_to_be_written_out() -> None:
    law = Geometric(Fraction(1_000_001, 1_000_000))
    assert one_sided(0.95, law) == pytest.approx(np.log(20 / (1 + law.decay) * 2) / -np.log(law.decay), rel=1e-3)


@pytest.mark.parametrize("rows", [3, 5])
@pytest.mark.parametrize("off", [0.05, 0.15])
def test_shares_behind_a_matrix_are_covered_in_every_table(rows: int, off: float) -> None:
    """Every table and everything that is seen of it, by its probability: no chance is left. (With normal noise and a
    bias that was bounded, 86 of 100 covered in the worst of them.)"""
    chances = np.array([[1 - off, 0.7 * off, 0.3 * off], [off / 2, 1 - off, off / 2], [0.3 * off, 0.7 * off, 1 - off]])
    ends = {}
    for seen in combinations_with_replacement(range(3), rows):
        evidence = Evidence(np.array(seen), None, chances, None, None, None, None, None)
        shares = CountShares((RowPart(np.arange(rows), evidence),), 0.95)
        ends[seen] = shares.zero().interval, shares.above(1).interval
    for true in combinations_with_replacement(range(3), rows):
        wanted, covered = (true.count(0) / rows, true.count(2) / rows), np.zeros(2)
        for seen in product(range(3), repeat=rows):
            inside = [
                low - 1e-9 <= share <= high + 1e-9 for (low, high), share in zip(ends[tuple(sorted(seen))], wanted)
            ]
            covered += np.prod(chances[list(true), list(seen)]) * np.array(inside)
        assert (covered >= 0.95).all(), (true, covered)


@pytest.mark.parametrize("rows", [1, 5, 40])
@pytest.mark.parametrize("truth, support", [("0.7", 3), ("0.3", 6)])
def test_above_the_largest_count_that_can_be_there_are_no_more_rows(rows: int, truth: str, support: int) -> None:
    """Bounded noise has an end: nothing is above it that the exact law could be of."""
    counts = np.arange(rows) % 5
    table = dc.table(frame_of({"row": [f"r{k}" for k in range(rows)], "n": counts}), "n", keys=["row"])
    view = dc.estimate(dc.release(table, 3, mechanism="bounded", truth=truth, support=support, seed=1))
    assert view.shares is not None
    last = view.shares.evidence.size - 1
    before = view.share_above(last - 1)
    for threshold in (last, last + 1, last + 20):
        found = view.share_above(threshold)
        assert found.estimate == 0 and found.interval == (0, before.interval[1])
