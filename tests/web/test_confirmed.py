"""What is released is what was confirmed, whatever happens to files, ledgers and other tabs meanwhile."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest

import discreet as dc
from discreet.io.counted import write_counted
from discreet.web.answers import Answers
from discreet.web.app import Pages
from discreet.web.forms import FORMS
from discreet.web.guard import Keys
from discreet.web.work import PlanShown, Work
from tests.web.conftest import Running, csrf, workbook
from tests.web.test_browser import DESK, looked_at, opened
from tests.web.test_rules import ROWS, upload, wait


def confirmed(client: httpx.Client, work: str, token: str, **price: str) -> dict[str, Any]:
    """Planned, gone on to the release, and confirmed."""
    form = {"csrf": token, "epsilon": "1", **price}
    client.post(f"{work}/plan", data=form).raise_for_status()
    assert wait(client, f"{work}/plan.json", "ready")["problem"] is None
    client.post(f"{work}/plan", data={**form, "go": "1"}).raise_for_status()
    return {"csrf": token, "confirms": client.get(f"{work}/release.json").json()["confirms"]}


def test_what_is_released_is_the_file_that_was_looked_at(page: Running, tmp_path: Path) -> None:
    """Also where it was picked from the folder, and becomes another before the release is confirmed."""
    client, name = page.client(), tmp_path.name
    token = csrf(client.get("/").text)
    picked = page.folder / f"{name}.csv"
    picked.write_text("county,n\nAsh,3\nElm,5\n")
    work = str(client.post("/table", data={"csrf": token, "pick": picked.name}).url).rpartition("/")[0]
    client.post(f"{work}/contents", data={"csrf": token, "count": "n", "keys": "county"}).raise_for_status()
    client.post(f"{work}/keep", data={"csrf": token, "way": "rows"}).raise_for_status()
    form = confirmed(client, work, token)
    assert "Nothing is spent yet" in client.get(f"{work}/plan").text
    picked.write_text("county,n\nAsh,3\nElm,5\nOak,1\nYew,1\n")
    client.post(f"{work}/release", data=form).raise_for_status()
    assert wait(client, f"{work}/release.json", "done")["problem"] is None
    table = (page.folder / f"{name}-release" / "table.csv").read_text()
    assert "Elm" in table and "Oak" not in table
    for screen in ("table", "contents", "keep", "plan"):
        text = client.get(f"{work}/{screen}").text
        assert "do not change any more" in text and "Nothing is spent yet" not in text


def test_half_a_copy_of_a_picked_file_does_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Path, to: Path) -> None:
        to.write_text("county,n")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "uploads").mkdir()
    (tmp_path / "t.csv").write_text("county,n\nAsh,3\n")
    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(dc.BadInput, match=r"t\.csv was to be read: No space left"):
        Pages(Keys(), tmp_path / "uploads", tmp_path)._copied(tmp_path / "t.csv")
    assert not list((tmp_path / "uploads").iterdir())


def test_a_picked_file_keeps_what_is_known_of_its_persons(
    page: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))  # where this user's list is
    people = pa.table({"who": ["a", "a", "b"], "county": ["Ash", "Elm", "Ash"]})
    table = dc.count(people, by="county", universe={"county": ["Ash", "Elm"]}, person="who", bound=2)
    write_counted(table, page.folder / "counted.csv")
    client = page.client()
    token = csrf(client.get("/").text)
    work = str(client.post("/table", data={"csrf": token, "pick": "counted.csv"}).url).rpartition("/")[0]
    client.post(f"{work}/contents", data={"csrf": token, "count": "count", "keys": "county"}).raise_for_status()
    client.post(f"{work}/keep", data={"csrf": token, "way": "rows"}).raise_for_status()
    confirmed(client, work, token)
    assert "counted up to 2 times" in client.get(f"{work}/release.json").json()["guarantee"]


def test_a_ledger_that_is_emptied_after_the_plan_is_told_and_nothing_is_made(page: Running, tmp_path: Path) -> None:
    client, name = page.client(), tmp_path.name
    token = csrf(client.get("/ledger").text)
    client.post("/ledger", data={"csrf": token, "dataset": name, "epsilon": "1"}).raise_for_status()
    forms = []
    for one in ("first", "second"):
        work, _ = upload(client, workbook(tmp_path / f"{name}-{one}.xlsx", ["county", "n"], *ROWS))
        client.post(f"{work}/contents", data={"csrf": token, "count": "n", "keys": "county"}).raise_for_status()
        client.post(f"{work}/keep", data={"csrf": token, "way": "rows"}).raise_for_status()
        forms.append((work, confirmed(client, work, token, dataset=name)))
    views = []
    for work, form in forms:
        client.post(f"{work}/release", data=form).raise_for_status()
        views.append(wait(client, f"{work}/release.json", "done"))
    assert views[0]["problem"] is None and "left" in views[1]["problem"] and not views[1]["done"]
    assert [path.name for path in page.folder.glob(f"{name}-*-release*")] == [f"{name}-first-release"]
    assert len([one for one in client.get("/ledger.json").json()["history"] if one["dataset"] == name]) == 1


def about_to_disclose(page: Running, file: Path, note: str = "") -> tuple[httpx.Client, str, dict[str, str]]:
    """A table of three places with the count of one kept, ready to be confirmed."""
    client, name = page.client(), file.stem
    token = csrf(client.get("/ledger").text)
    client.post("/ledger", data={"csrf": token, "dataset": name, "epsilon": "9"}).raise_for_status()
    work, _ = upload(client, workbook(file, ["county", "n"], ["Ash", 3], ["Elm", 5], ["Oak", 7]))
    client.post(f"{work}/contents", data={"csrf": token, "count": "n", "keys": "county"}).raise_for_status()
    client.post(f"{work}/keep", data={"csrf": token, "way": "sums", "more": "sum:county=Ash"}).raise_for_status()
    return client, work, confirmed(client, work, token, dataset=name, note=note)


def test_what_sums_give_away_is_accepted_once_it_was_shown_and_is_recorded(page: Running, tmp_path: Path) -> None:
    client, work, form = about_to_disclose(page, tmp_path / f"{tmp_path.name}.xlsx", "agreed")
    name, box = tmp_path.name, 'name="accept_disclosure"'

    def entries() -> list[Any]:
        return [one for one in client.get("/ledger.json").json()["history"] if one["dataset"] == name]

    assert box not in client.get(f"{work}/release").text, "nobody accepts what is not known yet"
    assert client.post(f"{work}/release", data={**form, "accept_disclosure": "on"}).status_code == 422
    for _ in range(2):  # it takes a word each time: to confirm again is none
        client.post(f"{work}/release", data=form).raise_for_status()
        view = wait(client, f"{work}/release.json", "done")
        assert "county = Ash (exactly)" in view["problem"] and view["disclosure"]
    text = client.get(f"{work}/release").text
    assert box in text and "checked" not in text and "county = Ash (exactly)" in text
    for wrong in ("on", "", "x" * 32):
        assert client.post(f"{work}/release", data={**form, "accept_disclosure": wrong}).status_code == 422
    assert entries() == [] and not list(page.folder.glob(f"{name}-release*"))

    client.post(f"{work}/release", data={**form, "accept_disclosure": view["disclosure"]}).raise_for_status()
    assert wait(client, f"{work}/release.json", "done")["problem"] is None
    (entry,) = entries()
    assert entry["released"] and entry["accepted"] == "1 row: county = Ash (exactly)" and entry["note"] == "agreed"
    (held,) = dc.ledger(str(page.folder / "ledger.db")).history(name)
    assert held.disclosure.exact == 1 and [dict(one.keys) for one in held.disclosure.cells] == [{"county": "Ash"}]
    result = client.get(f"{work}/result.json").json()
    assert result["valid"] and "accept_disclosure = true" in result["toml"]
    assert "1 row: county = Ash (exactly)" in client.get("/ledger").text


def test_what_was_accepted_is_accepted_of_these_answers_only(page: Running, tmp_path: Path) -> None:
    client, work, form = about_to_disclose(page, tmp_path / f"{tmp_path.name}.xlsx")
    client.post(f"{work}/release", data=form).raise_for_status()
    shown = wait(client, f"{work}/release.json", "done")["disclosure"]
    token = form["csrf"]
    client.post(f"{work}/keep", data={"csrf": token, "way": "sums", "more": "sum:county=Elm"}).raise_for_status()
    again = confirmed(client, work, token, dataset=tmp_path.name)
    assert client.get(f"{work}/release.json").json()["disclosure"] is None
    for sent in (form, again):
        assert client.post(f"{work}/release", data={**sent, "accept_disclosure": shown}).status_code == 422
    client.post(f"{work}/release", data=again).raise_for_status()
    other = wait(client, f"{work}/release.json", "done")
    assert "county = Elm (exactly)" in other["problem"] and other["disclosure"] != shown
    assert client.post(f"{work}/release", data={**again, "accept_disclosure": shown}).status_code == 422
    assert not list(page.folder.glob(f"{tmp_path.name}-release*"))


def test_what_more_is_given_away_since_another_release_was_not_accepted(page: Running, tmp_path: Path) -> None:
    client, work, form = about_to_disclose(page, tmp_path / f"{tmp_path.name}.xlsx")
    client.post(f"{work}/release", data=form).raise_for_status()
    first = wait(client, f"{work}/release.json", "done")
    assert "county = Ash (exactly)" in first["problem"]
    same = dc.table(pa.table({"county": ["Ash", "Elm", "Oak"], "n": [3, 5, 7]}), "n", "county")
    book = dc.ledger(str(page.folder / "ledger.db"))
    dc.release(same, 1, keep=[dc.sums([[1, 1, 0]])], ledger=book, dataset=tmp_path.name)
    client.post(f"{work}/release", data={**form, "accept_disclosure": first["disclosure"]}).raise_for_status()
    second = wait(client, f"{work}/release.json", "done")
    assert "county = Elm (exactly)" in second["problem"] and second["disclosure"] != first["disclosure"]
    assert len(book.history(tmp_path.name)) == 1 and not list(page.folder.glob(f"{tmp_path.name}-release*"))
    client.post(f"{work}/release", data={**form, "accept_disclosure": second["disclosure"]}).raise_for_status()
    assert wait(client, f"{work}/release.json", "done")["problem"] is None
    assert book.history(tmp_path.name)[-1].disclosure.exact == 2


def test_it_is_accepted_in_a_browser_by_ticking_a_box(browser: Any, page: Running, tmp_path: Path) -> None:
    _, work, _ = about_to_disclose(page, tmp_path / f"{tmp_path.name}.xlsx")
    tab = opened(browser, page, DESK)
    tab.goto(f"{work}/release")
    box = tab.get_by_label("I accept that this is given away")
    assert box.count() == 0
    tab.get_by_role("button", name="Release now").click()
    tab.get_by_text("county = Ash (exactly)").wait_for()
    assert not box.is_checked()
    looked_at(tab, "desk-5-accept")
    box.check()
    tab.get_by_role("button", name="Release now").click()
    tab.wait_for_url("**/result")
    (made,) = page.folder.glob(f"{tmp_path.name}-release*")
    assert dc.verify(made).valid and tab.complaints == []
    tab.context.close()


def test_another_tab_sees_answers_and_plan_of_one_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who changes them holds the lock, also while the plan is taken over for the same epsilon."""
    work = Work("key", "t.csv", Answers(tmp_path / "t.csv"), described=True)
    work.planned = PlanShown(work.answers, "", (), (), 1, (), None)  # type: ignore[arg-type]
    held: list[bool] = []

    def changed(self: Work, answers: Answers) -> None:
        held.append(self.lock._is_owned())  # type: ignore[attr-defined]
        self.answers, self.planned = answers, None

    monkeypatch.setattr(Work, "change", changed)
    FORMS["plan"](None, None, work, {"epsilon": ["1"], "format": ["csv"], "go": ["1"]})  # type: ignore[arg-type]
    assert held == [True] and work.planned is not None and work.answers.format == "csv"
