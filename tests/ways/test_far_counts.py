"""Enormous counts, noise wider than everything, and options that only meet at the edges: honest releases verify, and
answers about them are true."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.errors import BadInput
from discreet.io.folder import folder_of, read_contents
from discreet.public_map import monotone_map, rank_rows
from discreet.verify import verify_contents
from tests.tampering.forge import sealed, with_files, with_its_report
from tests.tampering.test_findings import with_counts


def table(counts: Any) -> dc.Table:
    names = [f"r{k:05d}" for k in range(len(counts))]
    return dc.table(pa.table({"k": names, "n": np.asarray(counts, dtype=np.int64)}), count="n")


def poisson(rows: int, *more: int) -> np.ndarray:
    return np.append(np.random.default_rng(3).poisson(3, rows), more).astype(np.int64)


HONEST: list[tuple[np.ndarray, dict[str, Any]]] = [
    (poisson(28, 10**9), {"rho": "0.1"}),
    (poisson(28, 10**9), {"rho": "0.1", "max_count": 3000}),
    (poisson(28, 10**9), {"rho": "0.1", "signed": True}),
    (np.arange(0, 200_001, 50_000), {"rho": 10, "lam": 0}),
    (poisson(500, 150_000), {"epsilon": 1, "delta": "1e-6", "base": "gaussian"}),
    (poisson(300, 150_000), {"epsilon": 1, "base": "staircase"}),
    (poisson(39, 10**9), {"epsilon": 1}),
    (poisson(39, 10**9), {"epsilon": 1, "favor": "distribution"}),
    (poisson(39, 10**9), {"epsilon": 1, "signed": True}),
    (poisson(39, 10**9), {"epsilon": 1, "mechanism": "geometric"}),
    (poisson(39, 10**9), {"epsilon": 1, "mechanism": "geometric", "max_count": "auto"}),
    (poisson(99, 5000), {"rho": 1}),
    (np.arange(40), {"epsilon": "0.00001", "max_count": 200, "refine": False}),
    (np.arange(40), {"epsilon": "0.00001", "refine": False}),
    (poisson(30), {"epsilon": "0.1", "signed": True, "top_code": True, "max_count": 5}),
]


@pytest.mark.parametrize(("counts", "options"), HONEST, ids=lambda value: str(value) if isinstance(value, dict) else "")
def test_an_honest_release_verifies_and_its_total_is_estimated(
    counts: np.ndarray, options: dict[str, Any], tmp_path: Path
) -> None:
    dc.release(table(counts), seed=4, **options).save(tmp_path / "out")
    found = dc.verify(tmp_path / "out", allow_seeded=True)
    assert found.valid, found.problems
    truth = np.minimum(counts, 5).sum() if "top_code" in options else counts.sum()
    view = dc.estimate(tmp_path / "out", level="0.9999")
    low, high = view.total().interval
    assert low <= truth <= high
    rows = view.rows().table() if options.get("rho") is None else None
    if rows is not None and counts.max() == 10**9:
        assert rows["low"][39].as_py() <= 10**9 <= rows["high"][39].as_py()


def test_a_quantile_beyond_all_distributions_is_refused() -> None:
    view = dc.estimate(dc.release(table(poisson(39, 10**9)), epsilon=1, seed=1))
    assert view.quantile(0.5).estimate <= 5
    with pytest.raises(BadInput, match="above 100,000"):
        view.quantile(1)


@pytest.mark.parametrize(
    "options", [{"refine": False}, {"privatizer": "laplace", "max_count": 5}, {"consistent": True}]
)
def test_signed_says_what_it_excludes(options: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="left as it is"):
        dc.release(table(np.arange(30)), epsilon=1, signed=True, **options)


def test_mapped_counts_without_measurements_are_estimated_with_care() -> None:
    counts, both = poisson(100), []
    for measured in (True, False):
        release = dc.release(table(counts), epsilon=1, favor="distribution", measurements=measured, seed=1)
        both.append(dc.estimate(release, level="0.9999").total())
    (low, high), (least, most) = (answer.interval for answer in both)
    assert both[1].conservative and not both[0].conservative and most - least > high - low
    assert least <= counts.sum() <= most


def test_a_distribution_that_lies_beyond_the_rows_makes_no_nan() -> None:
    options = {"max_count": 200, "favor": "distribution", "split": "0.05", "privatizer": "privelet"}
    for seed in range(4):
        answer = dc.estimate(dc.release(table([2]), epsilon="0.5", seed=seed, **options)).total()
        assert not np.isnan([answer.estimate, *answer.interval]).any()


@pytest.mark.parametrize("word", ["inf", "Inf", "infinity", float("inf")])
def test_an_endless_weight_can_be_written_down(word: Any, tmp_path: Path) -> None:
    spec = dc.KeepDistribution(lam=word)
    assert spec.weight == float("inf")
    for line in ('lam = "inf"', "lam = inf"):
        (tmp_path / "t.csv").write_text("k,n\na,1\nb,2\n")
        sections = ["[table]", 'file = "t.csv"', 'count = "n"', "[privacy]", "epsilon = 1", "[keep-distribution]", line]
        (tmp_path / "spec.toml").write_text("\n".join(sections))
        assert dc.read_spec(tmp_path / "spec.toml").way == spec


def moved(bins: np.ndarray) -> np.ndarray:
    """The row with the largest count gets a small one."""
    bins = bins.copy()
    bins[np.flatnonzero(bins)[-1]] -= 1
    bins[1] += 1
    return bins


@pytest.mark.parametrize(
    ("counts", "options"),
    [
        (poisson(99, 90_000), {"epsilon": 1}),
        (poisson(999, 50_000), {"epsilon": "0.1"}),
        (poisson(999, 50_000), {"epsilon": 1, "favor": "distribution"}),
        (poisson(400), {"epsilon": 1}),
    ],
)
def test_no_single_row_can_be_moved_far(counts: np.ndarray, options: dict[str, Any], tmp_path: Path) -> None:
    """Bins, map, table and report made anew, and sealed."""
    dc.release(table(counts), **options).save(tmp_path / "out")
    contents = read_contents(tmp_path / "out")
    document, publication = dict(contents.document), folder_of(contents).publication
    bins = moved(np.asarray(publication.record.facts.distribution.histogram))
    seen = np.bincount(np.clip(publication.measured, 0, len(bins) - 1), minlength=len(bins))
    public_map = monotone_map(seen.astype(float), bins.astype(float))
    mechanism = document["mechanism"] | {
        "map": document["mechanism"]["map"] | {"keys": public_map.keys.tolist(), "outputs": public_map.outputs.tolist()}
    }
    forged = document | {
        "mechanism": mechanism,
        "distribution": document["distribution"] | {"histogram": bins.tolist()},
    }
    published = rank_rows(publication.measured, bins, document["mechanism"]["map_seed"], beyond=True)
    files = {name: file for name, file in contents.files.items() if name != "release.json"}
    files["table.csv"] = with_counts(files["table.csv"], published)
    found = verify_contents(with_its_report(with_files(sealed(contents, forged), files)))
    assert "The published histogram does not follow from the measurements." in found.problems
