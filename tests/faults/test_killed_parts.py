"""A release in parts with words of the operating system, killed at any moment: no true count is left, no second noisy
version of a count, and the charge stands. Every operation is tried by `python -m tests.faults.killed_parts`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import discreet as dc
from tests.parts.tables import frame

from .killed_parts import KEY, SIZES, released

ROOT = Path(__file__).parents[2]
TRUE = np.split(frame()["n"].to_numpy(), np.cumsum(SIZES)[:-1])


def killed(home: Path, what: str, step: int) -> tuple[list[Path], Path | None]:
    """The folders of those that were killed; and of the one that was not, where there was one."""
    command = [sys.executable, "-m", "tests.faults.killed_parts", str(home), what, str(step)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *folders, last = sorted(home.iterdir())
    return folders, last


def counts_in(file: Path) -> Any:
    """Half a file has none."""
    try:
        return pq.read_table(file)["n"].to_numpy()
    except (OSError, ValueError):
        return None


def no_truth(folder: Path) -> None:
    """In what is left neither the counts of a part nor the key can be read."""
    key = (folder / KEY).read_bytes() if (folder / KEY).exists() else b""
    keys = [key[start : start + 32] for start in range(0, len(key), 32)]
    for path in (folder / "work").rglob("*"):
        if path.is_file():
            content, counts = path.read_bytes(), counts_in(path)
            assert not any(one in content or one.hex().encode() in content.lower() for one in keys), path
            assert counts is None or not any(np.array_equal(counts, one) for one in TRUE), path


def one_version(files: list[Path]) -> None:
    """Of every part there is one noisy version, however many files have it; of its map as well."""
    found: dict[tuple[str, str], set[bytes]] = {}
    for path in files:
        found.setdefault((path.parent.name, path.name.split(".")[0]), set()).add(path.read_bytes())
    whole = {name: {one for one in those if one.endswith(b"PAR1") and len(one) > 4} for name, those in found.items()}
    assert all(len(those) <= 1 for those in whole.values()), whole.keys()


def as_it_should_be(folder: Path) -> None:
    work, book = folder / "work", dc.ledger(str(folder / "ledger.db"))
    out, spent = work / "out", book.history("people")
    assert len(spent) <= 1 and (not out.exists() or (len(spent) == 1 and dc.verify(out)))
    left = [path for path in work.iterdir() if path != out]
    assert all(path.name.startswith(".") and path.name.endswith(".secret") for path in left)
    assert all(path.stat().st_mode & 0o077 == 0 for path in left)
    no_truth(folder)
    one_version(list(work.rglob("part-*")))
    if not out.exists():
        assert [one.state for one in spent] == ["charged, not released"] * len(spent)
    released(folder, "out" if not out.exists() else "again")
    history = book.history("people")
    assert len(history) == len(spent) + 1 and history[-1].state == "released"
    assert dc.verify(work / ("out" if not spent or not (work / "again").exists() else "again"))
    left = [inside for path in work.glob(".*") for inside in path.rglob("*")]
    assert all(path.name.partition(".")[0] == "owner" for path in left), "the next one sweeps away what was left"


def test_a_driver_is_killed(tmp_path: Path) -> None:
    folders, _ = killed(tmp_path, "driver", 13)
    assert len(folders) >= 4
    for folder in folders:
        as_it_should_be(folder)


def test_workers_are_killed_and_started_again(tmp_path: Path) -> None:
    """Whoever comes second reads the words that are there: what was drawn before the kill is drawn again."""
    folders, last = killed(tmp_path, "workers", 3)
    assert len(folders) >= 2 and last is not None
    for folder in (*folders, last):
        no_truth(folder)
        one_version(list((folder / "drafts").iterdir()))
        assert dc.verify(folder / "work" / "out")
        assert [path.name for path in (folder / "work").iterdir()] == ["out"]
        assert [one.state for one in dc.ledger(str(folder / "ledger.db")).history("people")] == ["released"]
    assert len(list((last / "drafts").glob("part-00000.*"))) == 2  # both copies had written theirs


def test_who_sorts_is_killed(tmp_path: Path) -> None:
    """Nothing was charged; sorted rows have their true counts, so only their owner may read them, until the next
    release beside them sweeps them away."""
    folders, last = killed(tmp_path, "sorting", 6)
    assert last is not None and dc.verify(last / "work" / "out")
    assert any(list(folder.rglob("sorted/*.parquet")) for folder in folders), "some had sorted rows already"
    for folder in folders:
        work, book = folder / "work", dc.ledger(str(folder / "ledger.db"))
        for path in work.iterdir():
            assert path.name.startswith(".") and path.suffix == ".secret" and path.stat().st_mode & 0o777 == 0o700
        assert not book.history("people")
        released(folder)
        assert [path.name for path in work.iterdir()] == ["out"]
        assert [one.state for one in book.history("people")] == ["released"]
