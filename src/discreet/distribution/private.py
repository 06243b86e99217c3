"""Stage one: the distribution of counts, made private."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers
from discreet.distribution.max_count import MaxCount, private_max_count, refuse_few_rows, share_for_max_count
from discreet.distribution.privatizer import Idealised, measure, noise_for, privatizer
from discreet.distribution.projections import PROJECTIONS
from discreet.errors import BadInput, called, choose, short
from discreet.laws import Geometric, NoiseLaw
from discreet.numbers import Epsilon, Number, whole
from discreet.options import spelt
from discreet.privacy import Approximate, Concentrated, Grade, Loss, Pure, loss_of
from discreet.sample.bits import Bits, source
from discreet.shown import Shown

if TYPE_CHECKING:
    from discreet.ledger import Spending

LARGEST_RANGE = 10_000_000  # every array over the counts then takes 80 MB


@dataclass(frozen=True, eq=False, repr=False)
class PrivateDistribution(Shown):
    """An estimate of the distribution of counts that may be published, and the noisy answers it came from.

    For the method `cumulative`, `measurements` holds the noisy numbers of rows with a count of at most 0, 1, ...
    """

    distribution: Floats
    measurements: NDArray[Any] = field(repr=False)
    noise: NoiseLaw | None  # the law of the noise in every measurement; None where it is continuous
    method: str
    projection: str
    max_count: int
    rows: int
    loss: Loss  # everything spent here
    contributions: int
    bought_max_count: MaxCount | None
    grade: Grade
    private: bool

    @property
    def epsilon(self) -> Epsilon | None:
        """None where rho was spent."""
        return self.loss.epsilon

    @property
    def rho(self) -> Fraction | None:
        return self.loss.rho

    @property
    def delta(self) -> Fraction:
        return self.loss.delta

    def as_json(self) -> dict[str, object]:
        return {
            "distribution": [float(share) for share in self.distribution],
            "method": self.method,
            "projection": self.projection,
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "rho": None if self.rho is None else str(self.rho),
            "delta": str(self.delta),
            "max_count": self.max_count,
            "rows": self.rows,
            "contributions": self.contributions,
            "grade": self.grade,
            "private": self.private,
        }


@spelt
def private_distribution(
    table_or_histogram: Any,
    epsilon: Number | Epsilon | Loss | None = None,
    alpha: Number | None = None,
    method: str = "cumulative",
    max_count: int | str | None = None,
    *,
    rho: Number | None = None,
    delta: Number = 0,
    projection: str | None = None,
    contributions: int | None = None,
    allow_idealised: bool = False,
    ledger: Any = None,
    dataset: str | None = None,
    note: str = "",
    who: str = "",
    seed: int | None = None,
    bits: Bits | None = None,
    publish: Callable[[PrivateDistribution], None] | None = None,
) -> PrivateDistribution:
    """The distribution of counts under differential privacy: one person more or less in one row changes little.

    Noise is geometric for epsilon, and discrete Gaussian for rho or for epsilon with a delta.
    A table needs `max_count` (larger counts are treated as max_count), or "auto": a twentieth of epsilon buys one.
    `contributions`: in how many rows one person may be counted; what the table itself says cannot be lowered.
    A histogram, how many rows have each count 0, 1, ..., is taken to end at a public max_count.
    `ledger`, `dataset`: where the spending is recorded before anything is drawn; `note`, `who`: what for, and by whom.
    `publish` is called with the result before the ledger is told that it was released; what it raises is raised.
    """
    from discreet.ledger.paying import open_book, tell

    chosen, words = privatizer(method), source(seed, bits)
    project = choose(projection, PROJECTIONS, "projection") if projection is not None else chosen.PROJECTION
    counts, histogram, declared = _read(table_or_histogram)
    people = max(declared, whole(1 if contributions is None else contributions, "the contribution bound", least=1))
    loss = loss_of(epsilon, alpha=alpha, rho=rho, delta=delta)
    book = open_book(ledger, dataset, words, note=note, who=who)
    _check(counts, histogram, max_count, loss, method, people, allow_idealised)
    entry = None
    if book is not None:
        spending = _spending(table_or_histogram, loss, method, max_count, people)
        entry = book.recorder(str(dataset))(replace(spending, note=note, who=who))
    bought, left = (None, loss) if max_count != "auto" else _buy_max_count(counts, loss, people, words)
    bins = _binned(counts, histogram, max_count if bought is None else bought.max_count)
    noisy, noise = _measure(method, bins, left, people, words, allow_idealised)
    rows = int(bins.sum())
    made = PrivateDistribution(
        distribution=PROJECTIONS[project](chosen.estimate(noisy, rows, len(bins)), float(rows)),
        measurements=noisy,
        noise=noise,
        method=method,
        projection=project,
        max_count=len(bins) - 1,
        rows=rows,
        loss=loss,
        contributions=people,
        bought_max_count=bought,
        grade="diagnosed" if noise is None else noise.grade if isinstance(loss, Approximate) else "exact",
        private=words.private,
    )
    if publish is not None:
        publish(made)
    if book is not None and entry is not None:
        from discreet.ledger.documents import digest_of

        tell(book, entry, digest_of(made.as_json()))
    return made


def _check(
    counts: Integers | None, histogram: Integers | None, max_count: int | str | None, loss: Loss, method: str,
    people: int, allow_idealised: bool,
) -> None:  # fmt: skip
    """Refuse what cannot be measured, before anything is spent; nothing but public values is looked at."""
    if not isinstance(max_count, str) or max_count != "auto":
        bins = len(_binned(counts, histogram, max_count))
    else:
        share, bins = _share_of_max_count(counts, loss), 2
        assert counts is not None
        refuse_few_rows(len(counts), Geometric.calibrated(Pure(share), people).odds, share)
    if isinstance(privatizer(method), Idealised):
        _check_idealised(method, loss, people, allow_idealised)
    else:
        noise_for(method, bins, loss, people)


def _spending(data: Any, loss: Loss, method: str, max_count: int | str | None, people: int) -> Spending:
    """What is about to be spent: `loss` for one person, all of whose rows count.

    Cumulative answers are pushed in two directions by the two rows of a person who moves; others may not be.
    """
    from discreet.ledger import Spending
    from discreet.ledger.public import public_table
    from discreet.record.codec import encode, loss_json

    schema = getattr(data, "schema", None)
    apart = method == "cumulative" and max_count != "auto" and not isinstance(loss, Approximate)
    asked = {"method": method, "max_count": max_count, "contributions": people, "privacy": loss_json(loss)}
    return Spending(
        loss, apart=apart, mechanism=f"distribution-{method}", table=None if schema is None else public_table(schema),
        spec={"distribution": encode(asked)},
    )  # fmt: skip


def _buy_max_count(counts: Integers | None, loss: Loss, people: int, bits: Bits) -> tuple[MaxCount, Loss]:
    share = _share_of_max_count(counts, loss)
    bought = private_max_count(counts, share, contributions=people, bits=bits)
    assert loss.epsilon is not None
    left = share_for_max_count(loss.epsilon)[1]
    return bought, Approximate(left, loss.delta) if loss.delta else Pure(left)


def _share_of_max_count(counts: Integers | None, loss: Loss) -> Epsilon:
    if isinstance(loss, Concentrated) or counts is None:
        raise BadInput(
            f"{called('max_count', 'auto')} was asked for",
            "it needs a table of counts, and epsilon",
            f"Give {called('max_count')}",
        )
    return share_for_max_count(loss.epsilon)[0]


def _read(data: Any) -> tuple[Integers | None, Integers | None, int]:
    """The counts of a table or the histogram as given, and the table's own contribution bound."""
    if hasattr(data, "counts"):
        schema = getattr(data, "schema", None)
        counts = np.asarray(data.counts, dtype=np.int64)
        if len(counts) == 0 or counts.min() < 0:
            raise BadInput(
                "a table of counts was given", "it has no rows" if len(counts) == 0 else "a count is negative"
            )
        return counts, None, int(getattr(schema, "contributions", 1))
    values = np.asarray(data)
    if values.ndim != 1 or values.size < 2 or values.dtype.kind not in "iu":
        raise BadInput(
            "a histogram of counts was given",
            "it is not a list of at least two whole numbers",
            "Give how many rows have each count 0, 1, ..., or a table",
        )
    if (values < 0).any() or values.sum() < 1:
        raise BadInput("a histogram of counts was given", "it has a negative entry, or no rows at all")
    return None, values.astype(np.int64), 1


