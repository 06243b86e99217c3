from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from jsonschema import Draft202012Validator

import discreet as dc
import discreet.io.folder as folder_module
from discreet.errors import BadInput
from discreet.io.folder import read_folder
from discreet.mechanism import Mechanism
from discreet.record.schema import release_schema
from discreet.record.words.promises import SEED_WARNING
from discreet.testing import assert_sampler_law
from tests.releases import KINDS, counts, example, make, sha256

SCHEMA = release_schema()
FILES = {"table.csv", "table.csv-metadata.json", "release.json", "report.html", "explore.html", "analysis.R"}


@pytest.fixture(scope="module", params=KINDS)
def saved(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dc.Release, Path, str]:
    release = make(request.param)
    out = tmp_path_factory.mktemp("release") / "out"
    return request.param, release, out, release.save(out)


def test_every_release_verifies_and_fits_its_schema(saved: tuple[str, dc.Release, Path, str]) -> None:
    kind, release, out, digest = saved
    verification = dc.verify(out, digest, allow_seeded=kind.startswith("seeded"))
    assert verification.valid, (kind, verification.problems)
    document = json.loads((out / "release.json").read_text())
    errors = [error.message for error in Draft202012Validator(SCHEMA).iter_errors(document)]
    assert not errors
    assert digest == sha256(out / "release.json")
    assert not dc.verify(out, "0" * 64).valid
    assert document["private"] is release.private is ("seed" not in KINDS[kind])


def test_every_file_is_what_the_contract_says(saved: tuple[str, dc.Release, Path, str]) -> None:
    kind, release, out, _ = saved
    options = KINDS[kind]
    signed = options.get("mechanism", "transport") in (
        "transport",
        "rank",
        "geometric",
        "staircase",
        "discrete-gaussian",
        "bounded",
    )
    signed = signed and not options.get("small_counts")  # rows of their own are drawn from as they are
    signed = signed and not options.get("signed")  # the counts are the measurements then
    measured = {"measurements.csv"} if signed and options.get("measurements", True) else set()
    assert {path.name for path in out.iterdir()} == FILES | measured
    document = json.loads((out / "release.json").read_text())
    assert document["digests"] == {p.name: sha256(p) for p in out.iterdir() if p.name != "release.json"}
    table = pa_csv.read_csv(out / "table.csv")
    assert table.column_names == ["place", "people"] and table.num_rows == document["schema"]["rows"] == 150
    assert table.column("people").to_pylist() == release.counts.tolist()
    guarantee = document["guarantee"]
    asked = {name: options.get(name) for name in ("epsilon", "alpha", "rho")}
    for name in ("epsilon", "rho"):
        assert (guarantee[name] is None) == (asked[name] is None and not (name == "epsilon" and asked["alpha"]))
        if asked[name] is not None:
            assert Fraction(guarantee[name]) == Fraction(asked[name])
    worked_out = options.get("mechanism") == "bounded"
    assert (
        (0 < Fraction(guarantee["delta"]) < 1)
        if worked_out
        else Fraction(guarantee["delta"]) == Fraction(options.get("delta", 0))
    )
    assert guarantee["grade"] == ("enclosed" if options.get("delta") else "exact")
    assert {"code": "rows-are-public"} in guarantee["remarks"]
    assert "Which rows the table has is public." in read_folder(out).record.guarantee.sentence or not release.private
    top = document["schema"]["max_count"]
    cut = options.get("top_code") or options.get("mechanism", "transport") not in ("transport", "rank")
    if top is not None and cut:
        assert table.column("people").to_numpy().max() <= top and table.column("people").to_numpy().min() >= 0
        assert {"code": "top-coded", "max_count": top} in guarantee["remarks"]
    each = options.get("contributions", 1)
    unit = str(read_folder(out).record.guarantee.unit)
    assert guarantee["unit"]["code"] == "one-person" and guarantee["unit"]["contributions"] == each
    assert ("in one row" in unit) == (each == 1) and (each == 1 or f"up to {each} times" in unit)


