"""What a notebook shows: names, never a secret; short lines; everything escaped; the same in a real notebook."""

from __future__ import annotations

import copy
import pickle
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import BadInput
from discreet.shown.cards import CARDS, card_of
from discreet.shown.pictures import DRAWN

FRAME = pd.DataFrame({
    "county": ["Ash", "Ash", "Birch", "Birch"], "sex": ["female", "male"] * 2, "cases": [12, 7, 3, 0],
})  # fmt: skip
ANGRY = "<script>alert('x')</script>"


def cases() -> dc.Table[pd.DataFrame]:
    return dc.table(FRAME, count="cases", keys=["county", "sex"])


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One of every kind that a cell can end with."""
    folder = tmp_path_factory.mktemp("shown")
    table = cases()
    out = dc.release(table, epsilon=1)
    out.save(folder / "out")
    refuted = dc.certify([[0.7, 0.3], [0.3, 0.7]], epsilon="0.8", curve=True)
    best = dc.design(4, "1/3", require=["fair"])
    return {
        "Table": table, "Guarantee": out.guarantee, "Plan": dc.plan(table, 1),
        "Choices": dc.choose(table, epsilons=[1]),
        "Release": out, "Verification": dc.verify(folder / "out"), "Certificate": refuted, "Witness": refuted.witness,
        "Design": best, "Mechanism": best.mechanism, "Comparison": dc.compare(3, "1/3"),
        "Construction": dc.construct([0.5, 0.3, 0.2], 1, method="transport"),
        "PrivateDistribution": dc.private_distribution(table, 1, max_count=12),
        "BoundedNoise": dc.bounded_noise(1, truth="1/3", support=2),
        "BoundedMechanism": dc.bounded_mechanism(4, 1, truth="1/2", support=2),
        "Evaluation": dc.evaluate(table, ["geometric"], [1], repeats=2, workers=1),
        "Answer": dc.estimate(out).total(), "AnswerSet": dc.estimate(out).by("county"), "Estimate": dc.estimate(out),
        "Statement": dc.ledger(folder / "ledger.db").create("people", epsilon=2),
    }  # fmt: skip


def test_every_kind_has_a_card(values: dict[str, Any]) -> None:
    assert set(values) == set(CARDS)
    for name, value in values.items():
        assert type(value).__name__ == name


def test_lines_are_short_and_pages_are_whole(values: dict[str, Any]) -> None:
    for name, value in values.items():
        line, text, page = repr(value), str(value), value._repr_html_()
        assert "\n" not in line and len(line) < 120, name
        for said in (line, text, page):
            assert "array(" not in said and "Fraction(" not in said, name
            assert not re.search(r"[0-9]{13}", said), f"{name} shows more digits than anybody reads: {said}"
        assert page.count("<table") == page.count("</table>") and page.count("<div") == page.count("</div>")
        assert "<script" not in page and "http" not in page and "src=" not in page


def test_certificate_reads_as_the_readme_has_it() -> None:
    said = str(dc.certify([[0.7, 0.3], [0.3, 0.7]], epsilon="0.8"))
    assert said.startswith("Refuted: output 0 is 2.33333 times as likely from 0 as from 1; 2.22554 times is allowed.")
    assert "0.847298" in said  # ln(7/3) = 0.8472978..., rounded up


counted = st.lists(st.integers(0, 10**9), min_size=1, max_size=12)


@settings(max_examples=40, deadline=None)
@given(counted, st.data())
def test_no_secret_count_is_shown(counts: list[int], data: st.DataObject) -> None:
    """Whatever the counts are replaced by, all that is shown stays the same, byte by byte."""
    other = data.draw(st.lists(st.integers(0, 10**9), min_size=len(counts), max_size=len(counts)))
    keys = [f"k{place:02}" for place in range(len(counts))]
    one, two = (dc.table(pa.table({"k": keys, "n": given}), count="n", keys=["k"]) for given in (counts, other))
    assert repr(one) == repr(two) and str(one) == str(two) and one._repr_html_() == two._repr_html_()
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(BadInput, match="secret"):
            pickle.dumps(one, protocol)
    assert copy.copy(one) is one and copy.deepcopy([one]) == [one]


@settings(max_examples=40, deadline=None)
@given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
def test_whatever_came_from_a_file_is_escaped(key: str, name: str) -> None:
    table = dc.table(pa.table({f"<{name}&": [f"<{key}>"], "n": [1]}), count="n", keys="all")
    page = table._repr_html_()
    assert f"<{key}>" not in page and f"<{name}&" not in page


def test_a_script_in_a_key_is_only_text() -> None:
    table = dc.table(pd.DataFrame({"k": [ANGRY, "b"], "n": [1, 2]}), count="n", keys=["k"])
    for value in (table, dc.release(table, 1), dc.plan(table, 1)):
        assert "<script" not in value._repr_html_()


def test_a_seeded_release_says_so() -> None:
    out = dc.release(cases(), 1, seed=1)
    for value in (out, out.guarantee):
        assert "NOT private" in value._repr_html_() and "NOT private" in str(value)


def test_pictures(values: dict[str, Any], tmp_path: Path) -> None:
    for name, value in values.items():
        if name in DRAWN:
            made = dc.plot(value, tmp_path / f"{name}.svg")
            assert (tmp_path / f"{name}.svg").read_text().count("<svg") == 1
            page = made._repr_html_()
            assert page.startswith('<div role="img" aria-label="The picture shows ') and "<svg" in page, name
    with pytest.raises(BadInput, match="a dict has none"):
        dc.plot({})
    assert dc.plot.figure is not None, "the module is there as well"


def test_plots_of_sums_and_of_questions() -> None:
    for options in ({"keep": "total"}, {"measure": "auto"}):
        out = dc.release(cases(), 1, **options)
        assert "total" in dc.plot(dc.estimate(out)).words
        assert dc.plot(out).words and dc.plot(dc.plan(cases(), 1, **options)).words


def test_a_comparison_has_one_scale() -> None:
    drawing = dc.compare(4, 1).drawing()
    maps = [ax for ax in drawing.axes if ax.images]
    bars = [ax for ax in drawing.axes if ax.patches and not ax.images and ax.get_xlabel() == "error"]
    assert len({ax.images[0].get_clim() for ax in maps}) == 1 and len(maps) == len(bars) > 4
    assert len({(ax.get_xlim(), ax.get_ylim()) for ax in bars}) == 1
    assert len(drawing.axes) == 2 * len(maps) + 1, "one bar of colours for all"


def test_every_method_of_an_evaluation_is_told_apart() -> None:
    from discreet.plot import STYLES, line_style

    many = len(STYLES) + 4
    styles = {
        tuple(sorted((k, str(v)) for k, v in line_style(n, many).items() if k != "linewidth")) for n in range(many)
    }
    assert len(styles) == many
    found = dc.evaluate(cases(), ["geometric", "transport", "uniform"], [1, 2], repeats=2, max_count=12, workers=1)
    drawing = found.drawing()
    assert all(ax.get_legend() is None for ax in drawing.axes) and len(drawing.legends) == 1
    assert {one.get_text() for one in drawing.legends[0].get_texts()} == {"geometric", "transport", "uniform"}


def test_axes_have_labels_that_do_not_collide() -> None:
    """Over less than a few times the same, axes are plain: labels of a logarithmic one stand on each other."""
    found = dc.evaluate(cases(), ["geometric", "transport"], [1], repeats=2, max_count=12, workers=1)
    drawing = found.drawing()
    drawing.canvas.draw()
    for ax in drawing.axes:
        boxes = [one.get_window_extent() for one in ax.get_xticklabels(which="both") if one.get_text()]
        shown = sorted(
            (box for box in boxes if box.width and ax.bbox.x0 <= box.x0 <= ax.bbox.x1), key=lambda box: box.x0
        )
        assert all(one.x1 <= two.x0 for one, two in pairwise(shown)), [box.x0 for box in shown]


def test_plan_without_epsilon_is_choose() -> None:
    table = cases()
    assert dc.plan(table) == dc.choose(table)
    assert dc.plan(table, max_count=12) == dc.choose(table, max_count=12)
    with pytest.raises(BadInput, match="privacy parameter"):
        dc.plan(table, keep="total")


def test_meanings_are_said_once() -> None:
    found = dc.choose(1000, epsilons=["0.03", "1"])
    assert found[0].means[0] == "1.03" and found[1].means[0] == "2.72"
    assert str(found).count("Whatever a reader believes") == 1 and "about 1.03" in found[0].meaning


def test_frames_of_every_kind_come_back() -> None:
    import duckdb
    import polars as pl

    lazy = dc.release(dc.table(pl.from_pandas(FRAME).lazy(), count="cases", keys=["county", "sex"]), 1).table
    assert isinstance(lazy, pl.LazyFrame) and lazy.collect().columns == ["county", "sex", "cases"]
    link = duckdb.connect()
    link.register("people", FRAME)
    relation = link.sql("select county, sex, sum(cases) as cases from people group by all")
    back = dc.release(dc.table(relation, count="cases", keys=["county", "sex"]), 1).table
    assert isinstance(back, duckdb.DuckDBPyRelation) and back.columns == ["county", "sex", "cases"]
    assert back.aggregate("count(*)").fetchall() == [(4,)]
    read = dc.table(relation, count="cases", keys=["county", "sex"])
    np.testing.assert_array_equal(read.counts, cases().counts)


def test_the_levels_of_an_index_are_columns() -> None:
    levels = FRAME.set_index(["county", "sex"])
    table = dc.table(levels, count="cases", keys=["sex", "county"])
    assert table.schema.keys == ("sex", "county") and sorted(table.counts) == [0, 3, 7, 12]
    assert list(dc.release(dc.table(levels, "cases", "all"), 1).table.columns) == ["county", "sex", "cases"]
    with pytest.raises(BadInput, match="has no name"):
        dc.table(levels.rename_axis([None, "sex"]), count="cases", keys="all")
    with pytest.raises(BadInput, match="name of a column"):
        dc.table(levels.assign(sex="x"), count="cases", keys="all")
    plain = FRAME[["county", "cases"]].iloc[[0, 2]].set_index(pd.Index(["u", "v"], name="who"))
    assert dc.table(plain, count="cases", keys="all").schema.keys == ("county",), "any other index stays behind"
    summed = FRAME.groupby("county")[["cases"]].sum()
    for keys in ("county", ["county"]):
        table = dc.table(summed, count="cases", keys=keys)
        assert table.schema.keys == ("county",) and table.counts.tolist() == summed["cases"].tolist(), (
            "unless it is named"
        )
    both = plain.assign(who=["x", "y"])
    assert dc.table(both, count="cases", keys=["who"]).schema.categories.column("who").to_pylist() == ["x", "y"]


def test_a_card_is_found_for_what_inherits() -> None:
    class Better(dc.Table[Any]):
        pass

    table = cases()
    assert card_of(Better(table.schema, table.counts)) == card_of(table)


@pytest.mark.parametrize("largest", [80, 3_000, 2_000_000])
def test_a_wide_range_has_numbers_that_can_be_read(largest: int) -> None:
    counts = np.linspace(0, largest, 70).astype(int)
    table = dc.table(pa.table({"k": [f"{i:02d}" for i in range(70)], "n": counts}), "n", keys=["k"])
    drawing = dc.plot(dc.release(table, 5, signed=True)).figure
    drawing.canvas.draw()
    labels = [one for one in drawing.axes[0].get_xticklabels() if one.get_text()]
    assert len(labels) >= 5 and "0" in {one.get_text() for one in labels}
    boxes = sorted((one.get_window_extent() for one in labels), key=lambda box: box.x0)
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes)), "none stands on another"


def test_an_entry_of_a_ledger_is_a_line(tmp_path: Path) -> None:
    from discreet.ledger import ledger

    book = ledger(str(tmp_path / "l.db"))
    book.create("d", epsilon=2)
    dc.release(dc.example(), "1/2", mechanism="signed-geometric", ledger=str(tmp_path / "l.db"), dataset="d")
    assert repr(book.history()[0]) == "<Entry 1 of 'd': epsilon = 0.5, charged, not released>"
