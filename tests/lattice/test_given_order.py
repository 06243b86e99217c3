"""Sums and inequalities of one's own are about the rows as they were given, whatever order is published."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

import discreet as dc


def table() -> dc.Table:
    return dc.table(pa.table({"k": ["z", "a", "m", "b"], "n": [7, 1, 5, 30]}), count="n")


def test_a_matrix_names_rows_as_given(tmp_path: Path) -> None:
    for seed in range(5):
        out = dc.release(table(), epsilon="1/4", keep=[dc.sums([[1, 0, 1, 0], [0, 1, 0, 1]])], seed=seed)
        found = dict(zip(out.table.column("k").to_pylist(), out.table.column("n").to_pylist()))
        assert found["z"] + found["m"] == 12 and found["a"] + found["b"] == 31
    out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out", allow_seeded=True).valid


def test_inequalities_name_rows_as_given() -> None:
    limits = (np.array([[1, 0, 0, 0]]), np.array([6]))
    for seed in range(20):
        out = dc.release(table(), epsilon="1/2", keep=[dc.total()], inequalities=limits, seed=seed)
        found = dict(zip(out.table.column("k").to_pylist(), out.table.column("n").to_pylist()))
        assert found["z"] >= 6


def test_plain_keys_are_written_plainly(tmp_path: Path) -> None:
    dc.release(table(), epsilon=1, max_count=9).save(tmp_path / "plain")
    assert (tmp_path / "plain" / "table.csv").read_text().splitlines()[1].startswith("a,")
    awkward = dc.table(pa.table({"k": ["a, b", 'c"d'], "n": [1, 2]}), count="n")
    dc.release(awkward, epsilon=1, max_count=9).save(tmp_path / "awkward")
    assert dc.verify(tmp_path / "awkward").valid
    assert (tmp_path / "awkward" / "table.csv").read_text().splitlines()[1].startswith('"a, b",')
