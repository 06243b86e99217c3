"""What the ledger is charged: the price of one person, in the relation of the data set."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import count
from typing import Any

import pyarrow as pa
import pytest

import discreet as dc
from discreet.ledger import Amount, ledger
from discreet.privacy.convert import zcdp_epsilon

TABLE = dc.table(pa.table({"row": list("aabbcc"), "column": list("xyxyxy"), "n": [3, 1, 4, 1, 5, 9]}), "n", "all")
TWO_WAY = [dc.margin("row"), dc.margin("column")]
NUMBERS = count()


def charged(url: str, relation: Any = "added-or-removed", **options: Any) -> Amount:
    book, name = ledger(url), f"data {next(NUMBERS)}"
    budget: dict[str, Any] = {"rho": 100} if "rho" in options else {"epsilon": 100, "delta": "1/10"}
    book.create(name, relation=relation, **budget)
    dc.release(TABLE, ledger=url, dataset=name, **options)
    return book.history(name)[0].charged


def half(**options: Any) -> dict[str, Any]:
    return {"epsilon": "1/2", **options}


@pytest.mark.parametrize(
    ("options", "added", "moved"),
    [
        (half(), Fraction(1, 2), 1),
        (half(max_count=9, mechanism="geometric"), Fraction(1, 2), 1),
        (half(keep=[dc.total()]), Fraction(1, 4), Fraction(1, 2)),
        (half(keep=[dc.total()], per_unit=True), Fraction(1, 2), 1),
        (half(keep=[dc.total()], nonnegative=True), Fraction(1, 4), Fraction(1, 2)),
        (half(keep=[dc.total()], nonnegative="condition"), Fraction(1, 4), Fraction(1, 2)),
        (half(keep=TWO_WAY), Fraction(1, 8), Fraction(1, 4)),
        (half(keep=TWO_WAY, per_unit=True), Fraction(1, 2), 1),
    ],
)
def test_a_unit_of_distance_has_one_price_whatever_is_kept(
    sqlite_url: str, options: Any, added: Fraction, moved: Fraction
) -> None:
    assert charged(sqlite_url, **options).epsilon == added
    assert charged(sqlite_url, "moved", **options).epsilon == moved


def test_geometric_and_a_kept_total_cost_three_together(sqlite_url: str) -> None:
    book = ledger(sqlite_url)
    book.create("data", epsilon="2.99", relation="moved")
    dc.release(TABLE, epsilon=1, max_count=9, mechanism="geometric", ledger=book, dataset="data")
    with pytest.raises(dc.OverBudget, match=r"costs epsilon = 1 for one person moved.* epsilon = 0\.99 is left"):
        dc.release(TABLE, epsilon=1, keep=[dc.total()], ledger=book, dataset="data")
    book.create("more", epsilon=3, relation="moved")
    dc.release(TABLE, epsilon=1, max_count=9, mechanism="geometric", ledger=book, dataset="more")
    dc.release(TABLE, epsilon=1, keep=[dc.total()], ledger=book, dataset="more")
    assert book.status("more").left.epsilon == 0


def test_l2_noise_is_charged_the_root_rounded_up(sqlite_url: str) -> None:
    options = {"epsilon": 1, "keep": [dc.total()], "law": "l2", "per_unit": True}
    price = charged(sqlite_url, "moved", **options).epsilon
    assert price is not None and price**2 > 2 and float(price) == pytest.approx(math.sqrt(2))
    assert charged(sqlite_url, **options).epsilon == 1


def test_rho_is_charged_by_squared_distance(sqlite_url: str) -> None:
    swap = {"rho": 1, "keep": TWO_WAY, "law": "gaussian"}
    assert charged(sqlite_url, **swap).rho == Fraction(1, 4)
    assert charged(sqlite_url, "moved", **swap).rho == Fraction(1, 2)
    assert charged(sqlite_url, "moved", **swap, per_unit=True).rho == 2


def test_a_measured_distribution_may_be_pushed_twice_the_same_way(sqlite_url: str) -> None:
    options = {"rho": 1, "max_count": 9, "split": "1/2"}
    assert charged(sqlite_url, **options).rho == 1
    assert charged(sqlite_url, "moved", **options).rho == 2
    assert charged(sqlite_url, "moved", **options, privatizer="laplace", refine=False).rho == 4


def test_gaussian_epsilon_is_charged_what_its_variance_promises(sqlite_url: str) -> None:
    options: dict[str, Any] = {"delta": "1e-6", "keep": TWO_WAY, "law": "gaussian", "per_unit": True}
    variance = dc.release(TABLE, epsilon="1/2", **options).mechanism.noise.variance
    price = charged(sqlite_url, "moved", epsilon="1/2", **options)
    assert price.epsilon == zcdp_epsilon(1 / variance, Fraction("1e-6")) and price.delta == Fraction("1e-6")
    assert charged(sqlite_url, epsilon="1/2", **options).epsilon == Fraction(1, 2)


def test_gaussian_noise_with_a_delta_can_be_counted_in_rho(sqlite_url: str) -> None:
    book = ledger(sqlite_url)
    book.create("data", rho=1)
    options: dict[str, Any] = {"mechanism": "discrete-gaussian", "max_count": 9}
    made = dc.release(TABLE, epsilon="1/2", delta="1e-6", ledger=book, dataset="data", **options)
    assert book.history("data")[0].charged.rho == made.guarantee.unit.rate.rho


def test_a_person_in_several_rows_pays_for_all_of_them(sqlite_url: str) -> None:
    frame = pa.table({"row": list("abc"), "n": [3, 1, 4]})
    table = dc.table(frame, "n", "all", contributions=3)
    book = ledger(sqlite_url)
    for relation, price in (("added-or-removed", 1), ("moved", 2)):
        book.create(relation, epsilon=9, relation=relation)  # type: ignore[arg-type]
        dc.release(table, epsilon=1, max_count=9, ledger=book, dataset=relation)
        assert book.history(relation)[0].charged.epsilon == price


def test_a_matrix_with_a_delta_moved_is_two_rows(sqlite_url: str) -> None:
    matrix = [["893/1000", "107/1000"], ["1/5", "4/5"]]
    price = charged(sqlite_url, "moved", epsilon=2, delta="1/50", mechanism=[[Fraction(x) for x in r] for r in matrix])
    least = 0.8 - math.exp(2) * 0.107  # what is left of 4/5 above e^2 times 107/1000: below the 1/50 that was allowed
    assert price.epsilon == 4 and 0 <= float(price.delta) / (1 - (1 - least) ** 2) - 1 < 1e-4


def test_the_distribution_is_charged_too(sqlite_url: str) -> None:
    book = ledger(sqlite_url)
    book.create("data", epsilon=3, relation="moved")
    dc.private_distribution(TABLE, 1, max_count=9, ledger=book, dataset="data", note="a look", who="me")
    (entry,) = book.history("data")
    assert (entry.charged.epsilon, entry.state, entry.spending.note) == (2, "released", "a look")
    with pytest.raises(dc.OverBudget, match="epsilon = 1 is left"):
        dc.private_distribution(TABLE, 1, max_count=9, ledger=book, dataset="data")
    for wrong in ({"max_count": None}, {"max_count": 9, "method": "nothing"}, {"max_count": "auto"}, {"max_count": 0},
                  {"max_count": 9, "method": "cyclic-gaussian"}, {"max_count": 9, "seed": 1},
                  {"max_count": 9, "projection": "x"}, {"max_count": 9, "note": 3}):  # fmt: skip
        with pytest.raises(dc.BadInput):
            dc.private_distribution(TABLE, "1/4", ledger=book, dataset="data", **wrong)  # type: ignore[arg-type]
    assert book.status("data").releases == 1


@pytest.mark.parametrize("name", ["uniform", "randomized-response", "exponential"])
def test_a_matrix_that_no_record_holds_is_refused_before_it_is_paid_for(
    name: str, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own verify would not read it: 2,000 counts of `exponential` take a gigabyte."""
    from discreet import mechanism

    book = ledger(sqlite_url)
    book.create("d", epsilon=9)
    table = dc.table(pa.table({"k": list("abc"), "n": [3, 1, 4]}), "n", ["k"])
    monkeypatch.setattr(mechanism, "LARGEST_WRITTEN", 5_000)
    with pytest.raises(dc.BadInput, match=rf"'{name}' was asked for: written exactly, .*smaller max_count"):
        dc.release(table, epsilon=1, mechanism=name, max_count=60, ledger=book, dataset="d")
    assert book.status("d").releases == 0
    dc.release(table, epsilon=1, mechanism=name, max_count=3, ledger=book, dataset="d")


@pytest.mark.parametrize("name", ["heuristic-max", "heuristic-best", "fixed-point-interior", "column-generation"])
def test_a_constructed_matrix_that_no_record_may_hold_is_refused_before_it_is_paid_for(
    name: str, sqlite_url: str
) -> None:
    """What it weighs is known once it is built, after the charge: 2,000 counts were published, and did not verify."""
    book = ledger(sqlite_url)
    book.create("d", epsilon=9)
    with pytest.raises(dc.BadInput, match=f"'{name}' was asked for: it is a matrix"):
        dc.release(TABLE, epsilon=1, mechanism=name, max_count=801, ledger=book, dataset="d")
    assert book.status("d").releases == 0
