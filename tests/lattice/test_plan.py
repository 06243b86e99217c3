"""Plans: what they promise, what they refuse; and the command that draws."""

from __future__ import annotations

import csv
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import BadInput, Infeasible, NotProven
from discreet.lattice.kept_chain import keys_of_shape
from discreet.lattice.plan import LatticePlan, plan_lattice
from discreet.privacy.convert import rho_for, zcdp_epsilon
from discreet.sample.bits import seeded
from discreet.ways.keep_sums.facts import described
from tests.shell import Done, shell

TWO_WAY = {"county": list("aabbcc"), "sex": list("fmfmfm")}
SMALL = {"cell": list("abcde")}


def two_way(**options: object) -> LatticePlan:
    return plan_lattice(TWO_WAY, ["margin:county", "margin:sex"], **options)  # type: ignore[arg-type]


def test_epsilon_is_the_price_of_the_smallest_surviving_change() -> None:
    total = plan_lattice(SMALL, ["total"], epsilon=1)
    assert total.change.distance == 2 and "one person moved between two rows" in str(total.guarantee.unit)
    assert total.law.odds is not None and float(total.law.odds) == pytest.approx(math.exp(1 / 2))
    assert total.law.odds**2 < Fraction(math.e)  # rounded towards privacy
    swap = two_way(epsilon=1)
    assert swap.change.distance == 4 and "swap" in str(swap.guarantee.unit)
    assert swap.law.odds is not None and float(swap.law.odds) == pytest.approx(math.exp(1 / 4))
    free = plan_lattice(SMALL, ["sum:cell=a"], epsilon=1)
    assert free.change.distance == 1 and "more or less" in str(free.guarantee.unit)
    assert free.law.odds is not None and float(free.law.odds) == pytest.approx(math.e)


def test_per_unit_is_the_convention_of_the_papers() -> None:
    plan = two_way(epsilon="1/4", per_unit=True)
    assert plan.law.odds is not None and float(plan.law.odds) == pytest.approx(math.exp(1 / 4))
    assert "one unit of l1 distance" in str(plan.guarantee.unit)
    assert "costs 4 times epsilon" in plan.guarantee.sentence


def test_a_person_in_several_rows() -> None:
    plan = plan_lattice(SMALL, ["total"], epsilon=1, contributions=3)
    assert plan.law.odds is not None and float(plan.law.odds) == pytest.approx(math.exp(1 / 6))
    assert "up to 3 rows" in str(plan.guarantee.unit)
    assert plan_lattice(SMALL, ["total"], rho=1, law="gaussian", contributions=3).law.variance == 9


def test_conditioning_on_inequalities_is_paid_for() -> None:
    """One person moved: 2 odds^2 - 1 is what is promised; for inequalities between cells odds^4 (gamma = 1)."""
    free, restricted = (plan_lattice(SMALL, ["total"], alpha="1/16", nonnegative=n) for n in (False, True))
    assert free.law.odds is not None and restricted.law.odds is not None
    assert float(free.law.odds) == pytest.approx(4) and float(restricted.law.odds) == pytest.approx(8.5**0.5)
    assert "person by person" in restricted.guarantee.sentence and "conditioning" not in free.guarantee.sentence
    bounded = plan_lattice(SMALL, ["total"], alpha="1/16", inequalities=([[1, 0, 0, 0, 0]], [1]))
    assert bounded.law.odds == restricted.law.odds and bounded.bound == restricted.bound == "stepwise"
    other = plan_lattice(SMALL, ["total"], alpha="1/16", inequalities=([[1, -1, 0, 0, 0]], [0]))
    assert other.law.odds is not None and float(other.law.odds) == pytest.approx(2) and other.bound == "doubled"
    assert "gamma = 1" in other.guarantee.sentence


def test_the_restricted_law_keeps_the_promise_on_all_small_tables() -> None:
    """By enumeration: log-ratios between neighbouring tables of three cells with total 4, at the law's rate log 2."""
    tables = [(i, j, 4 - i - j) for i in range(5) for j in range(5 - i)]

    def law(x: tuple[int, ...]) -> np.ndarray:
        weights = np.array([2.0 ** -sum(abs(a - b) for a, b in zip(x, y)) for y in tables])
        return weights / weights.sum()

    laws = {x: law(x) for x in tables}
    plan = plan_lattice({"cell": list("abc")}, ["total"], alpha="1/7", nonnegative=True)
    assert plan.law.odds is not None and float(plan.law.odds) == pytest.approx(2)
    worst = max(
        np.abs(np.log(laws[x] / laws[y])).max()
        for x in tables
        for y in tables
        if sum(abs(a - b) for a, b in zip(x, y)) == 2
    )
    assert 2 * math.log(2) < worst <= math.log(7)  # the unrestricted promise would be broken


