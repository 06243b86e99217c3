"""What comes before a release in parts: which files are meant, and that nothing is lost or changed on the way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.io import place
from discreet.parts.engine import Serial
from discreet.parts.front import arranged
from discreet.parts.given import given_parts
from discreet.parts.passes import Look, Reading
from discreet.parts.plan import parts_schema
from discreet.spec.values import TableSpec
from tests.parts.tables import KEYS, frame, in_parts, published, usual


def mixed(table: Any, seed: int = 3) -> Any:
    return table.take(np.random.default_rng(seed).permutation(table.num_rows))


def looked_at(parts: Any, scratch: Path, universe: Any = None, keys: Any = KEYS, **said: Any) -> tuple[Any, Any]:
    """Everything that is done before anything is spent: what was seen of the parts, and their rows as they are read."""
    scratch.mkdir(exist_ok=True)
    first = Look(Reading(said.pop("count", "n"), tuple(keys), **said), b"key")
    ready, reading = arranged(given_parts(parts), first, universe, Serial(), scratch, 100)
    rows = [reading.table(Path(file).read_bytes(), file) for file in ready.files]
    table = pa.concat_tables([one.schema.categories.append_column("n", [one.counts]) for one in rows])
    return ready, table


BOUND = {b"discreet.contributions": b"5"}


@pytest.mark.parametrize("how", ["as they are", "sorted", "with a universe", "in folders"])
def test_what_files_say_of_their_bound_is_not_lost(how: str, tmp_path: Path) -> None:
    """Else the promise would be five times too good."""
    table = frame().replace_schema_metadata(BOUND)
    given = in_parts(tmp_path / "in", mixed(table) if how == "sorted" else table, [100, 140])
    if how == "in folders":
        hive(given := tmp_path / "hive", table)
    ready, _ = looked_at(given, tmp_path / "s", table.select(KEYS) if how == "with a universe" else None)
    assert {one.contributions for one in ready.looked} == {5}
    with pytest.raises(dc.BadInput, match="one person may be counted 5 times"):
        looked_at(given, tmp_path / "t", contributions=2)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"parts": 123}, "no name of a file or folder"),
        ({"parts": [None]}, "no name of a file or folder"),
        ({"parts": frame()}, "a Table is no name"),
        ({"out": 5}, "neither text nor a path"),
        ({"out": None}, "Give out"),
        ({"keys": 5}, "no list of columns"),
        ({"rows_are_disjoint": "no"}, "neither true nor false"),  # taken for yes, it would switch a guard off
        ({"drop_totals": 1}, "neither true nor false"),
    ],
    ids=lambda one: str(next(iter(one))) if isinstance(one, dict) else "",
)
def test_what_is_of_another_type(wrong: dict[str, Any], words: str, tmp_path: Path) -> None:
    given = {"parts": usual(tmp_path / "in"), "count": "n", "keys": KEYS, "epsilon": 1, "out": tmp_path / "out"}
    with pytest.raises(dc.BadInput, match=words):
        dc.release_parts(**{**given, **wrong})
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize("name", ["rows_are_disjoint", "drop_totals", "keep_order"])
def test_yes_or_no_of_one_table(name: str) -> None:
    with pytest.raises(dc.BadInput, match=f"{name} was given as 'no'.*neither true nor false"):
        dc.table(frame(), "n", KEYS, **{name: "no"})


def test_a_release_is_not_put_among_its_parts(tmp_path: Path) -> None:
    """The next one would take it for some of them."""
    given = usual(tmp_path / "in")
    with pytest.raises(dc.BadInput, match="whose files are the parts"):
        dc.release_parts(given, "n", KEYS, 1, out=given / "out")
    assert sorted(path.name for path in given.iterdir()) == ["p0.parquet", "p1.parquet", "p2.parquet"]


def test_a_column_that_is_called_as_people_are(tmp_path: Path) -> None:
    """Its counts would be passed over, and rows be counted in their place."""
    given = in_parts(tmp_path / "in", frame().rename_columns([*KEYS, "*"]), [240])
    with pytest.raises(dc.BadInput, match="there is a column of that name"):
        dc.release_parts(given, "*", KEYS, 1, out=tmp_path / "out", universe=frame().select(KEYS))


def test_parts_that_say_different_bounds_are_refused(tmp_path: Path) -> None:
    given = usual(tmp_path / "in")
    pq.write_table(pq.read_table(given / "p1.parquet").replace_schema_metadata(BOUND), given / "p1.parquet")
    for universe in (None, frame().select(KEYS)):
        with pytest.raises(dc.BadInput, match="Give contributions, 5 or more"):
            looked_at(given, tmp_path / "s", universe)
    assert looked_at(given, tmp_path / "s", contributions=6)[0].looked[0].contributions == 6


@pytest.mark.parametrize("named", [True, False], ids=["folders", "files"])
def test_a_total_that_only_all_parts_together_show(named: bool, tmp_path: Path) -> None:
    """One part has the men, one the women, and the third has everybody again."""
    given = tmp_path / "in"
    for sex in ("F", "M", "T"):
        folder = given / f"sex={sex}" if named else given
        folder.mkdir(parents=True, exist_ok=True)
        rows = pa.table({"area": ["a", "b"], "n": [3, 4]})
        pq.write_table(rows if named else rows.append_column("sex", pa.array([sex] * 2)), folder / f"{sex}.parquet")
    book = dc.ledger(tmp_path / "ledger.db")
    book.create("d", epsilon=9)
    paid = {"ledger": book, "dataset": "d", "out": tmp_path / "out"}
    for said, way_out in (({}, "rows_are_disjoint"), ({"drop_totals": True}, "Leave such rows out of the parts.$")):
        with pytest.raises(dc.BadInput, match=f"sex = 'T' names all other values of its column.*{way_out}"):
            dc.release_parts(given, "n", ["sex", "area"], 1, **paid, **said)
        with pytest.raises(dc.BadInput, match="sex = 'T' names all other values"):
            parts_schema(TableSpec(str(given), "n", ["sex", "area"], **said), needs_rows=False)
    assert book.history() == () and not (tmp_path / "out").exists()
    for number, said in enumerate(({"rows_are_disjoint": True}, {"contributions": 2})):
        dc.release_parts(given, "n", ["sex", "area"], 1, out=tmp_path / f"out{number}", **said)
    other = pa.table({"area": ["a"], "n": [1]}) if named else pa.table({"area": ["a"], "n": [1], "sex": ["Q"]})
    for name in "UVW":  # more letters: T is one of them
        folder = given / f"sex={name}" if named else given
        folder.mkdir(exist_ok=True)
        rows = other if named else with_column(other, "sex", pa.array([name]))
        pq.write_table(rows, folder / f"{name}.parquet")
    dc.release_parts(given, "n", ["sex", "area"], 1, out=tmp_path / "all")


def with_column(table: Any, name: str, values: Any) -> Any:
    return table.set_column(table.column_names.index(name), name, values)


CASTS: dict[str, tuple[Any, str]] = {  # what a database would make other values of, and go on
    "half counts": (lambda part: with_column(part, "n", [[0.4] * part.num_rows]), "Part 2"),
    "no counts": (lambda part: with_column(part, "n", [pa.nulls(part.num_rows, pa.int64())]), "Part 2"),
    "other numbers": (lambda part: with_column(part, "age", [part["age"].to_numpy() + 0.3]), "double"),
    "numbers as text": (lambda part: with_column(part, "age", part["age"].cast(pa.string())), "string"),
    "counts as text": (lambda part: with_column(part, "n", part["n"].cast(pa.string())), "n is string in p1.parquet"),
    "no rows": (lambda part: part.slice(0, 0), "no rows"),
    "one more column": (lambda part: part.append_column("x", part["n"]), r"p1.parquet has area, age, n, x, and"),
}


@pytest.mark.parametrize("what", CASTS)
def test_nothing_is_cast_where_a_universe_is_joined(what: str, tmp_path: Path) -> None:
    change, match = CASTS[what]
    given = usual(tmp_path / "in")
    pq.write_table(change(pq.read_table(given / "p1.parquet")), given / "p1.parquet")
    with pytest.raises(dc.BadInput, match=match):
        looked_at(given, tmp_path / "s", frame().select(KEYS))


@pytest.mark.parametrize("universe", [None, frame().select(KEYS)])
def test_suppressed_counts_are_read_as_they_are_in_one_table(universe: Any, tmp_path: Path) -> None:
    texts = pa.array(["<5" if count < 5 else str(count) for count in frame()["n"].to_pylist()])
    table = with_column(frame(), "n", texts)
    given = in_parts(tmp_path / "in", mixed(table).slice(1), [100, 139])
    one = dc.table(mixed(table).slice(1), "n", KEYS, universe, suppressed_as=4)
    found = looked_at(given, tmp_path / "s", universe, suppressed_as=4)[1]
    assert np.array_equal(found["n"].to_numpy(), one.counts) and found.num_rows == 239 + (universe is not None)


def test_people_are_not_cast_into_other_cells(tmp_path: Path) -> None:
    given = usual(tmp_path / "in")
    part = pq.read_table(given / "p1.parquet")
    for change, match in ((with_column(part, "age", [part["age"].to_numpy() + 0.3]), "double"), (part[:0], "no rows")):
        pq.write_table(change, given / "p1.parquet")
        with pytest.raises(dc.BadInput, match=match):
            looked_at(given, tmp_path / match, frame().select(KEYS), count="*")


def test_drafts_and_hidden_folders_are_no_parts(tmp_path: Path) -> None:
    given = usual(tmp_path / "in")
    for name in ("_temporary/0", ".out.abc.secret/sorted", "_delta_log"):
        (given / name).mkdir(parents=True)
        pq.write_table(frame().slice(0, 5), given / name / "p.parquet")
    assert [Path(file).name for file in given_parts(given).files] == ["p0.parquet", "p1.parquet", "p2.parquet"]


def test_times_keep_their_zone_when_they_are_sorted(tmp_path: Path) -> None:
    hours = pa.array(np.arange(240) * 3_600_000_000, pa.timestamp("us", "Europe/Berlin"))
    table = pa.table({"hour": hours, "n": frame()["n"]})
    ready, found = looked_at(in_parts(tmp_path / "in", mixed(table), [100, 140]), tmp_path / "s", keys=["hour"])
    assert found.equals(table) and ready.looked[0].columns == (("hour", "timestamp[us, tz=Europe/Berlin]"),)


# columns in the names of folders


def hive(folder: Path, table: Any, by: str = "area") -> None:
    """As Spark writes it: a folder for every value, which is in no file."""
    for value in table[by].unique().to_pylist():
        (folder / f"{by}={value}").mkdir(parents=True)
        rows = table.filter(pa.compute.equal(table[by], value)).drop_columns([by])
        pq.write_table(rows, folder / f"{by}={value}" / "part-0.parquet")


@pytest.mark.parametrize(("by", "universe"), [("area", False), ("age", False), ("age", True)])
def test_columns_in_the_names_of_folders_are_columns(by: str, universe: bool, tmp_path: Path) -> None:
    hive(tmp_path / "in", frame(), by)
    said = frame().select(KEYS) if universe else None
    for parts in (tmp_path / "in", tmp_path / "in" / "*" / "*.parquet"):
        _, found = looked_at(parts, tmp_path / f"s{len(str(parts))}", said)
        assert found.equals(frame())


def test_a_folder_of_folders_is_released(tmp_path: Path) -> None:
    """In folders by the second key, so that all rows have to be sorted."""
    hive(tmp_path / "in", frame(), "age")
    dc.release_parts(tmp_path / "in", "n", KEYS, epsilon=40, mechanism="geometric", out=tmp_path / "out", seed=1)
    assert published(tmp_path / "out").equals(frame())  # at such an epsilon counts stay as they are


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (("1", "20"), [1, 20]),
        (("01", "20"), ["01", "20"]),
        (("a b", "%2F"), ["/", "a b"]),
        (("x=1", "y"), ["x=1", "y"]),
    ],
)
def test_values_are_numbers_only_where_all_are(values: tuple[str, str], found: list[Any], tmp_path: Path) -> None:
    for value in values:
        (tmp_path / "in" / f"k={value}").mkdir(parents=True)
        pq.write_table(pa.table({"n": [3]}), tmp_path / "in" / f"k={value}" / "p.parquet")
    assert looked_at(tmp_path / "in", tmp_path / "s", keys=["k"])[1]["k"].to_pylist() == found
    assert (
        sorted(looked_at(tmp_path / "in", tmp_path / "t", pa.table({"k": found}), ["k"])[1]["k"].to_pylist()) == found
    )


def test_folders_that_say_different_things_are_refused(tmp_path: Path) -> None:
    hive(tmp_path / "in", frame())
    bad = {"age=3": "named after other columns", "area=__HIVE_DEFAULT_PARTITION__": "no value of area"}
    for name, match in bad.items():
        (tmp_path / "in" / name).mkdir()
        pq.write_table(frame().slice(0, 1).drop_columns(["area"]), tmp_path / "in" / name / "p.parquet")
        with pytest.raises(dc.BadInput, match=match):
            given_parts(tmp_path / "in")
        (tmp_path / "in" / name / "p.parquet").unlink()
    (tmp_path / "both" / "age=1").mkdir(parents=True)
    pq.write_table(frame().slice(0, 1), tmp_path / "both" / "age=1" / "p.parquet")
    with pytest.raises(dc.BadInput, match="the column age stands in the files and in the names"):
        given_parts(tmp_path / "both")


# what a process that was killed leaves

KILLED = """
import os, signal, sys
from pathlib import Path
from discreet.io.place import secret_folder
with secret_folder(Path(sys.argv[1]) / "out") as made:
    (made / "rows").write_text("secret")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_swept_by_the_next(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    (left,) = tmp_path.iterdir()
    assert (left / "rows").read_text() == "secret" and left.stat().st_mode & 0o077 == 0
    (tmp_path / ".mine.secret").mkdir()  # no folder of ours
    with place.secret_folder(tmp_path / "another") as made:
        assert sorted(tmp_path.iterdir()) == sorted([tmp_path / ".mine.secret", made])
        assert place.sweep(tmp_path) == []  # its owner lives
        with place.secret_folder(tmp_path / "third"):
            assert made.exists()
    assert list(tmp_path.iterdir()) == [tmp_path / ".mine.secret"]


def test_locks_of_other_machines_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    monkeypatch.setattr("socket.gethostname", lambda: "another machine")
    monkeypatch.setattr(place, "BOOT", tmp_path / "none")
    assert place.sweep(tmp_path) == []
    monkeypatch.undo()
    monkeypatch.setattr("socket.gethostname", lambda: "another container")
    assert len(place.sweep(tmp_path)) == 1 and not any(tmp_path.iterdir())


def test_true_counts_are_gone_before_the_map(tmp_path: Path) -> None:
    from tests.parts.tables import Meddling

    given, seen = in_parts(tmp_path / "in", mixed(frame()), [100, 140]), {}

    def there(name: str, tasks: Any) -> None:
        seen[name] = [path.name for path in tmp_path.glob(".*.secret/sorted/*")]

    dc.release_parts(given, "n", KEYS, epsilon=1, out=tmp_path / "out", engine=Meddling(before=there))
    assert seen["AddNoise"] == ["00000.parquet"] and seen["ToCounts"] == []


def test_one_who_is_told_to_end_clears_away_first(tmp_path: Path) -> None:
    """By the command line: a shutdown, or a terminal that was closed."""
    code = (
        "import os, signal, sys; from pathlib import Path; from discreet.cli.common import _tidy_end\n"
        "from discreet.io.place import secret_folder\n"
        "with _tidy_end(), secret_folder(Path(sys.argv[1])):\n    os.kill(os.getpid(), signal.SIGTERM)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path / "out")], check=False)
    assert ended.returncode == 143 and os.listdir(tmp_path) == []
