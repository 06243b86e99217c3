"""The example table that ships with the package."""

from __future__ import annotations

from discreet.io.tables import read_table
from discreet.options import spelt
from discreet.table import Table


@spelt
def example() -> Table:
    """Murders by US county in 1996 (2,197 counties; FBI): a small public table of the kind discreet is made for."""
    from importlib.resources import as_file, files

    with as_file(files("discreet") / "data" / "us_county_murders_1996.csv") as path:
        return read_table(path, count="murders", keys=["county"])
