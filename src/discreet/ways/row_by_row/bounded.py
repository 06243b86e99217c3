"""Bounded noise as asked for, and what to ask for where its delta is too large."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from discreet.errors import BadInput, called
from discreet.laws import Bounded
from discreet.mechanism import Form, Mechanism, NoiseThenMap
from discreet.numbers import Epsilon, digits_above, text
from discreet.privacy.values import Approximate, Loss, Pure, odds_only
from discreet.ways.row_by_row.facts import worked_out
from discreet.ways.row_by_row.spec import BOTH, BOUNDED, CLAMPED, UNBIASED, RowByRow

TRIED = 24  # halvings of an interval of truths or epsilons, or doublings of a support: enough to advise
AGAIN = 3  # values tried one after another, where small counts have rows of their own: each takes a program
LARGEST_ADVISED = 1 << 12  # support: nobody publishes counts that are off by more


def bounded(spec: RowByRow, loss: Loss, people: int) -> tuple[Mechanism, Approximate, Approximate]:
    """The mechanism, what a unit costs and what a person does; refused where that is more than was asked for."""
    asked = odds_only(loss, "bounded noise")
    form = form_of(spec, _each(asked.epsilon, people))
    unit, whole = worked_out(form, asked.epsilon, people)
    if isinstance(asked, Approximate) and whole.delta > asked.delta:
        raise _too_much(spec, asked, people, whole.delta)
    return Mechanism(BOUNDED, form), unit, whole


def _each(epsilon: Epsilon, people: int) -> Epsilon:
    return epsilon if people == 1 else epsilon.times(Fraction(1, people))


def form_of(spec: RowByRow, each: Epsilon) -> Form:
    """The noise, cut off at the ends: what leaves the range of counts is put at its end. Or with rows of their own for
    small counts, which nothing needs that is raised to the support."""
    assert isinstance(spec.truth, Fraction) and spec.support is not None, "checked when it was asked for"
    noise, first = Bounded(each.odds(), spec.truth, spec.support), spec.min_count or 0
    if spec.small_counts in (None, CLAMPED) or first >= spec.support:
        return NoiseThenMap(noise, (0, spec.max_count))
    from discreet.build.bounded_edge import edge_of

    return edge_of(noise, first, always_true=spec.small_counts == BOTH, top=spec.max_count).form


def _too_much(spec: RowByRow, asked: Approximate, people: int, found: Fraction) -> BadInput:
    """With one thing changed that would do, if there is one: more support, less truth, more epsilon, or small counts
    that are cut off. What would do is looked for with these, which is quick, and then tried as it is written."""
    from dataclasses import replace

    def enough(other: RowByRow, epsilon: Epsilon) -> bool:
        try:
            return worked_out(form_of(other, _each(epsilon, people)), epsilon, people)[1].delta <= asked.delta
        except BadInput:
            return False

    plain, epsilon, truth, support = replace(spec, small_counts=None), asked.epsilon, spec.truth, spec.support
    assert isinstance(truth, Fraction) and support is not None
    wider = _first(lambda k: enough(replace(plain, support=support + k), epsilon), LARGEST_ADVISED)
    rarer = _least(lambda share: enough(replace(plain, truth=truth * (1 - share)), epsilon))
    looser = _least(lambda share: enough(plain, Epsilon(value=epsilon.rational() * (1 + 9 * share))))
    supports = [] if wider is None else [str(support + wider + k) for k in range(AGAIN)]
    truths = [] if rarer is None else [_below(truth * (1 - rarer) / (1 + k)) for k in range(AGAIN)]
    more = None if looser is None else epsilon.rational() * (1 + 9 * looser)
    epsilons = [] if more is None else [digits_above(more * (1 + Fraction(k, 20)), 4) for k in range(AGAIN)]
    advice = [
        *_tried("support", supports, lambda word: enough(replace(spec, support=int(word)), epsilon)),
        *_tried("truth", truths, lambda word: enough(replace(spec, truth=Fraction(word)), epsilon)),
        *_tried("epsilon", epsilons, lambda word: enough(spec, Epsilon(value=Fraction(word)))),
        *(
            [called("small_counts", "clamped")]
            if spec.small_counts in (BOTH, UNBIASED) and enough(plain, epsilon)
            else []
        ),
        f"delta {digits_above(found, 4)}",
    ]
    return BadInput(
        f"bounded noise with delta at most {text(asked.delta)} was asked for",
        f"at {Pure(epsilon)}, truth {text(truth)} and support {support} its delta is {digits_above(found, 6)}",
        f"Any one of these would do: {', '.join(advice)}",
        delta=found,
    )


def _tried(name: str, words: list[str], enough: Callable[[str], bool]) -> list[str]:
    """The first of them that will do, by its name, if one does."""
    found = next((word for word in words if enough(word)), None)
    return [] if found is None else [f"{name} {found}"]


def _first(enough: Callable[[int], bool], most: int) -> int | None:
    """The least step that will do, if one up to `most` does."""
    if not enough(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _least(enough: Callable[[Fraction], bool]) -> Fraction | None:
    """A share that will do, hardly more than the least, if one below 1 does."""
    low, high = Fraction(0), Fraction(999, 1000)
    if not enough(high):
        return None
    for _ in range(TRIED):
        middle = Fraction(round((low + high) / 2 * 10**6), 10**6)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _below(number: Fraction) -> str:
    """Rounded down to four places."""
    return text(Fraction(int(number * 10**4), 10**4))
