"""What the analyst's page says beside its numbers, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.record.release import Publication
from discreet.record.words import pages, promises
from discreet.report.facts import files_of, title_of
from discreet.report.prepared import LEVEL, Prepared

TOUCHING = ("top-coded", "sized", "bottom-coded", "suppressed-as")  # remarks that say what a total is a total of


@dataclass(frozen=True)
class ExplorePage:
    """What the page says and knows, beside its numbers."""

    stated: str  # the promise in numbers, for software
    title: str
    subtitle: str
    warning: str | None
    guarantee: tuple[str, ...]
    about: tuple[tuple[str, str], ...]
    count: str
    keys: tuple[str, ...]
    level: float
    cut: str  # beside every number that it touches; empty where nothing was cut
    of_rows: str
    missing: str | None
    reading: tuple[str, ...]
    files: tuple[tuple[str, str], ...]


def explore_page(publication: Publication[Any], found: Prepared) -> ExplorePage:
    """What the analyst's page says beside its numbers."""
    record, promise = publication.record, publication.record.guarantee
    many = pages.COUNTS[record.schema.rows == 1].format(rows=record.schema.rows)
    numbers = {"rows": record.schema.rows, "counts": many, "created": record.created[:10],
               "percent": f"{100 * LEVEL:g}", "twenty": 20, "why": found.why_not}  # fmt: skip
    say = {name: text.format(**numbers) for name, text in pages.EXPLORE.items()}
    exact = any(np.any(one.numbers.exact) for one in found.asked)
    applies = {
        "interval": found.why_not is None,
        "together": found.why_not is None,
        "exact": exact,
        "some": found.why_not is None and found.rows is not None and not found.whole,
        "many": found.rows is None,
    }
    touched = [promises.remark(one, promise) for one in promise.remarks if one.code in TOUCHING]
    reading = [*touched, *(say[name] for name, so in applies.items() if so)]
    missing = None
    if found.why_not is not None:
        missing = say["missing" if found.rows is not None else "missing-many"]
    return ExplorePage(
        stated=record.stated,
        title=title_of(record),
        subtitle=say["subtitle" if found.why_not is None else "subtitle-plain"],
        warning=None if record.private else promises.SEED_WARNING,
        guarantee=promises.brief(promise),
        about=tuple((pages.PAGE[name], text) for name, text in vars(record.about).items() if text and name != "title"),
        count=record.schema.count,
        keys=record.schema.keys,
        level=LEVEL,
        cut=found.cut,
        of_rows=say["of-rows-unbiased" if found.unbiased_rows else "of-rows"],
        missing=missing,
        reading=tuple(reading),
        files=files_of(record),
    )
