"""discreet run SPEC.toml"""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.common import Json, Seed, emit, released, say, say_columns


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
