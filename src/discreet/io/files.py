"""Small files that users hand over: matrices and distributions."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import BadInput, Damaged, unread
from discreet.numbers import exact
from discreet.options import spelt

if TYPE_CHECKING:
    from discreet.mechanism import Mechanism

Rows = list[list[Fraction]]
PTABLES = (".csv", ".txt")  # suffixes that a perturbation table may have


def read_matrix(path: str | Path) -> Rows:
    """A matrix in exact rationals, from JSON, CSV without header, or NPZ; floats are taken at their exact value."""
    path = Path(path)
    return _matrix(_content(path), path)


def _matrix(content: Any, path: Path) -> Rows:
    if isinstance(content, dict) and content.get("weights") is not None:
        return _shares(_rows(content["weights"], path), content.get("denominator"), path)
    if isinstance(content, dict):
        if "matrix" not in content:
            raise BadInput(f"a matrix was to be read from {path}", "the JSON object has neither 'matrix' nor 'weights'")
        content = content["matrix"]
    return _rows(content, path)


def read_probabilities(path: str | Path) -> Rows | Mechanism:
    """A matrix; or, from the CSV of a perturbation table (columns i, j, p), its mechanism for counts of any size."""
    from discreet.io.ptable import looks_like_ptable, ptable_of

    path = Path(path)
    if path.suffix.lower() in PTABLES:
        text = _text(path)
        if looks_like_ptable(text):
            return ptable_of(text, path)
    content = _content(path)
    if isinstance(content, dict) and content.get("weights") is None and isinstance(content.get("form"), dict):
        return _formed(_content(path, as_is=True)["form"], path)
    return _matrix(content, path)


def _formed(written: Mapping[str, Any], path: Path) -> Mechanism:
    """A design that is no list of weights: its exact form."""
    from discreet.mechanism import Mechanism
    from discreet.record.codec import form_of_json

    try:
        form = form_of_json({name: value for name, value in written.items() if name != "name"})
    except (Damaged, BadInput) as damage:
        raise BadInput(f"a mechanism was to be read from {path}", f"its form cannot be understood: {damage}") from None
    return Mechanism("own", form)


@spelt
def read_mechanism(path: str | Path) -> Mechanism:
    """A mechanism from a file: a matrix, or the CSV of a perturbation table (columns i, j, p)."""
    from discreet.certify.rows import weights_of
    from discreet.mechanism import Mechanism

    found = read_probabilities(path)
    return found if isinstance(found, Mechanism) else Mechanism("own", weights_of(found))


def _shares(weights: Rows, denominator: Any, path: Path) -> Rows:
    total = _number(1 if denominator is None else denominator, path)
    if total <= 0:
        raise BadInput(f"a matrix was to be read from {path}", "its denominator is not above zero")
    return [[weight / total for weight in row] for row in weights]


def read_distribution(path: str | Path) -> list[float]:
    """A distribution or prior: a JSON list, or CSV with one number a line."""
    path = Path(path)
    content = _content(path)
    if isinstance(content, dict):
        content = content.get("distribution", content.get("prior"))
    if not isinstance(content, list) or not content:
        raise BadInput(f"a distribution was to be read from {path}", "it is not a list of numbers")
    entries = [entry[0] if isinstance(entry, list) and len(entry) == 1 else entry for entry in content]
    return [_float(_number(entry, path), path) for entry in entries]


def read_floats(path: str | Path) -> list[list[float]]:
    """A matrix of costs, which nothing private depends on."""
    return [[_float(entry, Path(path)) for entry in row] for row in read_matrix(path)]


def _float(number: Fraction, path: Path) -> float:
    try:
        return float(number)
    except OverflowError as error:
        raise BadInput(f"{path} was to be read", "a number in it is beyond 1e308", "Write a smaller number") from error


def _content(path: Path, as_is: bool = False) -> Any:
    """What is in a file, its numbers as they were written; `as_is`: as JSON has them."""
    try:
        if path.suffix.lower() == ".npz":
            return _archived(path)
        text = _text(path)
        if path.suffix.lower() == ".json":
            return json.loads(text) if as_is else json.loads(text, parse_float=_Written, parse_int=_Written)
        return [row for row in csv.reader(text.splitlines()) if row]
    except OSError as error:
        raise BadInput(f"{path} was to be read", error.strerror or str(error)) from error
    except (ValueError, RecursionError, csv.Error) as error:
        raise BadInput(f"{path} was to be read", f"it cannot be understood: {unread(error)}") from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInput(f"{path} was to be read", error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} was to be read", f"it cannot be understood: {error}") from error


def _archived(path: Path) -> Any:
    """The array of an NPZ file. What is wrong with an archive comes out as almost any error there is."""
    try:
        with np.load(path) as archive:
            matrix = archive["matrix"].tolist() if "matrix" in archive else None
    except OSError:
        raise
    except Exception as error:
        raise BadInput(f"{path} was to be read", f"it cannot be understood: {error}") from error
    if matrix is None:
        raise BadInput(f"a matrix was to be read from {path}", "the archive holds no array named 'matrix'")
    return matrix


class _Written(str):
    """A number as it stands in the file."""


def _rows(content: Any, path: Path) -> Rows:
    if not isinstance(content, list) or not content or not all(isinstance(row, list) and row for row in content):
        raise BadInput(f"a matrix was to be read from {path}", "it is not a list of rows of numbers")
    rows = [[_number(entry, path, i, j) for j, entry in enumerate(row)] for i, row in enumerate(content)]
    if len({len(row) for row in rows}) > 1:
        raise BadInput(f"a matrix was to be read from {path}", "its rows have different lengths")
    return rows


def _number(entry: Any, path: Path, row: int | None = None, column: int | None = None) -> Fraction:
    place = "" if row is None else f" (row {row + 1}, column {column + 1 if column is not None else '?'})"
    if isinstance(entry, (bool, type(None), list, dict)):
        raise BadInput(f"{path} was to be read", f"an entry is not a number{place}")
    if isinstance(entry, float) and isfinite(entry):
        return Fraction(entry)  # from an archive: a double is its binary value
    # a decimal in a file stands for the double nearest to it only if it was printed from one: take what is written
    return exact(entry.strip() if isinstance(entry, str) else entry, f"an entry of {path}{place}")


def write_json(path: str | Path, value: Any) -> None:
    """JSON, whole or not at all."""
    write_text(path, json.dumps(value, indent=1) + "\n")


def write_text(path: str | Path, lines: str | Iterable[str]) -> None:
    path = Path(path)
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(lines if isinstance(lines, str) else "".join(lines), encoding="utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise BadInput(f"{path} was to be written", error.strerror or str(error)) from error


def create_secret(path: Path) -> None:
    """An empty file that nobody but its owner could ever open."""
    path.unlink(missing_ok=True)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def write_secret(path: Path, content: str) -> None:
    """Text for its owner's eyes, whole or not at all."""
    part = path.with_name(path.name + ".part")
    try:
        create_secret(part)
        part.write_text(content, encoding="utf-8")
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
