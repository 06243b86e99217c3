"""What a release that measures margins costs in a ledger, against every change that one person can make."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.privacy.price import RELATIONS
from discreet.release import asked
from discreet.table import Table
from discreet.ways import way_named

FRAME = pa.table({"k": list("aabb"), "j": list("xyxy"), "n": [1, 2, 3, 4]})
QUESTIONS = ["total", "margin:k", "margin:j", "cells"]


def table(contributions: int = 1) -> Table:
    return dc.table(FRAME, "n", keys=["k", "j"], contributions=contributions)


def changes(contributions: int, relation: str) -> list[np.ndarray]:
    """Of the table, by one person: in up to so many rows more, or fewer; or both."""
    some = [np.array(v) for v in product(range(contributions + 1), repeat=4) if sum(v) <= contributions]
    return [*some] if relation == "added-or-removed" else [new - old for new in some for old in some]


def dearest(contributions: int, relation: str, privacy: dict[str, Any]) -> float:
    """The most that any of these changes costs, question by question."""
    given = {"alpha": None, "rho": privacy.get("rho"), "delta": 0}
    loss, spec = asked(privacy.get("epsilon"), None, {"measure": QUESTIONS}, (), **given)
    plan = way_named("measure").plan(table(contributions).schema, loss, spec)
    design, most = plan.layout.design, 0.0
    for change in changes(contributions, relation):
        price = 0.0
        for question, law in plan.noise.items():
            moved = design.answer(design.in_cells(change), question).ravel()
            each = law.price(1)
            price += (
                float(each.rho) * (moved**2).sum() if "rho" in privacy else float(each.epsilon) * np.abs(moved).sum()
            )
        most = max(most, price)
    return most


@pytest.mark.parametrize("privacy", [{"epsilon": 1}, {"rho": "1/2"}], ids=["epsilon", "rho"])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("contributions", [1, 2])
def test_the_price_is_that_of_the_dearest_change(
    contributions: int, relation: str, privacy: dict[str, Any], tmp_path: Path
) -> None:
    """Never less; and hardly more, but for the total, which a person who moves leaves as it is."""
    book = dc.ledger(tmp_path / "ledger.db")
    book.create("people", relation=relation, **dict.fromkeys(privacy, 100))
    dc.release(table(contributions), measure=QUESTIONS, ledger=book, dataset="people", **privacy)
    (entry,) = book.history("people")
    charged = float(entry.charged.rho if "rho" in privacy else entry.charged.epsilon)
    least = dearest(contributions, relation, privacy)
    assert least <= charged * (1 + 1e-12)
    if relation == "added-or-removed":
        assert charged <= least * 1.001
    else:
        assert charged == pytest.approx(2 * float(Fraction(str(*privacy.values()))))


@pytest.mark.parametrize(("relation", "paid"), [("added-or-removed", "1/4"), ("moved", "1/2")])
def test_who_is_moved_costs_what_is_promised_for_one_who_is_moved(relation: str, paid: str, tmp_path: Path) -> None:
    book = dc.ledger(tmp_path / "ledger.db")
    book.create("people", rho=1, relation=relation)
    dc.release(table(), rho="1/2", measure="auto", keep="total", ledger=book, dataset="people")
    assert book.status("people").spent.rho == Fraction(paid)
    assert book.status("people").discloses == ("total",)


def test_kept_sums_of_both_ways_are_stacked(tmp_path: Path) -> None:
    """A total that is kept beside measured margins gives away what an earlier kept sum left open."""
    frame = pa.table({"k": list("aab"), "j": list("xyx"), "n": [1, 2, 3]})
    rows = dc.table(frame, "n", keys=["k", "j"])
    book = dc.ledger(tmp_path / "ledger.db")
    book.create("people", epsilon=10)
    dc.release(rows, 1, keep="sum:k=a", ledger=book, dataset="people")
    options: dict[str, Any] = {"measure": "auto", "keep": "total", "ledger": book, "dataset": "people"}
    with pytest.raises(dc.Discloses, match="give away"):
        dc.release(rows, 1, **options)
    assert len(book.history("people")) == 1, "what is refused costs nothing"
    dc.release(rows, 1, accept_disclosure=True, **options)
    assert book.history("people")[1].disclosure.exact == 1
