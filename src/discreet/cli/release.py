"""discreet release TABLE"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.common import Json, Seed, emit, released, say, say_columns
from discreet.cli.flags import Given, command, flags_of, parameter, said
from discreet.cli.release_options import PRIVACY, TABLE, WAY, loss_from, table_argument, table_of, way_from
from discreet.cli.working import working
from discreet.errors import BadInput, called
from discreet.record.release import About
from discreet.spec.values import LedgerSpec, Output, ReleaseSpec

OUTPUT, LEDGER = flags_of(Output), flags_of(LedgerSpec)
ABOUT = {f"about_{name}": (replace(one, flag=one.flag_of(name)), None) for name, (one, _) in flags_of(About).items()}
WriteSpec = Annotated[
    str | None, typer.Option("--write-spec", metavar="FILE", help="write what was asked for as a file to run again")
]


def release(**given: Any) -> None:
    from discreet.run import run

    spec, file = _spec(given), given["write_spec"]
    out = spec.output.folder
    if out is None and file is None:
        raise BadInput("a release was to be made", "no folder to write is named", "Add --out DIR")
    if file is not None and Path(file).exists():
        raise BadInput(f"the release was to be written to {file}", "that is there already", "Name a new file")
    if file is not None:
        spec.write(file)  # before anything is spent: a file that cannot be written stops everything
    if out is not None:
        try:
            with working("releasing") as stages:
                result, digest = run(spec, seed=given["seed"], before=say_columns, stages=stages)
        except BaseException:
            if file is not None:
                Path(file).unlink(missing_ok=True)
            raise
        emit(given["json"], *released(result, out, digest))
    if file is not None:
        say(f"Written to {file}. Every run of it is a new release of the same data, and is charged again.")


def _spec(given: Given) -> ReleaseSpec:
    ledger = said(given, LEDGER)
    if "url" in ledger and "dataset" not in ledger:
        raise BadInput("a ledger was given", "no data set was named", f"Give {called('dataset', like='NAME')}")
    if "dataset" in ledger and "url" not in ledger:
        name = ledger["dataset"]
        raise BadInput(
            f"the data set {name!r} was named", "no ledger was given", f"Give {called('ledger', like='URL')}"
        )
    if ledger and "url" not in ledger:
        raise BadInput(
            f"{called(next(iter(ledger)))} was given",
            "no ledger was given",
            f"Give {called('ledger', like='URL')} and {called('dataset', like='NAME')}",
        )
    return ReleaseSpec(
        table_of(given), loss_from(given), way_from(given), LedgerSpec(**ledger) if ledger else None,
        Output(**said(given, OUTPUT)), _about(given),
    )  # fmt: skip


def _about(given: Given) -> About | None:
    words = {name.removeprefix("about_"): text for name, text in said(given, ABOUT).items()}
    return About(**words) if words else None


run = command(
    release,
    [
        table_argument("CSV, CSV.gz, Parquet or Excel (.xlsx) file; or a folder of Parquet parts"),
        *PRIVACY,
    ],
    {**TABLE, **WAY, **OUTPUT, **LEDGER, **ABOUT},
    [parameter("write_spec", WriteSpec, None), parameter("seed", Seed, None), parameter("json", Json, False)],
)
