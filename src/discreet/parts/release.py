"""Release a table in parts: look, charge, draw every part, publish what they have together, map every part, commit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput, true_or_false
from discreet.io import MANIFEST
from discreet.io.secret import removed, secret_folder
from discreet.numbers import Epsilon, Number, whole
from discreet.options import keywords_of, spelt
from discreet.parts.engine import Engine, engine_of
from discreet.parts.front import PART_ROWS, Arranged, arranged
from discreet.parts.given import given_parts
from discreet.parts.keyed import PartAddress, Randomness, destroyed, drawn
from discreet.parts.manifest import MEASUREMENTS, TABLE, Manifest, ManifestPart, earlier, write_manifest
from discreet.parts.passes import AddNoise, Look, Reading, ToCounts, blocks_of, histogram_of, read_part
from discreet.parts.sorted import SORTED
from discreet.parts.tasks import NAME, Mapped, MapTask, Noised, NoiseTask, accepted
from discreet.privacy.values import Loss
from discreet.public_map import SeenValues, together
from discreet.release import asked, check_about, ignore, sealed_record, spending_of
from discreet.released import Recorded, Stages
from discreet.sample.bits import Bits, source
from discreet.table import LARGEST_TOTAL, Schema
from discreet.ways import DrawnInParts, InParts, PartBlocks, Published, WaySpec, way_named

if TYPE_CHECKING:
    from discreet.io.folder import Place
    from discreet.ledger.spending import Spending
    from discreet.record.release import About, LedgerEntry, Publication


@dataclass(frozen=True, eq=False)
class PartsRelease(Recorded):
    """A finished release in parts, in its folder. Everything in it is public."""

    folder: Path
    publication: Publication[Any] = field(repr=False)
    manifest: Manifest = field(repr=False)
    digest: str  # of release.json

    @property
    def schema(self) -> Any:
        """What everybody may know of the table."""
        return self.record.schema

    @property
    def parts(self) -> list[Path]:
        """The files of the table, in the order of their keys."""
        return [self.folder / TABLE / NAME.format(number) for number in range(len(self.manifest.parts))]

    def __repr__(self) -> str:
        rows, parts = self.record.schema.rows, len(self.manifest.parts)
        return f"<Release of {rows} rows in {parts} parts, {self.mechanism.name}: {self.guarantee.sentence}>"


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
    from discreet.io.folder import free_target, place_for
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
        work = _Work(place, scratch, runner, spec, plan, schema, ready, reading, at, measurements, kept)
        made = work.released(_randomness(seed, scratch, os_randomness), tags, bits, about, entry)
    if entry is not None:
        from discreet.ledger.paying import tell
        from discreet.record.release import drawn_of

        at("tell the ledger")
        sums = None if kept is None else made.record.facts.invariants.sums
        tell(book, entry, made.digest, sums, drawn_of(made.publication))
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
        return spending_of(schema, spec, plan, _public_table(schema, ready))
    from discreet.ledger.disclosure import MOST_ROWS

    if schema.rows > MOST_ROWS:
        found = f"the table has {schema.rows:,} rows, and a ledger compares the kept sums of {MOST_ROWS:,} at most"
        raise BadInput(
            "sums were to be kept, and a ledger was given", found, "Keep none, or release it without a ledger"
        )
    import pyarrow as pa

    keys = [reading.table(read_part(one.part, file), file).schema.categories for one, file in ready.each()]
    return spending_of(replace(schema, categories=pa.concat_tables(keys).combine_chunks()), spec, plan)


def _public_table(schema: Schema, ready: Arranged) -> Any:
    """The table as the ledger knows it: by its parts, whose keys are public."""
    from discreet.ledger.documents import digest_of
    from discreet.ledger.spending import PublicTable

    parts = digest_of({"parts": [one.keys for one in ready.looked], "rows": schema.rows})
    return PublicTable(schema.keys, schema.count, schema.rows, parts)


@dataclass(frozen=True, eq=False)
class _Work:
    """A release that was paid for, on its way."""

    place: Place
    scratch: Path  # where tasks write, each under a name of its own
    engine: Engine
    spec: WaySpec
    plan: Any
    schema: Schema
    ready: Arranged
    reading: Reading
    at: Callable[[str], None]
    measurements: bool
    kept: Any  # what makes the blocks whose sums are kept, where some are

    @property
    def hooks(self) -> InParts[Any, Any]:
        hooks = way_named(self.spec.name).in_parts
        assert hooks is not None
        return hooks

    def released(
        self, randomness: Randomness, tags: bytes, bits: Bits, about: About | None, entry: LedgerEntry | None
    ) -> PartsRelease:
        """Everything after the charge. Only the last step makes a release of it."""
        slim = self.plan if self.hooks.for_tasks is None else self.hooks.for_tasks(self.plan)
        first = AddNoise(
            self.spec.name, slim, self._plan_digest(), _version(), self.reading, self._drafts("noise"),
            tags, randomness, self.hooks.asks(self.plan), self.kept,
        )  # fmt: skip
        noised = self._drawn(first)
        removed(self.scratch / SORTED)  # nobody needs the true counts any more
        self.at("publish")
        seen = together([one.seen for one in noised])
        published = self.hooks.publish(self.plan, self._together(first, noised, seen, bits))
        randomness = destroyed(randomness)
        table: list[Noised] | list[Mapped] = noised
        if self.hooks.maps(self.plan):
            second = ToCounts(self.spec.name, published.facts, self.schema.count, seen, self._drafts("map"))
            table = self._mapped(second, noised)
        self.at("save")
        return self._committed(published, noised, table, randomness, about, entry)

    @property
    def noisy_folder(self) -> str:
        return MEASUREMENTS if self.hooks.maps(self.plan) else TABLE

    def _drafts(self, name: str) -> str:
        """Not in the release: a late copy of a task may still write there when all is committed."""
        path = self.scratch / name
        path.mkdir()
        return str(path)

    def _committed_to(self, name: str, summaries: Sequence[Any]) -> list[Any]:
        (self.place.part / name).mkdir()
        return committed(summaries, self.place.part / name)

    def _plan_digest(self) -> bytes:
        """Of all that was asked for: another plan never meets the same bits."""
        from discreet.ledger.documents import digest_of
        from discreet.ledger.public import asked_for

        sections = asked_for(self.schema, self.plan.guarantee.loss, self.spec)
        return bytes.fromhex(digest_of({**sections, "rows": self.schema.rows, "parts": len(self.ready.files)}))

    def _drawn(self, first: AddNoise) -> list[Noised]:
        given: Iterable[bytes] = repeat(b"")
        if self.hooks.dealt is not None:
            given = self.hooks.dealt(self.plan, first.randomness.bits(self._address(first, "dealt")))
        tasks = []
        for one, file, secret in zip(self.ready.looked, self.ready.files, given):
            bare = NoiseTask(one.part, file, one.tag)
            sealed = first.randomness.sealed(secret, first.address(bare, "given"))
            tasks.append(replace(bare, sealed=sealed))
        done = _told(self.at, "draw", len(tasks))
        return self._committed_to(self.noisy_folder, accepted(self.engine.run(first, tasks), tasks, done))

    def _mapped(self, second: ToCounts, noised: Sequence[Noised]) -> list[Mapped]:
        before = earlier(second.seen.values, [one.seen for one in noised])
        tasks = [MapTask(one.part, one.file, one.digest, so_far) for one, so_far in zip(noised, before)]
        done = _told(self.at, "map", len(tasks))
        return self._committed_to(TABLE, accepted(self.engine.run(second, tasks), tasks, done))

    def _together(self, first: AddNoise, noised: Sequence[Noised], seen: SeenValues, bits: Bits) -> DrawnInParts:
        """What was drawn, and what is drawn once for all parts."""
        secret = None
        if self.hooks.asks(self.plan) is not None:
            addresses = (first.address(NoiseTask(one.part, "", one.tag), "told") for one in self.ready.looked)
            opened = (first.randomness.sealed(one.sealed, address) for one, address in zip(noised, addresses))
            secret = together([histogram_of(one) for one in opened])
        sums = None if self.kept is None else self._sums(noised)
        rows_of = None if self.kept is None else (lambda blocks: self._rows_of(blocks, noised))
        return DrawnInParts(seen, first.randomness.bits(self._address(first, "together")), bits, secret, sums, rows_of)

    def _address(self, first: AddNoise, purpose: str) -> PartAddress:
        """Of what is drawn once for all parts: of the same key, under the digest of all data."""
        tags = hashlib.sha256(b"".join(one.tag for one in self.ready.looked)).digest()
        return PartAddress(tags, first.digest, first.version, len(self.ready.files), purpose)

    def _sums(self, noised: Sequence[Noised]) -> Integers:
        """Of every block, the sum of its noisy values: what is kept."""
        blocks: PartBlocks = self.plan.blocks
        found, near = np.zeros(len(blocks.labels), dtype=np.int64), np.zeros(len(blocks.labels))
        for one, pieces in zip(noised, blocks.pieces):
            assert one.sums is not None
            np.add.at(found, pieces, one.sums)
            near[pieces] += one.sums
        if np.abs(near).max(initial=0) > LARGEST_TOTAL:  # a sum would come out wrong, and be published so
            found_sums = "the counts of all parts add up to more than 2^62"
            raise BadInput("sums were to be kept in parts", found_sums, "Count in larger units")
        return found

    def _rows_of(self, blocks: Integers, noised: Sequence[Noised]) -> Integers:
        """The places of the rows of some blocks; only parts that have one are read."""
        import pyarrow.parquet as pq

        found, start = [np.zeros(0, dtype=np.int64)], 0
        for one, pieces in zip(noised, self.plan.blocks.pieces):
            wanted = np.isin(pieces, blocks)
            if wanted.any():
                keys = pq.read_table(one.file, columns=list(self.schema.keys))
                found.append(np.flatnonzero(wanted[blocks_of(self.spec.name, self.kept, keys)[0]]) + start)
            start += one.rows
        return np.concatenate(found)

    def _committed(
        self, published: Published[Any], noised: Sequence[Noised], table: Sequence[Noised | Mapped],
        randomness: Randomness, about: About | None, entry: LedgerEntry | None,
    ) -> PartsRelease:  # fmt: skip
        """The manifest, and all that is said of the release; its folder takes its name last."""
        from discreet.io.folder import in_its_place
        from discreet.record.release import PartsFacts, Publication

        apart = self.hooks.maps(self.plan)
        shown = apart and self.measurements
        if apart and not shown:
            removed(self.place.part / MEASUREMENTS)
        parts = tuple(
            ManifestPart(two.rows, two.digest, two.seen, one.digest if shown else None, one.seen if shown else None)
            for one, two in zip(noised, table)
        )
        manifest = Manifest(parts)
        facts = PartsFacts(len(parts), randomness.kind, published.guarantee.grade)
        record = sealed_record(self.schema, self.spec.name, published, randomness.seed is None, about, entry, facts)
        whole_seen = manifest.whole
        noisy = None if whole_seen.measured is None else whole_seen.measured.values
        publication = Publication(record, None, whole_seen.counts.values, noisy, in_parts=whole_seen)
        publication, digest = write_head(self.place.part, publication, manifest, self._formulas())
        in_its_place(self.place)
        return PartsRelease(self.place.target, publication, manifest, digest)

    def _formulas(self) -> tuple[str, ...]:
        """Key columns with values that a spreadsheet would take for formulas, in any part."""
        found = {name for one in self.ready.looked for name in one.formulas}
        return tuple(name for name in self.schema.keys if name in found)


def _told(at: Callable[[str], None], what: str, parts: int) -> Callable[[int], None]:
    return lambda done: at(f"{what}: {done} of {parts} parts")


def _version() -> str:
    import discreet

    return discreet.__version__


def committed(summaries: Sequence[Any], folder: Path) -> list[Any]:
    """The files that were taken, under their public names; every other one stays behind, and goes with the drafts."""
    taken = []
    for one in summaries:
        file = Path(one.file)
        with file.open("rb") as content:
            if hashlib.file_digest(content, "sha256").hexdigest() != one.digest:
                found = f"the file of part {one.part + 1} is not the one that was written"
                raise BadInput("a release was made in parts", found, "Look at the disk, and release again")
        final = folder / NAME.format(one.part)
        file.rename(final)
        taken.append(replace(one, file=str(final)))
    return taken


def write_head(
    folder: Path, publication: Publication[Any], manifest: Manifest, formulas: Sequence[str]
) -> tuple[Publication[Any], str]:
    """manifest.json, the pages, and release.json last: it holds the digests of the others."""
    from discreet.io import RECORD
    from discreet.io.formulas import formulas_in
    from discreet.io.written_csv import write_text, written
    from discreet.record.release import Measurements, mark_of, write_record
    from discreet.report import pages, rendered_by

    measured = (Measurements("cells", MEASUREMENTS),) if publication.measured is not None else ()
    said = formulas_in(formulas, False)
    table = replace(publication.record.tables[0], file=TABLE, measurements=measured, remarks=said)
    record = replace(publication.record, tables=(table,), rendered=rendered_by())
    publication = replace(publication, record=record)
    content = write_manifest(manifest)
    (folder / MANIFEST).write_bytes(content)
    digests = {MANIFEST: hashlib.sha256(content).hexdigest()}
    for name, text in pages(publication).items():
        digests[name] = written(folder / name, write_text, text)
    record = replace(record, digests=dict(sorted(digests.items())), mark=mark_of(record.private, digests[MANIFEST]))
    head = write_record(record).encode()
    (folder / RECORD).write_bytes(head)
    return replace(publication, record=record), hashlib.sha256(head).hexdigest()
