"""discreet reproduce NAME|all"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from discreet.cli.common import Json, emit
from discreet.errors import BadInput


def run(
    name: Annotated[str | None, typer.Argument(help="an experiment, or 'all'")] = None,
    listed: Annotated[bool, typer.Option("--list", help="name the experiments")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="fewer repeats and smaller sizes")] = False,
    data: Annotated[str | None, typer.Option("--data", help="folder with the real public data")] = None,
    out: Annotated[str | None, typer.Option("--out", help="folder for the page and its pictures")] = None,
    json: Json = False,
) -> int:
    from discreet.reproduce.run import listing, reproduce

    if listed:
        emit(json, listing(), [f"{one['name']:<24} {one['what']}" for one in listing()])
        return 0
    if name is None:
        raise BadInput("an experiment was to be reproduced", "none was named", "Name one, or 'all'; --list shows them")
    results = reproduce([name], quick=quick, data=data, out=out)
    emit(json, {"results": results}, lambda: _lines(results, out))
    return int(any(result["verdict"] == "failed" for result in results))


def _lines(results: list[dict[str, Any]], out: str | None) -> Iterator[str]:
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
