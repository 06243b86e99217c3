"""Microdata in Spark are counted there, and bounded as everywhere else."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.errors import BadInput
from discreet.io.spark import said_by_spark
from tests.count.people import KEY, ROWS, UNIVERSE, Rows, as_arrow, as_parquet, under_one_key

BY = ["county", "sex"]


def as_spark(spark: Any, rows: Rows) -> Any:
    return spark.createDataFrame(rows, "county string, sex string, person string")


def test_every_category_appears(spark: Any) -> None:
    table = dc.count(as_spark(spark, ROWS), BY, UNIVERSE)
    assert table.counts.tolist() == [3, 1, 0, 0, 0, 1]
    assert table.schema.kind == "pyarrow"


def test_the_same_rows_are_kept_as_in_duckdb_and_in_memory(spark: Any, tmp_path: Path) -> None:
    """Of people with up to nine rows, in any order, over any number of tasks."""
    pairs = list(product(*UNIVERSE.values()))
    rng = np.random.default_rng(5)
    people = np.repeat(np.arange(300), rng.integers(1, 10, 300))
    rows = [(*pairs[place], f"p{who}") for who, place in zip(people, rng.integers(0, 6, len(people)))]
    expected = under_one_key(as_parquet(rows, tmp_path), 3)
    np.testing.assert_array_equal(under_one_key(as_arrow(rows, tmp_path), 3), expected)
    assert expected.sum() < len(rows)
    rng.shuffle(rows)
    frame = as_spark(spark, rows)
    for parts in (1, 5):
        np.testing.assert_array_equal(under_one_key(frame.repartition(parts), 3), expected)
    assert (under_one_key(frame, 3, KEY[::-1]) != expected).any()


def test_what_cannot_be_counted(spark: Any) -> None:
    with pytest.raises(BadInput, match=r"1 of the categories .* county = '09009', sex = 'f'"):
        dc.count(as_spark(spark, [*ROWS, ("09009", "f", "c")]), BY, UNIVERSE)
    with pytest.raises(BadInput, match=r"'person' says whose row it is.*t is empty in 1 row"):
        dc.count(as_spark(spark, [*ROWS, ("01001", "f", None)]), BY, UNIVERSE, "person", 1)  # type: ignore[list-item]
    with pytest.raises(BadInput, match="Did you mean 'person'"):
        dc.count(as_spark(spark, ROWS), BY, UNIVERSE, "persn", 1)
    for bad, kind in ((float("nan"), "double"), ("", "string")):
        nobody = spark.createDataFrame([("f", bad), ("m", bad)], f"sex string, person {kind}")
        with pytest.raises(BadInput, match=r"empty in 2 row"):
            dc.count(nobody, "sex", {"sex": ["f", "m"]}, "person", 1)
    lists = spark.createDataFrame([("f", ["a, b"]), ("m", ["a", "b"])], "sex string, person array<string>")
    with pytest.raises(BadInput, match="no texts or numbers"):
        dc.count(lists, "sex", {"sex": ["f", "m"]}, "person", 1)
    twice = spark.createDataFrame([("f", "a")], "person string, Person string")
    with pytest.raises(BadInput, match="2 columns of that name"):
        dc.count(twice, "person", {"person": ["f", "m"]}, "Person", 1)
    octets = spark.createDataFrame([("f", bytearray(b"\xff"))] * 2, "sex string, person binary")
    with pytest.raises(BadInput, match=r"Spark data frame was to be counted.*UnicodeDecodeError"):
        dc.count(octets, "sex", {"sex": ["f", "m"]}, "person", 1)


def test_zero_and_minus_zero_are_one_person(spark: Any) -> None:
    frame = spark.createDataFrame([("f", 0.0), ("f", -0.0)], "sex string, person double")
    assert dc.count(frame, "sex", {"sex": ["f", "m"]}, "person", 1).counts.tolist() == [1, 0]


def test_rows_are_read_once(spark: Any) -> None:
    """A frame that is another one whenever it is looked at: what is kept of a person is of one look at it, so that
    nobody is counted above the bound. With two looks some would be: who had one row in the first had others in the
    second."""
    people = spark.range(0, 600, 1, 2).selectExpr("'f' AS sex", "cast(id AS string) AS person")
    looks = spark.sparkContext.accumulator(0)

    def counted(batches: Any) -> Any:
        looks.add(1)
        yield from batches

    frame = people.mapInArrow(counted, "sex string, person string")
    dc.count(frame, "sex", {"sex": ["f", "m"]})
    once = looks.value
    dc.count(frame, "sex", {"sex": ["f", "m"]}, "person", 1)
    assert looks.value == 3 * once  # to check what is in it, and to bound it


def test_a_frame_is_collected_where_a_table_is_meant(spark: Any) -> None:
    frame = spark.createDataFrame([("b", 2), ("a", 5)], "county string, murders long")
    table = dc.table(frame, count="murders", keys=["county"])
    assert (table.counts.tolist(), list(table.schema.column("county"))) == ([5, 2], ["a", "b"])


def test_workers_of_another_python_are_told_of_with_what_to_do() -> None:
    """Spark's own guess is the first python3 on the path, which may have no discreet."""
    trace = (
        "Job aborted\n  File 'serializers.py'\nModuleNotFoundError: No module named 'discreet'\n at org.apache.spark"
    )
    assert "Set PYSPARK_PYTHON to the path of this Python" in said_by_spark(RuntimeError(trace))
    assert said_by_spark(RuntimeError("Job aborted\nValueError: no")) == "ValueError: no"
