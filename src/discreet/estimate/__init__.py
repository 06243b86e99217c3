"""The analyst's side: what a release says about the truth. Only published values are used."""

from __future__ import annotations

from discreet.estimate.answers import Answer, Estimate, estimate

__all__ = ["Answer", "Estimate", "estimate"]
