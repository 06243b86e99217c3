"""A sign of life on stderr while something takes its time; silent where nobody watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Gives a function that says how far it is."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda news: None
        return
    with console.status(f"{what} ...") as status:
        yield lambda news: status.update(f"{what}: {news} ...")