def test_gaussian_noise() -> None:
    plan = two_way(rho="1/2", law="gaussian")
    assert plan.law.variance == 4 and plan.guarantee.rho == Fraction(1, 2)
    assert two_way(rho="1/2", law="gaussian", per_unit=True).law.variance == 1
    assert two_way(sigma=2, law="gaussian").guarantee.rho == Fraction(1, 2)
    approximate = two_way(epsilon=1, delta="1e-6", law="gaussian")
    assert (approximate.guarantee.kind, approximate.guarantee.delta) == ("approximate", Fraction(1, 10**6))
    rho = rho_for(Fraction(1), Fraction(1, 10**6))
    assert zcdp_epsilon(rho, Fraction(1, 10**6)) <= 1 < zcdp_epsilon(rho * Fraction(101, 100), Fraction(1, 10**6))
    assert approximate.law.variance == pytest.approx(float(4 / (2 * rho)), rel=1e-3)


def test_l2_noise_divides_by_the_length_of_the_change() -> None:
    plan = plan_lattice(SMALL, ["total"], epsilon=1, law="l2")
    assert plan.law.rate is not None and plan.law.rate**2 <= Fraction(1, 2)
    assert float(plan.law.rate) == pytest.approx(1 / math.sqrt(2), rel=1e-6)


def test_what_is_given_away_is_said() -> None:
    plan = plan_lattice(SMALL, ["total", "sum:cell=b"], epsilon=1)
    assert plan.determined.tolist() == [1]
    assert "1 row is determined by what is kept and published exactly: row 2." in plan.guarantee.sentence
    assert "2 sums are published exactly and not protected (total, sum:cell=b)" in plan.guarantee.sentence
    assert plan.discloses == ("total", "sum:cell=b")
    draw = plan.draw(seeded(1))
    assert draw[1] == 0 and draw.any()


def test_a_destroyed_neighbourhood_is_said() -> None:
    assert "Neighbourhood destroyed" in two_way(epsilon=1).guarantee.sentence
    assert "Neighbourhood destroyed" not in plan_lattice(SMALL, ["total"], epsilon=1).guarantee.sentence


