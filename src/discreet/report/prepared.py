"""Answers prepared for pages that cannot compute them: every total by key columns, with its interval.

`by(S)` for every set S of key columns answers every question 'by these columns, where those have these values': it is
what is asked by S, all of them together, cut down to the rows that are meant. So a page needs no statistics.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.ways import way_named

if TYPE_CHECKING:
    from discreet.estimate.answers import AnswerSet
    from discreet.estimate.view import Estimate
    from discreet.record.release import Publication
    from discreet.report.errors import Errors

LEVEL = 0.95  # of every prepared interval
MOST_ROWS = 20_000  # of a table that is in the page whole; beyond, only totals are
MOST_VALUES = 5_000  # of a column, or of two together, that such totals are by
MOST_GROUPED = 2_000_000  # rows of a table whose totals by columns are in the page: of more that takes too long
MOST_ANSWERS = 40_000  # numbers that a page may hold beside its rows: two megabytes
MOST_KEYS = 8  # columns whose sets are all asked for
MOST_COUNTS = 2_000  # of distributions that are in the page
DIGITS = 4  # of every number, as in a file of answers


@dataclass(frozen=True, eq=False)
class Numbers:
    """Estimates and their intervals, entry by entry; an exact one has no interval but itself."""

    estimate: Floats
    low: Floats
    high: Floats
    exact: Any  # of each, whether it has no error at all


@dataclass(frozen=True, eq=False)
class PreparedTotals:
    """Totals by some key columns: of each group the places of its values among those of each column."""

    by: tuple[int, ...]
    groups: tuple[Integers, ...]
    numbers: Numbers


@dataclass(frozen=True, eq=False)
class PreparedRows:
    """The table: of each row the places of its values, its published count, and what is known of the true one."""

    groups: tuple[Integers, ...]
    published: Integers
    numbers: Numbers | None


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that a page knows."""

    values: tuple[tuple[str, ...], ...]  # of each key column, each once, in the order of the table
    asked: tuple[PreparedTotals, ...]
    rows: PreparedRows | None  # None where there are too many
    whole: bool  # whether every set of key columns is there
    why_not: str | None  # why nothing is estimated, where nothing is
    unbiased_rows: bool = False  # whether estimates of rows are right on average
    cut: str = ""  # what the numbers are about, where counts were cut before the noise
    prior: tuple[Floats, ...] = ()  # distributions of counts that posteriors begin with: one, or one for every size
    errors: Errors | None = None  # how far off a published count is


def prepared(publication: Publication[Any]) -> Prepared:
    """From what is published alone."""
    way, rows = way_named(publication.record.way), publication.record.schema.rows
    many = publication.record.parts is not None or rows > MOST_ROWS
    by_values = many and rows > MOST_GROUPED and way.in_parts is not None and way.in_parts.by is None
    try:
        view = way.evidence(_by_values(publication) if by_values else publication, LEVEL)
    except BadInput as error:
        view, found = None, _nothing(None if many else publication, error.found)
    else:
        found = _of_many_rows(view) if many else _of_all(publication, view)
    return replace(found, errors=way.errors(publication, view))


def _nothing(publication: Publication[Any] | None, why_not: str) -> Prepared:
    """The published counts alone."""
    if publication is None:
        return Prepared((), (), None, False, why_not)
    values, codes = _coded(publication.categories)
    return Prepared(values, (), PreparedRows(codes, publication.counts, None), False, why_not)


def _of_all(publication: Publication[Any], view: Estimate) -> Prepared:
    """Every row, and the totals by every set of key columns that there is room for."""
    values, codes = _coded(publication.categories)
    names, found, refused = publication.categories.column_names, [], []
    for places in _sets(codes):
        try:
            found.append(_asked(view, places, values, names))
        except BadInput as error:
            refused.append(error.found)
    rows = PreparedRows(codes, publication.counts, _rows(view))
    whole, why_not = len(found) == 2 ** len(codes), None if found else refused[0]
    return Prepared(values, tuple(found), rows, whole, why_not, view.shares is None, str(view.cut), _prior(view))


def _prior(view: Estimate) -> tuple[Floats, ...]:
    """From all that was measured: who reads the noisy values needs it for posteriors, and cannot make it by hand."""
    from discreet.estimate.view import FEWEST_ROWS

    parts = () if view.shares is None or view.shares.number < FEWEST_ROWS else view.shares.parts
    if sum(part.evidence.size for part in parts) > MOST_COUNTS:
        return ()
    try:
        return tuple(part.evidence.prior for part in parts)
    except BadInput:
        return ()


