"""Real processes: eight writers at once, and kills at random points."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.ledger import ledger

from .writers import WARM_UP

WRITERS = Path(__file__).with_name("writers.py")


def test_eight_writers_cannot_overspend_together(url: str) -> None:
    ledger(url).create("people", epsilon=5)
    command = [sys.executable, str(WRITERS), "spend", url]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    accepted = [int(writer.communicate(timeout=120)[0]) for writer in writers]
    assert sum(accepted) == 35  # 35 sevenths are 5
    statement = ledger(url).status("people")
    assert statement.left.epsilon == 0
    assert [entry.number for entry in ledger(url).history("people")] == list(range(1, 36))


@pytest.mark.parametrize(("backend", "kills"), [("sqlite", 200), ("postgresql", 60)])
def test_killed_at_random_points(backend: str, kills: int, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    url, released = str(request.getfixturevalue(f"{backend}_url")), tmp_path / "released"
    ledger(url).create("people", epsilon=10)
    command = [sys.executable, str(WRITERS), "kill", url, str(released), str(kills), "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert int(done.stdout) == kills
    recorded = [entry.spending.note for entry in ledger(url).history("people")]
    published = released.read_text().splitlines()
    assert published, "no child lived long enough to release: the kills tell nothing"
    assert set(published) <= set(recorded)
    assert len(recorded) <= len(published) + kills + WARM_UP
    assert ledger(url).status("people").spent.epsilon == Fraction(len(recorded), 1000)
