"""A release as a file: everything that was asked for, in TOML, to be read, kept and run again.

Sections: [table], [privacy], one named after the way ([keep-distribution], [row-by-row], [keep-sums], [measure]),
[ledger], [output] and [about]. Paths are relative to the file. Running a file twice makes two releases, and charges
twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import BadInput, called, did_you_mean, short, unread
from discreet.numbers import whole
from discreet.options import option, options_of, spelt, spelt_fields
from discreet.privacy.parse import loss_of
from discreet.privacy.values import Loss
from discreet.ways import PACKAGES, PRIVACY, WaySpec, way_named

if TYPE_CHECKING:
    from discreet.arrays import Integers
    from discreet.parts.work import PartsRelease
    from discreet.record.release import About
    from discreet.released import Release
    from discreet.table import Schema, Table

ENGINES = ("local", "spark")
Section = Mapping[str, object]  # of a file: whatever was written there, until its types are checked


@spelt_fields
@dataclass(frozen=True)
class TableSpec:
    """Where the counts are, and what about them is public."""

    file: str
    count: str = option("", "the column that holds the counts, or several", metavar="COL[,COL]")
    keys: tuple[str, ...] | str | None = option(
        None, "public key columns, separated by commas, or 'all'", read=lambda word: named(word), metavar="A,B|all"
    )
    universe: str | None = option(None, "file with the public set of rows; missing ones count zero", metavar="FILE")
    keep_order: bool = option(False, "the order of the rows is public", kind=bool)
    contributions: int | None = option(None, "in how many rows one person may be counted", kind=int)
    drop_totals: bool = option(False, "leave out rows whose keys mean a total", kind=bool)
    rows_are_disjoint: bool = option(
        False, "your word that no row is a total of others, though its keys may read so", kind=bool
    )

    sheet: str | None = option(None, "of a workbook: the sheet, where it has several", metavar="NAME")
    header_row: int | None = option(None, "the row that holds the names of the columns", kind=int, metavar="N")
    thousands: str | None = option(None, "what stands between thousands in counts, such as a comma", metavar="MARK")
    wide: str | None = option(
        None, "of a crosstab: the key column that the names of its columns are values of", metavar="NAME"
    )
    suppressed_as: int | None = option(
        None, "the public rule by which counts up to N, and no others, were suppressed (<5, *): they are read as N",
        kind=int, metavar="N",
    )  # fmt: skip

    def __post_init__(self) -> None:
        if isinstance(self.keys, str):
            object.__setattr__(self, "keys", named(self.keys))
        if self.contributions is not None:
            whole(self.contributions, "contributions", 1)

    @property
    def in_parts(self) -> bool:
        """Whether it is a folder, or a pattern, of Parquet files."""
        path = Path(self.file)
        return path.is_dir() or (any(mark in self.file for mark in "*?[") and not path.exists())

    def read(self) -> Table:
        from discreet.io.tables import read_table

        return read_table(self.file, self.count, self.keys, self.universe, **self._intake())

    def read_schema(self) -> tuple[Schema, Integers | None]:
        """The public part alone."""
        from discreet.io.tables import read_schema

        return read_schema(self.file, self.count, self.keys, self.universe, **self._intake())

    def _intake(self) -> dict[str, Any]:
        names = set(options_of(TableSpec)) - {"count", "keys", "universe"}
        return {name: getattr(self, name) for name in names}


@spelt_fields
@dataclass(frozen=True)
class LedgerSpec:
    """Where the spending is recorded. A password belongs into an environment variable, never into a file."""

    dataset: str = option("", "name of the data set in the ledger", metavar="NAME")
    url: str | None = option(None, "file or URL of the ledger", flag="--ledger", metavar="URL")
    variable: str | None = option(None, "environment variable that holds the URL of the ledger", flag="")
    note: str = option("", "what the release is for, in the ledger", metavar="TEXT")
    who: str = option("", "who makes the release, in the ledger", metavar="NAME")
    accept_disclosure: bool = option(
        False, "accept that kept sums, with those of earlier releases, give rows away", kind=bool
    )

    @property
    def address(self) -> str:
        if self.variable is None:
            return self.url or ""
        if self.variable not in os.environ:
            found = f"the environment variable {self.variable} is not set"
            raise BadInput("a ledger was to be opened", found, "Set it to the URL of the ledger")
        return os.environ[self.variable]


@spelt_fields
@dataclass(frozen=True)
class Output:
    """Where the release goes."""

    folder: str | None = option(None, "folder to write", flag="--out", metavar="DIR")
    format: str | None = option(None, "of the table: csv, parquet or xlsx; that of the input if not given")
    engine: str | None = option(
        None, "what works on a table in parts", values=lambda: ENGINES, usual="local", metavar="NAME"
    )
    os_randomness: bool = option(
        False, "of a table in parts: all random bits from the operating system, none from SHAKE-256", kind=bool
    )
    measurements: bool = option(
        True, "publish the noisy values before any mapping too", kind=bool, flag="--measurements/--no-measurements"
    )
    excel_safe: bool = option(
        False, "write an apostrophe before keys that a spreadsheet would take for formulas", kind=bool
    )


@spelt_fields
@dataclass(frozen=True)
class ReleaseSpec:
    """A whole release as a value: what `discreet run` runs."""

    table: TableSpec
    privacy: Loss
    way: WaySpec
    ledger: LedgerSpec | None = None
    output: Output = Output()
    about: About | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "privacy", loss_of(self.privacy))

    def write(self, path: str | Path) -> None:
        """Write it as TOML, whole or not at all; paths become relative to the file where they can."""
        import tomli_w

        from discreet.io.files import write_text

        target = Path(path)
        write_text(target, tomli_w.dumps(_sections(self, target.absolute().parent)))


def sections_of(key: str) -> list[str]:
    """Which sections of a file may have a key."""
    kinds = {"table": TableSpec, "ledger": LedgerSpec, "output": Output}
    ways = {name: way_named(name).spec for name in PACKAGES}
    found = [name for name, kind in {**kinds, **ways}.items() if key in options_of(kind)]
    return found or ["privacy"] * (key in PRIVACY)


def named(word: str) -> tuple[str, ...] | str:
    """'a,b' -> ('a', 'b'); 'all' stays as it is."""
    return word if word == "all" else tuple(part.strip() for part in word.split(",") if part.strip())


@spelt
def read_spec(path: str | Path) -> ReleaseSpec:
    """A release from a TOML file. All problems are told at once; nothing is read from the table."""
    import tomllib

    file = Path(path)
    try:
        document = tomllib.loads(file.read_bytes().decode("utf-8-sig"), parse_float=Decimal)  # some editors sign it
    except OSError as error:
        raise BadInput(f"the file {path} was to be read", error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise BadInput(f"the file {path} was to be read as TOML", "it is not text in UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"the file {path} was to be read as TOML", unread(error)) from error
    return _Reading(file).spec(document)


@spelt
def run(
    spec: ReleaseSpec | str | Path,
    out: str | Path | None = None,
    *,
    seed: int | None = None,
    before: Callable[[Schema], None] | None = None,
    stages: Callable[[str], None] | None = None,
) -> tuple[Release | PartsRelease, str]:
    """Make the release that a file, or a value, asks for; returns it and the digest of its release.json.

    Running the same file twice makes two releases of the same data, and charges the ledger twice. `before` is told
    what will be published before anything is spent, `stages` the name of each stage as it begins.
    """
    from discreet.io.folder import check_format, require_writable
    from discreet.io.formulas import refuse_formula_names
    from discreet.io.place import place_for
    from discreet.release import release

    asked = spec if isinstance(spec, ReleaseSpec) else read_spec(spec)
    folder = out if out is not None else asked.output.folder
    if folder is None:
        raise BadInput("a release was to be made", "no folder to write is named", "Add --out DIR, or [output] folder")
    check_format(asked.output.format)
    entry = asked.ledger
    charged: dict[str, Any] = {} if entry is None else {
        "ledger": entry.address, "dataset": entry.dataset, "note": entry.note, "who": entry.who,
        "accept_disclosure": entry.accept_disclosure,
    }  # fmt: skip
    if asked.table.in_parts:
        from discreet.parts.run import run_in_parts

        return run_in_parts(asked, folder, charged, seed, before, stages)
    for name in ("engine", "os_randomness"):
        if getattr(asked.output, name):
            found, do = "the table is one file", "Leave it out, or name a folder of Parquet files"
            raise BadInput(f"{called(name)} was asked for, which is of tables in parts", found, do)
    with place_for(folder) as place:
        table = asked.table.read()
        require_writable(table.schema, asked.output.format)
        if asked.output.excel_safe:
            refuse_formula_names((*table.schema.keys, table.schema.count))
        if before is not None:
            before(table.schema)
        made = release(
            table, asked.privacy, asked.way, measurements=asked.output.measurements, about=asked.about,
            seed=seed, stages=stages, **charged,
        )  # fmt: skip
        return made, made.save(place, asked.output.format, stages, excel_safe=asked.output.excel_safe)


class _Reading:
    """One file being read: its folder, and the problems found so far."""

    def __init__(self, file: Path) -> None:
        self.file, self.base = file, file.absolute().parent
        self.problems: list[str] = []

    def spec(self, document: Section) -> ReleaseSpec:
        known = ("table", "privacy", *PACKAGES, "ledger", "output", "about")
        for name in document:
            if not isinstance(document[name], dict) and sections_of(name):
                self.problems.append(f"{name!r} stands in no section. It belongs into [{sections_of(name)[0]}]")
            elif name not in known:
                self.problems.append(f"there is no section [{name}]. {did_you_mean(name, known)}")
            elif not isinstance(document[name], dict):
                self.problems.append(f"{name!r} is not a section")
        sections = {name: dict(value) for name, value in document.items() if isinstance(value, dict) and name in known}
        table = self._value(TableSpec, sections.get("table"), "table", ("file", "count"))
        privacy = self._privacy(sections.get("privacy"))
        way = self._way({name: value for name, value in sections.items() if name in PACKAGES})
        ledger = self._ledger(sections.get("ledger"))
        output = self._value(Output, sections.get("output", {}), "output")
        from discreet.record.release import About

        about = self._value(About, sections.get("about", {}), "about")
        if self.problems:
            found = "; ".join(self.problems)
            raise BadInput(f"a release was to be read from {self.file}", found, problems=tuple(self.problems))
        assert table is not None and privacy is not None and way is not None
        return ReleaseSpec(
            replace(table, file=self._path(table.file), universe=self._maybe_path(table.universe)),
            privacy,
            way,
            ledger if ledger is None else replace(ledger, url=self._ledger_path(ledger.url)),
            replace(output, folder=self._maybe_path(output.folder)),
            None if about == About() else about,
        )

    def _value(self, kind: Any, given: Section | None, section: str, needed: tuple[str, ...] = ()) -> Any:
        """A section as a value; every misspelt or missing key is told."""
        from discreet.errors import Damaged
        from discreet.record.codec import decode_fields, names_of

        values = {} if given is None else given
        names = names_of(kind)
        wrong = [name for name in values if name not in names]
        missing = [name for name in needed if not values.get(name)]
        self.problems += [f"[{section}] has no key {name!r}. {did_you_mean(name, names)}" for name in wrong]
        self.problems += [f"[{section}] lacks {name!r}" for name in missing]
        if wrong or missing:
            return None
        try:
            return decode_fields(kind, values, f"[{section}]")
        except Damaged as problem:
            self.problems.append(f"{problem.where.replace('].', '] ')}: {problem.why}")
            return None

    def _privacy(self, given: Section | None) -> Loss | None:
        if given is None:
            self.problems.append("there is no section [privacy]. Write one with epsilon, alpha or rho")
            return None
        wrong = [name for name in given if name not in PRIVACY]
        self.problems += [f"[privacy] has no key {name!r}. {did_you_mean(name, PRIVACY)}" for name in wrong]
        try:
            known: dict[str, Any] = {name: value for name, value in given.items() if name in PRIVACY}
            return loss_of(known.pop("epsilon", None), **known)
        except BadInput as error:
            self.problems.append(f"[privacy]: {error}")
            return None

    def _way(self, given: Mapping[str, Section]) -> WaySpec | None:
        if len(given) > 1:
            self.problems.append(f"only one way can be gone, not {' and '.join(f'[{name}]' for name in given)}")
            return None
        name, values = next(iter(given.items()), ("keep-distribution", {}))
        kind = way_named(name).spec
        try:
            values = self._with_files(values)
        except BadInput as error:
            self.problems.append(f"[{name}]: {error}")
            return None
        way: WaySpec | None = self._value(kind, values, name)
        return way

    def _with_files(self, values: Section) -> dict[str, object]:
        """What names files, found from where the file is."""
        from discreet.lattice.invariants import parse_keep
        from discreet.lattice.orders import parse_limit
        from discreet.ways.row_by_row.spec import is_file

        out = dict(values)
        for name, parse in (("keep", parse_keep), ("inequalities", parse_limit)):
            if name in out:
                out[name] = [self._parsed(name, one, parse) for one in _listed(out[name])]
        if "measure" in out and out["measure"] != "auto":
            out["measure"] = _listed(out["measure"])
        if isinstance(out.get("levels"), str):
            out["levels"] = [name.strip() for name in str(out["levels"]).split(",")]
        mechanism = out.get("mechanism")
        if isinstance(mechanism, str) and is_file(mechanism):
            out["mechanism"] = self._path(mechanism)
        return out

    def _parsed(self, name: str, one: object, parse: Callable[[str, Path], object]) -> object:
        from discreet.record.codec import encode

        if not isinstance(one, (str, dict)):
            raise BadInput(f"{called(name)} was given as {short(one)}", "it is neither a word nor a table of TOML")
        return encode(parse(one, self.base)) if isinstance(one, str) else one

    def _ledger(self, given: Section | None) -> LedgerSpec | None:
        if given is None:
            return None
        ledger: LedgerSpec | None = self._value(LedgerSpec, given, "ledger", ("dataset",))
        if ledger is None:
            return None
        if ledger.url is None and ledger.variable is None:
            self.problems.append("[ledger] needs 'url', or 'variable' with the name of an environment variable")
        if ledger.url is not None and ledger.variable is not None:
            self.problems.append("[ledger] has both 'url' and 'variable': which of them is meant is not said. Give one")
        if ledger.url is not None:
            from discreet.ledger.address import mask

            if mask(ledger.url) != ledger.url:
                advice = "Put the URL into an environment variable, and its name into 'variable'"
                self.problems.append(f"[ledger] url holds a password, which does not belong into a file. {advice}")
        return ledger

    def _path(self, name: str) -> str:
        try:
            path = Path(name).expanduser()
        except RuntimeError as error:
            raise BadInput(f"the file {name} was named", "there is no such home folder") from error
        if "\0" in name:
            raise BadInput(f"the file {name!r} was named", "no file can have that name")
        return str(self.base / path)

    def _maybe_path(self, name: str | None) -> str | None:
        return None if name is None else self._path(name)

    def _ledger_path(self, url: str | None) -> str | None:
        file = ledger_file(url)
        return url if file is None else self._path(file)


def _listed(given: object) -> list[object]:
    return given if isinstance(given, list) else [given]


def ledger_file(url: str | None) -> str | None:
    """The file of a ledger, as it was named, if it is in one whose place depends on where one is."""
    if url is None or url.startswith("sqlite:////"):
        return None
    file = url.removeprefix("sqlite:///")
    return None if "://" in file else file


def _sections(spec: ReleaseSpec, base: Path) -> dict[str, dict[str, object]]:
    """The file as plain values: only what differs from the defaults."""
    from discreet.record.codec import loss_json

    table = replace(
        spec.table, file=_relative(spec.table.file, base) or "", universe=_relative(spec.table.universe, base)
    )
    output = replace(spec.output, folder=_relative(spec.output.folder, base))
    privacy = {name: value for name, value in loss_json(spec.privacy).items() if value not in (None, "0")}
    if "alpha" in privacy:
        del privacy["epsilon"]
    sections: dict[str, object] = {"table": table, "privacy": privacy, spec.way.name: _writable(spec.way, base)}
    if spec.ledger is not None:
        sections["ledger"] = replace(spec.ledger, url=_ledger_url(spec.ledger.url, base))
    sections |= {"output": output, **({} if spec.about is None else {"about": spec.about})}
    plain = {name: value if isinstance(value, dict) else dict(_given(value)) for name, value in sections.items()}
    return {name: value for name, value in plain.items() if value or name == spec.way.name}


def _given(value: Any) -> Iterator[tuple[str, Any]]:
    from discreet.record.codec import encode

    for item in fields(value):
        held = getattr(value, item.name)
        if held is not None and held != item.default:
            yield item.name, encode(held)


def _writable(way: WaySpec, base: Path) -> dict[str, object]:
    mechanism = getattr(way, "mechanism", None)
    if mechanism is not None and not isinstance(mechanism, str):
        found = "a mechanism of your own cannot be written into it"
        raise BadInput("a release was to be written as a file", found, "Save it to a file, and name that file")
    values = dict(_given(way))
    if getattr(way, "file", False):
        values["mechanism"] = _relative(mechanism, base)
    return values


def _relative(name: str | None, base: Path) -> str | None:
    if name is None:
        return None
    path = Path(name).expanduser().absolute()
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else str(path)


def _ledger_url(url: str | None, base: Path) -> str | None:
    file = ledger_file(url)
    if url is None or file is not None:
        return _relative(file, base)
    from discreet.ledger.address import mask

    if mask(url) != url:
        found = "the URL of the ledger holds a password"
        raise BadInput("a release was to be written as a file", found, "Give LedgerSpec(variable=...) instead")
    return url
