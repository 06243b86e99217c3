"""What all releases of a data set cost together, from the noise that the ledger knows of."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dc
from discreet.accounting.losses import together
from discreet.accounting.profiles import OfNoise, OfPrice, profile_of
from discreet.cli import main
from discreet.errors import BadInput
from discreet.laws import Gaussian, Geometric
from discreet.ledger import Spending, ledger
from discreet.ledger.checking import _differences
from discreet.ledger.exactly import LAWS
from discreet.mechanism import of_weights
from discreet.numbers import Epsilon
from discreet.privacy.values import Approximate, Pure

TABLE = dc.table(pa.table({"row": list("aabbcc"), "column": list("xyxyxy"), "n": [3, 1, 4, 1, 2, 0]}), "n", "all")
MILLIONTH = Fraction(1, 10**6)
MATRIX = [[6, 3, 1], [3, 4, 3], [1, 3, 6]]


def opened(tmp_path: Path, relation: Any = "added-or-removed", **budget: Any) -> dc.Ledger:
    book = ledger(tmp_path / "ledger.db")
    book.create("data", relation=relation, **(budget or {"epsilon": 100, "delta": "1/10"}))
    return book


def spend(book: dc.Ledger, *releases: dict[str, Any], table: dc.Table = TABLE) -> None:
    for options in releases:
        dc.release(table, ledger=book, dataset="data", **options)


def test_releases_count_by_their_own_noise(tmp_path: Path) -> None:
    """The default, noise by name, and a matrix of one's own, each as what one row goes through."""
    book = opened(tmp_path)
    matrix = [[Fraction(weight, 10) for weight in row] for row in MATRIX]
    plain, gaussian = {"alpha": "1/2"}, {"epsilon": "1/2", "delta": "1e-7", "mechanism": "discrete-gaussian"}
    spend(book, plain, {"alpha": "1/2", "mechanism": "geometric"}, {"epsilon": "1.1", "mechanism": matrix}, gaussian)
    found = book.exactly("data")
    noise = Gaussian.calibrated(Approximate("1/2", "1e-7"))
    own = profile_of(of_weights("own", MATRIX).form)
    assert own is not None
    parts = [*[OfNoise(Geometric(Fraction(2)))] * 2, own, OfNoise(noise)]
    assert found.epsilon == together(parts, MILLIONTH).epsilon(MILLIONTH)
    assert (found.by_law, found.by_price, found.grade) == (4, 0, "enclosed")
    assert found.epsilon is not None and found.basic.epsilon is not None and found.epsilon < found.basic.epsilon


def test_what_is_not_known_counts_by_its_price(tmp_path: Path) -> None:
    """Kept sums, two stages, people counted twice, and lines that hold no noise, as those of earlier versions."""
    book = opened(tmp_path)
    several = dc.table(pa.table({"k": ["a", "b"], "n": [1, 2]}), "n", contributions=2)
    spend(book, {"epsilon": 1, "keep": "total"}, {"epsilon": 1, "max_count": 5, "split": "0.3"})
    spend(book, {"epsilon": 1}, table=several)
    book.spend("data", Spending(Pure(1)))
    found = book.exactly("data", "1e-4")
    delta = Fraction(1, 10**4)
    prices = [OfPrice(Epsilon(value=entry.charged.epsilon)) for entry in book.history("data")]
    assert found.epsilon == min(together(prices, delta).epsilon(delta) or 0, found.basic.epsilon or 0)
    assert (found.by_law, found.by_price) == (0, 4)


def test_who_moves_is_in_two_rows(tmp_path: Path) -> None:
    book = opened(tmp_path, "moved")
    spend(book, {"alpha": "1/2", "mechanism": "geometric"})
    found = book.exactly("data", "1e-3")
    both = together([OfNoise(Geometric(Fraction(2)))] * 2, Fraction(1, 1000))
    assert found.epsilon == both.epsilon(Fraction(1, 1000)) and found.by_law == 1


def test_budgets_in_rho_too(tmp_path: Path) -> None:
    book = opened(tmp_path, rho=5)
    spend(
        book,
        *[{"rho": "1/8", "mechanism": "discrete-gaussian"}] * 2,
        {"rho": "1/8", "keep": "total", "law": "gaussian"},
    )
    found = book.exactly("data", "1e-5")
    assert (found.by_law, found.by_price) == (2, 1) and found.basic.rho == Fraction(1, 8) * 2 + Fraction(1, 16)
    assert found.epsilon is not None and found.epsilon > 0


