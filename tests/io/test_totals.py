"""A person in a row that is a total is counted twice: such rows are refused, dropped, paid for, or declared."""

from __future__ import annotations

import json
import re
import shutil
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import BadInput
from discreet.io.counted import write_counted
from discreet.io.tables import read_schema
from discreet.io.totals import WORDS, rows_of_totals
from discreet.record.release import seal_of

TOTALS = (
    "Total", "All", "Sum", "Overall", "Grand total", "", "  ", "\u00a0", "\u200b", "Gesamt", "Insgesamt", "Totaal",
    "Ensemble", "Somme", "TOTAL", " total: ", "*Total*", "(all)", "— All —", "Total, all ages", "County total",
    "Total 2020", "All ages", "Both sexes", "Sub-total", "Ｔｏｔａｌ", "_T", "Σ", "合計", "ИТОГО", "YHTEENSÄ", "รวม",
    "Tot.", "TOT", "All 2020", "\u2800", "\u3164", "\u115f", " \u3164 ", "Tous âges", "Alle Personen", "Alle Leute",
    "Todas las edades", "Ambos sexos", "Tutte le età", "Les deux sexes", "Båda kön", "Alle Altersgruppen",
    "Both sexes combined", "Tous âges confondus", "Molemmat sukupuolet", "Tous âges, tous sexes",
)  # fmt: skip
NAMES = (
    "Allen",
    "Ash",
    "Totality",
    "Sumter",
    "Tall",
    "-",
    "T",
    "All Saints",
    "totaled",
    "Alle Vögel",
    "Alt",
    "*",
    "NA",
)


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


def flags(values: Any) -> list[bool]:
    return rows_of_totals(pa.table({"k": values})).tolist()


def frame(*keys: str) -> Any:
    return pa.table({"place": [*keys, "Ash", "Elm"], "n": [*range(1, len(keys) + 1), 3, 4]})


@pytest.mark.parametrize("word", TOTALS)
def test_words_for_a_total_are_refused_with_the_ways_out(word: str) -> None:
    with pytest.raises(BadInput) as caught:
        dc.table(frame(word), "n", "place")
    for said in ("row 1", "place = ", "--drop-totals", "--contributions K", "--rows-are-disjoint"):
        assert said in str(caught.value)
    assert caught.value.exit_status == 2


def test_names_are_not_taken_for_totals() -> None:
    assert flags(NAMES) == [False] * len(NAMES)


def test_words_of_many_languages_and_names_that_are_like_them() -> None:
    assert [word for word, found in zip(IN_OTHER_LANGUAGES, flags(IN_OTHER_LANGUAGES)) if not found] == []
    assert [word for word, found in zip(SAME_IN_NAMES, flags(SAME_IN_NAMES)) if found] == []


@pytest.mark.parametrize("values, total", [
    (["m", "f", "m+f"], "m+f"), (["M", "F", "m/f", "U"], "m/f"), (["Male", "Female", "M+F"], "M+F"), (["a", "b",
    "c", "abc"], "abc"), (["M", "F", "MF"], "MF"), (["Male", "Female", "males/females"], "males/females"),
    (["M", "F", "T"], "T"), (["Ｍ", "Ｆ", "Ｍ＋Ｆ"], "Ｍ＋Ｆ"), (["a", "b", "c", "a, c und b"], "a, c und b"),
    (["1", "2", "1-2"], "1-2"), (["north", "south", "north & south"], "north & south"), (["м", "ж", "м и ж"],
    "м и ж"),
    (["A", "B", "AB", "0"], ""), (["White", "Asian", "White and Asian", "Black"], ""), (["S", "M", "L"], ""),
    (["A", "B", "AB"], ""), (["A/A", "A/G", "G/G"], ""), (["A", "G", "AG"], ""), (["12", "1", "2"], ""),
    (["I", "V", "IV"], ""), (["A+", "B+", "A+/B+ mixed"], ""), (["Mali", "Oman", "Togo"], ""), (["N", "S", "NS"], ""),
    (["0-4", "5-9", "10-14"], ""), (["A", "B", "A/B test"], ""), (["B", "F", "G", "M", "T"], ""), (["m", "f"], ""),
])  # fmt: skip
def test_a_value_that_names_all_others_of_its_column_is_their_total(values: list[str], total: str) -> None:
    """Where the column makes it plain; a list of words cannot."""
    rows = pa.table({"sex": values * 2, "area": ["x"] * len(values) + ["y"] * len(values), "n": range(2 * len(values))})
    if not total:
        assert len(dc.table(rows, "n", ["sex", "area"])) == 2 * len(values)
        return
    with pytest.raises(BadInput, match=re.escape(f"row {values.index(total) + 1} (sex = {total!r})")):
        dc.table(rows, "n", ["sex", "area"])
    assert dc.table(rows, "n", ["sex", "area"], drop_totals=True).schema.dropped_totals == 2
    assert len(dc.table(rows, "n", ["sex", "area"], rows_are_disjoint=True)) == 2 * len(values)


