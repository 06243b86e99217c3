"""Every study starts and comes to its end, at a tiny size."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

STUDIES = Path(__file__).parents[2] / "studies"
ROW = {
    "coverage": "coverage 1.000", "frontier": "balance against plain noise", "levels": "at or below top-down",
    "nonnegative": "noise, then repair", "published_grid": "| crime | 0.48 |",
}  # fmt: skip


def test_every_study_is_known_here() -> None:
    assert {path.stem for path in STUDIES.glob("*.py")} == {*ROW, "run"}


def test_coverage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study, page = runpy.run_path(str(STUDIES / "coverage.py")), tmp_path / "estimating.md"
    page.write_text((STUDIES.parent / "docs" / "estimating.md").read_text(encoding="utf-8"), encoding="utf-8")
    asked = ["--quick", "--epsilons", "1", "--ways", "default", "kept sums", "--data", "unknown to this one"]
    asked += ["--runs", str(tmp_path / "runs.jsonl")]
    study["main"]([*asked[:5], *asked[6:], "--page", str(page)])  # a part of it
    assert page.read_text(encoding="utf-8") == (STUDIES.parent / "docs" / "estimating.md").read_text(encoding="utf-8")
    study["main"]([*asked, "--write", "--page", str(page)])
    assert ROW["coverage"] in capsys.readouterr().out
    written = page.read_text(encoding="utf-8")
    assert "| question | default | kept sums |" in written
    again = len((tmp_path / "runs.jsonl").read_text(encoding="utf-8").splitlines())
    study["main"]([*asked, "--write", "--page", str(page)])
    assert again == len((tmp_path / "runs.jsonl").read_text(encoding="utf-8").splitlines()) == 6
    assert page.read_text(encoding="utf-8") == written


def test_published_grid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = runpy.run_path(str(STUDIES / "published_grid.py"))
    page = tmp_path / "frontier.md"
    page.write_text((STUDIES.parent / "docs" / "frontier.md").read_text(encoding="utf-8"), encoding="utf-8")
    study["main"](["--quick", "--epsilons", "0.48", "--write", "--page", str(page)])
    assert ROW["published_grid"] in capsys.readouterr().out
    assert "Generated stand-ins" in page.read_text(encoding="utf-8")


def test_frontier(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = runpy.run_path(str(STUDIES / "frontier.py"))
    (tmp_path / "pictures").mkdir()
    page = (STUDIES.parent / "docs" / "frontier.md").read_text(encoding="utf-8")
    (tmp_path / "frontier.md").write_text(page, encoding="utf-8")
    asked = ["--quick", "--shapes", "homicides", "eight-rows", "--epsilons", "1", "--workers", "1", "--write"]
    study["main"]([*asked, "--out", str(tmp_path), "--runs", str(tmp_path / "new" / "runs.jsonl")])
    assert ROW["frontier"] in capsys.readouterr().out
    assert "2 tables, 0 of them held out; 4 cells" in (tmp_path / "frontier.md").read_text(encoding="utf-8")
    assert (tmp_path / "pictures" / "frontier.svg").exists()


def test_levels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = runpy.run_path(str(STUDIES / "levels.py"))
    page = tmp_path / "levels.md"
    page.write_text((STUDIES.parent / "docs" / "levels.md").read_text(encoding="utf-8"), encoding="utf-8")
    asked = ["--quick", "--tables", "sids", "--budgets", "epsilon 1", "--methods", "measure", "top-down", "intervals"]
    study["main"]([*asked, "--write", "--page", str(page), "--runs", str(tmp_path / "new" / "runs.jsonl")])
    assert ROW["levels"] in capsys.readouterr().out
    written = page.read_text(encoding="utf-8")
    assert "### sids" in written and "in place of the real table" in written and "### murders" not in written


def test_nonnegative(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = runpy.run_path(str(STUDIES / "nonnegative.py"))
    page = tmp_path / "invariants.md"
    page.write_text((STUDIES.parent / "docs" / "invariants.md").read_text(encoding="utf-8"), encoding="utf-8")
    study["main"](["--quick", "--tables", "sids", "murders", "--epsilons", "1", "--write", "--page", str(page)])
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| 1 |")]
    assert len(rows) == 2 * len(study["METHODS"]) and any(ROW["nonnegative"] in row for row in rows)
    written = page.read_text(encoding="utf-8")
    assert all(row in written for row in rows) and "in place of the real table" in written
