"""Folders made before verify for ever, whatever words we use today."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pa_csv
import pytest

import discreet as dc
from discreet.record import words
from discreet.verify import COMPARED
from discreet.ways import PACKAGES

GOLDEN = Path(__file__).parents[1] / "golden"
FOLDERS = sorted(path for path in GOLDEN.iterdir() if path.is_dir() and not path.name.startswith("__"))
TABLES = [name for name, value in vars(words).items() if name.isupper() and name != "MORE" and isinstance(value, dict)]
SENTENCES = [name for name, value in vars(words).items() if name.isupper() and isinstance(value, (str, tuple))]


def test_there_is_one_of_every_way_and_kind() -> None:
    made = runpy.run_path(str(GOLDEN / "make.py"))["GOLDEN"]
    assert {path.name for path in FOLDERS} == set(made)
    assert {json.loads((path / "release.json").read_text())["way"] for path in FOLDERS} == set(PACKAGES)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_a_golden_folder_verifies(folder: Path) -> None:
    verification = dc.verify(folder, allow_seeded=True)
    assert verification.valid, verification.problems
    assert not any(COMPARED in what for what in verification.not_applicable)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_a_golden_folder_verifies_whatever_the_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other words come with another version; the words of one version are known, so that none can be claimed."""
    reword(monkeypatch)
    assert any("with other words" in problem for problem in dc.verify(folder, allow_seeded=True).problems)
    monkeypatch.setattr(dc, "__version__", "99.0")
    verification = dc.verify(folder, allow_seeded=True)
    assert verification.valid, verification.problems
    assert any(COMPARED in what for what in verification.not_applicable)


def reword(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sentence there is becomes another one."""
    for name in TABLES:
        table: dict[str, str] = getattr(words, name)
        monkeypatch.setattr(words, name, {code: f"Otherwise said: {text}" for code, text in table.items()})
    for name in SENTENCES:
        value: Any = getattr(words, name)
        other = tuple(f"again {text}" for text in value) if isinstance(value, tuple) else f"again {value}"
        monkeypatch.setattr(words, name, other)


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
    if folder.name == "keep-sums-nonnegative":
        with pytest.raises(dc.BadInput, match="conditioned on inequalities"):
            dc.estimate(folder).total()
        return
    total = dc.estimate(folder).total()
    published = np.asarray(pa_csv.read_csv(folder / "table.csv")["n"])
    assert total.interval[0] <= total.estimate <= total.interval[1] and published.size == 30


def test_another_report_is_found_where_it_can_be_rendered_again(tmp_path: Path) -> None:
    from discreet.io.folder import sha256
    from discreet.record.release import seal_of

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