def test_a_seed_stamps_everything(tmp_path: Path) -> None:
    release = dc.release(example(), 1, max_count=8, mechanism="geometric", seed=3)
    again = dc.release(example(), 1, max_count=8, mechanism="geometric", seed=3)
    assert release.counts.tolist() == again.counts.tolist()
    assert not release.private and "NOT PRIVATE" in repr(release) and "NOT PRIVATE" in release.guarantee.sentence
    release.save(tmp_path / "out")
    document = json.loads((tmp_path / "out" / "release.json").read_text())
    report = (tmp_path / "out" / "report.html").read_text()
    assert document["private"] is False and SEED_WARNING in report
    assert "NOT private" in report and "NOT PRIVATE" in report
    assert "NOT PRIVATE" in read_folder(tmp_path / "out").record.guarantee.sentence
    private = dc.release(example(), 1, max_count=8, mechanism="geometric")
    assert private.private and "NOT" not in private.guarantee.sentence
    assert private.counts.tolist() != release.counts.tolist()


def test_no_secret_reaches_the_folder(tmp_path: Path) -> None:
    secret = 123_457_789_123_457_789  # so many digits are in no digest by chance
    frame = pa.table({"place": ["a", "b"], "n": [secret, 3], "diagnosis": ["concealed illness", "concealed cold"]})
    for i, mechanism in enumerate(("geometric", "explicit-fair", "transport", "rank")):
        table = dc.table(frame, "n", ["place"])
        cut = {"top_code": True} if mechanism in ("transport", "rank") else {}  # noise may well be zero
        dc.release(table, 1, max_count=5, mechanism=mechanism, **cut).save(tmp_path / f"{i}")
        for path in (tmp_path / f"{i}").iterdir():
            content = path.read_text()
            assert str(secret) not in content and "concealed" not in content and "diagnosis" not in content, path


def test_the_noise_is_the_one_claimed() -> None:
    """The released rows of one true count, against the law of its row."""
    rows = 40_000
    frame = pa.table({"place": [f"{i:05d}x" for i in range(rows)], "n": np.full(rows, 2)})
    for name in ("geometric", "explicit-fair", "randomized-response", "staircase", "exponential", "discrete-gaussian"):
        release = dc.release(
            dc.table(frame, "n", "place"), 1, delta="1e-6" if "gauss" in name else 0, max_count=4, mechanism=name
        )
        law = Mechanism(release.mechanism.name, release.mechanism.form).matrix()
        wrong = 0.75 * law[2] + 0.25 * law[4]
        assert_sampler_law(lambda _, seen=release.counts: seen, law[2], size=rows, wrong=wrong)


