"""Texts that mean a total: one of some words, in any case and form, whatever stands around it; or nothing at all."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache, reduce
from typing import Any

from discreet.io.total_words import (
    ARTICLES,
    AT_THE_END,
    EVERY,
    JOINED_BY,
    LEADING,
    LEXICON,
    MEN,
    SUM_OF,
    WHOLES,
    WOMEN,
)
from discreet.lookalikes import (
    ACCENTS,
    LIKE_CAPITALS,
    LIKE_EACH_OTHER,
    LIKE_L,
    LIKE_LATIN,
    in_latin,
    in_usual_form,
    strokes,
    without_marks,
)


def _likely(word: str) -> str:
    """As a pattern: with a nought for an o, and a one, a bar or a capital i for an l, too."""
    return word.replace("o", "[o0]").replace("l", "[l1i|]")


PLAIN_SIGNS = r"[\x00-/:-@\[-`{-\x7F]"


def _broken(words: Iterable[str]) -> str:
    """As a pattern: the letters of one of them, whatever plain signs stand between."""
    return "|".join(f"{PLAIN_SIGNS}*".join(map(_likely, word)) for word in words)


SHORTEST_WITHIN = 4  # letters: shorter ones are within many names
SHORTEST_MISSPELT = 5  # letters: a code such as A11 is no word, and many short words look like others


def _spelt(words: str) -> tuple[str, ...]:
    """Also as they are written without accents, and as the Latin letters that they look like."""
    given = words.split()
    others = [look(word) for word in given if len(word) >= SHORTEST_MISSPELT for look in (without_marks, in_latin)]
    return tuple(dict.fromkeys([*given, *others]))


def _telling(words: Iterable[str]) -> tuple[str, ...]:
    """As few texts as do, one of which is in each of the words: of long lists Arrow makes slow work."""
    longest = {max(word.split("-"), key=len) for word in words if not any(one in word.split("-") for one in words)}
    some = {word for word in words if "-" not in word} | longest
    long = [word for word in some if len(word) >= SHORTEST_WITHIN]
    return tuple(sorted(word for word in some if not any(one in word and one != word for one in long)))


WORDS = _spelt(LEXICON)
QUANTIFIERS = _spelt(EVERY)
ALL_OF = rf"({'|'.join(QUANTIFIERS)})-(({ARTICLES})-)?({'|'.join(_spelt(WHOLES))})(-(combined|confondus|confondues))?"
_MEN, _WOMEN = ("|".join(_spelt(words)) for words in (MEN, WOMEN))
BOTH = rf"({_MEN})-(({JOINED_BY})-)?({_WOMEN})|({_WOMEN})-(({JOINED_BY})-)?({_MEN})"  # 'Men and women', 'Male/female'
ALONE = "|".join((*WORDS, ALL_OF, BOTH))
SHORT_AND_PLAIN = ("all", "sum")  # of short words these are known in pieces: others may be codes (AL-LE), or To-do
_LONGER = (*(word for word in WORDS if len(word.replace("-", "")) >= SHORTEST_MISSPELT), *SHORT_AND_PLAIN)
IN_PIECES = (  # 'To-tal', without what stands between
    rf"^({'|'.join(_LONGER)}|{ALL_OF}|{BOTH})({ALONE})*".replace("-", "") + "[0-9]{0,4}$"
)
SAID = rf"^({ALONE})(-({ALONE}))*(-?[0-9]{{1,4}})?$"  # several, 'Gesamt (alle)'; with a footnote or a year
LEADS = _spelt(LEADING)
_LEADS, _SUM, _OF = "|".join(LEADS), *SUM_OF
PHRASES = (  # 'Total, all ages'; 'County total'; 'Sum of all'
    rf"^(grand-|sub-?)?({_LEADS})-|-(sub-?)?({_LEADS})$|^({_SUM})-({_OF})-|({AT_THE_END})$"
)
FORMS = (  # blocks of letters in another form: half and full width, mathematical, raised, encircled
    r"\x{1100}-\x{11FF}\x{FF00}-\x{FFEF}\x{1D00}-\x{1DBF}\x{2070}-\x{209F}\x{2100}-\x{214F}\x{2460}-\x{24FF}"
    r"\x{1D400}-\x{1D7FF}\x{1F100}-\x{1F1FF}"
)
BROKEN = r"\pL\pM*[^\pL\pM\pN]+\pL"  # words, or pieces of one
SPACED = r"^[^\pL\pN]*\pL([^\pL\pN]+\pL)+[^\pL\pN]*$"  # 'I n s g e s a m t', for emphasis
BLANKS = r"[\x{2800}\x{3164}\x{115F}\x{1160}\x{FFA0}]"  # drawn as nothing, though Unicode has them as letters or signs
HIDDEN = (  # drawn as nothing: what is no space among control characters, soft hyphens and such, joiners, selectors
    r"[\x{0}-\x{8}\x{E}-\x{1F}\x{7F}-\x{84}\x{86}-\x{9F}\p{Cf}\x{034F}\x{17B4}\x{17B5}\x{180B}-\x{180F}\x{FE00}-\x{FE0F}\x{E0100}-\x{E01EF}]"
)
STROKES = rf"[{''.join(map(chr, strokes()))}]"
DIGIT = r"[^\P{Nd}\x00-\x7F]"  # of another script
# such as a prime: inside a word it is hardly seen; some are letters to Unicode, which change the sound of others
SIGN = r"([^\pL\pM\pN\pZ\x00-\x7F]|[\x{02B9}-\x{02DF}\x{02EC}-\x{02FF}\x{07F4}\x{07F5}\x{A788}\x{A78B}\x{A78C}])"
DOTS = "[\u0307\u0323]"  # above a letter, and below
BACKWARDS = "\u202e"  # what comes after it is drawn from right to left
ALIKE = "".join(map(chr, (*LIKE_CAPITALS, *LIKE_LATIN))) + "ıǀ"  # letters that look like Latin ones
LATIN = rf"[^\pL]|[A-Za-z{ALIKE}]"
LOOKS = rf"^({LATIN})*[{ALIKE}]({LATIN})*$|[A-Za-z][{ALIKE}]|[{ALIKE}][A-Za-z]"  # a text, or a word, of such letters
WITHIN = rf"\pL{SIGN}+\pL"
DISGUISED = rf"{LOOKS}|{BACKWARDS}|\pL[01I|]|[01I|]\pL|{WITHIN}"  # what may look like another word
TELLING = _telling((*WORDS, *QUANTIFIERS, *LEADS, *_spelt(WOMEN), *_SUM.split("|"), *AT_THE_END.split("|")))
MAYBE = (  # cheap to test, and true of whatever means a total: blank, one of the words, or letters in another form
    rf"^[^\pL\pN]*$|^_[tT]|{SPACED}|{BLANKS}|{HIDDEN}|[{FORMS}\p{{Cc}}\p{{Zl}}\p{{Zp}}\x{{1680}}\pM∑σςΣ]|{LOOKS}|{WITHIN}|"
    rf"\pL{DIGIT}|{DIGIT}\pL|"
    rf"(?i:{'|'.join(_likely(word) for word in TELLING if word.isascii() and len(word) >= SHORTEST_WITHIN)})"
)
_SHORT = "|".join(_likely(word) for word in TELLING if word.isascii() and len(word) < SHORTEST_WITHIN)
MAYBE_SHORT = rf"(?i)^[^a-z]*({_SHORT})([^a-z]|$)|[^a-z]({_SHORT})[^a-z]*$"
_BEGINNINGS = sorted(
    {word.replace("-", "")[:SHORTEST_MISSPELT] for word in (*_LONGER, *QUANTIFIERS, *_spelt(MEN + WOMEN))}
)
_LIKE_A_LETTER = r"[^\x00-/2-@\[-`{-\x7F]"
MAYBE_BROKEN = f"{_LIKE_A_LETTER}{PLAIN_SIGNS}+{_LIKE_A_LETTER}"
MAYBE_IN_PIECES = (  # held to an end of the text: in pieces, and anywhere, would be slow work
    rf"(?i)^{PLAIN_SIGNS}*({_broken(_BEGINNINGS)})",
    rf"(?i)({_broken(LEADS)}){PLAIN_SIGNS}*$",
)
MAYBE_FOREIGN = "(?i)" + "|".join(word for word in TELLING if not word.isascii())  # asked of such texts alone
HARDLY_SEEN = r"[^\w\s\x00-\x7f]|[\u02b9-\u02df\u02ec-\u02ff\u07f4\u07f5\ua788\ua78b\ua78c]"  # SIGN, for Python
BETWEEN_LETTERS = rf"(?<=[^\W\d_])({HARDLY_SEEN})+(?=[^\W\d_])"
BESIDE_LETTERS = r"(?<=[^\W\d_])[01ıǀ|]|[01ıǀ|](?=[^\W\d_])"
FEW = 4096  # bytes of text whose answer is remembered: to look through them takes 10 ms, and tables are read often
ONE_PIECE = 1 << 28  # bytes of text that are copied for it; Arrow's texts end at eight times as much
SIGNS = ("_t", "Σ", "∑", "σ")  # of a total, in tables of statistical offices


def meaning_totals(values: Any) -> Any:
    """Those of some texts that mean a total."""
    import pyarrow as pa

    if values.nbytes > FEW:
        return _looked_through(values)
    return pa.array(_of_few(tuple(values.to_pylist())), pa.string())


@lru_cache(maxsize=256)
def _of_few(texts: tuple[str | None, ...]) -> tuple[str | None, ...]:
    import pyarrow as pa

    return tuple(_looked_through(pa.array(texts, pa.string())).to_pylist())


def _looked_through(values: Any) -> Any:
    import pyarrow.compute as pc

    accented = values.filter(pc.match_substring_regex(values, r"[^\x00-\x7F]"))
    bare = _bare(pc.utf8_normalize(accented, form="NFKC"))
    likely = [
        (own, look, maybe) for own, look in ((values, values), (accented, bare)) for maybe in (MAYBE, MAYBE_SHORT)
    ]
    likely.append((accented, accented, MAYBE_FOREIGN))
    for own, look in ((values, values), (accented, bare)):
        broken = pc.match_substring_regex(look, MAYBE_BROKEN)
        likely.extend((own.filter(broken), look.filter(broken), maybe) for maybe in MAYBE_IN_PIECES)
    some = one_after_another(own.filter(pc.match_substring_regex(look, maybe)) for own, look, maybe in likely).unique()
    return some.filter(means_total(some)) if len(some) else some


def means_total(values: Any) -> Any:
    """Of each text (Arrow), whether it is blank, or means a total, as it is written or as it looks."""
    import pyarrow as pa
    import pyarrow.compute as pc

    usual = _composed(pc.replace_substring_regex(values, BLANKS, " "))
    disguised = pc.match_substring_regex(usual, DISGUISED)
    texts, readings = usual.filter(disguised).to_pylist(), [usual, _bare(usual)]
    for look in (_seen, _seen_with_a_capital_for_l):
        other = pc.replace_with_mask(usual, disguised, pa.array(map(look, texts), usual.type))
        readings.append(_bare(other))
    found = _reads_as_total(one_after_another(readings))  # together: long patterns are read once
    return reduce(pc.or_, (found.slice(place * len(usual), len(usual)) for place in range(len(readings))))


def _composed(values: Any) -> Any:
    """Letters in their usual form, without marks that belong to none. Not by Arrow, which up to version 20 took apart
    what it was to compose."""
    import pyarrow as pa
    import pyarrow.compute as pc

    others = pc.match_substring_regex(values, r"[^\x00-\x7F]")
    composed = [in_usual_form(text) for text in values.filter(others).to_pylist()]
    return pc.replace_with_mask(values, others, pa.array(composed, values.type))


def _bare(values: Any) -> Any:
    """Longer texts as they are written without accents; short ones without dots, which are easily missed."""
    import pyarrow as pa
    import pyarrow.compute as pc

    apart = pc.utf8_normalize(pc.utf8_lower(values), form="NFKD")
    bare = pc.replace_substring_regex(apart, f"[{ACCENTS}]", "")
    marked = pc.match_substring_regex(bare, STROKES)
    plain = [text.translate(strokes()) for text in bare.filter(marked).to_pylist()]
    bare = pc.replace_with_mask(bare, marked, pa.array(plain, bare.type))
    dotted = pc.match_substring_regex(apart, DOTS)
    clear = [_without_dots(text) for text in values.filter(dotted).to_pylist()]
    short = pc.replace_with_mask(values, dotted, pa.array(clear, values.type))
    return pc.if_else(pc.greater_equal(pc.utf8_length(bare), SHORTEST_MISSPELT), bare, short)


def _without_dots(text: str) -> str:
    return unicodedata.normalize("NFC", re.sub(DOTS, "", unicodedata.normalize("NFD", text)))


def _reads_as_total(usual: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    seen = pc.replace_substring_regex(pc.replace_substring_regex(usual, HIDDEN, ""), r"\p{Cc}", " ")
    bare = pc.utf8_trim_whitespace(pc.utf8_lower(seen))
    apart = pc.match_substring_regex(bare, SPACED)
    whole = pc.if_else(apart, pc.replace_substring_regex(bare, r"[^\pL\pM\pN]+", ""), bare)
    words = _words(whole)
    said = pc.or_(pc.match_substring_regex(words, SAID), pc.match_substring_regex(words, PHRASES))
    return pc.or_(pc.or_(said, _in_pieces(bare)), pc.is_in(bare, value_set=pa.array(["", *SIGNS], usual.type)))


def _words(texts: Any) -> Any:
    """With `-` for whatever stands between letters and digits."""
    import pyarrow.compute as pc

    return pc.utf8_trim(pc.replace_substring_regex(texts, r"[^\pL\pM\pN]+", "-"), "-")


def _in_pieces(texts: Any) -> Any:
    """Of each text, whether its letters alone mean a total, or those of its words a phrase of one: 'County to-tal'."""
    import pyarrow.compute as pc

    broken = pc.match_substring_regex(texts, BROKEN)
    if not pc.any(broken).as_py():
        return broken
    letters = pc.replace_substring_regex(texts, r"[^\pL\pM\pN]+", "")
    phrase = _words(pc.replace_substring_regex(texts, r"[^\pL\pM\pN\pZ\s]+", ""))
    known = pc.or_(pc.match_substring_regex(letters, IN_PIECES), pc.match_substring_regex(phrase, PHRASES))
    return pc.and_(broken, known)


def _seen(text: str) -> str:
    """A text in the Latin letters that a person takes its letters for, in the order in which they are drawn."""
    before, _, backwards = text.partition(BACKWARDS)
    plain = re.sub(BETWEEN_LETTERS, "", in_latin(before + backwards[::-1]))
    if len(plain) < SHORTEST_MISSPELT:
        return plain if re.search("[A-Za-z]", text) else text  # such as a word of three letters in another alphabet
    spelt = re.sub(BESIDE_LETTERS, _letter, plain)
    return spelt if _letters(spelt) >= SHORTEST_MISSPELT else plain  # such as AL1 1, where letters in St Albans go


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _seen_with_a_capital_for_l(text: str) -> str:
    return _seen(text.translate(LIKE_CAPITALS).translate(LIKE_L)) if _letters(text) >= SHORTEST_MISSPELT else text


def _letter(found: re.Match[str]) -> str:
    return found[0].translate(LIKE_EACH_OTHER)


def one_after_another(columns: Iterable[Any]) -> Any:
    """Columns of text as one (Arrow), in one piece: for each piece Arrow reads anew what is looked for."""
    import pyarrow as pa

    pieces = [column.chunks if isinstance(column, pa.ChunkedArray) else [column] for column in columns]
    whole = pa.chunked_array([piece for some in pieces for piece in some], pa.string())
    return whole.combine_chunks() if whole.nbytes < ONE_PIECE else whole
