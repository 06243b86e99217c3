"""A value that names all the others of its column: `m+f` beside `m` and `f`, or T, as statistical offices write it.

No word says that such a row is a total; the column does. It takes few values, all of them, so that only a table that is
read as a whole is asked, and not a folder that is verified.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.io.total_words import JOINED_BY
from discreet.lookalikes import in_usual_form

MOST_VALUES = 12  # of a column: nobody lists more in one
ENDING = 2  # letters that a word may have more: male, males; Mann, Männer is another word
JOINED = re.compile(rf"\s*[-+/&,;|·–—]\s*|\s+(?:{JOINED_BY}|plus)\s+|\s+و|[和与與及と・、]")
SEXES = (("m", "f"), ("m", "w"), ("h", "f"), ("h", "m"), ("m", "v"), ("m", "k"), ("m", "ž"), ("м", "ж"), ("e", "k"))
TOTAL_OF_SEXES = "t"  # the code of Eurostat and others, beside M, F
MOST_SEXES = 3  # beside it: with one for those who are neither, or not known


@dataclass(frozen=True)
class FewValues:
    """A column of text that takes few values: all of them."""

    column: str
    values: tuple[str, ...]


def naming_all_others(values: Sequence[str]) -> list[str]:
    """Those of the different values of a column."""
    if not 2 < len(values) <= MOST_VALUES:
        return []
    plain = [in_usual_form(value).strip().casefold() for value in values]
    return [
        value
        for place, value in enumerate(values)
        if _names(plain[place], [one for other, one in enumerate(plain) if other != place])
    ]


def _names(value: str, others: list[str]) -> bool:
    letters = all(len(one) == 1 for one in others)
    sexes = [pair for pair in SEXES if set(pair) <= set(others)]
    if value == TOTAL_OF_SEXES and sexes and letters and len(others) <= MOST_SEXES:
        return True
    parts = [part.strip() for part in JOINED.split(value)]
    both = any(sorted(parts) == sorted(pair) for pair in sexes)
    return both or _are(parts, others) or (letters and _spells(value, others, sexes))


def _spells(value: str, letters: list[str], sexes: Sequence[tuple[str, str]]) -> bool:
    """All letters in one word, with no sign between. Two of them are more often something else: the blood group AB, the
    genotype AG, the numeral IV; and so are digits, such as the months 12, 1 and 2."""
    told = len(letters) > 2 or bool(sexes)
    return told and value.isalpha() and sorted(value) == sorted(letters)


def _are(parts: list[str], others: list[str]) -> bool:
    """Each part stands for another value, and all do."""
    return (
        len(parts) == len(others)
        and all(any(_stands_for(part, one) for one in others) for part in parts)
        and all(any(_stands_for(part, one) for part in parts) for one in others)
    )


def _stands_for(part: str, whole: str) -> bool:
    """The same word, its first letter, or the word with another ending."""
    short, long = sorted((part, whole), key=len)
    near = (len(short) == 1 and long.isalpha()) or len(long) - len(short) <= ENDING
    ending = long.removeprefix(short)
    return bool(short) and (short == long or (near and not short.isdigit() and ending != long and ending.isalpha()))
