"""What the record of such a release holds, and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.certify.prove import Proof
from discreet.io.coded import coded_texts, key_columns
from discreet.laws import NoiseLaw
from discreet.mechanism import Form, NoiseThenMap, form_parameters
from discreet.numbers import text
from discreet.privacy.values import Concentrated, Guarantee, Loss, Neighbours, Pure, Remark, one_person, rho_of
from discreet.record.release import Publication
from discreet.shown.terse import Terse
from discreet.ways.row_by_row.facts import (
    RowFacts,
    RowMechanism,
    grade_of,
    neighbours,
    price_of,
    remarks,
    unit_loss,
)  # fmt: skip

NOWHERE: Integers = np.zeros(0, dtype=np.int64)  # the rows of a count that the table does not have


@dataclass(frozen=True, eq=False)
class Shared:
    """One column of counts: its share of the budget, the mechanism of its rows, and the proof of it."""

    counted: str
    share: Fraction
    certificate: Proof | None
    form: Form = field(metadata={"flat": True})


@dataclass(frozen=True, eq=False, repr=False)
class SharedMechanism(Terse):
    """A mechanism for every column of counts; the key column says which rows are of it."""

    name: str
    column: str
    shares: tuple[Shared, ...]


@dataclass(frozen=True, eq=False, repr=False)
class SharedFacts(Terse):
    """All of it."""

    mechanism: SharedMechanism


def rows_of(categories: Any, column: str, counted: Sequence[str]) -> list[Integers]:
    """For each column of counts, the rows that are of it; together they must be all rows, each once."""
    found = coded_texts(key_columns(categories, [column])[column])
    places = [found.place(one) for one in counted]
    return [np.flatnonzero(found.codes == place) if place is not None else NOWHERE for place in places]


def shared_neighbours(noises: Sequence[NoiseLaw | None], loss: Loss, contributions: int) -> Neighbours:
    """One person, who is counted in every column; what a unit in each of them costs together."""
    rate: Loss
    if isinstance(loss, Concentrated):
        rate = Concentrated(sum((rho_of(noise.price(1)) for noise in noises if noise is not None), Fraction(0)))
    else:
        rate = unit_loss(loss, contributions)
    return replace(one_person(rate, contributions), columns=len(noises))


def share_of(loss: Loss, share: Fraction) -> Loss:
    """What one column may cost."""
    assert isinstance(loss, (Pure, Concentrated))
    return loss.times(share)


def remarks_of(form: Form, shares: Sequence[tuple[str, Fraction]]) -> tuple[Remark, ...]:
    """What the promise does not say by itself: the mechanisms differ in their noise alone."""
    return (*remarks(form), Remark.of("shared-out", shares=", ".join(f"{name} {text(part)}" for name, part in shares)))


def noise_of(form: Form) -> NoiseLaw | None:
    return form.noise if isinstance(form, NoiseThenMap) else None


def of_one_column(publication: Publication[SharedFacts], one: Shared, rows: Integers) -> Publication[RowFacts]:
    """The part of a release that one column of counts is: a release row by row, at the price of its share."""
    record, measured = publication.record, publication.measured
    people = record.guarantee.unit.contributions
    loss, price = share_of(record.guarantee.loss, one.share), price_of(one.form)
    mechanism = RowMechanism(record.facts.mechanism.name, form_parameters(one.form), one.form)
    promise = Guarantee(
        loss, neighbours(price, loss, people), grade_of(price, loss), remarks(one.form), record.guarantee.private
    )
    whole: Any = record  # whose facts are of another way
    inner = replace(
        whole, schema=replace(record.schema, rows=len(rows), contributions=people), guarantee=promise,
        certificate=one.certificate, facts=RowFacts(mechanism),
    )  # fmt: skip
    part = None if measured is None else measured[rows]
    return Publication(inner, publication.categories.take(rows), publication.counts[rows], part)
