"""The experiments themselves: all that were promised, a quick subset, the command, and what it refuses."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet_lab.experiment import DIFFERS, NOT_PUBLIC, REPRODUCED
from discreet_lab.run import experiments, listing, reproduce

PROMISED = {
    "000": ["figure-3", "figure-5", "figure-6", "figure-7", "figure-8", "table-3", "rule", "example-1", "example-2"],
    "001": ["figure-1", "figure-2", "figure-3", "figure-4", "example-1"],
    "002": ["figure-1", "figure-2", *(f"figure-{k}" for k in range(4, 9)), "table-1", "table-3"],
    "003": ["table-1", "figure-1", "figure-2", "figure-3", "table-2"],
    "004": ["figure-1", "figure-2", *(f"figure-{k}" for k in range(7, 19)), "properties", "theorem-3", "theorem-4"],
}
QUICK = {
    "000-rule": REPRODUCED,
    "000-example-2": REPRODUCED,
    "001-figure-1": DIFFERS,
    "001-figure-2": REPRODUCED,
    "001-example-1": REPRODUCED,
    "002-table-1": DIFFERS,
    "002-figure-2": NOT_PUBLIC,
    "003-table-1": REPRODUCED,
    "003-table-2": DIFFERS,
    "004-figure-7": DIFFERS,
    "004-figure-14": DIFFERS,
    "004-example-1": REPRODUCED,
    "004-properties": REPRODUCED,
    "004-theorem-3": REPRODUCED,
    "004-theorem-4": REPRODUCED,
}


def test_every_promised_experiment_is_there():
    promised = {f"{paper}-{part}" for paper, parts in PROMISED.items() for part in parts}
    assert promised <= set(experiments())
    assert all(set(one) == {"name", "paper", "what"} for one in listing())


def test_a_quick_subset_runs_and_its_controls_fail(tmp_path):
    results = reproduce(QUICK, quick=True, out=tmp_path, workers=1)
    assert {result["name"]: result["verdict"] for result in results} == QUICK
    for result in results:
        assert result["control"]["caught"], result["name"]
        assert result["published"].keys() == result["ours"].keys() and result["improvement"]
        assert result["picture"] is None or (tmp_path / result["picture"]).stat().st_size > 1000
    page = (tmp_path / "reproduction.md").read_text()
    assert all(f"### {name}:" in page for name in QUICK)
    assert len(json.loads((tmp_path / "reproduction.json").read_text())["results"]) == len(QUICK)


def test_a_stand_in_is_never_reproduced():
    """Without a data folder the Adult table is generated: every claim may hold, and still."""
    (result,) = reproduce(["004-figure-10"], quick=True, workers=1)
    assert result["verdict"] == DIFFERS and "generated" in result["note"]


def test_the_published_greedy_constructor_is_the_checked_one_while_floats_last():
    from discreet_lab.baselines.constructors import published_greedy
    from discreet_lab.baselines.two_stage import sandwich

    z = np.array([0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
    for epsilon in (0.2, 1.0):
        assert published_greedy(z, epsilon) == pytest.approx(sandwich(z, epsilon), abs=1e-9)


def test_the_closed_form_optimum_is_what_the_program_finds():
    from discreet_lab.baselines.constructors import linear_program
    from discreet_lab.baselines.two_stage import count_error, optimal

    histogram = np.array([40, 25, 15, 10, 6, 4])
    z = histogram / histogram.sum()
    assert linear_program(z, 0.7, "highs-ds").fun == pytest.approx(count_error(histogram, optimal(z, 0.7)), abs=1e-7)


def test_acceptance_of_the_published_sampler_without_inequalities_worth_the_name():
    """With the proposal equal to the target on every free cell, only the solved cells can refuse."""
    from discreet_lab.experiments.congenial import acceptance

    truth = np.full(46, 1000)
    rng = np.random.default_rng(0)
    states = np.zeros((1, 46), dtype=np.int64)
    lower = acceptance(0.5, states, truth, rng, 4000)
    assert 0 < lower < 0.2
    assert math.isclose(acceptance(5.0, states, truth, rng, 4000), 1, abs_tol=0.5)


def test_bad_input_is_refused(tmp_path):
    with pytest.raises(BadInput, match="Did you mean '000-figure-5'"):
        reproduce(["000-figure-05"])
    with pytest.raises(BadInput, match="there is no such folder"):
        reproduce(["001-figure-2"], data=tmp_path / "nowhere")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(BadInput, match="were to be written"):
        reproduce(["001-figure-2"], out=tmp_path / "file")
    (tmp_path / "us_county_murders_2012.csv").write_text("fips,murders\n1,2\n")
    with pytest.raises(BadInput, match="column 'murder'"):
        reproduce(["000-figure-7"], quick=True, data=tmp_path, workers=1)


def test_the_page_of_results_shows_every_experiment_and_no_failure():
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert all(f"### {name}: " in page for name in experiments())
    assert "**failed**" not in page and "PASSES" not in page


def test_the_command(tmp_path):
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from discreet.cli import main; main()", "reproduce", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    listed = run("--list", "--json")
    assert {one["name"] for one in json.loads(listed.stdout)} == set(experiments())
    done = run("004-theorem-4", "--quick", "--out", str(tmp_path), "--json")
    (result,) = json.loads(done.stdout)["results"]
    assert result["verdict"] == REPRODUCED and {"name", "published", "ours", "note"} <= set(result)
    wrong = run("004-theorem-5", "--quick")
    assert wrong.returncode == 2 and "Did you mean" in wrong.stderr
    assert run().returncode == 2
