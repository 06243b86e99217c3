"""How often one person is counted: up to the bound, and every choice of rows is as likely."""

from __future__ import annotations

import hmac
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.count import count
from discreet.errors import BadInput
from discreet.io import microdata
from discreet.io.microdata import in_duckdb
from discreet.io.microdata.ranks import ranks
from discreet.io.universe import read_universe
from tests.count.people import (
    KEY,
    KINDS,
    ROWS,
    UNIVERSE,
    Rows,
    as_arrow,
    as_parquet,
    categories,
    counts_of,
    obvious,
    people,
    under_one_key,
)


def test_a_person_is_counted_up_to_the_bound(kind: str, tmp_path: Path) -> None:
    data = KINDS[kind](ROWS, tmp_path)
    for bound, total in ((1, 2), (2, 3), (3, 4), (4, 5), (9, 5)):
        table = count(data, ["county", "sex"], UNIVERSE, person="person", bound=bound)
        assert sum(counts_of(table)) == total
        assert table.schema.contributions == bound
    assert counts_of(table) == obvious(ROWS)


@pytest.mark.parametrize("engine", ["pyarrow", "parquet"])
@settings(max_examples=12, deadline=None)
@given(rows=people, bound=st.integers(1, 4), shuffle=st.randoms(use_true_random=False))
def test_each_person_counts_on_their_own(
    engine: str, rows: Rows, bound: int, shuffle: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What is kept of a person depends on nobody else, so it adds up, and one person changes no more than `bound`."""
    folder = tmp_path_factory.mktemp("people")

    def counted(some: Rows) -> Any:
        return under_one_key(KINDS[engine](some, folder), bound)

    alone = {who: counted([row for row in rows if row[2] == who]) for who in "abcde"}
    np.testing.assert_array_equal(counted(rows), sum(alone.values()))
    for who, part in alone.items():
        own = obvious([row for row in rows if row[2] == who])
        assert part.sum() == min(bound, sum(own))
        assert (part <= own).all()
    mixed = list(rows)
    shuffle.shuffle(mixed)
    np.testing.assert_array_equal(counted(mixed), counted(rows))


def test_several_passes_where_memory_is_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(*pair, f"p{who}") for who in range(500) for pair in list(product(*UNIVERSE.values()))[who % 4 :]]
    data = as_parquet(rows, tmp_path)
    at_once = under_one_key(data, 2)
    one_pass, asked = in_duckdb.InDuckDB.one_pass, []

    def small_memory(*arguments: Any) -> Any:
        asked.append(arguments[-2:])
        if arguments[-1] < 64:
            raise duckdb.OutOfMemoryException("too much")
        return one_pass(*arguments)

    monkeypatch.setattr(in_duckdb.InDuckDB, "one_pass", small_memory)
    np.testing.assert_array_equal(under_one_key(data, 2), at_once)
    assert asked == [(0, 1), (0, 8), *((number, 64) for number in range(64))]
    monkeypatch.setattr(in_duckdb, "MOST_PASSES", 8)
    with pytest.raises(BadInput, match=r"was to be counted.*too much"):
        count(data, ["county", "sex"], UNIVERSE, "person", 2)


def test_texts_that_a_column_takes_for_the_same_are_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """In several passes each would be somebody, and one person be counted above the bound."""
    with duckdb.connect() as database:
        database.execute("CREATE TABLE people (sex VARCHAR, person VARCHAR COLLATE NOCASE.NOACCENT)")
        database.execute("INSERT INTO people SELECT 'f', unnest(['Zoë', 'zoe', 'ZOE', 'zoË'])")
        one_pass = in_duckdb.InDuckDB.one_pass

        def small_memory(*arguments: Any) -> Any:
            if arguments[-1] < 8:
                raise duckdb.OutOfMemoryException("too much")
            return one_pass(*arguments)

        monkeypatch.setattr(in_duckdb.InDuckDB, "one_pass", small_memory)
        assert count(database.sql("FROM people"), "sex", {"sex": ["f", "m"]}, "person", 1).counts.tolist() == [1, 0]


def by_rank(key: bytes, rows: Rows, bound: int) -> list[int]:
    """The specification: HMAC of every row, by Python's own; the rows that come first."""
    seen: Counter[tuple[str, ...]] = Counter()
    ranked = []
    for place, (county, sex, who) in enumerate(rows):
        number = seen[county, sex, who]
        seen[county, sex, who] += 1
        message = "".join(f"{len(text.encode())}:{text}" for text in (who, county, sex)) + str(number)
        ranked.append((who, hmac.digest(key, message.encode(), "sha256")[:8], place))
    kept: Counter[str] = Counter()
    found = []
    for who, _, place in sorted(ranked):
        kept[who] += 1
        if kept[who] <= bound:
            found.append(place)
    return found


names_of_people = st.sampled_from(["a", "b", "c", "ä", "1:x", " ", "nan", "p" * 70])


@pytest.mark.parametrize("engine", ["pyarrow", "polars-lazy", "duckdb", "parquet"])
@settings(max_examples=15, deadline=None)
@given(
    rows=st.lists(st.tuples(categories, names_of_people).map(lambda pair: (*pair[0], pair[1])), max_size=25),
    bound=st.integers(1, 4),
    key=st.binary(min_size=32, max_size=32),
)
def test_ranks_choose_the_same_rows_everywhere(
    engine: str, rows: Rows, bound: int, key: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = KINDS[engine](rows, tmp_path_factory.mktemp("people"))
    expected = obvious([rows[place] for place in by_rank(key, rows, bound)])
    assert under_one_key(data, bound, key).tolist() == expected


FIVE: Rows = [("01001", "f", ""), ("01001", "f", ""), ("01003", "m", ""), ("02001", "f", ""), ("02001", "m", "")]
PEOPLE = 6000


def pairs_kept(words: Any) -> Any:
    """How often each pair of the five rows has the two smallest words, of people in rows and their rows in columns."""
    smallest = np.sort(np.argsort(words, axis=1)[:, :2], axis=1)
    return np.bincount(smallest[:, 0] * 5 + smallest[:, 1], minlength=25)[
        [k * 5 + j for k in range(5) for j in range(k + 1, 5)]
    ]


def five_ranks(key: bytes, numbers: list[int]) -> Any:
    """The ranks of FIVE, for many people; `numbers` tells rows of one category apart."""
    people = [str(who) for who in range(PEOPLE)]
    columns = [pa.array(np.repeat(people, 5))] + [pa.array([row[k] for row in FIVE] * PEOPLE) for k in (0, 1)]
    return ranks(key, columns, np.array(numbers * PEOPLE)).reshape(PEOPLE, 5)


def test_every_choice_of_rows_is_equally_likely() -> None:
    """Two of five rows, two of which are alike: each of the ten pairs of rows equally often. Where rows of one category
    go together, as they did when they were told apart by their category only, that is refuted."""
    assert chisquare(pairs_kept(five_ranks(KEY, [0, 1, 0, 0, 0]))).pvalue > 1e-6
    assert chisquare(pairs_kept(five_ranks(KEY, [0, 0, 0, 0, 0]))).pvalue < 1e-20
    doubled = five_ranks(KEY, [0, 1, 0, 0, 0]).astype(float) * [1, 1, 1, 1, 0.8]
    assert chisquare(pairs_kept(doubled)).pvalue < 1e-20


@pytest.mark.parametrize("engine", ["pyarrow", "parquet"])
def test_what_is_counted_follows_that_law(engine: str, tmp_path: Path) -> None:
    """The same through the whole of it: a category with two of the five rows has two fifths of what is kept."""
    rows = [(county, sex, str(who)) for who in range(PEOPLE) for county, sex, _ in FIVE]
    counts = under_one_key(KINDS[engine](rows, tmp_path), 2)
    expected = np.array([4, 0, 0, 2, 2, 2]) * PEOPLE / 5
    assert counts.sum() == 2 * PEOPLE
    assert (counts[[1, 2]] == 0).all()
    wide = np.sqrt(PEOPLE * 0.24)  # of one row's count; 0.4 is the chance of each
    assert np.abs(counts - expected).max() < 6 * 2 * wide
    assert np.abs(counts - 2 * PEOPLE / 4 * np.array([1, 0, 0, 1, 1, 1])).max() > 6 * 2 * wide  # categories, not rows


@pytest.mark.parametrize("engine", ["pyarrow", "parquet"])
def test_every_set_of_rows_is_kept_as_often(engine: str, tmp_path: Path) -> None:
    """Through the whole of it, where categories are a person's own, so that the counts tell which rows were kept: two
    of a, a, b, c, d. Refuted: that every set of categories is as likely, and every pair of categories."""
    own = ["a", "a", "b", "c", "d"]
    rows = pa.table(
        {"where": [f"{who}{k}" for who in range(PEOPLE) for k in own], "who": np.repeat(np.arange(PEOPLE), 5)}
    )
    pq.write_table(rows, tmp_path / "rows.parquet")
    every = read_universe({"where": [f"{who}{k}" for who in range(PEOPLE) for k in "abcd"]}, ["where"])
    data = rows if engine == "pyarrow" else tmp_path / "rows.parquet"
    kept = microdata.counted(data, ["where"], every, "who", 2, KEY)[0].reshape(PEOPLE, 4)
    found = Counter(map(tuple, kept.tolist()))
    sets = [(2, 0, 0, 0), (1, 1, 0, 0), (1, 0, 1, 0), (1, 0, 0, 1), (0, 1, 1, 0), (0, 1, 0, 1), (0, 0, 1, 1)]
    assert set(found) == set(sets)
    seen = [found[one] for one in sets]
    assert chisquare(seen, np.array([1, 2, 2, 2, 1, 1, 1]) * PEOPLE / 10).pvalue > 1e-6
    assert chisquare(seen).pvalue < 1e-20
    assert chisquare(seen, np.array([4, 4, 4, 4, 2, 2, 2]) * PEOPLE / 22).pvalue < 1e-20


def test_a_fresh_key_every_time() -> None:
    rows = [(*pair, f"p{who}") for who in range(50) for pair in product(*UNIVERSE.values())]
    frame = as_arrow(rows, Path())
    assert len({tuple(count(frame, ["county", "sex"], UNIVERSE, "person", 1).counts) for _ in range(5)}) > 1
