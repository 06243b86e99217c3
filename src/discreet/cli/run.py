"""discreet run SPEC.toml"""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.common import Json, Seed, emit, released, say, say_columns
from discreet.cli.flags import FlagCommand
from discreet.errors import Say


class FileCommand(FlagCommand):
    """Its options are keys of a file, and errors call them so."""

    @property
    def reader(self) -> Say:
        return in_a_file


COMMAND = FileCommand


def in_a_file(option: str, value: str, like: str) -> str:
    """A key, with its value as TOML has it, and its section, unless several have such a key."""
    from discreet.spec.read import sections_of

    of = sections_of(option)
    written = "true" if like.isspace() else _written(value)
    return f"{option}{written and ' = '}{written}" + (f" in [{of[0]}]" if len(of) == 1 else "")


def _written(value: str) -> str:
    if value in ("True", "False"):
        return value.lower()
    number = value.lstrip("+-").replace(".", "", 1).isdecimal()
    return value if number or not value else f'"{value}"'


def run(
    spec: Annotated[str, typer.Argument(help="a release as a TOML file", metavar="SPEC.toml")],
    out: Annotated[
        str | None, typer.Option("--out", help="folder to write, in place of the file's", metavar="DIR")
    ] = None,
    seed: Seed = None,
    json: Json = False,
) -> None:
    import discreet as dc
    from discreet.run import run as run_spec

    asked = dc.read_spec(spec)
    result, digest = run_spec(asked, out, seed=seed, before=say_columns)
    emit(json, *released(result, out or asked.output.folder or "", digest))
    say("Every run of this file is a new release of the same data, and is charged again.")
