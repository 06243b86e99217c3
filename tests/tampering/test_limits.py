"""Whoever checks a stranger's folder spends seconds and a bounded memory, whatever is in it."""

from __future__ import annotations

import io
import json
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.errors import Damaged
from discreet.io.bounded import MOST_ROWS, bounded_parquet
from discreet.io.csv_text import LONGEST_LINE
from discreet.io.folder import LARGEST_PAGE, LARGEST_RECORD, LARGEST_TABLE, LONGEST_ROW, MOST_FILES
from discreet.io.written_csv import read_written
from discreet.report.passive import active_content
from discreet.verify import Verification, verify_contents
from tests.clock import within
from tests.tampering.edits import Edit
from tests.tampering.folders import honest
from tests.tampering.forge import sealed, with_files

SECONDS = 20.0  # for what takes a second or two where nobody else is at work
MEMORY = 3 << 30  # bytes of address space: most of it is what the libraries map


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def verified_within_limits(folder: Path) -> Any:
    code = f"import discreet as dc, json; print(json.dumps(dc.verify({str(folder)!r}).as_json()))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=15 * SECONDS,  # on the wall: a machine may be busy
        preexec_fn=limited,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def saved(kind: str, place: Path) -> Path:
    place.mkdir()
    for name, content in honest(kind).contents.files.items():
        (place / name).write_bytes(content)
    return place


@pytest.mark.parametrize(("name", "size"), [
    ("release.json", LARGEST_RECORD), ("report.html", LARGEST_PAGE), ("explore.html", LARGEST_PAGE),
    ("table.csv", LARGEST_TABLE),
])  # fmt: skip
def test_an_enormous_file_is_not_read(name: str, size: int, tmp_path: Path) -> None:
    """Ten gigabytes that take no room on the disk."""
    folder = saved("row-by-row", tmp_path / "out")
    with (folder / name).open("r+b") as file:
        file.truncate(10 << 30)
    found = verified_within_limits(folder)
    assert any(f"larger than {size >> 20:,} MiB" in problem for problem in found["problems"])


def test_an_enormous_file_beside_it_is_not_read_either(tmp_path: Path) -> None:
    folder = saved("row-by-row", tmp_path / "out")
    with (folder / "raw.csv").open("wb") as file:
        file.truncate(10 << 30)
    assert verified_within_limits(folder)["problems"] == ["The file raw.csv is not part of the release."]


def test_not_all_names_of_a_crowded_folder_are_told(tmp_path: Path) -> None:
    folder = saved("row-by-row", tmp_path / "out")
    for i in range(3 * MOST_FILES):
        (folder / f"{i}.csv").touch()
    assert 0 < len(dc.verify(folder).problems) <= MOST_FILES


def in_time(edits: dict[tuple[str | int, ...], Any], kind: str) -> Verification:
    """The verdict on a folder with these edits, sealed anew; and it does not take long."""
    folder = honest(kind)
    document: dict[str, Any] = dict(folder.contents.document)
    for place, value in edits.items():
        document = Edit(place, value).of(document)
    with within(SECONDS):
        found = verify_contents(sealed(folder.contents, document))
    assert not found.valid
    return found


