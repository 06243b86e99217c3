"""The same table makes the same file, and comes back as it was."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.io.bounded import bounded_parquet
from discreet.io.folder import write_frame

DAYS = [dt.date(2020, 1, day) for day in (1, 2, 3)]
KEYS = {
    "text": pa.array(["a", "b", "c"]), "large text": pa.array(["a", "b", "c"], pa.large_string()),
    "text as a view": pa.array(["a", "b", "c"], pa.string_view()),
    "codes": pa.array(["a", "b", "c"]).dictionary_encode(),
    "small numbers": pa.array([1, 2, 3], pa.int8()), "unsigned numbers": pa.array([1, 2, 3], pa.uint64()),
    "floats": pa.array([-0.0, 2.5, 3.0]), "single floats": pa.array([1, 2.5, 3], pa.float32()),
    "days": pa.array(DAYS), "days in milliseconds": pa.array(DAYS, pa.date64()),
    "seconds": pa.array([1, 2, 3], pa.timestamp("s")), "nanoseconds": pa.array([1, 2, 3], pa.timestamp("ns")),
    "times in a zone": pa.array([1, 2, 3], pa.timestamp("us", "Europe/Berlin")),
    "times of day": pa.array([1, 2, 3], pa.time32("s")), "spans": pa.array([1, 2, 3], pa.duration("s")),
    "decimals": pa.array([Decimal(1), Decimal(2), Decimal(3)], pa.decimal128(10, 2)),
}  # fmt: skip


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("chunks", [1, 3])
def test_keys_of_any_type_are_read_as_they_are_written(kind: str, chunks: int, tmp_path: Path) -> None:
    """In as many chunks as they come."""
    column = pa.chunked_array([KEYS[kind].slice(k * 3 // chunks, 3 // chunks) for k in range(chunks)])
    table = dc.table(pa.table({"k": column, "n": [1, 2, 3]}), "n", keys=["k"])
    dc.release(table, 1, mechanism="geometric", max_count=5).save(tmp_path / "out", "parquet")
    found = dc.verify(tmp_path / "out")
    assert found.valid, found.problems


def test_the_file_does_not_depend_on_how_a_table_is_cut(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frame = pa.table({"k": [f"key {i}" for i in range(3000)], "n": rng.integers(0, 9, 3000)})
    cut = pa.concat_tables([frame.slice(0, 17), frame.slice(17, 2000), frame.slice(2017)])
    for name, one in (("whole", frame), ("cut", cut)):
        write_frame(tmp_path / name, one, "parquet")
    content = (tmp_path / "whole").read_bytes()
    assert (tmp_path / "cut").read_bytes() == content
    assert bounded_parquet(content, "whole", 3000, ("k", "n")).equals(frame)


@pytest.mark.parametrize("kind", [pa.float16(), pa.month_day_nano_interval()])
def test_keys_that_have_no_order_are_refused(kind: Any) -> None:
    values = [np.float16(1), np.float16(2)] if kind == pa.float16() else [(1, 2, 3), (2, 2, 3)]
    with pytest.raises(dc.BadInput, match=r"its values are of type .* Write them as text"):
        dc.table(pa.table({"k": pa.array(values, kind), "n": [1, 2]}), "n", keys=["k"])
