"""Releases that keep sums, of every kind: saved, verified, and found out when a cell, a sum or the noise is forged."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
import discreet.cli as cli
from discreet.lattice.chains import ChainSampler
from discreet.record.release import seal_of
from tests.releases import sha256

COUNTS = np.array([4, 0, 7, 12, 3, 9, 1, 30, 5, 2, 8, 6])
KINDS = {
    "total": ["total"],
    "margin": ["margin:county"],
    "two margins": ["margin:county", "margin:sex"],
    "nested": ["total", "margin:county"],
    "joint margin": ["margin:county,sex"],
    "sum": ["sum:sex=f"],
    "sum of two columns": ["sum:sex=f,age=old", "total"],
    "matrix": ["kept.csv"],
}
LAWS = {
    "l1": ["--law", "l1", "--epsilon", "1"],
    "not negative": ["--law", "l1", "--epsilon", "1", "--nonnegative", "--nonnegative-by", "condition"],
    "projected": ["--law", "l1", "--epsilon", "1", "--nonnegative"],
    "projected gaussian": ["--law", "gaussian", "--rho", "1/8", "--nonnegative", "--nonnegative-by", "project"],
    "l2": ["--law", "l2", "--epsilon", "1"],
    "gaussian": ["--law", "gaussian", "--rho", "1/2"],
}


def write_table(folder: Path) -> None:
    keys = [(county, sex, age) for county in "abc" for sex in "fm" for age in ("old", "young")]
    lines = [",".join([*key, str(count)]) for key, count in zip(keys, COUNTS)]
    (folder / "table.csv").write_text("\n".join(["county,sex,age,people", *lines]) + "\n")
    (folder / "kept.csv").write_text("1,1,1,0,0,0,0,0,0,0,0,0\n0,1,0,1,1,0,0,0,0,0,0,1\n")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The command line in this process, in a folder of its own: exit status, JSON (or None), messages."""
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path)

    def call(*words: str) -> tuple[int, Any, str]:
        monkeypatch.setattr(sys, "argv", ["discreet", *words])
        with pytest.raises(SystemExit) as left:
            cli.main()
        captured = capsys.readouterr()
        return int(left.value.code or 0), json.loads(captured.out) if captured.out else None, captured.err

    return call


def release(run: Any, kind: str, law: str, out: str = "out") -> Path:
    kept = [word for what in KINDS[kind] for word in ("--keep", what)]
    words = ["--count", "people", "--keys", "all", *kept, *LAWS[law], "--seed", "3", "--out", out, "--json"]
    status, value, messages = run("release", "table.csv", *words)
    assert status == 0, messages
    assert value["grade"] == "exact" and value["rows"] == len(COUNTS)
    return Path(out)


def published(folder: Path) -> np.ndarray:
    return np.loadtxt(folder / "table.csv", delimiter=",", skiprows=1, usecols=3, dtype=np.int64)


def reseal(folder: Path, document: Any) -> None:
    """What a forger would do: new digests, new seal."""
    document["digests"] = {path.name: sha256(path) for path in folder.iterdir() if path.name != "release.json"}
    (folder / "release.json").write_text(json.dumps({**document, "seal": seal_of(document)}, indent=1) + "\n")


def document_of(folder: Path) -> Any:
    return json.loads((folder / "release.json").read_text())


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_keeps_its_sums_and_verifies(run: Any, kind: str, law: str) -> None:
    folder = release(run, kind, law)
    document = document_of(folder)
    by_county = np.repeat(np.arange(3), 4)
    if kind in ("margin", "two margins", "nested"):
        assert not np.bincount(by_county, published(folder) - COUNTS).any()
    if kind in ("total", "nested", "sum of two columns"):
        assert published(folder).sum() == COUNTS.sum()
    if kind == "matrix":
        matrix = np.loadtxt("kept.csv", delimiter=",", dtype=np.int64)
        assert np.array_equal(matrix @ published(folder), matrix @ COUNTS)
    if law == "not negative" or "projected" in law:
        assert published(folder).min() >= 0
    assert document["guarantee"]["grade"] == "exact"
    found = dc.verify(folder, allow_seeded=True)
    assert found.valid, found.problems


@pytest.mark.parametrize("kind", KINDS)
def test_a_forged_cell_is_found(run: Any, kind: str) -> None:
    folder = release(run, kind, "l1")
    lines = (folder / "table.csv").read_text().splitlines()
    *keys, count = lines[2].split(",")  # some kept sum of every kind counts this row
    lines[2] = ",".join([*keys, str(int(count) + 1)])
    (folder / "table.csv").write_text("\n".join(lines) + "\n")
    assert "digest" in str(dc.verify(folder).problems)
    reseal(folder, document_of(folder))
    assert "The table does not have the kept sum" in str(dc.verify(folder).problems)