NINES = "9" * 4000
HUGE = [
    ("row-by-row", {("schema", "max_count"): 1 << 60, ("mechanism", "clamp"): [0, 1 << 60]}),
    ("keep-distribution", {("schema", "max_count"): 1 << 60, ("mechanism", "clamp"): [0, 1 << 60]}),
    ("keep-distribution-by-rank", {("schema", "max_count"): 1 << 60, ("mechanism", "clamp"): [0, 1 << 60]}),
    ("keep-distribution-without-range", {("mechanism", "clamp"): [0, 1 << 60]}),
    ("keep-distribution-without-range", {("mechanism", "clamp"): [0, 1 << 60], ("distribution",): None}),
    ("keep-distribution", {("mechanism", "map", "bits"): 1 << 60}),
    ("keep-distribution", {("mechanism", "map", "outputs"): [1 << 60] * 13}),
    ("row-by-row-exponents", {("mechanism", "powers"): [[1 << 60, 0], [0, 1 << 60]]}),
    ("row-by-row-exponents", {("mechanism", "powers"): [[40_000, 0], [0, 40_000]], ("mechanism", "odds"): "7" * 100}),
    ("row-by-row-exponents", {("mechanism", "powers"): [[1 << 70, 0], [0, 1 << 70]]}),
    ("row-by-row-own", {("mechanism", "denominator"): "9" * 4200}),
    ("row-by-row-own", {("mechanism", "weights"): [[NINES, "0", "0"]] * 3, ("mechanism", "denominator"): NINES}),
    ("row-by-row-gaussian", {("mechanism", "noise", "variance"): "1" + "0" * 40}),
    ("row-by-row-gaussian", {("mechanism", "noise", "variance"): "1" + "0" * 4000}),
    ("row-by-row-gaussian", {("mechanism", "noise", "variance"): "1/" + "1" + "0" * 4000}),
    ("row-by-row", {("mechanism", "noise", "odds"): "1." + "0" * 300 + "1"}),
    ("row-by-row", {("guarantee", "alpha"): "1/" + "7" * 4000}),
    ("row-by-row", {("guarantee", "epsilon"): "1e-40000000"}),
    ("row-by-row", {("schema", "contributions"): 10**4000}),
    ("row-by-row-bounded", {("schema", "contributions"): 10**18}),
    ("bounded-both", {("schema", "contributions"): 10**6}),
    ("row-by-row", {("schema", "rows"): 10**18}),
    ("keep-sums", {("schema", "contributions"): 10**4000}),
    ("row-by-row-gaussian", {("guarantee", "delta"): "0.166795"}),
    ("row-by-row-gaussian", {("guarantee", "delta"): "0.999"}),
    ("keep-sums", {("mechanism", "parameters", "odds"): "9" * 4000}),
    ("keep-sums", {("invariants", "kept"): ["total"] * 20_000}),
    ("keep-sums", {("invariants", "kept"): ["margin:" + ",".join(["county", "sex"] * 5000)]}),
]  # fmt: skip


WEIGHT = "1" + "0" * 18 + "1"
LARGE = [
    ("row-by-row-own", {
        ("mechanism", "weights"): [[WEIGHT] * 1500] * 1500, ("mechanism", "denominator"): str(1500 * int(WEIGHT)),
        ("schema", "max_count"): 1499,
    }, "longer than 32 MiB"),
    ("row-by-row-own", {
        ("mechanism", "weights"): [["1" * 2000] * 150] * 150, ("mechanism", "denominator"): str(150 * int("1" * 2000)),
        ("schema", "max_count"): 149,
    }, "longer than 32 MiB"),
    ("row-by-row-own", {("mechanism", "weights"): [["1" * 4301, "0", "0"]] * 3}, "not a whole number"),
    ("keep-distribution", {
        ("mechanism", "clamp"): [0, 100_001], ("schema", "max_count"): 100_001,
        ("distribution", "distribution"): [0.5] * 100_002,
    }, "counts up to 100,000 only"),
    ("keep-distribution", {("distribution", "measurements"): [1] * 400_005}, "counts up to 100,000 only"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "edits", "said"), LARGE, ids=range(len(LARGE)))
def test_what_is_too_large_to_prove_is_refused_unread(
    kind: str, edits: dict[tuple[str | int, ...], Any], said: str
) -> None:
    found = in_time(edits, kind)
    assert any(said in problem for problem in found.problems), found.problems


@pytest.mark.parametrize(("kind", "edits"), HUGE, ids=range(len(HUGE)))
def test_enormous_numbers_cost_little(kind: str, edits: dict[tuple[str | int, ...], Any]) -> None:
    in_time(edits, kind)


def test_kept_sums_without_structure_cost_little() -> None:
    """Random sums over all rows: the lattice they leave has no short description."""
    rng = np.random.default_rng(1)
    for sums in (10, 20, 25):
        rows = rng.integers(0, 2, (sums, 30)).tolist()
        found = in_time({("invariants", "kept"): [{"name": "matrix", "matrix": rows}]}, "own-sums")
        assert any("other neighbours than what is kept" in problem for problem in found.problems), "it was worked out"


def test_a_record_of_brackets_or_digits_is_refused_at_once(tmp_path: Path) -> None:
    folder = saved("row-by-row", tmp_path / "out")
    for text in ("[" * 10_000_000, '{"a":' * 1_000_000, '{"a": ' + "1" * 10_000_000 + "}", '"' + "x" * 50_000_000):
        (folder / "release.json").write_text(text)
        with within(SECONDS):
            assert any("cannot be read" in problem for problem in dc.verify(folder).problems)


