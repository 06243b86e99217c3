"""Options, once: name, default, help and allowed values stand beside the field that holds the value.

Flags of the command line, keys of a release file, keywords of `release` and the reference pages are read from here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any

from discreet.errors import BadInput, did_you_mean


@dataclass(frozen=True)
class Option:
    """What there is to say about an option beside its name and its default."""

    help: str
    values: Callable[[], tuple[str, ...]] | None = None  # the names it may have, where it must have one of these
    flag: str | None = None  # on the command line, where it is not --name; "": it has none
    kind: type = str  # of a word of the command line: str, int, bool, list
    read: Callable[[str], Any] | None = None  # from a word of the command line, where that is not the value itself
    metavar: str | None = None
    panel: str | None = None  # of the help, under which the command line lists it
    usual: Any = None  # what it comes to where it is left out, if that is not the default itself

    def flag_of(self, name: str) -> str:
        return f"--{name.replace('_', '-')}" if self.flag is None else self.flag


def option(default: Any, help: str, **more: Any) -> Any:
    """A field of a frozen value that is also an option."""
    return field(default=default, metadata={"option": Option(help, **more)})


def options_of(kind: type) -> dict[str, tuple[Option, Any]]:
    """Every option of a value, with its default."""
    found: tuple[Field[Any], ...] = fields(kind)
    return {
        item.name: (item.metadata["option"], None if item.default is MISSING else item.default)
        for item in found
        if "option" in item.metadata
    }


def known_only(given: Mapping[str, Any], known: Collection[str], what: str) -> None:
    """Refuse a misspelt name, all at once, with what was probably meant."""
    wrong = [name for name in given if name not in known]
    if wrong:
        names = ", ".join(repr(name) for name in wrong)
        raise BadInput(f"{what} {names} was asked for", "there is none of that name", did_you_mean(wrong[0], known))


def described(kind: type, indent: str = "    ") -> str:
    """The options of a value as lines for help(): name, default, what it does, and its values."""
    lines = []
    for name, (one, default) in options_of(kind).items():
        values = f" One of: {', '.join(one.values())}." if one.values is not None else ""
        lines.append(f"{indent}{name} ({default!r}): {one.help}.{values}")
    return "\n".join(lines)