def test_nothing_left_to_protect_is_refused() -> None:
    with pytest.raises(Infeasible, match="determine every single cell"):
        plan_lattice(TWO_WAY, ["margin:county,sex"], epsilon=1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "none was given"),
        ({"epsilon": 1, "rho": 1}, "epsilon and rho were given together"),
        ({"rho": 1, "law": "l1"}, "only Gaussian noise is calibrated by rho"),
        ({"epsilon": 1, "law": "gaussian"}, "needs a delta above 0, or rho"),
        ({"epsilon": 1, "delta": "1e-6", "law": "l1"}, "its noise is pure"),
        ({"epsilon": 1, "delta": "1e-6", "law": "l2"}, "its noise is pure"),
        ({"epsilon": 1, "law": "l3"}, "there is no law of that name"),
        ({"rho": 1, "law": "gaussian", "nonnegative": True}, "no proven guarantee"),
        ({"epsilon": 1, "inequalities": ([[1, 0]], [0])}, "do not fit"),
        ({"epsilon": 1, "inequalities": ([[0.5, 0, 0, 0, 0]], [0])}, "not a whole number"),
        ({"epsilon": 0}, "greater than zero"),
    ],
)
def test_refusals(options: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        plan_lattice(SMALL, ["total"], **options)  # type: ignore[arg-type]


def test_inequalities_the_table_violates() -> None:
    plan = plan_lattice(SMALL, ["total"], epsilon=1, inequalities=([[1, 0, 0, 0, 0]], [3]))
    with pytest.raises(BadInput, match="the table itself violates them"):
        plan.release(np.array([2, 0, 0, 0, 0]), seeded(1))
    with pytest.raises(BadInput, match="were not given"):
        plan.draw(seeded(1))
    assert plan.release(np.array([3, 0, 0, 0, 9]), seeded(1))[0] >= 3


def refusal(keys: dict[str, list[str]], keep: list[str], **options: object) -> str:
    with pytest.raises((NotProven, BadInput)) as refused:
        plan_lattice(keys, keep, **options)  # type: ignore[arg-type]
    return refused.value.do


def test_wide_two_way_tables() -> None:
    for options in ({"epsilon": 1}, {"rho": 1, "law": "gaussian"}):
        plan = plan_lattice(keys_of_shape((9, 9)), ["margin:row", "margin:column"], **options)  # type: ignore[arg-type]
        assert plan.grade == "exact"


def test_noise_so_narrow_that_hardly_a_table_is_accepted() -> None:
    keys, both = keys_of_shape((40, 40)), ["margin:row", "margin:column"]
    assert "Use law gaussian (with rho)" in refusal(keys, both, epsilon=12)
    assert plan_lattice(keys, both, rho=9, law="gaussian").grade == "exact"


def test_noise_so_wide_that_it_cannot_be_planned() -> None:
    assert "Spend more" in refusal(keys_of_shape((9, 9)), ["margin:row", "margin:column"], epsilon="1/100")


def test_one_way_margins_of_a_three_way_table() -> None:
    keys = keys_of_shape((10, 10, 5))
    margins = ["margin:row", "margin:column", "margin:layer"]
    assert "law l1 and keep two margins at most" in refusal(keys, margins, epsilon=1)
    assert "law l1 and keep two margins at most" in refusal(keys, margins, rho=1, law="gaussian")
    plan = plan_lattice(keys, margins[:2], epsilon=1)
    assert (plan.sampler, plan.grade) == ("halved-columns", "exact")
    published = plan.release(np.full(500, 7), seeded(1)).reshape(10, 10, 5)
    assert (published.sum(axis=(1, 2)) == 350).all() and (published.sum(axis=(0, 2)) == 350).all()
    assert len(np.unique(published.sum(axis=(0, 1)))) > 1


def test_two_way_margins_of_a_three_way_table() -> None:
    keys = keys_of_shape((4, 10, 10))
    margins = ["margin:row,column", "margin:row,layer", "margin:column,layer"]
    assert "Use law gaussian (with rho)" in refusal(keys, margins, epsilon=1)
    assert plan_lattice(keys, margins, rho=1, law="gaussian").grade == "exact"
    assert plan_lattice(keys_of_shape((15, 15, 15)), margins, rho=1, law="gaussian").grade == "exact"
    plan = plan_lattice(keys, margins[:2], epsilon=1)
    assert (plan.sampler, plan.grade) == ("halved-columns", "exact")
    published = plan.release(np.full(400, 3), seeded(1)).reshape(4, 10, 10)
    assert (published.sum(axis=1) == 30).all() and (published.sum(axis=2) == 30).all()


def test_structural_zeros() -> None:
    whole = keys_of_shape((15, 15))
    there = [row != column or int(row) > 5 for row, column in zip(whole["row"], whole["column"])]
    keys = {name: [value for value, kept in zip(values, there) if kept] for name, values in whole.items()}
    plan = plan_lattice(keys, ["margin:row", "margin:column"], epsilon=1)
    assert (plan.sampler, plan.grade) == ("halved-columns", "exact")
    counts = np.full(220, 2)
    assert np.array_equal(plan.invariants.sums(plan.release(counts, seeded(1))), plan.invariants.sums(counts))


def test_inequalities_that_kept_sums_tie_together() -> None:
    """Households are at most people in each of 50 areas, and the totals of both are kept: refused with advice."""
    areas = 50
    keys = {"area": np.repeat(np.arange(areas), 2).astype(str).tolist(), "what": ["households", "people"] * areas}
    at_most = np.kron(np.eye(areas, dtype=int), np.array([[-1, 1]]))
    limits, counts = (at_most, [0] * areas), np.tile([2, 2], areas)
    advice = refusal(keys, ["margin:what"], epsilon=1, inequalities=limits, nonnegative=True)
    assert "keep no sums over them, or only sums within each area" in advice
    for keep in ("margin:area", "sum:area=7"):
        plan = plan_lattice(keys, [keep], epsilon=1, inequalities=limits, nonnegative=True)
        published = plan.release(counts, seeded(1)).reshape(areas, 2)
        assert (published[:, 0] <= published[:, 1]).all() and published.min() >= 0


def test_a_release_keeps_every_sum() -> None:
    counts = np.array([5, 0, 3, 100, 7, 2])
    plan = two_way(epsilon="1/10")
    published = plan.release(counts, seeded(2))
    assert not np.array_equal(published, counts)
    assert np.array_equal(plan.invariants.sums(published), plan.invariants.sums(counts))
    mechanism = described(plan.law, plan.sampler)
    assert mechanism.name == "lattice-l1" and mechanism.sampler == "row-transfer"


def sample_noise(*words: str) -> Done:
    return shell("sample-noise", *words)


def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "noise.csv"
    done = sample_noise("--shape", "3,4", "--keep", "margin:row", "--keep", "margin:column", "--epsilon", "1",
                        "--draws", "5", "-o", str(out), "--seed", "1", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert (value["draws"], value["grade"], value["out"], value["private"]) == (5, "exact", str(out), False)
    assert "private side" in done.stderr and "NOT private" in done.stderr
    header, *lines = list(csv.reader(out.open()))
    assert header[:3] == ["row", "column", "seeded_not_private_noise_1"] and len(lines) == 12
    noise = np.array([[int(x) for x in line[2:]] for line in lines]).reshape(3, 4, 5)
    assert not noise.sum(axis=0).any() and not noise.sum(axis=1).any() and noise.any()


def test_the_command_draws_the_noise(tmp_path: Path) -> None:
    table, out, picture = tmp_path / "t.csv", tmp_path / "noise.csv", tmp_path / "noise.svg"
    table.write_text("county,n\na,3\nb,0\nc,5\n")
    words = [str(table), "--count", "n", "--keep", "total", "--epsilon", "1", "--draws", "9", "-o", str(out), "--plot"]
    done = sample_noise(*words, str(tmp_path / "noise.xls"))
    assert done.returncode == 2 and "must end in" in done.stderr and not out.exists()
    done = sample_noise(*words, str(picture))
    assert done.returncode == 0, done.stderr
    assert "bias against size" in picture.read_text() and "private side" in done.stderr


def test_bias_by_size_shows_means_of_cells_of_one_size() -> None:
    from discreet import plot

    counts, draws = np.array([9, 0, 9, 0]), np.array([[-1, 2, -3, 2], [-1, 4, -3, 0]])
    _, axes = plot.figure()
    plot.bias_by_size(counts, draws, axes[0, 0], groups=2)
    points = axes[0, 0].lines[0].get_xydata()
    assert points.tolist() == [[0.0, 2.0], [9.0, -2.0]]


def test_the_command_on_a_table_and_its_errors(tmp_path: Path) -> None:
    table, out = tmp_path / "t.csv", tmp_path / "noise.csv"
    table.write_text("county,n\na,3\nb,0\nc,5\n")
    done = sample_noise(
        str(table), "--count", "n", "--keep", "total", "--alpha", "1/2", "--nonnegative", "-o", str(out)
    )
    assert done.returncode == 0, done.stderr
    assert out.read_text().startswith("county,private_side_noise_1\n")
    out.unlink()
    for words, message in (
        (["--keep", "margin:count", "--epsilon", "1"], "county"),
        (["--keep", "total", "--epsilon", "-1"], "greater than zero"),
        (["--epsilon", "1"], "none is named"),
    ):
        failed = sample_noise(str(table), "--count", "n", "-o", str(out), *words)
        assert failed.returncode == 2 and message in failed.stderr and not out.exists()


def test_large_tables_without_negative_counts_are_to_be_projected() -> None:
    for allowed in (False, True):
        advice = refusal(
            keys_of_shape((13, 9)),
            ["margin:row", "margin:column"],
            epsilon=1,
            nonnegative=True,
            allow_diagnosed=allowed,
        )
        assert "nonnegative_by = project" in advice and "allow negative counts" in advice
    wide = refusal(keys_of_shape((6, 6)), ["margin:row", "margin:column"], epsilon="1/10", nonnegative=True)
    assert "nonnegative_by = project" in wide
    assert plan_lattice(keys_of_shape((12, 9)), ["margin:row", "margin:column"], 1, nonnegative=True).grade == "exact"


def test_a_charge_that_leaves_no_promise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import discreet.lattice.coupling as coupling

    met = coupling.Diagnosis(lag=10, meetings=np.full(1000, 11), private_side=False)
    monkeypatch.setattr(coupling, "diagnose", lambda chain, **options: met)
    margins = ["margin:row,column", "margin:row,layer", "margin:column,layer"]
    graded = plan_lattice(keys_of_shape((5, 5, 5)), margins, 1, allow_diagnosed=True).guarantee
    assert graded.grade == "diagnosed" and 0.01 < graded.delta < 0.02  # (1 + e) 3/1000
    with pytest.raises(NotProven, match="promises nothing"):
        plan_lattice(keys_of_shape((5, 5, 5)), margins, 8, allow_diagnosed=True)
