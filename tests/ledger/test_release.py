"""A release and its ledger, from the shell: refused means nothing is written."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.ledger import ledger
from tests.shell import Done, shell


def release(folder: Path, *options: str) -> Done:
    (folder / "table.csv").write_text("county,people\na,0\nb,3\nc,1\n")
    words = [
        "release",
        str(folder / "table.csv"),
        "--count",
        "people",
        "--max-count",
        "9",
        "--out",
        str(folder / "out"),
    ]
    return shell(*words, *options)


def test_spending_is_recorded_with_what_is_published_exactly(sqlite_url: str, tmp_path: Path) -> None:
    ledger(sqlite_url).create("people", epsilon=2)
    done = release(tmp_path, "--epsilon", "1/2", "--ledger", sqlite_url, "--dataset", "people", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["epsilon"] == "0.5"
    (entry,) = ledger(sqlite_url).history("people")
    assert entry.charged.epsilon == Fraction(1, 2)
    folder = (tmp_path / "out" / "release.json").read_bytes()
    assert entry.digests == (hashlib.sha256(folder).hexdigest(),) and entry.state == "released"
    named = json.loads(folder)["ledger"]
    assert hashlib.sha256(named.pop("token").encode()).hexdigest() == entry.spending.token_digest
    assert named == {"dataset": "people", "number": 1, "hash": entry.hash}
    assert entry.spending.discloses == ()


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        (["--epsilon", "3", "--dataset", "people"], 1, "epsilon = 2 is left"),
        (["--epsilon", "1", "--dataset", "peopel"], 2, "Did you mean 'people'"),
        (["--rho", "1", "--dataset", "people", "--mechanism", "discrete-gaussian"], 2, "counted in rho"),
        (["--epsilon", "1"], 2, "no data set was named"),
    ],
)
def test_refused_releases_leave_nothing(
    options: list[str], status: int, words: str, sqlite_url: str, tmp_path: Path
) -> None:
    ledger(sqlite_url).create("people", epsilon=2)
    done = release(tmp_path, *options, "--ledger", sqlite_url)
    assert (done.returncode, done.stdout) == (status, "")
    assert words in done.stderr
    assert not (tmp_path / "out").exists()
    assert ledger(sqlite_url).history() == ()


def test_an_unreachable_ledger_stops_the_release(tmp_path: Path) -> None:
    url = f"postgresql://me:geheim@/x?host={tmp_path}"
    done = release(tmp_path, "--epsilon", "1", "--dataset", "people", "--ledger", url)
    assert done.returncode == 2
    assert "cannot be reached" in done.stderr
    assert "geheim" not in done.stderr
    assert not (tmp_path / "out").exists()
