"""A law, a privatizer and a way that nobody here has heard of, each registered and nothing of ours changed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.cli.flags import flags_of
from discreet.distribution import privatizer
from discreet.laws import law as registry
from discreet.options import described, option, options_of
from discreet.privacy.values import Remark
from discreet.record import words
from discreet.record.release import seal_of
from discreet.record.words import promises, steps
from discreet.ways import PACKAGES, register
from discreet.ways.keep_sums.spec import KeepSums
from tests.shell import shell


@pytest.fixture
def plateau() -> Iterator[None]:
    import_module("tests.laws.plateau")
    yield
    registry._LAWS.pop("plateau")
    sys.modules.pop("tests.laws.plateau")


@pytest.fixture
def heavy() -> Iterator[None]:
    import_module("tests.laws.heavy")
    yield
    registry._LAWS.pop("heavy")
    sys.modules.pop("tests.laws.heavy")


@pytest.fixture
def pairs() -> Iterator[None]:
    import_module("tests.distribution.pairs")
    yield
    privatizer._REGISTERED.pop("pairs")
    sys.modules.pop("tests.distribution.pairs")


@pytest.fixture
def in_steps() -> Iterator[Any]:
    register("in-steps", "tests.ways.toy")
    kept = dict(promises.REMARKS), dict(steps.STEPS)
    sys.modules.pop("tests.ways.toy.way", None)
    yield import_module("tests.ways.toy.way").InSteps
    PACKAGES.pop("in-steps")
    for ours, before in zip((promises.REMARKS, steps.STEPS), kept):
        ours.clear()
        ours.update(before)


def table(rows: int = 300) -> dc.Table:
    counts = np.random.default_rng(1).poisson(4, rows)
    return dc.table(pa.table({"place": [f"p{i:03d}" for i in range(rows)], "n": counts}), "n")


def round_trip(out: dc.Release, folder: Path) -> Any:
    out.save(folder)
    verification = dc.verify(folder)
    assert verification.valid, verification.problems
    return dc.estimate(folder, level="0.999999999999")  # so that a right interval never misses


@pytest.mark.usefixtures("plateau")
def test_a_new_law_draws_rows(tmp_path: Path) -> None:
    source = table()
    out = dc.release(source, dc.Pure(1), dc.RowByRow(mechanism="plateau", max_count=15))
    assert json.loads(json.dumps(out.mechanism.parameters)) and out.mechanism.form.noise.name == "plateau"
    total = round_trip(out, tmp_path / "rows").total()
    assert total.interval[0] < source.counts.sum() < total.interval[1]
    short = dc.release(source, 1, mechanism="plateau", max_count=15, seed=1)
    assert np.array_equal(short.counts, dc.release(source, 1, mechanism="plateau", max_count=15, seed=1).counts)


@pytest.mark.usefixtures("heavy")
@pytest.mark.parametrize(
    "options",
    [{"mechanism": "heavy", "max_count": 15}, {"base": "heavy"},
     {"base": "heavy", "max_count": 15, "favor": "distribution"}],
    ids=["rows", "mapped", "distribution"],
)  # fmt: skip
def test_a_new_law_may_have_heavy_tails(tmp_path: Path, options: dict[str, Any]) -> None:
    """Their end is a trillion widths away: nothing may reach as far as that."""
    estimate = round_trip(dc.release(table(60), 2, **options), tmp_path / "heavy")
    assert np.isfinite([estimate.total().estimate, *estimate.total().interval]).all()
    assert 0 <= estimate.share_above(2).estimate <= 1 and len(estimate.rows()) == 60


@pytest.mark.usefixtures("plateau")
def test_a_new_law_that_is_not_pure_is_no_base(monkeypatch: pytest.MonkeyPatch) -> None:
    """A share of an epsilon has a price in it; it would be called pure, and is not."""
    monkeypatch.setattr(sys.modules["tests.laws.plateau"].Plateau, "pure", False)
    for loss in (dc.Pure(1), dc.Approximate(1, "0.01")):
        with pytest.raises(dc.BadInput, match="no base noise of that name"):
            dc.plan(100, loss, dc.KeepDistribution(max_count=15, base="plateau"))


@pytest.mark.usefixtures("plateau")
def test_a_new_law_is_the_noise_under_the_map(tmp_path: Path) -> None:
    source = table()
    out = dc.release(source, dc.Pure(1), dc.KeepDistribution(max_count=15, base="plateau"))
    estimate = round_trip(out, tmp_path / "mapped")
    assert out.mechanism.noise.name == "plateau"
    assert estimate.share_zero().interval[1] <= 1


@pytest.mark.usefixtures("plateau")
def test_less_of_the_new_noise_is_found(tmp_path: Path) -> None:
    dc.release(table(), 1, mechanism="plateau", max_count=15).save(tmp_path / "rows")
    path = tmp_path / "rows" / "release.json"
    document = json.loads(path.read_text())
    document["mechanism"]["noise"]["odds"] = document["mechanism"]["parameters"]["odds"] = "3"
    path.write_text(json.dumps({**document, "seal": seal_of(document)}, indent=1) + "\n")
    assert any("would need epsilon" in problem for problem in dc.verify(tmp_path / "rows").problems)


@pytest.mark.usefixtures("pairs")
@pytest.mark.parametrize("loss", [dc.Pure(1), dc.Concentrated(1)], ids=str)
def test_a_new_privatizer_measures_the_distribution(tmp_path: Path, loss: Any) -> None:
    out = dc.release(table(), loss, dc.KeepDistribution(max_count=15, privatizer="pairs", split="1/2"))
    assert out.distribution.method == "pairs" and not out.mechanism.refined
    round_trip(out, tmp_path / "pairs").total()


@pytest.mark.parametrize("name", [name for name in privatizer.exact_privatizers() if name != "cumulative"])
@pytest.mark.parametrize("loss", [dc.Pure("1/2"), dc.Concentrated("1/2"), dc.Approximate(1, "1e-6")], ids=str)
def test_any_exact_privatizer_can_be_used(tmp_path: Path, name: str, loss: Any) -> None:
    base = None if isinstance(loss, dc.Pure) else "gaussian"
    out = dc.release(table(), loss, dc.KeepDistribution(max_count=15, privatizer=name, base=base))
    assert out.distribution.method == name
    round_trip(out, tmp_path / name).total()


def test_an_idealised_privatizer_cannot() -> None:
    with pytest.raises(dc.BadInput, match="cyclic-gaussian"):
        dc.release(table(), 1, max_count=15, privatizer="cyclic-gaussian")


def test_a_new_way_is_one_package(tmp_path: Path, in_steps: Any) -> None:
    source = table()
    out = dc.release(source, dc.Pure(1), in_steps(step=3))
    assert set(out.counts % 3) == {0} and out.record.way == "in-steps"
    total = round_trip(out, tmp_path / "steps").total()
    assert total.interval[0] < source.counts.sum() < total.interval[1]
    (tmp_path / "t.csv").write_text("place,n\na,1\nb,7\n")
    (tmp_path / "s.toml").write_text(
        '[table]\nfile = "t.csv"\ncount = "n"\n[privacy]\nepsilon = 1\n[in-steps]\nstep = 4\n[output]\nfolder = "out"\n'
    )
    made, _ = dc.run(tmp_path / "s.toml")
    assert made.record.facts.mechanism.step == 4 and dc.verify(tmp_path / "out").valid


def test_a_new_way_has_words_of_its_own(tmp_path: Path, in_steps: Any) -> None:
    """In its plan, its promise, its report and the shell."""
    promised, done = "Every count is a multiple of 3.", "Noisy counts became the nearest multiple of 3."
    plan = dc.plan(table(), 1, in_steps(step=3))
    assert promised in str(plan) and done in str(plan)
    out = dc.release(table(), 1, in_steps(step=3))
    out.save(tmp_path / "steps")
    page = (tmp_path / "steps" / "report.html").read_text()
    assert promised in out.guarantee.sentence and promised in page and done in page
    assert shell("verify", "steps", cwd=tmp_path).returncode == 0
    assert "total: " in shell("estimate", "steps", "--total", cwd=tmp_path).stdout
    with pytest.raises(dc.BadInput, match="Did you mean 'step'"):
        in_steps(stop=3)
    with pytest.raises(dc.BadInput, match="'put-in-steps' were to be learnt: there are others"):
        words.learn({}, {"put-in-steps": "Something else."})
    with pytest.raises(dc.BadInput, match="Words for 'nothing-known' were asked for: there are none"):
        steps.sentences([Remark("nothing-known")])


def test_a_new_way_is_written_to_a_file_and_run_from_the_shell(tmp_path: Path, in_steps: Any) -> None:
    (tmp_path / "t.csv").write_text("place,n\na,1\nb,7\n")
    source, into = dc.TableSpec(str(tmp_path / "t.csv"), "n"), dc.Output(str(tmp_path / "out"))
    spec = dc.ReleaseSpec(source, dc.Pure(1), in_steps(step=4), output=into)
    spec.write(tmp_path / "s.toml")
    assert dc.read_spec(tmp_path / "s.toml") == spec
    assert shell("run", "s.toml", cwd=tmp_path).returncode == 0 and dc.verify(tmp_path / "out").valid
    (tmp_path / "s.toml").write_text((tmp_path / "s.toml").read_text().replace("step =", "stop ="))
    assert "Did you mean 'step'" in shell("run", "s.toml", "--out", "again", cwd=tmp_path).stderr


def test_a_name_is_taken_once(in_steps: Any) -> None:
    register(in_steps.name, "tests.ways.toy")
    for name in (in_steps.name, "keep-sums"):
        with pytest.raises(dc.BadInput, match="there is another way of that name"):
            register(name, "tests.ways.other")


def test_what_a_new_way_knows_of_its_rows_it_knows_of_all(in_steps: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan simulates fewer rows only for ways that say that rows are alike to them."""
    monkeypatch.setattr(sys.modules["discreet.plan"], "MOST_ROWS", 10)
    way, planned = import_module("tests.ways.toy.way"), []
    noted = replace(way.WAY, plan=lambda schema, *more: planned.append(schema.rows) or way.plan(schema, *more))
    monkeypatch.setattr(way, "WAY", noted)
    dc.plan(table(30), 1, in_steps())
    monkeypatch.setattr(way, "WAY", replace(noted, rows_alike=True))
    dc.plan(table(30), 1, in_steps())
    assert planned == [30, 30, 30, 10]


