"""What the kept sums of several releases give away together."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import Discloses
from discreet.lattice.invariants import Kept
from discreet.ledger import Spending, documents, ledger
from discreet.ledger import book as book_module
from discreet.ledger.disclosure import FIXED, Disclosure, all_given, newly_given
from discreet.ledger.documents import KeptTable, kept_table, read_kept, written_kept
from discreet.ledger.matching import Numbered, about_to_keep
from discreet.privacy import Pure

ROWS = dc.table(pa.table({"town": list("abcd"), "n": [3, 0, 5, 2]}), "n", ["town"])
GRID = dc.table(pa.table({"town": list("aabbcc"), "sex": list("fmfmfm"), "n": [3, 0, 5, 2, 1, 1]}), "n", "all")


words = st.text("01", min_size=4, max_size=4).filter(lambda row: "1" in row)


def sums(*rows: str) -> Kept:
    return dc.sums([[int(entry) for entry in row] for row in rows])


def release(book: dc.Ledger, table: dc.Table, *keep: Any, **options: Any) -> dc.Release:
    return dc.release(table, epsilon="1/10", keep=list(keep), ledger=book, dataset="d", **options)


@pytest.fixture
def book(sqlite_url: str) -> dc.Ledger:
    made = ledger(sqlite_url)
    made.create("d", epsilon=100)
    return made


def test_two_sums_that_differ_by_one_row_disclose_it(book: dc.Ledger) -> None:
    release(book, ROWS, sums("1100"))
    with pytest.raises(Discloses, match=r"give away 1 row: town = c \(exactly\).*--accept-disclosure") as caught:
        release(book, ROWS, sums("1110"))
    assert caught.value.exit_status == 1 and caught.value.values["cells"] == ({"town": "c"},)
    assert book.status("d").releases == 1
    release(book, ROWS, sums("1110"), accept_disclosure=True)
    entry = book.history("d")[1]
    assert entry.disclosure.exact == 1 and entry.disclosure.cells[0].keys == {"town": "c"}
    release(book, ROWS, sums("1110"))  # nothing new is given away
    release(book, ROWS, sums("1101"), accept_disclosure=True)  # now d, too, and with it nothing else
    assert book.history("d")[3].disclosure.cells[0].keys == {"town": "d"}
    page = book.statement("d")
    assert "give away 2 rows" in page and "accepted: gives away 1 row: town = c (exactly)" in page


def test_a_remainder_is_given_away_too(book: dc.Ledger) -> None:
    """{1,2}, {2,3}, {1,3,4}: what is left free changes row 4 by twos only."""
    release(book, ROWS, sums("1100"))
    release(book, ROWS, sums("0110"))
    with pytest.raises(Discloses, match=r"town = d \(its remainder after division by 2\)"):
        release(book, ROWS, sums("1011"))


def test_a_release_that_discloses_a_remainder_by_itself_is_refused(book: dc.Ledger) -> None:
    with pytest.raises(Discloses, match="remainder after division by 2"):
        release(book, ROWS, sums("1100", "0110", "1011"))


RAGGED = dc.table(pa.table({"town": list("aab"), "sex": list("fmf"), "n": [3, 4, 5]}), "n", "all")


@pytest.mark.parametrize("what", ["margin:town", "sum:town=b", "sum:sex=f,town=b", sums("001")])
def test_a_sum_that_is_one_row_is_refused(book: dc.Ledger, what: Any) -> None:
    """Whether it happens to be one, or was named: it is a count, published exactly."""
    with pytest.raises(Discloses, match=r"give away 1 row: sex = f, town = b \(exactly\).*--accept-disclosure"):
        release(book, RAGGED, what)
    assert book.history("d") == ()
    release(book, RAGGED, what, accept_disclosure=True)
    assert book.history("d")[0].disclosure.exact == 1
    release(book, RAGGED, "sum:town=b,sex=f")  # known by now


def test_what_names_imply_in_another_table_is_given_away(book: dc.Ledger) -> None:
    """The tables do not nest; what the names of one imply for the other is given away all the same."""
    aged = dc.table(pa.table({"town": list("aab"), "age": list("yoy"), "n": [1, 2, 3]}), "n", "all")
    release(book, aged, dc.total())
    four = dc.table(pa.table({"town": list("aabcc"), "sex": list("fmffm"), "n": [3, 4, 5, 1, 2]}), "n", "all")
    with pytest.raises(Discloses) as caught:
        release(book, four, dc.margin("town"), "sum:sex=m,town=a")
    found = {tuple(sorted(cell.values())) for cell in caught.value.values["cells"]}
    assert found == {("a", "f"), ("a", "m"), ("b", "f"), ("b", "y")}


def test_a_finer_and_a_coarser_table_meet_on_the_finer(book: dc.Ledger) -> None:
    coarse = dc.table(pa.table({"town": list("abc"), "n": [3, 7, 2]}), "n", ["town"])
    release(book, coarse, sums("110"))
    with pytest.raises(Discloses, match=r"sex = m, town = b"):
        release(book, GRID, sums("111000", "000011"))
    release(book, GRID, dc.margin("sex"))
    assert book.history("d")[1].disclosure == Disclosure()


def test_the_same_from_the_coarser_side(book: dc.Ledger) -> None:
    release(book, GRID, sums("111000"))
    coarse = dc.table(pa.table({"town": list("abc"), "n": [3, 7, 2]}), "n", ["town"])
    with pytest.raises(Discloses, match="sex = m, town = b"):
        release(book, coarse, sums("110"))


def test_tables_that_do_not_nest_are_compared_by_name_and_it_is_said(book: dc.Ledger) -> None:
    aged = dc.table(pa.table({"town": list("aabb"), "age": list("yoyo"), "n": [1, 2, 3, 4]}), "n", "all")
    two = dc.table(pa.table({"town": list("aabb"), "sex": list("fmfm"), "n": [1, 2, 3, 4]}), "n", "all")
    release(book, aged, dc.margin("town"))
    with pytest.raises(Discloses, match=r"sex = f, town = a.*sex = m, town = a"):  # town b is in the other margin
        release(book, two, sums("1011"))
    release(book, two, dc.margin("sex"))
    assert book.history("d")[1].disclosure.not_compared == (1,)
    assert "Not compared, or only in part" in book.statement("d")


def test_counts_of_other_things_are_not_mixed(book: dc.Ledger) -> None:
    other = dc.table(pa.table({"town": list("abcd"), "births": [1, 1, 1, 1]}), "births", ["town"])
    release(book, ROWS, sums("1100"))
    release(book, other, sums("1110"))
    assert book.history("d")[1].disclosure.not_compared == (1,)


def test_a_column_of_counts_is_the_same_alone_and_beside_another(book: dc.Ledger) -> None:
    frame = pa.table({"town": list("abc"), "births": [3, 0, 5], "deaths": [1, 1, 2]})
    both, alone = dc.table(frame, ["births", "deaths"], ["town"]), dc.table(frame.drop(["deaths"]), "births", ["town"])
    release(book, both, "margin:counted")
    with pytest.raises(Discloses, match="counted = births, town = c"):
        release(book, alone, sums("110"))
    release(book, alone, "total")  # known from the first
    assert book.history("d")[1].disclosure == Disclosure()
    other = dc.table(pa.table({"town": list("abc"), "moves": [3, 0, 5]}), "moves", ["town"])
    release(book, other, sums("110"))
    assert book.history("d")[2].disclosure.not_compared == (1, 2)


def test_the_same_with_the_single_column_first(book: dc.Ledger) -> None:
    frame = pa.table({"town": list("abc"), "births": [3, 0, 5], "deaths": [1, 1, 2]})
    release(book, dc.table(frame.drop(["deaths"]), "births", ["town"]), sums("110"))
    with pytest.raises(Discloses, match="counted = births, town = c"):
        release(book, dc.table(frame, ["births", "deaths"], ["town"]), "margin:counted")


def test_a_sum_of_zero_fixes_rows_and_the_statement_says_so(book: dc.Ledger, tmp_path: Path) -> None:
    empty = dc.table(pa.table({"town": list("abcd"), "n": [0, 0, 5, 2]}), "n", ["town"])
    with pytest.raises(Discloses, match=r"2 rows: town = a \(exactly: it can have no other value\)") as caught:
        release(book, empty, sums("1100", "0011"))
    assert caught.value.values["fixed"] == 2 and book.history("d") == ()
    release(book, empty, sums("1100", "0011"), nonnegative=True, accept_disclosure=True).save(tmp_path / "out")
    assert book.history("d")[0].disclosure.fixed == 2
    page = book.statement("d")
    assert "town = a (exactly: it can have no other value)" in page and "give away 2 rows" in page
    release(book, empty, sums("1100"))  # known by now


IN_TWO = dc.table(pa.table({"town": list("abcd"), "n": [0, 0, 4, 3]}), "n", ["town"])  # 7 people, of whom 7 in c and d


def test_a_release_that_was_charged_and_not_saved_counts(book: dc.Ledger) -> None:
    release(book, IN_TWO, sums("1111"))
    with pytest.raises(Discloses, match=r"together with 1 earlier release.*2 rows: town = a "):
        release(book, IN_TWO, sums("0011"))
    assert book.history("d")[0].state == "charged, not released" and len(book.history("d")) == 1
    release(book, IN_TWO, sums("0011"), accept_disclosure=True)
    assert "give away 2 rows" in book.statement("d")


def test_a_release_that_is_charged_meanwhile_counts(book: dc.Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process is charged while ours looks at its sums."""
    table, looked = IN_TWO, list[int]()

    def meanwhile(*given: Any) -> Any:
        looked.append(1)
        if len(looked) == 1:
            release(book, table, sums("1111"))
        return costs(*given)

    costs = book_module._costs
    monkeypatch.setattr(book_module, "_costs", meanwhile)
    with pytest.raises(Discloses, match="2 rows: town = a "):
        release(book, table, sums("0011"))
    assert len(looked) == 3 and len(book.history("d")) == 1


