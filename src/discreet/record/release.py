"""release.json as a value: the only code that knows its fields. Facts and numbers; no sentence."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from discreet.arrays import Integers
from discreet.certify.prove import Proof
from discreet.errors import BadInput, Damaged, plain_name, short, unread
from discreet.options import option, spelt_fields
from discreet.privacy.values import Grade, Guarantee, Remark
from discreet.public_map import SeenValues, seen_of
from discreet.record.codec import Json, decode_fields, encode
from discreet.shown.terse import Terse

if TYPE_CHECKING:
    from discreet.table import Schema

SCHEMA_VERSION = 2  # of release.json; folders of another are refused
READ_BY = {1: "0.1"}  # which release of the software reads folders of another version
MOST_LISTS = 4_000_000  # of a record, lists and objects: a gigabyte in memory, where the file may have twelve megabytes
MOST_VALUES = 40_000_000  # more do not fit into the largest record, as records are written
PLAIN = {str, int, float, bool, type(None)}  # values that are written the same at any depth

Facts = TypeVar("Facts", covariant=True)


@spelt_fields
@dataclass(frozen=True)
class About:
    """Who publishes what; it goes into the report and the record as it is."""

    title: str | None = option(None, "title of the publication", metavar="TEXT")
    source: str | None = option(None, "where the data come from", metavar="TEXT")
    contact: str | None = option(None, "whom to ask", metavar="TEXT")
    licence: str | None = option(None, "under which the table may be used", metavar="TEXT")
    note: str | None = option(
        None, "anything else that readers should know", flag="--report-note", metavar="TEXT"
    )  # fmt: skip

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and not (isinstance(value, str) and _can_be_written(value)):
                raise BadInput(f"the {name} of a publication was given as {value!r}", "it is not text", "Give text")


def _can_be_written(text: str) -> bool:
    """Half of a surrogate pair is a str, but no text."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


NOTHING_SAID = About()


@dataclass(frozen=True)
class SchemaFacts:
    """What everybody may know of the table."""

    keys: tuple[str, ...]
    count: str
    rows: int
    max_count: int | None
    contributions: int
    order: Literal["sorted", "as-given"]
    rows_are_disjoint: bool = False  # declared: keys may read like totals, and are none
    dropped_totals: int = 0  # rows that were left out because their keys mean a total
    suppressed_as: int | None = None  # counts up to this were suppressed before, by a public rule, and taken as this

    @cached_property
    def remarks(self) -> tuple[Remark, ...]:
        """What a promise about such a table says last."""
        return about_rows(self)


def about_rows(schema: SchemaFacts | Schema) -> tuple[Remark, ...]:
    """What the rows are said to be, or were made to be; the last remarks of a promise, whatever its way."""
    declared = (Remark("rows-declared-disjoint"),) if schema.rows_are_disjoint else ()
    dropped = (Remark.of("totals-dropped", rows=schema.dropped_totals),) if schema.dropped_totals else ()
    read = () if schema.suppressed_as is None else (Remark.of("suppressed-as", count=schema.suppressed_as),)
    return *declared, *dropped, *read


@dataclass(frozen=True)
class Measurements:
    """A file of noisy values, before any mapping, and what was asked of the data."""

    question: Literal["cells", "several"]  # the rows of the table; or several questions, in long form
    file: str


@dataclass(frozen=True)
class PublishedTable:
    """A published file, its columns, and what it was made from."""

    file: str
    columns: tuple[str, ...]
    measurements: tuple[Measurements, ...] = ()
    answers: str | None = None  # the file of answers to questions about the table, where there are any
    remarks: tuple[Remark, ...] = ()  # on how its keys are written


@dataclass(frozen=True)
class LedgerEntry:
    """Where the spending was recorded: the entry can be found by its number, and known by its hash.

    The entry holds the digest of `token`, which nobody but the release that was charged could know before it was out.
    """

    dataset: str
    number: int
    hash: str
    token: str


