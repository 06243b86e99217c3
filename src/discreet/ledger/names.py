"""Names of data sets: two that look alike to a person are one name, so the second is refused."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from discreet.errors import BadInput, did_you_mean

LONGEST = 200  # letters: a longer name is a mistake, and no page could show it
INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")  # Unicode's classes of what nobody sees
# letters of other alphabets that are drawn like Latin ones, in small print
LIKE_LATIN = str.maketrans("авекмнорстухіјѕԁԛԝҽ" + "αβεικνορτυχϲϳ", "abekmhopctyxijsdqwe" + "abeiknoptuxcj")
LIKE_EACH_OTHER = str.maketrans("0|ı", "oli")  # and within the Latin ones: nought, bar, i without its dot


def checked_name(name: object, asked: str) -> str:
    """A name that a person can read and write again."""
    if not isinstance(name, str) or not name.strip():
        raise BadInput(asked, "the data set needs a name")
    if name != name.strip() or any(unicodedata.category(letter) in INVISIBLE for letter in name):
        found = f"the name {name!a} has a space at its end, or a letter that cannot be seen"
        raise BadInput(asked, found, "Leave it out")
    if len(name) > LONGEST:
        raise BadInput(asked, f"the name has {len(name)} letters", f"Use {LONGEST} at most")
    return name


def look(name: str) -> str:
    """What a name looks like: two names that look the same have the same."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    seen = "".join(letter for letter in plain if unicodedata.category(letter) not in INVISIBLE)
    return " ".join(seen.translate(LIKE_LATIN).translate(LIKE_EACH_OTHER).split())


def refuse_another(name: str, known: Iterable[str], asked: str) -> None:
    """Refuse a name that is taken, or that looks like one that is."""
    for other in known:
        if other == name:
            raise BadInput(asked, "it already has one, and a budget is never changed", "Use another name")
        if look(other) == look(name):
            found = f"there is a data set {other!r} already, which looks the same"
            raise BadInput(asked, found, f"Use {other!r}, or a name that cannot be mistaken for it")


def known_name(name: str, known: Iterable[str], asked: str) -> None:
    """Refuse a name that the ledger does not know, with the one that was probably meant."""
    names = list(known)
    if name in names:
        return
    alike = [other for other in names if isinstance(name, str) and look(other) == look(name)]
    advice = f"Did you mean {alike[0]!r}?" if alike else did_you_mean(str(name), names)
    raise BadInput(asked, f"the ledger knows no data set {name!r}", advice)