def of_counts(number: int, rows: list[str], counts: list[int]) -> Numbered:
    table = numbered(number, *rows).table
    assert table is not None
    return about_to_keep(number, table, None, np.array(counts))


EVERY = np.array(list(product(range(9), repeat=4)))
small = st.lists(st.integers(0, 2), min_size=4, max_size=4)


@settings(max_examples=40, deadline=None)
@given(st.lists(words, min_size=1, max_size=2), st.lists(words, min_size=1, max_size=2), small)
def test_rows_that_sums_fix_are_those_that_enumeration_finds(
    earlier: list[str], new: list[str], counts: list[int]
) -> None:
    """Among all tables without negative counts; and whichever of them is the true one, the answer is the same."""

    def alike(rows: list[str]) -> Any:
        """All tables with these sums; nobody is where nothing is kept."""
        matrix = np.array([[int(entry) for entry in row] for row in rows])
        same = (matrix @ counts == EVERY @ matrix.T).all(axis=1) & (EVERY[:, ~matrix.any(axis=0)] == 0).all(axis=1)
        return EVERY[same]

    def single(tables: Any, rows: list[str]) -> set[int]:
        kept = (cell for cell in range(4) if any(row[cell] == "1" for row in rows))
        return {cell for cell in kept if len(set(tables[:, cell])) == 1}

    before, after = alike(earlier), alike([*earlier, *new])
    published = replace(of_counts(1, earlier, counts), witness=None)
    expected = single(after, [*earlier, *new]) - single(before, earlier)
    for table in after[:3]:
        found = newly_given([published], of_counts(2, new, table.tolist()))
        assert (
            found.examined and {int(one.keys["cell"]) for one in found.cells if one.modulus in (0, FIXED)} == expected
        )


