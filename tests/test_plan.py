from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from discreet.cli import main
from discreet.errors import BadInput
from discreet.evaluate.shapes import SHAPES
from discreet.plan import plan


def test_steps_name_their_price_and_prices_add_up() -> None:
    planned = plan(3136, 1, max_count="auto", split="1/5", consistent=True)
    text = " ".join(planned.steps)
    assert "epsilon = 0.2 on the distribution" in text
    assert "epsilon = 0.8 on noise" in text and "by rank" in text
    assert planned.epsilon == "1"


def test_what_is_not_done_is_not_said() -> None:
    text = " ".join(plan(100, 5, max_count=10, refine=True).steps)
    assert "on the distribution" not in text and "Estimate the distribution from the noisy counts" in text
    text = " ".join(plan(100, 1, max_count=10, refine=False).steps)
    assert "on the distribution" in text and "from the noisy counts" not in text
    text = " ".join(plan(100, 1, mechanism="geometric", max_count=10).steps)
    assert "mechanism geometric" in text and "distribution" not in text


def test_errors_fall_with_epsilon_and_rows() -> None:
    loose, strict = (plan(2000, epsilon, max_count=30).expected for epsilon in (2, "1/5"))
    assert [row.shape for row in loose] == list(SHAPES)
    for one, other in zip(loose, strict):
        assert one.count_error < other.count_error and one.distribution_error < other.distribution_error
    many, few = (plan(rows, 1, max_count=30).expected for rows in (100_000, 200))
    assert all(a.distribution_error <= b.distribution_error for a, b in zip(many, few))
    assert sum(a.distribution_error < b.distribution_error for a, b in zip(many, few)) >= 3


@pytest.mark.parametrize("rows, epsilon", [(1, 1), (2, 1), (5, 2), (20, 4)])
def test_errors_of_few_rows_are_neither_nothing_nor_rough(rows: int, epsilon: int) -> None:
    """With nothing but noise the error of a count is known: 2 a / (1 - a^2) for a = exp(-epsilon)."""
    ratio = math.exp(-epsilon)
    for row in plan(rows, epsilon, signed=True).expected:
        assert row.count_error == pytest.approx(2 * ratio / (1 - ratio**2), rel=0.1)
        assert 0 < row.distribution_error <= row.count_error
    for row in plan(rows, epsilon).expected:
        assert 0 < row.distribution_error <= row.count_error <= 1.1 * 2 * ratio / (1 - ratio**2)


def test_where_no_error_was_seen_none_is_not_promised() -> None:
    assert all(0 < row.count_error < 0.001 for row in plan(5, 20, signed=True).expected)


def test_a_prior_takes_the_place_of_the_shapes() -> None:
    (row,) = plan(500, 1, max_count=3, prior=[0.7, 0.1, 0.1, 0.1]).expected
    assert row.shape == "prior" and row.max_count == 3
    with pytest.raises(BadInput, match="4 numbers are needed"):
        plan(500, 1, max_count=3, prior=[0.5, 0.5])
    with pytest.raises(BadInput, match="not to 1"):
        plan(500, 1, max_count=1, prior=[0.5, 0.6])


def test_a_plan_is_public_and_repeats() -> None:
    schema = SimpleNamespace(rows=400, contributions=2)
    first, second = (plan(schema, 1, max_count=10) for _ in range(2))
    assert first == second
    assert first.expected[0].count_error > plan(400, 1, max_count=10).expected[0].count_error
    assert "up to 2 times" in first.steps[-1]


def test_rho_is_planned_with_gaussian_noise() -> None:
    planned = plan(400, rho="1/2", max_count=10, favor="distribution")
    assert "rho = 0.05 on the distribution" in " ".join(planned.steps)
    assert planned.expected[0].count_error > 0
    with pytest.raises(BadInput, match="epsilon and rho were given together"):
        plan(400, 1, rho=1)


@pytest.mark.parametrize(
    "rows, options, message",
    [(0, {"max_count": 3}, "at least 1"), (5, {"max_count": 0}, "at least 1"), (5, {"split": 1}, "below 1")],
)
def test_bad_input_is_explained(rows: int, options: dict, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        plan(rows, 1, **options)


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["discreet", *words])
    with pytest.raises(SystemExit) as leave:
        main()
    return int(leave.value.code or 0)


@pytest.fixture
def table(tmp_path: Path) -> str:
    file = tmp_path / "table.csv"
    counts = np.random.default_rng(0).geometric(0.3, 300) - 1
    file.write_text("county,n\n" + "".join(f"c{i},{count}\n" for i, count in enumerate(counts)))
    return str(file)


def test_plan_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], table: str) -> None:
    assert run(monkeypatch, "plan", table, "--count", "n", "--epsilon", "1", "--max-count", "20", "--json") == 0
    value = json.loads(capsys.readouterr().out)
    assert {"steps", "epsilon", "expected"} <= set(value) and value["epsilon"] == "1"
    assert {"shape", "count_error", "distribution_error"} <= set(value["expected"][0])
    assert run(monkeypatch, "plan", table, "--count", "n", "--epsilon", "1", "--max-count", "20") == 0
    assert "1. Leave counts without an upper limit." in capsys.readouterr().out
    words = ("--count", "n", "--epsilon", "1", "--max-count", "20", "--top-code")
    assert run(monkeypatch, "plan", table, *words) == 0
    assert "1. Treat counts above 20 as 20." in capsys.readouterr().out


def test_plan_reads_no_count(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    outputs = []
    for name, values in (("a", "1\n2\n"), ("b", "50\n60\n")):
        file = tmp_path / f"{name}.csv"
        file.write_text("county,n\n" + "".join(f"c{i},{v}\n" for i, v in enumerate(values.split())))
        assert run(monkeypatch, "plan", str(file), "--count", "n", "--epsilon", "1", "--json") == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]


def test_distribution_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], table: str) -> None:
    words = ("distribution", table, "--count", "n", "--epsilon", "2", "--max-count", "12")
    assert run(monkeypatch, *words, "--json") == 0
    captured = capsys.readouterr()
    value = json.loads(captured.out)
    assert {"distribution", "method", "epsilon", "max_count"} <= set(value)
    assert len(value["distribution"]) == 13 and value["method"] == "cumulative" and value["private"] is True
    assert captured.err == ""
    assert run(monkeypatch, *words, "--seed", "1", "--json") == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["private"] is False and "NOT PRIVATE" in captured.err
    assert run(monkeypatch, *words, "--method", "privlet") == 2
    assert "Did you mean 'privelet'" in capsys.readouterr().err
    assert (
        run(monkeypatch, "distribution", table, "--count", "n", "--epsilon", "2", "--max-count", "auto", "--json") == 0
    )
    assert json.loads(capsys.readouterr().out)["max_count"] >= 1
