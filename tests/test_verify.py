"""verify finds every inconsistent edit: each field of release.json is changed in turn, and each file."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pa_csv
import pytest

import discreet as dc
from discreet.errors import BadInput
from discreet.io.folder import write_frame
from discreet.numbers import text
from discreet.record.release import mark_of, seal_of
from tests.releases import example, make, sha256

Path_ = tuple[str | int, ...]
EDITED = [
    "geometric", "geometric, with words", "explicit-fair", "randomized-response", "signed-geometric",
    "discrete-gaussian, rho", "seeded",
]  # fmt: skip
MAPPED = ["transport", "rank", "transport, gaussian", "transport, two each"]


def leaves(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Every value that is no container; of a long list the first, middle and last."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from leaves(item, (*path, name))
    elif isinstance(value, list):
        for place in sorted({0, len(value) // 2, len(value) - 1}) if value else ():
            yield from leaves(value[place], (*path, place))
    else:
        yield path, value


def others(value: Any) -> list[Any]:
    """Values of the same kind that say something else."""
    if isinstance(value, bool):
        return [not value]
    if value is None:
        return ["1"]
    if isinstance(value, (int, float)):
        return [value + 1]
    try:
        number = Fraction(value)
    except ValueError:
        return [value + "x", ""]
    return [text(other) for other in (number + 1, number / 2, number * 2) if other != number]


def changed(document: dict[str, Any], path: Path_, value: Any) -> dict[str, Any]:
    document = copy.deepcopy(document)
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return document


def write(folder: Path, document: Any) -> None:
    (folder / "release.json").write_text(json.dumps(document, indent=1) + "\n")


def reseal(folder: Path) -> None:
    """What a forger would do after changing a file: new digests, a new mark of the table, a new seal."""
    document = json.loads((folder / "release.json").read_text())
    document["digests"] = {path.name: sha256(path) for path in folder.iterdir() if path.name != "release.json"}
    document["mark"] = mark_of(document["private"], document["digests"]["table.csv"])
    write(folder, {**document, "seal": seal_of(document)})


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    make(request.param).save(tmp_path / "out")
    assert dc.verify(tmp_path / "out", allow_seeded=request.param.startswith("seeded")).valid
    return tmp_path / "out"


@pytest.mark.parametrize("folder", [*EDITED, *MAPPED], indirect=True)
def test_every_edit_of_the_document_is_found(folder: Path) -> None:
    document = json.loads((folder / "release.json").read_text())
    for path, value in leaves(document):
        for other in others(value):
            write(folder, changed(document, path, other))
            assert not dc.verify(folder, allow_seeded=True).valid, (path, value, other)
    for name in document:
        write(folder, {field: value for field, value in document.items() if field != name})
        assert not dc.verify(folder, allow_seeded=True).valid, name
    write(folder, document)
    assert dc.verify(folder, allow_seeded=True).valid


@pytest.mark.parametrize("folder", EDITED, indirect=True)
def test_every_edit_of_a_file_is_found(folder: Path) -> None:
    for path in sorted(set(folder.iterdir()) - {folder / "release.json"}):
        content = path.read_bytes()
        for edited in (content + b" ", content[:-2], b"", content.replace(b"1", b"2", 1)):
            path.write_bytes(edited)
            assert f"The file {path.name} was changed: its digest is not the one" in str(dc.verify(folder).problems)
        path.unlink()
        assert f"The file {path.name} is missing." in dc.verify(folder).problems
        path.write_bytes(content)
    (folder / "extra.csv").write_text("x")
    assert "The file extra.csv is not part of the release." in dc.verify(folder).problems
    (folder / "extra.csv").unlink()
    assert dc.verify(folder, allow_seeded=True).valid


def rewrite(folder: Path, name: str, change: Any) -> None:
    """Change the numbers of a file and make digests and seal anew."""
    frame = pa_csv.read_csv(folder / name)
    values = frame.column("people").to_numpy().copy()
    change(values)
    frame = frame.set_column(1, "people", [values])
    write_frame(folder / name, frame, "csv")
    reseal(folder)


@pytest.mark.parametrize("folder", ["geometric", "transport", "rank", "transport, not refined"], indirect=True)
def test_a_count_that_does_not_follow_from_its_measurement_is_found(folder: Path) -> None:
    def one_other(values: Any) -> None:
        values[3] = (values[3] + 1) % 8

    rewrite(folder, "table.csv", one_other)
    problems = dc.verify(folder).problems
    assert any("does not follow from" in problem or "histogram of the table" in problem for problem in problems)


@pytest.mark.parametrize("folder", ["geometric", "transport"], indirect=True)
def test_measurements_of_other_rows_or_unnamed_are_found(folder: Path) -> None:
    honest = (folder / "measurements.csv").read_text()
    (folder / "measurements.csv").write_text(honest.replace("place 0003", "elsewhere"))
    reseal(folder)
    assert dc.verify(folder).problems == ("The rows of the measurements are not those of the table.",)
    (folder / "measurements.csv").write_text(honest)
    document = json.loads((folder / "release.json").read_text())
    for listed, said in (
        ([], "names are not those it has digests of"),
        (2 * document["tables"][0]["measurements"], "names other files than a release has"),
    ):
        write(folder, changed(document, ("tables", 0, "measurements"), listed))
        reseal(folder)
        assert any(said in problem for problem in dc.verify(folder).problems)


@pytest.mark.parametrize("folder", ["geometric", "explicit-fair"], indirect=True)
def test_counts_outside_the_range_are_found(folder: Path) -> None:
    rewrite(folder, "table.csv", lambda values: values.__setitem__(0, 99))
    assert any("outside 0..8" in problem for problem in dc.verify(folder).problems)


@pytest.mark.parametrize("folder", ["explicit-fair"], indirect=True)
def test_rows_in_another_order_or_number_are_found(folder: Path) -> None:
    lines = (folder / "table.csv").read_text().splitlines()
    header, rows = lines[0], lines[1:]
    for other, said in (
        ([header, *rows[::-1]], "not sorted by their keys"),
        ([header, rows[0], *rows], "The table has 151 rows, the schema says 150"),
        (["place,persons", *rows], "its columns are not those of the schema"),
    ):
        (folder / "table.csv").write_text("\n".join(other) + "\n")
        reseal(folder)
        assert any(said in problem for problem in dc.verify(folder).problems), said


@pytest.mark.parametrize(
    "folder", ["geometric", "transport", "discrete-gaussian, rho", "transport, rho"], indirect=True
)
def test_less_noise_than_claimed_is_found(folder: Path) -> None:
    document = json.loads((folder / "release.json").read_text())
    noise = document["mechanism"]["noise"]
    name = "odds" if "odds" in noise else "variance"
    noise[name] = text(Fraction(noise[name]) * (Fraction(1001, 1000) if name == "odds" else Fraction(999, 1000)))
    document["mechanism"]["parameters"][name] = noise[name]
    write(folder, {**document, "seal": seal_of(document)})
    said = ("would need epsilon", "smaller than its share", "noise is not the one")
    assert any(any(words in problem for words in said) for problem in dc.verify(folder).problems)


@pytest.mark.parametrize("folder", ["geometric", "transport", "rank", "seeded"], indirect=True)
def test_a_report_that_states_another_guarantee_is_found(folder: Path) -> None:
    page = (folder / "report.html").read_text()
    other = page.replace("NOT PRIVATE", "PRIVATE").replace("epsilon = ", "epsilon = 0.0")
    (folder / "report.html").write_text(other)
    reseal(folder)
    found = dc.verify(folder, allow_seeded=True)
    assert found.problems == ("The report does not state the guarantee of release.json.",)


@pytest.mark.parametrize("folder", ["transport", "rank"], indirect=True)
def test_parts_names_and_remarks_of_a_mapped_release(folder: Path) -> None:
    document = json.loads((folder / "release.json").read_text())
    mechanism = document["mechanism"]
    twice = {**document, "mechanism": {**mechanism, "parts": mechanism["parts"] + mechanism["parts"][-1:]}}
    for forged, said in (
        (twice, "listed twice"),
        ({**document, "mechanism": {**mechanism, "name": "unfixed"}}, "not what its name says"),
        ({**document, "mechanism": {**mechanism, "name": "geometric"}}, "not what its name says"),
    ):
        write(folder, {**forged, "seal": seal_of(forged)})
        assert any(said in problem for problem in dc.verify(folder).problems), said


@pytest.mark.parametrize("folder", ["rank"], indirect=True)
def test_rows_that_depend_on_each_other_must_be_said_to(folder: Path) -> None:
    document = json.loads((folder / "release.json").read_text())
    document["guarantee"]["remarks"].pop()
    write(folder, {**document, "seal": seal_of(document)})
    assert any("remarks are not those that belong" in problem for problem in dc.verify(folder).problems)


@pytest.mark.parametrize("folder", ["geometric"], indirect=True)
def test_a_consistent_forgery_is_found_by_the_digest_alone(folder: Path, tmp_path: Path) -> None:
    digest = sha256(folder / "release.json")
    make("geometric").save(tmp_path / "forged")
    shutil.rmtree(folder)
    (tmp_path / "forged").rename(folder)
    assert dc.verify(folder).valid
    found = dc.verify(folder, digest)
    assert not found.valid and "not the one given" in found.problems[0]
    assert dc.verify(folder, sha256(folder / "release.json").upper()).valid


@pytest.mark.parametrize("folder", ["geometric"], indirect=True)
@pytest.mark.parametrize("content", ["", "{", "[]", "3", "null", '{"schema": 5}', "\xff"])
def test_a_broken_document_is_a_problem_not_a_crash(folder: Path, content: str) -> None:
    (folder / "release.json").write_text(content, encoding="latin-1")
    verification = dc.verify(folder)
    assert not verification.valid and verification.problems and all(isinstance(p, str) for p in verification.problems)


@pytest.mark.parametrize("folder", ["geometric"], indirect=True)
def test_a_field_that_stands_twice_is_found(folder: Path) -> None:
    written = (folder / "release.json").read_text()
    (folder / "release.json").write_text(written.replace('"private": true,', '"private": true,\n "private": true,'))
    assert any("stands twice" in problem for problem in dc.verify(folder).problems)


def test_what_is_no_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"there is no release\.json"):
        dc.verify(tmp_path)
    with pytest.raises(BadInput, match=r"there is no release\.json"):
        dc.verify(tmp_path / "nowhere")


@pytest.mark.parametrize("folder", ["seeded geometric"], indirect=True)
def test_a_seeded_release_cannot_be_passed_off_as_private(folder: Path) -> None:
    document = json.loads((folder / "release.json").read_text())
    forged = {**document, "private": True}
    write(folder, {**forged, "seal": seal_of(forged)})
    assert not dc.verify(folder).valid and not dc.verify(folder, allow_seeded=True).valid


def test_where_the_spending_is_recorded_is_sealed_and_has_a_shape(tmp_path: Path) -> None:
    book = dc.ledger(tmp_path / "ledger.db")
    book.create("people", epsilon=2)
    options = {"epsilon": 1, "max_count": 8, "mechanism": "geometric"}
    dc.release(example(), **options, ledger=book, dataset="people").save(tmp_path / "out")
    document = json.loads((tmp_path / "out" / "release.json").read_text())
    place = {**document["ledger"], "dataset": "people", "number": 1, "hash": book.history("people")[0].hash}
    assert document["ledger"] == place and set(place) == {"dataset", "number", "hash", "token"}
    for entry, resealed_too in (
        ({**place, "number": 2}, False),
        ({**place, "number": "1"}, True),
        ({**place, "hash": 1}, True),
        ({"dataset": "people", "number": 1}, True),
        ({name: item for name, item in place.items() if name != "token"}, True),
        ({**place, "more": 1}, True),
    ):
        forged = {**document, "ledger": entry}
        write(tmp_path / "out", forged)
        assert not dc.verify(tmp_path / "out").valid
        if resealed_too:
            write(tmp_path / "out", {**forged, "seal": seal_of(forged)})
            assert not dc.verify(tmp_path / "out").valid, entry


def test_a_verification_says_what_it_did(tmp_path: Path) -> None:
    make("transport").save(tmp_path / "out")
    verification = dc.verify(tmp_path / "out")
    assert bool(verification) and verification.as_json()["valid"] is True
    assert "the mechanism is as private as it claims, proved again in exact arithmetic" in verification.checked
    assert len(verification.checked) >= 7
    assert np.all([isinstance(what, str) for what in verification.checked])


@pytest.mark.parametrize("folder", ["transport"], indirect=True)
def test_files_of_tables_are_let_go_once_they_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is checked after that needs the room."""
    from discreet.io import folder as io_folder
    from discreet.verify import CHECKS

    held, read_plain = set[str](), io_folder.read_plain

    class Held(bytes):
        name = ""

        def __del__(self) -> None:
            held.discard(self.name)

    def remembered(path: Path, largest: int) -> bytes:
        found = Held(read_plain(path, largest))
        found.name = path.name
        held.add(path.name)
        return found

    seen: list[set[str]] = []
    monkeypatch.setattr(io_folder, "read_plain", remembered)
    monkeypatch.setitem(CHECKS, "what is held", lambda _: seen.append(set(held)) or [])
    assert dc.verify(folder)
    assert "release.json" in seen[0] and not {"table.csv", "measurements.csv"} & seen[0]
