"""What is simulated is for intervals: no part of what is published comes from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc


def lacking(seed: int) -> Any:
    """Two tables of six by six that lack cells, each in other places."""
    there = np.random.default_rng(seed).random((2, 6, 6)) > 0.15
    keys = np.argwhere(there)
    frame = pa.table({"t": keys[:, 0], "a": keys[:, 1], "b": keys[:, 2], "n": np.full(len(keys), 20)})
    return dc.table(frame, count="n", keys=["t", "a", "b"])


@pytest.mark.parametrize("privacy", [{"epsilon": 1}, {"rho": 1, "law": "gaussian"}], ids=["l1", "gaussian"])
def test_nothing_that_is_published_is_simulated(privacy: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The release is the same with all simulations out of order; its intervals are not to be had then."""

    def released() -> Any:
        return dc.release(lacking(1), keep=["margin:t,a", "margin:t,b"], seed=3, **privacy)

    def out_of_order(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("it was simulated")

    usual = released().table
    for name in ("simulated.simulated", "halved_columns.HalvedColumns.roughly", "rough.rough_draws"):
        monkeypatch.setattr(f"discreet.lattice.{name}", out_of_order)
    made = released()
    assert made.table.equals(usual)
    with pytest.raises(AssertionError, match="it was simulated"):
        dc.estimate(made).rows()
