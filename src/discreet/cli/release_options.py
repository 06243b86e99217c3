"""What `release` and `plan` share: the table, the privacy and the way, as flags."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli.common import Alpha, Delta, Epsilon, Rho
from discreet.cli.flags import Given, flags_of, parameter, said
from discreet.errors import BadInput
from discreet.privacy.parse import loss_of
from discreet.privacy.values import Loss
from discreet.spec.values import TableSpec
from discreet.ways import WaySpec, spec_of, ways_by_keyword

TABLE = flags_of(TableSpec)
WAY = flags_of(*ways_by_keyword())
PRIVACY = (
    parameter("epsilon", Epsilon, None), parameter("alpha", Alpha, None), parameter("rho", Rho, None),
    parameter("delta", Delta, "0"),
)  # fmt: skip


def table_argument(help: str) -> Any:
    return parameter("table", Annotated[str, typer.Argument(help=help)])


def table_of(given: Given) -> TableSpec:
    options = said(given, TABLE)
    if "count" not in options:
        raise BadInput(f"the table {given['table']} was given", "which column holds the counts is not said",
                       "Add --count COLUMN")  # fmt: skip
    return TableSpec(given["table"], **options)


def loss_from(given: Given) -> Loss:
    return loss_of(given["epsilon"], alpha=given["alpha"], rho=given["rho"], delta=given["delta"])


def way_from(given: Given) -> WaySpec:
    return spec_of(said(given, WAY))
