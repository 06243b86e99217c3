"""Options that `release` and `plan` share."""

from __future__ import annotations

from typing import Annotated

import typer

Universe = Annotated[str | None, typer.Option(help="file with the public set of rows")]
MaxCount = Annotated[str | None, typer.Option("--max-count", help="largest count, or 'auto'")]
Mechanism = Annotated[
    str | None, typer.Option(help="name of the mechanism, or a file with a matrix; transport if not given")
]
Consistent = Annotated[
    bool | None, typer.Option("--consistent/--independent", help="map by ranks, or every row on its own")
]
Split = Annotated[str | None, typer.Option(help="share of the budget for the distribution")]
Refine = Annotated[bool | None, typer.Option("--refine/--no-refine", help="re-estimate the distribution")]
Base = Annotated[str, typer.Option(help="noise under the map: geometric or gaussian")]
Keep = Annotated[list[str] | None, typer.Option(help="total, margin:A,B, sum:COL=VALUE or a CSV file")]
Law = Annotated[str, typer.Option(help="noise on the lattice: l1, l2 or gaussian")]
Nonnegative = Annotated[bool, typer.Option("--nonnegative", help="no negative counts")]
PerUnit = Annotated[bool, typer.Option("--per-unit", help="epsilon per unit of distance")]
AllowDiagnosed = Annotated[bool, typer.Option("--allow-diagnosed", help="accept a chain's sample")]
KeepOrder = Annotated[bool, typer.Option("--keep-order", help="the order of rows is public")]
Contributions = Annotated[int, typer.Option(help="in how many rows one person may be counted")]
