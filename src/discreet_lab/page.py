"""The page of results, in Markdown, and the same as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from discreet.io.files import write_json, write_text

HEAD = """# The published experiments, again

Made by `discreet reproduce all{mode}`; do not edit. Each experiment lists what the paper printed and what we find.

| verdict | meaning |
|---|---|
| *reproduced* | every claim holds within its rounding, or within the margin given with ±: that of a simulation |
| *same order* | a number given as 'about' is met within a factor of four |
| *not resolved* | so few replications were printed that the margin is wider than the number: nobody can tell |
| *differs with reason* | the reason is known; most are in [errata](errata.md) |
| *data not public* | a generated stand-in takes the place of the paper's data, so nothing is called reproduced |

Every claim that holds has a control, the same claim made of something deliberately wrong, which fails it: a claim that
nothing could fail would be no check, and fails its experiment."""

QUICK = """
This is the quick run: fewer replications and smaller sizes than without `--quick`. Margins are those of what was run,
so some are wider here."""


def write_page(out: Path, results: list[dict[str, Any]], quick: bool) -> None:
    write_json(out / "reproduction.json", {"quick": quick, "results": results})
    write_text(out / "reproduction.md", "\n".join(page_lines(results, quick)) + "\n")


def page_lines(results: list[dict[str, Any]], quick: bool) -> Iterator[str]:
    yield HEAD.format(mode=" --quick" if quick else "")
    if quick:
        yield QUICK
    verdicts = Counter(result["verdict"] for result in results)
    yield ""
    yield (
        f"{len(results)} experiments: "
        + ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
        + "."
    )
    paper = ""
    for result in results:
        if result["paper"] != paper:
            paper = result["paper"]
            yield f"\n## {paper}"
        yield from _section(result)


def _section(result: dict[str, Any]) -> Iterator[str]:
    yield f"\n### {result['name']}: {result['what']}\n"
    yield f"**{result['verdict']}**" + (f". {result['note']}" if result["note"] else ".") + "\n"
    yield "| claim | published | ours | |"
    yield "|---|---|---|---|"
    for claim in result["claims"]:
        cells = (claim["what"], claim["published"], claim["ours"], claim["only"] if claim["holds"] else "differs")
        yield "| " + " | ".join(_cell(cell) for cell in cells) + " |"
    yield ""
    if result["picture"]:
        yield f"![{result['name']}]({result['picture']})\n"
    yield f"Ours: {result['improvement']}\n"
    for control in result["controls"]:
        yield f"Control: {control['what']}; fails {len(control['fails'])} of the claims." + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
