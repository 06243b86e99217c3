"""How the budget is divided among questions, from public facts alone: the least sum of the variances of all entries of
all questions asked.

Under rho the precision of a question is linear in its share and the loss is convex in the shares, so a gradient bounds
how far they are from the best. Under epsilon it is about the square of the share: several starts, and the best of them.
A question that nobody asked for may be worth measuring: a finer one that tells of many.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.levels.design import LevelDesign, Question, subsets
from discreet.levels.division import PARTS, Division, precision_of
from discreet.levels.loss import loss_by_precision
from discreet.levels.ragged import RaggedDesign

FLOOR = 10  # thousandths that each question asked gets at least: 1%
MANY = 25  # questions: with more of them a floor is the least that a share can be, or floors would settle the division
CANDIDATES = 1024  # a gradient for so many takes milliseconds


@dataclass(frozen=True)
class Shares:
    """Of the whole budget, for every question that is measured, coarse ones first; they add up to one."""

    shares: dict[Question, Fraction]
    loss: float  # the sum of the variances of all entries of all questions asked
    gap: float | None  # the loss is at most 1 + gap times the least with these candidates and floors; None: not known
    cells_alone: float  # the loss if the whole budget went to the cells


def choose_shares(
    design: LevelDesign | RaggedDesign,
    asked: Sequence[Question],
    kept: Sequence[Question],
    budget: float,
    pure: bool,
    fixed: Mapping[Question, Fraction] = MappingProxyType({}),
    named: Callable[[Question], str] = str,
    needed: Sequence[Question] = (),
    others: bool = True,
) -> Shares:
    """Shares for the questions asked that no kept one gives, and for any other question that helps them.

    `budget` is for one unit of change: an epsilon if `pure`, else a rho. With `fixed` shares only what is asked is
    measured, and the rest of the budget is divided among the other questions, in thousandths of the rest. Errors call
    a question as it is `named`. What is `needed` is measured as if it were asked, but nobody looks at its variances.
    Without `others`, no question is added.
    """
    asked = list(dict.fromkeys(asked))
    unknown = [q for q in dict.fromkeys([*asked, *needed]) if not _given(design, q, kept)]
    measured = _once(design, unknown, {*fixed, *needed})
    _require_shares(measured, fixed, named)
    if not measured:
        return Shares({}, 0.0, None if pure else 0.0, 0.0)
    questions = sorted(candidates(design, measured, kept) if others and not fixed else measured, key=_coarse_first)
    rest = 1 - sum(fixed.values(), Fraction(0))
    free = np.array([q not in fixed for q in questions])
    constant = np.array([float(fixed.get(q, 0)) for q in questions])
    floors = _floors([q for q in questions if q not in fixed], measured, needed)
    division = Division(
        loss_by_precision(design, asked, kept, questions), budget, pure, constant, free, float(rest), floors
    )
    parts, bound = division.best()
    given = iter(parts.tolist())
    shares = {q: fixed[q] if q in fixed else rest * Fraction(next(given), PARTS) for q in questions}
    loss = division.loss(parts)[0]
    gap = None if pure else max(0.0, loss / bound - 1)
    alone = _cells_alone(design, asked, kept, budget, pure)
    return Shares({q: share for q, share in shares.items() if share}, loss, gap, alone)


def candidates(
    design: LevelDesign | RaggedDesign, measured: Sequence[Question], kept: Sequence[Question]
) -> list[Question]:
    """What may be measured: every question, as long as these are not too many.

    Else what is asked, the cells, which tell of everything, and then what the asked ones contain or what contains one
    with one step more, coarse ones first: a question says least about those that are far from it, as its noise is
    summed over all that it has and they have not.
    """
    if (design.last + 1) * 2 ** len(design.attributes) <= CANDIDATES:
        found = list(design.questions())
    else:
        near = sorted({q for one in measured for q in _near(design, one)}, key=_coarse_first)
        found = list(dict.fromkeys([*measured, design.cells, *near]))[:CANDIDATES]
    return _once(design, [q for q in [*measured, *found] if not _given(design, q, kept)], measured)


def _once(
    design: LevelDesign | RaggedDesign, questions: Sequence[Question], meant: Container[Question]
) -> list[Question]:
    """Of questions with the same entries one, the finest: it answers the others. All that are meant stay."""
    said = {design.plain(q) for q in questions if q in meant}
    finest: dict[Question, Question] = {}
    for question in questions:
        plain = design.plain(question)
        if plain not in said:
            finest[plain] = max(finest.get(plain, question), question, key=_fineness)
    return [q for q in dict.fromkeys(questions) if q in meant or finest.get(design.plain(q)) == q]


def _fineness(question: Question) -> tuple[int, int]:
    return question.level, len(question.attributes)


def _near(design: LevelDesign | RaggedDesign, question: Question) -> Iterator[Question]:
    level, attributes = question
    for below in range(level + 1):
        yield from (Question(below, some) for some in subsets(attributes))
    if level < design.last:
        yield Question(level + 1, attributes)
    for other in design.attributes:
        if other not in attributes:
            yield Question(level, tuple(sorted((*attributes, other))))


def _given(design: LevelDesign | RaggedDesign, question: Question, kept: Sequence[Question]) -> bool:
    return any(design.tells(one, question) for one in kept)


def _coarse_first(question: Question) -> tuple[int, int, tuple[int, ...]]:
    return question.level, len(question.attributes), question.attributes


def _floors(questions: Sequence[Question], measured: Sequence[Question], needed: Sequence[Question]) -> Integers:
    """Thousandths that each question has at least, if it is asked, or needed to tell everything."""
    each = FLOOR if sum(q in measured for q in questions) <= MANY else 1
    return np.array([FLOOR if q in needed else each if q in measured else 0 for q in questions], dtype=np.int64)


def _cells_alone(
    design: LevelDesign | RaggedDesign, asked: Sequence[Question], kept: Sequence[Question], budget: float, pure: bool
) -> float:
    precision, _ = precision_of(np.ones(1), budget, pure)
    return loss_by_precision(design, asked, kept, [design.cells])(precision)[0]


def _require_shares(
    measured: Sequence[Question], fixed: Mapping[Question, Fraction], named: Callable[[Question], str]
) -> None:
    if len(measured) > PARTS:
        raise BadInput(
            f"{len(measured)} questions were to be measured",
            f"each needs a thousandth of the budget, which is enough for {PARTS}",
            "Ask for fewer",
        )
    for question, share in fixed.items():
        if question not in measured:
            raise BadInput(
                f"a share was given for {named(question)}",
                "it is not measured: it is not asked, or what is kept gives it",
                "Leave the share out",
            )
        if share <= 0:
            raise BadInput(
                f"a share of {share} was given for {named(question)}",
                "what is asked needs a share above zero",
                "Leave the share out, or do not ask the question",
            )
    total, left = sum(fixed.values()), len(measured) - len(fixed)
    if fixed and left and total >= 1:
        raise BadInput(
            f"shares that add up to {total} were given",
            f"nothing is left for {'the question' if left == 1 else f'the {left} questions'} without a share",
            "Give less, or a share to every question",
        )
    if fixed and not left and total != 1:
        advice = 'They must add up to 1; a third is written "1/3"'
        raise BadInput("a share was given for every question", f"they add up to {total}", advice)
