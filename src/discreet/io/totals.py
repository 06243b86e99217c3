"""Rows that are sums of other rows: a person in one of them is counted twice, so that a promise about one row is false.

They are known by a key value that means a total: one of these words, in any case, whatever stands around it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Flags
from discreet.errors import BadInput
from discreet.lookalikes import LIKE_EACH_OTHER, LIKE_LATIN

NAMED = 5  # rows that an error names: enough to see what is meant


def _any_digit(word: str) -> str:
    """As a pattern: with a nought for an o, or a one for an l, too."""
    return word.replace("o", "[o0]").replace("l", "[l1]")


LEXICON = """
    total totals tot grand-total grand-totals sub-total sub-totals subtotal subtotals overall all sum sums everyone
    everybody altogether aggregate both
    gesamt insgesamt gesamtergebnis gesamtsumme gesamtzahl summe zwischensumme alle zusammen
    totaal eindtotaal subtotaal allemaal
    ensemble somme tous toutes sous-total
    suma todos todas conjunto somatório
    totale totali somma tutti tutte complessivo
    totalt summa alla samtliga sammenlagt i-alt
    yhteensä kaikki kokku kopā iš-viso razem ogółem łącznie celkem spolu összesen ukupno skupaj
    всього итого всего сумма общо σύνολο toplam genel-toplam jumlah tổng tổng-cộng รวม
    合計 総計 計 合计 总计 總計 小计 小計 총계 합계 المجموع الإجمالي कुल סך-הכל
"""  # words that mean a total and hardly anything else; places of such a name are what rows_are_disjoint is for
EVERY = """
    all both every alle beide sämtliche tous toutes les-deux ensemble todos todas ambos ambas tutti tutte entrambi
    entrambe alla samtliga båda begge kaikki molemmat wszystkie wszyscy obie oba
"""  # words that mean a total before one of the next
ARTICLES = "the|les|des|los|las|os|as|i|gli|le"
WHOLES = """
    ages age-groups persons people sexes genders rows groups categories areas regions counties states countries races
    causes districts provinces municipalities ethnicities residents individuals households patients
    altersgruppen altersklassen alter personen leute menschen geschlechter kreise länder bundesländer gemeinden regionen
    staaten gruppen kategorien
    âges ages sexes personnes régions départements communes pays groupes catégories tranches-d-âge
    edades sexos personas regiones provincias municipios países grupos categorías
    idades pessoas regiões municípios categorias
    età sessi persone regioni province comuni paesi gruppi categorie
    leeftijden geslachten gemeenten provincies landen groepen categorieën
    åldrar kön personer regioner kommuner län grupper aldre aldersgrupper køn kjønn
    ikäryhmät sukupuolet alueet henkilöt płcie grupy-wiekowe województwa regiony osoby
