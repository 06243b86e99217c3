"""Re-check a release folder, without the data: read once, prove again, replay."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import BadInput, DiscreetError, plain_name
from discreet.io import ANALYSIS, EXPLORE, MANIFEST, METADATA, RECORD, REPORT
from discreet.options import spelt
from discreet.report import DRAWING
from discreet.shown import Shown
from discreet.ways import NotApplicable

if TYPE_CHECKING:
    from discreet.io.folder import Contents, Folder
    from discreet.record.release import PublishedTable, ReleaseRecord

COLUMNS = "the table has the rows and columns it claims"
PRIVATE = "the mechanism is as private as it claims, proved again in exact arithmetic"
REPLAYED = "the table, and every number published beside it, fits the record"
FILES = "the folders of parts hold the parts that the manifest names, and no others"
ALL_PARTS = "every part is as the manifest says, follows from its measurements, and comes after the one before it"
ONE_PART = "the part is as the manifest says, and follows from its measurements"
PASSIVE = "the report states the guarantee, and nothing on it loads or runs anything"
NAMED = 5  # files that a sentence names
MEASURED = "the table follows from the published measurements"
KEPT = "the table has every kept sum"
PACKED = "Parquet files hold their tables and nothing else, byte by byte"
COMPARED = "the report is the one that follows from the record"
BESIDE = "explore.html, and what says what is in the tables, are those that follow from the record"
WRONG_SHEET = "The intervals in the workbook are not those of the release."
TABLES_SAID = "what says what is in the tables speaks of them and of nothing else"
SCRIPTS = "what runs, in explore.html and analysis.R, is a script of ours, letter by letter"
SEEDED = "The noise came from a seed: the release is NOT private, and nothing is proved about it."
VERSION = r"[0-9]{1,6}(\.[0-9a-z]{1,12}){0,5}(\+[0-9a-z.]{1,40})?"  # no longer: nothing else would look at it
NO_DATE = "The release says no date on which it was made."
NO_VERSION = "The release does not say which version made it."
MARKED = "the release is marked as private, and its table bears the mark"


@dataclass(frozen=True, repr=False)
class Verification(Shown):
    """What was checked, what did not apply and why, and every problem found, in sentences."""

    problems: tuple[str, ...]
    checked: tuple[str, ...]
    not_applicable: tuple[str, ...] = ()
    grade: str | None = None  # how firmly the guarantee is known, where the record could be read
    private: bool | None = None  # whether its noise came from no seed, where the record could be read

    @property
    def valid(self) -> bool:
        return not self.problems

    def __bool__(self) -> bool:
        return self.valid

    def as_json(self) -> dict[str, object]:
        return {
            "valid": self.valid,
            "private": self.private,
            "problems": list(self.problems),
            "checked": list(self.checked),
            "not_applicable": list(self.not_applicable),
        }


@spelt
def verify(folder: str | Path, digest: str | None = None, *, allow_seeded: bool = False) -> Verification:
    """Re-check a release: files, format, the proof of privacy, and every step after the noise.

    `folder` is that of a release; or the file of a part, which is then verified alone, from the manifest beside it.
    Every inconsistent edit is found. A forger who rewrites everything consistently is caught only by `digest`, the
    sha256 of release.json received by another way. Nothing can prove that the noise was honestly drawn.
    A release made from a seed is not private and fails, unless `allow_seeded`: then all else is checked.
    """
    from discreet.errors import Damaged
    from discreet.io.folder import read_contents
    from discreet.parts.verify import part_meant

    path, part = Path(folder), None
    if path.is_file() and (meant := part_meant(path)) is not None:
        path, part = meant
    if not (path / RECORD).is_file():
        raise BadInput(f"the release in {folder} was to be verified", f"there is no {RECORD} in it")
    try:  # nobody else holds the contents
        return verify_contents(read_contents(path), digest, allow_seeded=allow_seeded, part=part)
    except Damaged as error:
        return Verification((f"{error}.",), (f"{RECORD} can be read",))


def verify_contents(
    contents: Contents, digest: str | None = None, *, allow_seeded: bool = False, part: int | None = None
) -> Verification:
    """The same of a folder that was read; of a release in parts all of them, or one."""
    account = _Account()
    if digest is not None:
        account.add("the digest of release.json", lambda: _digest(contents, digest))
    account.add("the seal of release.json", lambda: _seal(contents))
    account.add("the digests of all files, and that there are no others", lambda: list(_wrong_files(contents)))
    if account.problems:
        return account.closed()
    read, contents = account.read(contents), contents.without_tables
    if read is not None:
        account.add(MARKED, lambda: _seeded(read, allow_seeded))
        checks = CHECKS if read.publication.record.parts is None else _checks_in_parts(contents, part)
        for what, run in checks.items():
            account.add(what, lambda run=run: run(read))  # type: ignore[misc]
        for what, run in LAST.items() if not account.problems else ():
            account.add(what, lambda run=run: run(read))  # type: ignore[misc]
    return account.closed()


@dataclass
class _Account:
    """What was looked at so far."""

    problems: list[str] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)
    not_applicable: list[str] = field(default_factory=list)
    grade: str | None = None
    private: bool | None = None

    def add(self, what: str, run: Callable[[], list[str]]) -> None:
        """A check that stumbles over a damaged value has found a problem."""
        try:
            self.problems += run()
        except NotApplicable as reason:
            self.not_applicable.append(f"{what}: {reason}")
            return
        except DiscreetError as error:
            self.problems.append(f"{what}: {error}")
        except MemoryError:
            self.problems.append(f"{what}: it would need more memory than there is.")
        except Exception as error:  # whatever it is, nothing was shown to be right
            self.problems.append(f"{what}: release.json is damaged ({error}).")
        self.checked.append(what)

    def read(self, contents: Contents) -> Folder | None:
        from discreet.io.folder import folder_of

        found: list[Folder] = []

        def run() -> list[str]:
            found.append(folder_of(contents))
            record = found[0].publication.record
            self.grade, self.private = record.guarantee.grade, record.private
            return []

        self.add("release.json has every field, and the files can be read", run)
        return found[0] if found else None

    def closed(self) -> Verification:
        return Verification(
            tuple(self.problems), tuple(self.checked), tuple(self.not_applicable), self.grade, self.private
        )


def _digest(contents: Contents, digest: str) -> list[str]:
    found = contents.digests[RECORD]
    return [] if found == digest.lower() else [f"release.json has the digest {found}, not the one given."]


def _seal(contents: Contents) -> list[str]:
    return [] if contents.sealed else ["release.json was changed: its seal does not fit."]


def _wrong_files(contents: Contents) -> Iterator[str]:
    expected = contents.document.get("digests")
    if not isinstance(expected, dict):
        yield "release.json has no digests of the other files."
        return
    for name, why in contents.unread.items():
        yield f"The file {plain_name(name)} is not read: {why}."
    for name in sorted(set(expected) - set(contents.files) - set(contents.unread)):
        yield f"The file {plain_name(name)} is missing."
    for name in contents.foreign:
        yield f"The file {plain_name(name)} is not part of the release."
    for name in sorted(set(contents.files) & set(expected)):
        if contents.digests.get(name) != expected[name]:
            yield f"The file {name} was changed: its digest is not the one in release.json."


def _seeded(folder: Folder, allowed: bool) -> list[str]:
    """The mark is tied to the table, and a seeded release proves nothing."""
    from discreet.record.release import mark_of

    record = folder.publication.record
    told = record.tables[0].file if record.parts is None else MANIFEST
    if record.mark != mark_of(record.private, record.digests.get(told, "")):
        return ["The table is marked neither as private nor as made from a seed, or as both."]
    if not record.private and allowed:
        raise NotApplicable("it is marked as made from a seed, which was allowed")
    return [] if record.private else [SEEDED]


def _check_head(record: ReleaseRecord[Any]) -> list[str]:
    """What says when and by what it was made is at least a date and a name, and the same name everywhere."""
    problems = []
    try:
        at = datetime.fromisoformat(record.created)
        problems += [] if at.tzinfo and at.isoformat(timespec="seconds") == record.created else [NO_DATE]
    except ValueError:
        problems.append(NO_DATE)
    if not re.fullmatch(f"discreet {VERSION}", record.software):
        problems.append(NO_VERSION)
    if f"discreet {record.rendered.get('discreet')}" != record.software:
        problems.append("The report was drawn by another version than the one that made the release.")
    words, versions = record.rendered.get("words", ""), [record.rendered.get(name, "") for name in DRAWING]
    named = set(record.rendered) == {"discreet", "words", *DRAWING} and re.fullmatch(r"[0-9a-f]{64}", words)
    if not named or not all(re.fullmatch(VERSION, version) for version in versions):
        problems.append("The release does not say which versions drew its report.")
    return problems


def _check_said(record: ReleaseRecord[Any]) -> list[str]:
    """The guarantee ends with what the schema says of the rows."""
    schema, remarks, said = record.schema, record.guarantee.remarks, record.schema.remarks
    problems = []
    if remarks[len(remarks) - len(said) :] != said or schema.dropped_totals < 0 or (schema.suppressed_as or 0) < 0:
        problems.append("The guarantee does not say of the rows what the schema says.")
    if schema.contributions < 1:
        problems.append("The contributions of one person are fewer than one.")
    return problems


def _check_table(folder: Folder) -> list[str]:
    publication = folder.publication
    schema, counts, measured = publication.record.schema, publication.counts, publication.measured
    problems = [*_check_head(publication.record), *_check_said(publication.record)]
    if not folder.as_written:
        problems.append("release.json is written in another way than releases are.")
    if folder.columns != (*schema.keys, schema.count) or folder.columns != publication.record.tables[0].columns:
        problems.append("The columns of the table are not those of the schema.")
    named = [*folder.pages, *_named(publication.record.tables)]
    if sorted(named) != sorted(publication.record.digests):
        problems.append("The files that release.json names are not those it has digests of.")
    problems += [f"The table {name} is not the sums of the first." for name in folder.wrong_views]
    if len(counts) != schema.rows:
        problems.append(f"The table has {len(counts)} rows, the schema says {schema.rows}.")
    several = folder.way.long_keys is not None  # whose measurements were read by their keys
    if measured is not None and not several and len(measured) != len(counts):
        problems.append("The measurements have not as many rows as the table.")
    elif not folder.same_rows:
        problems.append("The rows of the measurements are not those of the table.")
    return [*problems, *_check_rows(folder), *_check_order(folder)]


def _check_rows(folder: Folder) -> list[str]:
    """A person in a total is in two rows: that was paid for, or declared not to be so. Keys are written as is said."""
    from discreet.io.formulas import formula_remarks, is_escaped
    from discreet.io.frames import file_kind
    from discreet.io.totals import rows_of_totals

    schema, problems = folder.publication.record.schema, []
    answered = schema.rows_are_disjoint or schema.contributions > 1
    if not answered and rows_of_totals(folder.publication.categories).any():
        problems.append("Some keys of the table mean a total, so that one person may be counted in several rows.")
    table = folder.publication.record.tables[0]
    if table.remarks != formula_remarks(
        folder.publication.categories, file_kind(table.file), is_escaped(table.remarks)
    ):
        problems.append("The record does not say of the keys how they are written.")
    return problems


def _named(tables: tuple[PublishedTable, ...]) -> Iterator[str]:
    for table in tables:
        yield table.file
        yield from (one.file for one in table.measurements)
        yield from () if table.answers is None else (table.answers,)


def _check_order(folder: Folder) -> list[str]:
    from discreet.io.row_order import may_be_ascending

    categories = folder.publication.categories
    ascending = bool(categories.num_columns) and may_be_ascending(categories)
    if folder.publication.record.schema.order == "sorted":
        return [] if ascending else ["The rows of the table are not sorted by their keys, or two have the same."]
    return ["The rows are sorted by their keys, but their order is said to be another."] if ascending else []


def _check_privacy(folder: Folder) -> list[str]:
    return folder.way.prove(folder.of_the_way)


def _check_replay(folder: Folder) -> list[str]:
    return folder.way.replay(folder.of_the_way)


def _check_measured(folder: Folder) -> list[str]:
    """Found by the replay, where there is something to replay from."""
    if folder.publication.measured is None:
        raise NotApplicable("none are published beside it")
    return []


def _check_kept(folder: Folder) -> list[str]:
    """Found by the replay, too."""
    invariants = getattr(folder.publication.record.facts, "invariants", None)
    if invariants is None or not invariants.kept:
        raise NotApplicable("none are kept")
    return []


def _check_rebuilt(folder: Folder) -> list[str]:
    rebuild = folder.way.rebuild
    if rebuild is None:
        raise NotApplicable("none is constructed")
    return rebuild(folder.publication)


def _check_packed(folder: Folder) -> list[str]:
    """Found while the files were read, where they were written by what is here."""
    if folder.elsewhere is None:
        raise NotApplicable("there are none")
    if folder.elsewhere:
        raise NotApplicable(f"not compared, another version of Arrow wrote {', '.join(folder.elsewhere)}")
    return []


def _check_passive(folder: Folder) -> list[str]:
    """Whoever opens the page gets what stands on it and nothing else; and it states what the record promises."""
    from html import escape

    from discreet.report.passive import active_content

    report = folder.pages[REPORT]
    found = active_content(report)
    if found is not None:
        return [f"The report has active content, or what no report of ours has: {found!r}."]
    meta = f'<meta name="discreet" content="{escape(folder.publication.record.stated)}">'
    return [] if report.count(meta) == 1 else ["The report does not state the guarantee of release.json."]


def _check_scripts(folder: Folder) -> list[str]:
    """What runs is, letter by letter, what some version of ours was published with; it is not judged, but known."""
    from discreet.report.explore import data_of
    from discreet.report.known import KNOWN_ANALYSES, digest_of

    problems = []
    if digest_of(folder.pages[ANALYSIS]) not in KNOWN_ANALYSES:
        problems.append(f"The script {ANALYSIS} is none of ours.")
    if data_of(folder.pages[EXPLORE]).get("stated") != folder.publication.record.stated:
        problems.append(f"The page {EXPLORE} does not state the guarantee of release.json.")
    return problems


def _check_metadata(folder: Folder) -> list[str]:
    """Whatever its words are, it speaks of the files of the release and says nothing that has no name in ours."""
    from discreet.report.csvw import is_plain

    if METADATA not in folder.pages:
        raise NotApplicable("there is no table in CSV")
    plain = is_plain(folder.pages[METADATA], folder.publication.record)
    return [] if plain else [f"The file {METADATA} has other parts than what is in the tables."]


def _check_report(folder: Folder) -> list[str]:
    """The page for people is the one that follows from the record, if what renders it here is what rendered it."""
    from discreet.report import render, same_page

    _require_same_renderer(folder)
    same = same_page(render(folder.publication, folder.prepared), folder.pages[REPORT])
    return [] if same else ["The report does not follow from release.json."]


def _check_beside(folder: Folder) -> list[str]:
    """The same of the page for analysts, and of what says what is in the tables."""
    from discreet.report import beside
    from discreet.report.explore import same_explored, same_numbers

    ours, said, problems = beside(folder.publication, folder.prepared), folder.publication.record.rendered, []
    if said != folder.rendered_here:
        made_here = said["discreet"] == folder.rendered_here["discreet"]
        if not same_numbers(ours[EXPLORE], folder.pages[EXPLORE], estimates=made_here):
            return [f"The numbers of {EXPLORE} are not those of the release."]
        if not folder.tells_the_same(estimates=made_here):
            return [WRONG_SHEET]
    _require_same_renderer(folder)
    for name, page in ours.items():
        same = same_explored if name == EXPLORE else str.__eq__
        if page != folder.pages[name] and not same(page, folder.pages[name]):
            problems.append(f"The file {name} does not follow from release.json.")
    return problems if folder.tells_the_same(estimates=True) else [*problems, WRONG_SHEET]


def _require_same_renderer(folder: Folder) -> None:
    said, here = folder.publication.record.rendered, folder.rendered_here
    if said != here:  # words may change at any time, and what was said before stays as true as it was
        other = "in other words" if {**said, "words": ""} == {**here, "words": ""} else "by other versions"
        raise NotApplicable(f"not compared, it was drawn {other} than those that are here")


def _checks_in_parts(contents: Contents, part: int | None) -> dict[str, Callable[[Folder], list[str]]]:
    """The same where the rows are in parts: what these have together, and then one at a time."""
    from discreet.parts.verify import check_head, check_parts, check_whole, wrong_files

    elsewhere: list[str] = []

    def packed(folder: Folder) -> list[str]:
        if elsewhere:
            raise NotApplicable(f"not compared, another version of Arrow wrote {', '.join(elsewhere[:NAMED])}")
        return []

    def head(folder: Folder) -> list[str]:
        record = folder.publication.record
        return [*_check_head(record), *_check_said(record), *check_head(folder, contents)]

    def rows(folder: Folder) -> list[str]:
        return check_parts(folder, contents, part, elsewhere.append)

    return {
        FILES: lambda folder: list(wrong_files(contents, part)),
        COLUMNS: head,
        PRIVATE: _check_privacy,
        REPLAYED: check_whole,
        ALL_PARTS if part is None else ONE_PART: rows,
        MEASURED: _check_measured,
        KEPT: _check_kept,
        PACKED: packed,
        PASSIVE: _check_passive,
        SCRIPTS: _check_scripts,
    }


CHECKS: dict[str, Callable[[Folder], list[str]]] = {
    COLUMNS: _check_table,
    PRIVATE: _check_privacy,
    REPLAYED: _check_replay,
    MEASURED: _check_measured,
    KEPT: _check_kept,
    PACKED: _check_packed,
    PASSIVE: _check_passive,
    SCRIPTS: _check_scripts,
    TABLES_SAID: _check_metadata,
}
LAST: dict[str, Callable[[Folder], list[str]]] = {  # these build anew what the others have found to be sound
    "a mechanism constructed for a distribution is what its constructor makes of it": _check_rebuilt,
    COMPARED: _check_report,
    BESIDE: _check_beside,
}
