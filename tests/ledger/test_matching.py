"""Kept sums of tables that are spelled otherwise, too many, or too entangled: nothing passes for want of looking."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import discreet as dc
from discreet.errors import Discloses
from discreet.lattice.basis import integral_kernel, kernel_basis
from discreet.lattice.shape import independent_rows
from discreet.ledger import Spending, disclosure, ledger
from discreet.ledger import book as books
from discreet.ledger.documents import kept_table
from discreet.ledger.matching import compared
from tests.clock import within


@pytest.fixture
def book(sqlite_url: str) -> dc.Ledger:
    made = ledger(sqlite_url)
    made.create("d", epsilon=1000)
    return made


def table(keys: list[Any], name: str = "town", count: str = "n") -> dc.Table:
    return dc.table(pa.table({name: keys, count: list(range(len(keys)))}), count, [name])


def release(book: dc.Ledger, data: dc.Table, *keep: Any, **options: Any) -> dc.Release:
    return dc.release(data, epsilon="1/10", keep=list(keep), ledger=book, dataset="d", **options)


FIRST_TWO = dc.sums([[1, 1, 0]])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["Ash", "Elm", "Oak"], ["ASH", "ELM", "OAK"]),
        (["Ash", "Elm", "Oak"], ["Ash ", " Elm", "Oak\u200b"]),
        (["Ash", "Elm", "Oak"], ["Ａsh", "Elm", "Oak"]),
        (["a b", "c", "d"], ["a  b", "c", "d"]),
        ([1, 2, 3], [1.0, 2.0, 3.0]),
        (["1", "2", "3"], ["01", "02", "+3.00"]),
        (["0.5", "1", "2"], [0.5, 1.0, 2.0]),
    ],
)
def test_keys_that_are_spelled_otherwise_are_the_same(book: dc.Ledger, first: list[Any], second: list[Any]) -> None:
    release(book, table(first), FIRST_TWO)
    with pytest.raises(Discloses, match="give away 1 row"):
        release(book, table(second), dc.total())


@pytest.mark.parametrize("names", [{"name": "Town"}, {"count": "N"}, {"name": " town", "count": "n "}])
def test_columns_that_are_spelled_otherwise_are_the_same(book: dc.Ledger, names: dict[str, str]) -> None:
    release(book, table(list("abc")), FIRST_TWO)
    with pytest.raises(Discloses, match="give away 1 row"):
        release(book, table(list("abc"), **names), dc.total())


def test_sums_and_margins_by_name_are_compared_in_any_spelling(book: dc.Ledger) -> None:
    aged = dc.table(pa.table({"Town": list("AABB"), "age": list("yoyo"), "n": [1, 2, 3, 4]}), "n", "all")
    two = dc.table(pa.table({"town": list("aabb"), "sex": list("fmfm"), "n": [1, 2, 3, 4]}), "n", "all")
    release(book, aged, dc.sum_where(Town="B"))
    with pytest.raises(Discloses, match="sex = f, town = a"):
        release(book, two, dc.sums([[1, 0, 1, 1]]))


def test_two_keys_of_one_table_are_never_taken_for_one(book: dc.Ledger) -> None:
    release(book, table(["a", "A", "b"]), FIRST_TWO)
    with pytest.raises(Discloses, match="town = b"):
        release(book, table(["a", "A", "b"]), dc.total())
    release(book, table(["a", "b"]), dc.total())  # of other rows: those of A are not in it


@pytest.mark.parametrize(
    "other",
    [table(["x", "y", "z"]), table(["b", "d", "e"]), table(list("abc"), count="births"), table(list("abc"), "k")],
)
def test_what_does_not_match_is_not_compared_and_the_statement_names_it(book: dc.Ledger, other: dc.Table) -> None:
    release(book, table(list("abc")), FIRST_TWO)
    release(book, other, dc.sums([[1, 1, 1]]))
    assert book.history("d")[1].disclosure.not_compared == (1,)
    page = book.statement("d")
    assert "Not compared, or only in part: those of #" in page and "give away no single row." not in page


def test_fewer_rows_of_the_same_table_are_compared(book: dc.Ledger) -> None:
    release(book, table(list("abc")), dc.total())
    with pytest.raises(Discloses, match="town = c"):
        release(book, table(list("ab")), dc.total())


def test_a_release_that_gives_a_row_away_by_itself_is_refused(book: dc.Ledger) -> None:
    with pytest.raises(Discloses, match=r"town = c \(exactly\)"):
        release(book, table(list("abc")), dc.sums([[1, 1, 0], [1, 1, 1]]))
    with pytest.raises(Discloses, match=r"town = c \(exactly\)"):
        release(book, table(list("abc")), dc.sums([[0, 0, 1], [1, 1, 1]]))  # a sum of one row, kept as such


def grid(rows: int, columns: int) -> dc.Table:
    cells = [(f"r{i}", f"c{j}") for i in range(rows) for j in range(columns)]
    r, c = zip(*cells)
    return dc.table(pa.table({"r": r, "c": c, "n": [1] * len(cells)}), "n", "all")


def test_what_could_not_be_examined_is_refused_and_never_called_nothing(
    book: dc.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row of a table without its first cell, once the margins are known: entangled sums that pin that cell."""
    from discreet.lattice import disclosure as lattice

    data = grid(4, 4)
    release(book, data, dc.margin("r"))
    release(book, data, dc.margin("c"))
    pin = dc.sums([[0, 1, 1, 1] + [0] * 12])
    with pytest.raises(Discloses, match="c = c0, r = r0"):
        release(book, data, pin)
    monkeypatch.setattr(lattice, "MOST_COLUMNS", 10)
    with pytest.raises(Discloses, match=r"could not be found out.*--accept-disclosure") as caught:
        release(book, data, pin)
    assert caught.value.values["examined"] is False and book.status("d").releases == 2
    release(book, data, pin, accept_disclosure=True)
    page = book.statement("d")
    assert "no single row" not in page and "too entangled" in page and "accepted: gives away" in page
    assert not book.history("d")[2].disclosure.examined


