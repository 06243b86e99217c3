"""A release in parts that was paid for: draw every part, publish what they have together, map every part, commit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.io import MANIFEST
from discreet.io.place import removed
from discreet.parts.engine import Engine
from discreet.parts.front import Arranged
from discreet.parts.keyed import PartAddress, Randomness, destroyed
from discreet.parts.manifest import MEASUREMENTS, TABLE, Manifest, ManifestPart, earlier, write_manifest
from discreet.parts.passes import AddNoise, Reading, ToCounts, blocks_of, histogram_of
from discreet.parts.sorted import SORTED
from discreet.parts.tasks import NAME, Mapped, MapTask, Noised, NoiseTask, accepted
from discreet.public_map import SeenValues, together
from discreet.release import sealed_record
from discreet.released import Recorded
from discreet.sample.bits import Bits
from discreet.table import LARGEST_TOTAL, Schema
from discreet.ways import DrawnInParts, InParts, PartBlocks, Published, WaySpec, way_named

if TYPE_CHECKING:
    from discreet.io.place import Place
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


@dataclass(frozen=True, eq=False)
class PaidWork:
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
            second = ToCounts(
                self.spec.name, published.facts, first.version, self.schema.count, seen, self._drafts("map"), tags
            )
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
        found = accepted(self.engine.run(first, tasks), tasks, first.key, done)
        return self._committed_to(self.noisy_folder, found)

    def _mapped(self, second: ToCounts, noised: Sequence[Noised]) -> list[Mapped]:
        before = earlier(second.seen.values, [one.seen for one in noised])
        tasks = [MapTask(one.part, one.file, one.digest, so_far) for one, so_far in zip(noised, before)]
        done = _told(self.at, "map", len(tasks))
        found = accepted(self.engine.run(second, tasks), tasks, second.key, done)
        return self._committed_to(TABLE, found)

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
        from discreet.io.place import in_its_place
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
        in_its_place(self.place, entry)
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
        if file.is_symlink() or not file.is_file() or _digest(file) != one.digest:
            found = f"the file of part {one.part + 1} is not the one that was written"
            raise BadInput("a release was made in parts", found, "Look at the disk, and release again")
        final = folder / NAME.format(one.part)
        file.rename(final)
        taken.append(replace(one, file=str(final)))
    return taken


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


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
