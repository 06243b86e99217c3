"""The study as a reader sees it: tables in Markdown between the marks of a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from discreet_lab.frontier.page import between
from discreet_lab.frontier.verdicts import MeanRatio
from discreet_lab.levels.graphical import installed
from discreet_lab.levels.methods import MODEL, OTHERS, OURS, Method
from discreet_lab.levels.scale import GIGABYTE, Scale
from discreet_lab.levels.tables import LevelsTable
from discreet_lab.levels.verdicts import Goal, LevelsCell, covered, plain, plus_minus, verdicts

SHOWN: tuple[Method, ...] = (*OURS, *OTHERS, *MODEL)
ABSENT = "mbi could not be imported where this was made: its lines are missing."


def written(page: str, cells: Sequence[LevelsCell], tables: Sequence[LevelsTable], scale: Scale | None) -> str:
    """The page with everything that the study found between its marks."""
    parts = {
        "extent": list(extent_lines(cells, tables)),
        "verdicts": list(verdict_lines(verdicts(cells, scale))),
        "errors": list(error_lines(cells)),
        "coverage": list(coverage_lines(cells)),
        "scale": list(scale_lines(scale)),
    }
    for name, lines in parts.items():
        page = between(page, name, lines)
    return page


def extent_lines(cells: Sequence[LevelsCell], tables: Sequence[LevelsTable]) -> Iterator[str]:
    yield "| table | cells | zero | levels | attributes | what it is | releases | fits by mbi |"
    yield "|---|---|---|---|---|---|---|---|"
    for table in tables:
        layout, name = table.layout, f"*{table.name}*" if table.held_out else table.name
        empty = f"{(table.cells == 0).mean():.0%}"
        columns = (", ".join(layout.levels) or "none", ", ".join(layout.attributes) or "none", table.about)
        here = [one.outcomes for one in cells if one.study is table]
        many = (str(min((len(one.get(method, ())) for one in here), default=0)) for method in ("measure", "mbi"))
        yield f"| {name} | {len(table.table):,} | {empty} | " + " | ".join((*columns, *many)) + " |"
    if not installed():
        yield f"\n{ABSENT}"


def verdict_lines(found: Sequence[Goal]) -> Iterator[str]:
    yield "| goal | | found |"
    yield "|---|---|---|"
    for verdict in found:
        yield f"| {verdict.goal} | {'holds' if verdict.holds else '**fails**'} | {verdict.found} |"


def error_lines(cells: Sequence[LevelsCell]) -> Iterator[str]:
    """A table for each table of the study."""
    for study in dict.fromkeys(one.study for one in cells):
        here = [one for one in cells if one.study is study]
        columns = list(here[0].columns)
        yield f"\n### {study.name}: {study.about}\n"
        yield f"| | | {' | '.join(columns)} | at zeros | W1 | seconds |"
        yield "|---" * (len(columns) + 5) + "|"
        for one in here:
            for method in SHOWN:
                if one.has(method):
                    yield f"| {one.budget} | {method} | {' | '.join(_row(one, method))} |"


def _row(one: LevelsCell, method: Method) -> Iterator[str]:
    outcomes = list(one.outcomes[method].values())
    for column in one.columns:
        yield _error(one, method, column) if one.known(method, column) else ""
    for values in ([outcome.at_zeros for outcome in outcomes], [outcome.distribution for outcome in outcomes]):
        known = [value for value in values if value is not None]
        yield plain(float(np.mean(known)), 2) if known else ""
    yield plain(float(np.median([one.seconds for one in outcomes])), 2) if outcomes[0].distribution is not None else ""


def _error(one: LevelsCell, method: Method, column: str) -> str:
    """With its standard error; bold where ours is surely below top-down, with a star where it is surely above."""
    text = plus_minus(one.mean(method, column))
    if method != "measure" or not one.has("top-down"):
        return text
    excess = one.excess(method, "top-down", column)
    return f"**{text}**" if excess.surely_negative else f"{text}*" if excess.surely_positive else text


def coverage_lines(cells: Sequence[LevelsCell]) -> Iterator[str]:
    """Questions in the columns of a table are put together: the least and the largest share of each."""
    yield "| table | budget | question | held the truth | as short as whole noise allows |"
    yield "|---|---|---|---|---|"
    for one in cells:
        found = {name: (share, least) for name, share, least in covered(one)}
        for column, names in one.columns.items():
            here = [found[name] for name in names if name in found]
            if here:
                shares = [_share(share) for share, _ in sorted(here, key=lambda pair: pair[0].mean)]
                shown = shares[0] if len(here) == 1 else f"{shares[0]} to {shares[-1]}"
                least = max(least for _, least in here)
                yield f"| {one.study.name} | {one.budget} | {column} | {shown} | {least:.3f} |"


def _share(share: MeanRatio) -> str:
    return f"{share.mean:.3f}" + (f" ± {share.error:.3f}" if np.isfinite(share.error) else "")


def scale_lines(scale: Scale | None) -> Iterator[str]:
    if scale is None:
        yield "The table with all US precincts was not among those studied."
        return
    yield f"One release of {scale.rows:,} cells at epsilon 0.5, in a process of its own; medians of seven rounds:\n"
    yield "| step | seconds | times os.urandom |"
    yield "|---|---|---|"
    steps = {
        "search for shares": scale.search, "measuring": scale.measuring, "combining": scale.combining,
        "estimates and intervals of all questions": scale.answering, "rounding to one table": scale.rounding,
        "os.urandom, 8 bytes a cell": scale.randomness,
    }  # fmt: skip
    for name, seconds in steps.items():
        yield f"| {name} | {seconds:.3g} | {seconds / scale.randomness:.0f} |"
    yield f"\nThe most memory the process had: {scale.memory / GIGABYTE:.2f} GB."
