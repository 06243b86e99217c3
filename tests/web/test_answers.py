"""What is said on the pages as the values of a release: shares, nested levels, properties of a mechanism."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.build.structure import structural_properties
from discreet.errors import BadInput
from discreet.mechanism import Mechanism
from discreet.run import run
from discreet.spec.read import read_spec
from discreet.web import screens
from discreet.web.answers import Answers, with_contents, with_keeping
from discreet.web.app import MECHANISM, Pages, _toml
from discreet.web.designed import PROPERTIES
from discreet.web.guard import Keys
from discreet.web.work import Chore, Made, Work, make_plan


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [f"state {i // 4},county {i},{i % 7},{i % 3}" for i in range(24)]
    (tmp_path / "t.csv").write_text("\n".join(["state,county,births,deaths", *rows]) + "\n")
    return tmp_path / "t.csv"


def said(table: Path, contents: dict[str, Any], keep: dict[str, Any]) -> Answers:
    lists = [{name: one if isinstance(one, list) else [one] for name, one in form.items()} for form in (contents, keep)]
    return with_keeping(with_contents(Answers(table), {"keys": ["state", "county"], **lists[0]}, None), lists[1])


def test_shares_are_said_beside_the_columns(table: Path, tmp_path: Path) -> None:
    counts = {"count": ["births", "deaths"], "share births": "3/4", "share deaths": " 1/4 ", "share county": "1/9"}
    answers = said(table, counts, {"way": "distribution"})
    assert answers.table().count == "births@3/4,deaths@1/4"
    made, _ = run(answers.release(tmp_path / "out", tmp_path / "ledger.db"))
    assert made.record.way == "by-share" and dc.verify(tmp_path / "out").valid
    assert screens.contents(Work("key", "t.csv", answers))["shares"] == {"births": "3/4", "deaths": "1/4"}
    totals = screens.analyst(tmp_path / "out")["estimates"]  # births and deaths have no total together
    assert [one["question"] for one in totals] == ["total, births", "total, deaths"]
    assert all(re.fullmatch(r"-?\d+ \(between -?\d+ and -?\d+, 95%\)", one["answer"]) for one in totals), totals
    with pytest.raises(BadInput, match="add up to 1"):
        said(table, {**counts, "share deaths": "1/2"}, {}).table().read_schema()
    assert said(table, {"count": "births", "share births": "1/3"}, {}).table().count == "births"


def test_nested_levels_are_named(table: Path, tmp_path: Path) -> None:
    answers = said(table, {"count": "births"}, {"way": "levels", "levels": "state, county"})
    assert answers.spec() == dc.Measure(levels=("state", "county"))
    view = screens.keeping(Work("key", "t.csv", answers))
    assert view["levels"] == ["state", "county"] and view["problem"] is None
    wrong = said(table, {"count": "births"}, {"way": "levels", "levels": "stat,county"})
    assert "Did you mean 'state'" in str(screens.keeping(Work("key", "t.csv", wrong))["problem"])


@pytest.mark.parametrize("contributions", ["", "2"])
def test_a_mechanism_is_made_for_the_properties_that_are_chosen(
    table: Path, tmp_path: Path, contributions: str
) -> None:
    keep = {"way": "rows", "mechanism": "designed", "require": ["fair", "column-monotone", "target=/etc/passwd"]}
    answers = said(table, {"count": "births", "contributions": contributions}, {**keep, "max_count": "7"})
    assert answers.require == ("fair", "column-monotone"), "no other word is taken from a form"
    made, digest = run(answers.release(tmp_path / "out", tmp_path / "ledger.db"))
    held = structural_properties(Mechanism("own", made.mechanism.form))
    assert held["fair"] and held["column-monotone"] and dc.verify(tmp_path / "out").valid
    assert not structural_properties(dc.explicit("geometric", 7, 1))["fair"], "not every mechanism is"
    work = Work("key", "t.csv", answers, made=Made(tmp_path / "out", digest))
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "release.toml").write_text(_toml(Pages(Keys(), tmp_path, tmp_path), work))
    (tmp_path / "again" / "t.csv").write_bytes(table.read_bytes())
    from discreet.io.files import write_json

    write_json(tmp_path / "again" / MECHANISM, answers.made().as_json())
    assert read_spec(tmp_path / "again" / "release.toml").way.mechanism == str(tmp_path / "again" / MECHANISM)
    run(tmp_path / "again" / "release.toml", tmp_path / "again" / "out")
    assert dc.verify(tmp_path / "again" / "out").valid


@pytest.mark.parametrize(("largest", "message"), [("", "the largest count"), ("5000", "takes minutes")])
def test_a_design_that_cannot_be_made_here_is_refused(table: Path, largest: str, message: str) -> None:
    keep = {"way": "rows", "mechanism": "designed", "require": "fair", "max_count": largest}
    with pytest.raises(BadInput, match=message):
        said(table, {"count": "births"}, keep).spec()


def test_properties_are_never_left_aside_silently(table: Path) -> None:
    keep = {"way": "rows", "mechanism": "geometric", "require": "fair", "max_count": "7"}
    with pytest.raises(BadInput, match="made for them"):
        said(table, {"count": "births"}, keep).spec()
    assert said(table, {"count": "births"}, {**keep, "way": "distribution"}).spec().name == "keep-distribution"


def test_all_structural_properties_are_offered() -> None:
    assert set(PROPERTIES) == set(structural_properties(dc.explicit("geometric", 3, 1)))


@pytest.mark.parametrize(
    ("relation", "keep", "charged"),
    [
        ("added-or-removed", {"way": "rows"}, "epsilon 1"), ("moved", {"way": "rows"}, "epsilon 2"),
        ("added-or-removed", {"way": "sums", "keep": "total"}, "epsilon 0.5"),
        ("moved", {"way": "sums", "keep": "total"}, "epsilon 1"),
    ],
)  # fmt: skip
def test_what_will_be_charged_is_what_is_charged(
    table: Path, tmp_path: Path, relation: Any, keep: dict[str, Any], charged: str
) -> None:
    book = dc.ledger(str(tmp_path / "ledger.db"))
    book.create("cases", epsilon=3, relation=relation)
    answers = replace(said(table, {"count": "births"}, keep), dataset="cases")
    work = Work("key", "t.csv", answers)
    make_plan(work)(Chore())
    assert screens.release(work, tmp_path / "ledger.db")["charged"] == charged
    run(answers.release(tmp_path / "out", tmp_path / "ledger.db"))
    assert screens._amount(book.history()[0].charged) == charged
