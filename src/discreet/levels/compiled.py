"""Compiled code gives the same tables as plain code, sooner: it is used where it is installed and worth loading."""

from __future__ import annotations

import sys
from typing import Any

WORTH_CALLING = 1 << 16  # cells: plain code takes no longer for fewer
WORTH_LOADING = 1 << 22  # the same, where the compiler is not there yet: it takes more than a second to load
LOOPS_WORTH_LOADING = 1 << 17  # the same, where plain code goes from cell to cell


def kernels(cells: int, worth_loading: int | None = None) -> Any:
    """The compiled functions; None: plain code will do."""
    loading = WORTH_LOADING if worth_loading is None else worth_loading
    if cells < (WORTH_CALLING if "numba" in sys.modules else loading):
        return None
    try:
        from discreet.levels import _kernels
    except ImportError:
        return None
    return _kernels
