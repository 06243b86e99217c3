"""Append-only in fact: what the database refuses, and what the chain shows where the guards were taken away."""

from __future__ import annotations

import json
import random
import sqlite3
import unicodedata
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import BadInput
from discreet.ledger import Spending, book, ledger, names
from discreet.ledger.accounts import charged, opened
from discreet.ledger.chain import START, Broken, Line, checked, compact, hash_of, next_line
from discreet.ledger.disclosure import Disclosure
from discreet.ledger.spending import Amount
from discreet.ledger.tables import chain
from discreet.privacy import Pure
from tests.clock import within

HALF = Spending(Pure(Fraction(1, 2)))


def spent_twice(url: str) -> Any:
    made = ledger(url)
    made.create("people", epsilon=2)
    made.spend("people", HALF)
    made.spend("people", HALF)
    return made


REWRITES = [
    f"INSERT {{replace}} INTO discreet_chain SELECT {columns} FROM discreet_chain {where} {{update}}"
    for columns, where in (
        ("2, '{{}}', previous, hash", "WHERE number = 2"),
        ("1, '{{}}', previous, hash", "WHERE number = 1"),
        ("number, content, previous, hash", "WHERE number > 0"),
    )
] + [
    "INSERT INTO discreet_chain VALUES (9, '{{}}', 'x', 'y')",
    "INSERT INTO discreet_chain VALUES (4, '{{}}', 'x', 'y')",
    "INSERT INTO discreet_chain VALUES (0, '{{}}', 'x', 'y')",
    "INSERT INTO discreet_chain VALUES (-1, '{{}}', 'x', 'y')",
    "INSERT INTO discreet_ledger VALUES (2)",
    "INSERT {replace} INTO discreet_documents VALUES ('kept', 'other') {update_document}",
]


@pytest.mark.parametrize("rewrite", REWRITES)
def test_the_database_refuses_what_would_rewrite_a_line(url: str, rewrite: str) -> None:
    from sqlalchemy.exc import DBAPIError

    made, lite = spent_twice(url), not url.startswith("postgresql")
    with made._engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO discreet_documents VALUES ('kept', 'as it was')")
    words = {
        "replace": "OR REPLACE" if lite else "",
        "update": "" if lite else "ON CONFLICT (number) DO UPDATE SET content = EXCLUDED.content",
        "update_document": "" if lite else "ON CONFLICT (digest) DO UPDATE SET content = EXCLUDED.content",
    }
    if "SELECT" in rewrite and lite:  # after INSERT .. SELECT, SQLite would take ON CONFLICT for a join
        words["update"] = ""
    head = made.status("people").head
    with pytest.raises(DBAPIError, match="append-only"), made._engine.begin() as connection:
        connection.exec_driver_sql(rewrite.format(**words))
    assert made.status("people").head == head and made.status("people").spent.epsilon == 1
    with made._engine.begin() as connection:
        assert connection.exec_driver_sql("SELECT content FROM discreet_documents").scalar_one() == "as it was"


def test_lines_can_be_added_to_the_database_in_order_only(url: str) -> None:
    """The guard itself, tripped and passed: a line that follows is taken."""
    made = spent_twice(url)
    with made._engine.begin() as connection:
        last = connection.execute(chain.select().order_by(chain.c.number.desc())).first()
        assert last is not None
        line = next_line(Line(*last), opened("more", "moved", Amount(Fraction(1)), "now"))
        connection.execute(chain.insert().values(**vars(line)))
    assert made.status("more").left.epsilon == 1


def tampered(url: str, *changes: str) -> None:
    """What somebody does who owns the file: take the guards away, change, and put the guards back."""
    with sqlite3.connect(url) as connection:
        guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            connection.execute(f"DROP TRIGGER {name}")
        for change in changes:
            connection.execute(change)
        for _, sql in guards:
            connection.execute(sql)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            ["UPDATE discreet_chain SET content = replace(content, '\"0.5\"', '\"0.1\"') WHERE number = 2"],
            "line 2 does not say",
        ),
        (
            ["UPDATE discreet_chain SET content = replace(content, '\"2\"', '\"99\"') WHERE number = 1"],
            "line 1 does not say",
        ),
        (["DELETE FROM discreet_chain WHERE number = 2"], "line 2 is missing"),
        (["DELETE FROM discreet_chain WHERE number = 1"], "line 1 is missing"),
        (
            ["DELETE FROM discreet_chain WHERE number = 2", "UPDATE discreet_chain SET number = 2 WHERE number = 3"],
            "line 2 does not follow",
        ),
        (["UPDATE discreet_chain SET hash = 'x' WHERE number = 3"], "line 3 does not say"),
        (["UPDATE discreet_chain SET previous = 'x' WHERE number = 3"], "line 3 does not follow"),
    ],
)
def test_a_broken_chain_is_refused_at_its_first_bad_line(sqlite_url: str, changes: list[str], words: str) -> None:
    made = spent_twice(sqlite_url)
    tampered(sqlite_url, *changes)
    calls = (
        made.status, made.history, made.export, lambda: made.spend("people", HALF), lambda: made.statement("people"),
        lambda: made.create("more", epsilon=1), lambda: made.recorder("people"),
        lambda: made.released("people", 1, "d"), lambda: made.holds("x"),
    )  # fmt: skip
    for call in calls:
        with pytest.raises(BadInput, match=f"was changed: its {words}"):
            call()