def _of_many_rows(view: Estimate) -> Prepared:
    """The total; and where noises are independent, so that it takes little work, totals by columns of few values."""
    try:
        total = PreparedTotals((), (), _total(view))
    except BadInput as error:
        return _nothing(None, error.found)
    if view.shares is None or view.categories is None or view.in_parts is not None:
        return Prepared((), (total,), None, False, None, cut=str(view.cut))
    names, room, found = view.categories.column_names, MOST_ANSWERS, {}
    for place, name in enumerate(names):
        number = len(view.categories.column(name).unique())
        if number <= MOST_VALUES and (room := room - number) >= 0:
            found[place] = view.by(name)
    values = tuple(tuple(as_written(found[k].keys_frame.column(0))) if k in found else () for k in range(len(names)))
    asked = [_grouped(one, (place,), values, names) for place, one in found.items()]
    for places in combinations(found, 2):
        number = len(values[places[0]]) * len(values[places[1]])
        if number <= MOST_VALUES and (room := room - number) >= 0:
            asked.append(_asked(view, places, values, names))
    return Prepared(values, (total, *asked), None, False, None, cut=str(view.cut))


def _by_values(publication: Publication[Any]) -> Publication[Any]:
    """With every value once, and how often: where rows are independent that is all that their total depends on."""
    from discreet.record.release import WholeSeen

    seen = WholeSeen(publication.counted, publication.noisy)
    noisy = None if seen.measured is None else seen.measured.values
    return replace(publication, categories=None, counts=seen.counts.values, measured=noisy, in_parts=seen)


def _coded(categories: Any) -> tuple[tuple[tuple[str, ...], ...], tuple[Integers, ...]]:
    """The values of every key column, each once, and the place of every row's among them."""
    values, codes = [], []
    for name in categories.column_names:
        texts = as_written(categories.column(name))
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        values.append(tuple(places))
        codes.append(np.array([places[text] for text in texts], dtype=np.int64))
    return tuple(values), tuple(codes)


def as_written(column: Any) -> list[str]:
    """Keys as a CSV file has them, so that whoever reads one sees the same."""
    return [text or "" for text in column.cast("string").to_pylist()]


def _sets(codes: Sequence[Integers]) -> Iterator[tuple[int, ...]]:
    """Sets of key columns, small ones first, as long as there is room for their answers."""
    room = MOST_ANSWERS
    for size in range(len(codes) + 1) if len(codes) <= MOST_KEYS else (0, 1):
        for places in combinations(range(len(codes)), size):
            needed = _number(codes, places)
            if needed <= room:
                room -= needed
                yield places


def _number(codes: Sequence[Integers], places: tuple[int, ...]) -> int:
    """Of groups."""
    together = np.zeros(len(codes[0]) if codes else 1, dtype=np.int64)
    for place in places:
        together = np.unique(together * (int(codes[place].max(initial=0)) + 1) + codes[place], return_inverse=True)[1]
    return int(together.max(initial=0)) + 1


def _asked(view: Estimate, places: tuple[int, ...], values: Any, names: Sequence[str]) -> PreparedTotals:
    if not places:
        return PreparedTotals((), (), _total(view))
    return _grouped(view.by(*(names[place] for place in places)), places, values, names)


def _grouped(found: AnswerSet, places: tuple[int, ...], values: Any, names: Sequence[str]) -> PreparedTotals:
    groups = []
    for place in places:
        at = {text: k for k, text in enumerate(values[place])}
        texts = as_written(found.keys_frame.column(names[place]))
        groups.append(np.array([at[text] for text in texts], dtype=np.int64))
    return PreparedTotals(places, tuple(groups), _numbers(found))


def _total(view: Estimate) -> Numbers:
    found = view.total()
    low, high = found.interval
    return Numbers(np.array([found.estimate]), np.array([low]), np.array([high]), np.array([found.exact]))


def _numbers(found: AnswerSet) -> Numbers:
    return Numbers(found.estimate, found.low, found.high, found.exact)


def _rows(view: Estimate) -> Numbers | None:
    try:
        return _numbers(view.rows())
    except BadInput:
        return None
