"""Perturbation tables, as the R package ptable writes them: a line for each true count i and published count j.

The columns i, j and p are read by name, v is compared with j - i, others are passed over. Pairs that are not there have
no chance. By the package's convention the last i stands for all larger counts, which get its noise.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from pathlib import Path

from discreet.errors import BadInput
from discreet.mechanism import LARGEST_MATRIX, Continued, Mechanism, Weights
from discreet.numbers import exact

NEEDED = ("i", "j", "p")
SEPARATORS = (";", "\t", ",")  # the first that is in the header; with none of them, blanks
LONGEST_LINE = 10_000  # letters: a line has a few numbers
MOST_NAMED = 5  # rows in an error
TOLERANCE = Fraction(1, 10**6)  # by which probabilities may miss 1: ptable rounds each to 8 digits


@dataclass(frozen=True)
class _Line:
    number: int  # in the file
    fields: dict[str, str]


def looks_like_ptable(text: str) -> bool:
    """Whether the first line names the columns of a perturbation table."""
    head = next((line for line in text.splitlines() if line.strip()), "")
    return len(head) <= LONGEST_LINE and set(NEEDED) <= set(_cells(head, _separator(head), lower=True))


def ptable_of(text: str, path: Path) -> Mechanism:
    """The mechanism of a perturbation table: every row divided by its sum, in rationals."""
    found: dict[int, dict[int, tuple[Fraction, int]]] = {}
    for line in _lines(text, path):
        i, j = (_whole(line, name, path) for name in ("i", "j"))
        if line.fields.get("v", "") and _number(line, "v", path) != j - i:
            raise _wrong(path, line, f"v is {line.fields['v']}, and j - i is {j - i}")
        p = _number(line, "p", path)
        if not 0 <= p <= 1 + TOLERANCE:
            raise _wrong(path, line, f"p is {line.fields['p']}, which is not between 0 and 1")
        row = found.setdefault(i, {})
        if j in row:
            raise _wrong(path, line, f"the pair i = {i}, j = {j} stood in line {row[j][1]} already")
        row[j] = p, line.number
    return Mechanism("own", Continued(_weights({i: _chances(row) for i, row in found.items()}, path)))


def _chances(row: dict[int, tuple[Fraction, int]]) -> dict[int, Fraction]:
    return {j: p for j, (p, _) in row.items()}


def _weights(rows: dict[int, dict[int, Fraction]], path: Path) -> Weights:
    if not rows:
        raise BadInput(f"a perturbation table was to be read from {path}", "it has no lines")
    last, widest = max(rows), max(j for row in rows.values() for j in row)
    for i in range(last + 1):
        if i not in rows:
            found = f"there is no line for i = {i}, though there is one for i = {last}"
            raise BadInput(f"a perturbation table was to be read from {path}", found, "Give every i from 0 on", i=i)
    sums = [sum(rows[i].values(), Fraction(0)) for i in range(last + 1)]
    wrong = [i for i, total in enumerate(sums) if abs(total - 1) > TOLERANCE]
    if wrong:
        named = ", ".join(f"of i = {i} sum to {float(sums[i]):.9g}" for i in wrong[:MOST_NAMED])
        more = f", nor do those of {len(wrong) - MOST_NAMED} others" if len(wrong) > MOST_NAMED else ""
        found = f"the probabilities {named}, not to 1 within 1e-6{more}"
        do = "Give every pair (i, j) that has a chance, with at least 7 digits"
        raise BadInput(f"a perturbation table was to be read from {path}", found, do, i=wrong[0])
    shares = [{j: p / sum(rows[i].values()) for j, p in rows[i].items()} for i in range(last + 1)]
    common = lcm(*(share.denominator for row in shares for share in row.values()))
    weights = tuple(tuple(int(row.get(j, 0) * common) for j in range(widest + 1)) for row in shares)
    return Weights(weights, common)


def _lines(text: str, path: Path) -> Iterator[_Line]:
    numbered = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    separator = _separator(numbered[0][1])
    head = _cells(numbered[0][1], separator, lower=True)
    for name in head:
        if name and head.count(name) > 1:
            raise BadInput(f"a perturbation table was to be read from {path}", f"the column {name!r} is there twice")
    for number, line in numbered[1:]:
        if len(line) > LONGEST_LINE:
            raise BadInput(
                f"a perturbation table was to be read from {path}", f"line {number} is too long", line=number
            )
        cells = _cells(line, separator)
        cells = cells[1:] if len(cells) == len(head) + 1 else cells  # R writes names of rows without a header
        if len(cells) != len(head):
            found = f"line {number} has {len(cells)} entries, and the header {len(head)}"
            raise BadInput(f"a perturbation table was to be read from {path}", found, line=number)
        yield _Line(number, dict(zip(head, cells)))


def _separator(head: str) -> str | None:
    return next((mark for mark in SEPARATORS if mark in head), None)


def _cells(line: str, separator: str | None, lower: bool = False) -> list[str]:
    cells: Sequence[str] = line.split() if separator is None else next(csv.reader([line], delimiter=separator))
    plain = [cell.strip().strip('"') for cell in cells]
    return [cell.lower() for cell in plain] if lower else plain


def _number(line: _Line, name: str, path: Path) -> Fraction:
    """As it is written; a comma in it is the mark of decimals, since it parts no columns then."""
    written = line.fields[name]
    try:
        return exact(written.replace(",", "."), name)
    except BadInput as error:
        raise _wrong(path, line, f"{name} is {written!r}, which is not a number") from error


def _whole(line: _Line, name: str, path: Path) -> int:
    number = _number(line, name, path)
    if number.denominator != 1 or number < 0:
        found = f"{name} is {line.fields[name]}, which is not a count"
        raise _wrong(path, line, found, "Give a table for counts; those for magnitudes are not read")
    if number >= LARGEST_MATRIX:
        raise _wrong(path, line, f"{name} is {line.fields[name]}, and tables are read up to {LARGEST_MATRIX - 1:,}")
    return int(number)


def _wrong(path: Path, line: _Line, found: str, do: str = "") -> BadInput:
    return BadInput(
        f"a perturbation table was to be read from {path}", f"line {line.number}: {found}", do, line=line.number
    )
