"""Letters that a person takes for others: names and words that look the same must not pass for different ones."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Literal

# letters of other alphabets that are drawn like Latin ones: capitals (some have small letters that look otherwise)
LIKE_CAPITALS = str.maketrans(
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ" + "АВЕЅІЈКМНОРСТУХҮԚԜԌӀ" + "ՕՍՏԼ"  # Greek, Cyrillic, Armenian
    "ᎠᎡᎢᎩᎪᎫᎬᎳᎷᎻᎽᏀᏃᏔᏙᏚᏞᏟᏢᏦᏴ" + "ⲀⲂⲎⲒⲔⲘⲚⲞⲢⲤⲦⲨⲬ" + "ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ",  # Cherokee, Coptic, Lisu
    "ABEZHIKMNOPTYXCJ" + "ABESIJKMHOPCTYXYQWGI" + "OUSL"
    "DRTYAJEWMHYGZWVSLCPKB" + "ABHIKMNOPCTYX" + "BPDTGKJCZFMNLSRVHWXYAEIOU",
)  # fmt: skip
# and small ones, among them small capitals and letters of phonetics
LIKE_LATIN = str.maketrans(
    "αβγεηικμνορστυχωϲϳ" + "авгекмнопрстухѡѵүіјѕԁԛԝҽһӏ" + "օսոհցզգյ" + "ⲁⲓⲕⲟⲣⲥⲧⲩⲭ" + "ɑɡɩꞁ℮ƒ"
    "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ",
    "abyenikuvopotuxwcj" + "abrekmhonpctyxwvyijsdqwehl" + "ounhgqqj" + "aikopctyx" + "agilef"
    "abcdefghijklmnoprstuvwyz",
)  # fmt: skip
LIKE_EACH_OTHER = str.maketrans("01|ıǀ", "ollil")  # and within the Latin ones: nought, one, bars, i without its dot
LIKE_L = str.maketrans("I", "l")  # a capital that is drawn like a small l


# marks of Latin, Greek, Cyrillic, Hebrew and Arabic letters: many leave them out, capitals lose them
ACCENTS = "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
ALPHABETS = (  # blocks of Unicode with Latin, Greek and Cyrillic letters, beyond plain ones
    (0x80, 0x530),
    (0x1C80, 0x1C90),
    (0x1D00, 0x1DC0),
    (0x2C60, 0x2C80),
    (0xA640, 0xA800),
    (0xAB30, 0xAB70),
    (0x1DF00, 0x1E000),
)
MARKED = re.compile(
    "(?P<letter>(LATIN|GREEK|CYRILLIC) (SMALL|CAPITAL) LETTER) (BARRED |DOTLESS |INSULAR |SCRIPT )?(?P<name>[A-Z]+)"
    "( WITH (?!SMALL LETTER).*)?"
)


@cache
def strokes() -> dict[int, str]:
    """Letters with a mark that Unicode does not take off them, and those without it: their names say so."""
    found = {}
    for letter in (chr(code) for block in ALPHABETS for code in range(*block)):
        name = MARKED.fullmatch(unicodedata.name(letter, ""))
        if name and unicodedata.decomposition(letter) == "" and (bare := _named(f"{name['letter']} {name['name']}")):
            found[ord(letter)] = bare
    return {code: bare for code, bare in found.items() if chr(code) != bare}


def _named(letter: str) -> str:
    try:
        return unicodedata.lookup(letter)
    except KeyError:
        return ""


def in_usual_form(text: str, form: Literal["NFKC", "NFKD"] = "NFKC") -> str:
    """A text in the letters and digits that everybody has, without loose accents, or any mark on a Latin letter."""
    kept: list[str] = []
    for letter in re.sub(f" ?[{ACCENTS}]", "", unicodedata.normalize(form, text)):  # by themselves they get a space
        on_latin = bool(kept) and kept[-1].isascii() and kept[-1].isalpha()
        if not (on_latin and unicodedata.category(letter)[0] == "M"):
            kept.append(str(unicodedata.digit(letter, letter)))
    return "".join(kept)


def without_marks(text: str) -> str:
    """Also without accents and strokes that belong to a letter."""
    return in_usual_form(text, "NFKD").translate(strokes())


def in_latin(text: str) -> str:
    """A text in the small Latin letters that a person takes its letters for."""
    return text.translate(LIKE_CAPITALS).casefold().translate(LIKE_LATIN)
