"""What the ledger is charged is the price of the smallest change, in whatever unit the release states it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import discreet as dc
from discreet.ledger import ledger
from discreet.privacy.convert import zcdp_epsilon

TABLE = dc.table(pa.table({"row": list("aabbcc"), "column": list("xyxyxy"), "n": [3, 1, 4, 1, 5, 9]}), "n", "all")
TWO_WAY = [dc.margin("row"), dc.margin("column")]


def charged(url: str, **options: Any) -> Any:
    book = ledger(url)
    budget = {"rho": 100} if "rho" in options else {"epsilon": 100, "delta": "1/10"}
    book.create("data", **budget)
    dc.release(TABLE, ledger=url, dataset="data", **options)
    return book.history("data")[0].charged


@pytest.mark.parametrize(
    ("options", "price"),
    [
        ({"epsilon": "1/2", "keep": [dc.total()]}, Fraction(1, 2)),
        ({"epsilon": "1/2", "keep": [dc.total()], "per_unit": True}, 1),
        ({"epsilon": "1/2", "keep": TWO_WAY, "per_unit": True}, 2),
        ({"epsilon": "1/2", "keep": [dc.sum_where(row="a")], "per_unit": True}, Fraction(1, 2)),
        ({"epsilon": "1/2"}, Fraction(1, 2)),
    ],
)
def test_epsilon_per_unit_is_charged_for_the_whole_change(sqlite_url: str, options: Any, price: Fraction) -> None:
    assert charged(sqlite_url, **options).epsilon == price


def test_l2_noise_per_unit_is_charged_the_root_rounded_up(sqlite_url: str) -> None:
    price = charged(sqlite_url, epsilon=1, keep=[dc.total()], law="l2", per_unit=True).epsilon
    assert price**2 > 2 and float(price) == pytest.approx(math.sqrt(2))


def test_rho_per_unit_is_charged_for_the_whole_change(sqlite_url: str) -> None:
    assert charged(sqlite_url, rho=1, keep=TWO_WAY, law="gaussian", per_unit=True).rho == 4


def test_gaussian_epsilon_per_unit_is_charged_what_its_variance_promises(sqlite_url: str) -> None:
    options: dict[str, Any] = {"delta": "1e-6", "keep": TWO_WAY, "law": "gaussian", "per_unit": True}
    variance = dc.release(TABLE, epsilon="1/2", **options).mechanism.noise.variance
    price = charged(sqlite_url, epsilon="1/2", **options)
    assert price.epsilon >= zcdp_epsilon(2 / variance, Fraction("1e-6")) and price.delta == Fraction("1e-6")
    assert price.epsilon < Fraction(12, 10)
