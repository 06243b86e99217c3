"""The analyst's side: what a release says about the truth. Only published values are used."""

from __future__ import annotations

from discreet.estimate.answers import Answer, AnswerSet, Cut
from discreet.estimate.view import Estimate, estimate

__all__ = ["Answer", "AnswerSet", "Cut", "Estimate", "estimate"]
