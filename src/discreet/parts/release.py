"""Release a table in parts: look at every part, plan, charge; then the work, which only a manifest commits."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import BadInput, true_or_false
from discreet.io.place import secret_folder
from discreet.numbers import Epsilon, Number, whole
from discreet.options import keywords_of, spelt
from discreet.parts.engine import Engine, engine_of
from discreet.parts.front import PART_ROWS, Arranged, arranged
from discreet.parts.given import given_parts
from discreet.parts.keyed import Randomness, drawn
from discreet.parts.passes import Look, Reading, blocks_of, read_part
from discreet.parts.work import PaidWork, PartsRelease
from discreet.privacy.values import Loss
from discreet.release import asked, check_about, ignore, spending_of
from discreet.released import Stages
from discreet.sample.bits import source
from discreet.table import Schema
from discreet.ways import PartBlocks, WaySpec, way_named

if TYPE_CHECKING:
    from discreet.ledger.spending import Spending
    from discreet.record.release import About


@spelt
def release_parts(
    parts: str | Path | Sequence[str | Path],
    count: str | None = None,
    keys: Sequence[str] | str | None = None,
    epsilon: Number | Epsilon | Loss | None = None,
    way: WaySpec | None = None,
    *,
    out: str | Path | None = None,
    engine: str | Engine = "local",
    os_randomness: bool = False,
    universe: Any = None,
    contributions: int | None = None,
    drop_totals: bool = False,
    rows_are_disjoint: bool = False,
    suppressed_as: int | None = None,
    part_rows: int = PART_ROWS,
    alpha: Number | None = None,
    rho: Number | None = None,
    delta: Number = 0,
    measurements: bool = True,
    about: About | None = None,
    ledger: Any = None,
    dataset: str | None = None,
    note: str = "",
    who: str = "",
    accept_disclosure: bool = False,
    seed: int | None = None,
    before: Callable[[Schema], None] | None = None,
    stages: Stages | None = None,
    **options: Any,
) -> PartsRelease:
    """Publish private counts in place of those of a table in Parquet parts, which may be larger than memory.

    parts: a folder of Parquet files, a pattern, or a list of files. count, keys: as in `read_table`; '*' as the count:
    every row is a person, and people are counted over the universe. out: the folder to write.
    engine: 'local', 'spark', or an object with a method run(function, tasks).
    os_randomness: all random bits from the operating system, written down before use and destroyed afterwards; if not
    given they come from SHAKE-256 and a key that is never written.
    part_rows: how long parts are made, where they have to be sorted anew.
    before: told what will be published before anything is spent. The rest is as in `release` and `read_table`.
    """
    check_about(about)
    loss, spec = asked(epsilon, way, options, BESIDE, alpha=alpha, rho=rho, delta=delta)
    hooks = way_named(spec.name).in_parts
    if hooks is None:
        raise not_in_parts(spec)
    spec = spec if hooks.narrowed is None else hooks.narrowed(spec)
    reading = Reading(_one(count), _keys(keys), contributions, drop_totals, rows_are_disjoint, suppressed_as)
    kept = None if hooks.by is None else hooks.by(spec)
    for name, value in (
        ("os_randomness", os_randomness), ("drop_totals", drop_totals), ("rows_are_disjoint", rows_are_disjoint)
    ):  # fmt: skip
        true_or_false(value, name)
    given, used = given_parts(parts), whole(part_rows, "part_rows", 1)
    target = _apart(out, given.folder)
    at, bits = stages or ignore, source(seed)
    from discreet.io.place import free_target, place_for
    from discreet.ledger.paying import open_book

    book = open_book(ledger, dataset, bits, note=note, who=who, accept_disclosure=accept_disclosure)
    recorder = None if book is None else book.recorder(str(dataset))
    runner = engine_of(engine, given.rows)
    with secret_folder(free_target(target)) as scratch, place_for(target, scratch) as place:
        at("look at the parts")
        tags = hashlib.sha256(b"tags" + drawn(seed).key).digest()  # a key by which data are known again, of no noise
        first = Look(reading, tags, spec.name, kept)
        ready, reading = arranged(given, first, universe, runner, scratch, used)
        schema = _schema(ready, reading)
        plan = _planned(schema, loss, spec, ready, kept)
        hooks.require(plan)
        spending = None if recorder is None else _spending(schema, spec, plan, ready, reading)
        if before is not None:
            before(schema)
        at("record")
        entry = None
        if recorder is not None and spending is not None:
            entry = recorder(replace(spending, note=note, who=who, accept_disclosure=accept_disclosure))
        work = PaidWork(place, scratch, runner, spec, plan, schema, ready, reading, at, measurements, kept)
        made = work.released(_randomness(seed, scratch, os_randomness), tags, bits, about, entry)
    if entry is not None:
        from discreet.ledger.paying import tell
        from discreet.record.release import drawn_of

        at("tell the ledger")
        tell(book, entry, made.digest, drawn_of(made.publication))
    return made


BESIDE = keywords_of(release_parts)


def _planned(schema: Schema, loss: Loss, spec: WaySpec, ready: Arranged, kept: Any) -> Any:
    """From public values: the schema, and where sums are kept how many rows of each are in which part."""
    way = way_named(spec.name)
    hooks = way.in_parts
    if kept is None or hooks is None or hooks.plan is None:
        return way.plan(schema, loss, spec)
    return hooks.plan(schema, loss, spec, _blocks(spec.name, kept, ready))


def _blocks(way: str, kept: Any, ready: Arranged) -> PartBlocks:
    """The blocks of all parts, numbered; their keys are public."""
    import pyarrow as pa

    every = pa.concat_tables([one.blocks for one in ready.looked]).combine_chunks()
    number, labels = blocks_of(way, kept, every)
    sizes = [one.sizes for one in ready.looked if one.sizes is not None]
    ends = np.cumsum([len(one) for one in sizes])[:-1]
    return PartBlocks(labels, tuple(np.split(number, ends)), tuple(sizes))


def not_in_parts(spec: WaySpec) -> BadInput:
    return BadInput(
        f"a release that goes the way {spec.name!r} was asked for in parts",
        "it needs all rows at once",
        "In parts go: the default, consistent, signed, favor, mechanisms row by row such as geometric, and a kept "
        "total or margin",
    )


def _apart(out: Any, folder: str | None) -> Path:
    """A folder to write, and not among the parts: the next release would take it for some of them."""
    if not isinstance(out, (str, Path)):
        raise BadInput("a release in parts was to be made", "no folder to write is named", "Give out")
    if folder is not None and Path(out).absolute().is_relative_to(folder):
        found = f"it lies in {folder}, whose files are the parts"
        raise BadInput(f"the release was to be saved in {out}", found, "Name a folder elsewhere")
    return Path(out)


def _one(count: Any) -> str:
    if not isinstance(count, str):
        raise BadInput(f"count was given as {count!r}", "in parts one column of counts is released", "Name one column")
    return count


def _keys(keys: Any) -> tuple[str, ...] | str | None:
    if keys is not None and not isinstance(keys, (str, list, tuple)):
        raise BadInput(f"keys was given as {keys!r}", "it is no list of columns", "Name the key columns, or 'all'")
    return keys if keys is None or isinstance(keys, str) else tuple(str(name) for name in keys)


def _randomness(seed: int | None, scratch: Path, os_randomness: bool) -> Randomness:
    if not os_randomness:
        return drawn(seed)
    words = scratch / "words"
    words.mkdir()
    return drawn(seed, str(words))


def _schema(ready: Arranged, reading: Reading) -> Schema:
    first = ready.looked[0]
    return Schema(
        tuple(name for name, _ in first.columns), reading.count, ready.rows, None, "parquet", first.contributions,
        "sorted", any(one.disjoint for one in ready.looked), sum(one.dropped_totals for one in ready.looked),
        reading.suppressed_as,
    )  # fmt: skip


def _spending(schema: Schema, spec: WaySpec, plan: Any, ready: Arranged, reading: Reading) -> Spending:
    """What is about to be spent. Where sums are kept, the ledger has to see the rows that they are sums of: what they
    give away with the sums of other releases depends on them."""
    if not plan.discloses:
        return spending_of(schema, spec, plan, None, _public_table(schema, ready))
    from discreet.ledger.disclosure import MOST_ROWS

    if schema.rows > MOST_ROWS:
        found = f"the table has {schema.rows:,} rows, and a ledger compares the kept sums of {MOST_ROWS:,} at most"
        raise BadInput(
            "sums were to be kept, and a ledger was given", found, "Keep none, or release it without a ledger"
        )
    import pyarrow as pa

    tables = [reading.table(read_part(one.part, file), file) for one, file in ready.each()]
    keys = pa.concat_tables([one.schema.categories for one in tables]).combine_chunks()
    counts = np.concatenate([one.counts for one in tables])
    return spending_of(replace(schema, categories=keys), spec, plan, counts)


def _public_table(schema: Schema, ready: Arranged) -> Any:
    """The table as the ledger knows it: by its parts, whose keys are public."""
    from discreet.ledger.documents import digest_of
    from discreet.ledger.spending import PublicTable

    parts = digest_of({"parts": [one.keys for one in ready.looked], "rows": schema.rows})
    return PublicTable(schema.keys, schema.count, schema.rows, parts)
