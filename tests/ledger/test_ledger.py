from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import BadInput, DiscreetError, OverBudget
from discreet.ledger import Amount, Spending, ledger
from discreet.ledger.address import address_of, mask
from discreet.ledger.documents import kept_table
from discreet.ledger.spending import amount_of, charge
from discreet.numbers import Epsilon
from discreet.privacy import Approximate, Concentrated, Loss, Pure
from discreet.record.release import LedgerEntry
from tests.shell import Done, shell


def test_a_budget_is_spent_and_then_refused(url: str) -> None:
    book = ledger(url)
    book.create("people", epsilon="1")
    for _ in range(10):
        kept = Spending(Pure(0.1), mechanism="m", discloses=("the total",), accept_disclosure=True)
        after = book.spend("people", kept)
    assert after.left.epsilon == 0  # ten times one tenth is one, exactly
    with pytest.raises(
        OverBudget, match=r"costs epsilon = 0\.000001 .*removed.* epsilon = 1 is spent and epsilon = 0 is left"
    ) as caught:
        book.spend("people", Spending(Pure(Fraction(1, 10**6))))
    assert caught.value.exit_status == 1
    assert caught.value.values == {
        "cost": {"epsilon": "0.000001", "delta": "0"},
        "spent": {"epsilon": "1", "delta": "0"},
        "left": {"epsilon": "0", "delta": "0"},
        "budget": {"epsilon": "1", "delta": "0"},
    }
    assert len(book.history("people")) == 10
    assert "published exactly: the total" in book.status("people").sentence


def test_budgets_of_several_data_sets_stay_apart(url: str) -> None:
    book = ledger(url)
    book.create("people", epsilon=1, delta="1e-6")
    book.create("houses", rho="1/2")
    book.spend("people", Spending(Approximate(Fraction(1, 3), Fraction(1, 10**7))))
    book.spend("houses", Spending(Pure(Fraction(1, 2))))  # a pure 1/2 costs 1/8 of rho
    book.spend("houses", Spending(Concentrated(Fraction(1, 8))))
    people, houses = book.status()
    assert (people.dataset, people.left) == ("people", Amount(Fraction(2, 3), Fraction(9, 10**7)))
    assert houses.left == Amount(rho=Fraction(1, 4))
    assert people.composition.startswith("basic composition")
    assert houses.composition.startswith("zero-concentrated composition")
    assert [entry.dataset for entry in book.history()] == ["people", "houses", "houses"]
    assert json.loads(json.dumps(book.export()))["history"][1]["charged"] == {"rho": "0.125"}


def test_delta_alone_can_exceed_the_budget(sqlite_url: str) -> None:
    book = ledger(sqlite_url)
    book.create("people", epsilon=10, delta="1e-9")
    with pytest.raises(OverBudget):
        book.spend("people", Spending(Approximate(1, Fraction(2, 10**9))))


def test_refused_spendings_leave_no_trace(url: str) -> None:
    book = ledger(url)
    book.create("people", epsilon=1)
    with pytest.raises(OverBudget):
        book.spend("people", Spending(Pure(2)))
    with pytest.raises(BadInput, match="counted in rho"):
        book.spend("people", Spending(Concentrated(Fraction(1, 100))))
    with pytest.raises(BadInput, match="pure"):
        book.spend("people", Spending(Approximate(Fraction(1, 100), Fraction(1, 100))))
    assert book.history() == ()
    assert book.status("people").spent == Amount(Fraction(0))


def test_an_epsilon_and_delta_cannot_be_counted_in_rho(sqlite_url: str) -> None:
    ledger(sqlite_url).create("people", rho=1)
    with pytest.raises(BadInput, match=r"cannot be counted in rho\. Ask for the release in the units of the budget"):
        ledger(sqlite_url).spend("people", Spending(Approximate(Fraction(1, 10), Fraction(1, 10**9))))


@pytest.mark.parametrize("table", ["discreet_ledger", "discreet_chain", "discreet_documents"])
@pytest.mark.parametrize(
    "change", ["DELETE FROM {table}", "UPDATE {table} SET {column} = {column}", "TRUNCATE {table} CASCADE"]
)
def test_the_database_itself_refuses_changes(url: str, table: str, change: str) -> None:
    from sqlalchemy.exc import DBAPIError

    book = ledger(url)
    book.create("people", epsilon=1)
    kept = kept_table("n", {"town": ["a", "b"]}, (dc.total(),), 2)  # a document, so that every table has a row
    book.spend("people", Spending(Pure(Fraction(1, 2)), kept=kept))
    if "TRUNCATE" in change and not url.startswith("postgresql"):
        return  # SQLite has no such statement
    column = {"discreet_ledger": "version", "discreet_chain": "content", "discreet_documents": "content"}[table]
    with pytest.raises(DBAPIError, match="append-only"), book._engine.begin() as connection:
        connection.exec_driver_sql(change.format(table=table, column=column))
    assert book.status("people").spent.epsilon == Fraction(1, 2)


