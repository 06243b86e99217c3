"""`discreet estimate`: what a release says about the truth, with intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import common

if TYPE_CHECKING:
    from discreet.estimate import Answer, AnswerSet, Estimate

OF_ROWS: dict[str, str] = {"rich_help_panel": "Which rows"}
NUMBERS: dict[str, str] = {"rich_help_panel": "Questions"}
COMPARED: dict[str, str] = {"rich_help_panel": "One against another"}
ShareAbove = Annotated[int | None, typer.Option("--share-above", help="share of rows above this count", **NUMBERS)]
ShareZero = Annotated[bool, typer.Option("--share-zero", help="share of rows with count zero", **NUMBERS)]
Mean = Annotated[bool, typer.Option("--mean", help="mean count", **NUMBERS)]
Quantile = Annotated[str | None, typer.Option("--quantile", help="quantile of the counts, e.g. 0.5", **NUMBERS)]
Total = Annotated[bool, typer.Option("--total", help="sum of the counts", **NUMBERS)]
Rows = Annotated[bool, typer.Option("--rows", help="every row by itself", **NUMBERS)]
By = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="A,B",
        help="total of each group by key columns; or what else is asked, group by group",
        **NUMBERS,
    ),
]
Share = Annotated[bool, typer.Option("--share", help="share of each group of --by in all of them", **NUMBERS)]
Rank = Annotated[
    bool,
    typer.Option("--rank", help="rank of each group of --by, or of each row, by its count", **NUMBERS),
]
Gini = Annotated[bool, typer.Option("--gini", help="Gini's coefficient of the groups of --by, or of rows", **NUMBERS)]
Dissimilarity = Annotated[
    str | None,
    typer.Option(
        "--dissimilarity",
        metavar="COL=A,B",
        help="index of dissimilarity of two values, over the groups of --by",
        **NUMBERS,
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where", metavar="COL=VALUE", help="only rows with this value; a column twice: with either", **OF_ROWS
    ),
]
Per = Annotated[
    str | None,
    typer.Option("--per", metavar="FILE", help="rates: over the numbers in this file, beside key columns", **OF_ROWS),
]
Minus = Annotated[
    str | None,
    typer.Option("--minus", metavar="COL=VALUE,..", help="difference to the total of other rows", **COMPARED),
]
Over = Annotated[
    str | None,
    typer.Option("--over", metavar="COL=VALUE,..|all", help="ratio to the total of other rows, or of all", **COMPARED),
]
Against = Annotated[
    str | None,
    typer.Option(
        "--against", metavar="DIR", help="difference and ratio to another release, of another year", **COMPARED
    ),
]
Level = Annotated[str, typer.Option("--level", help="how often the intervals cover the truth")]
Csv = Annotated[str | None, typer.Option("--csv", metavar="FILE", help="write all answers to this file")]
Drawn = Annotated[
    str | None,
    typer.Option("--plot", help="draw the last answers with error bars to this PNG or SVG file"),
]
QUESTIONS = (
    "--total, --mean, --by A,B, --rows, --share-above T, --share-zero, --quantile Q, --share, --rank, --gini, "
    "--dissimilarity COL=A,B, --minus COL=VALUE, --over COL=VALUE, --against DIR"
)


@dataclass(frozen=True)
class AskedOnce:
    """A question with what it was asked with, if anything, and its answer or answers."""

    name: str
    answer: Answer | AnswerSet
    given: tuple[str, float] | None = None

    def as_json(self) -> object:
        found = self.answer.as_json()
        return found if isinstance(found, list) else {**({} if self.given is None else dict([self.given])), **found}

    def lines(self) -> Iterator[str]:
        title = self.name.replace("_", " ")
        several = getattr(self.answer, "lines", None)
        if several is None:
            yield f"{title}{'' if self.given is None else f' {self.given[1]}'}: {self.answer}"
        else:
            yield from (f"{title} {line}" for line in several())


@dataclass(frozen=True)
class Questions:
    """Everything that was asked for on the command line."""

    share_above: int | None
    share_zero: bool
    mean: bool
    quantile: str | None
    total: bool
    rows: bool
    by: tuple[str, ...]
    share: bool
    rank: bool
    gini: bool
    dissimilarity: str | None
    minus: str | None
    over: str | None
    against: str | None
    per: str | None

    def asked(self, view: Estimate, everything: Estimate, where: dict[str, list[str]]) -> Iterator[AskedOnce]:
        """Each question with its answer, in the order of the options."""
        from discreet.numbers import exact

        if self.share_above is not None:
            yield AskedOnce("share_above", view.share_above(self.share_above), ("threshold", self.share_above))
        if self.share_zero:
            yield AskedOnce("share_zero", view.share_zero())
        if self.mean:
            yield AskedOnce("mean", view.mean())
        if self.quantile is not None:
            q = float(exact(self.quantile, "the quantile"))
            yield AskedOnce("quantile", view.quantile(self.quantile), ("q", q))
        sums: Any = view if self.per is None else self._rates(view, self.per)
        if self.total:
            yield AskedOnce("total", sums.total())
        if self.rows:
            yield AskedOnce("rows", sums.rows())
        yield from self._by(view, sums)
        yield from self._compared(view, everything, where)

    def _rates(self, view: Estimate, per: str) -> Any:
        """Numbers that no row has do no harm, but are said: a name may be spelt otherwise."""
        found = view.per(per)
        if found.unused:
            common.say(f"{per} has numbers for {found.unused}, which the release does not have: they are not used.")
        return found

    def _by(self, view: Estimate, sums: Any) -> Iterator[AskedOnce]:
        """What may be asked of groups."""
        if self.share:
            yield AskedOnce("share", view.share(*self.by))
        if self.rank:
            yield AskedOnce("rank", view.rank(*self.by))
        if self.gini:
            yield AskedOnce("gini", view.gini(*self.by))
        if self.dissimilarity is not None:
            column, one, other = _two_values(self.dissimilarity)
            yield AskedOnce("dissimilarity", view.dissimilarity(column, one, other, *self.by))
        alone = not (self.share or self.rank or self.gini or self.dissimilarity or self.minus or self.over)
        if self.by and alone and self.against is None:
            yield AskedOnce("by", sums.by(*self.by))

    def _compared(self, view: Estimate, everything: Estimate, where: dict[str, list[str]]) -> Iterator[AskedOnce]:
        """One total against another."""
        from discreet.estimate import estimate
        from discreet.estimate.asked import read_where

        if self.minus is not None:
            yield AskedOnce("difference", view.minus(everything.where(read_where(self.minus.split(","))), *self.by))
        if self.over is not None:
            other = everything if self.over == "all" else everything.where(read_where(self.over.split(",")))
            yield AskedOnce("ratio", view.over(other, *self.by))
        if self.against is not None:
            other = estimate(self.against, view.level)
            other = other.where(where) if where else other
            yield AskedOnce("difference", view.minus(other, *self.by))
            yield AskedOnce("ratio", view.over(other, *self.by))


def run(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="folder of a release")],
    share_above: ShareAbove = None,
    share_zero: ShareZero = False,
    mean: Mean = False,
    quantile: Quantile = None,
    total: Total = False,
    rows: Rows = False,
    by: By = None,
    share: Share = False,
    rank: Rank = False,
    gini: Gini = False,
    dissimilarity: Dissimilarity = None,
    where: Where = None,
    per: Per = None,
    minus: Minus = None,
    over: Over = None,
    against: Against = None,
    level: Level = "0.95",
    csv: Csv = None,
    plot: Drawn = None,
    json: common.Json = False,
) -> None:
    from discreet.errors import BadInput
    from discreet.estimate import estimate
    from discreet.estimate.asked import read_where

    columns = tuple(name.strip() for name in (by or "").split(",") if name.strip())
    questions = Questions(
        share_above, share_zero, mean, quantile, total, rows, columns, share, rank, gini, dissimilarity, minus, over,
        against, per,
    )  # fmt: skip
    everything, wanted = estimate(folder, level), read_where(where or [])
    view = everything.where(wanted) if wanted else everything
    asked = list(questions.asked(view, everything, wanted))
    if not asked:
        asking = f"the release in {folder} was to be estimated"
        raise BadInput(asking, "no question was asked", f"Ask one: {QUESTIONS}")
    _write(asked, csv, plot)
    common.emit(json, {one.name: one.as_json() for one in asked}, [line for one in asked for line in one.lines()])


def _write(asked: list[AskedOnce], csv: str | None, plot: str | None) -> None:
    """The files that were asked for."""
    if csv is not None:
        from discreet.io.answers import stacked, write_frame

        write_frame(stacked({one.name: one.answer.table() for one in asked}), csv)
    if plot is not None:
        from discreet.errors import BadInput
        from discreet.plot import save

        last = asked[-1].answer
        if not hasattr(last, "plot"):
            raise BadInput(f"{plot} was to be drawn", "there is one number only", "Ask for groups: --by A,B or --rows")
        save(last.plot(), plot)


def _two_values(word: str) -> tuple[str, str, str]:
    """COL=A,B."""
    from discreet.errors import BadInput

    column, _, values = word.partition("=")
    two = [value.strip() for value in values.split(",")]
    if len(two) != 2 or not all(two) or not column.strip():
        asked = f"an index of dissimilarity of {word!r} was asked for"
        raise BadInput(asked, "it is not COL=A,B", "Write --dissimilarity race=black,white --by county")
    return column.strip(), two[0], two[1]
