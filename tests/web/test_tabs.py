"""Going back, and two tabs of one table: no form is sent twice, and what is confirmed is what is released, once."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from discreet.spec.values import TableSpec
from discreet.web.answers import Answers
from discreet.web.forms import FORMS
from discreet.web.work import Work
from tests.web.conftest import Running, csrf, workbook
from tests.web.test_browser import DESK, opened
from tests.web.test_confirmed import confirmed
from tests.web.test_rules import upload, wait

ROWS = [["county", "sex", "n", "m"], *([f"county {i}", sex, i % 4, i % 3] for i in range(8) for sex in ("f", "m"))]
STEPS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # what the first tab says at each, and the second
    "table": ({}, {"header_row": "1"}),
    "contents": ({"count": "n", "keys": ["county", "sex"]}, {"count": "m", "keys": ["county", "sex"]}),
    "keep": ({"way": "rows"}, {"way": "rows", "mechanism": "signed-geometric"}),
    "plan": ({"epsilon": "1"}, {"epsilon": "1/2"}),
}


def test_every_form_is_answered_by_another_address(page: Running, tmp_path: Path) -> None:
    """Also one that is refused; the page then tells, with what stood in the form."""
    client = page.client()
    work, token = upload(client, workbook(tmp_path / "t.xlsx", *ROWS))
    plain = httpx.Client(base_url=page.base, headers={"origin": page.base}, cookies=client.cookies)
    refused: list[tuple[str, dict[str, Any], str, str]] = [
        ("contents", {"keys": ["county"], "contributions": "3"}, "no column of counts", 'value="3" placeholder="1"'),
        ("contents", {"count": "n", "keys": ["county"]}, "same keys", 'aria-label="n holds counts" checked'),
        ("table", {"header_row": "one"}, "not a whole number", 'value="one"'),
        ("table", {"header_row": "90"}, "90", 'value="90"'),
    ]
    for name, form, problem, kept in refused:
        answer = plain.post(f"{work}/{name}", data={"csrf": token, **form})
        assert answer.status_code == 303 and answer.headers["location"] == httpx.URL(f"{work}/{name}").path
        for shown in (client.get(f"{work}/{name}"), client.get(f"{work}/{name}")):  # a reload tells it, too
            assert shown.status_code == 422 and problem in shown.text and kept in shown.text, (name, shown.text)
        assert problem in client.get(f"{work}/{name}.json").json()["problem"]
    for name, (form, _) in list(STEPS.items())[:3]:
        assert client.post(f"{work}/{name}", data={"csrf": token, **form}).status_code == 200
    assert wait(client, f"{work}/plan.json", "ready")["problem"] is None
    later: list[tuple[str, dict[str, Any], str, str]] = [
        ("keep", {"way": "sums"}, "none is chosen", 'value="sums" checked'),
        ("plan", {"epsilon": "much"}, "epsilon", 'value="much"'),
        ("release", {"confirms": "x"}, "in another tab", "Errors to expect at epsilon 1<"),
    ]
    for name, form, problem, kept in later:
        answer = plain.post(f"{work}/{name}", data={"csrf": token, **form})
        shown = client.get(answer.headers["location"])
        assert answer.status_code == 303 and shown.status_code == 422 and problem in shown.text and kept in shown.text
    assert client.post(f"{work}/plan", data={"csrf": token, "epsilon": "1"}).status_code == 200, "it is told no more"
    assert plain.post(f"{work}/keep", data={"csrf": token, "way": "rows", "look": "1"}).status_code == 303
    for path, form, problem in (
        ("/table", {}, "No file was chosen"), ("/ledger", {"dataset": "d", "epsilon": "x"}, "epsilon"),
    ):  # fmt: skip
        answer = plain.post(path, data={"csrf": token, **form})
        shown = client.get(answer.headers["location"])
        assert answer.status_code == 303 and shown.status_code == 422 and problem in shown.text
        assert client.get(answer.headers["location"]).status_code == 200, "told once"


def test_back_onto_a_refused_form_sends_nothing(browser: Any, page: Running, tmp_path: Path) -> None:
    tab = opened(browser, page, DESK)
    tab.get_by_label("A file of yours").set_input_files(str(workbook(tmp_path / "t.xlsx", *ROWS)))
    tab.get_by_role("button", name="Use this table").click()
    tab.wait_for_url("**/table")
    tab.get_by_role("button", name="Go on").click()
    tab.wait_for_url("**/contents")
    tab.get_by_label("county is a key").check()
    tab.get_by_role("button", name="Go on").click()
    tab.get_by_text("no column of counts is chosen").wait_for()
    assert tab.get_by_label("county is a key").is_checked()
    tab.get_by_role("link", name="Ledger").click()
    tab.wait_for_url("**/ledger")
    sent: list[str] = []
    tab.on("request", lambda asked: sent.append(asked.method))
    tab.go_back()
    tab.get_by_role("heading", name="What is in it").wait_for()
    assert sent and set(sent) == {"GET"}
    tab.context.close()


def walked(client: httpx.Client, work: str, token: str, who: int, dataset: str, first: str = "table") -> dict[str, Any]:
    """From a step on to the page of the release, with the answers of one tab: what is confirmed there."""
    names = list(STEPS)
    for name in names[names.index(first) : -1]:
        client.post(f"{work}/{name}", data={"csrf": token, **STEPS[name][who]}).raise_for_status()
    return confirmed(client, work, token, dataset=dataset, **STEPS["plan"][who])


@pytest.mark.parametrize("step", list(STEPS))
def test_two_tabs_release_what_one_of_them_confirmed_and_once(page: Running, tmp_path: Path, step: str) -> None:
    """One tab is ready to confirm; the other goes back to a step and says otherwise there, and in all that follow."""
    one, two, name = page.client(), page.client(), tmp_path.name
    token = csrf(one.get("/ledger").text)
    one.post("/ledger", data={"csrf": token, "dataset": name, "epsilon": "5"}).raise_for_status()
    work, _ = upload(one, workbook(tmp_path / f"{name}.xlsx", *ROWS))

    def entries() -> list[Any]:
        return [entry for entry in one.get("/ledger.json").json()["history"] if entry["dataset"] == name]

    early = walked(one, work, token, 0, name)
    two.post(f"{work}/{step}", data={"csrf": token, **STEPS[step][1]}).raise_for_status()
    assert one.post(f"{work}/release", data=early).status_code == 422, "what it shows is not planned any more"
    assert entries() == [] and not list(page.folder.glob(f"{name}-release*"))
    late = walked(two, work, token, 1, name, step)
    promised = two.get(f"{work}/release.json").json()
    clicks = [(one, early), (two, late)] * 3
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda click: click[0].post(f"{work}/release", data=click[1]), clicks))
    assert wait(two, f"{work}/release.json", "done")["problem"] is None
    for tab, form in clicks:
        assert tab.post(f"{work}/release", data=form).url.path.endswith("/result"), "the same release"
    for again, (form, other) in STEPS.items():
        for said in (form, other):
            assert one.post(f"{work}/{again}", data={"csrf": token, **said}).status_code == 422
    (entry,) = entries()
    assert entry["released"] and entry["charged"] == promised["charged"] == "epsilon 0.5"
    (folder,) = page.folder.glob(f"{name}-release*")
    record = json.loads((folder / "release.json").read_text())
    assert promised["guarantee"] in (folder / "report.html").read_text().replace("&#39;", "'")
    assert record["schema"]["count"] == promised["columns"][-1]


def test_what_is_said_meanwhile_is_not_taken_for_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work("key", "t.csv", Answers(tmp_path / "t.csv"))

    def read(_: Any) -> None:
        work.change(Answers(tmp_path / "t.csv", count=("m",)))  # another tab

    monkeypatch.setattr(TableSpec, "read", read)
    FORMS["contents"](None, None, work, {"count": ["n"]})  # type: ignore[arg-type]
    assert not work.described and work.answers.count == ("m",)


def test_another_place_in_the_file_is_to_be_described_anew(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a note,\ncounty,n\nAsh,3\n")
    work = Work("key", "t.csv", Answers(tmp_path / "t.csv", header_row=2), described=True)
    FORMS["table"](None, None, work, {"header_row": ["2"]})  # type: ignore[arg-type]
    assert work.described
    FORMS["table"](None, None, work, {"header_row": ["1"]})  # type: ignore[arg-type]
    assert not work.described
