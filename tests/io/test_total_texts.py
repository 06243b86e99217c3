"""Which texts mean a total, in many languages and in disguise, and which are names."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import BadInput
from discreet.io.total_texts import MAYBE, WORDS
from discreet.io.totals import rows_of_totals
from tests.io.totals import NAMES, TOTALS, flags

IN_OTHER_LANGUAGES = (
    "Sum of all", "Ｓｕｍ　ｏｆ　ａｌｌ", "yht.", "Ｙｈｔ．", "összes", "O\u0308SSZES", "Všetko",
    "male and female", "Men & women",
    "Male/Female", "Frauen und Männer", "Hommes et femmes", "Hombres y mujeres", "Kobiety i mężczyźni",
    "Мужчины и женщины",
    "All combined", "Whole country", "World", "ttl", "ges.", "Summe aller Kreise", "Beide", "Totalité",
    "Totales", "Totais",
    "Guztira", "Complesso", "Tezamen", "Sammanlagt", "I\u00a0alt", "Samtals", "Kaikkiaan", "Kõik", "Pavisam",
    "Viso", "Wszyscy",
    "Úhrnem", "Soucet", "Všetci", "Vsota", "Sveukupno", "Укупно", "Végösszeg", "Toți", "Ambele sexe", "Всички",
    "Άθροισμα",
    "Γενικό σύνολο", "Итог", "Всё", "Итого по области", "Оба пола", "Разом", "Усього", "Загалом", "Gjithsej",
    "Cyfanswm",
    "Iomlán", "Tümü", "Ara toplam", "Semua", "Jumlah keseluruhan", "Tổng số", "Tất cả", "ทั้งหมด", "总数",
    "全国", "男女合計",
    "総 数", "전체", "계", "مجموع", "الكل", "جمع کل", "סה״כ", 'סה"כ', "योग", "মোট", "மொத்தம்",
)  # fmt: skip
SAME_IN_NAMES = (
    "Germany", "Lahat", "Sumas", "Soma", "Samen", "Alt", "Male", "female", "Wholesale", "All other", "Worldham",
    "Asya",
    "Menall", "Anytown", "Zuse", "Svitavy", "女", "会計課", "Totnes", "Talla", "Baku",
)  # fmt: skip


def test_names_are_not_taken_for_totals() -> None:
    assert flags(NAMES) == [False] * len(NAMES)


def test_words_of_many_languages_and_names_that_are_like_them() -> None:
    assert [word for word, found in zip(IN_OTHER_LANGUAGES, flags(IN_OTHER_LANGUAGES)) if not found] == []
    assert [word for word, found in zip(SAME_IN_NAMES, flags(SAME_IN_NAMES)) if found] == []


SPELT_OTHERWISE = (
    "i\u0307nsgesamt",
    "\u0130NSGESAMT",
    "Tot\u00e2l",
    "Tota\u0302l",
    "SOMM\u00c9",
    "Ov\u00e9rall",
    "yhteensa",
    "OGOLEM",
    "osszesen",
    "is viso",
    "\u03a3\u03a5\u039d\u039f\u039b\u039f",
    "\u0627\u0644\u0627\u062c\u0645\u0627\u0644\u064a",
    "T\u00f8tal",
    "tota\u0142",
    "A\u0332l\u0332l\u0332",
    "T\u0336o\u0336t\u0336a\u0336l\u0336",
    "T\u043et\u00e2l",
    "\u0438\u0442\u043e\u0433o",
    "\u0432\u0441\u0435\u0433\u03bf",
    "GrandTotal",
    "Tous les ages",
    "Alle Lander",
    "\u2066Total\u2069",
    "Total\u200f",
    "Su\u1e43",
    "Sum\u0323",
    "A\u1e37l",
    "\u0226ll",
)


def test_accents_that_are_lost_or_added_do_not_matter_and_letters_of_other_alphabets_neither() -> None:
    assert [word for word, found in zip(SPELT_OTHERWISE, flags(SPELT_OTHERWISE)) if not found] == []


def test_short_names_with_accents_stay_names() -> None:
    names = [
        "T\u00f3t",
        "\u0160uma",
        "S\u016fm",
        "\u00c2ll",
        "All\u00e9",
        "Kopa",
        "Tong",
        "\u0915\u0932",
        "\u03a4\u03bf\u03c4",
    ]
    assert flags(names) == [False] * len(names)


@given(
    st.sampled_from(WORDS), st.sampled_from([str.upper, str.title, str.lower, str]), st.text(" :*()-–.,\t", max_size=4)
)
def test_case_form_and_what_stands_around_do_not_matter(word: str, change: Any, around: str) -> None:
    written = change(word.replace("-", " "))
    for form in ("NFC", "NFD", "NFKC"):
        assert flags([around + unicodedata.normalize(form, written) + around]) == [True]


@given(st.lists(st.sampled_from([*TOTALS, *NAMES]), min_size=1, max_size=20), st.booleans())
def test_every_row_is_judged_as_if_it_were_alone(values: list[str], dictionary: bool) -> None:
    column = pa.array(values).dictionary_encode() if dictionary else pa.array(values)
    assert flags(column) == [value in TOTALS for value in values]


DISGUISED = [
    "Insge\u00adsamt", "T\u200botal", "\U0001d413\U0001d428\U0001d42d\U0001d41a\U0001d425", "Gesamtergebnis",
    "Insgesamt 1)", "I n s g e s a m t", "T o t a l", "Gesamt (alle)", "Alle zusammen", "Total1", "Total\u00b9",
    "All rows", "Summe, Kreis", "\u24c9otal", "T0tal", "TOTA1", "Tot\u0430l", "\u0422OTAL", "0verall",
    "Grand t\u043etal", "\u03b1ll", "T0tal, all ages", "\u0410ll ages", "тотаӏ", "SU\u039c", "GESA\u039cT", "ᴛᴏᴛᴀʟ",
    "T\u0585tal", "ꓔꓳꓔꓮꓡ", "To\u034ftal", "To\ufe0ftal", "\u202elatoT", "TOTAI", "Tota|", "Ⲧⲟtal", "O\u1d20erall",
    "\uff34\uff4f\uff54\uff41\uff4c", "Tot\U000e0061al", "Ensеmblе", "To\u2060tal", "S\u03c5mme",
]  # fmt: skip


@pytest.mark.parametrize("word", DISGUISED)
def test_a_total_in_disguise_is_refused(word: str) -> None:
    with pytest.raises(BadInput, match="mean a total"):
        dc.table(pa.table({"k": ["a", "b", word], "n": [1, 2, 3]}), "n", keys=["k"])


HIDDEN_BY = {
    "a mark": lambda one: unicodedata.category(one) in ("Mn", "Me", "Mc"),
    "what is not drawn": lambda one: unicodedata.category(one) in ("Cf", "Cc") and not one.isspace(),
    "a sign or a space": lambda one: (
        unicodedata.category(one)[0] in "PSZ"
        and one not in "\u309b\u309c"  # marks of Japanese letters
        and not any(unicodedata.category(part)[0] in "LMN" for part in unicodedata.normalize("NFKC", one))
    ),
}
HIDDEN_BY["a letter that is a sign"] = lambda one: (
    ("\u02b9" <= one <= "\u02ff" and unicodedata.normalize("NFKC", one) == one) or one in "\u07f4\u07f5\ua78b\ua78c"
)
TAKEN_FOR_O = {
    "a letter with a mark": lambda one: re.fullmatch(
        "LATIN (SMALL|CAPITAL) LETTER (BARRED )?O( WITH .*)?", unicodedata.name(one, "")
    ),
    "a nought": lambda one: unicodedata.decimal(one, None) == 0,
}


@pytest.mark.parametrize("what", [*HIDDEN_BY, *TAKEN_FOR_O])
def test_no_mark_and_no_form_of_a_letter_hides_a_total(what: str) -> None:
    """All of Unicode: a rule, no list."""
    every = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    if what in HIDDEN_BY:
        words = [f"To{one}tal" for one in filter(HIDDEN_BY[what], every)]
    else:
        words = [f"T{one}tal" for one in filter(TAKEN_FOR_O[what], every)]
    meant = rows_of_totals(pa.table({"k": [*words, "A\u217c\u217c"]}))
    assert len(words) > 20 and [ascii(word) for word, found in zip(words, meant) if not found] == [] and meant[-1]


@pytest.mark.parametrize("word", [
    "Summerfield", "Allen", "Totaltown", "Gesamtschule", "All\u00adgäu", "Bothwell 1", "A11", "A110", "T0T", "тот",
    "Алла", "L0ND0N", "Todos Santos", "Deux-Sèvres", "Both ends", "Toutes Aides", "01001", "1 Allee", "A1-1", "сумка",
])  # fmt: skip
def test_a_name_that_only_begins_like_one_is_none(word: str) -> None:
    assert dc.table(pa.table({"k": ["a", "b", word], "n": [1, 2, 3]}), "n", keys=["k"]).schema.rows == 3


IN_PIECES = (
    "To-tal", "Tot.al", "T_o_t_a_l", "To\u00adtal", "T-otal", "to/tal", "To tal", "To- tal", "TO\nTAL", "To\u00a0tal",
    "To-tal 2020", "Tot.al*", "(To_tal)", "Grand To-tal", "Gr-and to-tal", "County To-tal", "To-tal, all ages", "Al-l",
    "A.ll", "S-um", "Su'm", "S.U.M.", "S-um of all", "Over-all", "Ges-amt (alle)", "Ins-ge-samt", "En-sem-ble",
    "Som-me", "To-taal", "Al-l ages", "Bo-th sexes", "Ито-го", "Yht.een.sä", "Tous-â-ges", "T0-tal",
    "To-ta1", "Т\u043e-tal", "Ma-le & fe-male",
)  # fmt: skip
WHOLE = (
    "All-in", "To-do", "To-dos list", "AL-LE", "AL1 1", "AL1 9", "AL10 0", "SU-MA", "GE-S", "AN-Y", "Z-US", "Al-Lith",
    "Al Ain", "Deux-Sèvres", "Guinea-Bissau", "Timor-Leste", "Bosnia and Herzegovina", "Côte d'Ivoire", "Val-d'Oise",
    "Saint-Denis", "Walla Walla", "Al-Anbar", "Summer-Set", "A-L-L-E-N", "Tot-Nes", "All-Star", "Sum-mit", "Alto-tal",
    "S.U.M.O.", "Over all hills", "Som-Merset", "S-1 um", "N.Y.", "All 1-2-3 Co.",
)  # fmt: skip


def test_a_word_in_pieces_is_the_word_and_a_name_of_several_is_none() -> None:
    assert [word for word, found in zip(IN_PIECES, flags(IN_PIECES)) if not found] == []
    assert [word for word, found in zip(WHOLE, flags(WHOLE)) if found] == []


@given(st.sampled_from([word for word in WORDS if len(word.replace("-", "")) >= 5]), st.data())
def test_one_sign_anywhere_in_a_word_hides_nothing(word: str, data: Any) -> None:
    place = data.draw(st.integers(1, len(word) - 1))
    sign = data.draw(st.sampled_from(" -_./'+,;:|\u00a0\u2013\u2019\u00b7\u30fb"))
    assert flags([word[:place] + sign + word[place:]]) == [True]


def test_texts_without_a_suspect_word_are_not_suspects() -> None:
    """In small letters, k and s are also two signs of other blocks: no reason to look at every name with a k."""
    assert (
        not pa.compute.match_substring_regex(pa.array(["New York 12-ab", "Kiskunhalas", "ASKO"]), MAYBE)
        .to_numpy(zero_copy_only=False)
        .any()
    )


def test_words_are_known_whatever_version_of_arrow_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to version 20 it took letters apart where it was asked to compose them: no word with an accent was known."""

    def apart(texts: Any, form: str) -> Any:
        return pa.array([unicodedata.normalize("NFKD", text) for text in texts.to_pylist()])

    monkeypatch.setattr("pyarrow.compute.utf8_normalize", apart)
    assert flags(["YHTEENSÄ", "Tous âges", "Båda kön", "Total", "Turku"]) == [True, True, True, True, False]


def test_a_column_without_a_suspect_is_not_read_for_totals(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cheap test is true of whatever means a total: where nothing passes it there is nothing to look at."""
    monkeypatch.setattr("discreet.io.total_texts.means_total", lambda _: pytest.fail("asked for nothing"))
    assert not rows_of_totals(pa.table({"place": ["qx", "qy"]})).any()
