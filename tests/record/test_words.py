"""Words are rendered last. They are complete, true, and read by nobody."""

from __future__ import annotations

import ast
import itertools
import re
import string
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import discreet as dc
from discreet.certify.profile import least_delta
from discreet.privacy import Approximate, Concentrated, Guarantee, Pure, Remark
from discreet.privacy.values import ROWS_ARE_PUBLIC, Change, Neighbours, one_person
from discreet.record.words import pages, promises, steps
from discreet.testing import epsilons, weight_matrices

SOURCE = Path(dc.__file__).parent


def codes() -> set[str]:
    """Every code of a remark or step that the source writes down."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Remark", "Remark.of") and node.args:
                found |= {leaf.value for leaf in ast.walk(node.args[0]) if isinstance(leaf, ast.Constant)}
    return {code for code in found if isinstance(code, str) and code}


def test_every_code_has_words_and_every_word_is_used() -> None:
    known = {**promises.REMARKS, **steps.STEPS, **pages.KEYS}
    assert codes() == set(known)
    assert not set(promises.REMARKS) & set(steps.STEPS)


def test_no_code_reads_words() -> None:
    """Only the words themselves, what renders a page, and what prints may import them."""
    allowed = ("record/words/", "report/", "shown/", "cli/", "plan.py", "privacy/values.py", "choose.py")
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        assert ("record.words" not in path.read_text() and "import words" not in path.read_text()) or name.startswith(
            allowed
        ), name


@pytest.mark.parametrize("grade", dc.privacy.GRADES)
def test_every_grade_has_words(grade: str) -> None:
    assert promises.GRADES[grade]


LOSSES = [Pure(1), Pure.of_alpha("1/3"), Approximate("1.1", "0.01"), Concentrated("1/2")]
CHANGES = [
    Change("one-person"), Change("free-row"), Change("moved", 2, 2, 1, 1, 2), Change("rearranged", 2, 2, 1, 1, 2),
    Change("swapped", 4, 4, 2, 2, 4),
    Change("smallest", 6, 8, 3, 3, 5), Change("smallest", 6, 8, 3, 3, 5, proved=False),
]  # fmt: skip
NUMBERS: dict[str, dict[str, Any]] = {
    "bottom-coded": {"min_count": 8}, "sized": {"column": "size"}, "shared-out": {"shares": "births 3/4, deaths 1/4"},
    "top-coded": {"max_count": 8}, "whole-change-costs": {"law": "l2"}, "a-free-row-costs-less": {"law": "l2"},
    "a-move-costs-more": {"law": "gaussian"},
    "only-exchanges": {"rows": 1200}, "residues": {"rows": 2, "first": "4 modulo 2, 7 modulo 3", "more": 0},
    "larger-changes-cost-more": {"law": "gaussian"}, "sums-are-kept": {"sums": 1200, "first": "total", "more": 3},
    "zeros-stay": {"delta": "0.6"},
    "totals-dropped": {"rows": 2}, "suppressed-as": {"count": 4},
    "determined": {"rows": 1, "first": "4", "more": 0}, "chain": {"delta": "0.001"},
}  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("change", CHANGES, ids=str)
@pytest.mark.parametrize("per_unit", [False, True])
@pytest.mark.parametrize("people", [1, 3])
def test_every_promise_can_be_said(loss: Any, change: Change, per_unit: bool, people: int) -> None:
    remarks = tuple(Remark.of(code, **NUMBERS.get(code, {})) for code in promises.REMARKS)
    said = Guarantee(loss, Neighbours(change, loss, people, "l2", per_unit), remarks=remarks).sentence
    assert not re.search(r"[{}]|None", said) and said.endswith(".") and ".." not in said.replace("...", "")
    assert (str(people) in said) or people == 1


def test_the_templates_ask_only_for_what_there_is() -> None:
    for code, template in promises.REMARKS.items():
        wanted = {name for _, name, _, _ in string.Formatter().parse(template) if name}
        assert wanted <= set(NUMBERS.get(code, {})) | {
            "factor",
            "parameter",
            "change",
            "half",
            "double",
            "growth",
            "many",
            "names",
            "rate",
        }


def test_a_seeded_promise_says_nothing_else() -> None:
    promise = Guarantee(Pure(1), one_person(Pure(1)), remarks=(ROWS_ARE_PUBLIC,), private=False)
    assert promise.sentence == promises.SEEDED


def test_delta_is_added_not_an_exception() -> None:
    said = Guarantee(Approximate("1.1", "0.01"), one_person(Pure(1))).sentence
    assert (
        "For any set of published tables" in said and "at most 3.0042 times as likely as the other, plus 0.01" in said
    )
    assert "except" not in said and "probability 0.01" not in said


@given(weight_matrices(4), epsilons())
@settings(max_examples=60, deadline=None)
def test_the_sentence_for_delta_is_true(mechanism: dc.Mechanism, epsilon: Any) -> None:
    """For any set of outcomes, one makes it at most e^epsilon times as likely as the other, plus delta: all sets."""
    delta = least_delta(mechanism.form, epsilon)
    matrix = [[Fraction(w, mechanism.form.total) for w in row] for row in mechanism.form.rows]
    factor = epsilon.bounds(128)[1]
    outcomes = range(len(matrix[0]))
    for one, other in itertools.chain(itertools.pairwise(matrix), zip(matrix[1:], matrix)):
        for size in outcomes:
            for chosen in itertools.combinations(outcomes, size + 1):
                likely, less = sum(one[k] for k in chosen), sum(other[k] for k in chosen)
                assert likely <= factor * less + delta


def test_the_old_sentence_was_false() -> None:
    """The chance that the ratio exceeds e^epsilon may be far above delta: the reason for the wording."""
    noise = dc.bounded_noise("1.1", truth="1/2", support=8)
    mass = np.array([float(p) for p in noise.pmf])
    shifted = np.append(0.0, mass)
    here = np.append(mass, 0.0)
    exceeds = here > np.exp(1.1) * shifted
    delta = (here - np.exp(1.1) * shifted)[exceeds].sum()
    assert here[exceeds].sum() > 3 * delta > 0
    assert delta == pytest.approx(float(noise.delta_exact), rel=1e-6)
