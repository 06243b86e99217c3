"""design, noise and compare from the shell: fields, files, exit statuses."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import partial

import pytest

from discreet.certify import certify
from discreet.io.files import read_matrix
from discreet.requirements import STRUCTURAL
from tests.shell import shell


@pytest.fixture
def discreet(tmp_path):
    """Run the command line in an empty folder."""
    return partial(shell, cwd=tmp_path)


@pytest.fixture
def parsed(discreet):
    def run(*words):
        done = discreet(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def test_design_fields_and_files(parsed, tmp_path):
    out = parsed(
        *("design", "--max-count", "4", "--epsilon", "1/2", "--objective", "absolute"),
        *("--require", "fair", "--require", "CM", "-o", "made.json", "--plot", "made.svg"),
    )
    assert (out["max_count"], out["epsilon"], out["delta"], out["method"]) == (4, "0.5", "0", "program")
    assert set(out["properties"]) == set(STRUCTURAL) and set(out["cost"]) == {"wrong", "absolute", "squared"}
    assert out["requirements"] == [{"name": "fair", "holds": True}, {"name": "column-monotone", "holds": True}]
    assert out["objective"]["name"] == "absolute"
    assert 0 <= out["objective"]["value"] - out["objective"]["lower_bound"] < 1e-6
    exact = [[Fraction(weight) / Fraction(out["denominator"]) for weight in row] for row in out["weights"]]
    assert all(sum(row) == 1 for row in exact)
    assert [[float(p) for p in row] for row in exact] == out["matrix"]
    assert read_matrix(tmp_path / "made.json") == exact
    assert certify(read_matrix(tmp_path / "made.json"), "1/2").holds
    assert (tmp_path / "made.svg").read_text().startswith("<?xml")


def test_design_reads_costs_priors_and_laws_from_files(parsed, tmp_path):
    (tmp_path / "cost.csv").write_text("0,1,4\n1,0,1\n4,1,0\n")
    (tmp_path / "prior.json").write_text("[0.5, 0.3, 0.2]")
    out = parsed(
        *("design", "--max-count", "2", "--alpha", "1/3", "--objective", "cost.csv", "--prior", "prior.json"),
        *("--require", "fixed-point=prior.json", "--minimax", "--method", "program"),
    )
    assert out["requirements"] == [{"name": "fixed-point=prior.json", "holds": True}]
    assert out["objective"]["name"] == "matrix"


def test_a_large_design_says_its_gap(parsed, discreet):
    words = ["--max-count", "120", "--epsilon", "2", "--objective", "absolute", "--require", "F", "--require", "CM"]
    made = parsed("design", *words, "--seconds", "30", "-o", "large.json")
    assert made["method"] == "anytime"
    assert 0 < made["objective"]["lower_bound"] <= made["objective"]["value"] < 1.001 * made["objective"]["lower_bound"]
    assert len(made["weights"]) == 121
    assert parsed("certify", "large.json", "--epsilon", "2")["holds"]
    assert "above the best possible" in discreet("design", *words, "--seconds", "30").stdout


def test_design_for_a_person(discreet):
    done = discreet("design", "--max-count", "4", "--epsilon", "0.1", "--mechanism", "geometric", "--require", "fair")
    assert done.returncode == 0
    assert "Not met: fair: T[0,0]" in done.stdout


def test_noise_fields(parsed, discreet):
    out = parsed("noise", "--epsilon", "1.1", "--truth", "0.5", "--support", "8")
    deltas = [float(out[f"delta_{name}"]) for name in ("paper", "exact", "optimal")]
    assert deltas == pytest.approx([8.6e-4, 4.0e-4, 7.6e-5], rel=0.01)
    assert float(out["delta_single"]) * 17 == pytest.approx(deltas[0])
    assert len(out["pmf"]) == len(out["pmf_optimal"]) == 17
    assert "Noise of least exact delta" in discreet("noise", "--epsilon", "1", "--truth", ".5", "--support", "2").stdout


def test_compare_fields_and_picture(parsed, discreet, tmp_path):
    out = parsed("compare", "--max-count", "4", "--alpha", "10/11", "--plot", "side.png")
    found = {row["name"]: row for row in out["mechanisms"]}
    # for four people: 0.238 of the geometric mechanism's and 0.224 of the fair one's answers are true
    assert 1 - found["geometric"]["cost"]["wrong"] == pytest.approx(0.238, abs=5e-4)
    assert 1 - found["explicit-fair"]["cost"]["wrong"] == pytest.approx(0.224, abs=5e-4)
    assert found["weakly-honest"]["properties"]["column-monotone"]
    assert all(found["explicit-fair"]["properties"].values())
    assert (tmp_path / "side.png").read_bytes().startswith(b"\x89PNG")
    assert discreet("compare", "--max-count", "2", "--epsilon", "1").stdout.startswith("mechanism")


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["design", "--max-count", "0", "--epsilon", "1"], 2, "at least 1"),
        (["design", "--max-count", "3"], 2, "exactly one of --epsilon, --alpha and --rho"),
        (["design", "--max-count", "3", "--epsilon", "1", "--require", "support=1"], 2, "support=1 cannot hold"),
        (["design", "--max-count", "3", "--epsilon", "1", "--require", "fixed-point=none.csv"], 2, "No such file"),
        (["design", "--max-count", "3", "--epsilon", "1", "--objective", "notes.csv"], 2, "notes.csv"),
        (["design", "--max-count", "3", "--epsilon", "1", "--prior", "short.csv"], 2, "it has 2 numbers, 4 are needed"),
        (["design", "--max-count", "3", "--epsilon", "1", "--plot", "x.bmp", "-o", "x.json"], 2, "must end in"),
        (["noise", "--epsilon", "1", "--truth", "1", "--support", "3"], 2, "both excluded"),
        (["noise", "--epsilon", "1", "--truth", "0.5", "--support", "0"], 2, "at least 1"),
        (["compare", "--max-count", "3", "--epsilon", "1", "--plot", "no/such/x.png"], 2, "there is no folder"),
    ],
)
def test_errors_leave_nothing_behind(words, status, message, discreet, tmp_path):
    (tmp_path / "notes.csv").write_text("these are\nnot numbers\n")
    (tmp_path / "short.csv").write_text("0.5\n0.5\n")
    before = sorted(tmp_path.iterdir())
    done = discreet(*words)
    assert (done.returncode, done.stdout) == (status, "")
    assert message in done.stderr
    assert sorted(tmp_path.iterdir()) == before