def test_sums_of_data_that_changed_are_looked_at_by_themselves(book: dc.Ledger, tmp_path: Path) -> None:
    """No table has this year's sums and last year's: what was known then says nothing of now."""
    for year, counts in enumerate(([3, 1, 5, 2], [0, 6, 5, 2])):
        table = dc.table(pa.table({"town": list("abcd"), "n": counts}), "n", ["town"])
        release(book, table, sums("1100", "0011")).save(tmp_path / str(year))
    none = dc.table(pa.table({"town": list("abcd"), "n": [0, 0, 5, 3]}), "n", ["town"])
    with pytest.raises(Discloses, match="2 rows: town = a "):  # though the same sums were kept before
        release(book, none, sums("1100", "0011"))
    assert "too entangled" not in book.statement("d")


def test_sums_that_were_kept_again_count_as_they_are_now(book: dc.Ledger) -> None:
    """The same sum of last year's data and of this year's: what this year's gives away does not hide behind it."""
    last, now = (
        dc.table(pa.table({"town": list("abcd"), "n": n}), "n", ["town"]) for n in ([1, 2, 4, 0], [0, 0, 4, 1])
    )
    release(book, last, sums("1111"))
    release(book, now, sums("1111"))
    with pytest.raises(Discloses, match="2 rows: town = a "):
        release(book, now, sums("0011"))
    release(book, last, sums("0011"))  # 4 of 7: nothing is fixed among last year's
    release(book, now, sums("0011"), accept_disclosure=True)
    assert "give away 2 rows" in book.statement("d")
    release(book, now, sums("0011"))  # known by now


