"""`evaluate`: exact where a formula exists, simulated with intervals elsewhere, repeatable, resumable, stamped."""

from __future__ import annotations

import json

import numpy as np
import pytest

import discreet as dc
from discreet.errors import BadInput
from discreet.evaluate.study import WARNING, evaluate
from tests.shell import Done, shell

COUNTS = [0, 0, 0, 1, 1, 2, 5, 9, 40, 0, 3, 0]


@pytest.fixture(scope="module")
def table():
    import pyarrow

    return dc.table(pyarrow.table({"place": [f"p{k:02}" for k in range(len(COUNTS))], "cases": COUNTS}), count="cases")


@pytest.fixture(scope="module")
def many():
    import pyarrow

    counts = np.minimum(np.random.default_rng(3).geometric(0.3, 1500) - 1, 12)
    return dc.table(pyarrow.table({"place": [f"p{k:04}" for k in range(1500)], "cases": counts}), count="cases")


def rows_of(found, metric):
    return [row for row in found.rows if row["metric"] == metric]


def slow_geometric(truth: int, last: int, epsilon: float) -> list[float]:
    """P(published) of the clamped geometric mechanism, by summing its noise over a long range."""
    a = np.exp(-epsilon)
    law = [0.0] * (last + 1)
    for noise in range(-3000, 3001):
        law[min(last, max(0, truth + noise))] += (1 - a) / (1 + a) * a ** abs(noise)
    return law


def test_exact_errors_are_the_sums_over_the_mechanism(table):
    found = evaluate(table, ["geometric"], ["0.5"], repeats=2, max_count=10, beyond=[2], workers=1)
    truths = [min(10, count) for count in COUNTS]
    laws = {truth: slow_geometric(truth, 10, 0.5) for truth in set(truths)}
    costs = {
        "absolute": lambda e: abs(e),
        "squared": lambda e: e * e,
        "wrong": lambda e: float(e != 0),
        "beyond:2": lambda e: float(abs(e) > 2),
    }
    for name, cost in costs.items():
        slow = np.mean([sum(p * cost(j - truth) for j, p in enumerate(laws[truth])) for truth in truths])
        (row,) = rows_of(found, name)
        assert row["exact"] and row["low"] == row["value"] == row["high"] and row["repeats"] == 0
        assert row["value"] == pytest.approx(slow, abs=1e-9)
    for row in rows_of(found, "bias"):
        truth = row["count"]
        assert row["value"] == pytest.approx(sum(p * (j - truth) for j, p in enumerate(laws[truth])), abs=1e-9)


def test_simulated_intervals_hold_the_exact_value_and_reject_a_nearby_one(many):
    """signed-geometric has no matrix, so it is simulated; its exact mean |noise| is 2a/(1-a^2)."""
    found = evaluate(many, ["signed-geometric"], ["0.7"], repeats=60, level=0.999999, workers=1)
    (row,) = rows_of(found, "absolute")
    assert not row["exact"] and row["repeats"] == 60

    def mean_size(epsilon: float) -> float:
        a = np.exp(-epsilon)
        return 2 * a / (1 - a * a)

    assert row["low"] < mean_size(0.7) < row["high"]
    assert not row["low"] < mean_size(0.75) < row["high"]


def test_every_simulated_figure_has_an_interval(table):
    found = evaluate(table, ["transport", "rank"], ["0.5"], repeats=5, max_count=10, workers=1)
    metrics = {row["metric"] for row in found.rows}
    assert metrics >= {"absolute", "squared", "wrong", "beyond:1", "w1", "ks", "total_variation", "seconds", "bias"}
    for row in found.rows:
        assert not row["exact"] and row["repeats"] == 5 and row["low"] <= row["value"] <= row["high"]


def test_the_same_seed_gives_the_same_figures_with_one_worker_or_two(table):
    options = {"repeats": 3, "max_count": 10}
    one = evaluate(table, ["rank", "geometric"], ["1", "0.25"], seed=5, workers=1, **options)
    two = evaluate(table, ["rank", "geometric"], ["1", "0.25"], seed=5, workers=2, **options)
    other = evaluate(table, ["rank", "geometric"], ["1", "0.25"], seed=6, workers=1, **options)

    def stable(found):
        return [row for row in found.rows if row["metric"] != "seconds"]

    assert stable(one) == stable(two)
    assert stable(one) != stable(other)


