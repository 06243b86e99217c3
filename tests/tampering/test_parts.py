"""The record and the manifest of a release in parts: every field, edited and sealed anew, is refused."""

from __future__ import annotations

import copy
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from discreet.errors import Damaged
from discreet.io import MANIFEST
from discreet.io.folder import Contents, read_contents
from discreet.privacy.values import Remark
from discreet.record.release import mark_of
from tests.tampering.edits import Edit, edits, pattern
from tests.tampering.folders import FULL, MADE
from tests.tampering.forge import claimed, passes, reports_uncompared, sealed, with_a_report_that_states_it
from tests.tampering.unchecked import TOGETHER, on_trust

GOLDEN = Path(__file__).parents[1] / "golden" / "in-parts"


def chosen(kind: str, document: dict[str, Any]) -> list[Edit]:
    """All of them, or one for every field: always the same."""
    everything = [edit for edit in edits(document, {}) if edit.place != ("seal",)]
    ranked = sorted(everything, key=lambda edit: crc32(f"{kind} {edit}".encode()))
    return everything if FULL else list({pattern(edit.place): edit for edit in ranked}.values())


def edited(contents: Contents, edit: Edit) -> Contents | None:
    """The record with an edit, its seal, and what the report states; None where it is no record at all."""
    try:
        return with_a_report_that_states_it(sealed(contents, edit.of(dict(contents.document))))
    except (Damaged, ValueError):
        return None


def with_manifest(contents: Contents, text: bytes) -> Contents:
    """With its digest, the mark that is tied to it, and the seal."""
    document: dict[str, Any] = copy.deepcopy(dict(contents.document))
    document["digests"][MANIFEST] = hashlib.sha256(text).hexdigest()
    document["mark"] = mark_of(document["private"], document["digests"][MANIFEST])
    return sealed(replace(contents, files={**contents.files, MANIFEST: text}), document)


def as_manifest(value: dict[str, Any]) -> bytes:
    """A line for every part, as manifests are written."""
    if set(value) != {"parts"} or not isinstance(value["parts"], list):
        return json.dumps(value).encode()
    lines = ",\n".join(f"  {json.dumps(part)}" for part in value["parts"])
    return f'{{\n "parts": [\n{lines}\n ]\n}}\n'.encode()


@pytest.mark.parametrize("kind", MADE["IN_PARTS"])
def test_no_edit_of_the_record_or_of_the_manifest_passes(kind: str) -> None:
    contents = read_contents(GOLDEN / kind)
    manifest = json.loads(contents.files[MANIFEST])
    assert as_manifest(manifest) == contents.files[MANIFEST]
    with reports_uncompared():
        assert passes(with_manifest(contents, contents.files[MANIFEST]), seeded=False)
        forged = [(edit, edited(contents, edit)) for edit in chosen(kind, dict(contents.document))]
        passed = [edit for edit, folder in forged if folder is not None and passes(folder, seeded=False)]
        alone = [e for e in passed if pattern(e.place).startswith(TOGETHER) or not on_trust(pattern(e.place))]
        assert list(map(str, alone)) == []
        for edit in chosen(kind, manifest):
            assert not passes(with_manifest(contents, as_manifest(edit.of(manifest))), seeded=False), str(edit)


@pytest.mark.parametrize("kind", ["default"])
def test_nothing_is_hidden_in_how_a_manifest_is_written(kind: str) -> None:
    contents = read_contents(GOLDEN / kind)
    old = contents.files[MANIFEST]
    for new in (
        old.replace(b": ", b":  ", 1), old + b"\n", old.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + old,
        old.replace(b'"rows": 7', b'"rows": 7, "rows": 7', 1), old.replace(b'"rows": 7', b'"rows": 7.0', 1),
    ):  # fmt: skip
        assert new != old
        assert not passes(with_manifest(contents, new), seeded=False), new[:60]


@pytest.mark.parametrize("kind", MADE["IN_PARTS"])
def test_parts_name_no_answers_and_no_fewer_rows_than_none(kind: str) -> None:
    """An answer without a name, and numbers of rows below zero that the guarantee repeats."""
    contents = read_contents(GOLDEN / kind)
    nameless = edited(contents, Edit(("tables", 0, "answers"), ""))
    assert nameless is not None
    below = (
        claimed(contents, {"dropped_totals": -5}, (Remark.of("totals-dropped", rows=-5),)),
        claimed(contents, {"suppressed_as": -4}, (Remark.of("suppressed-as", count=-4),)),
    )
    with reports_uncompared():
        for forged in (nameless, *map(with_a_report_that_states_it, below)):
            assert not passes(forged, seeded=False)
