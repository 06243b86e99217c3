"""What the commands share: options, printing, and errors turned into exit statuses."""

from __future__ import annotations

import json as jsonlib
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.errors import DiscreetError, LedgerWarning

if TYPE_CHECKING:
    from discreet.table import Schema

LOSS: dict[str, str] = {"rich_help_panel": "What may be lost: give one of epsilon, alpha and rho"}
Epsilon = Annotated[str | None, typer.Option("--epsilon", help='privacy parameter, e.g. 1, 0.1 or "1/2"', **LOSS)]
Alpha = Annotated[str | None, typer.Option("--alpha", help="e^-epsilon, exact, instead of --epsilon", **LOSS)]
Rho = Annotated[str | None, typer.Option("--rho", help="zero-concentrated privacy, instead of --epsilon", **LOSS)]
Delta = Annotated[
    str, typer.Option("--delta", help="how much likelier, beyond e^epsilon times, any set of outcomes may be", **LOSS)
]
# where one of them can only be refused, it is taken all the same: everywhere in the same words, and not as unknown
RefusedRho = Annotated[str | None, typer.Option("--rho", hidden=True)]
RefusedDelta = Annotated[str, typer.Option("--delta", hidden=True)]
Seed = Annotated[int | None, typer.Option("--seed", help="for tests only: the result is NOT private")]
Json = Annotated[bool, typer.Option("--json", help="print one JSON value")]
Plot = Annotated[str | None, typer.Option("--plot", help="draw to this PNG or SVG file")]
Out = Annotated[str, typer.Option("--out", help="folder to write")]


def tell_version(context: typer.Context, asked: bool) -> None:
    """Said before a command is looked for, since `discreet --version` has none."""
    if asked and not context.resilient_parsing:  # a shell that completes a line parses it, too, and must get no answer
        import discreet

        print(f"discreet {discreet.__version__}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=tell_version, is_eager=True, help="print the version")]


def root(version: Version = False) -> None:
    """What `discreet` takes before the name of a command."""


def names(listing: str | None) -> list[str] | str | None:
    """'a,b' -> ['a', 'b']; 'all' stays as it is."""
    if listing is None or listing == "all":
        return listing
    return [part.strip() for part in listing.split(",") if part.strip()]


def named_cost(word: str) -> Any:
    """A cost by its name, or the matrix in the file of that name."""
    from discreet.io.files import read_floats

    return read_floats(word) if word.lower().endswith((".json", ".csv", ".npz")) else word


def emit(json: bool, value: Any, lines: Iterable[str] | Callable[[], Iterable[str]]) -> None:
    """One JSON value on stdout, or lines for a person."""
    if json:
        print(jsonlib.dumps(value))
    else:
        for line in lines() if callable(lines) else lines:
            print(line)


def say(message: str) -> None:
    """A message for the person, never mixed into the output."""
    print(message, file=sys.stderr)


def say_columns(schema: Schema) -> None:
    """What leaves, by name, before anything is drawn."""
    keys = ", ".join(repr(key) for key in schema.keys) or "none"
    say(f"Columns that will be published: {keys} as they are, and {schema.count!r} with noise.")
    if schema.dropped_totals:
        say(f"Rows left out because their keys mean a total: {schema.dropped_totals:,}.")
    if schema.notes:
        say(f"Rows left out because they read like notes below the table: {', '.join(map(str, schema.notes))}.")


def run_app(app: typer.Typer) -> int:
    """Run; our own errors become one message and their exit status, our own warnings a message."""
    import warnings

    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, LedgerWarning):
            say(f"discreet: {message}")
        else:
            usual(message, category, *where, **more)

    with warnings.catch_warnings(), _tidy_end():
        warnings.showwarning = show
        return _run(app)


@contextmanager
def _tidy_end() -> Iterator[None]:
    """Whoever is told to end clears away first what nobody may read: a shutdown, or a terminal that was closed."""
    import signal
    import threading

    def end(number: int, frame: Any) -> None:
        sys.exit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    told = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    usual = {one: signal.getsignal(one) for one in told}
    for one in told:
        if usual[one] is signal.SIG_DFL:
            signal.signal(one, end)
    try:
        yield
    finally:
        for one, handler in usual.items():
            if handler is signal.SIG_DFL:
                signal.signal(one, handler)


def _run(app: typer.Typer) -> int:
    try:
        result = app(standalone_mode=False)
    except DiscreetError as error:  # of the line itself, before there is a command that could say it
        say(f"discreet: {error}")
        return error.exit_status
    except typer.Exit as leave:
        return int(leave.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        say("discreet: interrupted")
        return 130
    except OSError as error:  # a name that no file can have, a disk that went away
        say(f"discreet: {error.filename or 'a file'}: {error.strerror or error}")
        return 2
    except Exception as error:
        if hasattr(error, "format_message"):  # usage errors of the command-line parser
            say(f"discreet: {error.format_message()}")
            return int(getattr(error, "exit_code", 2))
        raise
    return int(result) if isinstance(result, int) else 0


def released(result: Any, out: str, digest: str) -> tuple[dict[str, object], list[str]]:
    """What a release command prints."""
    from pathlib import Path

    from discreet.numbers import text

    promise, record = result.guarantee, result.record
    files = sorted(path.name for path in Path(out).iterdir())
    value = {
        "out": str(out),
        "rows": result.schema.rows,
        "epsilon": None if promise.epsilon is None else str(promise.epsilon),
        "delta": text(promise.delta),
        "rho": None if promise.rho is None else text(promise.rho),
        "way": record.way,
        "mechanism": result.mechanism.name,
        "grade": promise.grade,
        "private": result.private,
        "max_count": result.max_count,
        "guarantee": promise.sentence,
        "files": files,
        "digest": digest,
    }
    lines = [
        f"{result.schema.rows:,} rows released to {out} ({', '.join(files)})",
        result.guarantee.sentence,
        f"Check it with: discreet verify {out}",
        f"Digest: {digest}",
    ]
    return value, lines
