"""release.json is one typed value: read, written and described by its types alone."""

from __future__ import annotations

import ast
import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import discreet as dc
from discreet.errors import Damaged
from discreet.io.folder import read_folder
from discreet.record.codec import encode
from discreet.record.release import indented, parse, read_record, write_record
from discreet.record.schema import release_schema
from tests.releases import KINDS, make

SOURCE = Path(dc.__file__).parent


@pytest.fixture(scope="module", params=["transport", "rank", "geometric", "explicit-fair", "discrete-gaussian, rho"])
def document(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("record") / "out"
    make(request.param).save(folder)
    found: dict[str, Any] = json.loads((folder / "release.json").read_text())
    return found


def test_a_record_is_written_as_it_was_read(document: dict[str, Any]) -> None:
    record = read_record(document)
    assert json.loads(write_record(record)) == document


def test_an_unsaved_release_and_its_folder_are_the_same_facts(tmp_path: Path) -> None:
    for kind in ("transport", "geometric", "explicit-fair", "rank"):
        assert kind in KINDS
        out = make(kind)
        out.save(tmp_path / kind)
        back = read_folder(tmp_path / kind).record
        assert encode(back.facts) == encode(out.record.facts) and back.guarantee == out.guarantee


def test_there_is_no_sentence_in_it(document: dict[str, Any]) -> None:
    """Prose has spaces and full stops; names, codes, numbers and dates have not."""

    def texts(value: Any) -> Any:
        if isinstance(value, dict):
            for name, item in value.items():
                yield name
                yield from texts(item)
        elif isinstance(value, list):
            for item in value:
                yield from texts(item)
        elif isinstance(value, str):
            yield value

    said = [text for text in texts(document) if " " in text]
    assert said == [document["software"]]


def test_every_field_is_missed_and_no_other_is_taken(document: dict[str, Any]) -> None:
    for name in document:
        if name != "seal":
            cut = {field: value for field, value in document.items() if field != name}
            with pytest.raises((Damaged, dc.BadInput)):
                read_record(cut)
    with pytest.raises(Damaged, match="there is no such field"):
        read_record({**document, "more": 1})


@pytest.mark.parametrize("private", [1, "yes", "no", None, []])
def test_private_is_true_or_false(document: dict[str, Any], private: Any) -> None:
    with pytest.raises(Damaged, match="is not true or false"):
        read_record({**document, "private": private})


@pytest.mark.parametrize("version", [1, 3, "2", None, True, 2.5])
def test_another_format_is_refused_with_the_version_that_reads_it(document: dict[str, Any], version: Any) -> None:
    other = {**copy.deepcopy(document), "schema_version": version}
    with pytest.raises(dc.BadInput, match="reads format 2") as error:
        read_record(other)
    assert ("Use discreet 0.1" in str(error.value)) == (version == 1 and version is not True)


def test_verify_names_the_version_that_can_read_a_folder(tmp_path: Path) -> None:
    make("geometric").save(tmp_path / "out")
    path = tmp_path / "out" / "release.json"
    from discreet.record.release import seal_of

    old = {**json.loads(path.read_text()), "schema_version": 1}
    path.write_text(json.dumps({**old, "seal": seal_of(old)}, indent=1) + "\n")
    assert any("Use discreet 0.1" in problem for problem in dc.verify(tmp_path / "out").problems)
    with pytest.raises(dc.BadInput, match=r"Use discreet 0\.1"):
        dc.estimate(tmp_path / "out")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"3", b"null", b'{"a": 1, "a": 2}', b"\xff", b'{"a": NaN}', b"[" * 9999], ids=range(9)
)
def test_what_is_no_record_is_damage_not_a_crash(content: bytes) -> None:
    with pytest.raises(Damaged):
        parse(content)


def test_the_schema_that_ships_is_made_from_the_types(document: dict[str, Any]) -> None:
    shipped = json.loads((SOURCE / "release.schema.json").read_text())
    assert shipped == release_schema(), "run: python tools/schema.py"
    validator = Draft202012Validator(shipped)
    assert not list(validator.iter_errors(document))
    for name in document:
        assert list(validator.iter_errors({field: value for field, value in document.items() if field != name})), name
    assert list(validator.iter_errors({**document, "more": 1}))


def test_only_one_room_writes_and_reads_json() -> None:
    """release.json is touched by the record and the folder; whoever else imports json has files of their own."""
    others = {"io/files.py", "io/universe.py", "io/counted.py", "ledger/accounts.py", "ledger/chain.py",
              "ledger/documents.py", "ledger/reading.py", "evaluate/files.py", "record/release.py", "io/areas.py",
              "report/explore.py", "report/csvw.py", "parts/manifest.py"}  # fmt: skip
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        tree = ast.parse(path.read_text())
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        assert "json" not in imported or name in others or name.startswith("cli/"), name


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
@settings(max_examples=300, deadline=None)
def test_records_are_written_as_the_standard_library_indents(value: object) -> None:
    assert indented(value) == json.dumps(value, indent=1)
