"""How long something may take: by the clock of the process, which other work on the machine does not move."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Seconds of computing: ten times or more what it takes on an ordinary machine, and far less than the mistake that
    the limit is there to find."""
    start = time.process_time()
    yield
    took = time.process_time() - start
    assert took < seconds, f"{took:.1f} seconds of computing, where {seconds:g} are more than enough"
