"""Microdata in: one row per person (or event) becomes a table of counts over a public universe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from discreet.errors import BadInput
from discreet.numbers import whole
from discreet.options import listed, spelt
from discreet.table import Table

COUNT = "count"


@spelt
def count(
    data: Any, by: Sequence[str] | str, universe: Any, person: str | None = None, bound: int | None = None
) -> Table:
    """How many rows of `data` fall in each category of `universe`, zeros included.

    `data`: a CSV or Parquet file, which may be larger than memory, a pandas, polars or pyarrow frame, or a lazy frame
    (DuckDB, Spark, Ibis, Polars), which is counted where it is.
    `by`: the columns that make a category. `universe`: a frame or file with those columns, one row for each category;
    or, for each column, the list of its values, all combinations meant. It must be public: never take it from the data.
    `person`: the column that says whose row it is; at most `bound` rows of each person are counted, chosen at random.
    Without it every row is taken to be a different person.
    """
    from discreet.io.counted import saying
    from discreet.io.microdata import counted as counts_of
    from discreet.io.microdata.ranks import fresh_key
    from discreet.io.tables import table
    from discreet.io.totals import seeming_totals
    from discreet.io.universe import read_universe

    names = [str(name) for name in listed(by, (str,))]
    limit = _limit(names, person, bound)
    categories = read_universe(universe, names)
    if categories.num_rows == 0:
        raise BadInput("microdata were to be counted", "the universe has no categories")
    seems_total = bool(seeming_totals(categories).any())
    counts, kind = counts_of(data, names, categories, person, limit, fresh_key())
    # every row of the data went into one category, whatever its name: no category is a total of others
    frame = saying(categories.append_column(COUNT, [counts]), limit)
    counted = table(frame, COUNT, names, rows_are_disjoint=seems_total)
    return replace(counted, schema=replace(counted.schema, kind=kind))


def _limit(names: list[str], person: str | None, bound: int | None) -> int:
    """The most rows one person can change the counts by."""
    if not names or len(set(names)) != len(names) or COUNT in names:
        raise BadInput(
            f"microdata were to be counted by {', '.join(names) or 'nothing'}",
            f"the columns must be named, each once, and {COUNT!r} is the name of the result",
        )
    if (person is None) != (bound is None):
        raise BadInput(
            "microdata were to be counted",
            "a column of persons and a bound on the rows of each belong together",
            "Give both person and bound; or neither, if every row is a different person",
        )
    if person in names:
        raise BadInput(f"the column {person!r} was given as the person", "it is also a column to count by")
    return 1 if bound is None else whole(bound, "bound", 1)
