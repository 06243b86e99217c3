"""Errors for the person: what was asked, what was found, what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from numbers import Number
from pathlib import PurePath

LONGEST_SHOWN = 60  # letters of a value in an error


class DiscreetError(Exception):
    """Base of every error discreet raises on purpose. `values` carries the facts behind the sentence."""

    exit_status = 2

    def __init__(self, asked: str, found: str, do: str = "", **values: object) -> None:
        self.asked, self.found, self.do, self.values = asked, found, do, values
        problem = _sentence(f"{_capital(asked)}: {found}")
        super().__init__(f"{problem} {_sentence(do)}".rstrip())


class BadInput(DiscreetError):
    """The table, file, option or number cannot be used."""


class Infeasible(DiscreetError):
    """The requirements cannot hold together."""


class MissingExtra(DiscreetError):
    """An optional dependency is needed and not installed."""


class NotProven(DiscreetError):
    """A claim could not be proven; the values hold the witness."""

    exit_status = 1


class SolverFailed(DiscreetError):
    """The solver gave no usable answer."""

    exit_status = 1


class OverBudget(DiscreetError):
    """A ledger refused the spending."""

    exit_status = 1


class Discloses(DiscreetError):
    """A ledger refused a release: its kept sums, with those before it, would give rows away."""

    exit_status = 1


class LedgerWarning(UserWarning):
    """A release is saved, but its ledger could not be told."""


def short(value: object) -> str:
    """A value in an error: on one line, and of a table or an array nothing but what it is."""
    if not isinstance(value, (str, bytes, Number, PurePath, type(None))):
        return f"a {type(value).__name__}"
    words = repr(value)
    return words if len(words) <= LONGEST_SHOWN else words[: LONGEST_SHOWN - 3] + "..."


def _capital(text: str) -> str:
    """A sentence begins with a capital, but a path or a name in quotes stays as it is."""
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.isalpha() else text


def _sentence(text: str) -> str:
    return text if not text or text[-1] in ".?!" else text + "."


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`Did you mean 'x'?`, or the list of what there is."""
    names = list(known)
    close = difflib.get_close_matches(word.lower(), [name.lower() for name in names], n=1, cutoff=0.5)
    if close:
        return f"Did you mean {next(name for name in names if name.lower() == close[0])!r}?"
    return "There is: " + ", ".join(names[:30]) + (", ..." if len(names) > 30 else "")


def choose(word: str, known: Iterable[str], what: str) -> str:
    """`word` if it is known, otherwise an error that suggests the nearest name."""
    names = list(known)
    if not isinstance(word, str):
        found = f"a {type(word).__name__} is not a name"
        raise BadInput(f"a {what} was asked for", found, "There is: " + ", ".join(names))
    if word not in names:
        raise BadInput(f"{what} {word!r} was asked for", f"there is no {what} of that name", did_you_mean(word, names))
    return word


def true_or_false(value: object, name: str) -> bool:
    """Yes or no; a word would be taken for yes, whatever it says."""
    if not isinstance(value, bool):
        raise BadInput(f"{name} was given as {value!r}", "it is neither true nor false", "Give True or False")
    return value


class Damaged(ValueError):
    """A value in a file that does not fit its type: where, and why."""

    def __init__(self, where: str, why: str) -> None:
        self.where, self.why = where, why
        super().__init__(f"{where}: {why}" if where else why)
