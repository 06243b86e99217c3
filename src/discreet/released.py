"""A finished release, in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from discreet.arrays import FrameT, Integers
from discreet.options import spelt
from discreet.privacy.values import Guarantee
from discreet.shown import Shown
from discreet.table import Schema
from discreet.ways import LongKeys, way_named

if TYPE_CHECKING:
    from discreet.certify.prove import Proof
    from discreet.io.place import Place
    from discreet.record.release import Publication, ReleaseRecord

Stages = Callable[[str], None]  # called with the name of each stage as it begins


class Recorded:
    """What a release says of itself, whole or in parts: all of it stands in its record."""

    publication: Publication[Any]

    @property
    def record(self) -> ReleaseRecord[Any]:
        """All facts about the release, as they stand in release.json."""
        return self.publication.record

    @property
    def guarantee(self) -> Guarantee:
        return self.record.guarantee

    @property
    def certificate(self) -> Proof | None:
        return self.record.certificate

    @property
    def private(self) -> bool:
        return self.record.private

    @property
    def max_count(self) -> int | None:
        return self.record.schema.max_count

    @property
    def mechanism(self) -> Any:
        """How the counts were made; its fields depend on the way the release went."""
        return self.record.facts.mechanism

    @property
    def distribution(self) -> Any:
        """The private distribution of counts, where it was kept, or None."""
        return getattr(self.record.facts, "distribution", None)


@dataclass(frozen=True, eq=False, repr=False)
class Release(Recorded, Shown, Generic[FrameT]):
    """A finished release. Everything in it is public."""

    publication: Publication[Any]
    kind: str = "pyarrow"  # the frame that came in, and that goes out
    paid_from: Any = None  # the open ledger, to which saving is reported

    def __getstate__(self) -> dict[str, object]:
        """A ledger is not carried along: it is a connection, and its address may hold a password."""
        return {**vars(self), "paid_from": None}

    @property
    def counts(self) -> Integers:
        """The private counts, row by row."""
        return self.publication.counts

    @property
    def table(self) -> FrameT:
        """The public key columns and the private counts, as a frame of the kind that came in."""
        from discreet.io.frames import to_frame

        frame: FrameT = to_frame(self.schema, self.publication.counts)
        return frame

    @property
    def tables(self) -> list[FrameT]:
        """The table, and after it every further one that was released with it: sums of its counts, by fewer keys."""
        from discreet.io.frames import to_frame
        from discreet.io.views import view_of

        found = [self.table]
        for view in self.record.tables[1:]:
            rows, sums = view_of(self.publication.categories, view.columns[:-1], self.publication.counts)
            found.append(to_frame(replace(self.schema, keys=view.columns[:-1], rows=len(rows), categories=rows), sums))
        return found

    @property
    def measurements(self) -> Any:
        """The noisy signed values before any mapping, or None where there are none; a frame for every question, by its
        name, where several were asked."""
        from discreet.io.frames import to_frame
        from discreet.io.questions import measured_frames

        measured, long = self.publication.measured, self._long_keys
        if measured is None:
            return None
        return to_frame(self.schema, measured) if long is None else measured_frames(self.schema, long, measured)

    @property
    def answers(self) -> Any:
        """Where questions were asked: a frame for each, by its name, with the count that the table has, the best
        unbiased estimate, its standard deviation and a 95% interval. None where none were asked."""
        from discreet.io.questions import answer_frames

        answers, long = self.publication.answers, self._long_keys
        return None if answers is None or long is None else answer_frames(self.schema, long, answers)

    @property
    def _long_keys(self) -> LongKeys | None:
        keys = way_named(self.record.way).long_keys
        return None if keys is None else keys(self.record, self.publication.categories)

    @property
    def schema(self) -> Schema:
        """What everybody may know of the table."""
        facts = self.record.schema
        return Schema(
            facts.keys, facts.count, facts.rows, self.publication.categories, self.kind, facts.contributions,
            facts.order, facts.rows_are_disjoint, facts.dropped_totals, facts.suppressed_as,
        )  # fmt: skip

    @spelt
    def save(
        self,
        folder: str | Path | Place,
        format: str | None = None,
        stages: Stages | None = None,
        *,
        excel_safe: bool = False,
    ) -> str:
        """Write the release folder, whole or not at all; returns the digest of its release.json.

        `excel_safe` puts an apostrophe before keys that a spreadsheet would take for formulas. The ledger that it was
        paid from, if any, is told.
        """
        from discreet.io.folder import save

        if stages is not None:
            stages("save")
        digest = save(self, folder, format, excel_safe)
        if self.record.ledger is not None:
            from discreet.ledger.paying import tell
            from discreet.record.release import drawn_of

            if stages is not None:
                stages("tell the ledger")
            tell(self.paid_from, self.record.ledger, digest, drawn_of(self.publication))
        return digest
