"""One thread for small matrices: they are done before several would have met, and sums keep their order."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """While it lasts, linear algebra runs in one thread."""
    limit: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limit


@cache
def _libraries() -> Any:
    import scipy.linalg  # noqa: F401  its library of linear algebra is its own, and is found only once it is loaded
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