AT_LEAST, AT_MOST = ([[1, 0, 0, 0]], [3]), ([[-1, 0, 0, 0]], [-3])  # of the 3 people in town a


def test_two_inequalities_that_leave_a_row_one_value_disclose_it(book: dc.Ledger) -> None:
    """Each alone leaves it many, so no plan has a reason to refuse it."""
    dc.release(ROWS, 1, inequalities=AT_LEAST, ledger=book, dataset="d")
    with pytest.raises(Discloses, match=r"together with 1 earlier release.*1 row: town = a \(exactly"):
        dc.release(ROWS, 1, inequalities=AT_MOST, ledger=book, dataset="d")
    dc.release(ROWS, 1, inequalities=AT_LEAST, ledger=book, dataset="d")  # known by now
    dc.release(ROWS, 1, inequalities=AT_MOST, ledger=book, dataset="d", accept_disclosure=True)
    assert book.history("d")[2].disclosure.fixed == 1 and book.history("d")[2].spending.assumes
    page = book.statement("d")
    assert "what is met give away 1 row: town = a " in page and "between data that meet what they were said" in page


def test_inequalities_and_sums_of_other_releases_are_looked_at_together(book: dc.Ledger) -> None:
    """Of 3 people in a and b, 3 at least are in a: nobody is in b."""
    dc.release(ROWS, 1, inequalities=AT_LEAST, ledger=book, dataset="d")
    with pytest.raises(Discloses, match="2 rows: town = a "):
        release(book, ROWS, sums("1100"))
    release(book, ROWS, sums("1010"))


def test_inequalities_of_a_release_that_keeps_sums_count_too(book: dc.Ledger) -> None:
    with pytest.raises(Discloses, match="2 rows: town = a "):
        release(book, ROWS, sums("1100"), inequalities=AT_LEAST)
    assert book.history("d") == ()


def test_an_order_that_always_holds_is_released_again_and_again(book: dc.Ledger) -> None:
    counted = pa.table({"town": list("aabb"), "what": ["homes", "people"] * 2, "n": [2, 5, 1, 4]})
    for counts in ([2, 5, 1, 4], [3, 5, 1, 6]):
        table = dc.table(counted.set_column(2, "n", pa.array(counts)), "n", "all")
        dc.release(table, 1, inequalities="order:what=homes,people", ledger=book, dataset="d")
    assert not any(entry.disclosure.refused for entry in book.history("d"))
    assert "said to meet: order:what=homes,people" in book.statement("d")


def test_counts_that_are_not_of_the_kept_rows_are_refused(book: dc.Ledger) -> None:
    kept = kept_table("n", {"town": list("abcd")}, (sums("1100"),), 4)
    spending = Spending(Pure("1/10"), discloses=("matrix",), kept=kept, counts=np.array([1, 2, 3]))
    with pytest.raises(dc.BadInput, match="not those of the rows"):
        book.spend("d", spending)
    assert book.history() == ()


def test_in_a_data_set_of_added_or_removed_people_kept_sums_are_charged_and_recorded(book: dc.Ledger) -> None:
    release(book, ROWS, dc.total())
    statement = book.status("d")
    assert statement.relation == "added-or-removed" and statement.spent.epsilon == Fraction(1, 20)
    assert statement.discloses == ("total",)
    assert "those sums are not protected" in book.statement("d")


@pytest.mark.parametrize("what", ["margin:town", "sum:town=a", "total"])
def test_keeping_less_protects_no_less_and_the_page_names_the_change(book: dc.Ledger, what: str) -> None:
    """One person moved inside town a costs the same, whichever other sums are kept."""
    made = release(book, GRID, what)
    assert made.guarantee.unit.change.distance == 2 and book.status("d").spent.epsilon == Fraction(1, 20)
    assert f"promises epsilon = 0.1 for {made.guarantee.unit}" in book.statement("d")


def test_several_tables_are_one_transaction(url: str) -> None:
    made = ledger(url)
    made.create("d", epsilon=1)
    head = made.status("d").head
    half, much = Spending(Pure("1/2"), note="first"), Spending(Pure("3/4"), note="second")
    with pytest.raises(dc.OverBudget, match=r"epsilon = 0\.5 is left"):
        made.spend_all("d", [half, much])
    assert made.history() == () and made.status("d").head == head
    first, second = made.spend_all("d", [half, half])
    assert (first.number, second.number, second.charged.epsilon) == (1, 2, 0.5)
    assert made.status("d").left.epsilon == 0