def test_the_forty_by_forty_table(book: dc.Ledger) -> None:
    data = grid(40, 40)
    release(book, data, dc.margin("r"))
    release(book, data, dc.margin("c"))
    with within(30), pytest.raises(Discloses):
        release(book, data, dc.sums([[0] + [1] * 39 + [0] * 1560]))


def test_too_many_rows_are_refused(book: dc.Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disclosure, "MOST_ROWS", 5)
    release(book, table(list("abc")), FIRST_TWO)
    with pytest.raises(Discloses, match="could not be found out"):
        release(book, table(list("abc")), dc.total())
    monkeypatch.setattr(disclosure, "MOST_ROWS", 2)
    assert "no single row" not in book.statement("d")


def test_three_margins_of_an_everyday_table_take_seconds(book: dc.Ledger) -> None:
    cells = [(i, j, k) for i in range(12) for j in range(10) for k in range(10)]
    r, c, d = (list(map(str, column)) for column in zip(*cells))
    data = dc.table(pa.table({"r": r, "c": c, "d": d, "n": [1] * len(cells)}), "n", "all")
    tables = [release_kept(data, keep) for keep in (dc.margin("r", "c"), dc.margin("c", "d"), dc.margin("r", "d"))]
    with within(60):  # it took minutes
        book.spend_all("d", tables)
    assert book.history("d")[2].disclosure == disclosure.Disclosure()


def release_kept(data: dc.Table, keep: Any) -> Spending:
    keys = {name: data.schema.column(name) for name in data.schema.keys}
    kept = kept_table("n", keys, (keep,), data.schema.rows)
    return Spending(dc.Pure(1), discloses=(str(keep),), kept=kept)


def test_others_may_write_while_sums_are_looked_at(book: dc.Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release of another data set, while the first one is being examined; and of the same: it is examined anew."""
    real, examined = books.newly_given, []
    book.create("other", epsilon=1)

    def slow(earlier: Any, new: Any) -> Any:
        examined.append(len(earlier))
        if len(examined) == 1:
            quick = threading.Thread(target=interfere)
            quick.start()
            quick.join(120)
            assert not quick.is_alive(), "the ledger is locked while sums are looked at"
        return real(earlier, new)

    def interfere() -> None:
        mine = ledger(str(book.address.file), wait=5)
        mine.spend("other", Spending(dc.Pure(1)))
        mine.spend_all("d", [release_kept(table(list("abc")), FIRST_TWO)])

    monkeypatch.setattr(books, "newly_given", slow)
    with pytest.raises(Discloses, match="town = c"):
        release(book, table(list("abc")), dc.total())
    assert book.status("other").releases == 1 and book.status("d").releases == 1


def test_where_others_never_stop_it_is_examined_under_the_lock(
    book: dc.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, seen = books._costs, []

    def interrupted(account: Any, *rest: Any) -> Any:
        seen.append(len(account.charges))
        if len(seen) <= books.TRIES:
            monkeypatch.setattr(books, "_costs", real)
            book.spend("d", Spending(dc.Pure(1)))
            monkeypatch.setattr(books, "_costs", interrupted)
        return real(account, *rest)

    monkeypatch.setattr(books, "_costs", interrupted)
    (entry,) = book.spend_all("d", [Spending(dc.Pure(1))])
    assert seen == [0, 1, 2, 3] and entry.number == 4


@settings(max_examples=200, deadline=None)
@given(arrays(np.int64, st.tuples(st.integers(1, 5), st.integers(1, 7)), elements=st.integers(0, 1)))
def test_a_kernel_that_is_read_off_is_the_reduced_one(matrix: Any) -> None:
    """The same lattice: what every coordinate can change by, and its index, agree with the slow way."""
    from flint import fmpz_mat

    found = integral_kernel(matrix)
    rows = matrix[independent_rows(matrix)] if matrix.any() else np.zeros((0, matrix.shape[1]), dtype=np.int64)
    slow = kernel_basis(rows) if len(rows) else np.eye(matrix.shape[1], dtype=np.int64)
    if found is None:
        return
    assert not (matrix @ found.T).any() and found.shape == slow.shape
    if len(slow):
        assert fmpz_mat(found.tolist()).hnf() == fmpz_mat(slow.tolist()).hnf()


def test_a_kernel_that_needs_fractions_is_not_read_off() -> None:
    assert integral_kernel(np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 1]])) is None
    assert integral_kernel(np.array([[2, 1]])) is None


@pytest.mark.parametrize(("one", "other"), [("1", "1.5"), ("a", "b"), ("1", "one"), ("-1", "1"), ("1e1", "10")])
def test_different_keys_stay_different(one: str, other: str) -> None:
    assert compared(one) != compared(other)