def test_without_releases_nothing_is_spent(tmp_path: Path) -> None:
    assert opened(tmp_path).exactly("data").as_json() == {
        "epsilon": "0", "delta": "0.000001", "basic": {"epsilon": "0", "delta": "0"}, "by_law": 0, "by_price": 0,
        "grade": "enclosed",
    }  # fmt: skip


@pytest.mark.parametrize("delta", ["0", "1", "2", "-1", "1e-50", "much"])
def test_a_delta_that_is_none_is_refused(tmp_path: Path, delta: str) -> None:
    with pytest.raises(BadInput):
        opened(tmp_path).exactly("data", delta)


def test_a_matrix_too_long_for_a_line_is_known_by_its_price(tmp_path: Path) -> None:
    book = opened(tmp_path)
    wide = dc.explicit("exponential", 60, 1)
    spend(book, {"epsilon": 1, "mechanism": wide}, {"epsilon": 1, "mechanism": "explicit-fair", "max_count": 20})
    entries = book.history("data")
    assert [LAWS in entry.spending.spec for entry in entries] == [False, True]
    assert book.exactly("data").by_price == 1


def test_a_noise_that_is_none_is_a_changed_ledger(tmp_path: Path) -> None:
    book = opened(tmp_path)
    book.spend("data", Spending(Pure(1), spec={LAWS: [{"form": "weights", "weights": [["1"]], "denominator": "2"}]}))
    with pytest.raises(BadInput, match="entry #1 cannot be read"):
        book.exactly("data")


BOUNDED = {"epsilon": 2, "mechanism": "bounded", "truth": "1/2", "support": 3}
SHARED = dc.table(pa.table({"k": list("abc"), "n": [0, 1, 5], "m": [2, 0, 1]}), {"n": "1/4", "m": "3/4"}, keys="k")


@pytest.mark.parametrize(
    ("table", "options"),
    [
        (TABLE, {"epsilon": 1}),
        (TABLE, {"epsilon": "1.1", "mechanism": [[0.6, 0.4], [0.4, 0.6]]}),
        *((TABLE, {**BOUNDED, "small_counts": kind}) for kind in ("clamped", "unbiased", "both")),
        (SHARED, {"epsilon": 1}),
    ],
)
def test_other_noise_than_was_charged_for_is_found(tmp_path: Path, table: dc.Table, options: dict[str, Any]) -> None:
    book = opened(tmp_path)
    out = dc.release(table, ledger=book, dataset="data", **options)
    out.save(tmp_path / "out")
    assert book.check(tmp_path / "out") == ()
    entry = book.history("data")[-1]
    assert list(_differences(entry, out.record)) == []
    spec = {**entry.spending.spec, LAWS: [{"form": "noise"}]}
    other = replace(entry, spending=replace(entry.spending, spec=spec))
    assert list(_differences(other, out.record)) == ["The entry was charged for other noise than that of the release."]


def test_the_statement_says_it_beside_the_sum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    book = opened(tmp_path)
    spend(book, *[{"epsilon": "1/4", "mechanism": "geometric"}] * 12)
    page = book.statement("data", "1e-6")
    assert "By basic composition epsilon = 3; exactly epsilon = 2.9" in page and "at delta = 0.000001" in page
    assert "By basic" not in book.statement("data")
    words = ["statement", str(tmp_path / "ledger.db"), "--dataset", "data"]

    def run(*more: str) -> tuple[object, str]:
        monkeypatch.setattr("sys.argv", ["discreet", "ledger", *words, *more])
        with pytest.raises(SystemExit) as done:
            main()
        return done.value.code, capsys.readouterr().out

    status, out = run("--exact", "--at-delta", "1e-3", "--json")
    value = json.loads(out)
    assert status == 0 and value["exact"] == book.exactly("data", "1e-3").as_json()
    assert Fraction(value["exact"]["epsilon"]) < Fraction("2.5") and value["exact"]["by_law"] == 12
    assert "exact" not in json.loads(run("--json")[1])
    assert "exactly epsilon" in run("--exact")[1]
    assert run("--at-delta", "1e-3")[0] == 2 and run("--exact", "--at-delta", "5")[0] == 2