@dataclass(frozen=True)
class PartsFacts:
    """A release in parts: how many there are, and where the bits of its noise came from.

    `keyed`: from SHAKE-256 and a key that was forgotten, so that a task that was run twice drew once. The promise is
    then computational; with ideal bits it would have the grade `ideal`. `os`: from the operating system alone.
    """

    number: int
    randomness: Literal["keyed", "os"]
    ideal: Grade


@dataclass(frozen=True, repr=False)
class ReleaseRecord(Terse, Generic[Facts]):
    """Everything a stranger needs to re-check a release, and nothing secret. `facts` are those of the way it went."""

    schema_version: Literal[2] = field(default=2, kw_only=True)
    software: str
    created: str
    private: bool
    way: str
    schema: SchemaFacts
    tables: tuple[PublishedTable, ...]
    guarantee: Guarantee
    certificate: Proof | None
    about: About = NOTHING_SAID
    ledger: LedgerEntry | None = None
    parts: PartsFacts | None = field(default=None, metadata={"sometimes": True})  # where the table is in parts
    rendered: dict[str, str] = field(default_factory=dict)  # versions of what made the report
    digests: dict[str, str] = field(default_factory=dict)  # sha256 of every other file
    mark: str = ""  # ties the table to whether its noise was private
    facts: Facts = field(metadata={"flat": True}, kw_only=True)

    @property
    def measured(self) -> bool:
        """Whether the measurements are published."""
        return bool(self.tables[0].measurements)

    @cached_property
    def encoded(self) -> dict[str, Json]:
        """As plain JSON values, without the seal; made once, for whoever reads it and whoever writes it again."""
        value: dict[str, Json] = encode(self)
        return value

    @cached_property
    def seal(self) -> str:
        """A checksum of it."""
        return seal_of(self.encoded)

    @cached_property
    def stated(self) -> str:
        """What every page must state, whatever its words: it is compared even where none can be rendered again."""
        return f"{self.way}; {self.guarantee.loss}; {self.guarantee.grade}; private: {str(self.private).lower()}"


@dataclass(frozen=True, eq=False, repr=False)
class AnswerTable(Terse):
    """Answers to a question, entry by entry: the count that the table has; and the best unbiased estimate, its standard
    deviation and an interval, in units of 1/10,000."""

    counts: Integers
    estimates: Integers
    deviations: Integers
    low: Integers
    high: Integers


@dataclass(frozen=True, eq=False, repr=False)
class WholeSeen(Terse):
    """What occurs in all parts of a release, and how often: what can be told of it without its rows."""

    counts: SeenValues
    measured: SeenValues | None


@dataclass(frozen=True, eq=False, repr=False)
class Publication(Terse, Generic[Facts]):
    """A release as readers have it: its record, its rows, and the noisy values they were made from, if published.

    Where several questions were asked, the noisy values are those of one question after the other. Where the rows are
    in parts, the counts and the noisy values are those that occur, each once, and `in_parts` says how often.
    """

    record: ReleaseRecord[Facts]
    categories: Any = field(repr=False)  # the key columns, as an Arrow table
    counts: Integers = field(repr=False)
    measured: Integers | None = field(repr=False)
    answers: tuple[AnswerTable, ...] | None = field(default=None, repr=False)
    in_parts: WholeSeen | None = field(default=None, repr=False)

    @cached_property
    def counted(self) -> SeenValues:
        """The published counts that occur, and how often."""
        return seen_of(self.counts) if self.in_parts is None else self.in_parts.counts

    @cached_property
    def noisy(self) -> SeenValues | None:
        """The noisy values that occur, where they are published, and how often."""
        if self.in_parts is not None:
            return self.in_parts.measured
        return None if self.measured is None else seen_of(self.measured)


def mark_of(private: bool, table: str) -> str:
    """Of the digest of a table: that of seeded noise is another one, so that no flag alone makes a table private."""
    return hashlib.sha256(f"{'private' if private else 'seeded'} {table}".encode()).hexdigest()


