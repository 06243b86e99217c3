"""The commands of the foundation: every field of their JSON, every exit status, nothing left behind on an error."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet.cli as cli
from discreet.numbers import digits_above
from discreet.report.passive import active_content
from tests.releases import sha256

TABLE = "place,n\n" + "".join(f"p{i:03d},{i % 7}\n" for i in range(60))
RELEASE_FIELDS = {"out", "rows", "epsilon", "delta", "mechanism", "grade", "guarantee", "files", "digest"}


class Done:
    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The command line in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text(TABLE)

    def call(*words: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["discreet", *words])
        with pytest.raises(SystemExit) as left:
            cli.main()
        captured = capsys.readouterr()
        return Done(int(left.value.code or 0), captured.out, captured.err)

    return call


GEOMETRIC = ("--count", "n", "--epsilon", "1", "--max-count", "6", "--mechanism", "geometric")


def test_release_prints_what_the_contract_says(run: Any, tmp_path: Path) -> None:
    done = run("release", "table.csv", *GEOMETRIC, "--out", "out", "--json")
    assert done.status == 0 and done.err.startswith("Columns that will be published: 'place'")
    value = done.json
    assert set(value) >= RELEASE_FIELDS
    assert value["out"] == "out" and value["rows"] == 60 and value["mechanism"] == "geometric"
    assert value["epsilon"] == "1" and value["delta"] == "0" and value["grade"] == "exact"
    assert "one person more or less in one row" in value["guarantee"]
    assert value["files"] == [
        "analysis.R", "explore.html", "measurements.csv", "release.json", "report.html", "table.csv",
        "table.csv-metadata.json",
    ]  # fmt: skip
    assert value["digest"] == sha256(tmp_path / "out" / "release.json")
    document = json.loads((tmp_path / "out" / "release.json").read_text())
    assert set(document) >= {
        "schema_version", "software", "created", "private", "schema", "guarantee", "mechanism", "digests",
    }  # fmt: skip
    assert set(document["schema"]) >= {"keys", "count", "rows", "max_count"}
    assert set(document["guarantee"]) >= {"epsilon", "delta", "rho", "unit", "grade", "remarks"}
    assert document["mechanism"]["name"] == "geometric" and "map" in document["mechanism"]


def test_release_for_people(run: Any) -> None:
    done = run("release", "table.csv", *GEOMETRIC, "--out", "out")
    assert done.status == 0
    assert "60 rows released to out" in done.out and "discreet verify out" in done.out and "Digest: " in done.out


@pytest.mark.parametrize(
    ("words", "mechanism"),
    [
        (("--epsilon", "1/2", "--max-count", "6"), "transport"),
        (("--epsilon", "1/2", "--max-count", "6", "--consistent"), "rank"),
        (("--epsilon", "1/2", "--max-count", "6", "--mechanism", "rank", "--split", "0.2"), "rank"),
        (("--epsilon", "5", "--max-count", "auto", "--no-refine"), "transport"),
        (("--alpha", "31/50", "--max-count", "6", "--mechanism", "explicit-fair"), "explicit-fair"),
        (("--rho", "1/2", "--max-count", "6", "--mechanism", "discrete-gaussian"), "discrete-gaussian"),
        (
            ("--epsilon", "1", "--delta", "1e-6", "--max-count", "6", "--mechanism", "discrete-gaussian"),
            "discrete-gaussian",
        ),
        (("--epsilon", "1", "--mechanism", "signed-geometric"), "signed-geometric"),
        (
            ("--epsilon", "1", "--max-count", "6", "--format", "parquet", "--no-measurements", "--keep-order"),
            "transport",
        ),
        (("--epsilon", "1", "--max-count", "6", "--keys", "place", "--contributions", "2"), "transport"),
        (("--epsilon", "1", "--max-count", "6", "--keys", "all", "--seed", "5"), "transport"),
    ],
)
def test_the_flags_of_release(run: Any, tmp_path: Path, words: tuple[str, ...], mechanism: str) -> None:
    done = run("release", "table.csv", "--count", "n", *words, "--out", "out", "--json")
    assert done.status == 0, done.err
    assert done.json["mechanism"] == mechanism and done.json["private"] == ("--seed" not in words)
    suffix = "parquet" if "--format" in words else "csv"
    assert f"table.{suffix}" in done.json["files"]
    if "--no-measurements" in words:
        assert not any(name.startswith("measurements") for name in done.json["files"])
    asked = dict(pairwise(words))
    guarantee = json.loads((tmp_path / "out" / "release.json").read_text())["guarantee"]
    for name in ("epsilon", "alpha", "rho"):
        if f"--{name}" in asked:
            assert Fraction(guarantee[name]) == Fraction(asked[f"--{name}"])
    seeded = "--seed" in words
    checked = run("verify", "out", "--digest", done.json["digest"], "--json", *(["--allow-seeded"] if seeded else []))
    assert checked.json["private"] is not seeded
    assert run("verify", "out").status == int(seeded)
    assert checked.status == 0 and checked.json["valid"] is True, checked.json["problems"]


def test_a_universe_on_the_command_line(run: Any, tmp_path: Path) -> None:
    (tmp_path / "u.csv").write_text("place\n" + "".join(f"p{i:03d}\n" for i in range(80)))
    done = run("release", "table.csv", *GEOMETRIC, "--universe", "u.csv", "--out", "out", "--json")
    assert done.status == 0 and done.json["rows"] == 80


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("release", "table.csv", "--count", "m", "--epsilon", "1", "--max-count", "6", "--out", "out"),
            "Did you mean 'n'|There is: place, n",
        ),
        (("release", "none.csv", *GEOMETRIC, "--out", "out"), "No such file"),
        (("release", "table.csv", "--count", "n", "--out", "out"), "none was given.*exactly one of --epsilon"),
        (
            ("release", "table.csv", *GEOMETRIC, "--alpha", "1/2", "--out", "out"),
            "--epsilon and --alpha were given together",
        ),
        (
            ("release", "table.csv", "--count", "n", "--epsilon", "0", "--max-count", "6", "--out", "out"),
            "greater than zero",
        ),
        (
            ("release", "table.csv", "--count", "n", "--epsilon", "x", "--max-count", "6", "--out", "out"),
            "not a finite number",
        ),
        (
            ("release", "table.csv", "--count", "n", "--epsilon", "1", "--max-count", "6.5", "--out", "out"),
            "whole number",
        ),
        (("release", "table.csv", "--count", "n", "--epsilon", "1", "--max-count", "-2", "--out", "out"), "at least 1"),
        (("release", "table.csv", *GEOMETRIC, "--format", "ods", "--out", "out"), "no format of that name"),
        (("release", "table.csv", *GEOMETRIC, "--out", "no/such"), "there is no folder"),
        (("release", "table.csv", *GEOMETRIC), "--out"),
        (("release", "table.csv", *GEOMETRIC, "--out", "out", "--colour", "red"), "--colour"),
        (("release",), "TABLE|table"),
        (("verify", "nowhere"), "no release.json"),
        (("certify", "nowhere.json", "--epsilon", "1"), "No such file"),
        (("certify", "table.csv", "--epsilon", "1"), "table.csv"),
        (("relaese", "table.csv"), "relaese"),
    ],
)
def test_bad_usage_ends_with_status_2_and_leaves_nothing(
    run: Any, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    import re

    for extra in ((), ("--json",)):
        done = run(*words, *extra)
        assert done.status == 2, done.err
        assert done.out == "" and re.search(said, done.err), done.err
        assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_an_existing_folder_is_refused_before_the_table_is_read(run: Any, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("precious")
    done = run("release", "none.csv", *GEOMETRIC, "--out", "out")
    assert done.status == 2 and "there already" in done.err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


def test_verify(run: Any, tmp_path: Path) -> None:
    run("release", "table.csv", *GEOMETRIC, "--out", "out")
    good = run("verify", "out", "--json")
    assert good.status == 0 and set(good.json) == {
        "valid", "private", "problems", "checked", "not_applicable"
    }  # fmt: skip
    assert good.json["valid"] is True and good.json["problems"] == [] and len(good.json["checked"]) > 5
    wrong = run("verify", "out", "--digest", "ab" * 32, "--json")
    assert wrong.status == 1 and wrong.json["valid"] is False
    (tmp_path / "out" / "table.csv").write_text("changed")
    bad = run("verify", "out", "--json")
    assert bad.status == 1 and bad.json["problems"] and all(isinstance(p, str) for p in bad.json["problems"])
    people = run("verify", "out")
    assert people.status == 1 and "NOT valid" in people.out and "PROBLEM: The file table.csv was changed" in people.out
    assert "No check without the data can prove that the noise was honestly drawn." in people.out


HALF = [["2/3", "1/3"], ["1/3", "2/3"]]


@pytest.mark.parametrize("form", ["json", "matrix", "weights", "csv", "npz"])
def test_certify_reads_every_form_of_matrix(run: Any, tmp_path: Path, form: str) -> None:
    path = tmp_path / f"m.{form if form in ('csv', 'npz') else 'json'}"
    if form == "npz":
        np.savez(path, matrix=np.array([[0.75, 0.25], [0.25, 0.75]]))
    elif form == "csv":
        path.write_text("0.75,0.25\n0.25,0.75\n")
    else:
        rows = [[0.75, 0.25], [0.25, 0.75]]
        value = {
            "json": rows,
            "matrix": {"matrix": rows},
            "weights": {"weights": [["3", "1"], ["1", "3"]], "denominator": "4"},
        }
        path.write_text(json.dumps(value[form]))
    assert run("certify", path.name, "--alpha", "1/3", "--json").json["holds"] is True
    assert run("certify", path.name, "--alpha", "100/299", "--json").json["holds"] is False


def test_certify(run: Any, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps(HALF))
    good = run("certify", "m.json", "--epsilon", "0.7", "--json")
    assert good.status == 0
    assert set(good.json) >= {"holds", "epsilon", "delta", "smallest_epsilon", "witness"}
    assert good.json["holds"] is True and good.json["witness"] is None and good.json["epsilon"] == "0.7"
    assert Fraction("0.693147180559") < Fraction(good.json["smallest_epsilon"]) < Fraction("0.693147180561")
    bad = run("certify", "m.json", "--epsilon", "0.6", "--json")
    assert bad.status == 1 and bad.json["holds"] is False
    assert set(bad.json["witness"]) >= {"input", "neighbour", "output", "ratio", "allowed"}
    assert bad.json["witness"]["ratio"] == 2 and bad.json["witness"]["allowed"] == pytest.approx(np.exp(0.6))
    assert run("certify", "m.json", "--epsilon", "0.6", "--delta", "0.1", "--json").json["holds"] is True
    people = run("certify", "m.json", "--epsilon", "0.6")
    assert people.status == 1 and "Refuted: output 0 is 2 times as likely from 0 as from 1" in people.out
    (tmp_path / "nan.csv").write_text("0.5,nan\n0.5,0.5\n")
    refused = run("certify", "nan.csv", "--epsilon", "1", "--json")
    assert refused.status == 2 and refused.out == ""
    (tmp_path / "sum.csv").write_text("0.5,0.4\n0.5,0.5\n")
    assert "row 0 sums to 0.9" in run("certify", "sum.csv", "--epsilon", "1").err


PTABLE = "i;j;p\n0;0;1\n1;0;0.4\n1;1;0.3\n1;2;0.3\n2;0;0.1\n2;1;0.2\n2;2;0.4\n2;3;0.2\n2;4;0.1\n"


def test_certify_says_what_it_means(run: Any, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(json.dumps(HALF))
    found = run("certify", "m.json", "--alpha", "2/3", "--delta", "1/10", "--json").json
    assert found["holds"] is False and found["smallest_delta"] == digits_above(Fraction(1, 6), 12)
    assert found["curve"] is None  # 2/3 - 3/2 * 1/3 = 1/6; and 2/3 - r/3 = 1/10 at r = 17/10
    assert abs(Fraction(found["smallest_epsilon"]) - Fraction(math.log(1.7))) < Fraction(1, 10**11)
    people = run("certify", "m.json", "--alpha", "2/3", "--delta", "1/10")
    assert "The smallest epsilon with delta = 0.1: 0.5306" in people.out and "The smallest delta at" in people.out


def test_certify_reads_a_perturbation_table(run: Any, tmp_path: Path) -> None:
    (tmp_path / "ptable.csv").write_text(PTABLE)
    found = run("certify", "ptable.csv", "--curve", "--json")
    assert found.status == 0 and found.json["holds"] is None and found.json["epsilon"] is None
    assert found.json["curve"][0] == ["0", "0.6"] and found.json["delta_at_any_epsilon"] == "0.6"
    assert found.json["bias"] == pytest.approx([0, -0.1, 0]) and found.json["variance"] == pytest.approx([0, 0.69, 1.2])
    drawn = run("certify", "ptable.csv", "--epsilon", "1", "--plot", "curve.svg", "--report", "page.html")
    assert (
        drawn.status == 1
        and "A count of 0 always stays 0 here" in drawn.out
        and "Biased for true counts of 1:" in drawn.out
    )
    assert "<svg" in (tmp_path / "curve.svg").read_text()
    page = (tmp_path / "page.html").read_text()
    assert "How private ptable.csv is" in page and active_content(page) is None
    assert run("certify", "ptable.csv", "--epsilon", "1", "--delta", "0.6").status == 0
    for words in (("--report", "page.txt"), ("--plot", "curve.txt"), ("--report", "nowhere/page.html")):
        refused = run("certify", "ptable.csv", "--epsilon", "1", *words)
        assert refused.status == 2 and refused.out == ""
    assert "exactly one" in run("certify", "ptable.csv").err


def test_a_perturbation_table_is_released(run: Any, tmp_path: Path) -> None:
    (tmp_path / "ptable.csv").write_text(PTABLE)
    (tmp_path / "t.csv").write_text("area,n\na,0\nb,1\nc,70\n")
    words = ("release", "t.csv", "--count", "n", "--mechanism", "ptable.csv", "--epsilon", "1")
    refused = run(*words, "--out", "out")
    assert refused.status != 0 and "a delta of 0.6" in refused.err and not (tmp_path / "out").exists()
    done = run(*words, "--delta", "0.6", "--out", "out", "--json")
    assert done.status == 0 and done.json["max_count"] is None and done.json["delta"] == "0.6"
    assert run("verify", "out", "--json").json["valid"] is True
    assert run("estimate", "out", "--total", "--json").status == 0
    (tmp_path / "ptable.csv").write_text(PTABLE.replace("1;2;0.3", "1;2;0.2"))
    wrong = run(*words, "--delta", "0.6", "--out", "other")
    assert wrong.status == 2 and "i = 1 sum to 0.9" in wrong.err and not (tmp_path / "other").exists()


def test_demo(run: Any, tmp_path: Path) -> None:
    done = run("demo", "--out", "demo", "--json")
    assert done.status == 0 and set(done.json) >= RELEASE_FIELDS
    assert done.json["out"] == "demo" and done.json["rows"] == 2197
    assert (tmp_path / "demo" / "report.html").is_file()
    again = run("demo", "--out", "demo")
    assert again.status == 0 and "share of counties" in again.out and "Verified: True" in again.out


def test_demo_replaces_nothing_but_a_demonstration(run: Any, tmp_path: Path) -> None:
    run("release", "table.csv", *GEOMETRIC, "--out", "real")
    before = (tmp_path / "real" / "release.json").read_bytes()
    done = run("demo", "--out", "real")
    assert done.status == 2 and "there already" in done.err
    assert (tmp_path / "real" / "release.json").read_bytes() == before


def test_help_lists_the_commands(run: Any) -> None:
    done = run("--help")
    assert done.status == 0
    for name in ("demo", "release", "verify", "certify"):
        assert name in done.out


def test_the_command_itself(tmp_path: Path) -> None:
    """The installed script, in a process of its own; one JSON value on stdout and nothing else."""
    script = Path(sys.executable).parent / "discreet"
    command = [str(script)] if script.exists() else [sys.executable, "-c", "from discreet.cli import main; main()"]
    (tmp_path / "m.json").write_text(json.dumps(HALF))
    done = subprocess.run(
        [*command, "certify", "m.json", "--alpha", "1/2", "--json"], cwd=tmp_path, capture_output=True
    )
    assert done.returncode == 0 and json.loads(done.stdout)["holds"] is True and done.stderr == b""


def test_the_package_can_be_run() -> None:
    done = subprocess.run([sys.executable, "-m", "discreet", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("discreet ")
