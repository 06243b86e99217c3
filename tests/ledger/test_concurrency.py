"""Real processes: eight writers at once, and kills at random points."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import BadInput
from discreet.ledger import Spending, ledger
from discreet.privacy import Pure

from .writers import WARM_UP

WRITERS = Path(__file__).with_name("writers.py")


def test_eight_writers_cannot_overspend_together(url: str) -> None:
    ledger(url).create("people", epsilon=5)
    command = [sys.executable, str(WRITERS), "spend", url, "8"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    accepted = [int(number) for number in done.stdout.split()]
    assert len(accepted) == 8 and sum(accepted) == 35  # 35 sevenths are 5
    statement = ledger(url).status("people")
    assert statement.left.epsilon == 0
    assert [entry.number for entry in ledger(url).history("people")] == list(range(1, 36))


def test_of_two_that_give_rows_away_together_one_is_refused(url: str) -> None:
    """Neither has saved anything: whoever comes second sees what the first is about to publish."""
    ledger(url).create("people", epsilon=5)
    command = [sys.executable, str(WRITERS), "draw", url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    said = sorted(done.stdout.splitlines(), key=len)
    assert len(said) == 2 and said[0] == "drawn" and "2 rows: town = a (exactly: it can" in said[1]
    assert [entry.state for entry in ledger(url).history("people")] == ["charged, not released"]


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


def test_a_file_with_two_names_is_refused(sqlite_url: str, tmp_path: Path) -> None:
    """What a killed writer left beside the file is found by its name alone: by the other one it is not there."""
    book = ledger(sqlite_url)
    book.create("people", epsilon=1)
    (tmp_path / "other.db").hardlink_to(sqlite_url)
    for name in (sqlite_url, tmp_path / "other.db"):
        with pytest.raises(BadInput, match=r"another name \(a hard link\)"):
            ledger(name).spend("people", Spending(Pure(1)))
    (tmp_path / "other.db").unlink()
    assert book.spend("people", Spending(Pure(1))).left.epsilon == 0
    (tmp_path / "link.db").symlink_to(sqlite_url)  # SQLite follows it to the one name
    assert ledger(tmp_path / "link.db").status("people").left.epsilon == 0


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_whatever_a_server_is_set_to_a_writer_sees_what_was_written_before_it(level: str, postgresql_url: str) -> None:
    import psycopg

    name, _, folder = postgresql_url.partition("@/")[2].partition("?host=")
    with psycopg.connect(f"host={folder} user=postgres dbname=postgres", autocommit=True) as server:
        server.execute(f"ALTER DATABASE {name} SET default_transaction_isolation = '{level}'")
    book = ledger(postgresql_url)
    book.create("people", epsilon=1)
    with book._transaction("a look", write=True) as connection:
        assert connection.exec_driver_sql("SHOW transaction_isolation").scalar() == "read committed"
    with book._transaction("a look") as connection:
        assert connection.exec_driver_sql("SHOW transaction_isolation").scalar() == "read committed"
