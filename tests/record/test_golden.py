"""Folders made before verify for ever, whatever words we use today."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pa_csv
import pytest

import discreet as dc
from discreet import report
from discreet.io.folder import read_folder
from discreet.record.words import MODULES
from discreet.verify import COMPARED
from discreet.ways import PACKAGES

GOLDEN = Path(__file__).parents[1] / "golden"
FOLDERS = sorted(path for path in GOLDEN.iterdir() if (path / "release.json").is_file())
IN_PARTS = sorted(path for path in (GOLDEN / "in-parts").iterdir())
TEXTS = [(module, name, value) for module in MODULES for name, value in vars(module).items() if name.isupper()]
TABLES = [(module, name) for module, name, value in TEXTS if name != "MORE" and isinstance(value, dict)]
SENTENCES = [(module, name) for module, name, value in TEXTS if isinstance(value, (str, tuple))]


MADE = runpy.run_path(str(GOLDEN / "make.py"))


def test_there_is_one_of_every_way_and_kind() -> None:
    assert {path.name for path in FOLDERS} == set(MADE["GOLDEN"])
    assert {json.loads((path / "release.json").read_text())["way"] for path in FOLDERS} == set(PACKAGES)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_a_golden_folder_verifies(folder: Path) -> None:
    verification = dc.verify(folder, allow_seeded=True)
    assert verification.valid, verification.problems


@pytest.mark.parametrize("folder", IN_PARTS, ids=lambda path: path.name)
def test_a_golden_folder_in_parts_verifies_whole_and_alone(folder: Path) -> None:
    whole = dc.verify(folder)
    assert whole.valid, whole.problems
    assert whole.grade == ("exact" if folder.name == "row-by-row" else "computational")
    assert dc.verify(folder / "table" / "part-00001.parquet").valid
    total, rows = dc.estimate(folder).total(), dc.estimate(folder).by("sex")
    assert total.interval[0] <= total.estimate <= total.interval[1] and len(rows) == 2


def test_there_is_one_of_every_kind_in_parts() -> None:
    assert {path.name for path in IN_PARTS} == set(MADE["IN_PARTS"])


@pytest.mark.parametrize("kind", MADE["GOLDEN"])
def test_the_report_of_what_is_made_today_is_compared(kind: str, tmp_path: Path) -> None:
    dc.release(MADE["table"](kind), **MADE["GOLDEN"][kind]).save(tmp_path / "out")
    verification = dc.verify(tmp_path / "out", allow_seeded=True)
    assert verification.valid and COMPARED in verification.checked


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_a_golden_folder_verifies_whatever_the_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences may be reworded at any time, with or without another version."""
    reword(monkeypatch)
    drawn = read_folder(folder).record.rendered
    same = {**drawn, "words": ""} == {**report.rendered_by(), "words": ""}
    assert_valid_but_not_compared(folder, "in other words" if same else "by other versions")
    monkeypatch.setattr(dc, "__version__", "99.0")
    assert_valid_but_not_compared(folder, "by other versions")


def assert_valid_but_not_compared(folder: Path, why: str) -> None:
    verification = dc.verify(folder, allow_seeded=True)
    assert verification.valid, verification.problems
    assert [what for what in verification.not_applicable if COMPARED in what and why in what]


@pytest.mark.parametrize("source", [*report.SOURCES, "estimate/answers.py"])
def test_a_folder_verifies_though_its_page_is_laid_out_anew(
    source: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A letter more in any file that makes the page: it is not compared; the same files: it is."""
    dc.release(dc.example(), 1, max_count=20).save(tmp_path / "out")
    place = tmp_path / "discreet"
    beside = (f"report/{name}" for name in ("analysis.R", "explore.html", "explore.js", "explore.css"))
    for name in (*report.sources(), *beside):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(files("discreet").joinpath(name).read_bytes())
    monkeypatch.setattr("importlib.resources.files", lambda package: place)
    assert COMPARED in dc.verify(tmp_path / "out").checked
    with (place / source).open("a") as file:
        file.write(" ")
    assert_valid_but_not_compared(tmp_path / "out", "in other words")


def reword(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sentence there is becomes another one."""
    for module, name in TABLES:
        table: dict[str, str] = getattr(module, name)
        monkeypatch.setattr(module, name, {code: f"Otherwise said: {text}" for code, text in table.items()})
    for module, name in SENTENCES:
        value: Any = getattr(module, name)
        other = tuple(f"again {text}" for text in value) if isinstance(value, tuple) else f"again {value}"
        monkeypatch.setattr(module, name, other)


def test_a_golden_folder_of_every_way_and_a_ledger_are_read_whatever_any_sentence_says(tmp_path: Path) -> None:
    """Not those of the record alone: every text in the source that reads as one."""
    book = dc.ledger(tmp_path / "l.db")
    book.create("d", epsilon=2)
    dc.release(dc.example(), 1, keep="total", ledger=tmp_path / "l.db", dataset="d").save(tmp_path / "out")
    folders = [tmp_path / "out", *(GOLDEN / name for name in PACKAGES)]
    otherwise = [
        sys.executable,
        str(Path(__file__).with_name("otherwise.py")),
        str(tmp_path / "l.db"),
        *map(str, folders),
    ]
    done = subprocess.run(otherwise, capture_output=True, text=True)
    assert done.returncode == 0 and int(done.stdout) > 1000, done.stdout + done.stderr


def test_rewording_reaches_what_people_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = dc.release(dc.example(), 1, max_count=20)
    reword(monkeypatch)
    after = dc.release(dc.example(), 1, max_count=20)
    assert before.guarantee.loss == after.guarantee.loss
    assert after.guarantee.sentence.count("Otherwise said") == 1 + len(after.guarantee.remarks) + 1
    after.save(tmp_path / "out")
    assert "Otherwise said" in (tmp_path / "out" / "report.html").read_text() and dc.verify(tmp_path / "out").valid
    assert "Otherwise said" not in (tmp_path / "out" / "release.json").read_text()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_a_golden_folder_can_be_estimated_from(folder: Path) -> None:
    total = dc.estimate(folder).total()
    published = np.asarray(pa_csv.read_csv(folder / "table.csv").columns[-1])
    assert total.interval[0] <= total.estimate <= total.interval[1] and published.size == 30


def test_another_report_is_found_where_it_can_be_rendered_again(tmp_path: Path) -> None:
    from discreet.record.release import seal_of
    from tests.releases import sha256

    folder = tmp_path / "out"
    dc.release(dc.example(), 1, max_count=20).save(folder)
    page = (folder / "report.html").read_text()
    unlike, active = "The report does not follow from release.json.", "The report has active content"
    script = page.replace("</body>", "<script>alert(1)</script></body>")
    edits = {
        page.replace("differ by", "differ"): unlike,
        page + " ": unlike,
        "": "what no report of ours has",
        script: active,
    }
    edits |= {
        page.replace("epsilon = 1", "epsilon = 0.1"): "does not state the guarantee",
        page.upper(): active,
    }
    for other, said in edits.items():
        (folder / "report.html").write_text(other)
        document = json.loads((folder / "release.json").read_text())
        document["digests"]["report.html"] = sha256(folder / "report.html")
        (folder / "release.json").write_text(json.dumps({**document, "seal": seal_of(document)}, indent=1) + "\n")
        assert any(said in problem for problem in dc.verify(folder).problems), said
