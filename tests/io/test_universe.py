"""The public set of rows: what is missing counts zero, and nothing else may be there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import discreet as dc
from discreet.errors import BadInput

UNIVERSE = ["a", "b", "c", "d"]


def test_a_universe_fills_with_zero(tmp_path: Path) -> None:
    (tmp_path / "u.csv").write_text("place\nd\nc\nb\na\n")
    (tmp_path / "u.json").write_text(json.dumps({"place": UNIVERSE}))
    frame = pa.table({"place": ["c", "a"], "n": [5, 6]})
    for universe in (
        tmp_path / "u.csv",
        str(tmp_path / "u.json"),
        {"place": UNIVERSE},
        pd.DataFrame({"place": UNIVERSE}),
    ):
        table = dc.table(frame, "n", universe=universe)
        assert table.schema.column("place") == UNIVERSE and table.counts.tolist() == [6, 0, 5, 0]


def test_a_universe_of_combinations() -> None:
    frame = pa.table({"sex": ["f", "m"], "age": ["old", "young"], "n": [5, 6]})
    table = dc.table(frame, "n", "all", universe={"sex": ["m", "f"], "age": ["young", "old"]})
    assert list(zip(table.schema.column("sex"), table.schema.column("age"), table.counts.tolist())) == [
        ("f", "old", 5), ("f", "young", 0), ("m", "old", 0), ("m", "young", 6),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("universe", "said"),
    [
        ({"place": ["a", "b"]}, "row 1 of the table is not in it"),
        ({"plaec": ["a"]}, "no list of values for the key column 'place'"),
        ({"place": "abc"}, "are not a list"),
        ({"place": 5}, "are not a list"),
        ({"place": ["a", "b", "c", "a"]}, "rows 1 and 4 have the same"),
        (pd.DataFrame({"plaec": ["a"]}), "Did you mean 'plaec'"),
        (pd.DataFrame({"place": ["c", "a", "a"]}), "rows 2 and 3 have the same"),
        ([1, 2], "not a data frame of pandas, polars, pyarrow"),
    ],
)
def test_universes_that_do_not_fit(universe: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        dc.table(pa.table({"place": ["c", "a"], "n": [5, 6]}), "n", universe=universe)


def test_duplicates_within_a_universe_are_found() -> None:
    with pytest.raises(BadInput, match="rows 1 and 3 have the same"):
        dc.table(pa.table({"place": ["c", "a", "c"], "n": [5, 6, 7]}), "n", universe={"place": UNIVERSE})