def test_a_budget_is_never_changed(url: str) -> None:
    ledger(url).create("people", epsilon=1)
    with pytest.raises(BadInput, match="already has one"):
        ledger(url).create("people", epsilon=100)
    assert ledger(url).status("people").budget.epsilon == 1


def test_unknown_data_set(url: str) -> None:
    book = ledger(url)
    book.create("people", epsilon=1)
    for call in (lambda: book.status("peple"), lambda: book.recorder("peple"), lambda: book.history("peple")):
        with pytest.raises(BadInput, match=r"knows no data set 'peple'\. Did you mean 'people'"):
            call()
    with pytest.raises(BadInput, match="Did you mean 'people'"):
        book.spend("peple", Spending(Pure(1)))


def test_recorder_records(sqlite_url: str) -> None:
    book = ledger(sqlite_url)
    book.create("people", epsilon=1)
    record = book.recorder("people")
    entry = record(Spending(Pure(1), note="abc"))
    assert entry == LedgerEntry("people", 1, book.status("people").head, entry.token)
    assert [(one.spending.note, one.hash) for one in book.history()] == [("abc", entry.hash)]
    with pytest.raises(OverBudget):
        record(Spending(Pure(1)))


@pytest.mark.parametrize(("version", "advice"), [(1, r"Use discreet 0\.1"), (3, "Use the discreet that made it")])
def test_a_ledger_of_another_format_is_refused_by_name(url: str, version: int, advice: str) -> None:
    book = ledger(url)
    book.create("people", epsilon=1)
    with book._engine.begin() as connection:
        if url.startswith("postgresql"):
            connection.exec_driver_sql("ALTER TABLE discreet_ledger DISABLE TRIGGER ALL")
        else:
            connection.exec_driver_sql("DROP TRIGGER discreet_ledger_no_update")
        connection.exec_driver_sql(f"UPDATE discreet_ledger SET version = {version}")
    for call in (lambda: book.spend("people", Spending(Pure(1))), book.status, lambda: book.create("x", epsilon=1)):
        with pytest.raises(BadInput, match=rf"has format {version}; this discreet reads format 4\. {advice}"):
            call()


def test_a_ledger_as_version_one_made_it_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "old.db") as old:
        old.execute("CREATE TABLE discreet_ledger (version INTEGER NOT NULL)")
        old.execute("INSERT INTO discreet_ledger VALUES (1)")
        old.execute("CREATE TABLE discreet_datasets (name TEXT PRIMARY KEY, epsilon TEXT, delta TEXT, rho TEXT)")
        old.execute("INSERT INTO discreet_datasets VALUES ('people', '1', '0', NULL)")
    before = (tmp_path / "old.db").read_bytes()
    for call in (lambda b: b.status("people"), lambda b: b.create("more", epsilon=1)):
        with pytest.raises(BadInput, match=r"has format 1; this discreet reads format 4\. Use discreet 0\.1"):
            call(ledger(tmp_path / "old.db"))
    assert (tmp_path / "old.db").read_bytes() == before


def test_no_ledger_there(tmp_path: Path, postgresql_url: str) -> None:
    path = tmp_path / "none.db"
    with pytest.raises(BadInput, match=r"there is no ledger at .*none\.db\. Make one with `discreet ledger create`"):
        ledger(path).status()
    assert not path.exists()
    with pytest.raises(BadInput, match="there is no ledger at postgresql://"):
        ledger(postgresql_url).status()
    with pytest.raises(BadInput, match="No such file or directory"):
        ledger(tmp_path / "no" / "folder.db").create("people", epsilon=1)


