"""No option is ignored in silence, and nothing is released on a proof that fails."""

from __future__ import annotations

from typing import Any

import pytest

import discreet as dc
from discreet.certify import prove as prover
from discreet.errors import BadInput, NotProven
from discreet.privacy import Pure
from tests.releases import example


@pytest.mark.parametrize(
    "options",
    [
        {"mechanism": "geometric"},
        {"mechanism": "no such thing"},
        {"consistent": True},
        {"split": "1/2"},
        {"refine": True},
        {"base": "gaussian"},
        {"max_count": 5},
    ],
)
def test_what_keeps_the_distribution_is_refused_with_keep(options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(BadInput, match=f"(?i){name} was asked for together with keep"):
        dc.release(example(), epsilon=1, keep=["total"], **options)
    with pytest.raises(BadInput, match=f"(?i){name} was asked for together with keep"):
        dc.plan(example().schema, 1, keep=["total"], **options)


@pytest.mark.parametrize(
    "options",
    [
        {"law": "gaussian"},
        {"nonnegative": True},
        {"per_unit": True},
        {"allow_diagnosed": True},
    ],
)
@pytest.mark.parametrize("mechanism", ["transport", "geometric"])
def test_what_belongs_to_kept_sums_is_refused_without(options: dict[str, Any], mechanism: str) -> None:
    (name,) = options
    with pytest.raises(BadInput, match=f"(?i){name} was asked for without keep"):
        dc.release(example(), epsilon=1, max_count=8, mechanism=mechanism, **options)


def test_defaults_said_aloud_are_no_contradiction() -> None:
    dc.release(example(), epsilon=1, keep=["total"], base="geometric", refine=False, consistent=False)
    dc.release(example(), epsilon=1, max_count=8, law="l1", per_unit=False, nonnegative=False)


@pytest.mark.parametrize(
    "options", [{"mechanism": "geometric"}, {}, {"mechanism": "unfixed"}, {"mechanism": "discrete-gaussian"}]
)
def test_a_claim_that_fails_releases_nothing(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    delta = "1e-6" if options.get("mechanism") == "discrete-gaussian" else 0
    certified = prover._certified
    monkeypatch.setattr(prover, "_certified", lambda mechanism, _: certified(mechanism, Pure("1e-9")))
    with pytest.raises(NotProven, match="the mechanism does not meet it"):
        dc.release(example(), epsilon=1, delta=delta, max_count=8, **options)
