"""What a release is asked with: its table, its privacy, its way, its ledger and where it goes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import BadInput
from discreet.numbers import whole
from discreet.options import option, options_of, spelt_fields
from discreet.privacy.parse import loss_of
from discreet.privacy.values import Loss
from discreet.ways import WaySpec

if TYPE_CHECKING:
    from discreet.arrays import Integers
    from discreet.record.release import About
    from discreet.table import Schema, Table

ENGINES = ("local", "spark")


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
        from discreet.spec.write import write_spec

        write_spec(self, Path(path))


def named(word: str) -> tuple[str, ...] | str:
    """'a,b' -> ('a', 'b'); 'all' stays as it is."""
    return word if word == "all" else tuple(part.strip() for part in word.split(",") if part.strip())


def ledger_file(url: str | None) -> str | None:
    """The file of a ledger, as it was named, if it is in one whose place depends on where one is."""
    if url is None or url.startswith("sqlite:////"):
        return None
    file = url.removeprefix("sqlite:///")
    return None if "://" in file else file