def test_some_other_file(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, only some words, and enough of them to fill a header " * 20)
    with pytest.raises(BadInput, match="is not a ledger"):
        ledger(path).create("people", epsilon=1)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE something (x)")
    for call in (lambda b: b.status(), lambda b: b.create("people", epsilon=1)):
        with pytest.raises(BadInput, match=r"there is no ledger at .* another program .*'something'"):
            call(ledger(other))
    with sqlite3.connect(other) as connection:
        assert [row[0] for row in connection.execute("SELECT name FROM sqlite_master")] == ["something"]


def test_a_locked_file(sqlite_url: str) -> None:
    book = ledger(sqlite_url, wait=0.1)
    book.create("people", epsilon=1)
    with sqlite3.connect(sqlite_url, isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(BadInput, match=r"another process holds the ledger .* Nothing was recorded; try again"):
            book.spend("people", Spending(Pure(1)))
        other.execute("ROLLBACK")
    assert book.history() == ()


def test_a_locked_row(postgresql_url: str) -> None:
    book = ledger(postgresql_url, wait=0.1)
    book.create("people", epsilon=1)
    with book._engine.begin() as other:
        other.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('discreet_ledger'))")
        with pytest.raises(BadInput, match="another process holds the ledger"):
            book.spend("people", Spending(Pure(1)))
    assert book.history() == ()


def test_a_read_only_file(sqlite_url: str) -> None:
    ledger(sqlite_url).create("people", epsilon=1)
    read_only = ledger(f"sqlite:///file:{sqlite_url}?mode=ro&uri=true")
    assert read_only.status("people").budget.epsilon == 1
    with pytest.raises(BadInput, match="cannot be written"):
        read_only.spend("people", Spending(Pure(1)))


def test_read_only_rights(postgresql_url: str) -> None:
    book = ledger(postgresql_url)
    book.create("people", epsilon=1)
    with book._engine.begin() as connection:
        connection.exec_driver_sql("CREATE ROLE reader LOGIN")
        connection.exec_driver_sql("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    try:
        reader = ledger(postgresql_url.replace("postgres:geheim", "reader"))
        assert reader.status("people").budget.epsilon == 1
        with pytest.raises(BadInput, match="cannot be written: permission denied"):
            reader.spend("people", Spending(Pure(1)))
    finally:
        with book._engine.begin() as connection:
            connection.exec_driver_sql("DROP OWNED BY reader")
            connection.exec_driver_sql("DROP ROLE reader")


def test_passwords_are_shown_nowhere(postgresql_url: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for url in (
        f"postgresql://me:top%20secret@127.0.0.1:{port}/x",
        f"postgresql://me@127.0.0.1:{port}/x?password=top%20secret",
        "postgresql://me:top%20secret@127.0.0.1:notaport/x",
        "mysql://me:top%20secret@localhost/x",
    ):
        with pytest.raises(DiscreetError) as caught:
            ledger(url).status()
        chain: BaseException | None = caught.value
        while chain is not None:
            assert "secret" not in str(chain) + repr(chain)
            chain = chain.__cause__
    book = ledger(postgresql_url)
    book.create("people", epsilon=1)
    assert "geheim" not in repr(book) + repr(book.address) + json.dumps(book.export()) + repr(book._engine)


def test_mask_even_where_the_url_is_broken() -> None:
    assert mask("postgresql://u:p@ss:w@h/db") == "postgresql://u:***@h/db"
    assert mask("x://h/db?user=u&PASSWORD=p&a=1") == "x://h/db?user=u&PASSWORD=***&a=1"


def test_unreachable(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be reached"):
        ledger(f"postgresql://postgres@/x?host={tmp_path}").status()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sqlite://", "would be forgotten"),
        ("sqlite:///:memory:", "would be forgotten"),
        (":memory:", "would be forgotten"),
        ("file::memory:", "would be forgotten"),
        ("file::memory:?cache=shared", "settings of its own"),
        ("sqlite:///file::memory:", "would be forgotten"),
        ("sqlite:///file:%3Amemory%3A", "would be forgotten"),
        ("sqlite:///file:", "would be forgotten"),
        ("sqlite:///file:x.db?mode=memory&uri=true", "would be forgotten"),
        ("sqlite:///x.db?mode=memory", "would be forgotten"),
        ("sqlite:///file:x.db?cache=shared&uri=true", "'cache' could open it without the locks"),
        ("sqlite:///file:x.db?nolock=1&uri=true", "'nolock' could open it without the locks"),
        ("sqlite:///file:x.db?immutable=1&mode=ro", "'immutable' could open it without the locks"),
        ("sqlite:///file:x.db?vfs=unix-none", "'vfs' could open it without the locks"),
        ("sqlite:///file:x.db?mode=rwc", "without the locks"),
        ("sqlite:///x.db?check_same_thread=false", "without the locks"),
        ("file:x.db?nolock=1", "settings of its own"),
        ("file://elsewhere/x.db", "on the machine 'elsewhere'"),
        ("sqlite+aiosqlite:///x.db", "the driver 'sqlite\\+aiosqlite'"),
        ("", "an empty path"),
        ("  ", "an empty path"),
        ("oracle://h/x", "cannot be kept in 'oracle'"),
        ("://", "not a path or a database URL"),
    ],
)
def test_addresses_that_cannot_be_used(url: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        address_of(url)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, r"none was given\. Give exactly one of epsilon, alpha and rho"),
        ({"epsilon": 1, "rho": 1}, r"given together\. Give exactly one of epsilon, alpha and rho"),
        ({"epsilon": 0}, "greater than zero"),
        ({"rho": "-1"}, "greater than zero"),
        ({"epsilon": 1, "delta": 1}, "below 1"),
        ({"rho": 1, "delta": "0.1"}, "rho stands alone"),
    ],
)
def test_budgets_that_cannot_be(arguments: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=words):
        ledger(tmp_path / "l.db").create("people", **arguments)
    assert list(tmp_path.iterdir()) == []


