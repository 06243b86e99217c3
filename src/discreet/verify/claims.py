"""What a release claims, read back exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.certify import Certificate, certify
from discreet.encode import mechanism_of
from discreet.guarantee import unit_of
from discreet.mechanism import Mechanism, NoiseThenMap
from discreet.numbers import Epsilon, epsilon_of, whole
from discreet.sample.laws import Gaussian


def claimed_epsilon(document: dict[str, Any]) -> Epsilon:
    promise = document["guarantee"]
    return epsilon_of(alpha=promise["alpha"]) if promise.get("alpha") else epsilon_of(promise["epsilon"])


def contributions(document: dict[str, Any]) -> int:
    return whole(document["schema"]["contributions"], "contributions", 1)


def check_promise(document: dict[str, Any], grade: str) -> list[str]:
    """The unit and the grade of the guarantee are those of a release row by row."""
    promise, problems = document["guarantee"], []
    if promise["unit"] != unit_of(contributions(document)):
        problems.append("The guarantee is about other neighbours than the schema's contributions say.")
    if promise["grade"] != grade:
        problems.append(f"The guarantee is of the grade {promise['grade']!r}; it should be {grade!r}.")
    if document.get("invariants") is not None:
        problems.append("The release tells of invariants, but it keeps none.")
    return problems


def prove_rows(document: dict[str, Any], epsilon: Epsilon, delta: Fraction) -> list[str]:
    """The mechanism applied to every row is (epsilon, delta)-private when one person adds one to one count."""
    certificate = certify(mechanism_of(document["mechanism"]), epsilon, delta)
    if not certificate.holds:
        return [not_private(certificate)]
    same = document["certificate"] == certificate.as_json()
    return [] if same else ["The certificate is not the one that the mechanism earns."]


def not_private(certificate: Certificate) -> str:
    claim, needed = f"({certificate.epsilon}, {float(certificate.delta):g})", certificate.smallest_epsilon
    return f"The mechanism is not {claim}-private: it would need epsilon {needed or 'without bound'}."


def gaussian_noise(mechanism: Mechanism) -> Gaussian | None:
    form = mechanism.form
    return form.noise if isinstance(form, NoiseThenMap) and isinstance(form.noise, Gaussian) else None
