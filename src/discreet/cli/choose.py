"""`discreet choose`: errors against epsilon, and what each epsilon means."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import common
from discreet.cli.working import working

if TYPE_CHECKING:
    from discreet.choose import Choices


def run(
    schema: Annotated[str, typer.Option("--schema", help="JSON with `rows` (a release.json will do), or the table")],
    prior: Annotated[str | None, typer.Option("--prior", help="public guess of the distribution of counts")] = None,
    max_count: Annotated[int | None, typer.Option("--max-count", help="largest count")] = None,
    plot: common.Plot = None,
    json: common.Json = False,
) -> None:
    from discreet.choose import choose
    from discreet.io.files import read_distribution
    from discreet.plot import check_suffix

    if plot is not None:
        check_suffix(plot)
    rows, largest = _public(Path(schema))
    guess = None if prior is None else read_distribution(prior)
    with working("estimating errors"):
        choices = choose(rows, guess, max_count=max_count or (None if guess else largest))
    if plot is not None:
        choices.plot(plot)
    common.emit(json, {"rows": [choice.as_json() for choice in choices]}, lambda: _lines(choices))


def _public(path: Path) -> tuple[int, int | None]:
    """The number of rows and, if it is stated, the largest count. Of a table only the number of rows is used."""
    from discreet.errors import BadInput
    from discreet.io.layout import read_frame

    if path.suffix.lower() != ".json":
        return read_frame(path).num_rows, None
    try:
        content: Any = jsonlib.loads(path.read_text(encoding="utf-8-sig"))
        stated = content.get("schema", content)
        return int(stated["rows"]), stated.get("max_count")
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(
            f"a schema was to be read from {path}", "it does not say how many rows there are", 'Write {"rows": 1000}'
        ) from error


def _lines(choices: Choices) -> Iterable[str]:
    from rich.console import Console
    from rich.table import Table

    table = Table("epsilon", "error of a count", "error of the distribution", *choices.heads)
    for choice in choices:
        table.add_row(choice.epsilon, f"{choice.count_error:g}", f"{choice.distribution_error:g}", *choice.means)
    console = Console(width=110)
    with console.capture() as captured:
        console.print(choices.sentence)
        console.print(choices.about)
        console.print(table)
    return captured.get().splitlines()
