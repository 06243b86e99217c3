"""The whole way in a real browser, with a mouse, with the keyboard alone, on a phone, with and without a script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from tests.web.conftest import PICTURES, Running, workbook

PHONE = {"width": 375, "height": 740}
SMALL_PHONE = {"width": 360, "height": 640}
DESK = {"width": 1100, "height": 850}
PATIENCE = 60_000  # milliseconds: a machine may have other things to do

LOOK = """
() => {
  const problems = [];
  const named = (el) => (el.labels && el.labels.length) || el.getAttribute("aria-label") || el.title;
  for (const el of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
    if (!named(el)) problems.push("no label: " + el.outerHTML.slice(0, 80));
  for (const el of document.querySelectorAll("button, a"))
    if (!el.textContent.trim()) problems.push("no words: " + el.outerHTML.slice(0, 80));
  for (const el of document.querySelectorAll("svg[role=img]"))
    if (!el.querySelector("title")) problems.push("a picture without words");
  for (const el of document.querySelectorAll("img")) if (!el.alt) problems.push("an image without words");
  const ids = [...document.querySelectorAll("[id]")].map((el) => el.id);
  if (new Set(ids).size !== ids.length) problems.push("an id stands twice");
  if (document.querySelectorAll("h1").length !== 1) problems.push("not one h1");
  if (!document.documentElement.lang) problems.push("no language");
  if (document.documentElement.scrollWidth > innerWidth + 1) problems.push("wider than the screen");
  const parts = (colour) => colour.match(/[0-9.]+/g).map(Number);
  const light = (colour) => parts(colour).slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (el) => {
    for (; el; el = el.parentElement) {
      const colour = getComputedStyle(el).backgroundColor;
      const p = parts(colour);
      if (p.length < 4 || p[3] > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  for (const el of document.querySelectorAll("body *")) {
    const own = [...el.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !el.checkVisibility() || el.closest("svg") || el.classList.contains("skip")) continue;
    const [a, b] = [light(getComputedStyle(el).color), light(behind(el))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) problems.push("contrast " + ratio.toFixed(2) + ": " + el.outerHTML.slice(0, 80));
  }
  return problems;
}
"""


def opened(browser: Any, page: Running, size: dict[str, int], script: bool = True) -> Any:
    context = browser.new_context(viewport=size, java_script_enabled=script, device_scale_factor=1)
    name, value = page.cookie()
    context.add_cookies([{"name": name, "value": value, "url": page.base, "sameSite": "Strict"}])
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE)
    tab.complaints = []
    tab.on("console", lambda message: tab.complaints.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.on("request", lambda asked: None if asked.url.startswith(page.base) else tab.complaints.append(asked.url))
    tab.goto(page.base + "/")
    return tab


def looked_at(tab: Any, name: str) -> None:
    """A picture to keep; what is wrong with the page for those who cannot see it, or have a small screen."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    tab.screenshot(path=str(PICTURES / f"{name}.png"), full_page=True)
    assert tab.evaluate(LOOK) == []


def through(tab: Any, name: str, epsilon: str = "1") -> None:
    """From the table to the result."""
    tab.wait_for_url("**/table")
    looked_at(tab, f"{name}-1-table")
    tab.get_by_role("button", name="Go on").click()
    tab.wait_for_url("**/contents")
    for column in ("county",):
        tab.get_by_label(f"{column} is a key").check()
    looked_at(tab, f"{name}-2-contents")
    tab.get_by_role("button", name="Go on").click()
    tab.wait_for_url("**/keep")
    looked_at(tab, f"{name}-3-keep")
    tab.get_by_role("button", name="Go on to the plan").click()
    tab.get_by_text("Nothing is spent yet").wait_for()
    tab.get_by_label("I can accept that a count is off by").fill("1")
    tab.get_by_role("button", name="Which epsilon").click()
    tab.locator("#suggested").wait_for()
    assert tab.evaluate("document.activeElement.id") == "accepted"  # the answer stands below it, in view
    looked_at(tab, f"{name}-4-plan")
    tab.get_by_label("epsilon", exact=True).fill(epsilon)
    tab.get_by_role("button", name="Go on to the release").click()
    tab.wait_for_url("**/release")
    looked_at(tab, f"{name}-5-release")
    tab.get_by_role("button", name="Release now").dblclick()
    tab.wait_for_url("**/result")
    looked_at(tab, f"{name}-6-result")


@pytest.mark.parametrize(("name", "size"), [("desk", DESK), ("phone", PHONE)])
def test_the_example_from_upload_to_a_verified_folder(
    browser: Any, page: Running, name: str, size: dict[str, int]
) -> None:
    tab = opened(browser, page, size)
    before = set(page.folder.glob("*-release*"))
    looked_at(tab, f"{name}-0-start")
    tab.get_by_role("button", name="Try the example").click()
    through(tab, name)
    (made,) = set(page.folder.glob("*-release*")) - before
    digest = tab.locator("dd code").inner_text()
    assert dc.verify(made, digest).valid
    tab.reload()
    tab.get_by_role("heading", name="Released").wait_for()
    tab.go_back()
    assert len(set(page.folder.glob("*-release*")) - before) == 1
    with tab.context.expect_page() as report:
        tab.goto(page.base + f"/folder/{made.name}")
        tab.get_by_role("link", name="Open the report").click()
    report.value.wait_for_load_state()
    report.value.screenshot(path=str(PICTURES / f"{name}-7-report.png"), full_page=True)
    with report.value.expect_response("**/explore.html") as answered:
        report.value.get_by_role("link", name="explore.html").first.click()
    assert answered.value.status == 200, "a click in the report comes from the page itself"
    with tab.context.expect_page() as explored:
        tab.get_by_role("link", name="Ask it questions").click()
    said = explored.value.locator("#said")
    said.wait_for()
    assert "murders: " in said.inner_text() and "between" in said.inner_text()
    looked_at(explored.value, f"{name}-7-explore")
    tab.goto(page.base + "/ledger")
    looked_at(tab, f"{name}-8-ledger")
    assert tab.complaints == []
    tab.context.close()


def test_without_a_script_a_workbook_with_faults_is_told_and_then_released(
    browser: Any, page: Running, tmp_path: Path
) -> None:
    rows: list[list[object]] = [
        ["Cases by county"], ["county", "cases"], *([f"county {i}", i % 5] for i in range(40)), ["Total", 80],
        ["Oak", "<5"],
    ]  # fmt: skip
    tab = opened(browser, page, DESK, script=False)
    tab.get_by_label("A file of yours").set_input_files(workbook(tmp_path / "cases.xlsx", *rows))
    tab.get_by_role("button", name="Use this table").click()
    tab.get_by_text("42 rows").wait_for()
    tab.get_by_role("button", name="Go on").click()
    tab.get_by_label("cases holds counts").check()
    tab.get_by_label("county is a key").check()
    tab.get_by_role("button", name="Go on").click()
    told = tab.locator("#problem").inner_text()
    assert "row 43 (county = 'Total')" in told and "row 44, column 'cases' was suppressed" in told
    tab.screenshot(path=str(PICTURES / "desk-9-problems.png"), full_page=True)
    tab.get_by_label("Leave them out").check()
    tab.get_by_label("Counts up to this were suppressed").fill("4")
    tab.get_by_role("button", name="Go on").click()
    tab.wait_for_url("**/keep")
    tab.get_by_role("button", name="Go on to the plan").click()
    tab.get_by_text("Nothing is spent yet").wait_for()  # the page looks again by itself
    tab.get_by_role("button", name="Go on to the release").click()
    tab.get_by_role("button", name="Release now").click()
    tab.wait_for_url("**/result")
    assert dc.verify(page.folder / "cases-release").valid
    assert (page.folder / "cases-release" / "table.xlsx").is_file()
    tab.context.close()


def test_the_sentence_follows_the_answers_and_the_keyboard_is_enough(browser: Any, page: Running) -> None:
    tab = opened(browser, page, DESK)
    tab.get_by_role("button", name="Try the example").focus()
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/table")
    tab.get_by_role("button", name="Go on").focus()
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/contents")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "skip"
    reached = set()
    for _ in range(40):
        tab.keyboard.press("Tab")
        reached.add(tab.evaluate("document.activeElement.id || document.activeElement.name || ''"))
    assert {"count", "keys", "contributions", "totals-refuse"} <= reached
    assert "one row" in tab.locator("#protected").inner_text()
    tab.get_by_label("In how many rows").fill("3")
    tab.keyboard.press("Tab")
    tab.get_by_text("at most 3 rows").wait_for()
    assert tab.complaints == []
    tab.context.close()


FOCUSED = """
() => {
  const at = document.activeElement, place = at.getBoundingClientRect(), style = getComputedStyle(at);
  const label = at.labels && at.labels[0] ? at.labels[0].innerText : at.getAttribute("aria-label") || at.innerText;
  return {
    label: at === document.body ? "" : label.trim(), width: parseFloat(style.outlineWidth), line: style.outlineStyle,
    seen: place.bottom > 0 && place.top < innerHeight, wide: document.documentElement.scrollWidth - innerWidth,
  };
}
"""


def tab_to(tab: Any, label: str) -> None:
    """With the key alone; whatever has the focus on the way is seen to have it."""
    for _ in range(60):
        tab.keyboard.press("Tab")
        found = tab.evaluate(FOCUSED)
        if found["label"]:
            assert found["line"] != "none" and found["width"] >= 2 and found["seen"] and found["wide"] <= 1, found
        if found["label"].startswith(label):
            return
    raise AssertionError(f"{label} is not reached")


def entered(tab: Any, label: str) -> None:
    """A button, with the key alone, and the page that it leads to."""
    tab_to(tab, label)
    with tab.expect_navigation():
        tab.keyboard.press("Enter")


def test_a_newcomer_with_a_workbook_a_phone_and_the_keyboard_alone(browser: Any, page: Running, tmp_path: Path) -> None:
    """Two sheets, a title, thousands, a suppressed count and a total: from the file to a verified folder."""
    from openpyxl import Workbook

    book = Workbook()
    assert book.active is not None
    rows = ([f"county {i}", i % 5, 2000 + i] for i in range(20))
    ends = (["Ash", "1,204", 2000], ["Oak", "<5", 2001], ["Total", 1250])
    for row in (["Reported cases"], ["county", "cases", "area"], *rows, *ends):
        book.active.append(row)
    book.create_sheet("Notes").append(["nothing"])
    book.save(tmp_path / "cases by phone.xlsx")

    tab = opened(browser, page, SMALL_PHONE)
    tab_to(tab, "A file of yours")
    tab.get_by_label("A file of yours").set_input_files(tmp_path / "cases by phone.xlsx")  # the browser's own dialog
    entered(tab, "Use this table")
    tab.get_by_text("23 rows below").wait_for()  # of the first sheet, without asking
    assert tab.locator("#problem").count() == 0
    entered(tab, "Go on")
    for label in ("county is a key", "cases holds counts"):
        tab_to(tab, label)
        tab.keyboard.press("Space")
    assert not tab.get_by_role("textbox", name="Share of epsilon").count()  # with one column there is nothing to share
    assert (
        not tab.get_by_label("Share of epsilon").count() or not tab.get_by_label("Share of epsilon").first.is_visible()
    )
    entered(tab, "Go on")
    assert len(tab.locator("#problem p").all_inner_texts()) == 2  # of totals, of counts
    tab_to(tab, "There are none")
    tab.keyboard.press("ArrowDown")
    tab_to(tab, "Between thousands stands")  # its part of the page is open
    tab.keyboard.press("ArrowDown")
    tab_to(tab, "Counts up to this were suppressed")
    tab.keyboard.type("4")
    entered(tab, "Go on")
    tab.wait_for_url("**/keep")
    entered(tab, "Look what it means")
    tab.get_by_text("Any two tables that differ by one person").wait_for()
    assert tab.evaluate(LOOK) == []
    entered(tab, "Go on to the plan")
    tab.get_by_text("Nothing is spent yet").wait_for()
    entered(tab, "Go on to the release")
    entered(tab, "Release now")
    tab.wait_for_url("**/result")
    assert tab.evaluate(LOOK) == []
    assert dc.verify(page.folder / "cases-by-phone-release").valid
    tab_to(tab, "table.xlsx")
    with tab.expect_download() as kept:
        tab.keyboard.press("Enter")
    assert kept.value.suggested_filename == "table.xlsx"
    tab.goto(page.base + "/folder/cases-by-phone-release/report.html")
    assert tab.evaluate("document.documentElement.scrollWidth") <= SMALL_PHONE["width"]
    tab.context.close()


def test_a_page_that_looks_again_by_itself_takes_no_answers() -> None:
    """What is typed would be gone two seconds later."""
    from jinja2 import Environment, PackageLoader

    pages = Environment(loader=PackageLoader("discreet", "web/pages"), autoescape=True)
    pages.filters["digits"] = lambda number, digits: f"{number:.{digits}}"
    view = {"screen": "plan", "work": "w", "file": "f", "ready": False, "problem": None, "task": None, "datasets": []}
    waiting = pages.get_template("plan.html.jinja").render(view=view, csrf="c")
    assert 'http-equiv="refresh"' in waiting and "<form" not in waiting
    failed = pages.get_template("plan.html.jinja").render(view=view | {"problem": "It is too large."}, csrf="c")
    assert 'http-equiv="refresh"' not in failed and 'name="epsilon"' in failed