def test_a_chain_that_was_made_anew_is_told_by_an_old_head(sqlite_url: str) -> None:
    """Whoever rewrites every hash leaves a sound chain; a head that somebody kept is not in it."""
    made = spent_twice(sqlite_url)
    old = made.status("people").head
    made.spend("people", HALF)
    assert made.holds(old)
    tampered(sqlite_url, "DELETE FROM discreet_chain WHERE number > 2")
    assert made.status("people").spent.epsilon == Fraction(1, 2), "the rest is a sound chain"
    assert not made.holds(old)


def test_lost_guards_are_refused(url: str) -> None:
    made = spent_twice(url)
    with made._engine.begin() as connection:
        if url.startswith("postgresql"):
            connection.exec_driver_sql("ALTER TABLE discreet_chain DISABLE TRIGGER discreet_chain_in_order")
        else:
            connection.exec_driver_sql("DROP TRIGGER discreet_chain_in_order")
    with pytest.raises(BadInput, match="lost the triggers that guard discreet_chain"):
        made.spend("people", HALF)


def lines_of(values: list[int]) -> list[Line]:
    found: list[Line] = []
    for value in values:
        found.append(next_line(found[-1] if found else None, {"value": value}))
    return found


@given(st.lists(st.integers(), min_size=1, max_size=8), st.data())
def test_any_change_of_any_line_breaks_the_chain_there(values: list[int], data: st.DataObject) -> None:
    lines = lines_of(values)
    assert checked(lines) == tuple(lines)
    place = data.draw(st.integers(0, len(lines) - 1))
    line = lines[place]
    other = data.draw(st.integers().filter(lambda value: value != values[place]))
    forged = Line(line.number, compact({"value": other}), line.previous, line.hash)
    with pytest.raises(Broken) as caught:
        checked([*lines[:place], forged, *lines[place + 1 :]])
    assert caught.value.number == place + 1
    rehashed = Line(line.number, forged.content, line.previous, hash_of(line.previous, line.number, forged.content))
    if place + 1 < len(lines):
        with pytest.raises(Broken) as caught:
            checked([*lines[:place], rehashed, *lines[place + 1 :]])
        assert caught.value.number == place + 2


def test_what_nobody_could_have_written_breaks_the_chain(sqlite_url: str) -> None:
    made = ledger(sqlite_url)
    made.create("people", epsilon=2)
    for value in ({"kind": "other", "dataset": "people"}, {"kind": "released", "dataset": "people", "number": 1},
                  charged("people", 5, HALF, Amount(Fraction(0)), Disclosure(), None, None, "now"), [], 7,
                  opened("people", "moved", Amount(Fraction(9)), "now")):  # fmt: skip
        with sqlite3.connect(sqlite_url) as connection:
            last = Line(*connection.execute("SELECT * FROM discreet_chain ORDER BY number").fetchall()[-1])
            line = next_line(last, value)
            connection.execute("INSERT INTO discreet_chain VALUES (?, ?, ?, ?)", tuple(vars(line).values()))
        with pytest.raises(BadInput, match="line 2 cannot be read"):
            made.status()
        tampered(sqlite_url, "DELETE FROM discreet_chain WHERE number > 1")
    assert made.status("people").left.epsilon == 2


