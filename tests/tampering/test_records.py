"""Every field of every kind of record, edited in every way we could think of and sealed anew, is refused.

A sample runs always; all of it with DISCREET_FULL=1 (some ten minutes).
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from discreet.errors import Damaged
from discreet.io.folder import PAGES, Contents
from discreet.privacy.values import Remark
from discreet.record.release import mark_of
from discreet.verify import SEEDED, verify_contents
from discreet.ways import PACKAGES, mechanism_names
from tests.tampering.edits import Edit, edits, pattern
from tests.tampering.folders import FULL, KINDS, Honest, honest, made
from tests.tampering.forge import (
    claimed,
    passes,
    reports_uncompared,
    sealed,
    with_a_report_that_states_it,
    with_files,
    with_its_report,
    with_the_mark_changed,
    written,
)
from tests.tampering.unchecked import FIELDS, FILES, TOGETHER, on_trust

SHARE = 60  # one edit in so many beside one for every field
POOLED, LONGEST_POOLED = 12, 40  # values of other records that are tried in a field of the same name
GUARANTEE = Path(__file__).parents[2] / "docs" / "guarantee.md"


@cache
def pool() -> dict[str, list[Any]]:
    """Short texts of all records, by the name of their field: other valid values of the same kind."""
    found: dict[str, list[Any]] = defaultdict(list)

    def fill(value: Any, name: str) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                fill(item, key)
        elif isinstance(value, list):
            for item in value[:3]:
                fill(item, name)
        elif isinstance(value, str) and len(value) <= LONGEST_POOLED and value not in found[name]:
            found[name].append(value)

    for kind in KINDS:
        fill(honest(kind).contents.document, "")
    return {name: values[:POOLED] for name, values in found.items()}


def chosen(kind: str, document: dict[str, Any]) -> list[Edit]:
    """All of them, or for every field one and a few more: always the same."""
    everything = [edit for edit in edits(document, pool()) if edit.place != ("seal",)]
    if FULL:
        return everything
    ranked = sorted(everything, key=lambda edit: crc32(f"{kind} {edit}".encode()))
    first: dict[str, Edit] = {}
    for edit in ranked:
        first.setdefault(pattern(edit.place), edit)
    return [*first.values(), *ranked[: len(ranked) // SHARE]]


def refused(folder: Honest, edit: Edit) -> bool:
    """Whatever else the forger makes to agree: the seal, and what the report states."""
    try:
        forged = sealed(folder.contents, edit.of(dict(folder.contents.document)))
    except (Damaged, ValueError):  # no JSON at all
        return True
    return not passes(with_a_report_that_states_it(forged), folder.seeded)


@cache
def passed(kind: str) -> list[Edit]:
    """The chosen edits that are not refused."""
    folder = honest(kind)
    with reports_uncompared():
        return [edit for edit in chosen(kind, dict(folder.contents.document)) if not refused(folder, edit)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_folder_itself_verifies(kind: str) -> None:
    folder = honest(kind)
    found = verify_contents(folder.contents, allow_seeded=folder.seeded)
    assert found.valid, found.problems
    assert found.private is not folder.seeded


@pytest.mark.parametrize("kind", KINDS)
def test_no_edit_of_the_record_passes(kind: str) -> None:
    folder, through = honest(kind), passed(kind)
    together = tuple(place for place in TOGETHER if "histogram" not in place or KINDS[kind].get("measurements", True))
    alone = [edit for edit in through if pattern(edit.place).startswith(together) or not on_trust(pattern(edit.place))]
    assert list(map(str, alone)) == []
    claims = [edit for edit in through if edit.place[0] == "guarantee" and edit.place[-1] != "alpha"]
    assert all(_still_proved(folder, edit) for edit in claims), list(map(str, claims))
    names = {pattern(edit.place): edit.value for edit in through if edit.place[0] == "mechanism"}
    may_be = "transport" if kind == "unmeasured-by-rank" else "own"  # either could have given the table
    assert names.get("mechanism.name", may_be) == may_be
    assert kind in ("row-by-row-own", "row-by-row-continued") or not any(
        name.startswith("mechanism.weights") for name in names
    )


def _still_proved(folder: Honest, edit: Edit) -> bool:
    """A promise that passes is no stronger than the one that was made, but for the rounding of its shares."""
    made = folder.contents.document["guarantee"]
    assert isinstance(made, dict)
    return Fraction(edit.value) >= Fraction(made[str(edit.place[-1])]) * (1 - Fraction(1, 10**6))


@pytest.mark.parametrize("kind", ["staircase", "keep-distribution", "keep-sums"])
def test_what_is_on_the_report_is_refused_unless_the_report_is_forged_too(kind: str) -> None:
    folder = honest(kind)
    document: dict[str, Any] = dict(folder.contents.document)
    for place, value in ((("created",), "2020-01-01T00:00:00+00:00"), (("about", "title"), "Another title")):
        forged = sealed(folder.contents, Edit(place, value).of(document))
        assert not verify_contents(forged).valid, place
        assert verify_contents(with_its_report(forged)).valid, place


@pytest.mark.parametrize("kind", ["keep-distribution", "row-by-row", "keep-sums", "row-by-row-own"])
def test_a_whole_new_report_does_not_help(kind: str) -> None:
    """Of a record that is false, rendered in full."""
    folder = honest(kind)
    document: dict[str, Any] = dict(folder.contents.document)
    for edit in (Edit(("guarantee", "grade"), "enclosed"), Edit(("guarantee", "remarks"), [])):
        assert not verify_contents(with_its_report(sealed(folder.contents, edit.of(document)))).valid, edit


SUPPRESSED = Remark.of("suppressed-as", count=4)
DROPPED, DISJOINT = Remark.of("totals-dropped", rows=5), Remark("rows-declared-disjoint")


def renamed(contents: Contents, old: str, new: str, files: bool = True) -> Contents:
    """A column by another name, in the record and in every file."""
    document: dict[str, Any] = copy.deepcopy(dict(contents.document))
    names = {old: new}
    schema, table = document["schema"], document["tables"][0]
    schema["count"] = names.get(schema["count"], schema["count"])
    schema["keys"] = [names.get(name, name) for name in schema["keys"]]
    table["columns"] = [names.get(name, name) for name in table["columns"]]
    others = {name: content for name, content in contents.files.items() if name != "release.json"}
    for name in others if files else ():
        head, line, rest = others[name].partition(b"\n")
        cells = [names.get(cell, cell) for cell in head.decode().split(",")]
        others[name] = others[name] if name in PAGES else ",".join(cells).encode() + line + rest
    return with_files(replace(contents, document=document), others)


@pytest.mark.parametrize("kind", ["row-by-row", "keep-distribution", "keep-sums", "measure"])
def test_the_publishers_word_passes_only_if_it_is_said_everywhere(kind: str) -> None:
    """As the docs say: rows that were left out, or declared to be no totals, and the names of columns."""
    contents = honest(kind).contents
    dropped, disjoint = {"dropped_totals": 5}, {"rows_are_disjoint": True}
    together = claimed(contents, dropped, (DROPPED,))
    for whole in (
        together, claimed(together, {"dropped_totals": 0}, ()), claimed(contents, disjoint, (DISJOINT,)),
        claimed(contents, dropped | disjoint, (DISJOINT, DROPPED)),
        claimed(contents, {"suppressed_as": 4}, (SUPPRESSED,)), renamed(contents, "n", "persons"),
    ):  # fmt: skip
        found = verify_contents(with_its_report(whole))
        assert found.valid, found.problems
        assert not verify_contents(whole).valid or whole.document == contents.document, "the report tells"
    with reports_uncompared():
        for half in (
            claimed(contents, dropped, ()), claimed(contents, {}, (DROPPED,)), claimed(together, {}, ()),
            claimed(contents, {"dropped_totals": 4}, (DROPPED,)), claimed(contents, disjoint, ()),
            claimed(contents, {}, (DISJOINT,)), claimed(contents, dropped | disjoint, (DROPPED, DISJOINT)),
            claimed(contents, {"suppressed_as": 4}, ()), claimed(contents, {}, (SUPPRESSED,)),
            renamed(contents, "n", "persons", files=False),
        ):  # fmt: skip
            assert not verify_contents(with_a_report_that_states_it(half)).valid


def test_a_key_column_can_be_renamed_everywhere() -> None:
    contents = honest("row-by-row").contents
    assert verify_contents(with_its_report(renamed(contents, "sex", "gender"))).valid
    assert not verify_contents(renamed(contents, "sex", "gender", files=False)).valid


@pytest.mark.parametrize("kind", KINDS)
def test_the_mark_of_a_seed_cannot_be_taken_away(kind: str) -> None:
    """Nor put on: the flag alone, sealed anew and reported, does not belong to the table."""
    folder = honest(kind)
    document: dict[str, Any] = dict(folder.contents.document)
    flipped = sealed(folder.contents, {**document, "private": folder.seeded})
    with reports_uncompared():
        for allowed in (False, True):
            assert not verify_contents(with_a_report_that_states_it(flipped), allow_seeded=allowed).valid


def unmarked(kind: str, rendered: bool = True) -> tuple[str, ...]:
    """The problems of a folder whose mark was taken away with all that follows from it."""
    forged = with_the_mark_changed(honest(kind).contents)
    return verify_contents(with_its_report(forged) if rendered else with_a_report_that_states_it(forged)).problems


def test_a_map_without_its_mark_is_another_map() -> None:
    """The seed of the map bears the mark, and rows are mapped by it."""
    folder = honest("seeded")
    document: dict[str, Any] = json.loads(json.dumps(folder.contents.document))
    document["private"] = True
    document["mark"] = mark_of(True, document["digests"]["table.csv"])
    with reports_uncompared():
        forged = with_a_report_that_states_it(sealed(folder.contents, document))
        assert "The mechanism is not what its name says." in verify_contents(forged).problems
        assert any("does not follow" in problem for problem in unmarked("seeded", rendered=False))


@pytest.mark.parametrize("way", [{"measure": "auto"}, {"keep": "total"}], ids=["margins", "sums"])
def test_nothing_that_is_measured_or_kept_depends_on_a_seeds_mark(way: dict[str, Any]) -> None:
    """As the docs say."""
    seeded = made("seeded", epsilon=1, seed=3, **way).contents
    assert SEEDED in verify_contents(seeded).problems
    assert verify_contents(with_its_report(with_the_mark_changed(seeded))).valid


def test_where_nothing_is_mapped_by_a_seed_its_mark_can_be_forged() -> None:
    """As the docs say: nothing that is published depends on it, so only the digest of release.json shows it."""
    assert unmarked("seeded-rows") == ()
    digest = hashlib.sha256(honest("seeded-rows").contents.files["release.json"]).hexdigest()
    forged = with_its_report(with_the_mark_changed(honest("seeded-rows").contents))
    assert not verify_contents(forged, digest).valid


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not KINDS[kind].get("seed")])
def test_a_private_release_that_is_marked_as_seeded_is_refused(kind: str) -> None:
    with reports_uncompared():
        assert SEEDED in unmarked(kind, rendered=False)


def test_a_field_that_stands_twice_and_numbers_that_are_none() -> None:
    folder = honest("row-by-row")
    text = folder.contents.files["release.json"].decode()
    for old, new in (
        ('"private": true,', '"private": true,\n "private": true,'),
        ('"rows": 30', '"rows": NaN'),
        ('"rows": 30', '"rows": 3' + "0" * 5000),
        ('"keys": [', '"keys": ' + "[" * 100_000),
    ):
        assert old in text
        with pytest.raises(Damaged, match=r"release\.json"):
            written(folder.contents, text.replace(old, new, 1).encode())


def test_every_way_and_mechanism_has_a_folder_to_tamper_with() -> None:
    """Whoever registers another one is asked for its folder."""
    documents = [honest(kind).contents.document for kind in KINDS]
    assert {document["way"] for document in documents} == set(PACKAGES)
    asked = {str(options.get("mechanism", "transport")) for options in KINDS.values()}
    constructed = {
        "heuristic-max",
        "heuristic-min",
        "heuristic-sandwich",
        "fixed-point-simplex",
        "fixed-point-interior",
    }
    assert asked >= {*mechanism_names()} - constructed - {"rank"}, "of constructed ones, four stand for all"
    assert any("consistent" in options for options in KINDS.values()), "which is the mechanism rank"
    assert any("inequalities" in options for options in KINDS.values())


def test_what_is_taken_on_trust_is_written_down() -> None:
    """The list of the suite is the one in the docs, each with a reason."""
    section = GUARANTEE.read_text().partition("## What verify takes on trust")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (.+) \|$", section, re.MULTILINE)
    assert [name for name, _ in rows] == [*FIELDS, *FILES]
    assert all(len(reason.split()) > 5 for _, reason in rows)


if FULL:  # it needs every edit

    def test_nothing_is_taken_on_trust_that_could_be_checked() -> None:
        """Every entry of the list is needed by some folder."""
        places = [pattern(edit.place) for kind in KINDS for edit in passed(kind)]
        needed = {field for field in FIELDS for place in places if place.startswith(field)}
        assert unmarked("seeded-rows") == ()
        assert needed | set(TOGETHER) == set(FIELDS)
