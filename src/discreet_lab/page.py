"""The page of results, in Markdown, and the same as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from discreet.io.files import write_json, write_text

HEAD = """# The published experiments, again

Made by `discreet reproduce all{mode}`; do not edit. Each experiment lists what the paper printed and what we find. The
verdict is *reproduced* if every claim holds within its rounding (or the margin given with ±, where simulation blurs
their number or ours), *differs with reason* if the reason is known (most are in [errata](errata.md)), and *data not
public* if a generated stand-in had to take the place of the paper's data: what it gives is shown, but never
called reproduced. Every experiment also has a control, the same claims on something deliberately wrong, which must
fail."""


def write_page(out: Path, results: list[dict[str, Any]], quick: bool) -> None:
    write_json(out / "reproduction.json", {"quick": quick, "results": results})
    write_text(out / "reproduction.md", "\n".join(page_lines(results, quick)) + "\n")


def page_lines(results: list[dict[str, Any]], quick: bool) -> Iterator[str]:
    yield HEAD.format(mode=" --quick" if quick else "")
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
        cells = (claim["what"], claim["published"], claim["ours"], "" if claim["holds"] else "differs")
        yield "| " + " | ".join(_cell(cell) for cell in cells) + " |"
    yield ""
    if result["picture"]:
        yield f"![{result['name']}]({result['picture']})\n"
    yield f"Ours: {result['improvement']}\n"
    yield f"Control: {result['control']['what']}; {'fails, as it must' if result['control']['caught'] else 'PASSES'}."


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
