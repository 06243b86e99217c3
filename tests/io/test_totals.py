"""A person in a row that is a total is counted twice: such rows are refused, dropped, paid for, or declared."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.errors import BadInput
from discreet.io.counted import write_counted
from discreet.io.tables import read_schema
from discreet.record.release import seal_of
from tests.io.totals import TOTALS, frame


@pytest.mark.parametrize("word", TOTALS)
def test_words_for_a_total_are_refused_with_the_ways_out(word: str) -> None:
    with pytest.raises(BadInput) as caught:
        dc.table(frame(word), "n", "place")
    for said in ("row 1", "place = ", "--drop-totals", "--contributions K", "--rows-are-disjoint"):
        assert said in str(caught.value)
    assert caught.value.exit_status == 2


@pytest.mark.parametrize("values, total", [
    (["m", "f", "m+f"], "m+f"), (["M", "F", "m/f", "U"], "m/f"), (["Male", "Female", "M+F"], "M+F"), (["a", "b",
    "c", "abc"], "abc"), (["M", "F", "MF"], "MF"), (["Male", "Female", "males/females"], "males/females"),
    (["M", "F", "T"], "T"), (["Ｍ", "Ｆ", "Ｍ＋Ｆ"], "Ｍ＋Ｆ"), (["a", "b", "c", "a, c und b"], "a, c und b"),
    (["1", "2", "1-2"], "1-2"), (["north", "south", "north & south"], "north & south"), (["м", "ж", "м и ж"],
    "м и ж"),
    (["A", "B", "AB", "0"], ""), (["White", "Asian", "White and Asian", "Black"], ""), (["S", "M", "L"], ""),
    (["A", "B", "AB"], ""), (["A/A", "A/G", "G/G"], ""), (["A", "G", "AG"], ""), (["12", "1", "2"], ""),
    (["I", "V", "IV"], ""), (["A+", "B+", "A+/B+ mixed"], ""), (["Mali", "Oman", "Togo"], ""), (["N", "S", "NS"], ""),
    (["0-4", "5-9", "10-14"], ""), (["A", "B", "A/B test"], ""), (["B", "F", "G", "M", "T"], ""), (["m", "f"], ""),
])  # fmt: skip
def test_a_value_that_names_all_others_of_its_column_is_their_total(values: list[str], total: str) -> None:
    """Where the column makes it plain; a list of words cannot."""
    rows = pa.table({"sex": values * 2, "area": ["x"] * len(values) + ["y"] * len(values), "n": range(2 * len(values))})
    if not total:
        assert len(dc.table(rows, "n", ["sex", "area"])) == 2 * len(values)
        return
    with pytest.raises(BadInput, match=re.escape(f"row {values.index(total) + 1} (sex = {total!r})")):
        dc.table(rows, "n", ["sex", "area"])
    assert dc.table(rows, "n", ["sex", "area"], drop_totals=True).schema.dropped_totals == 2
    assert len(dc.table(rows, "n", ["sex", "area"], rows_are_disjoint=True)) == 2 * len(values)


def test_what_was_counted_is_no_total_though_it_names_all_others() -> None:
    counted = dc.count(pa.table({"sex": ["m", "f", "m/f"]}), "sex", {"sex": ["m", "f", "m/f"]})
    assert counted.schema.rows_are_disjoint and counted.counts.sum() == 3


@pytest.mark.parametrize("place", ["Somme", "Tous", "Alle"])
def test_a_place_that_is_called_like_a_total_is_told_the_way_out(place: str) -> None:
    with pytest.raises(BadInput, match=r"such as a place of that name, say rows_are_disjoint"):
        dc.table(frame(place), "n", "place")


def test_a_total_and_bad_counts_are_told_at_once(tmp_path: Path) -> None:
    """And none of the cells."""
    file = tmp_path / "t.csv"
    file.write_text("place,n\nTotal,7654\nAsh,3x\nElm,NA\nOak,-2\n")
    with pytest.raises(BadInput) as caught:
        dc.read_table(file, "n")
    said = str(caught.value)
    for part in ("row 2 (place = 'Total')", "row 3, column 'n' is not a number", "row 4, column 'n' is missing"):
        assert part in said
    assert "--drop-totals" in said and "7654" not in said and "3x" not in said
    file.write_text("place,n\n" + "".join(f"p{i},x\n" for i in range(99)))
    with pytest.raises(BadInput, match=r"row 6, column 'n' is not a number; and 94 more\.") as many:
        dc.read_table(file, "n", keys=["place"])
    assert "row 7" not in str(many.value)


def test_in_any_key_column_and_in_no_other() -> None:
    table = {"place": ["a", "a", "b"], "sex": ["f", "Total", "f"], "note": ["All", "x", "y"], "n": [1, 2, 3]}
    with pytest.raises(BadInput, match=r"keys that mean a total: row 2 \(sex = 'Total'\)\."):
        dc.table(pa.table(table), "n", ["place", "sex"])
    assert len(dc.table(pa.table({**table, "sex": ["f", "m", "f"]}), "n", ["place", "sex"])) == 3


def test_what_a_total_lacks_is_no_problem_of_its_own() -> None:
    columns = {"place": ["a", "b", "Total"], "sex": ["f", "m", None], "n": [1, 2, 3]}
    with pytest.raises(BadInput) as caught:
        dc.table(pa.table(columns), "n", ["place", "sex"])
    assert "row 3 (place = 'Total')" in str(caught.value) and "is missing" not in str(caught.value)
    with pytest.raises(BadInput, match="row 1, column 'sex' is missing") as caught:
        dc.table(pa.table({**columns, "sex": [None, "m", None]}), "n", ["place", "sex"])
    assert "row 3, column" not in str(caught.value)


def test_a_row_of_a_crosstab_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("area,f,m,All\na,1,2,3\nb,3,4,7\nTotal,4,6,10\n")
    with pytest.raises(BadInput) as caught:
        dc.read_table(tmp_path / "t.csv", "n", ["area"], wide="sex")
    assert str(caught.value).count("row 4 (area = 'Total')") == 1 and "row 2 (sex = 'All')" in str(caught.value)


def test_the_first_rows_are_named_and_no_count() -> None:
    with pytest.raises(BadInput) as caught:
        dc.table(pa.table({"k": ["All"] * 9, "n": [7654321] * 9}), "n", "k")
    assert "(9 in all)" in str(caught.value) and "row 5 (" in str(caught.value) and "row 7" not in str(caught.value)
    assert "7654321" not in str(caught.value)


def test_dropped_rows_are_left_out_before_anything_else() -> None:
    secret = pa.table({"place": ["b", "Total", "a", "  "], "n": ["3", "NA", "4", "x"]})
    table = dc.table(secret, "n", "place", drop_totals=True)
    assert table.schema.column("place") == ["a", "b"] and table.counts.tolist() == [4, 3]
    assert table.schema.dropped_totals == 2
    out = dc.release(table, 1, mechanism="signed-geometric")
    assert "Rows whose keys mean a total of others were left out (2)." in out.guarantee.sentence
    with pytest.raises(BadInput, match="no other row is there"):
        dc.table(pa.table({"k": ["All"], "n": [1]}), "n", "k", drop_totals=True)
    missing = pd.DataFrame({"k": ["a", None], "n": [1, 2]})
    assert dc.table(missing, "n", "k", drop_totals=True).schema.dropped_totals == 1
    for bad in (["1", "2", "x"], ["1", "2", "3"]):
        with pytest.raises(BadInput, match="rows 2 and 3 have the same"):
            dc.table(pa.table({"k": ["All", "a", "a"], "n": bad}), "n", "k", drop_totals=True)
    none = dc.table(frame(), "n", "place", drop_totals=True)
    assert none.schema.dropped_totals == 0 and "left out" not in dc.plan(none, 1).guarantee


def test_paid_for_or_declared() -> None:
    paid = dc.table(frame("Total"), "n", "place", contributions=2)
    assert paid.schema.contributions == 2 and len(paid) == 3
    declared = dc.table(frame("Somme"), "n", "place", rows_are_disjoint=True)
    for promise in (
        dc.plan(declared, 1, max_count=5).guarantee,
        dc.release(declared, 1, max_count=5).guarantee.sentence,
    ):
        assert "declares that no row is a total" in promise
    assert "declares" not in dc.plan(paid, 1, max_count=5).guarantee


def test_the_universe_is_judged_too() -> None:
    places = {"place": ["Ash", "Elm", "Oak", "All"]}
    with pytest.raises(BadInput, match=r"row 4 \(place = 'All'\)"):
        dc.table(frame(), "n", "place", places)
    dropped = dc.table(frame(), "n", "place", places, drop_totals=True)
    assert dropped.schema.column("place") == ["Ash", "Elm", "Oak"] and dropped.schema.dropped_totals == 1
    assert len(dc.table(frame(), "n", "place", places, rows_are_disjoint=True)) == 4


def test_a_plan_judges_alike(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("place,n\nTotal,7\nAsh,3\nElm,4\n")
    with pytest.raises(BadInput, match="mean a total"):
        read_schema(file, "n")
    schema, order = read_schema(file, "n", drop_totals=True)
    assert (schema.rows, schema.dropped_totals, order) == (2, 1, None)
    assert read_schema(file, "n", rows_are_disjoint=True)[0].rows_are_disjoint
    assert read_schema(file, "n", contributions=2)[0].contributions == 2


def test_counting_microdata_makes_no_totals() -> None:
    people = pa.table({"place": ["Somme", "", "Ash"]})
    counted = dc.count(people, "place", {"place": ["Somme", "Ash", ""]})
    assert counted.schema.rows_are_disjoint and counted.counts.sum() == 3


WAYS: dict[str, dict[str, Any]] = {
    "row by row": {"max_count": 5, "mechanism": "geometric"},
    "distribution": {"max_count": 5},
    "sums": {"keep": "total"},
}


def resealed(folder: Path, change: Any) -> None:
    document = json.loads((folder / "release.json").read_text())
    change(document)
    document["seal"] = seal_of(document)
    (folder / "release.json").write_text(json.dumps(document, indent=1) + "\n")


@pytest.mark.parametrize("way", WAYS)
def test_verify_asks_for_the_word_or_the_price(way: str, tmp_path: Path) -> None:
    table = dc.table(frame("Total"), "n", "place", rows_are_disjoint=True)
    dc.release(table, 1, **WAYS[way]).save(tmp_path / "declared")
    assert dc.verify(tmp_path / "declared").problems == ()
    dc.release(dc.table(frame("Total"), "n", "place", contributions=2), 1, **WAYS[way]).save(tmp_path / "paid")
    assert dc.verify(tmp_path / "paid").problems == ()

    def silent(document: Any) -> None:
        document["schema"]["rows_are_disjoint"] = False
        remarks = document["guarantee"]["remarks"]
        document["guarantee"]["remarks"] = [one for one in remarks if one["code"] != "rows-declared-disjoint"]

    def half_silent(document: Any) -> None:
        document["guarantee"]["remarks"].pop()

    def false(document: Any) -> None:
        document["schema"]["dropped_totals"] = 3

    for change, said in (
        (silent, "mean a total"),
        (half_silent, "what the schema says"),
        (false, "what the schema says"),
    ):
        shutil.copytree(tmp_path / "declared", tmp_path / "edited")
        resealed(tmp_path / "edited", change)
        assert any(said in problem for problem in dc.verify(tmp_path / "edited").problems)
        shutil.rmtree(tmp_path / "edited")


def test_a_kept_sum_is_about_the_rows_that_stay() -> None:
    table = dc.table(pa.table({"k": ["z", "Total", "a"], "n": [5, 12, 7]}), "n", "k", drop_totals=True)
    out = dc.release(table, 1, keep=[dc.sums([[1, 0]])])
    assert out.table.column("k").to_pylist() == ["a", "z"]
    assert np.asarray(out.counts)[1] == 5


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary(5), pa.binary_view()])
def test_bytes_are_no_keys(kind: pa.DataType) -> None:
    frame = pa.table({"k": pa.array([b"Total", b"Beta1"], kind), "n": [3, 1]})
    with pytest.raises(BadInput, match="Write them as text"):
        dc.table(frame, "n", keys=["k"])
    with pytest.raises(BadInput, match="Write them as text"):
        dc.table(pa.table({"k": ["Alpha", "Beta1"], "n": [3, 1]}), "n", keys=["k"], universe=frame)


def test_views_of_text_are_text(tmp_path: Path) -> None:
    for keys in (["Total", "b", "a"], ["c", "b", "a"]):
        frame = pa.table({"k": pa.array(keys, pa.string_view()), "n": [3, 1, 2]})
        try:
            pq.write_table(frame, tmp_path / "t.parquet")
        except pa.ArrowNotImplementedError:  # before Arrow 19 there are no such files
            return
        if "Total" in keys:
            with pytest.raises(BadInput, match="mean a total"):
                dc.read_table(tmp_path / "t.parquet", "n", keys=["k"])
            continue
        table = dc.read_table(tmp_path / "t.parquet", "n", keys=["k"])
        dc.release(table, epsilon=1, mechanism="geometric", max_count=9).save(tmp_path / "out")
        assert dc.verify(tmp_path / "out").valid


def test_a_bound_that_came_with_a_file_does_not_answer_for_totals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was counted without them."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    people = pa.table({"p": [1, 1, 2, 3], "area": ["A", "B", "A", "B"]})
    write_counted(
        dc.count(people, by="area", universe={"area": ["A", "B"]}, person="p", bound=2), tmp_path / "c.parquet"
    )
    frame = pq.read_table(tmp_path / "c.parquet")
    total = pa.table({"area": ["Total"], "count": [4]}).cast(frame.schema)
    pq.write_table(pa.concat_tables([frame, total]), tmp_path / "c.parquet")
    with pytest.raises(BadInput, match="mean a total"):
        dc.read_table(tmp_path / "c.parquet", "count")
    assert dc.read_table(tmp_path / "c.parquet", "count", contributions=4).schema.contributions == 4
