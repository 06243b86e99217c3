"""The releases that the study compares: the product's own, and references that are what they claim to be."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.laws import Geometric
from discreet_lab.frontier.methods import (
    FITTED,
    GROUPS,
    NEED_MAX_COUNT,
    StudySetting,
    favoured,
    fitted,
    medians,
    released,
)
from discreet_lab.frontier.tables import some_tables, study_tables

SMALL = np.array([0, 0, 0, 1, 1, 2, 2, 2, 5, 9] * 12)


def small(max_count: int | None, epsilon: str = "0.5") -> StudySetting:
    return StudySetting("small", SMALL, max_count, epsilon)


def test_there_are_many_tables_and_some_are_held_out() -> None:
    tables = study_tables()
    assert len(tables) >= 16 and sum(table.held_out for table in tables) >= 4
    assert len({table.name for table in tables}) == len(tables)
    for one, again in zip(tables, study_tables(Path("no such folder"))):
        np.testing.assert_array_equal(one.counts, again.counts)
        assert one.counts.min() >= 0 and one.as_released(True).max() <= one.max_count


def test_a_table_that_is_not_there_is_refused() -> None:
    assert [table.name for table in some_tables(("tiny", "sids"))] == ["tiny", "sids"]
    with pytest.raises(BadInput, match="Did you mean 'binomial'"):
        some_tables(("binomal",))


def test_real_tables_are_read_where_they_are(tmp_path: Path) -> None:
    import gzip

    (tmp_path / "us_county_murders_2012.csv").write_text("county,murder\na,3\nb,70\n")
    with gzip.open(tmp_path / "us_vtd_race_2010_long.csv.gz", "wt") as lines:
        lines.write("geo,group,count\nVT-1,white,8\nAK-1,white,9\nVT-2,white,0\n")
    homicides, precincts, sids = some_tables(("homicides", "precincts", "sids"), tmp_path)
    assert homicides.counts.tolist() == [3, 70] and homicides.as_released(True).tolist() == [3, 50]
    assert precincts.counts.tolist() == [8, 0] and precincts.held_out
    assert "in place of" in sids.about


@pytest.mark.parametrize("max_count", [None, 9, 2])
def test_a_shared_fit_releases_what_the_product_does(max_count: int | None) -> None:
    setting = StudySetting("small", SMALL if max_count is None else np.minimum(SMALL, max_count), max_count, "1")
    for together in fitted(setting, 0):
        alone = favoured(setting, together.method, 0)
        assert (together.count, together.distribution) == (alone.count, alone.distribution)
        assert together.promised == pytest.approx(alone.promised, rel=0.01)  # a record has three digits


def test_every_method_is_made_where_it_can_be() -> None:
    for max_count in (None, 9):
        setting = small(max_count)
        made = {one.method for group in GROUPS for one in released(setting, group, 0)}
        left_out = set() if max_count else set(NEED_MAX_COUNT)
        assert made == {method for group in GROUPS for method in group} - left_out
        assert released(setting, FITTED, 0) == released(setting, FITTED, 0) != released(setting, FITTED, 1)


def test_the_oracle_has_the_least_count_error() -> None:
    """Against every monotone rule from a noisy value, cut to the range, to a count."""
    counts, noise = np.array([0, 0, 0, 1, 3, 3]), Geometric(2)
    rows = np.clip(np.repeat(np.arange(-3, 7), 1), 0, 3)
    found = medians(np.arange(4), counts, noise)
    masses = np.exp(noise.log_mass(np.subtract.outer(np.arange(-60, 64), counts).astype(float)))
    seen = np.zeros((4, len(counts)))
    np.add.at(seen, np.clip(np.arange(-60, 64), 0, 3), masses)

    def error(rule: tuple[int, ...]) -> float:
        return float((seen * np.abs(np.array(rule)[:, None] - counts)).sum())

    assert error(tuple(found)) == pytest.approx(min(map(error, product(range(4), repeat=4))))
    np.testing.assert_array_equal(medians(np.arange(-3, 7), counts, noise), found[rows])


def test_the_oracle_by_rank_has_the_true_distribution() -> None:
    found = {one.method: one for one in released(small(None), GROUPS[2], 0)}
    assert found["oracle by rank"].distribution == 0 < found["oracle"].distribution
    assert found["oracle"].count <= found["plain"].count