"""  # what tables are divided by, in the plural: 'All ages', 'Tous âges', 'Alle Personen', 'Ambos sexos'
WORDS = tuple(LEXICON.split())
QUANTIFIERS = tuple(EVERY.split())
ALL_OF = rf"({'|'.join(QUANTIFIERS)})-(({ARTICLES})-)?({'|'.join(WHOLES.split())})(-(combined|confondus|confondues))?"
ALONE = "|".join((*WORDS, ALL_OF))
SAID = rf"^({ALONE})(-({ALONE}))*(-?[0-9]{{1,4}})?$"  # several, 'Gesamt (alle)'; with a footnote or a year
LEADING = "total|totals|gesamt|insgesamt|summe|totaal|totale|totalt|yhteensä|razem|ogółem"  # others begin names, too
PHRASES = rf"^(grand-|sub-?)?({LEADING})-|-(sub-?)?({LEADING})$"  # 'Total, all ages', 'County total'
FORMS = (  # blocks of letters in another form: half and full width, mathematical, raised, encircled
    r"\x{1100}-\x{11FF}\x{FF00}-\x{FFEF}\x{1D00}-\x{1DBF}\x{2070}-\x{209F}\x{2100}-\x{214F}\x{2460}-\x{24FF}"
    r"\x{1D400}-\x{1D7FF}\x{1F100}-\x{1F1FF}"
)
SPACED = r"^[^\pL\pN]*\pL([^\pL\pN]+\pL)+[^\pL\pN]*$"  # 'I n s g e s a m t', for emphasis
BLANKS = r"[\x{2800}\x{3164}\x{115F}\x{1160}\x{FFA0}]"  # drawn as nothing, though Unicode has them as letters or signs
OTHER = r"[\p{Cyrillic}\p{Greek}ɑɡıǀ]"  # alphabets with letters that look like Latin ones
MIXED = rf"(?i)[a-z].*{OTHER}|{OTHER}.*[a-z]|\pL[01]|[01]\pL"  # what may look like another word
SHORTEST_MISSPELT = 5  # letters: a code such as A11 is no word
MAYBE = (  # cheap to test, and true of whatever means a total: blank, one of the words, or letters in another form
    rf"(?i)^[^\pL\pN]*$|^_t|{SPACED}|{BLANKS}|[{FORMS}\p{{Cf}}\p{{Cc}}\pM∑σ]|[a-z]{OTHER}|{OTHER}[a-z]|"
    + "|".join(
        sorted({_any_digit(max(word.split("-"), key=len)) for word in (*WORDS, *QUANTIFIERS, *LEADING.split("|"))})
    )
)
BESIDE_LETTERS = r"(?<=[^\W\d_])[01ıǀ]|[01ıǀ](?=[^\W\d_])"
SIGNS = ("_t", "Σ", "∑", "σ")  # of a total, in tables of statistical offices


@dataclass(frozen=True)
class TotalsRule:
    """What the user says about rows that seem to be totals."""

    drop: bool = False  # leave them out
    disjoint: bool = False  # they are none: the user's word
    paid: bool = False  # one person may be in several rows: the user's word, not a bound that came with the file


def means_total(values: Any) -> Any:
    """Of each text (Arrow), whether it is blank, or means a total."""
    import pyarrow as pa
    import pyarrow.compute as pc

    usual = pc.utf8_normalize(pc.replace_substring_regex(values, BLANKS, " "), "NFKC")
    unhidden = pc.replace_substring_regex(usual, r"\p{Cf}", "")  # soft hyphens and such
    seen = pc.replace_substring_regex(unhidden, r"\p{Cc}", " ")
    bare = pc.utf8_trim_whitespace(pc.utf8_lower(seen))
    apart = pc.match_substring_regex(bare, SPACED)
    whole = pc.if_else(apart, pc.replace_substring_regex(bare, r"[^\pL\pM\pN]+", ""), bare)
    word = pc.utf8_trim(pc.replace_substring_regex(whole, r"[^\pL\pM\pN]+", "-"), "-")
    signs = pc.is_in(bare, value_set=pa.array(["", *SIGNS], values.type))
    return pc.or_(signs, pc.or_(_is_known(word), _is_known(_as_it_looks(word))))


def _is_known(word: Any) -> Any:
    import pyarrow.compute as pc

    return pc.or_(pc.match_substring_regex(word, SAID), pc.match_substring_regex(word, PHRASES))


def _as_it_looks(word: Any) -> Any:
    """Each text in the Latin letters that a person takes its letters for, where there may be such."""
    import pyarrow as pa
    import pyarrow.compute as pc

    mixed = pc.match_substring_regex(word, MIXED)
    seen = [_in_latin(text) for text in word.filter(mixed).to_pylist()]
    return pc.replace_with_mask(word, mixed, pa.array(seen, word.type))


def _in_latin(text: str) -> str:
    plain = text.translate(LIKE_LATIN)
    return plain if len(plain) < SHORTEST_MISSPELT else re.sub(BESIDE_LETTERS, _letter, plain)


def _letter(found: re.Match[str]) -> str:
    return found[0].translate(LIKE_EACH_OTHER)


def rows_of_totals(categories: Any) -> Flags:
    """Of each row, whether one of its key values means a total. Every value is looked at once."""
    found = np.zeros(categories.num_rows, dtype=bool)
    for column in categories.columns:
        found |= _in_column(column)
    return found


def is_text(kind: Any) -> bool:
    """Of an Arrow type."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _in_column(column: Any) -> Flags:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not is_text(kind):
        return np.zeros(len(column), dtype=bool)
    text = column.cast(pa.string())
    different = pc.unique(text.filter(pc.match_substring_regex(text, MAYBE)))
    meant = different.filter(means_total(different))
    if len(meant) == 0:
        return np.zeros(len(column), dtype=bool)
    flags: Flags = pc.is_in(text, value_set=meant).to_numpy()
    return flags


def without_totals(frame: Any, names: list[str], rule: TotalsRule) -> tuple[Any, int]:
    """The rows that count different people, and how many were left out; or BadInput with the ways out."""
    keys = frame.select(names)
    flags = rows_of_totals(keys)
    if rule.drop:
        for column in keys.columns:
            flags = flags | column.is_null(nan_is_null=True).to_numpy()
    if not flags.any():
        return frame, 0
    if rule.drop:
        if flags.all():
            raise BadInput("rows that are totals were to be left out", "no other row is there")
        return frame.filter(np.logical_not(flags)), int(flags.sum())
    if rule.disjoint or rule.paid:
        return frame, 0
    raise _refused(frame, names, flags)


def _refused(frame: Any, names: list[str], flags: Flags) -> BadInput:
    """Key values are public, so they may be shown."""
    rows, told = np.flatnonzero(flags), []
    for row in rows[:NAMED].tolist():
        own = frame.select(names).slice(row, 1)
        name = next(name for name in names if _in_column(own.column(name))[0])
        told.append(f"row {row + 1} ({name} = {own.column(name)[0].as_py()!r})")
    more = ", ..." if len(rows) > NAMED else ""
    return BadInput(
        "every person must be counted in one row alone",
        f"{len(rows)} row(s) have keys that mean a total: {', '.join(told)}{more}",
        "Leave them out with drop_totals (--drop-totals); or, if one person may be counted in K rows, say so with "
        "contributions (--contributions K); or, if they are rows like the others, say rows_are_disjoint "
        "(--rows-are-disjoint)",
        rows=tuple(rows[:NAMED] + 1),
    )
