"""The judge condemns what is wrong, lets chance pass, and writes down both."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet_lab.frontier.methods import Method
from discreet_lab.frontier.page import between, picture, verdict_words, written
from discreet_lab.frontier.runs import Run, StudyCell
from discreet_lab.frontier.tables import StudyTable
from discreet_lab.frontier.verdicts import (
    BOTH,
    TWENTIETH,
    Judged,
    Verdict,
    held_out,
    judged,
    near_oracle,
    not_above,
    promise,
    verdicts,
)

PAGE = Path(__file__).parents[3] / "docs" / "frontier.md"
METHODS: dict[Method, tuple[float, float]] = {
    "balance": (0.8, 0.3), "counts": (0.75, 0.4), "distribution": (0.9, 0.1), "plain": (1.0, 0.5),
    "version 0.1": (1.0, 0.2), "oracle": (0.74, 0.4), "oracle by rank": (0.8, 0.0), "paper": (1.2, 0.3),
    "unfixed": (0.8, 0.6),
}  # fmt: skip


def table(name: str, apart: bool = False) -> StudyTable:
    return StudyTable(name, np.zeros(2000, dtype=np.int64), 5, "made up", apart)


def run(cell: StudyCell, method: Method, count: float, distribution: float, noise: float = 0.0) -> Run:
    """Ten repeats about these errors; the record promises the first."""
    wiggle = noise * np.array([1, -1] * 5)
    columns = (tuple((error + wiggle).tolist()) for error in (count, distribution))
    return Run(cell, method, 0, *columns, (count,) * 10, 0.1, "code")


def cells(**changed: tuple[float, float]) -> list[Judged]:
    """Four cells as they should be, but for the methods that are changed in the last of them."""
    names = [StudyCell(name, "0.5", known) for known in (False, True) for name in ("a", "b")]
    runs = []
    for cell in names:
        errors = METHODS | (changed if cell == names[-1] else {})
        runs += [run(cell, method, *errors[method]) for method in METHODS]
    return judged(runs, [table("a"), table("b", apart=True)])


def test_all_is_well_where_it_is() -> None:
    found = verdicts(cells())
    # all but one: balance cannot have the least count error while it follows the distribution, and here it has not
    assert [verdict.holds for verdict in found].count(False) == 1
    (failed,) = [verdict for verdict in found if not verdict.holds]
    assert "balance against the oracle:" in failed.name and len(failed.failing) == 4
    assert all(verdict.cells == 4 for verdict in found)


@pytest.mark.parametrize(
    "method, errors, failing",
    [
        ("balance", (1.02, 0.3), "plain noise: neither"),
        ("balance", (0.8, 0.51), "plain noise: neither"),
        ("balance", (0.95, 0.4), "version 0.1: the sum not above"),
        ("counts", (0.77, 0.4), "counts against the oracle:"),
        ("balance", (0.85, 0.3), "oracle by rank"),
        ("distribution", (1.21, 0.1), "the paper's pipeline"),
        ("distribution", (0.9, 0.31), "the paper's pipeline"),
        ("distribution", (0.9, 0.21), "distribution against version 0.1"),
    ],
)
def test_what_is_wrong_in_one_cell_is_found_there(method: Method, errors: tuple[float, float], failing: str) -> None:
    for some in (verdicts, held_out):
        (verdict,) = [verdict for verdict in some(cells(**{method: errors})) if failing in verdict.name]
        assert not verdict.holds and {str(one.cell) for one in verdict.failing} == {"b 0.5 with"}
        assert "b 0.5 with" in verdict_words(verdict) and "fails" in verdict_words(verdict)


def test_a_difference_within_two_standard_errors_is_chance() -> None:
    cell = StudyCell("a", "0.5", False)
    plain = run(cell, "plain", 1.0, 0.5)
    for noise, sure in ((0.05, True), (0.2, False)):
        (one,) = judged([plain, run(cell, "balance", 1.05, 0.4, noise)], [table("a")])
        (finding,) = not_above([one], "", "balance", "plain", BOTH).findings
        assert finding.sure == sure and finding.ratio == pytest.approx(1.05)
    assert "holds" in verdict_words(Verdict("", 1, (finding,))) and "within 2" in verdict_words(
        Verdict("", 1, (finding,))
    )


def test_a_share_of_the_cells_is_enough_or_not() -> None:
    shares = [verdict for verdict in verdicts(cells(balance=(1.0, 0.3))) if verdict.share is not None]
    assert [verdict.share for verdict in shares] == [0.75, 0.75] and [verdict.holds for verdict in shares] == [
        True,
        False,
    ]


@pytest.mark.parametrize("promised, holds", [(0.88, False), (0.91, True), (1.09, True), (1.12, False)])
def test_a_promise_is_kept_or_broken(promised: float, holds: bool) -> None:
    made = run(StudyCell("a", "1", True), "balance", 1.0, 0.3, 0.01)
    kept = Run(made.cell, "balance", 0, made.count, made.distribution, (promised,) * 10, 0.1, "code")
    assert promise(judged([kept], [table("a")]), "balance").holds == holds


@pytest.mark.parametrize("promised, holds", [(0.002, True), (0.049, True), (0.07, False)])
def test_where_nothing_is_left_of_the_error_a_promise_is_judged_by_its_size(promised: float, holds: bool) -> None:
    made = run(StudyCell("a", "1", True), "balance", 0.001, 0.001)
    kept = Run(made.cell, "balance", 0, made.count, made.distribution, (promised,) * 10, 0.1, "code")
    cells_of_it = judged([kept], [table("a")])
    assert promise(cells_of_it, "balance", TWENTIETH).holds == holds and not promise(cells_of_it, "balance").holds


def test_small_tables_and_large_budgets_are_not_held_to_the_oracle() -> None:
    few = StudyTable("a", np.zeros(999, dtype=np.int64), 5, "made up")
    for made, epsilon, asked in ((few, "1", 0), (table("a"), "2", 0), (table("a"), "1", 1)):
        cell = StudyCell("a", epsilon, False)
        runs = [run(cell, "counts", 2, 1), run(cell, "oracle", 1, 1)]
        assert near_oracle(judged(runs, [made]), "counts", "oracle").cells == asked
    assert verdict_words(Verdict("", 0)) == "no cell to judge by"


def test_the_page_gets_what_was_found_and_a_picture(tmp_path: Path) -> None:
    page = written(PAGE.read_text(encoding="utf-8"), cells(), [table("a"), table("b", apart=True)])
    assert "| *b* | 0.5 | **0.8** / **0.3** |" in page and "2 tables, 1 of them held out; 4 cells" in page
    assert written(page, cells(), [table("a"), table("b", apart=True)]) == page
    with pytest.raises(ValueError, match="no marks"):
        between("a page", "verdicts", [])
    named = [Run(StudyCell("homicides", "0.5", True), *_rest(one)) for one in cells()[2].runs]
    picture(judged(named, [table("homicides")]), tmp_path / "frontier.svg")
    assert (tmp_path / "frontier.svg").stat().st_size > 1000


def _rest(one: Run) -> tuple[object, ...]:
    return one.method, one.first, one.count, one.distribution, one.promised, one.seconds, one.code