def test_what_was_counted_is_no_total_though_it_names_all_others() -> None:
    counted = dc.count(pa.table({"sex": ["m", "f", "m/f"]}), "sex", {"sex": ["m", "f", "m/f"]})
    assert counted.schema.rows_are_disjoint and counted.counts.sum() == 3


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


@pytest.mark.parametrize("place", ["Somme", "Tous", "Alle"])
def test_a_place_that_is_called_like_a_total_is_told_the_way_out(place: str) -> None:
    with pytest.raises(BadInput, match=r"such as a place of that name, say rows_are_disjoint"):
        dc.table(frame(place), "n", "place")


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


def test_a_total_and_bad_counts_are_told_at_once(tmp_path: Path) -> None:
    """And none of the cells."""
    file = tmp_path / "t.csv"
    file.write_text("place,n\nTotal,7654\nAsh,3x\nElm,NA\nOak,-2\n")
    with pytest.raises(BadInput) as caught:
        dc.read_table(file, "n")
    said = str(caught.value)
    for part in ("row 2 (place = 'Total')", "row 3, column 'n' is not a number", "row 4, column 'n' is missing"):
        assert part in said
    assert "--drop-totals" in said and "7654" not in said and "3x" not in said
    file.write_text("place,n\n" + "".join(f"p{i},x\n" for i in range(99)))
    with pytest.raises(BadInput, match=r"row 6, column 'n' is not a number; and 94 more\.") as many:
        dc.read_table(file, "n", keys=["place"])
    assert "row 7" not in str(many.value)


def test_in_any_key_column_and_in_no_other() -> None:
    table = {"place": ["a", "a", "b"], "sex": ["f", "Total", "f"], "note": ["All", "x", "y"], "n": [1, 2, 3]}
    with pytest.raises(BadInput, match=r"keys that mean a total: row 2 \(sex = 'Total'\)\."):
        dc.table(pa.table(table), "n", ["place", "sex"])
    assert len(dc.table(pa.table({**table, "sex": ["f", "m", "f"]}), "n", ["place", "sex"])) == 3


def test_what_a_total_lacks_is_no_problem_of_its_own() -> None:
    columns = {"place": ["a", "b", "Total"], "sex": ["f", "m", None], "n": [1, 2, 3]}
    with pytest.raises(BadInput) as caught:
        dc.table(pa.table(columns), "n", ["place", "sex"])
    assert "row 3 (place = 'Total')" in str(caught.value) and "is missing" not in str(caught.value)
    with pytest.raises(BadInput, match="row 1, column 'sex' is missing") as caught:
        dc.table(pa.table({**columns, "sex": [None, "m", None]}), "n", ["place", "sex"])
    assert "row 3, column" not in str(caught.value)


def test_a_row_of_a_crosstab_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("area,f,m,All\na,1,2,3\nb,3,4,7\nTotal,4,6,10\n")
    with pytest.raises(BadInput) as caught:
        dc.read_table(tmp_path / "t.csv", "n", ["area"], wide="sex")
    assert str(caught.value).count("row 4 (area = 'Total')") == 1 and "row 2 (sex = 'All')" in str(caught.value)


def test_the_first_rows_are_named_and_no_count() -> None:
    with pytest.raises(BadInput) as caught:
        dc.table(pa.table({"k": ["All"] * 9, "n": [7654321] * 9}), "n", "k")
    assert "(9 in all)" in str(caught.value) and "row 5 (" in str(caught.value) and "row 7" not in str(caught.value)
    assert "7654321" not in str(caught.value)