def _binned(counts: Integers | None, histogram: Integers | None, max_count: int | str | None) -> Integers:
    """The histogram on 0..max_count, larger counts in its last bin."""
    if max_count is None:
        if histogram is None:
            raise BadInput(
                "a distribution was asked for",
                f"{called('max_count')} is missing and the largest count is a secret",
                f"Give {called('max_count')}, or 'auto'",
            )
        return histogram
    if isinstance(max_count, str):
        raise BadInput(f"{called('max_count', max_count)} was asked for", "it must be a whole number or 'auto'")
    largest = whole(max_count, "max_count", least=1)
    if largest > LARGEST_RANGE:
        raise BadInput(
            f"{called('max_count', short(largest))} was asked for",
            f"a distribution over more than {LARGEST_RANGE} counts does not fit",
            f"Release without {called('max_count')}, or top-code",
        )
    if counts is not None:
        return np.bincount(np.minimum(counts, largest), minlength=largest + 1)
    assert histogram is not None
    kept = np.pad(histogram[: largest + 1], (0, max(0, largest + 1 - len(histogram))))
    kept[-1] += histogram[largest + 1 :].sum()
    return kept


def _measure(
    method: str, bins: Integers, loss: Loss, contributions: int, bits: Bits, allow_idealised: bool
) -> tuple[NDArray[Any], NoiseLaw | None]:
    """Noisy answers and the law of their noise."""
    chosen = privatizer(method)
    if not isinstance(chosen, Idealised):
        return measure(method, bins, loss, contributions, bits)
    _check_idealised(method, loss, contributions, allow_idealised)
    assert loss.epsilon is not None
    answers = chosen.answers(bins)
    return answers + chosen.noise(len(answers), loss.epsilon, loss.delta, bits), None


def _check_idealised(method: str, loss: Loss, contributions: int, allowed: bool) -> None:
    if not allowed or loss.epsilon is None or contributions > 1:
        raise BadInput(
            f"the privatizer {method!r} was asked for",
            "its continuous noise is unproven in floating point; it takes epsilon and delta, and one row a person",
            "Use another one, or insist with allow_idealised=True",
        )
