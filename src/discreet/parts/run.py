"""A release in parts as a file or a command asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import BadInput, called
from discreet.options import options_of
from discreet.parts.release import release_parts
from discreet.parts.work import PartsRelease

if TYPE_CHECKING:
    from discreet.spec.values import ReleaseSpec
    from discreet.table import Schema

OF_ONE_FILE = ("keep_order", "sheet", "header_row", "thousands", "wide")  # options of a table that parts do not have


def run_in_parts(
    spec: ReleaseSpec,
    out: str | Path,
    charged: Mapping[str, Any],
    seed: int | None,
    before: Callable[[Schema], None] | None,
    stages: Callable[[str], None] | None,
) -> tuple[PartsRelease, str]:
    table, output = spec.table, spec.output
    usual = {name: default for name, (_, default) in options_of(type(table)).items()}
    for name in OF_ONE_FILE:
        if getattr(table, name) != usual[name]:
            found = "parts are Parquet files, sorted by their keys"
            raise BadInput(f"{called(name)} was asked for with a table in parts", found, f"Drop {called(name)}")
    if output.format not in (None, "parquet") or output.excel_safe:
        given = called("excel_safe") if output.excel_safe else f"the format {output.format!r}"
        raise BadInput(f"{given} was asked for with a table in parts", "parts are written as Parquet", "Leave it out")
    made = release_parts(
        table.file, table.count, table.keys, spec.privacy, spec.way, out=out, engine=output.engine or "local",
        os_randomness=output.os_randomness, universe=table.universe, contributions=table.contributions,
        drop_totals=table.drop_totals, rows_are_disjoint=table.rows_are_disjoint, suppressed_as=table.suppressed_as,
        measurements=output.measurements, about=spec.about, seed=seed, before=before, stages=stages, **charged,
    )  # fmt: skip
    return made, made.digest