def test_a_clock_that_runs_backwards_changes_no_order(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made, hours = ledger(sqlite_url), iter(range(20, 0, -1))
    monkeypatch.setattr(book, "_now", lambda: f"2026-01-01T{next(hours):02d}:00:00+00:00")
    made.create("b", epsilon=9)
    made.create("a", epsilon=9)
    for name in ("b", "a", "b"):
        made.spend(name, Spending(Pure(1), note=name))
    assert [(entry.dataset, entry.number) for entry in made.history()] == [("b", 1), ("a", 1), ("b", 2)]
    assert [one.dataset for one in made.status()] == ["b", "a"]
    recorded = [entry.recorded for entry in made.history()]
    assert recorded == sorted(recorded, reverse=True)


def test_ten_thousand_entries_are_opened_in_a_moment(sqlite_url: str) -> None:
    made = ledger(sqlite_url)
    made.create("people", epsilon=1000)
    cheap = Spending(Pure(Fraction(1, 100)))
    with sqlite3.connect(sqlite_url) as connection:
        last = Line(*connection.execute("SELECT * FROM discreet_chain").fetchone())
        value = charged("people", 0, cheap, Amount(Fraction(1, 100)), Disclosure(), None, None, "now")
        for number in range(1, 10_001):
            last = next_line(last, {**value, "number": number})
            connection.execute("INSERT INTO discreet_chain VALUES (?, ?, ?, ?)", tuple(vars(last).values()))
    with within(10):  # a sum of all lines for every line would take minutes
        statement = made.status("people")
    assert statement.spent.epsilon == 100 and statement.head == last.hash


def test_the_first_line_follows_from_nothing() -> None:
    assert next_line(None, {"a": 1}).previous == START
    assert json.loads(next_line(None, {"a": "\u200bé\ud800"}).content) == {"a": "\u200bé\ud800"}


LOOK_ALIKES = ["D", "ｄ", "𝐝", "ԁ"]


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_name_that_looks_like_another_is_refused(sqlite_url: str, name: str) -> None:
    made = ledger(sqlite_url)
    made.create("d", epsilon=1)
    with pytest.raises(BadInput, match="there is a data set 'd' already, which looks the same"):
        made.create(name, epsilon=100)
    for call in (lambda: made.status(name), lambda: made.spend(name, HALF), lambda: made.recorder(name)):
        with pytest.raises(BadInput, match=r"Did you mean 'd'\?"):
            call()
    assert [one.dataset for one in made.status()] == ["d"]


@pytest.mark.parametrize(
    "name",
    [
        "d\ufe0f",
        "d\u034f",
        "d\u3164",
        "d\u115f",
        "d\uffa0",
        "a\u2800b",
        "d\U000e0101",
        "d\u17b4",
        "d ",
        " d",
        "d\u200b",
        "\u200dd",
        "d\n",
        "d\0",
        "\ufeffd",
        "d\u202e",
        "",
        " ",
        "\u2028",
        "x" * 201,
    ],
)
def test_a_name_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="A budget for"):
        ledger(tmp_path / "l.db").create(name, epsilon=1)
    assert not (tmp_path / "l.db").exists()


@pytest.mark.parametrize(
    ("name", "other"),
    [("people1", "peoplel"), ("people1", "peopleI"), ("I", "l"), ("I", "i"), ("1", "|"), ("a-b", "a\u2010b"),
     ("a-b", "a\u2014b"), ("a-b", "a\u2212b"), ("it's", "it’s"), ("O", "0"), ("Ӏ", "l"), ("І", "l"), ("һ", "h"),
     ("HEALTH", "\u0397EALTH"), ("HOME", "HO\u039cE"), ("YEAR", "\u03a5EAR"), ("data", "ᴅᴀᴛᴀ"), ("SUM", "ꓢꓴꓟ"),
     ("noon", "ոօօո"), ("MAC", "ᎷᎪᏟ"), ("TAX", "ⲦⲀⲬ"), ("modern", "modem"), ("a/b", "a\u2215b"), ("a:b", "a\u2236b"),
     ("izmir", "İzmir"), ("izmir", "i\u0307zmir"), ("İzmir", "IZMIR"), ("cases", "c\u0227ses"),
     ("cases", "case\u0323s"), ("Köln", "Koln"), ("lodz", "łodz"), ("data", "đata"), ("data", "da\u093cta"),
     ("year 2", "year \u0968"),
     ("data", "ɗata"), ("cases", "cases\u0489"), ('d"', "d''"), ("31", "З1"), ("61", "б1"), ("d!", "d\u01c3"),
     ("d-1", "d\u4e001"), ("hall", "ha\u01c1"), ("d\u00a01", "d 1"), ("ｄ", "d")],
)  # fmt: skip
def test_signs_that_are_drawn_alike(sqlite_url: str, name: str, other: str) -> None:
    made = ledger(sqlite_url)
    made.create(name, epsilon=1)
    with pytest.raises(BadInput, match="looks the same"):
        made.create(other, epsilon=1)


@pytest.mark.parametrize(("name", "other"), [("mail", "mall"), ("a-b", "ab"), ("d1", "d2"), ("rows", "row")])
def test_names_that_differ_are_two(sqlite_url: str, name: str, other: str) -> None:
    made = ledger(sqlite_url)
    made.create(name, epsilon=1)
    made.create(other, epsilon=1)


