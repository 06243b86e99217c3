"""discreet demo"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.common import Json, Seed, emit, released, say


def run(
    out: Annotated[str, typer.Option(help="folder to write")] = "demo-release",
    epsilon: Annotated[str, typer.Option(help="privacy parameter")] = "1",
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    import discreet as dc
    from discreet.io.place import free_target

    _clear(Path(out))
    free_target(out)
    result = dc.release(dc.example(), epsilon=epsilon, seed=seed)
    digest = result.save(out)
    verification = dc.verify(out, digest, allow_seeded=seed is not None)
    value, lines = released(result, out, digest)
    emit(as_json, value, [*_picture(result), *lines, f"Verified: {verification.valid}. Open {out}/report.html."])
    if not verification.valid:
        say("discreet: the demonstration release did not verify")
        raise typer.Exit(1)


def _clear(out: Path) -> None:
    """An earlier demonstration may be replaced; nothing else is touched."""
    try:
        schema = json.loads((out / "release.json").read_text(encoding="utf-8"))["schema"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    if (schema["keys"], schema["count"], schema["rows"]) == (["county"], "murders", 2197):
        shutil.rmtree(out)


def _picture(result: object) -> list[str]:
    """The private distribution of counts, drawn with characters."""
    from discreet.released import Release

    assert isinstance(result, Release)
    if result.distribution is None:
        return []
    shares = result.distribution.distribution
    shown = list(enumerate(shares))[:11]
    lines = ["US county murders of 1996: share of counties by number of murders, privately released", ""]
    for count, share in [*shown, ("more", sum(shares[11:]))]:
        lines.append(f"{count!s:>6} {'█' * round(100 * share):<50} {100 * share:5.1f} %")
    return [*lines, ""]