def test_several_tables_are_tested_together(book: dc.Ledger) -> None:
    keys = {"town": list("abcd")}
    one, two = (kept_table("n", keys, (kept,), 4) for kept in (sums("1100"), sums("1110")))
    spendings = [Spending(Pure("1/10"), discloses=("matrix",), kept=kept) for kept in (one, two)]
    with pytest.raises(Discloses, match="town = c"):
        book.spend_all("d", spendings)
    assert book.history() == ()


def test_kept_sums_that_were_tampered_with_are_refused(book: dc.Ledger, sqlite_url: str) -> None:
    from .test_chain import tampered

    release(book, ROWS, sums("1100"))
    tampered(sqlite_url, "UPDATE discreet_documents SET content = 'eJyrrgUAAXUA+Q=='")
    with pytest.raises(dc.BadInput, match="kept sums of its entry #1 cannot be read"):
        release(book, ROWS, sums("1110"))
    tampered(sqlite_url, "DELETE FROM discreet_documents")
    with pytest.raises(dc.BadInput, match="it is not there"):
        book.statement("d")


def test_too_many_rows_are_not_stored_and_it_is_said(book: dc.Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_LETTERS", 20)
    release(book, ROWS, sums("1100"))
    monkeypatch.undo()
    with pytest.raises(dc.Discloses, match="could not be found out"):
        release(book, ROWS, sums("1110"))
    release(book, ROWS, sums("1110"), accept_disclosure=True)
    assert book.history("d")[1].disclosure.not_compared == (1,)


def numbered(number: int, *rows: str) -> Numbered:
    keys = {"cell": [str(place) for place in range(len(rows[0]))]}
    return Numbered(number, kept_table("n", keys, (sums(*rows),), len(rows[0])))


def by_enumeration(rows: list[str], most: int = 3) -> dict[int, set[int]]:
    """Of each cell, the values it can differ by among small tables of whole numbers with the same sums."""
    matrix = np.array([[int(entry) for entry in row] for row in rows])
    width = matrix.shape[1]
    changes = [np.array(v) for v in product(range(-most, most + 1), repeat=width) if not (matrix @ np.array(v)).any()]
    return {cell: {int(v[cell]) for v in changes} for cell in range(width)}


@settings(max_examples=40, deadline=None)
@given(st.lists(words, min_size=1, max_size=2), words)
def test_what_is_new_is_what_enumeration_finds(earlier: list[str], new: str) -> None:
    entries = [numbered(place + 1, row) for place, row in enumerate(earlier)]
    last = numbered(9, new)
    found = newly_given(entries, last)
    before, after = (by_enumeration(rows) for rows in (earlier, [*earlier, new]))
    exact = {cell for cell in range(4) if after[cell] == {0} and before[cell] != {0}}
    assert found.exact == len(exact)
    shown = {int(cell.keys["cell"]) for cell in found.cells if cell.modulus == 0}
    assert shown == exact
    whole = all_given([*entries, last])
    assert whole.exact == sum(after[cell] == {0} for cell in range(4))


def test_what_fixes_cells_is_what_enumeration_finds() -> None:
    """All tables without negative counts that have these sums, one by one."""
    rows, truth = ["1100", "0110", "1111"], np.array([0, 2, 0, 1])
    matrix = np.array([[int(entry) for entry in row] for row in rows])
    values = matrix @ truth
    tables = [np.array(x) for x in product(range(4), repeat=4) if np.array_equal(matrix @ np.array(x), values)]
    single = {cell for cell in range(4) if len({int(table[cell]) for table in tables}) == 1}
    entry = Numbered(1, numbered(1, *rows).table, None, values)
    found = all_given([entry])
    assert {int(cell.keys["cell"]) for cell in found.cells if cell.modulus in (0, FIXED)} <= single
    zero = Numbered(1, numbered(1, "1100", "0011").table, None, np.array([0, 3]))
    assert {int(cell.keys["cell"]) for cell in all_given([zero]).cells} == {0, 1}


def test_kept_tables_come_back_as_they_were() -> None:
    kept = (dc.total(), dc.margin("a", "b"), dc.sum_where(a="x, y"), sums("10", "01"))
    table = KeptTable("n", {"a": ["x, y", "é"], "b": ["\ud800", ""]}, kept, 2)
    written = written_kept(table)
    assert written is not None
    again = read_kept(written[1], written[0])
    assert (again.count, again.columns, again.kept, again.rows) == (table.count, table.columns, table.kept, table.rows)
    with pytest.raises(ValueError, match="does not say"):
        read_kept(written[1], "0" * 64)