@pytest.mark.parametrize("name", [
    "it\u2032s", "a\u00b7b", "a \u2022 b", "\u275bd\u275c", "a\u00a6b", "d\u02d9", "d 1\u02b9", "d\u02c7", "d 1\u064e",
    "d\u0345", "1\ua4f8", "\u062f\u0640\u0647",
])  # fmt: skip
def test_a_sign_that_is_on_no_keyboard_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="taken for another"):
        ledger(tmp_path / "l.db").create(name, epsilon=1)
    assert not (tmp_path / "l.db").exists()


@pytest.mark.parametrize("name", ["d 1", "d", "1", "d-1", "Ä"])
def test_no_mark_sign_or_space_makes_a_name_that_passes_for_another(name: str) -> None:
    """All of Unicode, at every place: whatever hangs on a letter, is not drawn, or is a sign that no keyboard has."""

    def passes(other: str) -> bool:
        try:
            names.checked_name(other, "a name")
            names.refuse_another(other, [name], "a name")
            names.refuse_mixed(other, "a name")
        except BadInput:
            return False
        return True

    every = (chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF)
    hidden = [one for one in every if (kind := unicodedata.category(one))[0] in "MCPS" or kind in ("Lm", "Zl", "Zp")]
    found = [one for one in hidden for place in range(len(name) + 1) if passes(name[:place] + one + name[place:])]
    usual = {part for one in found for part in unicodedata.normalize("NFKC", one)}
    assert len(hidden) > 5000 and "!" in usual, "what can be typed and seen makes another name"
    assert [ascii(one) for one in usual if not one.isascii() and unicodedata.category(one)[0] != "L"] == []
    assert [ascii(one) for one in usual if unicodedata.category(one) == "Lm"] == []


@pytest.mark.parametrize("name", [
    "Krankenhaus 2024", "Ärzte", "Hawai'i", "данные 2024", "東京", "カード", "人々", "ข้อมูล", "जनगणना 2021", "بيانات",
    "q\u0303", "שלום", "census-2020_v1.2 (final)", "한국", "Ελλάδα", "Việt Nam",
])  # fmt: skip
def test_names_in_any_one_script_are_taken(sqlite_url: str, name: str) -> None:
    ledger(sqlite_url).create(name, epsilon=1)
    assert [one.dataset for one in ledger(sqlite_url).status()] == [name]


def test_names_of_an_older_ledger_are_read(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule about names that grows stricter makes no ledger unreadable."""
    made = ledger(sqlite_url)
    made.create("Koln", epsilon=1)
    monkeypatch.setattr(names, "refuse_another", lambda *_: None)
    made.create("Köln", epsilon=1)
    monkeypatch.undo()
    assert [one.dataset for one in made.status()] == ["Koln", "Köln"]
    made.spend("Köln", HALF)


@pytest.mark.parametrize("name", ["d\u0430ta", "\u0394elta", "cas\u03b5s of flu", "Ꮓoo", "\u0562ird", "d\u06e5", "dー"])
def test_a_word_in_letters_of_two_alphabets_is_refused(tmp_path: Path, name: str) -> None:
    """Also where nothing looks like it yet: later something may."""
    with pytest.raises(BadInput, match="letters of several alphabets"):
        ledger(tmp_path / "l.db").create(name, epsilon=1)
    assert not (tmp_path / "l.db").exists()


@pytest.mark.parametrize("name", ["Αθήνα 2024", "μ-study", "Москва (Moscow)", "東京タワー", "한국 data", "Ørsted"])
def test_words_of_one_alphabet_each_are_fine(sqlite_url: str, name: str) -> None:
    assert ledger(sqlite_url).create(name, epsilon=1).dataset == name


def test_look_alikes_of_longer_names(sqlite_url: str) -> None:
    made = ledger(sqlite_url)
    made.create("cases of scarlet fever", epsilon=1)
    rng = random.Random(1)
    for _ in range(20):
        swapped = "".join({"a": "а", "c": "с", "e": "е", "o": "0", "s": "ѕ"}.get(letter, letter) if rng.random() < 0.7
                          else letter.upper() for letter in "cases of scarlet fever")  # fmt: skip
        if swapped != "cases of scarlet fever":
            with pytest.raises(BadInput, match="looks the same"):
                made.create(swapped, epsilon=1)
    with pytest.raises(BadInput, match="looks the same"):
        made.create("cases  of scarlet fever", epsilon=1)
    made.create("cases of measles", epsilon=1)


@pytest.mark.parametrize("sign", ["\u2019", "\u02bc", "\u07f4", "\u07f5", "\ua78b", "\ua78c"])
def test_what_is_taken_for_an_apostrophe(sqlite_url: str, sign: str) -> None:
    made = ledger(sqlite_url)
    made.create("children's cases", epsilon=1)
    with pytest.raises(BadInput, match="looks the same"):
        made.create(f"children{sign}s cases", epsilon=1)
