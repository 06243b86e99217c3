"""Which questions are measured, with which share of the budget, and what that promises. No count is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.errors import BadInput, did_you_mean
from discreet.io.coded import coded_texts
from discreet.io.questions import NUMBERS, QUESTION
from discreet.lattice.invariants import Invariants, Margin, invariant_matrix, rows_where
from discreet.lattice.laws import Terms
from discreet.lattice.neighbours import kept_remarks, protected_change
from discreet.lattice.structure import Structure, structure_of
from discreet.laws import NoiseLaw, standard_noise
from discreet.levels.asked import Asked
from discreet.levels.combine import Spread
from discreet.levels.design import LevelDesign, Question
from discreet.levels.either import spread_of
from discreet.levels.layout import Layout, kept_questions, layout_of
from discreet.levels.ragged_table import require_one_kept
from discreet.levels.shares import Shares, choose_shares
from discreet.levels.table import require_table
from discreet.privacy.convert import rho_for
from discreet.privacy.values import (
    ONE_PERSON,
    Approximate,
    Change,
    Concentrated,
    Guarantee,
    Loss,
    Pure,
    Remark,
    grade_of,
)
from discreet.table import Schema
from discreet.ways.measure.facts import Stretch, neighbours, remarks
from discreet.ways.measure.follow import variances
from discreet.ways.measure.spec import Measure

if TYPE_CHECKING:
    from discreet.levels.regress import RaggedSpread


WIDEST = 1 << 28  # deviations of noise: a question that is told so badly is not told at all


@dataclass(frozen=True)
class PlannedAnswer:
    """A question, its share of the budget, and the standard deviation of its answers."""

    name: str
    share: str
    sd: float


@dataclass(frozen=True, eq=False)
class MeasurePlan:
    """Questions with their noise, and what is kept."""

    spec: Measure
    layout: Layout
    asked: tuple[Question, ...]  # whether measured, or implied by what is kept
    kept: tuple[Question, ...]
    chosen: Shares
    noise: dict[Question, NoiseLaw]
    guarantee: Guarantee
    invariants: Invariants | None
    structure: Structure | None
    whole: Pure | Concentrated  # what is divided
    apart: ClassVar[bool] = True  # one person moved adds to one sum and takes from another, or leaves a sum as it is
    law: ClassVar[str] = "measured-margins"

    @property
    def answered(self) -> tuple[Question, ...]:
        """Everything that is measured or asked for, and the cells wherever they can be estimated."""
        known = self.spread.known(self.layout.design.cells)
        every = {*self.asked, *self.noise, *([self.layout.design.cells] if known else [])}
        return tuple(question for question in self.layout.design.questions() if question in every)

    @cached_property
    def spread(self) -> Spread | RaggedSpread:
        """The variances of all answers, which are known beforehand."""
        return spread_of(self.layout.design, variances(self.noise, self.kept))

    @property
    def discloses(self) -> tuple[str, ...]:
        return () if self.invariants is None else tuple(str(item) for item in self.invariants.kept)

    @property
    def steps(self) -> tuple[Remark, ...]:
        return tuple(_steps(self))

    @property
    def questions(self) -> list[PlannedAnswer]:
        """Name, share and standard deviation of every answer, for a plan."""
        spread, found = self.spread, []
        for question in self.answered:
            share, deviation = self.chosen.shares.get(question, Fraction(0)), deviation_of(spread, question)
            found.append(PlannedAnswer(str(self.layout.name(question)), str(share), float(f"{deviation:.4g}")))
        return found


def deviation_of(spread: Spread | RaggedSpread, question: Question) -> float:
    """Of an entry, on average: the root of the mean variance."""
    return float(np.sqrt(spread.variance(question).mean()))


def plan(schema: Schema, loss: Loss, spec: Measure) -> MeasurePlan:
    _require_names(schema)
    _require_columns(schema, spec)
    layout = layout_of(schema, spec.levels)
    asked, fixed = _asked(layout, spec)
    kept = kept_questions(layout, spec.keep)
    _require_table(layout, kept)
    invariants, structure, change, said = _kept(schema, spec, loss)
    stretch, whole = Stretch(change, schema.contributions), _whole(loss)
    _require_measured(layout, asked, kept, fixed)
    chosen = _chosen(layout, asked, kept, fixed, _unit(whole, stretch), isinstance(whole, Pure))
    noise = {
        q: standard_noise(whole.times(chosen.shares[q]), stretch.distance, stretch.square)
        for q in layout.design.questions()
        if q in chosen.shares
    }
    _require_use(layout, asked, noise)
    promise = Guarantee(loss, neighbours(list(noise.values()), stretch), grade_of(loss), remarks(said))
    return MeasurePlan(spec, layout, asked, kept, chosen, noise, promise, invariants, structure, whole)


def _require_names(schema: Schema) -> None:
    """The file of answers has columns of its own."""
    taken = [name for name in (*schema.keys, schema.count) if name in (QUESTION, *NUMBERS)]
    if taken:
        found = f"the answers have columns {', '.join((QUESTION, *NUMBERS))} of their own"
        raise BadInput(f"the table has a column {taken[0]!r}", found, "Give it another name")


def _require_columns(schema: Schema, spec: Measure) -> None:
    """Refuse names that no key column has, all of them at once, and values that no row has."""
    asked = () if isinstance(spec.measure, str) else spec.measure
    whats = [what for what in (*(one.what for one in asked), *spec.keep) if isinstance(what, Margin)]
    named = dict.fromkeys((*spec.levels, *(name for what in whats for name in what.columns)))
    if unknown := [name for name in named if name not in schema.keys]:
        names, many = ", ".join(map(repr, unknown)), len(unknown) > 1
        advice = " ".join(dict.fromkeys(did_you_mean(name, schema.keys) for name in unknown))
        raise BadInput(
            f"the columns {names} were asked for" if many else f"the column {names} was asked for",
            f"the table has no such key column{'s' if many else ''}",
            advice,
        )
    for one in (one.one for one in asked if one.one is not None):
        rows_where(one, {name: coded_texts(schema.key_columns[name]) for name, _ in one.where}, schema.rows, "measured")


def _require_use(layout: Layout, asked: tuple[Question, ...], noise: dict[Question, NoiseLaw]) -> None:
    """Refuse noise that drowns every count, and names that two questions share, while nothing is spent."""
    if max(law.spread for law in noise.values()) > WIDEST**2:
        found = f"their noise would have a standard deviation above {WIDEST:,}"
        raise BadInput("margins were to be measured", found, "Spend more")
    _require_even(layout, noise)
    names = [str(layout.name(question)) for question in dict.fromkeys((*asked, *noise))]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        found = "a column has a comma in its name, so that two questions have this name"
        raise BadInput(f"{twice} was to be measured", found, "Give the column another name")


def _require_even(layout: Layout, noise: dict[Question, NoiseLaw]) -> None:
    """Refuse noises that cannot be combined where rows are missing."""
    if isinstance(layout.design, LevelDesign):
        return
    from discreet.levels.regress import too_uneven

    sharp = too_uneven(layout.design, variances(noise, ()))
    if sharp is not None:
        found = f"{layout.missing()}, and {layout.name(sharp)} would be known too much better than the cells to combine"
        advice = "Give cells a larger share, spend less, or give a universe with all rows (missing ones are zero)"
        raise BadInput("margins were to be measured", found, advice)


def _whole(loss: Loss) -> Pure | Concentrated:
    """What is divided among the questions: epsilon, or rho."""
    return Concentrated(rho_for(loss.epsilon.rational(), loss.delta)) if isinstance(loss, Approximate) else loss


def _unit(whole: Pure | Concentrated, stretch: Stretch) -> float:
    """What one unit of change may cost."""
    return float(whole.epsilon) / stretch.distance if isinstance(whole, Pure) else float(whole.rho) / stretch.square


def _asked(layout: Layout, spec: Measure) -> tuple[tuple[Question, ...], dict[Question, Fraction]]:
    """Questions, each once, and the shares that they were given."""
    if isinstance(spec.measure, str):
        return layout.automatic(), {}
    found: dict[Question, Asked] = {}
    for one in spec.measure:
        question = layout.question(one.what)
        before = found.setdefault(question, one)
        if before is not one and (one.share, None if one.what == before.what else before.share) != (None, None):
            what = f"{before} and {one} were asked for"
            raise BadInput(what, f"they are the same question, {layout.name(question)}", "Give it one share, once")
    return tuple(found), {question: one.share for question, one in found.items() if one.share is not None}


def _kept(
    schema: Schema, spec: Measure, loss: Loss
) -> tuple[Invariants | None, Structure | None, Change, tuple[Remark, ...]]:
    """What is kept, who the neighbours are then, and what must be said about it."""
    if not spec.keep:
        return None, None, ONE_PERSON, ()
    structure = structure_of(invariants := invariant_matrix(spec.keep, schema.key_columns, schema.rows))
    terms = Terms(protected_change(structure, schema.contributions), schema.contributions)
    law = "l1" if isinstance(loss, Pure) else "gaussian"
    return invariants, structure, terms.change, kept_remarks(law, terms, structure, invariants)


def _require_table(layout: Layout, kept: tuple[Question, ...]) -> None:
    """Refuse kept sums for which no table can be promised."""
    if isinstance(layout.design, LevelDesign):
        require_table(layout.design, kept)
    else:
        require_one_kept(kept, layout.missing())


def _needed(layout: Layout, asked: tuple[Question, ...], fixed: dict[Question, Fraction]) -> tuple[Question, ...]:
    """Where rows are missing, the cells are measured in any case, so that something is known of every row."""
    cells = layout.design.cells
    if isinstance(layout.design, LevelDesign) or cells in asked:
        return ()
    if sum(fixed.values()) >= 1:
        found = f"{layout.missing()}, so that the cells must be measured too, and nothing is left for them"
        raise BadInput("the whole budget was given to margins", found, "Give cells a share")
    return (cells,)


def _chosen(
    layout: Layout, asked: tuple[Question, ...], kept: tuple[Question, ...], fixed: dict[Question, Fraction],
    budget: float, pure: bool,
) -> Shares:  # fmt: skip
    """Shares of what is asked, and of what else helps; where rows are missing, no more than can be combined."""
    design, needed = layout.design, _needed(layout, asked, fixed)
    chosen = choose_shares(design, asked, kept, budget, pure, fixed, needed=needed)
    if isinstance(design, LevelDesign):
        return chosen
    from discreet.levels.regress import too_many

    if too_many(design, list(chosen.shares)):
        chosen = choose_shares(design, asked, kept, budget, pure, fixed, needed=needed, others=False)
    if most := too_many(design, list(chosen.shares)):
        found = f"{layout.missing()}, and what was asked has {most:,} entries in one place: too many to combine"
        advice = "Give a universe with all rows (missing ones are zero), or ask for fewer margins"
        raise BadInput("margins were to be measured", found, advice)
    return chosen


def _require_measured(
    layout: Layout, asked: tuple[Question, ...], kept: tuple[Question, ...], fixed: dict[Question, Fraction]
) -> None:
    """Refuse what contradicts itself: a share for what is known exactly, and nothing that is left to measure."""
    implied = [question for question in asked if any(layout.design.tells(one, question) for one in kept)]
    paid = next((question for question in implied if question in fixed), None)
    if paid is not None:
        found = "it is kept exactly, so that nothing is to be measured"
        raise BadInput(f"a share was given to {layout.name(paid)}", found, "Drop the share, or do not keep it")
    if len(implied) == len(asked):
        raise BadInput("questions were asked", "what is kept answers all of them exactly", "Ask for more, or keep less")


def _steps(made: MeasurePlan) -> list[Remark]:
    """In the order in which they are done, each with its price."""
    spread, design = made.spread, made.layout.design
    found = [Remark.of("keep", kept=", ".join(made.discloses))] if made.kept else []
    for question, share in made.chosen.shares.items():
        deviation = f"{deviation_of(spread, question):.3g}"
        price = str(made.whole.times(share))
        name, entries = str(made.layout.name(question)), design.entries(question)
        found.append(Remark.of("measure-question", price=price, question=name, entries=entries, deviation=deviation))
    found += [Remark("combine"), Remark("make-one-table")]
    if not spread.known(design.cells):
        found.append(Remark.of("make-cells-alike", cells=design.entries(design.cells)))
    percent = round(100 * (1 - made.chosen.cells_alone / made.chosen.loss))
    if percent > 0:
        found.append(Remark.of("cells-alone-are-better", percent=percent))
    return found
