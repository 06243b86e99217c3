"""An error in the words of whoever reads it.

Errors name options as Python does, with the flag beside it where that says more: `sheet (--sheet NAME)`, `max_count`.
The shell has flags alone, and the page has fields with labels of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Say = Callable[[str, str], str]  # an option and its value, "" where none is said, in the reader's words

APART = r"(?<![\w'\"/.=-])"  # names in quotation marks and in paths are somebody else's
BOTH = re.compile(APART + r"([a-z_]+) \(--([a-z-]+)([^()]*)\)")
ALONE = re.compile(APART + r"([a-z]+(?:_[a-z]+)+)(?: ?= ?(True|\"[^\"]*\"|'[^']*'|[\w./-]*\w))?(?![\w'\"/=-]|\.\w)")


def spoken(text: str, say: Say) -> str:
    """The text with its options as `say` has them."""

    def both(found: re.Match[str]) -> str:
        name, flag, value = found.groups()
        return say(name, value.strip()) if flag.replace("-", "_") == name else found[0]

    def alone(found: re.Match[str]) -> str:
        name, value = found[1], (found[2] or "").strip("\"'")
        return say(name, "" if value == "True" else value) if name in options() else found[0]

    pieces, end = [], 0
    for found in BOTH.finditer(text):  # what one of them said is not looked at again: it may hold names itself
        pieces += [ALONE.sub(alone, text[end : found.start()]), both(found)]
        end = found.end()
    return "".join([*pieces, ALONE.sub(alone, text[end:])])


def in_the_shell(text: str) -> str:
    return spoken(text, flagged)


def flagged(name: str, value: str) -> str:
    """The flag of an option."""
    return f"--{name.replace('_', '-')}" + (f" {value}" if value else "")


def options() -> frozenset[str]:
    """Those of a release, from where they stand."""
    from discreet.options import options_of
    from discreet.run import LedgerSpec, Output, TableSpec
    from discreet.ways import ways_by_keyword

    kinds = (TableSpec, Output, LedgerSpec, *ways_by_keyword())
    return frozenset(name for kind in kinds for name in options_of(kind))
