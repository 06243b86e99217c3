"""What the report says, as values. All computation is here; the template only lays it out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.io import ANALYSIS, EXPLORE, MANIFEST, METADATA, METADATA_OF, RECORD, REPORT
from discreet.levels.fixed import UNIT
from discreet.numbers import few_digits
from discreet.record.release import Publication, ReleaseRecord
from discreet.record.words import pages, promises, steps
from discreet.report.errors import ENOUGH_ROWS, Errors
from discreet.report.prepared import Prepared, PreparedTotals, as_written
from discreet.ways import way_named

ERROR_WORDS = {  # of a typical error: whether counts were cut, and raised
    (False, False): "error-typical", (True, False): "error-typical-cut",
    (False, True): "error-typical-raised", (True, True): "error-typical-both",
}  # fmt: skip
MOST_HEAD = 8  # rows of the table that are shown
MOST_SUMS = 30  # that a page can list; the record holds all of them


@dataclass(frozen=True, eq=False)
class Page:
    """The report, before it is laid out."""

    title: str
    stated: str  # the promise in numbers, for software
    about: list[tuple[str, str]]  # what is said beside the title: its name and the text
    rows: int
    keys: str
    count: str
    created: str
    warning: str | None
    brief: tuple[str, ...]  # the guarantee in two lines
    guarantee: str
    unit: str
    strength: str
    odds: str | None
    grade: str
    mechanism: str
    steps: list[str]
    distribution: Floats | None
    errors: Errors | None
    typical_error: str | None
    error_words: str  # which words say what it is
    most_error: str | None  # what it cannot be above, where it is not known
    distribution_error: str | None
    distribution_words: str
    bias: str  # which words say whether counts are right on average
    kept: list[tuple[str, str]]  # of each sum its name and its value
    kept_more: int  # sums that are not listed
    reaches: list[tuple[str, str, str]]  # of a kind of number: its name, how many there are, how far intervals reach
    columns: tuple[str, ...]
    head: list[list[str]]  # the first rows of the table
    head_reach: list[str]  # the interval of each, where there is one
    head_words: str  # which words say what it is
    files: tuple[tuple[str, str], ...]
    determined: int
    fixed: int
    answers: list[tuple[str, str, str]]  # questions: the name, how many numbers, and their standard deviation
    advice: list[str]


def page_of(publication: Publication[Any], found: Prepared) -> Page:
    """Everything on the page follows from the record, and from what the analyst's side answers."""
    record = publication.record
    way, promise, schema = way_named(record.way), record.guarantee, record.schema
    distribution = getattr(record.facts, "distribution", None)
    invariants = getattr(record.facts, "invariants", None)
    errors, treated = found.errors, promise.cut or promise.raised
    return Page(
        title=title_of(record),
        stated=publication.record.stated,
        about=[(name, text) for name, text in vars(record.about).items() if text and name != "title"],
        rows=schema.rows,
        keys=", ".join(schema.keys),
        count=schema.count,
        created=record.created[:10],
        warning=None if record.private else promises.SEED_WARNING,
        brief=promises.brief(promise),
        guarantee=promise.sentence,
        unit=str(promise.unit),
        strength=str(promise.loss),
        odds=promises.odds(promise),
        grade=promises.GRADES[promise.grade],
        mechanism=record.facts.mechanism.name,
        steps=steps.sentences(way.steps(publication)),
        distribution=None if distribution is None else distribution.distribution,
        errors=errors,
        typical_error=None if errors is None else _typical(errors, schema.rows),
        error_words=ERROR_WORDS[promise.cut, promise.raised],
        most_error=None if errors is None or errors.most is None or treated else few_digits(errors.most, 2),
        distribution_words=f"error-distribution-unit{'-treated' if treated else ''}",
        distribution_error=None if errors is None else _shown(errors.distribution, schema.rows),
        bias=_bias(publication, treated),
        kept=[] if invariants is None else _kept(invariants),
        kept_more=0 if invariants is None else max(0, len(invariants.labels) - MOST_SUMS),
        reaches=[] if publication.answers else _reaches(publication, found),
        columns=(*schema.keys, schema.count),
        head=_head(publication),
        head_reach=_head_reach(found),
        head_words=f"head-caption{'-each' if found.unbiased_rows else ''}{'-treated' if treated else ''}",
        files=files_of(record),
        determined=0 if invariants is None else len(invariants.determined),
        fixed=0 if invariants is None else len(invariants.fixed),
        answers=_answers(publication),
        advice=_advice(publication, distribution is not None),
    )


def _kept(invariants: Any) -> list[tuple[str, str]]:
    sums = zip(invariants.labels[:MOST_SUMS], invariants.sums.tolist())
    return [(label, f"{value:,}") for label, value in sums]


