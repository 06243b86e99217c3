"""explore.html in a real browser, from the disk: what it shows is what `estimate` answers, for every way."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.io.folder import read_folder
from discreet.report.explore import render
from tests.report.questions import by_every_set, by_row, can_be_asked
from tests.report.test_explore import FOLDERS, HOSTILE, two_keys
from tests.web.test_browser import DESK, LOOK, PATIENCE, PHONE, PICTURES


@pytest.fixture(scope="module")
def context(browser: Any) -> Iterator[Any]:
    opened = browser.new_context(viewport=DESK, accept_downloads=True)
    yield opened
    opened.close()


def opened(context: Any, page: Path) -> Any:
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE)
    tab.complaints = []
    tab.on("console", lambda message: tab.complaints.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.on("dialog", lambda dialog: (tab.complaints.append("a dialog"), dialog.dismiss()))
    tab.on(
        "request", lambda asked: None if asked.url.startswith(("file:", "blob:")) else tab.complaints.append(asked.url)
    )
    tab.goto(page.as_uri())
    return tab


def downloaded(tab: Any) -> list[dict[str, str]]:
    with tab.expect_download() as file:
        tab.get_by_role("button", name="Download as CSV").click()
    text = Path(file.value.path()).read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def numbers(row: dict[str, str]) -> tuple[float, float, float, bool]:
    exact = row["low"] == "exact"
    middle = float(row["estimate"])
    return (middle, middle, middle, True) if exact else (middle, float(row["low"]), float(row["high"]), False)


def same(expected: Any, rows: list[dict[str, str]], columns: tuple[str, ...]) -> bool:
    found = {tuple(row[name] for name in columns): numbers(row) for row in rows}
    return expected.keys() == found.keys() and all(
        np.allclose(expected[name][:3], found[name][:3], atol=1e-4) and expected[name][3] == found[name][3]
        for name in found
    )


def ask(tab: Any, keys: list[str], by: tuple[str, ...], where: dict[str, str]) -> None:
    tab.get_by_label("Totals, by the columns").check()
    for place, name in enumerate(keys):
        tab.locator(f"#by-{place}").set_checked(name in by)
        tab.locator(f"#where-{place}").select_option(label=where.get(name, "(any)"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_every_answer_is_that_of_estimate(context: Any, folder: Path, tmp_path: Path) -> None:
    publication, view = read_folder(folder), can_be_asked(folder)
    page = tmp_path / "explore.html"
    page.write_text(render(publication), encoding="utf-8")
    keys = list(publication.record.schema.keys)
    tab = opened(context, page)
    if view is None:
        assert tab.locator("#missing").is_visible() and tab.locator("#what-totals").is_disabled()
        assert [row["published"] for row in downloaded(tab)] == [str(count) for count in publication.counts]
    else:
        for columns, expected in by_every_set(view, keys).items():
            ask(tab, keys, columns, {})
            assert same(expected, downloaded(tab), columns), columns
            if columns:
                last, one = columns[-1], next(iter(expected))[-1]
                ask(tab, keys, columns[:-1], {last: one})
                some = {name[:-1]: found for name, found in expected.items() if name[-1] == one}
                assert same(some, downloaded(tab), columns[:-1]), (columns, one)
        if rows := by_row(view, keys):
            ask(tab, keys, (), {})
            tab.get_by_label("Rows of the table").check()
            assert same(rows, downloaded(tab), tuple(keys))
    assert tab.complaints == []
    tab.close()


def test_of_several_values_there_is_a_total_for_each(context: Any, tmp_path: Path) -> None:
    out = dc.release(two_keys(["a", "b", "c"], ["x", "y"]), 1, mechanism="geometric", seed=1)
    out.save(tmp_path / "out")
    tab, view = opened(context, tmp_path / "out" / "explore.html"), dc.estimate(out)
    tab.locator("#where-0").select_option(label=["a", "c"])
    tab.locator("#where-1").select_option(label="y")
    expected = {
        (name,): (one.estimate, *one.interval, one.exact) for name, one in view.where(other="y").by("one").items()
    }
    assert same({name: expected[name] for name in [("a",), ("c",)]}, downloaded(tab), ("one",))
    assert "where one is a or c and other is y" in tab.locator("#said").inner_text()
    tab.get_by_label("Rows of the table").check()
    assert [(row["one"], row["other"]) for row in downloaded(tab)] == [("a", "y"), ("c", "y")]
    assert tab.complaints == []
    tab.close()


def test_numbers_are_beside_keys_of_the_same_names(context: Any, tmp_path: Path) -> None:
    frame = pa.table({"estimate": ["a", "b"], "published": ["x", "y"], "n": [3, 4]})
    dc.release(dc.table(frame, "n", keys=["estimate", "published"]), 1, seed=1).save(tmp_path / "out")
    tab = opened(context, tmp_path / "out" / "explore.html")
    tab.get_by_label("Rows of the table").check()
    rows = downloaded(tab)
    assert list(rows[0]) == ["estimate", "published", "published_", "estimate_", "low", "high"]
    assert [row["estimate"] for row in rows] == ["a", "b"] and tab.complaints == []
    tab.close()


@pytest.mark.parametrize(("name", "size"), [("desk", DESK), ("phone", PHONE)])
def test_it_can_be_read_by_everybody(browser: Any, name: str, size: dict[str, int], tmp_path: Path) -> None:
    about = dc.About("Murders by county", "a register", "office@example.org", "CC BY 4.0", "For a test.")
    dc.release(dc.example(), 1, max_count=20, about=about).save(tmp_path / "out")
    context = browser.new_context(viewport=size)
    tab = opened(context, tmp_path / "out" / "explore.html")
    PICTURES.mkdir(parents=True, exist_ok=True)
    assert tab.evaluate(LOOK) == []
    tab.locator("#by-0").focus()
    tab.keyboard.press("Space")
    tab.locator("svg[role=img] desc").wait_for(state="attached")
    tab.get_by_label("Order").select_option("large")
    assert "totals by county" in tab.locator("#said").inner_text()
    tab.screenshot(path=str(PICTURES / f"{name}-explore.png"), full_page=True)
    assert tab.evaluate(LOOK) == [] and tab.complaints == []
    context.close()


def test_hostile_keys_do_nothing(context: Any, tmp_path: Path) -> None:
    about = dc.About(title=HOSTILE[0], source="<img src=x onerror=alert(1)>")
    out = dc.release(two_keys([*HOSTILE], ["x", HOSTILE[0]]), 1, mechanism="geometric", about=about, seed=1)
    out.save(tmp_path / "out")
    tab = opened(context, tmp_path / "out" / "explore.html")
    assert tab.locator("h1").inner_text() == HOSTILE[0]
    tab.locator("#by-0").check()
    marked = {("'" + key if key[0] in "=+-@＝" else key) for key in HOSTILE}
    assert {row["one"] for row in downloaded(tab)} == marked
    assert tab.locator("script").count() == 2 and tab.locator("img").count() == 0 and tab.complaints == []
    tab.close()


def test_a_forged_script_does_not_run(context: Any, tmp_path: Path) -> None:
    """The page's own policy stops what was put in beside its script."""
    page = render(dc.release(dc.example(), 1, max_count=20).publication)
    forged = page.replace("<main>", "<main><script>document.title = 'forged'</script>")
    (tmp_path / "explore.html").write_text(forged, encoding="utf-8")
    tab = opened(context, tmp_path / "explore.html")
    assert "forged" not in tab.title() and any("Content Security Policy" in one for one in tab.complaints)
    tab.close()
