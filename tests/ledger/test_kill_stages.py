"""A crash at any stage of a release can waste budget, but never release unrecorded."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.ledger import Spending, ledger
from discreet.privacy import Pure

ROOT = Path(__file__).parents[2]
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


NONE, POOR = "none", "over budget"


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for every stage with a ledger in it and whatever a release that ended there has left."""
    root = tmp_path_factory.mktemp("killed")
    places = [root / stage for stage in (*STAGES, NONE, POOR)]
    for place in places:
        place.mkdir()
        ledger(str(place / "ledger.db")).create("people", epsilon="1/2" if place.name == POOR else 3)
    command = [sys.executable, "-m", "tests.ledger.killed_release", *map(str, places)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Traceback") == done.stderr.count("OverBudget") == 1, done.stderr
    return root


def ended(home: Path) -> tuple[int, list[str]]:
    """How the process ended, and the stages that were reached, in order."""
    return int((home / "status").read_text()), list(dict.fromkeys((home / "log").read_text().splitlines()))


def test_the_stages_are_all_there(homes: Path) -> None:
    assert ended(homes / NONE) == (0, STAGES)
    assert (homes / NONE / "out" / "release.json").exists()


@pytest.mark.parametrize("stage", STAGES)
def test_killed_at_every_stage(stage: str, homes: Path) -> None:
    home, book = homes / stage, ledger(str(homes / stage / "ledger.db"))
    assert ended(home) == (-signal.SIGKILL, STAGES[: STAGES.index(stage) + 1])
    recorded = len(book.history("people"))
    assert recorded == (0 if stage == "record" else 1)
    assert (home / "out").exists() == (stage in ("tell the ledger", "saved"))
    states = [entry.state for entry in book.history("people")]
    assert states == [] if stage == "record" else ["released" if stage == "saved" else "charged, not released"]
    book.spend("people", Spending(Pure(1)))
    assert book.status("people").left.epsilon == 2 - recorded


def test_over_budget_releases_nothing(homes: Path) -> None:
    assert ended(homes / POOR) == (1, ["record"])
    assert not (homes / POOR / "out").exists()
    assert ledger(str(homes / POOR / "ledger.db")).history() == ()
