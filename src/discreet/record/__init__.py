"""The record of a release: typed values, the only JSON code, and the words for people."""

from __future__ import annotations

from discreet.record import values  # registers how losses, laws, forms and kept sums are written

__all__ = ["values"]
