"""discreet distribution TABLE"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.common import Json, Seed, emit, say
from discreet.cli.flags import command, flags_of, parameter, said, some
from discreet.cli.release_options import PRIVACY, TABLE, loss_from, table_argument, table_of
from discreet.spec.values import LedgerSpec
from discreet.ways.keep_distribution.spec import PRIVATIZERS, count_or_word

if TYPE_CHECKING:
    from discreet.distribution import PrivateDistribution

LEDGER = some(flags_of(LedgerSpec), "url", "dataset", "note", "who")
MaxCount = Annotated[str | None, typer.Option("--max-count", metavar="M|auto", help="largest count, or 'auto'")]
Method = Annotated[
    str, typer.Option("--method", help=f"how it is measured ({', '.join(PRIVATIZERS)}; cyclic-gaussian: idealised)")
]
Projection = Annotated[str | None, typer.Option("--projection", help="clip, simplex, isotonic or median")]
Idealised = Annotated[bool, typer.Option("--allow-idealised", help="accept continuous noise")]


def distributed(**given: Any) -> None:
    from discreet.distribution import private_distribution

    max_count = given["max_count"]
    private_distribution(
        table_of(given).read(),
        loss_from(given),
        method=given["method"],
        max_count=None if max_count is None else count_or_word(max_count),
        projection=given["projection"],
        allow_idealised=given["allow_idealised"],
        seed=given["seed"],
        publish=lambda made: _publish(made, given["json"]),
        **{"ledger" if name == "url" else name: value for name, value in said(given, LEDGER).items()},
    )


def _publish(private: PrivateDistribution, json: bool) -> None:
    """All of it is out when this returns: only then is the ledger told."""
    if not private.private:
        say("discreet: NOT PRIVATE, the noise came from a seed")
    emit(json, private.as_json(), lambda: _lines(private))
    sys.stdout.flush()


def _lines(private: PrivateDistribution) -> Iterator[str]:
    yield f"{private.method}, counts 0..{private.max_count} of {private.rows} rows ({private.grade})"
    width = len(str(private.max_count))
    for value, share in enumerate(private.distribution):
        yield f"{value:{width}d} {share:8.5f} {'#' * round(60 * float(share))}".rstrip()


run = command(
    distributed,
    [table_argument("CSV, CSV.gz or Parquet file"), *PRIVACY],
    {**TABLE, **LEDGER},
    [
        parameter("max_count", MaxCount, None), parameter("method", Method, "cumulative"),
        parameter("projection", Projection, None), parameter("allow_idealised", Idealised, False),
        parameter("seed", Seed, None), parameter("json", Json, False),
    ],
)  # fmt: skip
