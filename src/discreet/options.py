"""Options, once: name, default, help and allowed values stand beside the field that holds the value.

Flags of the command line, keys of a release file, keywords of `release` and the reference pages are read from here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from functools import cache, wraps
from inspect import CO_VARKEYWORDS, unwrap
from os import PathLike
from typing import Any, ParamSpec, TypeVar

from discreet.errors import BadInput, called, did_you_mean, flag_of, short

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Kind = TypeVar("Kind", bound=type)


@dataclass(frozen=True)
class Option:
    """What there is to say about an option beside its name and its default."""

    help: str
    values: Callable[[], tuple[str, ...]] | None = None  # the names it may have, where it must have one of these
    open: bool = False  # whether it may be something else, which its value judges: a file, or what was registered
    flag: str | None = None  # on the command line, where it is not --name; "": it has none
    kind: type = str  # of a word of the command line: str, int, bool, list
    read: Callable[[str], Any] | None = None  # from a word of the command line, where that is not the value itself
    metavar: str | None = None
    panel: str | None = None  # of the help, under which the command line lists it
    usual: Any = None  # what it comes to where it is left out, if that is not the default itself

    @property
    def known(self) -> tuple[str, ...]:
        """The names it may have, if these are known."""
        return () if self.values is None else self.values()

    def flag_of(self, name: str) -> str:
        return flag_of(name) if self.flag is None else self.flag


def option(default: Any, help: str, **more: Any) -> Any:
    """A field of a frozen value that is also an option."""
    return field(default=default, metadata={"option": Option(help, **more)})


def _options_of(kind: type) -> dict[str, tuple[Option, Any]]:
    """Every option of a value, with its default."""
    found: tuple[Field[Any], ...] = fields(kind)
    return {
        item.name: (item.metadata["option"], None if item.default is MISSING else item.default)
        for item in found
        if "option" in item.metadata
    }


options_of: Callable[[type], dict[str, tuple[Option, Any]]] = cache(_options_of)


def known_only(given: Mapping[str, Any], known: Collection[str], what: str) -> None:
    """Refuse a misspelt name, all at once, with what was probably meant."""
    wrong = [name for name in given if name not in known]
    if wrong:
        names = ", ".join(repr(name) for name in wrong)
        do = did_you_mean(wrong[0], known) if known else "Nothing here has a name: give values alone"
        raise BadInput(f"{what} {names} was asked for", "there is none of that name", do)


def listed(given: Any, single: tuple[type, ...] = ()) -> list[Any]:
    """What was given, as a list: one value may stand without one, of these kinds or where there is nothing to list. A
    data frame is one thing, not a list of columns, whose values are nobody's names."""
    try:
        return [given] if isinstance(given, single) or hasattr(given, "columns") else list(given)
    except TypeError:
        return [given]


def keywords_of(function: Callable[..., object]) -> tuple[str, ...]:
    """The names of all that it takes, but for what it passes on to others."""
    code = unwrap(function).__code__
    return tuple(name for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if name != "self")


def spelt(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """The function, with what is misspelt, or is not of the kind that the function says it takes, refused as any other
    bad input is, and not by a TypeError. A function that takes any keyword sees to their names itself."""
    names = keywords_of(function)
    known = None if function.__code__.co_flags & CO_VARKEYWORDS else dict.fromkeys(names)
    own = function.__name__ == "__init__"  # a value looks at its fields itself, and may take words for them
    kinds = {name: kind for name in names if not own and (kind := _kind_of(function.__annotations__.get(name)))}
    positions = function.__code__.co_varnames[: function.__code__.co_argcount]
    placed = [(place, name) for place, name in enumerate(positions) if name in kinds]

    @wraps(function)
    def checked(*args: Given.args, **keywords: Given.kwargs) -> Answer:
        if known is not None and not keywords.keys() <= known.keys():
            known_only(keywords, known, "the option")
        for place, name in placed:
            if place < len(args):
                kinds[name].check(name, args[place])
        for name, value in keywords.items():
            if name in kinds:
                kinds[name].check(name, value)
        return function(*args, **keywords)

    return checked


@dataclass(frozen=True)
class PlainKind:
    """A kind of values that nothing else would look at before it is used."""

    among: tuple[type, ...]
    found: str  # what is said of anything else
    do: str
    may_be_none: bool = False

    def check(self, name: str, value: Any) -> None:
        if not isinstance(value, self.among) and not (value is None and self.may_be_none):
            raise BadInput(f"{called(name)} was given as {short(value)}", self.found, self.do)


FLAG = PlainKind((bool,), "it is neither true nor false", "Give True or False")
TEXT = PlainKind((str,), "it is not text", "Give text")
PATH = PlainKind((str, PathLike), "it is neither text nor a path", "Give a path, as text or as a Path")
CALLED = PlainKind((Callable,), "it cannot be called", "Give a function")  # type: ignore[arg-type]
KINDS = {"bool": FLAG, "str": TEXT, "str | Path": PATH}  # by how functions say what they take


def _kind_of(annotation: Any) -> PlainKind | None:
    """As a function says it; None where a value can be of several kinds, or its number is looked at elsewhere."""
    told = annotation if isinstance(annotation, str) else ""
    plain = told.removesuffix(" | None")
    kind = CALLED if plain.startswith("Callable[") or plain in ("Stages", "Told") else KINDS.get(plain)
    return kind if kind is None or plain == told else replace(kind, may_be_none=True)


def spelt_fields(kind: Kind) -> Kind:
    """The same for the fields of a value that people make themselves; those that inherit from it have their own."""
    kind.__init__ = spelt(kind.__init__)  # type: ignore[misc]
    return kind


def described(kind: type, indent: str = "    ") -> str:
    """The options of a value as lines for help(): name, default, what it does, and its values."""
    lines = []
    for name, (one, default) in options_of(kind).items():
        values = f" One of: {', '.join(one.known)}." if one.known else ""
        lines.append(f"{indent}{name} ({default!r}): {one.help}.{values}")
    return "\n".join(lines)