def test_measurements_are_signed_and_the_table_is_their_clamp() -> None:
    release = dc.release(example(), "1/10", max_count=8, mechanism="geometric")
    measured, published = np.asarray(release.measurements["people"]), np.asarray(release.table["people"])
    assert measured.min() < 0 and measured.max() > 8
    assert np.array_equal(np.clip(measured, 0, 8), published)
    assert dc.release(example(), 1, max_count=8, mechanism="explicit-fair").measurements is None
    assert dc.release(example(), 1, max_count=8, mechanism="geometric", measurements=False).measurements is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, r"none was given\. Give exactly one of epsilon, alpha and rho"),
        ({"epsilon": 1, "alpha": "1/2"}, r"given together\. Give exactly one of epsilon, alpha and rho"),
        ({"epsilon": 1, "rho": 1}, "epsilon and rho were given together"),
        ({"epsilon": 0}, "greater than zero"),
        ({"rho": "1e-30"}, "drown"),
        ({"epsilon": 1, "delta": 2}, "must be at least 0 and below 1"),
        ({"epsilon": 1, "mechanism": "geometrc"}, "Did you mean 'geometric'"),
        ({"epsilon": 1, "mechanism": "staircase"}, "needs a max_count"),
        ({"epsilon": 1, "mechanism": "staircase", "max_count": "auto"}, "Give max_count as a number"),
        ({"epsilon": 1, "max_count": 5.0}, "whole number"),
        ({"epsilon": 1, "max_count": "many"}, "the public key columns are: place"),
        ({"epsilon": 1, "max_count": 0}, "at least 1"),
        ({"epsilon": 1, "max_count": 5, "split": 1}, "at least 0 and below 1"),
        ({"epsilon": 1, "max_count": 5, "split": 0, "refine": False}, "nothing would tell the distribution"),
        ({"epsilon": 1, "delta": "1e-6", "max_count": 5}, "its noise is pure: a delta would be spent for nothing"),
        ({"epsilon": 1, "max_count": 5, "base": "gaussian"}, "needs a delta above 0, or rho"),
        ({"epsilon": 1, "max_count": 5, "base": "gausian"}, "Did you mean 'gaussian'"),
        ({"rho": 1, "max_count": 5, "mechanism": "geometric"}, "only Gaussian noise"),
        ({"epsilon": 1, "max_count": 5, "mechanism": "geometric", "consistent": True}, "Use mechanism 'transport'"),
        ({"epsilon": 1, "max_count": 5, "mechanism": "geometric", "split": "0.1"}, "Use mechanism 'transport'"),
        ({"epsilon": 1, "max_count": 5, "mechanism": "geometric", "refine": True}, "Use mechanism 'transport'"),
        ({"epsilon": 1, "max_count": 5, "mechanism": "explicit-fair", "base": "gaussian"}, "Use mechanism 'transport'"),
        ({"epsilon": 1, "max_count": 10**6}, "up to 100,000 only"),
        ({"epsilon": 1, "max_count": 5, "dataset": "x"}, "no ledger was given"),
        ({"epsilon": 1, "max_count": 5, "ledger": "x.db"}, "no data set was named"),
    ],
)
def test_nonsense_is_refused_before_anything_is_drawn(options: dict[str, Any], said: str) -> None:
    stages: list[str] = []
    with pytest.raises(BadInput, match=said):
        dc.release(example(), **options, stages=stages.append)
    assert "draw" not in stages and "record" not in stages


def test_only_tables_are_released() -> None:
    with pytest.raises(BadInput, match="Use read_table or table"):
        dc.release(pa.table({"n": [1]}), 1)  # type: ignore[arg-type]


def test_whole_numbers_of_numpy_are_taken() -> None:
    assert dc.release(example(), 1, max_count=np.int64(5)).max_count == 5  # type: ignore[arg-type]


# The folder


def test_formats(tmp_path: Path) -> None:
    release = dc.release(example(), 1, max_count=8)
    release.save(tmp_path / "parquet", "parquet")
    assert pq.read_table(tmp_path / "parquet" / "table.parquet").column("people").type == pa.int64()
    assert dc.verify(tmp_path / "parquet").valid
    with pytest.raises(BadInput, match="Did you mean 'parquet'"):
        release.save(tmp_path / "other", "parqet")
    assert not (tmp_path / "other").exists()


def test_keys_of_every_kind_survive_the_folder(tmp_path: Path) -> None:
    import datetime
    import decimal

    columns = {
        "integers": [10, 9, -3],
        "floats": [1.5, -2.5, 1e10],
        "dates": [datetime.date(2020, 1, 2), datetime.date(2019, 5, 1), datetime.date(2020, 1, 1)],
        "times": [datetime.datetime(2020, 1, 2), datetime.datetime(2019, 5, 1), datetime.datetime(2020, 1, 1, 3)],
        "decimals": [decimal.Decimal("1.5"), decimal.Decimal("11.2"), decimal.Decimal("9.0")],
        "texts": ['with "quotes", and commas', "line\nbreak", "ünïcode"],
        "spaces": [" a", "a", "a "],
        "digits": ["10x", "9x", "x"],
    }
    for name, values in columns.items():
        table = dc.table(pa.table({name: values, "n": [1, 2, 3]}), "n", "all")
        for suffix in ("csv", "parquet"):
            out = tmp_path / f"{name} {suffix}"
            dc.release(table, 1, max_count=5, mechanism="geometric").save(out, suffix)
            assert dc.verify(out).valid, (name, suffix, dc.verify(out).problems)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    release = dc.release(example(), 1, max_count=8, mechanism="geometric")
    release.save(tmp_path / "out")
    before = (tmp_path / "out" / "release.json").read_bytes()
    with pytest.raises(BadInput, match="there already"):
        release.save(tmp_path / "out")
    (tmp_path / "file").write_text("precious")
    with pytest.raises(BadInput, match="there already"):
        release.save(tmp_path / "file")
    with pytest.raises(BadInput, match="there is no folder"):
        release.save(tmp_path / "no" / "such" / "folder")
    assert (tmp_path / "out" / "release.json").read_bytes() == before
    (tmp_path / "empty").mkdir()
    release.save(tmp_path / "empty")
    assert dc.verify(tmp_path / "empty").valid


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt(), RuntimeError("bug")])
@pytest.mark.parametrize("step", ["write_frame", "pages", "write_record"])
def test_a_failure_in_the_middle_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException, step: str
) -> None:
    release = dc.release(example(), 1, max_count=8, mechanism="geometric")

    def fail(*_: Any) -> None:
        raise failure

    monkeypatch.setattr(folder_module, step, fail)
    expected = BadInput if isinstance(failure, OSError) else type(failure)
    with pytest.raises(expected, match="No space left" if expected is BadInput else None):
        release.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


