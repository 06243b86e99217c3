"""Errors for the person: what was asked, what was found, what to do."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from numbers import Number
from pathlib import PurePath

LONGEST_SHOWN = 60  # letters of a value in an error
LONGEST_READ = 40  # letters of a value that was read from a file: where it stands is said beside it
LONGEST_PLACE = 200  # letters of where it stands: some names of fields below each other
LONGEST_WRITTEN = 10_000  # bits of a number: far longer ones Python does not write out
OPTION = re.compile(
    "\ue000([^\ue000]*)\ue001([^\ue000]*?)\ue001([^\ue000]*?)\ue002"
)  # signs that no text has: private use
Say = Callable[[str, str, str], str]  # an option, its value, and what its value is like, in the words of a reader


def called(option: str, value: object = "", *, like: str | None = None) -> str:
    """An option, inside an error: Python, the shell and the page have names of their own for it.

    `like` is what its value looks like on the command line, "" for none: Python then has the flag beside the name.
    What is not one word is no option, and said as it is.
    """
    if not option.isidentifier():
        return in_python(option, str(value), "")
    return f"\ue000{option}\ue001{value}\ue001{'' if like is None else f' {like}'}\ue002"


def said(text: str, say: Say) -> str:
    """The text, with its options in the words of a reader."""
    return OPTION.sub(lambda found: say(*found.groups()), text)


def in_python(option: str, value: str, like: str) -> str:
    if like:
        return f"{option} ({in_the_shell(option, value, like)})"
    return f"{option} = {value}" if value else option


def in_the_shell(option: str, value: str, like: str) -> str:
    return f"{flag_of(option)} {value or like.strip()}".rstrip()


def flag_of(option: str) -> str:
    """Of an option that has no other on the command line."""
    return f"--{option.replace('_', '-')}"


def by_flags(flags: Mapping[str, str]) -> Say:
    """For the reader of a command that has these flags, by their options, as in --yes or --yes/--no; what it has no
    flag for has its own name."""

    def say(option: str, value: str, like: str) -> str:
        if option not in flags:
            return in_python(option, value, "")
        yes, _, no = flags[option].partition("/")
        return no if no and value == "False" else f"{yes} {value or like.strip()}".rstrip()

    return say


class DiscreetError(Exception):
    """Base of every error discreet raises on purpose. `values` carries the facts behind the sentence.

    `asked`, `found` and `do` are in the words of Python; `parts` are the three as they were given, for who makes
    another error of them.
    """

    exit_status = 2

    def __init__(self, asked: str, found: str, do: str = "", **values: object) -> None:
        self.parts, self.values = (asked, found, do), values
        self.asked, self.found, self.do = (said(part, in_python) for part in self.parts)
        super().__init__(self.said(in_python))

    def __reduce__(self) -> tuple[object, ...]:
        """Errors travel between processes whole."""
        return _again, (type(self), self.parts, self.values)

    def said(self, say: Say) -> str:
        """The sentence, for readers who call options by other names than Python does."""
        begun = (_capital(self.parts[0]), *self.parts[1:])
        asked, found, do = (said(part, say) for part in begun)
        return f"{_sentence(f'{asked}: {found}')} {_sentence(do)}".rstrip()


def _again(kind: type[DiscreetError], parts: tuple[str, str, str], values: dict[str, object]) -> DiscreetError:
    asked, found, do = parts
    return kind(asked, found, do, **values)


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
    if isinstance(value, int) and value.bit_length() > LONGEST_WRITTEN:
        return f"a number of {value.bit_length()} bits"
    words = repr(value)
    return words if len(words) <= LONGEST_SHOWN else words[: LONGEST_SHOWN - 3] + "..."


def as_read(value: object) -> str:
    """A value of a file in an error, whatever it is, and short."""
    words = repr(value)
    return words if len(words) <= LONGEST_READ else words[: LONGEST_READ - 3] + "..."


def unread(error: Exception) -> str:
    """Why a text in JSON or TOML could not be read, where Python's own words would be about Python."""
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return "a number in it has too many digits" if "int_max_str_digits" in str(error) else str(error)


def plain_name(name: str) -> str:
    """A name that a file gives something: as it is, if it is short and nothing in it works on a screen."""
    return name if name.isprintable() and len(name) <= LONGEST_SHOWN else as_read(name)


def _capital(text: str) -> str:
    """A sentence begins with a capital, but a path, an option or a name in quotes stays as it is."""
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.isalpha() else text


def _sentence(text: str) -> str:
    return text if not text or text[-1] in ".?!" else text + "."


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`Did you mean 'x'?`, or the list of what there is."""
    names = list(known)
    close = difflib.get_close_matches(word[:LONGEST_SHOWN].lower(), [name.lower() for name in names], n=1, cutoff=0.5)
    if close:
        return f"Did you mean {next(name for name in names if name.lower() == close[0])!r}?"
    return "There is: " + ", ".join(names[:30]) + (", ..." if len(names) > 30 else "")


def choose(word: str, known: Iterable[str], what: str) -> str:
    """`word` if it is known, otherwise an error that suggests the nearest name."""
    names = list(known)
    if not isinstance(word, str):
        asked = f"{called(what)} was given as {short(word)}"
        raise BadInput(asked, "that is not a name", "There is: " + ", ".join(names))
    if word not in names:
        found = f"there is {'none' if '_' in what else f'no {what}'} of that name"
        raise BadInput(f"{called(what)} {short(word)} was asked for", found, did_you_mean(word, names))
    return word


def true_or_false(value: object, name: str) -> bool:
    """Yes or no; a word would be taken for yes, whatever it says."""
    if not isinstance(value, bool):
        raise BadInput(
            f"{called(name)} was given as {short(value)}", "it is neither true nor false", "Give True or False"
        )
    return value


class Damaged(ValueError):
    """A value in a file that does not fit its type: where, and why. Names on the way there may be anybody's."""

    def __init__(self, where: str, why: str) -> None:
        self.where, self.why = where if where.isprintable() else repr(where)[1:-1], why
        self.where = self.where[:LONGEST_PLACE]
        super().__init__(f"{self.where}: {why}" if where else why)
