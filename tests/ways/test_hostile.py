"""What a hostile reader tried: nothing is settled in silence, charged for nothing, or believed unchecked."""

from __future__ import annotations

import json
import pickle
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.record.release import seal_of
from discreet.ways.keep_distribution.spec import PRIVATIZERS
from discreet.ways.row_by_row.spec import LAWS
from tests.releases import sha256
from tests.shell import shell


def table(rows: int = 12) -> dc.Table:
    frame = pa.table({"a": [f"a{i // 2}" for i in range(rows)], "b": list("fm") * (rows // 2), "n": list(range(rows))})
    return dc.table(frame, "n", keys=["a", "b"])


@pytest.fixture
def ledger(tmp_path: Path) -> dc.Ledger:
    book = dc.ledger(tmp_path / "l.db")
    book.create("d", epsilon=100, delta="1/2")
    return book


@pytest.mark.parametrize("name", ["geometric", "uniform", "signed-geometric", "discrete-gaussian", "explicit-fair"])
def test_a_mechanism_of_another_way_is_refused(name: str) -> None:
    with pytest.raises(dc.BadInput, match="keeps no distribution"):
        dc.KeepDistribution(mechanism=name, max_count=4)


YES_OR_NO = [
    {"keep": "total", "per_unit": "no"}, {"keep": "total", "nonnegative": "no"},
    {"keep": "total", "allow_diagnosed": 1},
    {"consistent": "false"}, {"refine": "no"}, {"measurements": "no"}, {"mechanism": "rank", "consistent": 0},
    {"consistent": np.array([1, 0])}, {"measurements": np.array([1, 0])},
]  # fmt: skip


@pytest.mark.parametrize("options", YES_OR_NO, ids=range(len(YES_OR_NO)))
def test_no_is_not_taken_for_yes(options: dict[str, Any], ledger: dc.Ledger) -> None:
    with pytest.raises(dc.BadInput, match=r"neither true nor false|rank is another word"):
        dc.release(table(), 1, max_count=None, ledger=ledger, dataset="d", **options)
    assert ledger.status("d").releases == 0


@pytest.mark.parametrize("about", ["x", {"title": "x"}, 5])
def test_about_is_a_value(about: Any, ledger: dc.Ledger) -> None:
    with pytest.raises(dc.BadInput, match="Use About"):
        dc.release(table(), 1, about=about, ledger=ledger, dataset="d")
    assert ledger.status("d").releases == 0
    for wrong in (5, "\ud800"):
        with pytest.raises(dc.BadInput, match="it is not text"):
            dc.About(title=wrong)  # type: ignore[arg-type]


WRONG: list[dict[str, Any]] = [
    {"epsilon": np.array([1, 2])}, {"max_count": np.array([3, 4])}, {"base": 5}, {"privatizer": None},
    {"law": 5, "keep": "total"},
    {"epsilon": "1e-99999999"}, {"epsilon": 1, "delta": "1e9999999"},
]  # fmt: skip


@pytest.mark.parametrize("options", WRONG, ids=range(len(WRONG)))
def test_values_of_the_wrong_kind_are_told(options: dict[str, Any]) -> None:
    with pytest.raises(dc.BadInput):
        dc.release(table(), **{"epsilon": 1, **options})


def test_a_file_that_cannot_be_written_stops_everything(tmp_path: Path, ledger: dc.Ledger) -> None:
    (tmp_path / "t.csv").write_text("k,n\na,1\nb,2\n")
    words = ["release", str(tmp_path / "t.csv"), "--count", "n", "--epsilon", "1", "--out", str(tmp_path / "o")]
    words += ["--ledger", str(tmp_path / "l.db"), "--dataset", "d", "--write-spec"]
    assert shell(*words, str(tmp_path / "nowhere" / "x.toml")).returncode == 2
    assert not (tmp_path / "o").exists() and ledger.status("d").releases == 0
    assert shell(*words, str(tmp_path / "x.toml"), "--keep", "margin:nothing").returncode == 2
    assert not (tmp_path / "x.toml").exists() and ledger.status("d").releases == 0


@pytest.mark.parametrize("people", ["0", "-1"])
def test_nobody_is_counted_less_than_once(tmp_path: Path, people: str) -> None:
    (tmp_path / "t.csv").write_text("k,n\na,1\nb,2\n")
    words = ["release", str(tmp_path / "t.csv"), "--count", "n", "--epsilon", "1", "--out", str(tmp_path / "o")]
    assert shell(*words, "--contributions", people).returncode == 2 and not (tmp_path / "o").exists()


def test_rows_that_were_cut_off_are_not_in_a_release() -> None:
    full = pa.table({"k": [f"key{i:02d}" for i in range(12)], "n": list(range(12))})
    out = dc.release(dc.table(full.slice(0, 3), "n"), 1)
    assert b"key02" in pickle.dumps(out) and b"key11" not in pickle.dumps(out)


def resealed(folder: Path, change: Any) -> tuple[str, ...]:
    path = folder / "release.json"
    document = json.loads(path.read_text())
    change(document)
    document["digests"] = {file.name: sha256(file) for file in folder.iterdir() if file.name != "release.json"}
    path.write_text(json.dumps({**document, "seal": seal_of(document)}, indent=1) + "\n")
    return dc.verify(folder).problems


def twice(table: dict[str, Any]) -> None:
    table["measurements"] *= 2


EDITS: list[tuple[dict[str, Any], Any]] = [
    ({"keep": "total"}, lambda d: d["guarantee"].update(delta="1/7")),
    ({"keep": "total", "nonnegative": "condition"}, lambda d: d["guarantee"].update(delta="1/7")),
    ({"keep": "total", "nonnegative": True}, lambda d: d["guarantee"].update(delta="1/7")),
    ({"keep": "total"}, lambda d: d["mechanism"].update(sampler="magic")),
    ({"keep": "total"}, lambda d: d["mechanism"].update(sampler="")),
    ({"keep": "total"}, lambda d: d["invariants"]["kept"].append("total")),
    ({"keep": "total"}, lambda d: d["guarantee"]["unit"].update(norm="l2")),
    ({"max_count": 5, "mechanism": "geometric"}, lambda d: d.update(created="")),
    ({"max_count": 5, "mechanism": "geometric"}, lambda d: d.update(software="")),
    ({"max_count": 5, "mechanism": "geometric"}, lambda d: d["mechanism"]["noise"].update(odds="1e9999999")),
    ({"max_count": 5, "mechanism": "geometric"}, lambda d: d["guarantee"].update(delta="1e9999999")),
    ({"max_count": 5, "mechanism": "geometric"}, lambda d: d.update(schema_version=[])),
    ({"max_count": 5, "mechanism": "geometric"}, lambda d: d.update(tables=[])),
    ({"max_count": 5, "mechanism": "geometric"}, lambda d: twice(d["tables"][0])),
    ({"max_count": 5, "mechanism": "explicit-fair"}, lambda d: d["mechanism"].update(odds="9")),
    ({"max_count": 5, "mechanism": "randomized-response"}, lambda d: d["mechanism"].update(weights=[])),
]  # fmt: skip


@pytest.mark.parametrize(("options", "change"), EDITS, ids=range(len(EDITS)))
def test_an_edit_that_is_false_is_found(options: dict[str, Any], change: Any, tmp_path: Path) -> None:
    dc.release(table(), 1, **options).save(tmp_path / "out")
    assert resealed(tmp_path / "out", change)
    try:
        dc.estimate(tmp_path / "out")
    except dc.DiscreetError as error:
        assert str(error)  # told in words, not by a traceback


def _of_another_version(document: Any) -> None:
    document["software"] = "discreet 99.0"
    document["rendered"].update(discreet="99.0", words="0" * 64)


def test_a_report_that_cannot_be_compared_is_said_not_to_be(tmp_path: Path) -> None:
    dc.release(table(), 1, max_count=5).save(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    beside = tmp_path / "out" / "table.csv-metadata.json"
    beside.write_text(beside.read_text().replace(f"discreet {dc.__version__}", "discreet 99.0"))
    (tmp_path / "out" / "report.html").write_text("<h1>epsilon = 0.001</h1>")
    (problem,) = resealed(tmp_path / "out", _of_another_version)
    assert "what no report of ours has" in problem
    (tmp_path / "out" / "report.html").write_text(page.replace("What was done", "What was done then"))
    assert not resealed(tmp_path / "out", lambda d: None)
    done = shell("verify", str(tmp_path / "out"))
    said = "not applicable: the report is the one that follows from the record: not compared, it was drawn by other"
    assert done.returncode == 0 and said in done.stdout


def test_the_same_conversion_has_the_same_grade_and_norm() -> None:
    loss = dc.Approximate(1, "1/100")
    ways = (dc.KeepSums(keep="total", law="gaussian"), dc.KeepDistribution(max_count=9, base="gaussian"),
            dc.RowByRow(mechanism="discrete-gaussian", max_count=9))  # fmt: skip
    for way in ways:
        promise = dc.release(table(), loss, way).guarantee
        assert promise.grade == "enclosed" and promise.unit.norm == "l2" and promise.unit.rate.rho is not None


def test_measurements_that_are_not_published_are_not_spoken_of(tmp_path: Path) -> None:
    dc.release(table(), 1, max_count=9, measurements=False).save(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "file of measurements" not in page and dc.verify(tmp_path / "out").valid


def test_non_negative_overlapping_margins_draw_every_time() -> None:
    """A batch in which every trial was rejected was reshaped to nothing."""
    names = [(u, v, w) for u in "ab" for v in "cd" for w in "ef"]
    frame = pa.table({"u": [n[0] for n in names], "v": [n[1] for n in names], "w": [n[2] for n in names], "n": [3] * 8})
    source = dc.table(frame, "n", keys=["u", "v", "w"])
    for _ in range(15):
        out = dc.release(source, 1, keep=["margin:u,v", "margin:v,w", "margin:u,w"], nonnegative="condition")
        assert out.counts.min() >= 0 and out.counts.sum() == 24


def test_a_delta_is_refused_where_every_method_is_pure() -> None:
    with pytest.raises(dc.BadInput, match="a delta would be spent for nothing"):
        dc.evaluate(table(), ("geometric", "staircase"), epsilons=[1], delta="0.1", max_count=5, repeats=2)
    with pytest.raises(dc.BadInput, match="its delta is computed"):
        dc.bounded_noise(dc.Approximate(1, "0.1"), truth="1/2", support=4)


def test_an_evaluation_takes_values_too() -> None:
    found = dc.evaluate(table(), "geometric", epsilons=[dc.Pure("1/2"), "1/2", 1], max_count=5, repeats=2, workers=1)
    assert {row["epsilon"] for row in found.rows} == {"0.5", "1"}


def test_the_names_that_help_lists_are_those_there_are() -> None:
    from discreet.distribution.privatizer import exact_privatizers
    from discreet.laws import laws
    from discreet.ways.keep_distribution.spec import BASES, bases

    assert set(PRIVATIZERS) == set(exact_privatizers()) and set(LAWS) == set(laws()) and set(BASES) == set(bases())


def test_a_rate_is_the_price_of_one_unit() -> None:
    """Section by section: what one unit of distance costs, times the distance, is what was promised."""
    for options, distance in (
        ({"max_count": 9}, 1), ({"max_count": 9, "mechanism": "geometric"}, 1), ({"keep": "total"}, 2),
        ({"keep": ["margin:a", "margin:b"]}, 4),
    ):  # fmt: skip
        promise = dc.release(table(), 1, **options).guarantee  # type: ignore[arg-type]
        assert promise.unit.change.distance == distance
        assert float(promise.unit.rate.epsilon) * distance == pytest.approx(1, rel=1e-9)
        assert promise.unit.rate.epsilon.rational() * distance <= Fraction(1)


def test_a_release_file_never_takes_the_place_of_another(tmp_path: Path) -> None:
    """Neither of the table nor of anything else; and what was there stays there when a release fails."""
    table, other = tmp_path / "t.csv", tmp_path / "keep.toml"
    table.write_text("k,n\na,1\nb,2\n")
    other.write_text("precious")
    words = ["release", str(table), "--epsilon", "1", "--out", str(tmp_path / "o")]
    assert shell(*words, "--count", "n", "--write-spec", str(table)).returncode == 2
    assert shell(*words, "--count", "nope", "--write-spec", str(other)).returncode == 2
    assert table.read_text() == "k,n\na,1\nb,2\n" and other.read_text() == "precious"
    assert not (tmp_path / "o").exists()


GOLDEN = Path(__file__).parents[1] / "golden"
WITHOUT = ["row-by-row-own", "row-by-row-exponents", "keep-sums", "keep-sums-gaussian", "keep-distribution-constructed"]


def copied(name: str, tmp_path: Path) -> Path:
    return Path(shutil.copytree(GOLDEN / name, tmp_path / "out"))


@pytest.mark.parametrize("name", WITHOUT)
def test_measurements_of_a_release_that_has_none_are_refused(name: str, tmp_path: Path) -> None:
    folder = copied(name, tmp_path)
    shutil.copy(folder / "table.csv", folder / "measurements.csv")

    def add(document: dict[str, Any]) -> None:
        document["tables"][0]["measurements"] = [{"question": "cells", "file": "measurements.csv"}]
        document["rendered"] = {}

    assert any("all there is to measure" in problem for problem in resealed(folder, add))


def unclamped(document: dict[str, Any]) -> None:
    document["mechanism"]["clamp"] = document["schema"]["max_count"] = None
    document["guarantee"]["remarks"] = [{"code": "rows-are-public"}, {"code": "counts-may-be-negative"}]


def with_delta(document: dict[str, Any]) -> None:
    for loss in (document["guarantee"], document["guarantee"]["unit"]["rate"], document["certificate"]):
        loss["delta"] = "0.1"


TO_THREE = {"first": 0, "bits": 40, "keys": [], "outputs": [3]}
FORGED: list[tuple[str, Any, str]] = [
    ("row-by-row", unclamped, "all there is to measure"),
    ("row-by-row-gaussian", unclamped, "all there is to measure"),
    ("row-by-row", with_delta, "the noise is pure"),
    ("keep-distribution", lambda d: d["mechanism"].update(map=None), "not what its name says"),
    ("keep-distribution-by-rank", lambda d: d["mechanism"].update(map=TO_THREE), "does not lead to the published"),
    ("keep-distribution", lambda d: d["distribution"].update(method="sorted"), "only the measurements of 'cumulative'"),
    ("keep-distribution", lambda d: d["mechanism"].update(map_seed="whatever"), "not what its name says"),
    ("keep-distribution-by-rank", lambda d: d["mechanism"]["parts"].reverse(), "not what its name says"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "said"), FORGED, ids=range(len(FORGED)))
def test_a_forgery_that_is_sealed_anew_is_found(name: str, change: Any, said: str, tmp_path: Path) -> None:
    folder = copied(name, tmp_path)

    def forge(document: dict[str, Any]) -> None:
        change(document)
        document["rendered"] = {}

    problems = resealed(folder, forge)
    assert any(said in problem for problem in problems), problems


@pytest.mark.parametrize(("given", "forged"), [("0", "0.0"), ("0", "1e-999"), ("1/2", "0.0")])
def test_a_weight_of_nothing_is_told_from_others(given: str, forged: str, tmp_path: Path) -> None:
    dc.release(table(40), 1, lam=given).save(tmp_path / "out")
    problems = resealed(tmp_path / "out", lambda d: d["mechanism"]["aim"].update(lam=forged))
    assert any("is not the one that is found again" in problem for problem in problems), problems


def test_a_diagnosed_release_is_not_said_to_be_proved(tmp_path: Path) -> None:
    names = [(u, v, w) for u in "abc" for v in "def" for w in "ghi"][:-1]  # a structural zero
    columns = {key: [name[k] for name in names] for k, key in enumerate("uvw")}
    source = dc.table(pa.table({**columns, "n": [3] * 26}), "n", keys=list("uvw"))
    keep = ["margin:u,v", "margin:v,w", "margin:u,w"]
    dc.release(source, 4, keep=keep, allow_diagnosed=True).save(tmp_path / "out")
    done = shell("verify", str(tmp_path / "out"))
    assert dc.verify(tmp_path / "out").grade == "diagnosed" and done.returncode == 0 and "NOT proved" in done.stdout

    def smaller(document: dict[str, Any]) -> None:
        document["guarantee"]["delta"] = document["guarantee"]["remarks"][-1]["delta"] = "0.000001"
        document["rendered"] = {}

    assert any("below anything that its runs could show" in problem for problem in resealed(tmp_path / "out", smaller))


def test_paths_in_a_release_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (place / "t.csv").write_text("k,n\na,1\nb,2\n")
    (place / "uniform").write_text("a file of that name")
    dc.ledger(place / "l.db").create("d", epsilon=1)
    text = '[table]\nfile = "t.csv"\ncount = "n"\n[privacy]\nepsilon = 1\n[row-by-row]\nmechanism = "uniform"\n'
    text += 'max_count = 3\n[ledger]\nurl = "sqlite:///l.db"\ndataset = "d"\n[output]\nfolder = "out"\n'
    (place / "s.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    made, _ = dc.run("place/s.toml")
    assert made.mechanism.name == "uniform" and dc.ledger(place / "l.db").status("d").releases == 1
    assert dc.read_spec("place/s.toml").about is None
    for file in ("~nosuchuser/t.csv", "t\\u0000.csv"):
        (place / "s.toml").write_text(text.replace("t.csv", file))
        with pytest.raises(dc.BadInput):
            dc.run("place/s.toml", "again")


THINGS: dict[str, Any] = {
    "array": np.eye(3), "frame": pa.table({"a": [0.5, 0.5]}), "number": np.array(1), "list": ["cumulative"], "dict": {},
    "value": dc.Pure(1),
}  # fmt: skip


@pytest.mark.parametrize("kind", THINGS)
@pytest.mark.parametrize("option", ["mechanism", "privatizer", "base", "favor", "max_count", "split", "lam", "signed"])
def test_what_is_no_word_is_refused_in_words_to_keep_the_distribution(option: str, kind: str) -> None:
    if kind != "number" or option not in ("lam", "max_count"):  # a number in an array of its own is one
        with pytest.raises(dc.BadInput):
            dc.KeepDistribution(**{"max_count": 5, option: THINGS[kind]})


@pytest.mark.parametrize("kind", ["array", "frame", "number", "value"])
@pytest.mark.parametrize("option", ["measure", "levels", "keep"])
def test_what_is_no_question_is_refused_in_words(option: str, kind: str) -> None:
    with pytest.raises(dc.BadInput):
        dc.release(table(), 1, dc.Measure(**{option: THINGS[kind]}))


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"mechanism": "geometric", "max_count": 2**63}, "at most"),
        ({"mechanism": "signed-geometric", "max_count": 10**400}, "at most"),
        ({"split": "1e-400"}, "would drown every count"),
        ({"split": "1e-400", "max_count": 5}, "would drown every count"),
        ({"measure": ["cells@1e-400", "total"]}, "would drown every count|shares"),
    ],
)
def test_numbers_beyond_what_can_be_drawn_are_not_charged_for(
    ledger: dc.Ledger, options: dict[str, Any], found: str
) -> None:
    with pytest.raises(dc.BadInput, match=found):
        dc.release(table(), 1, ledger=ledger, dataset="d", **options)
    assert not ledger.history("d")
