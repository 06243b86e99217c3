"""What a release claims, read back exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.certify import certify
from discreet.encode import mechanism_of
from discreet.mechanism import Mechanism, NoiseThenMap
from discreet.numbers import Epsilon, epsilon_of
from discreet.sample.laws import Gaussian


def claimed_epsilon(document: dict[str, Any]) -> Epsilon:
    promise = document["guarantee"]
    return epsilon_of(alpha=promise["alpha"]) if promise.get("alpha") else epsilon_of(promise["epsilon"])


def contributions(document: dict[str, Any]) -> int:
    return int(document["schema"].get("contributions", 1))


def prove_rows(document: dict[str, Any], epsilon: Epsilon, delta: Fraction) -> list[str]:
    """The mechanism applied to every row is (epsilon, delta)-private when one person adds one to one count."""
    certificate = certify(mechanism_of(document["mechanism"]), epsilon, delta)
    if certificate.holds:
        return []
    return [
        f"The mechanism is not ({epsilon}, {float(delta):g})-private: it would need epsilon "
        f"{certificate.smallest_epsilon or 'without bound'}."
    ]


def gaussian_noise(mechanism: Mechanism) -> Gaussian | None:
    form = mechanism.form
    return form.noise if isinstance(form, NoiseThenMap) and isinstance(form.noise, Gaussian) else None