@pytest.mark.usefixtures("in_steps")
def test_the_new_way_is_proved_and_replayed(tmp_path: Path, in_steps: Any) -> None:
    dc.release(table(), 1, in_steps()).save(tmp_path / "steps")
    path = tmp_path / "steps" / "release.json"
    kept = path.read_text()
    louder = {"law": "geometric", "odds": "9"}
    for field, value, said in (("step", 4, "does not follow"), ("noise", louder, "too small")):
        document = json.loads(kept)
        document["mechanism"][field] = value
        path.write_text(json.dumps({**document, "seal": seal_of(document)}, indent=1) + "\n")
        assert any(said in problem for problem in dc.verify(tmp_path / "steps").problems)


def test_a_new_option_is_one_field_of_a_spec() -> None:
    @dataclass(frozen=True)
    class More(KeepSums):
        name: ClassVar[str] = "keep-sums"
        gamma: int = option(1, "how much more the promise counts the noise", kind=int)
        glow: str = option("dull", "how it looks", values=lambda: ("dull", "bright"))

    assert options_of(More)["gamma"][1] == 1
    assert flags_of(More)["gamma"][0].flag_of("gamma") == "--gamma"
    assert "gamma (1): how much more the promise counts the noise." in described(More)
    assert More(keep="total", gamma=2, glow="bright").gamma == 2
    with pytest.raises(dc.BadInput, match="Did you mean 'bright'"):
        More(keep="total", glow="brihgt")
