"""Microdata in Spark. Only counts come here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.io.microdata import NAMELESS, SIZE, category, refuse_nested
from discreet.io.microdata.ranks import ranked_rows
from discreet.io.spark import column, said_by_spark, sent, session_of, spark_error

WHO = "who"
RANK, PLACE, TOTAL = "rank", "place", "total"
FLOATS = ("float", "double")
NESTED = ("struct", "array", "map", "variant")  # their texts may be alike where they are not
TOP = np.uint64(1 << 63)  # flipped, so that signed numbers have the order of ranks


@contextmanager
def opened_frame(frame: Any) -> Iterator[InSpark]:
    try:
        yield InSpark(frame)
    except spark_error() as error:
        raise BadInput("a Spark data frame was to be counted", said_by_spark(error)) from error


@dataclass(frozen=True, eq=False)
class InSpark:
    """A Spark DataFrame with a row for each row."""

    frame: Any
    kind: str = "pyarrow"

    @property
    def columns(self) -> list[str]:
        return list(self.frame.columns)

    @property
    def tells_capitals(self) -> bool:
        return False

    def grouped(self, names: list[str], person: str | None) -> Any:
        from pyspark.sql import functions as f

        types = dict(self.frame.dtypes)
        for name in [*names, *([person] if person else [])]:
            if types[name].startswith(NESTED):
                raise refuse_nested(name, types[name])
        absent = f.lit(0) if person is None else f.count_if(_nameless(person, types[person]))
        totals = [f.count(f.lit(1)).alias(SIZE), absent.cast("long").alias(NAMELESS)]
        return self.frame.groupBy(*self._categories(names)).agg(*totals).toArrow()

    def bounded(self, names: list[str], person: str, bound: int, key: bytes) -> Any:
        """Ranks are made by Python in the tasks: retried, speculated on or recomputed, they come out the same. The
        frame is read once: a plan that reads it twice may see other rows, and keep more of a person than the bound."""
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        who, theirs = self._text(person).alias(WHO), Window.partitionBy(WHO)
        own = self.frame.groupBy(who, *self._categories(names)).agg(f.count(f.lit(1)).alias(SIZE))
        keys = [category(place) for place in range(len(names))]
        lines = own.where(f.col(WHO).isNotNull()).select(WHO, *keys, SIZE, f.sum(SIZE).over(theirs).alias(TOTAL))
        schema = f"{WHO} string, {', '.join(f'{name} string' for name in keys)}, {SIZE} long, {RANK} long"
        with sent(_Ranked(key, bound), session_of(self.frame)) as ranked:
            rows = lines.mapInArrow(ranked, schema)
            place = f.row_number().over(theirs.orderBy(RANK, *keys))
            kept = rows.select(*keys, SIZE, RANK, place.alias(PLACE)).where(
                f.col(RANK).isNull() | (f.col(PLACE) <= bound)
            )
            return kept.groupBy(*keys).agg(f.sum(SIZE).alias(SIZE)).toArrow()

    def _text(self, name: str) -> Any:
        """A value as text; minus zero is zero."""
        floating = dict(self.frame.dtypes)[name] in FLOATS
        return (column(name) + 0 if floating else column(name)).cast("string")

    def _categories(self, names: list[str]) -> list[Any]:
        from pyspark.sql import functions as f

        texts = map(self._text, names)
        return [f.coalesce(text, f.lit("")).alias(category(place)) for place, text in enumerate(texts)]


@dataclass(frozen=True)
class _Ranked:
    """From a line for each person and category: where the person has more rows than the bound a line for each row, with
    its rank; where not, the line as it is, without one."""

    key: bytes
    bound: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            *texts, sizes, totals = batch.columns
            many = totals.to_numpy() > self.bound
            lines, over = pa.array(np.flatnonzero(~many)), pa.array(np.flatnonzero(many))
            place, words = ranked_rows(self.key, [one.take(over) for one in texts], sizes.take(over).to_numpy())
            each, names = over.take(pa.array(place)), [*batch.schema.names[:-1], RANK]
            signed = pa.array((words ^ TOP).view(np.int64))  # in the same order
            ones = pa.array(np.ones(len(place), dtype=np.int64))
            yield pa.RecordBatch.from_arrays([*(one.take(each) for one in texts), ones, signed], names=names)
            none = pa.nulls(len(lines), pa.int64())
            yield pa.RecordBatch.from_arrays([*(one.take(lines) for one in (*texts, sizes)), none], names=names)


def _nameless(person: str, kind: str) -> Any:
    from pyspark.sql import functions as f

    value = column(person)
    absent = value.isNull() | (value.cast("string") == "")
    return absent | f.isnan(value) if kind in FLOATS else absent