@pytest.mark.parametrize("item", ["[]", "{}", "[[[[]]]]"])
def test_a_record_of_millions_of_empty_lists_is_not_read(item: str, tmp_path: Path) -> None:
    """Thirty times its size in memory, if it were."""
    folder = saved("row-by-row", tmp_path / "out")
    (folder / "release.json").write_text('{"x": [' + ",".join([item] * 4_000_001) + "]}")
    with within(SECONDS):
        assert any("more lists or numbers" in problem for problem in dc.verify(folder).problems)


def parquet(table: Any, **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


def repeated(word: str, rows: int) -> Any:
    places = pa.array(np.zeros(rows, dtype=np.int32))
    counts = np.zeros(rows, dtype=np.int64)
    return pa.table({"k": pa.DictionaryArray.from_arrays(places, [word]), "n": counts})


def test_a_parquet_file_that_unpacks_to_more_than_it_says_is_not_unpacked() -> None:
    rows = 1_000_000
    bomb = parquet(repeated("a" * 10_000, rows))  # ten gigabytes in a few thousand bytes
    assert len(bomb) < 20_000
    with pytest.raises(Damaged, match=r"more than 1,024 MiB"):
        bounded_parquet(bomb, "table.parquet", rows, ("k", "n"))
    for content, count, said in (
        (bomb, 30, "1,000,000 rows; the record says 30"),
        (parquet(repeated("a", 10), compression="zstd"), 10, "packed in another way"),
        (parquet(pa.table({"k": [[1, 2]], "n": [1]})), 1, "columns are not those"),
        (parquet(pa.table({"k": pa.array([b"a" * 100], pa.binary(100)), "n": [1]})), 1, "neither text"),
        (b"PAR1" + b"\x00" * 100 + b"PAR1", 1, "not a Parquet file"),
        (b"", 1, "not a Parquet file"),
    ):  # fmt: skip
        with pytest.raises(Damaged, match=said):
            bounded_parquet(content, "table.parquet", count, ("k", "n"))
    with pytest.raises(Damaged, match="the record says"):
        bounded_parquet(bomb, "table.parquet", MOST_ROWS + 1, ("k", "n"))


def test_a_line_without_an_end_is_refused() -> None:
    folder = honest("row-by-row")
    files = {name: content for name, content in folder.contents.files.items() if name != "release.json"}
    for line in (b"county,sex,n\n" + b"x" * (31 * LONGEST_ROW + 1), b'county,sex,n\n"' + b"x" * 1_000_000):
        with within(SECONDS):
            found = verify_contents(with_files(folder.contents, {**files, "table.csv": line}))
        assert not found.valid


def test_not_all_cells_of_an_endless_line_are_counted() -> None:
    """Each would be a text of its own: sixteen bytes for every comma."""
    line = b"k,n\n" + b"," * LONGEST_LINE
    with pytest.raises(Damaged, match="row 2 has no end"):
        read_written(line, "table.csv", ("k", "n"), "n")


def test_a_check_that_runs_out_of_memory_has_found_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.verify import CHECKS

    def greedy(_: Any) -> list[str]:
        raise MemoryError

    monkeypatch.setitem(CHECKS, "something", greedy)
    assert verify_contents(honest("row-by-row").contents).problems == (
        "something: it would need more memory than there is.",
    )


def test_a_folder_that_was_read_is_judged_as_it_was(tmp_path: Path) -> None:
    """What is foreign or unread stands in what was read: nothing is looked up again."""
    contents = honest("row-by-row").contents
    assert verify_contents(contents).valid
    assert not verify_contents(replace(contents, unread={"table.csv": "why not"})).valid


@pytest.mark.parametrize("piece", ["<style>p{}</style>", "<title>x</title>", "<style>" + "a" * 1_000_000 + "</style>"])
def test_a_long_report_is_read_once(piece: str) -> None:
    """Not from every place to its end."""
    page = honest("row-by-row").contents.files["report.html"].decode()
    many = page.replace("</body>", piece * (4_000_000 // len(piece)) + "</body>")
    with within(SECONDS):
        assert active_content(many) is None
