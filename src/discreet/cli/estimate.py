"""`discreet estimate`: what a release says about the truth, with intervals."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli import common


def run(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="folder of a release")],
    share_above: Annotated[int | None, typer.Option("--share-above", help="share of rows above this count")] = None,
    share_zero: Annotated[bool, typer.Option("--share-zero", help="share of rows with count zero")] = False,
    mean: Annotated[bool, typer.Option("--mean", help="mean count")] = False,
    quantile: Annotated[str | None, typer.Option("--quantile", help="quantile of the counts, e.g. 0.5")] = None,
    total: Annotated[bool, typer.Option("--total", help="sum of the counts")] = False,
    by: Annotated[str | None, typer.Option("--by", help="total of each group of this key column")] = None,
    level: Annotated[str, typer.Option("--level", help="how often the intervals cover the truth")] = "0.95",
    json: common.Json = False,
) -> None:
    from discreet.errors import BadInput
    from discreet.estimate import estimate
    from discreet.estimate.answers import as_json
    from discreet.numbers import exact

    view = estimate(folder, level)
    answers: dict[str, Any] = {}
    if share_above is not None:
        answers["share_above"] = {"threshold": share_above, **view.share_above(share_above).as_json()}
    if share_zero:
        answers["share_zero"] = view.share_zero().as_json()
    if mean:
        answers["mean"] = view.mean().as_json()
    if quantile is not None:
        answers["quantile"] = {"q": float(exact(quantile, "the quantile")), **view.quantile(quantile).as_json()}
    if total:
        answers["total"] = view.total().as_json()
    if by is not None:
        answers["by"] = {"column": by, "groups": as_json(view.by(by))}
    if not answers:
        raise BadInput(
            f"the release in {folder} was to be estimated",
            "no question was asked",
            "Ask one: --share-above T, --share-zero, --mean, --quantile Q, --total, --by COLUMN",
        )
    common.emit(json, answers, lambda: _lines(answers))


def _lines(answers: dict[str, Any]) -> list[str]:
    lines = []
    for name, answer in answers.items():
        groups = answer.get("groups", [answer])
        for one in groups:
            what = f"{name.replace('_', ' ')} {one.get('value', one.get('threshold', one.get('q', '')))}".strip()
            low, high = one["interval"]
            lines.append(f"{what}: {one['estimate']:.6g} (between {low:.6g} and {high:.6g}, {one['level']:.0%})")
    return lines
