"""Overlapping tables of one set of cells, released together: measured once, published everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discreet.arrays import FrameT
from discreet.errors import BadInput
from discreet.numbers import Epsilon, Number
from discreet.options import spelt
from discreet.privacy.values import Loss
from discreet.release import release
from discreet.released import Release
from discreet.table import Table
from discreet.ways import WaySpec

ASKED = "several tables were to be released together"


@spelt
def release_many(
    tables: Sequence[Table[FrameT]],
    epsilon: Number | Epsilon | Loss | None = None,
    way: WaySpec | None = None,
    *,
    alpha: Number | None = None,
    rho: Number | None = None,
    delta: Number = 0,
    **options: Any,
) -> Release[FrameT]:
    """Publish several tables of the same people that overlap, at the price of one, as one release.

    The first table, or whichever has the key columns of all others, holds the cells; every other one must be sums of
    them. The cells are released once, and the other tables are sums of what is published: the same cell has one number
    in all of them, and each is verified with the folder. `Release.tables` has the cells first, then the others in the
    order given.

    options: as of `release`. Without a way or an option of one, every table is measured as well as the cells, so that
    its sums err little, and all is combined into one table (`Measure`).
    """
    from discreet.record.release import PublishedTable

    cells = _cells_of(tables)
    place = next(k for k, table in enumerate(tables) if table is cells)
    views = [*tables[:place], *tables[place + 1 :]]
    _check(cells, views)
    if way is None and not _names_a_way(options):
        options = {**options, "measure": [*(f"margin:{','.join(view.schema.keys)}" for view in views), "cells"]}
    done = release(cells, epsilon, way, alpha=alpha, rho=rho, delta=delta, **options)
    (first,) = done.record.tables
    more = tuple(PublishedTable("", (*view.schema.keys, cells.schema.count)) for view in views)
    record = replace(done.record, tables=(first, *more))
    return replace(done, publication=replace(done.publication, record=record))


def _names_a_way(options: Mapping[str, Any]) -> bool:
    from discreet.options import options_of
    from discreet.ways import ways_by_keyword

    return any(name in options_of(kind) for kind in ways_by_keyword() for name in options)


def _cells_of(tables: Sequence[Table[FrameT]]) -> Table[FrameT]:
    from discreet.io.views import MOST_VIEWS

    if not isinstance(tables, Sequence) or not tables or not all(isinstance(one, Table) for one in tables):
        raise BadInput(ASKED, "no list of tables was given", "Use read_table or table for each")
    if len(tables) > MOST_VIEWS + 1:
        raise BadInput(ASKED, f"{len(tables)} are more than {MOST_VIEWS + 1}", "Release them in groups")
    every = {key for table in tables for key in table.schema.keys}
    cells = next((table for table in tables if set(table.schema.keys) == every), None)
    if cells is None:
        found = f"none of them has all of the key columns {', '.join(sorted(every))}"
        raise BadInput(ASKED, found, "Give the table of the cells that all of them are sums of, too")
    return cells


def _check(cells: Table, views: Sequence[Table]) -> None:
    """Every further table is sums of the cells, has keys of its own, and counts the same."""
    from discreet.io.views import view_of

    seen: set[frozenset[str]] = set()
    for view in views:
        keys, name = view.schema.keys, ", ".join(view.schema.keys) or "no keys"
        asked = f"the table by {name} was to be released with others"
        if not keys or len(keys) == len(cells.schema.keys) or frozenset(keys) in seen:
            raise BadInput(asked, "there are two of it, or it has no keys", "Give every table once")
        seen.add(frozenset(keys))
        for what in ("count", "contributions"):
            one, other = (getattr(table.schema, what) for table in (view, cells))
            if one != other:
                raise BadInput(
                    asked, f"its {what} is {one!r}, and that of the cells {other!r}", "Give the same for all"
                )
        rows, sums = view_of(cells.schema.categories, keys, cells.counts)
        own, counts = view_of(view.schema.categories, keys, view.counts)
        if not rows.equals(own) or not np.array_equal(sums, counts):
            do = "Sum the cells up again; rows that are not there count as none"
            raise BadInput(asked, "its rows or counts are not those of the cells, added up", do)