def test_invariants_kept_are_counted(table):
    found = evaluate(table, ["l1", "geometric"], ["1"], repeats=4, max_count=50, keep=["total"], workers=1)
    kept = {row["method"]: row["value"] for row in rows_of(found, "kept")}
    assert kept["l1"] == 1 and kept["geometric"] < 1


def test_an_interrupted_evaluation_is_resumed(table, tmp_path):
    journal = tmp_path / "journal"
    options = {"repeats": 3, "max_count": 10, "workers": 1}
    whole = evaluate(table, ["geometric", "rank"], ["1"], resume=journal, **options)
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text(lines[0] + lines[1][:50])  # killed while writing the second job
    again = evaluate(table, ["geometric", "rank"], ["1"], resume=journal, **options)
    assert [row for row in again.rows if row["method"] == "geometric"] == [
        row for row in whole.rows if row["method"] == "geometric"
    ]
    assert len(journal.read_text().splitlines()) == 2
    with pytest.raises(BadInput, match="another table, seed or setting"):
        evaluate(table, ["geometric"], ["1"], seed=1, resume=journal, **options)


def test_results_are_stamped_as_private_side(table, tmp_path):
    import pyarrow.parquet

    found = evaluate(table, ["geometric"], ["1"], repeats=2, max_count=10, workers=1)
    assert "leaks" in found.warning and all(row["private_side"] for row in found.rows)
    found.save(tmp_path / "found.parquet")
    saved = pyarrow.parquet.read_table(tmp_path / "found.parquet")
    assert saved.schema.metadata[b"private_side"] == b"true" and saved.num_rows == len(found.rows)
    found.save(tmp_path / "found.json")
    assert json.loads((tmp_path / "found.json").read_text())["private_side"] is True
    found.plot(tmp_path / "found.png")
    assert (tmp_path / "found.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["geometrik"]}, "Did you mean 'geometric'"),
        ({"methods": []}, "none was named"),
        ({"methods": ["l1"]}, "nothing to keep is named"),
        ({"methods": ["uniform"], "max_count": None}, "needs a max_count"),
        ({"epsilons": []}, "no epsilon was given"),
        ({"repeats": 1}, "at least 2"),
        ({"level": 1.5}, "between 0 and 1"),
    ],
)
def test_bad_input_is_refused(table, options, message):
    settings = {"methods": ["geometric"], "epsilons": ["1"], "repeats": 2, "max_count": 10, "workers": 1, **options}
    with pytest.raises(BadInput, match=message):
        evaluate(table, **settings)


def test_the_command_writes_json_and_warns_on_stderr(tmp_path):
    source = tmp_path / "table.csv"
    source.write_text("place,cases\n" + "".join(f"p{k:02},{count}\n" for k, count in enumerate(COUNTS)))

    def run(*words: str) -> Done:
        return shell("evaluate", str(source), *words)

    common = ["--count", "cases", "--mechanisms", "geometric,rank", "--epsilons", "0.5,1", "--repeats", "2"]
    done = run(*common, "--max-count", "10", "-o", str(tmp_path / "out.parquet"), "--json")
    assert done.returncode == 0, done.stderr
    assert {row["method"] for row in json.loads(done.stdout)["rows"]} == {"geometric", "rank"}
    assert WARNING in done.stderr and (tmp_path / "out.parquet").exists()
    refused = run(*common, "--max-count", "10", "-o", str(tmp_path / "out.txt"))
    assert refused.returncode == 2 and ".parquet" in refused.stderr


@pytest.mark.parametrize("keep", ["total", dc.total(), ["total"]])
def test_what_is_kept_may_stand_without_a_list(table, keep):
    found = dc.evaluate(table, "l1", "1", 2, keep=keep)
    assert {row["value"] for row in found.rows if row["metric"] == "kept"} == {1.0}
