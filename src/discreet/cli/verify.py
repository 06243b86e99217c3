"""discreet verify DIR"""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.common import Json, emit


def run(
    folder: Annotated[str, typer.Argument(help="a release folder")],
    digest: Annotated[str | None, typer.Option(help="sha256 of release.json, received by another way")] = None,
    json: Json = False,
) -> None:
    import discreet as dc

    result = dc.verify(folder, digest)
    lines = [f"checked: {what}" for what in result.checked]
    lines += [f"NOT checked, it was made by other versions: {what}" for what in result.not_applicable]
    lines += [f"PROBLEM: {what}" for what in result.problems]
    verdict = VERDICTS.get(str(result.grade), PROVED) if result.valid else "The release is NOT valid."
    emit(json, result.as_json(), [*lines, verdict, LIMIT])
    raise typer.Exit(0 if result.valid else 1)


PROVED = "The release is consistent and its guarantee is proved."
VERDICTS = {"diagnosed": "The release is consistent. Its guarantee is diagnosed by simulation, NOT proved."}
LIMIT = "No check without the data can prove that the noise was honestly drawn."