@pytest.mark.parametrize("kind", KINDS)
def test_forged_sums_are_found(run: Any, kind: str) -> None:
    folder = release(run, kind, "l1")
    document = document_of(folder)
    document["invariants"]["sums"][0] += 1
    reseal(folder, document)
    assert "The table does not have the kept sum" in str(dc.verify(folder).problems)


@pytest.mark.parametrize(
    ("law", "name", "forged"),
    [
        ("l1", "odds", "7"),
        ("not negative", "odds", "7"),
        ("l2", "rate", "9"),
        ("gaussian", "variance", "0.01"),
    ],
)
@pytest.mark.parametrize("kind", ["total", "two margins", "matrix"])
def test_forged_noise_is_found(run: Any, kind: str, law: str, name: str, forged: str) -> None:
    folder = release(run, kind, law)
    document = document_of(folder)
    assert name in document["mechanism"]["parameters"]
    document["mechanism"]["parameters"][name] = forged
    reseal(folder, document)
    assert "The noise is smaller than what is claimed needs." in dc.verify(folder).problems


def test_dropping_the_price_of_not_negative_is_found(run: Any) -> None:
    """Conditioning on no negative count costs more: the odds of a signed release are too large for it."""
    folder, signed = release(run, "total", "not negative"), release(run, "total", "l1", "signed")
    document = document_of(folder)
    document["mechanism"]["parameters"] = document_of(signed)["mechanism"]["parameters"]
    reseal(folder, document)
    assert "The noise is smaller than what is claimed needs." in dc.verify(folder).problems


def cube() -> tuple[pa.Table, np.ndarray]:
    """With a structural zero in its last place."""
    place = np.indices((3, 3, 3)).reshape(3, -1)[:, :-1]
    counts = np.random.default_rng(0).integers(0, 30, 26)
    keys = {name: np.array(list("xyz"))[axis] for name, axis in zip("abc", place)}
    return pa.table({**keys, "n": counts}), counts


def test_a_diagnosed_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All two-way margins of a cube that lacks a cell: no exact sampler for l1, a chain whose coupling meets soon."""
    frame, counts = cube()
    keep = [dc.margin("a", "b"), dc.margin("b", "c"), dc.margin("a", "c")]
    table = dc.table(frame, count="n", keys="all")
    with pytest.raises(dc.DiscreetError, match="no exact sampler is known"):
        dc.release(table, epsilon=4, keep=keep)
    out = dc.release(table, epsilon=4, keep=keep, allow_diagnosed=True)
    assert out.guarantee.grade == "diagnosed" and "diagnosed, not proved" in out.guarantee.sentence
    # 1000 runs show nothing below 3/1000: (1 + e^4) 0.003 = 0.1668
    assert 0.1667 < float(out.guarantee.delta) < 0.5
    out.save(tmp_path / "out")
    released = np.append(np.array(out.table.column("n")) - counts, 0).reshape(3, 3, 3)
    assert not any(released.sum(axis=axis).any() for axis in range(3))
    assert dc.verify(tmp_path / "out").valid
    for part, name, value in (
        ("guarantee", "grade", "exact"),
        ("guarantee", "delta", "0"),
        ("mechanism", "sampler", "merging"),
        ("mechanism", "parameters", {"odds": "5"}),
    ):
        document = document_of(tmp_path / "out")
        honest = json.loads(json.dumps(document))
        document[part][name] = value
        reseal(tmp_path / "out", document)
        assert not dc.verify(tmp_path / "out").valid, name
        reseal(tmp_path / "out", honest)
    assert dc.verify(tmp_path / "out").valid
    monkeypatch.setattr(ChainSampler, "draw", None)  # an estimate simulates one path: 2,000 draws would take minutes
    kept, row = (dc.estimate(tmp_path / "out").by(*names) for names in (("a", "b"), ("a", "b", "c")))
    assert kept["x", "x"].exact and kept["x", "x"].estimate == counts[:3].sum()
    assert not row["x", "x", "x"].exact and row["x", "x", "x"].interval[0] < row["x", "x", "x"].interval[1]


def test_diagnosed_releases_that_are_refused(run: Any) -> None:
    """Chains that do not meet in time show nothing; a delta of one promises nothing. Nothing is written."""
    margins = ["--keep", "margin:a,b", "--keep", "margin:b,c", "--keep", "margin:a,c"]
    for side, epsilon, words in ((6, "1", "had not met"), (3, "8", "promises nothing")):
        lines = [f"a{i},b{j},c{k},5" for i, j, k in np.ndindex(side, side, side)][:-1]
        Path("cube.csv").write_text("\n".join(["a,b,c,n", *lines]) + "\n")
        asked = ["release", "cube.csv", "--count", "n", "--keys", "all", *margins, "--epsilon", epsilon, "--out", "no"]
        status, _, messages = run(*asked)
        assert status == 1 and "gaussian" in messages
        status, _, messages = run(*asked, "--allow-diagnosed")
        assert status == 1 and words in " ".join(messages.split())
        assert not Path("no").exists()