def _reaches(publication: Publication[Any], found: Prepared) -> list[tuple[str, str, str]]:
    """How far the intervals of each kind of number reach to either side: half of them less far, half farther."""
    names, rows = publication.record.schema.keys, []
    for one in found.asked:
        if len(one.by) not in (0, 1, len(names)):
            continue
        whole = bool(one.by) and len(one.by) == len(names)
        named = "a row" if whole else f"by {names[one.by[0]]}" if one.by else "total"
        for name, some in _columns_apart(publication, found, one) if whole else ((named, ...),):
            open_ended = ~np.asarray(one.numbers.exact, dtype=bool)[some]
            half = (one.numbers.high - one.numbers.low)[some][open_ended] / 2
            far = f"\u00b1 {few_digits(float(np.median(half)), 2)}" if len(half) else "exact"
            rows.append((name, f"{len(open_ended):,}", far))
    return rows


def _columns_apart(publication: Publication[Any], found: Prepared, rows: PreparedTotals) -> Iterator[tuple[str, Any]]:
    """All rows; or those of each column of counts, where columns have noises of their own."""
    mechanism = publication.record.facts.mechanism
    if not hasattr(mechanism, "shares"):
        yield "a row", ...
        return
    place = publication.record.schema.keys.index(mechanism.column)
    for code, name in enumerate(found.values[place]):
        yield f"a row of {name}", np.flatnonzero(rows.groups[rows.by.index(place)] == code)


def _head(publication: Publication[Any]) -> list[list[str]]:
    if publication.categories is None:
        return []
    keys = [as_written(column[:MOST_HEAD]) for column in publication.categories.columns]
    counts = [f"{count:,}" for count in publication.counts[:MOST_HEAD].tolist()]
    return [list(row) for row in zip(*keys, counts)]


def _head_reach(found: Prepared) -> list[str]:
    """Beside the first rows: where the true count is."""
    if found.rows is None or found.rows.numbers is None:
        return []
    numbers = found.rows.numbers
    ends = zip(numbers.low[:MOST_HEAD].tolist(), numbers.high[:MOST_HEAD].tolist(), numbers.exact[:MOST_HEAD].tolist())
    return ["exact" if exact else f"{_end(low)} to {_end(high)}" for low, high, exact in ends]


def _end(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"


def title_of(record: ReleaseRecord[Any]) -> str:
    return record.about.title or f"{record.schema.count} by {', '.join(record.schema.keys) or 'row'}"


def files_of(record: ReleaseRecord[Any]) -> tuple[tuple[str, str], ...]:
    """The files of the folder, and what is in each."""
    found = []
    for table in record.tables:
        found.append((table.file, pages.FILES["table"]))
        found += [(one.file, pages.FILES["measurements"]) for one in table.measurements]
        found += [] if table.answers is None else [(table.answers, pages.FILES["answers"])]
    beside = [(REPORT, "report"), (EXPLORE, "explore"), (ANALYSIS, "analysis"), (RECORD, "record")]
    beside += [(METADATA, "metadata")] if record.tables[0].file == METADATA_OF else []
    beside += [] if record.parts is None else [(MANIFEST, "manifest")]
    return (*found, *((name, pages.FILES[what]) for name, what in beside))


def _answers(publication: Publication[Any]) -> list[tuple[str, str, str]]:
    """Every question that is answered, with the root of its mean variance."""
    if publication.answers is None:
        return []
    found = []
    for what, one in zip(publication.record.facts.mechanism.answers, publication.answers):
        deviation = sqrt(float(np.mean(one.deviations.astype(float) ** 2))) / UNIT
        found.append((str(what), f"{len(one.counts):,}", "exact" if deviation == 0 else few_digits(deviation, 3)))
    return found


def _advice(publication: Publication[Any], distribution: bool) -> list[str]:
    answered = publication.answers is not None
    apply = {
        "approximate": True,
        "answers": answered,
        "measurements": publication.record.measured and not publication.record.guarantee.cut and not answered,
        "measurements-cut": publication.record.measured and publication.record.guarantee.cut,
        "distribution": distribution,
        "estimate": way_named(publication.record.way).estimable(publication),
    }
    written = [pages.about_keys(one) for table in publication.record.tables for one in table.remarks]
    return [*(pages.ADVICE[name] for name, applies in apply.items() if applies), *written]


def _typical(errors: Errors, rows: int) -> str | None:
    """Of a count; or of a count of each column, where columns have noises of their own."""
    if not errors.apart:
        return _shown(errors.typical, rows)
    found = [(one.name, _shown(one.typical, one.rows)) for one in errors.apart]
    return ", ".join(f"{error} for {name}" for name, error in found if error is not None) or None


def _shown(error: float | None, rows: int) -> str | None:
    """In few rows, or where rows say nothing, no error is typical."""
    return None if error is None or rows < ENOUGH_ROWS else few_digits(error, 2)


def _bias(publication: Publication[Any], treated: bool) -> str:
    """Which words say whether published counts are right on average."""
    way = way_named(publication.record.way)
    if way.unbiased(publication):
        return "bias-none-cut" if treated else "bias-none"
    if (averages := way.averages(publication)) is not None:
        return f"{averages}-cut" if treated else averages
    if publication.answers is not None:
        return "bias-answers"
    return "bias-corrected" if way.estimable(publication) else "bias"
