"""A crash at any stage of a release can waste budget, but never release unrecorded."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.ledger import Spending, ledger
from discreet.privacy import Pure

SCRIPT = Path(__file__).with_name("killed_release.py")
STAGES = [
    "record",
    "draw",
    "publish",
    "seal",
    "save",
    "write the table",
    "write the report",
    "write release.json",
    "tell the ledger",
    "saved",
]


def killed_at(stage: str, url: str, folder: Path) -> list[str]:
    """The stages that were reached, in order."""
    log = folder / "log"
    command = [sys.executable, str(SCRIPT), url, str(folder / "out"), str(log), stage]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == (-signal.SIGKILL if stage != "none" else 0), done.stderr
    return list(dict.fromkeys(log.read_text().splitlines()))


def test_the_stages_are_all_there(sqlite_url: str, tmp_path: Path) -> None:
    ledger(sqlite_url).create("people", epsilon=1)
    assert killed_at("none", sqlite_url, tmp_path) == STAGES
    assert (tmp_path / "out" / "release.json").exists()


@pytest.mark.parametrize("stage", STAGES)
def test_killed_at_every_stage(stage: str, sqlite_url: str, tmp_path: Path) -> None:
    book = ledger(sqlite_url)
    book.create("people", epsilon=3)
    assert killed_at(stage, sqlite_url, tmp_path) == STAGES[: STAGES.index(stage) + 1]
    recorded = len(book.history("people"))
    assert recorded == (0 if stage == "record" else 1)
    assert (tmp_path / "out").exists() == (stage in ("tell the ledger", "saved"))
    states = [entry.state for entry in book.history("people")]
    assert states == [] if stage == "record" else ["released" if stage == "saved" else "charged, not released"]
    book.spend("people", Spending(Pure(1)))
    assert book.status("people").left.epsilon == 2 - recorded


def test_over_budget_releases_nothing(sqlite_url: str, tmp_path: Path) -> None:
    ledger(sqlite_url).create("people", epsilon="1/2")
    command = [sys.executable, str(SCRIPT), sqlite_url, str(tmp_path / "out"), str(tmp_path / "log"), "none"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert "OverBudget" in done.stderr
    assert (tmp_path / "log").read_text().splitlines() == ["record"]
    assert not (tmp_path / "out").exists()
    assert ledger(sqlite_url).history() == ()
