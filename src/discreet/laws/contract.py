"""The contract of every noise law: what it says about itself agrees, and none of it errs on the wrong side."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction
from functools import partial
from itertools import pairwise, product

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.laws.law import NoiseLaw, law_json, law_of_json, laws
from discreet.numbers import Epsilon
from discreet.privacy import Approximate, Concentrated, Loss, Pure
from discreet.sample.bits import Bits, secure
from discreet.sample.contract import assert_sampler_law

SHIFTS = (1, 2, 3, 4)  # units of a change: one person may be counted more than once
CLOSE = 1e-9  # above the rounding of long sums of floats, far below any mistake worth finding
SPREAD = 1e-7  # of the variance: far values weigh more in it
NEGLIGIBLE = 1e-10  # of the variance: what lies beyond is left out
BLOCKS = 1 << 10  # of a far value: so long are blocks of values that are taken to weigh alike
FARTHEST = 1 << 64  # values that no count comes near
LONGEST = 1 << 24  # masses that are looked at one by one
WINDOW = 60  # how far from 0 probabilities are compared as fractions
ORDERS = (1.5, 2.0, 4.0)  # of the Renyi divergences that are summed up
TEMPERED = 1.1  # a wrong law: this power of the right masses
SINGLES = 3000  # draws one at a time, which are slow


def assert_noise_law(law: NoiseLaw, *, size: int = 200_000, bits: Bits | None = None) -> None:
    """Run the whole contract on one law with its parameters; a law that is registered and not much wider than 1000."""
    half = _half(law)
    hard = bool(np.isneginf(law.log_mass(np.array([2.0 * len(half)])))[0])  # there is a largest value
    _masses_agree(law, half)
    _enclosures_hold(law, half)
    least, most = _variance(law, half)
    assert least * (1 - SPREAD) <= law.spread <= most * (1 + SPREAD), f"spread is {law.spread}, the masses say {most}"
    _odds_are_the_worst(law, hard)
    _deltas_are_least(law, half)
    _prices_suffice(law, len(half) - 1)
    _calibration_keeps_within(law)
    if not hard:
        _parabolas_touch(law, len(half) - 1)
    _can_be_written_down(law)
    _draws_follow(law, half, size, secure() if bits is None else bits)


def _half(law: NoiseLaw) -> Floats:
    """P(0), P(1), ... until nothing is left."""
    reach = 64
    while law.tails(reach)[-1] > 1e-14:
        reach *= 2
        assert reach < LONGEST, f"beyond {reach:,} there is still some mass: the law is too wide for a contract"
    return law.masses(reach)


def _variance(law: NoiseLaw, half: Floats) -> tuple[float, float]:
    """By masses as far as they go, and by tails beyond, in blocks: far out, few values may still weigh something."""
    reach, bits = len(half) - 1, 200
    within = 2 * float((half * np.arange(reach + 1.0) ** 2).sum())

    def tail(k: int) -> Floats:
        return np.array([float(Fraction(end, 1 << bits)) for end in law.below(-k, bits)])

    begin, at = reach + 1, tail(reach + 1)
    beyond = 2.0 * reach**2 * at
    while float(begin) ** 2 * at[1] > NEGLIGIBLE * within:
        assert begin < FARTHEST, "no variance can be seen: the tails are too heavy"
        end = begin + max(1, begin // BLOCKS)
        last = tail(end)
        beyond += 2.0 * ((end - 1) ** 2 - (begin - 1) ** 2) * np.array([last[0], at[1]])
        begin, at = end, last
    return within + float(beyond[0]), within + float(beyond[1])


def _both(half: Floats) -> Floats:
    return np.concatenate([half[:0:-1], half])


def _masses_agree(law: NoiseLaw, half: Floats) -> None:
    reach = len(half) - 1
    values = np.arange(reach + 1.0)
    assert (half >= 0).all() and abs(_both(half).sum() - 1) < CLOSE, f"masses sum to {_both(half).sum()}, not to 1"
    assert np.allclose(law.masses(5), half[:6], rtol=1e-12), "masses depend on how far they are asked for"
    tails = np.cumsum(half[::-1])[::-1]
    assert np.allclose(law.tails(reach), tails, rtol=0, atol=CLOSE), "tails are not sums of masses"
    seen = half > 1e-250
    assert np.allclose(np.log(half[seen]), law.log_mass(values)[seen], atol=CLOSE), "log_mass is not log of masses"
    assert np.array_equal(law.log_mass(-values), law.log_mass(values)), "log_mass is not symmetric"
    if law.decay is not None:
        assert np.allclose(half[1:20] / half[:19], law.decay, rtol=CLOSE), "decay is not the ratio of masses"
        assert law.worst_odds is not None and math.isclose(law.worst_odds, 1 / law.decay), "decay is not 1/odds"


def _enclosures_hold(law: NoiseLaw, half: Floats) -> None:
    low, high = law.centre
    places = sorted({*range(-12, 13), low - 1, low, low // 2, high // 2, high, high + 1})
    below = np.cumsum(_both(half))
    for size in (8, 64, 130):
        known = {k: law.below(k, size) for k in places}
        for k, (least, most) in known.items():
            assert 0 <= least <= most <= min(1 << size, least + 2), f"below({k}, {size}) is no tight enclosure"
            if abs(k) < len(half):
                inside = least / 2.0**size - CLOSE <= below[k + len(half) - 1] <= most / 2.0**size + CLOSE
                assert inside, f"below({k}, {size}) does not enclose the sum of masses"
            if law.rational:
                assert least <= law.chance_below(k) * 2**size <= most, f"below({k}, {size}) misses chance_below"
        pairs = [(known[one], known[other]) for one, other in pairwise(places)]
        assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairs), "below falls somewhere"
    assert 2 * law.tails(high + 1)[-1] < 2.0**-10, "the centre leaves too much out"
    if not law.rational:
        assert _refused(lambda: law.chance_below(0)), "a law without rational probabilities must say so"


def _refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except BadInput:
        return True
    return False


def _fractions(law: NoiseLaw) -> list[Fraction]:
    """P(k) for k = -WINDOW..WINDOW."""
    below = [law.chance_below(k) for k in range(-WINDOW - 1, WINDOW + 1)]
    return [high - low for low, high in pairwise(below)]


def _odds_are_the_worst(law: NoiseLaw, hard: bool) -> None:
    worst = law.worst_odds
    assert law.pure == (worst is not None), "`pure` and worst_odds do not agree"
    if hard:
        assert worst is None, "beyond the largest value there are no odds"
        return
    if worst is None:
        near, far = (law.log_mass(np.array([x, x + 1.0])) for x in np.rint(math.sqrt(law.spread) * np.array([2, 200])))
        assert far[0] - far[1] > 10 * (near[0] - near[1]), "odds are called unbounded, but they are not"
        return
    if law.rational:
        chances = _fractions(law)
        found = max(max(a / b, b / a) for a, b in pairwise(chances))
    else:
        logs = law.log_mass(np.arange(-float(WINDOW), WINDOW + 1))
        found = Fraction(math.exp(np.abs(np.diff(logs)).max()) * (1 - CLOSE))
    assert found <= worst, f"worst_odds are {float(worst)}, but neighbours differ by {float(found)}"
    assert worst - 1 <= (found - 1) * (1 + Fraction(1, 10**6)), f"worst_odds are {float(worst)}, too many"


def _deltas_are_least(law: NoiseLaw, half: Floats) -> None:
    """Against the sum of all excesses, in floats; and in fractions, where they are exact."""
    unit, both = 1 / math.sqrt(law.spread), _both(half)
    for share, shift in product((0.2, 0.8, 2.0, 5.0), SHIFTS):
        epsilon = Epsilon(value=Fraction(max(1, round(share * unit * 1000)), 1000))
        here, there = np.pad(both, (0, shift)), np.pad(both, (shift, 0))
        found = float(np.maximum(here - math.exp(float(epsilon)) * there, 0).sum())
        said = law.delta(epsilon, shift)
        wrong = f"delta({epsilon}, shift {shift}) is {float(said)}, excesses sum to {found}"
        assert abs(float(said) - found) < CLOSE, wrong
        if law.rational:
            assert said >= _excess(law, epsilon, shift), wrong
    assert law.delta(epsilon) <= law.delta(epsilon, 2), "a larger change needs less delta"


def _excess(law: NoiseLaw, epsilon: Epsilon, shift: int) -> Fraction:
    """A lower bound on delta: the excesses of the outputs in the window, and of all below it together."""
    chances, factor = _fractions(law), epsilon.bounds(160)[1]
    below = law.chance_below(shift - WINDOW - 1) - factor * law.chance_below(-WINDOW - 1)
    excesses = (a - factor * b for a, b in zip(chances[shift:], chances))
    return sum((max(Fraction(0), excess) for excess in (below, *excesses)), Fraction(0))


def _prices_suffice(law: NoiseLaw, reach: int) -> None:
    """No price is below what a change can reveal; and two changes cost no more together than one after the other."""
    prices = {units: law.price(units) for units in range(1, 2 * len(SHIFTS) + 1)}
    for units in SHIFTS:
        _price_suffices(law, prices[units], units, reach)
    for one, other in product(SHIFTS, SHIFTS):
        together, parts = _length(prices[one + other]), _length(prices[one]) + _length(prices[other])
        assert together <= parts * (1 + CLOSE), f"{one + other} units cost more than {one} and then {other}"


def _length(price: Loss) -> float:
    """What adds up along a chain of neighbours: epsilon, or the root of rho."""
    return math.sqrt(price.rho) if isinstance(price, Concentrated) else float(price.epsilon)


def _price_suffices(law: NoiseLaw, price: Loss, units: int, reach: int) -> None:
    low = f"the price of {units} units, {price}, is too low"
    values = np.arange(-reach - units, reach + units + 1.0)
    here, there = law.log_mass(values), law.log_mass(values - units)
    if isinstance(price, Pure):
        assert np.abs(here - there).max() <= float(price.epsilon) * (1 + CLOSE) + 1e-12, low
        if law.rational:
            chances = _fractions(law)
            assert all(price.epsilon.allows(max(a / b, b / a)) for a, b in zip(chances, chances[units:])), low
    elif isinstance(price, Approximate):
        assert law.delta(price.epsilon, units) <= price.delta, low
    else:
        for order in ORDERS:
            divergence = np.logaddexp.reduce(order * here + (1 - order) * there) / (order - 1)
            assert divergence <= order * float(price.rho) * (1 + 1e-7) + 1e-12, low


def _calibration_keeps_within(law: NoiseLaw) -> None:
    """calibrated(loss, units) costs at most the loss, and hardly less; what the law cannot promise is refused."""
    pure: list[Loss] = [Pure("1/10"), Pure(1), Pure(Epsilon(ratio=Fraction(5, 2)))]
    other: list[Loss] = [Concentrated("1/10"), Concentrated(2), Approximate(1, "1e-6")]
    if not getattr(law, "calibrates", True):
        assert all(_refused(partial(type(law).calibrated, loss)) for loss in (*pure, *other)), "it says it does not"
        return
    for loss, units in product(pure if law.pure else other, (1, 3)):
        made = type(law).calibrated(loss, units)
        assert type(made) is type(law), "calibrated made another law"
        _within(made, loss, units)
    for loss in other if law.pure else pure:
        assert _refused(partial(type(law).calibrated, loss)), f"{loss!r} must be refused"


def _within(law: NoiseLaw, loss: Loss, units: int) -> None:
    price, more = law.price(units), f"noise for {loss!r} costs {law.price(units)!r} for {units} units"
    if isinstance(loss, Approximate):
        assert law.delta(loss.epsilon, units) <= loss.delta, more
        assert units > 1 or law.delta(loss.epsilon) >= loss.delta / 2, f"{more}: wider than needed"
        return
    assert type(price) is type(loss), f"a price in {price.kind} terms cannot keep a {loss.kind} loss"
    if isinstance(loss, Pure):
        assert price.epsilon is not None and loss.epsilon.allows(price.epsilon.bounds(160)[1]), more
    else:
        assert price.rho is not None and loss.rho is not None and price.rho <= loss.rho, more
    assert _length(price) >= 0.999 * _length(loss), f"{more}: wider than needed"


def _parabolas_touch(law: NoiseLaw, reach: int) -> None:
    """From two standard deviations on the parabola through the log-mass lies nowhere below it; nearer it is capped."""
    far = max(2.0, 2 * math.sqrt(law.spread))
    points = np.unique(np.rint(np.geomspace(far, max(far + 1, reach / 3), 12)))
    curves = law.curvature(points)
    values = np.arange(-float(reach), reach + 1)
    for point, curve in zip(points, curves):
        parabola = -law.log_mass(np.array([point]))[0] + curve / 2 * (values**2 - point**2)
        below = (-law.log_mass(values) - parabola).max()
        assert below <= CLOSE * (1 + abs(parabola).max()), f"the parabola at {point} lies below the log-mass"
    near = law.curvature(np.array([0.0, 0.1, 1.0, *points]))
    assert np.isfinite(near).all() and (near > 0).all() and (np.diff(near) <= 0).all(), "curvature rises or ends"
    assert np.array_equal(law.curvature(-points), curves), "curvature is not symmetric"


def _can_be_written_down(law: NoiseLaw) -> None:
    assert laws().get(law.name) is type(law), f"{law.name!r} is not registered"
    written = law_json(law)
    assert all(type(value) is str for value in written.values()) and written["law"] == law.name
    back = law_of_json(written)
    assert back == law and hash(back) == hash(law), "the law that is read is not the law that was written"
    field = fields(law)[0].name  # type: ignore[arg-type]
    try:
        setattr(law, field, getattr(law, field))
    except FrozenInstanceError:
        return
    raise AssertionError("a law is a frozen value")


def _draws_follow(law: NoiseLaw, half: Floats, size: int, bits: Bits) -> None:
    """Batches and single draws, with and without a largest count; a wrong law must be told from it."""
    both, first = _both(half), 1 - len(half)
    tempered = both**TEMPERED
    wrong = tempered / tempered.sum()

    def batch(number: int) -> Integers:
        return law.add(np.zeros(number, dtype=np.int64), bits)

    def singles(number: int) -> Integers:
        return np.array([law.add(np.array([7]), bits)[0] - 7 for _ in range(number)])

    assert_sampler_law(batch, both.tolist(), size=size, first=first, wrong=wrong.tolist())
    assert_sampler_law(singles, both.tolist(), size=SINGLES, first=first)
    counts = np.repeat([3, 50], size // 8)
    topped = law.add(counts, bits, 10) - np.minimum(counts, 10)
    assert topped.dtype == np.int64 and (counts == np.repeat([3, 50], size // 8)).all(), "the counts were changed"
    assert_sampler_law(lambda _: topped, both.tolist(), size=len(counts), first=first)