def drawn_of(publication: Publication[Any]) -> str:
    """A digest of what was drawn: the same in whatever form the release is saved."""
    found = hashlib.sha256(json.dumps(encode(publication.record.facts), sort_keys=True).encode())
    if publication.in_parts is not None:  # there is one form only
        found.update(publication.record.mark.encode())
        return found.hexdigest()
    for numbers in (publication.counts, publication.measured):
        found.update(b"none" if numbers is None else numbers.astype("<i8").tobytes())
    return found.hexdigest()


def write_record(record: ReleaseRecord[Any]) -> str:
    """release.json, sealed."""
    return indented({**record.encoded, "seal": record.seal}) + "\n"


def indented(value: object, depth: int = 0) -> str:
    """As json.dumps writes it with an indent of one; long lists of plain values at once."""
    inner, outer = "\n" + " " * (depth + 1), "\n" + " " * depth
    if isinstance(value, dict) and value:
        fields = (f"{json.dumps(name)}: {indented(item, depth + 1)}" for name, item in value.items())
        return "{" + inner + ("," + inner).join(fields) + outer + "}"
    if isinstance(value, list) and value:
        if set(map(type, value)) <= PLAIN:
            return "[" + inner + json.dumps(value, separators=("," + inner, ": "))[1:-1] + outer + "]"
        return "[" + inner + ("," + inner).join(indented(item, depth + 1) for item in value) + outer + "]"
    return json.dumps(value)


def seal_of(value: Mapping[str, object]) -> str:
    """A checksum of all other fields: an edit of any of them shows, unless the seal is made anew."""
    sealed = {name: item for name, item in value.items() if name != "seal"}
    return hashlib.sha256(json.dumps(sealed, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def parse(content: bytes, file: str = "release.json") -> dict[str, object]:
    """The JSON object in a file; a field that stands twice would be read differently by different readers."""
    if content.count(b"[") + content.count(b"{") > MOST_LISTS or content.count(b",") > MOST_VALUES:
        raise Damaged(file, "it cannot be read: it holds more lists or numbers than any release")
    try:
        value = json.loads(content.decode("utf-8"), object_pairs_hook=_without_duplicates, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Damaged(file, f"it cannot be read: {unread(error)}") from error
    if not isinstance(value, dict):
        raise Damaged(file, "it is not a JSON object")
    return value


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the field {plain_name(twice)} stands twice")
    return found


def _no_number(word: str) -> Json:
    raise ValueError(f"{word} is not a number")


def read_record(value: Mapping[str, object], seal: str | None = None) -> ReleaseRecord[Any]:
    """The record in a JSON object, its types checked field by field; whether it is true is for `verify` to say. Whoever
    has made the seal of the object anew may give it."""
    from discreet.ways import way_named

    version = value.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        reader = READ_BY.get(version) if isinstance(version, int) and not isinstance(version, bool) else None
        raise BadInput(
            f"a release of format {short(version)} was to be read",
            f"this version of discreet reads format {SCHEMA_VERSION}",
            "" if reader is None else f"Use discreet {reader}",
        )
    inside = {name: item for name, item in value.items() if name != "seal"}
    of: Any = ReleaseRecord
    read: ReleaseRecord[Any] = decode_fields(of[way_named(str(inside.get("way"))).facts], inside, "release.json")
    record = replace(read, guarantee=replace(read.guarantee, private=read.private))
    if record.seal != (seal or seal_of(inside)):
        raise Damaged(_difference(record.encoded, inside, "release.json"), "is missing, or written in another way")
    return record


def _same(one: Json, other: Json) -> bool:
    """Letter by letter: to Python 1, 1.0 and true are equal."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _difference(expected: Json, found: Json, where: str) -> str:
    """The first place at which a record is not what it should be."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in {**expected, **found}:
            inner = f"{where}.{name}"
            if name not in expected or name not in found:
                return inner
            if not _same(expected[name], found[name]):
                return _difference(expected[name], found[name], inner)
    if isinstance(expected, list) and isinstance(found, list):
        for place, pair in enumerate(zip(expected, found)):
            if not _same(*pair):
                return _difference(*pair, f"{where}[{place}]")
    return where
