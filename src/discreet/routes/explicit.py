"""A well-known mechanism, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.arrays import Integers
from discreet.build.explicit import explicit
from discreet.certify import Certificate, certify
from discreet.encode import mechanism_json
from discreet.errors import BadInput, NotProven
from discreet.guarantee import Guarantee, rho_for, unit_of
from discreet.mechanism import Mechanism, Noise, NoiseThenMap
from discreet.numbers import Epsilon, whole
from discreet.routes import Measured, Published, Request
from discreet.sample.bits import Bits
from discreet.sample.laws import Gaussian, Geometric
from discreet.sample.noise import add_gaussian, add_geometric, add_law
from discreet.sample.rows import draw_rows
from discreet.table import Schema


@dataclass(frozen=True, eq=False)
class ExplicitRoute:
    """One mechanism for every row."""

    mechanism: Mechanism
    guarantee: Guarantee
    certificate: Certificate | None
    discloses: tuple[str, ...] = ()

    @property
    def max_count(self) -> int | None:
        return self.mechanism.max_count

    @property
    def charged(self) -> Guarantee:
        return self.guarantee

    @property
    def signed(self) -> bool:
        return isinstance(self.mechanism.form, NoiseThenMap) and self.mechanism.form.clamp is not None

    def check(self, counts: Integers) -> None:
        """Every table can go this way."""

    def draw(self, counts: Integers, bits: Bits) -> Measured:
        form, top = self.mechanism.form, self.max_count
        if isinstance(form, NoiseThenMap):
            return Measured(noisy(counts, form.noise, bits, top), max_count=top)
        assert top is not None
        return Measured(draw_rows(form, np.minimum(counts, top), bits), max_count=top)

    def publish(self, measured: Measured) -> Published:
        counts = measured.rows if not self.signed else np.clip(measured.rows, 0, self.max_count)
        described, remarks = mechanism_json(self.mechanism), _remarks(self.mechanism)
        return Published(counts, described, remarks=remarks, certificate=self.certificate)


def noisy(counts: Integers, noise: Noise, bits: Bits, top: int | None = None) -> Integers:
    """counts, none above `top`, plus exact noise of the given law."""
    if isinstance(noise, Geometric):
        return add_geometric(counts, noise.odds, bits, top)
    if isinstance(noise, Gaussian):
        return add_gaussian(counts, noise.variance, bits, top)
    return add_law(counts, noise, bits, top)


def _remarks(mechanism: Mechanism) -> tuple[str, ...]:
    if mechanism.max_count is None:
        return ("Counts may be negative: nothing was cut off, so that sums stay unbiased.",)
    return (f"Counts above {mechanism.max_count} are treated as {mechanism.max_count}.",)


def plan_explicit(schema: Schema, request: Request) -> ExplicitRoute:
    """The mechanism of that name, certified for what was asked."""
    if request.max_count == "auto":
        raise BadInput(
            f"the mechanism {request.mechanism!r} was asked for with max_count 'auto'",
            "it has no stage that could measure the largest count",
            "Give max_count as a number, or use mechanism 'transport'",
        )
    _refuse_options(request)
    top = None if request.max_count is None else whole(request.max_count, "max_count", 1)
    if request.mechanism == "discrete-gaussian":
        return _plan_gaussian(schema, request, top)
    if request.rho is not None:
        raise BadInput(
            f"rho was asked for with the mechanism {request.mechanism!r}",
            "only Gaussian noise is calibrated by rho",
            "Give epsilon, or use mechanism 'discrete-gaussian'",
        )
    assert request.epsilon is not None
    each = request.epsilon.times(Fraction(1, schema.contributions))
    mechanism = request.own or explicit(request.mechanism, top, each)
    if request.own is not None and request.delta and schema.contributions > 1:
        raise BadInput("delta was asked for with contributions above 1", "a group's delta is larger", "Use delta 0")
    certificate = proved(mechanism, each, request.delta)
    unit = unit_of(schema.contributions)
    return ExplicitRoute(mechanism, Guarantee(request.epsilon, request.delta, unit=unit), certificate)


def proved(mechanism: Mechanism, epsilon: Epsilon, delta: Fraction = Fraction(0)) -> Certificate:
    """The certificate, or an error: nothing is released on a claim that fails."""
    certificate = certify(mechanism, epsilon, delta)
    if not certificate.holds:
        raise NotProven(
            f"epsilon = {epsilon} was asked for", "the mechanism does not meet it", witness=certificate.witness
        )
    return certificate


def _refuse_options(request: Request) -> None:
    """What only a release that keeps the distribution of counts can do must not be ignored in silence."""
    asked = {
        "consistent": request.consistent,
        "split": request.split is not None,
        "refine": request.refine,
        "base": request.base != "geometric",
    }
    for option, given in asked.items():
        if given:
            raise BadInput(
                f"{option} was asked for with the mechanism {request.mechanism!r}",
                "it draws every row by itself and keeps no distribution",
                "Use mechanism 'transport'",
            )


def _plan_gaussian(schema: Schema, request: Request, top: int | None) -> ExplicitRoute:
    variance = gaussian_variance_for(request, schema.contributions)
    mechanism = Mechanism("discrete-gaussian", NoiseThenMap(Gaussian(variance), None if top is None else (0, top)))
    guarantee = gaussian_guarantee(request, unit_of(schema.contributions))
    certificate = None
    if schema.contributions == 1 and request.epsilon is not None:
        certificate = proved(mechanism, request.epsilon, request.delta)
    return ExplicitRoute(mechanism, guarantee, certificate)


def gaussian_guarantee(request: Request, unit: str) -> Guarantee:
    if request.rho is not None:
        return Guarantee(rho=request.rho, unit=unit)
    return Guarantee(request.epsilon, request.delta, unit=unit, grade="enclosed")


def gaussian_variance_for(request: Request, contributions: int) -> Fraction:
    """The variance that rho, or epsilon with delta, asks for when one person may add `contributions` to a count."""
    from discreet.build.explicit import noise_variance

    squared = contributions**2
    if request.rho is not None:
        return squared / (2 * request.rho)
    assert request.epsilon is not None
    if contributions == 1:
        return noise_variance(request.epsilon, delta=request.delta)
    return squared / (2 * rho_for(request.epsilon.rational(), request.delta))
