"""A delta for people who are counted several times: whatever rows they are in, against enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import BadInput, NotProven
from discreet.mechanism import Mechanism
from discreet.numbers import Epsilon
from discreet.privacy.price import group_delta
from discreet.privacy.values import Approximate
from discreet.testing import weight_matrices
from discreet.ways.row_by_row.facts import unit_loss
from tests.accounting.test_losses import hockey_stick, taken_together
from tests.ways.test_bounded import masses
from tests.ways.test_bounded_small import law_of

MATRIX = [[0.5, 0.3, 0.2], [0.25, 0.5, 0.25], [0.2, 0.3, 0.5]]


def table(contributions: int) -> dc.Table:
    return dc.table(pa.table({"k": ["a", "b", "c"], "n": [0, 1, 2]}), "n", contributions=contributions)


def changes(rows: list[list[Fraction]], units: int) -> list[tuple[list[Fraction], list[Fraction]]]:
    """What so many units more, or fewer, do to the law of one row."""
    there = list(zip(rows, rows[units:]))
    return [*there, *((other, one) for one, other in there)]


@settings(max_examples=40, deadline=None)
@given(weight_matrices(3), st.fractions(Fraction(1, 4), 3, max_denominator=8), st.fractions("1/20", "9/10"))
def test_what_is_accepted_holds_for_two_units_in_any_rows(made: Mechanism, epsilon: Fraction, delta: Fraction) -> None:
    unit = unit_loss(Approximate(epsilon, delta), 2)
    if not dc.certify(made, unit).holds:
        return
    rows = [[Fraction(weight, made.weights.total) for weight in row] for row in made.weights.rows]
    odds = Epsilon(value=epsilon).bounds(200)[1]
    for pair in changes(rows, 2):
        assert hockey_stick(pair, odds) <= delta
    for pairs in product(changes(rows, 1), repeat=2):
        assert hockey_stick(taken_together(pairs), odds) <= delta


@given(st.integers(2, 40), st.fractions("1/100", 5), st.fractions("1/1000000000", "1/2"))
def test_the_share_of_a_unit_comes_to_the_whole(people: int, epsilon: Fraction, delta: Fraction) -> None:
    unit = unit_loss(Approximate(epsilon, delta), people)
    assert isinstance(unit, Approximate) and unit.epsilon.value == epsilon / people
    odds = [unit.epsilon.bounds(200)[1] ** k for k in range(people)]
    assert Fraction(999_999, 10**6) * delta < unit.delta * sum(odds) <= delta
    assert group_delta(unit.delta, unit.epsilon, people) <= delta * (1 + Fraction(1, 10**5))


def test_it_is_released_verified_and_charged(tmp_path: Path) -> None:
    book = dc.ledger(tmp_path / "ledger.db")
    book.create("data", epsilon=9, delta="1/2")
    options: dict[str, Any] = {"epsilon": "0.8", "delta": "0.4", "mechanism": MATRIX}
    out = dc.release(table(2), ledger=book, dataset="data", **options)
    out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid and book.check(tmp_path / "out") == ()
    charged = book.history("data")[0].charged
    needed = group_delta(dc.certify(MATRIX, "0.4").least_delta or Fraction(0), Epsilon(value=Fraction("0.4")), 2)
    assert charged.epsilon == Fraction("0.8") and abs(charged.delta / needed - 1) < Fraction(1, 10**5)
    assert charged.delta < Fraction("0.4"), "what was asked for is the most it may be"
    assert dc.certify(MATRIX, "0.4", out.guarantee.unit.rate.delta).holds
    assert "up to 2 times" in out.guarantee.sentence


def test_less_than_a_group_needs_is_refused() -> None:
    needed = dc.certify(MATRIX, "0.4").least_delta
    assert needed is not None
    enough = group_delta(needed, Epsilon(value=Fraction("0.4")), 2) * Fraction(1001, 1000)
    dc.release(table(2), epsilon="0.8", delta=enough, mechanism=MATRIX)
    with pytest.raises(NotProven, match="does not meet it"):
        dc.release(table(2), epsilon="0.8", delta=2 * needed, mechanism=MATRIX)  # never the number of units times it
    with pytest.raises(BadInput, match="leaves nothing for each"):
        dc.release(table(10**6), epsilon=1, delta="0.4", mechanism=MATRIX)


@pytest.mark.parametrize("relation", ["added-or-removed", "moved"])
@pytest.mark.parametrize("kind", ["clamped", "unbiased", "both"])
def test_bounded_noise_costs_two_units_what_enumeration_finds(kind: str, relation: Any, tmp_path: Path) -> None:
    """In one row, in two, and for who moves from one row to another: promised, charged, and told of the ledger."""
    book = dc.ledger(tmp_path / "ledger.db")
    book.create("data", epsilon=100, delta="1/2", relation=relation)
    options: dict[str, Any] = {"mechanism": "bounded", "truth": "2/5", "support": 3, "small_counts": kind}
    out = dc.release(table(2), 6, ledger=book, dataset="data", **options)
    form = out.mechanism.form
    laws = [masses(form.noise, k) if kind == "clamped" else law_of(form, k) for k in range(8)]
    rows = [[law.get(output, Fraction(0)) for output in range(-3, 12)] for law in laws]
    added = [changes(rows, 2), *([taken_together(pair)] for pair in product(changes(rows, 1), repeat=2))]
    charged = book.history("data")[0].charged
    assert charged.epsilon == (6 if relation == "added-or-removed" else 12)
    promise, spent = Epsilon(value=Fraction(6)).bounds(200)[0], Epsilon(value=charged.epsilon).bounds(200)[0]
    worst = max(hockey_stick(pair, promise) for some in added for pair in some)
    assert worst <= out.guarantee.delta <= worst * (1 + Fraction(1, 10**5))
    forth, back = zip(*((pair, pair[::-1]) for pair in zip(rows, rows[2:])))
    moved = max(hockey_stick(taken_together((one, other)), spent) for one in forth[:3] for other in back[:3])
    assert (worst if relation == "added-or-removed" else moved) <= charged.delta
    assert moved > charged.delta / 2 or relation == "added-or-removed", "so that one row alone would not do"
    told = book.exactly("data", "1/20")
    assert told.by_price == 1 and told.epsilon is not None
    told_odds = Epsilon(value=told.epsilon).bounds(200)[0]
    pairs = [*forth, *back] if relation == "added-or-removed" else [taken_together((forth[0], back[0]))]
    assert max(hockey_stick(pair, told_odds) for pair in pairs) <= Fraction(1, 20)
    out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid and book.check(tmp_path / "out") == ()
