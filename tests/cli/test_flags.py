"""A flag that takes one value stands once; lists may be added to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer

import discreet as dc
from discreet.cli.flags import flags_of
from discreet.options import options_of
from discreet.spec.values import LedgerSpec, TableSpec
from discreet.ways import ways_by_keyword
from tests.cli.test_commands import run  # noqa: F401

RELEASE = ("release", "table.csv", "--count", "n", "--max-count", "6", "--out", "out")


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        ((*RELEASE, "--epsilon", "1", "--epsilon", "2"), "--epsilon"),
        ((*RELEASE, "--epsilon", "1", "--epsilon", "1"), "--epsilon"),
        ((*RELEASE, "--epsilon=1", "--epsilon", "2"), "--epsilon"),
        ((*RELEASE, "--epsilon", "1", "--max-count", "9"), "--max-count"),
        (("design", "--max-count", "3", "--epsilon", "1", "-o", "a.json", "-o", "b.json"), "-o"),
        (("ledger", "create", "l.db", "--dataset", "a", "--epsilon", "1", "--dataset", "b"), "--dataset"),
        (("verify", "out", "--digest", "a", "--digest", "b"), "--digest"),
    ],
)
def test_given_twice_is_refused(run: Any, words: tuple[str, ...], flag: str, tmp_path: Path) -> None:  # noqa: F811
    before = sorted(tmp_path.iterdir())
    done = run(*words)
    assert done.status == 2 and "more than once" in done.err and flag in done.err and done.out == ""
    assert sorted(tmp_path.iterdir()) == before


JUDGED: dict[str, tuple[str, ...]] = {  # commands that no rho can be given to
    "design": ("--max-count", "3"),
    "certify": ("m.json",),
    "noise": ("--truth", "1/2", "--support", "3"),
    "compare": ("--max-count", "3"),
}


@pytest.mark.parametrize("name", JUDGED)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--rho 1", "only Gaussian noise is calibrated by rho"),
        ("--epsilon 1 --rho 1", "--epsilon and --rho were given together. Give exactly one of --epsilon, --alpha and"),
        ("--rho 1 --delta 0.1", "rho stands alone, without a delta"),
        ("--epsilon 1 --delta 2", "it must be at least 0 and below 1"),
    ],
)
def test_what_cannot_be_taken_is_refused_as_everywhere(run: Any, name: str, words: str, said: str) -> None:  # noqa: F811
    Path("m.json").write_text("[[0.6, 0.4], [0.4, 0.6]]")
    done = run(name, *JUDGED[name], *words.split())
    assert done.status == 2 and said in done.err and done.out == ""
    assert "--rho" not in run(name, "--help").out


def test_lists_may_be_added_to_and_a_value_may_look_like_a_flag(run: Any) -> None:  # noqa: F811
    done = run("release", "table.csv", "--count", "n", "--epsilon", "1", "--keep", "total", "--keep", "sum:place=p000",
               "--out", "--epsilon")  # fmt: skip
    assert done.status == 0, done.err
    assert run("verify", "--", "--epsilon").status == 0


def test_the_published_columns_are_said_on_stderr(run: Any, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "t.csv").write_text("place,secret,n\nTotal,1,3\na,2,1\nb,3,2\n")
    done = run("release", "t.csv", "--count", "n", "--keys", "place", "--drop-totals", "--epsilon", "1", "--out", "out",
               "--json")  # fmt: skip
    assert done.status == 0
    assert done.err == (
        "Columns that will be published: 'place' as they are, and 'n' with noise.\n"
        "Rows left out because their keys mean a total: 1.\n"
    )
    assert "Published columns: place," in (tmp_path / "out" / "report.html").read_text()


def test_who_publishes_can_be_said_on_the_command_line(run: Any, tmp_path: Path) -> None:  # noqa: F811
    words = (
        "--title",
        "Cases",
        "--source",
        "registry",
        "--contact",
        "a@b.c",
        "--licence",
        "CC0",
        "--report-note",
        "odd",
    )
    done = run(*RELEASE, "--epsilon", "1", *words, "--write-spec", "again.toml")
    assert done.status == 0, done.err
    about = json.loads((tmp_path / "out" / "release.json").read_text())["about"]
    assert about == {"title": "Cases", "source": "registry", "contact": "a@b.c", "licence": "CC0", "note": "odd"}
    assert dc.read_spec(tmp_path / "again.toml").about == dc.About(**about)
    assert run(*RELEASE[:-1], "silent", "--epsilon", "1").status == 0
    assert set(json.loads((tmp_path / "silent" / "release.json").read_text())["about"].values()) == {None}


FLAGGED = ("release", "plan", "evaluate", "diagnose", "sample_noise", "distribution")


@pytest.mark.parametrize("name", FLAGGED)
def test_flags_are_the_options_of_the_values_they_fill(name: str) -> None:
    """Name, kind and help of every flag that is an option stand in one place."""
    from importlib import import_module

    from typer.main import get_command

    app = typer.Typer()
    app.command()(import_module(f"discreet.cli.{name}").run)
    known = flags_of(TableSpec, LedgerSpec, *ways_by_keyword())
    own = {"distribution": {"max_count"}}.get(name, set())  # of no way: it is an option of the distribution itself
    shared = [flag for flag in get_command(app).params if flag.name in known and flag.name not in own]
    assert {"count", "keys"} <= {flag.name for flag in shared}
    for flag in shared:
        option: Any = known[str(flag.name)][0]
        helps = [one.help for kind in (TableSpec, LedgerSpec, *ways_by_keyword())
                 for field, (one, _) in options_of(kind).items() if field == flag.name]  # fmt: skip
        assert flag.opts == option.flag_of(flag.name).split("/")[:1] and flag.metavar == option.metavar
        assert any(str(flag.help).startswith(text) for text in helps), flag.name  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", ["sample-noise", "diagnose"])
def test_noise_without_a_name_on_the_private_side(run: Any, command: str) -> None:  # noqa: F811
    """As in a release: rho means Gaussian noise; noise that is pure, named or not, refuses a delta."""
    words = (command, "--shape", "3,3", "--keep", "total", "--json")
    words += ("-o", "noise.csv") if command == "sample-noise" else ("--runs", "20")
    for privacy in (("--rho", "1"), ("--law", "gaussian", "--epsilon", "1", "--delta", "0.01"), ("--epsilon", "1")):
        done = run(*words, *privacy)
        assert done.status == 0, done.err
    for law in ((), ("--law", "l1")):
        done = run(*words, *law, "--epsilon", "1", "--delta", "0.01")
        assert done.status == 2 and "a delta would be spent for nothing" in done.err
    done = run(*words, "--law", "l3", "--epsilon", "1")
    assert done.status == 2 and "Did you mean" in done.err
