"""Microdata in Spark. Only counts come here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.io.microdata import NAMELESS, SIZE, category
from discreet.io.microdata.ranks import ranked_rows
from discreet.io.spark import column, sent, session_of

WHO = "who"
RANK = "rank"
TOP = np.uint64(1 << 63)  # flipped, so that signed numbers have the order of ranks


@dataclass(frozen=True, eq=False)
class InSpark:
    """A Spark DataFrame with a row for each row."""

    frame: Any
    kind: str = "pyarrow"

    @property
    def columns(self) -> list[str]:
        return list(self.frame.columns)

    def grouped(self, names: list[str], person: str | None) -> Any:
        from pyspark.sql import functions as f

        absent = f.lit(0) if person is None else f.count_if(column(person).isNull())
        totals = [f.count(f.lit(1)).alias(SIZE), absent.cast("long").alias(NAMELESS)]
        return self.frame.groupBy(*_categories(names)).agg(*totals).toArrow()

    def bounded(self, names: list[str], person: str, bound: int, key: bytes) -> Any:
        """Ranks are made by Python in the tasks: retried, speculated on or recomputed, they come out the same."""
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        who = column(person).cast("string").alias(WHO)
        own = self.frame.groupBy(who, *_categories(names)).agg(f.count(f.lit(1)).alias(SIZE))
        totals = own.groupBy(WHO).agg(f.sum(SIZE).alias("total"))
        keys = [category(place) for place in range(len(names))]
        more = own.join(totals.where(f.col("total") > bound).select(WHO), WHO, "left_semi")
        others = own.join(totals.where(f.col("total") <= bound).select(WHO), WHO, "left_semi").select(*keys, SIZE)
        schema = f"{WHO} string, {', '.join(f'{name} string' for name in keys)}, {RANK} long"
        with sent(_Ranked(key), session_of(self.frame)) as ranked:
            rows = more.select(WHO, *keys, SIZE).mapInArrow(ranked, schema)
            first = f.row_number().over(Window.partitionBy(WHO).orderBy(RANK, *keys)) <= bound
            kept = (
                rows.select(*keys, first.alias("kept")).where("kept").select(*keys, f.lit(1).cast("long").alias(SIZE))
            )
            return kept.unionAll(others).groupBy(*keys).agg(f.sum(SIZE).alias(SIZE)).toArrow()


@dataclass(frozen=True)
class _Ranked:
    """A row for each row, with its rank, from a row for each person and category."""

    key: bytes

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            *texts, sizes = batch.columns
            place, words = ranked_rows(self.key, texts, sizes.to_numpy())
            rows = [values.take(pa.array(place)) for values in texts]
            signed = (words ^ TOP).view(np.int64)  # in the same order
            yield pa.RecordBatch.from_arrays([*rows, pa.array(signed)], names=[*batch.schema.names[:-1], RANK])


def _categories(names: list[str]) -> list[Any]:
    from pyspark.sql import functions as f

    return [
        f.coalesce(column(name).cast("string"), f.lit("")).alias(category(place)) for place, name in enumerate(names)
    ]