def test_epsilon_given_as_alpha_is_rounded_up() -> None:
    spent = amount_of(Pure.of_alpha("1/2")).epsilon
    assert spent is not None
    assert not Epsilon(value=spent).compare(Fraction(2), Fraction(1)) > 0  # e^spent >= 2
    assert Decimal("0.693147180559945") < Decimal(spent.numerator) / spent.denominator < Decimal("0.693147180559947")


fractions = st.fractions(min_value=Fraction(1, 1000), max_value=3, max_denominator=1000)
small = st.one_of(st.just(Fraction(0)), st.fractions(min_value=0, max_value=Fraction(1, 2), max_denominator=50))
losses = st.one_of(
    st.builds(Pure, fractions),
    st.builds(Approximate, fractions, small.filter(bool)),
    st.builds(Concentrated, fractions),
)
budgets = st.one_of(
    st.builds(Amount, epsilon=fractions, delta=small),
    st.builds(Amount, rho=fractions),
)


@settings(max_examples=25, deadline=None)
@given(budget=budgets, asked=st.lists(losses, max_size=6))
def test_accepts_exactly_what_fits(budget: Amount, asked: list[Loss], tmp_path_factory: pytest.TempPathFactory) -> None:
    """The specification: keep a list, add it up, compare."""
    book = ledger(tmp_path_factory.mktemp("ledger") / "l.db")
    book.create("people", epsilon=budget.epsilon, delta=budget.delta, rho=budget.rho)
    epsilon, delta, rho, kept = Fraction(0), Fraction(0), Fraction(0), 0
    for loss in asked:
        spending = Amount(None if loss.epsilon is None else loss.epsilon.value, loss.delta, loss.rho)
        if budget.rho is not None:
            cost = spending.rho if spending.rho is not None else spending.epsilon**2 / 2 if not spending.delta else None
            fits = cost is not None and rho + cost <= budget.rho
            rho += cost if fits else 0
        else:
            right_unit = spending.rho is None and (budget.delta > 0 or not spending.delta)
            fits = (
                right_unit and epsilon + spending.epsilon <= budget.epsilon and delta + spending.delta <= budget.delta
            )
            epsilon, delta = (epsilon + spending.epsilon, delta + spending.delta) if fits else (epsilon, delta)
        kept += fits
        try:
            book.spend("people", Spending(loss))
            assert fits
        except DiscreetError:
            assert not fits
    spent = book.status("people").spent
    assert (spent.epsilon or 0, spent.delta, spent.rho or 0) == (epsilon, delta, rho)
    assert len(book.history()) == kept


def test_charge_of_a_pure_epsilon_in_rho() -> None:
    # an epsilon-private mechanism is (epsilon^2/2)-zCDP: Bun and Steinke 2016, proposition 1.4
    spending = Spending(Pure(Fraction(3, 5)))
    assert charge(Amount(rho=Fraction(1)), "added-or-removed", spending) == Amount(rho=Fraction(9, 50))
    assert charge(Amount(rho=Fraction(1)), "moved", spending) == Amount(rho=Fraction(18, 25))


def test_importing_the_ledger_is_light() -> None:
    code = "import sys, discreet.ledger; assert 'sqlalchemy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def run(*words: str) -> Done:
    return shell("ledger", *words)


def test_from_the_shell(sqlite_url: str, tmp_path: Path) -> None:
    made = run("create", sqlite_url, "--dataset", "people", "--epsilon", "1/3", "--json")
    assert made.returncode == 0, made.stderr
    value = json.loads(made.stdout)
    assert value["dataset"] == "people"
    assert value["budget"] == value["left"] == {"epsilon": "1/3", "delta": "0"}
    ledger(sqlite_url).spend("people", Spending(Pure(Fraction(1, 6)), note="first"))
    assert json.loads(run("status", sqlite_url, "--json").stdout)["datasets"][0]["left"]["epsilon"] == "1/6"
    assert json.loads(run("status", sqlite_url, "--dataset", "people", "--json").stdout)["spent"]["epsilon"] == "1/6"
    assert "first" in run("history", sqlite_url).stdout
    assert run("export", sqlite_url, "-o", str(tmp_path / "all.json")).returncode == 0
    assert json.loads((tmp_path / "all.json").read_text())["history"][0]["note"] == "first"
    wrong = run("status", sqlite_url, "--dataset", "peopel", "--json")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "Did you mean 'people'?" in wrong.stderr
