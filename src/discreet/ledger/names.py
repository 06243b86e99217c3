"""Names of data sets: two that look alike to a person are one name, so the second is refused."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from discreet.errors import BadInput, did_you_mean
from discreet.lookalikes import LIKE_CAPITALS, LIKE_EACH_OTHER, LIKE_L, LIKE_LATIN, without_marks

LONGEST = 200  # letters: a longer name is a mistake, and no page could show it
INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")  # Unicode's classes of what nobody sees
# and what is in none of them, yet is drawn as nothing or as a blank: what Unicode lets programs ignore (a joiner,
# fillers of Hangul, vowels of Khmer, selectors of Mongolian and of variants), and the empty pattern of Braille
BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0").union(
    map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0000, 0xE1000)))
)
LIKE_MARKS = str.maketrans(
    "\u2212\u2043\u02d7’‘ʼ`´\u07f4\u07f5\ua78b\ua78c\u2044\u2215\u2236\ua789\u201a\u2223\u05c0ǃЗзб一ー\u3161\u3163\u1175丨〇\u3147",
    "---" + "'" * 9 + "//::,||!336---|||00",
)  # minus, bullet; what is taken for an apostrophe, a slash, a colon, a comma, a bar, a digit, and so on
TOGETHER = (("rn", "m"), ("vv", "w"), ('"', "''"), ("ǁ", "ll"))  # two letters or signs that are taken for one
# drawn as accents and quotes; below a Greek letter; what makes words of Arabic and of N'Ko longer
HARDLY_LETTERS = frozenset(map(chr, (*range(0x02B0, 0x0300), 0x0345, 0x0640, 0x07FA)))
WRITTEN_TOGETHER = {"HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"}  # with each other, and with letters of any alphabet


def checked_name(name: object, asked: str) -> str:
    """A name that a person can read and write again."""
    if not isinstance(name, str) or not name.strip():
        raise BadInput(asked, "the data set needs a name")
    if name != name.strip() or any(map(_unseen, name)):
        found = f"the name {name!a} has a space at its end, or a letter that cannot be seen"
        raise BadInput(asked, found, "Leave it out")
    if len(name) > LONGEST:
        raise BadInput(asked, f"the name has {len(name)} letters", f"Use {LONGEST} at most")
    return name


def refuse_mixed(name: str, asked: str) -> None:
    """Refuse a word in letters of two alphabets, and signs that no keyboard has: they are taken for others."""
    signs = (letter for letter in name if unicodedata.category(letter)[0] in "PS")
    odd = [sign for sign in signs if not unicodedata.normalize("NFKC", sign).isascii()]
    odd += _loose(unicodedata.normalize("NFKC", name))
    if odd:
        advice = "Use letters, digits and the signs of every keyboard"
        raise BadInput(asked, f"the name has the sign {odd[0]!a}, which is taken for another", advice)
    for word in re.findall(r"[^\W\d_]+", unicodedata.normalize("NFKC", name)):
        named = [unicodedata.name(letter, "").split(" ") for letter in word]
        hanging = {one[0] for one, letter in zip(named, word) if unicodedata.category(letter) == "Lm"}
        found = sorted({one[0] for one in named if "LETTER" in one} - WRITTEN_TOGETHER | hanging)
        if len(found) > 1:
            alphabets = " and ".join(one.capitalize() for one in found)
            raise BadInput(asked, f"{word!a} has letters of several alphabets ({alphabets})", "Use those of one")


def _loose(usual: str) -> list[str]:
    """Accents, and letters like them, that belong to no letter, or are hardly seen beside one."""
    found, on_letter = [], False
    for letter in usual:
        kind = unicodedata.category(letter)
        hangs = kind[0] == "M" or kind == "Lm"
        if (hangs and not on_letter) or letter in HARDLY_LETTERS:
            found.append(letter)
        on_letter = on_letter if hangs else kind[0] == "L"
    return found


@lru_cache(maxsize=10_000)
def looks(name: str) -> frozenset[str]:
    """What a name looks like: two names that look the same share one. A capital I is an i, and looks like an l."""
    usual = unicodedata.normalize("NFKC", name).translate(LIKE_CAPITALS)
    return frozenset(_skeleton(one) for one in (usual, usual.translate(LIKE_L)))


def plain(name: str) -> str:
    """A text in small letters, each in its usual form, without what cannot be seen."""
    usual = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join("".join(letter for letter in usual if not _unseen(letter)).split())


def _skeleton(name: str) -> str:
    dashed = ("-" if unicodedata.category(letter) == "Pd" else letter for letter in plain(name.translate(LIKE_MARKS)))
    seen = without_marks("".join(dashed)).translate(LIKE_LATIN).translate(LIKE_EACH_OTHER)
    for two, one in TOGETHER:
        seen = seen.replace(two, one)
    return seen


def _unseen(letter: str) -> bool:
    return letter in BLANK or unicodedata.category(letter) in INVISIBLE


def alike(name: str, other: str) -> bool:
    return not looks(name).isdisjoint(looks(other))


def refuse_another(name: str, known: Iterable[str], asked: str) -> None:
    """Refuse a name that is taken, or that looks like one that is."""
    for other in known:
        if other == name:
            raise BadInput(asked, "it already has one, and a budget is never changed", "Use another name")
        if alike(other, name):
            found = f"there is a data set {other!r} already, which looks the same"
            raise BadInput(asked, found, f"Use {other!r}, or a name that cannot be mistaken for it")


def known_name(name: str, known: Iterable[str], asked: str) -> None:
    """Refuse a name that the ledger does not know, with the one that was probably meant."""
    names = list(known)
    if name in names:
        return
    like = [other for other in names if isinstance(name, str) and alike(other, name)]
    advice = f"Did you mean {like[0]!r}?" if like else did_you_mean(str(name), names)
    raise BadInput(asked, f"the ledger knows no data set {name!r}", advice)
