"""Make the release that a file, or a value, asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import BadInput, called
from discreet.options import spelt
from discreet.spec.read import read_spec
from discreet.spec.values import ReleaseSpec

if TYPE_CHECKING:
    from discreet.parts.work import PartsRelease
    from discreet.released import Release
    from discreet.table import Schema


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
