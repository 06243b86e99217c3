"""The analyst's page: its data is what `estimate` answers, its script is known, and no key or word does anything."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.io.folder import read_folder
from discreet.report import analysis, explore, prepared
from discreet.report.known import KNOWN_ANALYSES, KNOWN_SHELLS, digest_of
from tests.report.questions import by_every_set, by_row, can_be_asked
from tests.tampering.folders import KINDS, honest

GOLDEN = Path(__file__).parents[1] / "golden"
FOLDERS = sorted(path for path in GOLDEN.iterdir() if (path / "explore.html").is_file())
KEYS = ["county", "sex"]
HOSTILE = (
    "</script><script>alert(1)</script>", '"', "'", "\\", "\u2028\u2029", "=1+1", "@SUM(A1)", "＝1", "\u202e\u200f",
    "<!--", "]]>", "&amp;", "<b>", "-->", "\x7f", "\U0001f600", "a,b", "tab\tbed", "%00", "{{ 7*7 }}", "${x}",
)  # fmt: skip


def test_the_shell_and_the_script_are_known() -> None:
    """Whoever changes one of them adds its digest: `python tools/scripts.py`."""
    assert explore.digest_of_shell(*explore.shell()) in KNOWN_SHELLS
    assert digest_of(analysis()) in KNOWN_ANALYSES


def asked_of(data: Mapping[str, Any]) -> dict[tuple[str, ...], dict[tuple[str, ...], tuple[float, float, float, bool]]]:
    """The answers on a page, read without its script."""
    found = {}
    for one in data["asked"]:
        columns = tuple(data["keys"][place] for place in one["by"])
        found[columns] = numbered(data, one["by"], one["groups"], one["numbers"])
    return found


def numbered(data: Mapping[str, Any], by: list[int], groups: Any, numbers: Any) -> Any:
    size = len(numbers["estimate"])
    exact = numbers["exact"] if isinstance(numbers["exact"], list) else [numbers["exact"]] * size
    names = [tuple(data["values"][column][groups[k][i]] for k, column in enumerate(by)) for i in range(size)]
    ends = zip(numbers["estimate"], numbers["low"], numbers["high"], map(bool, exact))
    return dict(zip(names, ends, strict=True))


def same(one: Any, other: Any) -> bool:
    return one.keys() == other.keys() and all(
        one[name][3] == other[name][3] and np.allclose(one[name][:3], other[name][:3], atol=1e-4) for name in one
    )


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_the_page_has_every_answer_and_no_other(folder: Path, tmp_path: Path) -> None:
    publication = read_folder(folder)
    data = explore.data_of(explore.render(publication))
    view = can_be_asked(folder)
    if view is None:
        assert not data["asked"] and data["missing"] and data["rows"]["numbers"] is None
    else:
        expected, found = by_every_set(view, data["keys"]), asked_of(data)
        assert data["cut"] == str(view.cut)
        assert expected.keys() == found.keys()
        assert all(same(expected[columns], found[columns]) for columns in expected)
        rows = data["rows"]
        places = list(range(len(data["keys"])))
        told = {} if rows["numbers"] is None else numbered(data, places, rows["groups"], rows["numbers"])
        assert same(by_row(view, data["keys"]), told)
    assert data["rows"]["published"] == publication.counts.tolist()


def test_a_large_table_has_totals_alone_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where noises are independent also by columns of few values, and by two of these; without its rows."""
    monkeypatch.setattr(prepared, "MOST_ROWS", 5)
    monkeypatch.setattr(prepared, "MOST_VALUES", 8)
    table = two_keys([f"a{k}" for k in range(4)], ["u", "v"])
    many = two_keys([f"a{k}" for k in range(9)], ["u", "v"])
    for out, sets in (
        (dc.release(table, 1, max_count=20), [(), ("one",), ("other",), ("one", "other")]),
        (dc.release(many, 1, max_count=20), [(), ("other",)]),
        (dc.release(table, 1, keep="total"), [()]),
    ):
        data = explore.data_of(explore.render(out.publication))
        assert data["rows"] is None and any("more than this page holds" in line for line in data["reading"])
        expected = by_every_set(dc.estimate(out), ["one", "other"])
        assert asked_of(data).keys() == set(sets)
        assert all(same(expected[columns], found) for columns, found in asked_of(data).items())


def test_a_release_in_parts_has_its_total(tmp_path: Path) -> None:
    frame = pa.table({"row": [f"r{k:03d}" for k in range(300)], "n": [k % 7 for k in range(300)]})
    (tmp_path / "in").mkdir()
    for k in range(2):
        pq.write_table(frame.slice(150 * k, 150), tmp_path / "in" / f"part-{k}.parquet")
    dc.release_parts(tmp_path / "in", "n", ["row"], out=tmp_path / "out", epsilon=1)
    data = explore.data_of((tmp_path / "out" / "explore.html").read_text())
    total = dc.estimate(tmp_path / "out").total()
    assert data["rows"] is None and [one["by"] for one in data["asked"]] == [[]]
    assert data["asked"][0]["numbers"]["estimate"] == [pytest.approx(total.estimate, abs=1e-4)]


def test_what_does_not_fit_is_left_out_small_sets_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "MOST_ANSWERS", 20)
    out = dc.release(two_keys(["a", "b", "c"], list("uvwxyz")), 1, mechanism="geometric")
    data = explore.data_of(explore.render(out.publication))
    assert [one["by"] for one in data["asked"]] == [[], [0], [1]]
    assert any("Some combinations" in line for line in data["reading"])


def two_keys(one: list[str], other: list[str]) -> dc.Table:
    names = [(a, b) for a in one for b in other]
    frame = {"one": [a for a, _ in names], "other": [b for _, b in names], "n": [k % 5 for k in range(len(names))]}
    return dc.table(pa.table(frame), "n", keys=["one", "other"], rows_are_disjoint=True)


class Tags(HTMLParser):
    """How a browser would see it, roughly: the tags."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Any] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append((tag, attrs))


def tags(page: str) -> list[Any]:
    reader = Tags()
    reader.feed(page)
    return reader.found


text = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=20)


@settings(max_examples=25, deadline=None)
@given(st.lists(text | st.sampled_from(HOSTILE), min_size=2, max_size=4, unique=True), text | st.sampled_from(HOSTILE))
def test_no_key_and_no_word_can_do_anything(keys: list[str], word: str) -> None:
    """Whatever they are, the page has the tags of its shell, and its data says them as they are."""
    about = dc.About(title=word, source=word, note=word)
    out = dc.release(two_keys(keys, ["x"]), 1, mechanism="geometric", about=about, seed=1)
    page = explore.render(out.publication)
    before, after = explore.shell()
    assert tags(page) == tags(before + "{}" + after)
    content = page[len(before) : len(page) - len(after)]
    assert not re.search(r"[<>&]|[^\x00-\x7f]", content)
    data = json.loads(content)
    assert data["title"] == word and sorted(data["values"][0]) == sorted(keys)


def test_a_page_that_loads_nothing_and_runs_one_script() -> None:
    page = explore.render(dc.release(dc.example(), 1, max_count=20).publication)
    assert page.count("<script>") == 1 and "http:" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "default-src 'none'" in page and "unsafe" not in page
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|fetch\(", page)


@pytest.mark.parametrize("kind", ["keep-distribution", "workbook", "parquet", "measure"])
def test_the_files_it_names_are_there(kind: str) -> None:
    assert kind in KINDS
    files = honest(kind).contents.files
    data = explore.data_of(files["explore.html"].decode())
    assert {name for name, _ in data["files"]} == set(files)
