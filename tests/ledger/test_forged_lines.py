"""Lines that follow from the chain, with sound hashes, that this software would never have written."""

from __future__ import annotations

import json
import sqlite3
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import BadInput
from discreet.ledger import Spending, ledger
from discreet.ledger.accounts import charged, opened, released
from discreet.ledger.chain import Line, hash_of, next_line
from discreet.ledger.disclosure import Disclosure
from discreet.ledger.spending import Amount
from discreet.privacy import Approximate, Concentrated, Pure

ONE = Spending(Pure(1))


def append(url: str, value: object, content: str | None = None) -> None:
    """What anybody does who may write to the file: no trigger stands in the way of a line that follows."""
    with sqlite3.connect(url) as connection:
        last = Line(*connection.execute("SELECT * FROM discreet_chain ORDER BY number DESC LIMIT 1").fetchone())
        line = next_line(last, value)
        if content is not None:
            line = Line(line.number, content, line.previous, hash_of(line.previous, line.number, content))
        connection.execute("INSERT INTO discreet_chain VALUES (?, ?, ?, ?)", tuple(vars(line).values()))


def charge_line(number: int = 2, spending: Spending = ONE, **changes: Any) -> dict[str, object]:
    return {**charged("d", number, spending, Amount(Fraction(1)), Disclosure(), None, None, "now"), **changes}


def without(value: Any, *path: str) -> dict[str, object]:
    copy = json.loads(json.dumps(value))
    inner = copy
    for name in path[:-1]:
        inner = inner[name]
    del inner[path[-1]]
    return dict(copy)


FORGED: dict[str, Any] = {
    "a negative price": charge_line(price={"epsilon": "-5", "delta": "0"}),
    "a price of nothing": charge_line(price={"epsilon": "0", "delta": "0"}),
    "too low a price": charge_line(price={"epsilon": "0.5", "delta": "0"}),
    "a price in other units": charge_line(price={"rho": "1"}),
    "a price with more in it": charge_line(price={"epsilon": "1", "delta": "0", "rho": "1"}),
    "a price written otherwise": charge_line(price={"epsilon": "1.0", "delta": "0"}),
    "a price of no number": charge_line(price={"epsilon": "x", "delta": "0"}),
    "a spending in other units": charge_line(spending=Spending(Concentrated(Fraction(1)))),
    "a spending with a delta": charge_line(spending=Spending(Approximate(1, "1/100"))),
    "more than is left": charge_line(
        spending=Spending(Pure(4)), price={"epsilon": "4", "delta": "0"}
    ),
    "no loss": without(charge_line(), "spending", "loss"),
    "no note": without(charge_line(), "spending", "note"),
    "a spending of nothing": {**charge_line(), "spending": {"discloses": []}},
    "a disclosure of another kind": charge_line(disclosure={"exact": "many"}),
    "a field more": charge_line(refund="1"),
    "a field less": without(charge_line(), "kept"),
    "a wrong number": charge_line(3),
    "true for a number": {**charge_line(), "number": True},
    "a time that is no text": charge_line(at=7),
    "no such data set": {**charge_line(), "dataset": "e"},
    "a name that looks alike": opened("D", "moved", Amount(Fraction(5)), "now"),
    "a name with a space": opened("D ", "moved", Amount(Fraction(5)), "now"),
    "a name of nothing": opened("\u3164", "moved", Amount(Fraction(5)), "now"),
    "a budget below zero": opened("e", "moved", Amount(Fraction(-5)), "now"),
    "a budget of nothing": opened("e", "moved", Amount(Fraction(0)), "now"),
    "another relation": {**opened("e", "moved", Amount(Fraction(5)), "now"), "relation": "none"},
    "a digest that is no text": {**released("d", 1, "x", "now"), "digest": ["x"]},
    "a digest that is none": released("d", 1, "x", "now"),
    "what is given away, written otherwise": charge_line(disclosure={"cells": []}),
    "rules that are no number": charge_line(rules="1"),
    "sums of no rows": charge_line(sums="e" * 64),
    "an outcome of nothing": released("d", 2, "e" * 64, "now"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_a_sound_hash_over_what_nobody_wrote_is_refused_by_its_line(sqlite_url: str, name: str) -> None:
    book = ledger(sqlite_url)
    book.create("d", epsilon=4)
    book.spend("d", ONE)
    append(sqlite_url, FORGED[name])
    calls = (book.status, book.history, book.export, lambda: book.statement("d"), lambda: book.spend("d", ONE))
    for call in calls:
        with pytest.raises(BadInput, match="was changed: its line 3 cannot be") as caught:
            call()
        assert caught.value.values["line"] == 3


def test_what_the_software_itself_would_have_written_is_read(sqlite_url: str) -> None:
    """The same way of appending, with nothing wrong: the tests above fail for what is forged, not for the appending."""
    book = ledger(sqlite_url)
    book.create("d", epsilon=4)
    book.spend("d", ONE)
    append(sqlite_url, charge_line())
    append(sqlite_url, released("d", 2, "e" * 64, "now"))
    append(sqlite_url, opened("e", "moved", Amount(Fraction(5)), "now"))
    assert book.status("d").spent.epsilon == 2 and book.status("e").left.epsilon == 5


@pytest.mark.parametrize("content", ["[" * 200_000, '{"kind": "opened"}', "{", "9" * 5000, "null", '{"kind":[]}'])
def test_a_line_that_cannot_be_parsed_is_refused_by_its_number(sqlite_url: str, content: str) -> None:
    book = ledger(sqlite_url)
    book.create("d", epsilon=4)
    append(sqlite_url, None, content)
    for call in (book.status, book.history, lambda: book.statement("d"), lambda: book.spend("d", ONE)):
        with pytest.raises(BadInput, match="its line 2 cannot be read"):
            call()


def test_no_insert_gives_budget_back(sqlite_url: str) -> None:
    book = ledger(sqlite_url)
    book.create("d", epsilon=1)
    book.spend("d", ONE)
    append(sqlite_url, charge_line(price={"epsilon": "-5", "delta": "0"}))
    with pytest.raises(BadInput, match="its price is"):
        book.spend("d", Spending(Pure(4)))