def test_dropped_rows_are_left_out_before_anything_else() -> None:
    secret = pa.table({"place": ["b", "Total", "a", "  "], "n": ["3", "NA", "4", "x"]})
    table = dc.table(secret, "n", "place", drop_totals=True)
    assert table.schema.column("place") == ["a", "b"] and table.counts.tolist() == [4, 3]
    assert table.schema.dropped_totals == 2
    out = dc.release(table, 1, mechanism="signed-geometric")
    assert "Rows whose keys mean a total of others were left out (2)." in out.guarantee.sentence
    with pytest.raises(BadInput, match="no other row is there"):
        dc.table(pa.table({"k": ["All"], "n": [1]}), "n", "k", drop_totals=True)
    missing = pd.DataFrame({"k": ["a", None], "n": [1, 2]})
    assert dc.table(missing, "n", "k", drop_totals=True).schema.dropped_totals == 1
    for bad in (["1", "2", "x"], ["1", "2", "3"]):
        with pytest.raises(BadInput, match="rows 2 and 3 have the same"):
            dc.table(pa.table({"k": ["All", "a", "a"], "n": bad}), "n", "k", drop_totals=True)
    none = dc.table(frame(), "n", "place", drop_totals=True)
    assert none.schema.dropped_totals == 0 and "left out" not in dc.plan(none, 1).guarantee


def test_paid_for_or_declared() -> None:
    paid = dc.table(frame("Total"), "n", "place", contributions=2)
    assert paid.schema.contributions == 2 and len(paid) == 3
    declared = dc.table(frame("Somme"), "n", "place", rows_are_disjoint=True)
    for promise in (
        dc.plan(declared, 1, max_count=5).guarantee,
        dc.release(declared, 1, max_count=5).guarantee.sentence,
    ):
        assert "declares that no row is a total" in promise
    assert "declares" not in dc.plan(paid, 1, max_count=5).guarantee


def test_the_universe_is_judged_too() -> None:
    places = {"place": ["Ash", "Elm", "Oak", "All"]}
    with pytest.raises(BadInput, match=r"row 4 \(place = 'All'\)"):
        dc.table(frame(), "n", "place", places)
    dropped = dc.table(frame(), "n", "place", places, drop_totals=True)
    assert dropped.schema.column("place") == ["Ash", "Elm", "Oak"] and dropped.schema.dropped_totals == 1
    assert len(dc.table(frame(), "n", "place", places, rows_are_disjoint=True)) == 4


def test_a_plan_judges_alike(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("place,n\nTotal,7\nAsh,3\nElm,4\n")
    with pytest.raises(BadInput, match="mean a total"):
        read_schema(file, "n")
    schema, order = read_schema(file, "n", drop_totals=True)
    assert (schema.rows, schema.dropped_totals, order) == (2, 1, None)
    assert read_schema(file, "n", rows_are_disjoint=True)[0].rows_are_disjoint
    assert read_schema(file, "n", contributions=2)[0].contributions == 2


def test_counting_microdata_makes_no_totals() -> None:
    people = pa.table({"place": ["Somme", "", "Ash"]})
    counted = dc.count(people, "place", {"place": ["Somme", "Ash", ""]})
    assert counted.schema.rows_are_disjoint and counted.counts.sum() == 3


WAYS: dict[str, dict[str, Any]] = {
    "row by row": {"max_count": 5, "mechanism": "geometric"},
    "distribution": {"max_count": 5},
    "sums": {"keep": "total"},
}


def resealed(folder: Path, change: Any) -> None:
    document = json.loads((folder / "release.json").read_text())
    change(document)
    document["seal"] = seal_of(document)
    (folder / "release.json").write_text(json.dumps(document, indent=1) + "\n")


@pytest.mark.parametrize("way", WAYS)
def test_verify_asks_for_the_word_or_the_price(way: str, tmp_path: Path) -> None:
    table = dc.table(frame("Total"), "n", "place", rows_are_disjoint=True)
    dc.release(table, 1, **WAYS[way]).save(tmp_path / "declared")
    assert dc.verify(tmp_path / "declared").problems == ()
    dc.release(dc.table(frame("Total"), "n", "place", contributions=2), 1, **WAYS[way]).save(tmp_path / "paid")
    assert dc.verify(tmp_path / "paid").problems == ()

    def silent(document: Any) -> None:
        document["schema"]["rows_are_disjoint"] = False
        remarks = document["guarantee"]["remarks"]
        document["guarantee"]["remarks"] = [one for one in remarks if one["code"] != "rows-declared-disjoint"]

    def half_silent(document: Any) -> None:
        document["guarantee"]["remarks"].pop()

    def false(document: Any) -> None:
        document["schema"]["dropped_totals"] = 3

    for change, said in (
        (silent, "mean a total"),
        (half_silent, "what the schema says"),
        (false, "what the schema says"),
    ):
        shutil.copytree(tmp_path / "declared", tmp_path / "edited")
        resealed(tmp_path / "edited", change)
        assert any(said in problem for problem in dc.verify(tmp_path / "edited").problems)
        shutil.rmtree(tmp_path / "edited")


def test_a_kept_sum_is_about_the_rows_that_stay() -> None:
    table = dc.table(pa.table({"k": ["z", "Total", "a"], "n": [5, 12, 7]}), "n", "k", drop_totals=True)
    out = dc.release(table, 1, keep=[dc.sums([[1, 0]])])
    assert out.table.column("k").to_pylist() == ["a", "z"]
    assert np.asarray(out.counts)[1] == 5


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
    from discreet.io.totals import MAYBE

    assert (
        not pa.compute.match_substring_regex(pa.array(["New York 12-ab", "Kiskunhalas", "ASKO"]), MAYBE)
        .to_numpy(zero_copy_only=False)
        .any()
    )


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary(5), pa.binary_view()])
def test_bytes_are_no_keys(kind: pa.DataType) -> None:
    frame = pa.table({"k": pa.array([b"Total", b"Beta1"], kind), "n": [3, 1]})
    with pytest.raises(BadInput, match="Write them as text"):
        dc.table(frame, "n", keys=["k"])
    with pytest.raises(BadInput, match="Write them as text"):
        dc.table(pa.table({"k": ["Alpha", "Beta1"], "n": [3, 1]}), "n", keys=["k"], universe=frame)


