"""Parquet files and frames that hold what no table of counts does: refused in words, and nothing is charged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.errors import BadInput

NOISE = "signed-geometric"
NO_TEXT = pa.array([b"\xff\xfe", b"b", b"c"], pa.binary()).view(pa.string())
HOSTILE: dict[str, tuple[dict[str, Any], str]] = {
    "keys that are no text": ({"k": NO_TEXT}, "column 'k' .* no text"),
    "such in a dictionary": ({"k": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), NO_TEXT)}, "no text|UTF8"),
    "counts that are no text": ({"k": ["a", "b", "c"], "n": NO_TEXT}, "column 'n' .* no text"),
    "a column beside": ({"k": ["a", "b", "c"], "more": NO_TEXT}, "column 'more' .* no text"),
    "times beyond all years": ({"k": pa.array([1 - 2**63, 0, 2**63 - 1], pa.timestamp("us"))}, "years 1 and 9999"),
    "days beyond all years": ({"k": pa.array([-(2**31), 0, 1], pa.int32()).cast(pa.date32())}, "years 1 and 9999"),
    "a zone that nobody knows": ({"k": pa.array([1, 2, 3], pa.timestamp("ns", "Mars/Olympus"))}, "a zone that is not"),
    "keys that are books": ({"k": ["a" * 100_000, "b", "c"]}, "more than 8 KiB a row"),
}


@pytest.mark.parametrize("what", HOSTILE)
@pytest.mark.parametrize("kind", ["frame", "file", "parts"])
def test_it_is_refused_in_words_and_nothing_is_charged(kind: str, what: str, tmp_path: Path) -> None:
    columns, said = HOSTILE[what]
    frame = pa.table({"n": [1, 2, 3], **columns})
    (tmp_path / "in").mkdir()
    pq.write_table(frame, tmp_path / "in" / "t.parquet")
    book = dc.ledger(tmp_path / "ledger.db")
    book.create("people", epsilon=9)
    before = book.status("people")
    paid: dict[str, Any] = {"mechanism": NOISE, "ledger": tmp_path / "ledger.db", "dataset": "people"}
    with pytest.raises(BadInput, match=f"(?i){said}"):
        if kind == "parts":
            dc.release_parts(tmp_path / "in", "n", ["k"], 1, out=tmp_path / "out", **paid)
        else:
            read = (
                dc.table(frame, "n", ["k"]) if kind == "frame" else dc.read_table(tmp_path / "in/t.parquet", "n", ["k"])
            )
            dc.release(read, 1, **paid)
    assert book.status("people") == before and not (tmp_path / "out").exists()


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    pq.write_table(pa.table({"place": ["a", "b"], "n": [1, 2]}), tmp_path / "t.parquet", store_schema=False)
    (tmp_path / "t.parquet").write_bytes((tmp_path / "t.parquet").read_bytes().replace(b"place", b"pl\xffce"))
    with pytest.raises(BadInput, match="was to be read as Parquet"):
        dc.read_table(tmp_path / "t.parquet", "n", ["place"])
    with pytest.raises(BadInput, match="was to be read"):
        dc.release_parts(tmp_path, "n", ["place"], 1, out=tmp_path / "out", mechanism=NOISE)


@pytest.mark.parametrize("format", ["csv", "parquet", "xlsx"])
def test_the_longest_keys_that_are_taken_can_be_verified(format: str, tmp_path: Path) -> None:
    for keys in (["a" * 16_300], [f"{i}" * 8_000 for i in range(4)]):
        out = dc.release(dc.table(pa.table({"k": keys, "n": range(len(keys))}), "n", ["k"]), 1, mechanism=NOISE)
        out.save(tmp_path / f"{len(keys)}", format=format)
        assert dc.verify(tmp_path / f"{len(keys)}").problems == ()


def test_times_of_every_unit_are_keys() -> None:
    for unit in ("s", "ms", "us", "ns"):
        for zone in (None, "Europe/Berlin"):
            assert len(dc.table(_times(unit, zone), "n", ["k"])) == 3


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_in_a_zone_without_a_name_are_keys_where_arrow_can_write_them(unit: str) -> None:
    """Older versions of Arrow write none as text, so that they could not be published."""
    frame = _times(unit, "+02:00")
    try:
        frame.column("k").cast(pa.string())
    except pa.ArrowInvalid:
        with pytest.raises(BadInput, match=r"in a zone that is not known\. Write them as text"):
            dc.table(frame, "n", ["k"])
    else:
        assert len(dc.table(frame, "n", ["k"])) == 3


def _times(unit: str, zone: str | None) -> pa.Table:
    return pa.table({"k": pa.array([1, 2_000_000_001, 3], pa.timestamp(unit, zone)), "n": [1, 2, 3]})
