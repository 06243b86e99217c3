"""`discreet estimate`: what a release says about the truth, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import common

if TYPE_CHECKING:
    from discreet.estimate.answers import Answer


@dataclass(frozen=True)
class AskedNumber:
    """A question with one number for an answer, and the number it was asked with, if any."""

    name: str
    given: tuple[str, float] | None
    answer: Answer

    def as_json(self) -> dict[str, object]:
        return {**({} if self.given is None else dict([self.given])), **self.answer.as_json()}

    def line(self) -> str:
        return _line(self.name.replace("_", " "), "" if self.given is None else self.given[1], self.answer)


def run(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="folder of a release")],
    share_above: Annotated[int | None, typer.Option("--share-above", help="share of rows above this count")] = None,
    share_zero: Annotated[bool, typer.Option("--share-zero", help="share of rows with count zero")] = False,
    mean: Annotated[bool, typer.Option("--mean", help="mean count")] = False,
    quantile: Annotated[str | None, typer.Option("--quantile", help="quantile of the counts, e.g. 0.5")] = None,
    total: Annotated[bool, typer.Option("--total", help="sum of the counts")] = False,
    by: Annotated[str | None, typer.Option("--by", help="total of each group by key columns", metavar="A,B")] = None,
    level: Annotated[str, typer.Option("--level", help="how often the intervals cover the truth")] = "0.95",
    json: common.Json = False,
) -> None:
    from discreet.errors import BadInput
    from discreet.estimate import estimate
    from discreet.estimate.answers import as_json
    from discreet.numbers import exact

    view = estimate(folder, level)
    asked: list[AskedNumber] = []
    if share_above is not None:
        asked.append(AskedNumber("share_above", ("threshold", share_above), view.share_above(share_above)))
    if share_zero:
        asked.append(AskedNumber("share_zero", None, view.share_zero()))
    if mean:
        asked.append(AskedNumber("mean", None, view.mean()))
    if quantile is not None:
        asked.append(AskedNumber("quantile", ("q", float(exact(quantile, "the quantile"))), view.quantile(quantile)))
    if total:
        asked.append(AskedNumber("total", None, view.total()))
    columns = [] if by is None else [name.strip() for name in by.split(",") if name.strip()]
    groups = {} if by is None else view.by(*columns)
    if not asked and by is None:
        raise BadInput(
            f"the release in {folder} was to be estimated",
            "no question was asked",
            "Ask one: --share-above T, --share-zero, --mean, --quantile Q, --total, --by A,B",
        )
    value: dict[str, object] = {one.name: one.as_json() for one in asked}
    if by is not None:
        value["by"] = as_json(columns, groups)
    common.emit(
        json,
        value,
        [*(one.line() for one in asked), *(_line("by", _named(group), answer) for group, answer in groups.items())],
    )


def _named(group: object) -> object:
    return ", ".join(map(str, group)) if isinstance(group, tuple) else group


def _line(name: str, detail: object, answer: Answer) -> str:
    return f"{f'{name} {detail}'.strip()}: {answer}"
