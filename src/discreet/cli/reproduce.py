"""discreet reproduce NAME|all"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Annotated, TypedDict

import typer

from discreet.cli.common import Json, emit
from discreet.errors import BadInput, MissingExtra


class Claimed(TypedDict):
    """A claim of a paper beside what was found."""

    what: str
    published: str
    ours: str
    holds: bool


class Reproduced(TypedDict):
    """What is shown of an experiment."""

    name: str
    what: str
    verdict: str
    note: str
    claims: Sequence[Claimed]
    improvement: str


def run(
    name: Annotated[str | None, typer.Argument(help="an experiment, or 'all'")] = None,
    listed: Annotated[bool, typer.Option("--list", help="name the experiments")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="fewer repeats and smaller sizes")] = False,
    data: Annotated[str | None, typer.Option("--data", help="folder with the real public data")] = None,
    out: Annotated[str | None, typer.Option("--out", help="folder for the page and its pictures")] = None,
    json: Json = False,
) -> int:
    lab = _lab()
    if listed:
        emit(json, lab.listing(), [f"{one['name']:<24} {one['what']}" for one in lab.listing()])
        return 0
    if name is None:
        raise BadInput("an experiment was to be reproduced", "none was named", "Name one, or 'all'; --list shows them")
    results: list[Reproduced] = lab.reproduce([name], quick=quick, data=data, out=out)
    emit(json, {"results": results}, lambda: _lines(results, out))
    return int(any(result["verdict"] == "failed" for result in results))


def _lab() -> ModuleType:
    """The experiments are in a package of their own, which only the repository holds."""
    try:
        from discreet_lab import run as lab
    except ModuleNotFoundError as error:
        if error.name != "discreet_lab":
            raise
        raise MissingExtra(
            "a published experiment was to be repeated",
            "discreet_lab, which holds the experiments, is not installed",
            "It is not on the package index: clone discreet's repository and run `make setup` there",
        ) from error
    return lab


def _lines(results: Sequence[Reproduced], out: str | None) -> Iterator[str]:
    for result in results:
        yield f"{result['name']:<24} {result['verdict']:<20} {result['what']}"
        if len(results) == 1:
            for claim in result["claims"]:
                mark = " " if claim["holds"] else "*"
                yield f"  {mark} {claim['what']}: published {claim['published']}; ours {claim['ours']}"
            yield f"  {result['note']}".rstrip()
            yield f"  Ours: {result['improvement']}"
    if out is not None:
        yield f"Written to {out}/reproduction.md"