KILLED = """
import sys, time, pyarrow as pa, discreet as dc
import discreet.io.folder as folder
original = folder.pages
def slow(*given):
    print("writing", flush=True)
    time.sleep(60)
    return original(*given)
folder.pages = slow
table = dc.table(pa.table({"k": ["a", "b"], "n": [1, 2]}), "n")
dc.release(table, 1, max_count=5, mechanism="geometric").save(sys.argv[1])
"""


def test_a_process_killed_in_the_middle_leaves_no_release(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path / "out")], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"writing\n"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert not (tmp_path / "out").exists()
    assert all(path.name.startswith(".out.") for path in tmp_path.iterdir())


def test_stages_come_in_order(tmp_path: Path) -> None:
    stages: list[str] = []
    dc.release(example(), 1, max_count=8, stages=stages.append).save(tmp_path / "out", stages=stages.append)
    assert stages == ["record", "draw", "publish", "seal", "save"]


def test_the_time_is_that_of_the_release() -> None:
    import datetime

    created = datetime.datetime.fromisoformat(make("geometric").record.created)
    assert abs(created.timestamp() - time.time()) < 60


def test_top_coding(tmp_path: Path) -> None:
    frame = pa.table({"place": ["a", "b"], "n": [10**6, 0]})
    release = dc.release(dc.table(frame, "n"), 20, max_count=7, mechanism="geometric")
    assert np.asarray(release.table["n"]).tolist() == [7, 0]
    assert "Counts above 7 are treated as 7." in release.guarantee.sentence
    assert counts(3).tolist() == counts(3).tolist()


@pytest.mark.parametrize("keep", [["total"], ["margin:sex", "margin:age"]])
def test_releases_that_keep_sums_fit_the_schema_too(tmp_path: Path, keep: list[str]) -> None:
    frame = pa.table({"sex": ["f", "f", "m", "m"], "age": ["old", "young"] * 2, "n": [5, 6, 7, 8]})
    dc.release(dc.table(frame, "n", "all"), 1, keep=keep).save(tmp_path / "out")
    document = json.loads((tmp_path / "out" / "release.json").read_text())
    assert not [error.message for error in Draft202012Validator(SCHEMA).iter_errors(document)]
    assert dc.verify(tmp_path / "out").valid


def test_the_schema_in_the_package_is_the_one_of_the_types() -> None:
    assert json.loads((Path(dc.__file__).parent / "release.schema.json").read_text()) == SCHEMA


def test_the_schema_refuses_what_is_no_release(tmp_path: Path) -> None:
    make("transport").save(tmp_path / "out")
    document = json.loads((tmp_path / "out" / "release.json").read_text())
    check = Draft202012Validator(SCHEMA)
    Draft202012Validator.check_schema(SCHEMA)
    assert check.is_valid(document)
    for name in document:
        wrong = {**document, name: 5}
        assert not check.is_valid(wrong), name
    assert not check.is_valid({**document, "surprise": 1})
    assert not check.is_valid({**document, "guarantee": {**document["guarantee"], "epsilon": 0.5}})  # a float
