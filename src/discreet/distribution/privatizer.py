"""What a privatizer is, and where it is found: in `methods`, under the name of its file, or where it was registered."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Protocol, cast, runtime_checkable

from numpy.typing import NDArray

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput, choose
from discreet.laws import NoiseLaw, standard_noise
from discreet.numbers import Epsilon
from discreet.privacy import Concentrated, Loss, Pure
from discreet.sample.bits import Bits


class Privatizer(Protocol):
    """Integer answers about the histogram of counts, which get integer noise; then an estimate of the histogram.

    A module with these functions will do, or any object.
    """

    SUMMARY: str
    PROJECTION: str  # how the estimate becomes a distribution, unless the user says otherwise

    def answers(self, histogram: Integers) -> Integers:
        """What is measured, without noise."""

    def sensitivity(self, bins: int) -> int:
        """The largest total change of the answers when one row's count changes by one: exact, not a bound."""

    def squared(self, bins: int) -> int:
        """The largest sum of squared changes of the answers when one row's count changes by one: exact."""

    def estimate(self, noisy: NDArray[Any], rows: int, bins: int) -> Floats:
        """The histogram that the noisy answers speak for; entries may be negative."""


@runtime_checkable
class Idealised(Protocol):
    """A privatizer of continuous noise: its proof is for real numbers, not for the floats of a computer."""

    def noise(self, size: int, epsilon: Epsilon, delta: Fraction, bits: Bits) -> Floats:
        """Noise for the answers."""


_REGISTERED: dict[str, Privatizer] = {}


def register(name: str, method: Privatizer) -> None:
    """Make a privatizer known under a name."""
    if privatizers().get(name, method) is not method:
        raise BadInput(f"the privatizer {name!r} was to be registered", "there is another one of that name")
    _REGISTERED[name] = method


def privatizers() -> dict[str, Privatizer]:
    """Every privatizer by name."""
    return {**_from_files(), **_REGISTERED}


def privatizer(name: str) -> Privatizer:
    known = privatizers()
    return known.get(name) or known[choose(name, known, "privatizer")]


def is_exact(method: Privatizer) -> bool:
    """Integer answers with integer noise: what is promised holds on a computer too."""
    return not isinstance(method, Idealised)


def measure(name: str, histogram: Integers, loss: Loss, contributions: int, bits: Bits) -> tuple[Integers, NoiseLaw]:
    """Noisy answers of an exact privatizer, and the law of the noise in each of them.

    Geometric noise for a pure loss, discrete Gaussian noise for any other. All of a person's rows may have the same
    count, and then move the same answers: `contributions` counts in full, and squared in the square.
    """
    method, bins = privatizer(name), len(histogram)
    if not is_exact(method):
        found = "its continuous noise is unproven in floating point"
        raise BadInput(f"the privatizer {name!r} was asked for", found, "Use another one, such as 'cumulative'")
    law = noise_of(name, bins, loss, contributions)
    return law.add(method.answers(histogram), bits), law


def noise_of(name: str, bins: int, loss: Loss, contributions: int) -> NoiseLaw:
    """The noise of every answer of an exact privatizer about so many bins."""
    method = privatizer(name)
    return standard_noise(
        loss, distance=method.sensitivity(bins) * contributions, square=method.squared(bins) * contributions**2
    )


def exact_privatizers() -> tuple[str, ...]:
    """The names of those that a release can use."""
    return tuple(name for name, method in privatizers().items() if is_exact(method))


def pays_for(name: str, bins: int, noise: NoiseLaw, loss: Pure | Concentrated, contributions: int) -> bool:
    """Whether noise of that law in every answer costs no more than `loss` when one person's rows change."""
    method = privatizer(name)
    price = noise.price()
    if not is_exact(method):
        return False
    if isinstance(loss, Concentrated):
        square = method.squared(bins) * contributions**2
        return isinstance(price, Concentrated) and price.rho * square <= loss.rho
    distance = method.sensitivity(bins) * contributions
    return noise.worst_odds is not None and loss.epsilon.times(Fraction(1, distance)).allows(noise.worst_odds)


def estimated(name: str, noisy: NDArray[Any], rows: int, bins: int) -> Floats:
    """The distribution that noisy answers speak for."""
    from discreet.distribution.projections import PROJECTIONS

    method = privatizer(name)
    return PROJECTIONS[method.PROJECTION](method.estimate(noisy, rows, bins), float(rows))


@lru_cache(maxsize=1)
def _from_files() -> dict[str, Privatizer]:
    from discreet.distribution import methods

    names = sorted(module.name for module in iter_modules(methods.__path__))
    return {name.replace("_", "-"): cast(Privatizer, import_module(f"{methods.__name__}.{name}")) for name in names}
