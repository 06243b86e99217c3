"""discreet verify DIR"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common import Json, emit

if TYPE_CHECKING:
    from discreet.verify import Verification


def run(
    folder: Annotated[str, typer.Argument(help="a release folder, or a part of a release in parts")],
    digest: Annotated[str | None, typer.Option(help="sha256 of release.json, received by another way")] = None,
    allow_seeded: Annotated[
        bool, typer.Option("--allow-seeded", help="check a release made from a seed, which is not private")
    ] = False,
    json: Json = False,
) -> None:
    import discreet as dc

    result = dc.verify(folder, digest, allow_seeded=allow_seeded)
    lines = [f"checked: {what}" for what in result.checked]
    lines += [f"not applicable: {what}" for what in result.not_applicable]
    lines += [f"PROBLEM: {what}" for what in result.problems]
    emit(json, result.as_json(), [*lines, _verdict(result), LIMIT])
    raise typer.Exit(0 if result.valid else 1)


def _verdict(result: Verification) -> str:
    if not result.valid:
        return "The release is NOT valid."
    if not result.private:
        return SEEDED
    return VERDICTS.get(str(result.grade), PROVED)


PROVED = "The release is consistent and its guarantee is proved."
SEEDED = "The release is consistent. It is NOT private: its noise came from a seed."
VERDICTS = {
    "computational": "The release is consistent and its guarantee is proved, as far as SHAKE-256 is sound.",
    "diagnosed": "The release is consistent. Its guarantee is diagnosed by simulation, NOT proved.",
}
LIMIT = "No check without the data can prove that the noise was honestly drawn."