def test_views_of_text_are_text(tmp_path: Path) -> None:
    for keys in (["Total", "b", "a"], ["c", "b", "a"]):
        frame = pa.table({"k": pa.array(keys, pa.string_view()), "n": [3, 1, 2]})
        try:
            pq.write_table(frame, tmp_path / "t.parquet")
        except pa.ArrowNotImplementedError:  # before Arrow 19 there are no such files
            return
        if "Total" in keys:
            with pytest.raises(BadInput, match="mean a total"):
                dc.read_table(tmp_path / "t.parquet", "n", keys=["k"])
            continue
        table = dc.read_table(tmp_path / "t.parquet", "n", keys=["k"])
        dc.release(table, epsilon=1, mechanism="geometric", max_count=9).save(tmp_path / "out")
        assert dc.verify(tmp_path / "out").valid


def test_a_bound_that_came_with_a_file_does_not_answer_for_totals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was counted without them."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    people = pa.table({"p": [1, 1, 2, 3], "area": ["A", "B", "A", "B"]})
    write_counted(
        dc.count(people, by="area", universe={"area": ["A", "B"]}, person="p", bound=2), tmp_path / "c.parquet"
    )
    frame = pq.read_table(tmp_path / "c.parquet")
    total = pa.table({"area": ["Total"], "count": [4]}).cast(frame.schema)
    pq.write_table(pa.concat_tables([frame, total]), tmp_path / "c.parquet")
    with pytest.raises(BadInput, match="mean a total"):
        dc.read_table(tmp_path / "c.parquet", "count")
    assert dc.read_table(tmp_path / "c.parquet", "count", contributions=4).schema.contributions == 4


def test_words_are_known_whatever_version_of_arrow_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to version 20 it took letters apart where it was asked to compose them: no word with an accent was known."""

    def apart(texts: Any, form: str) -> Any:
        return pa.array([unicodedata.normalize("NFKD", text) for text in texts.to_pylist()])

    monkeypatch.setattr("pyarrow.compute.utf8_normalize", apart)
    assert flags(["YHTEENSÄ", "Tous âges", "Båda kön", "Total", "Turku"]) == [True, True, True, True, False]


def test_a_column_without_a_suspect_is_not_read_for_totals(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cheap test is true of whatever means a total: where nothing passes it there is nothing to look at."""
    from discreet.io import totals

    monkeypatch.setattr(totals, "means_total", lambda _: pytest.fail("asked for nothing"))
    assert not totals.rows_of_totals(pa.table({"place": ["qx", "qy"]})).any()
