"""discreet release TABLE"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli.common import Json, Seed, emit, released, say
from discreet.cli.flags import command, flags_of, parameter, said
from discreet.cli.release_options import PRIVACY, TABLE, WAY, loss_from, table_argument, table_of, way_from
from discreet.errors import BadInput
from discreet.run import LedgerSpec, Output, ReleaseSpec

OUTPUT, LEDGER = flags_of(Output), flags_of(LedgerSpec)
WriteSpec = Annotated[
    str | None, typer.Option("--write-spec", metavar="FILE", help="write what was asked for as a file to run again")
]


def release(**given: Any) -> None:
    from discreet.run import run

    spec = _spec(given)
    if given["write_spec"] is not None:
        spec.write(given["write_spec"])
        say(f"Written to {given['write_spec']}. Running it makes another release, and charges again.")
        if spec.output.folder is None:
            return
    out = spec.output.folder
    if out is None:
        raise BadInput("a release was to be made", "no folder to write is named", "Add --out DIR")
    result, digest = run(spec, seed=given["seed"])
    emit(given["json"], *released(result, out, digest))


def _spec(given: dict[str, Any]) -> ReleaseSpec:
    ledger = said(given, LEDGER)
    if "url" in ledger and "dataset" not in ledger:
        raise BadInput("a ledger was given", "no data set was named", "Give dataset (--dataset NAME)")
    if "dataset" in ledger and "url" not in ledger:
        name = ledger["dataset"]
        raise BadInput(f"the data set {name!r} was named", "no ledger was given", "Give ledger (--ledger URL)")
    return ReleaseSpec(
        table_of(given), loss_from(given), way_from(given), LedgerSpec(**ledger) if ledger else None,
        Output(**said(given, OUTPUT)),
    )  # fmt: skip


run = command(
    release,
    [table_argument("CSV, CSV.gz or Parquet file")],
    {**TABLE, **WAY, **OUTPUT, **LEDGER},
    [*PRIVACY, parameter("write_spec", WriteSpec, None), parameter("seed", Seed, None), parameter("json", Json, False)],
)
