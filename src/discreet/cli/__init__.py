"""The command line. One file a command: parse, call one public function, print."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

COMMANDS = {
    "demo": "release the example table that ships with the package",
    "release": "release a table of counts",
    "run": "make the release that a file asks for",
    "serve": "the same in a browser, on this machine only",
    "verify": "re-check a release, without the data",
    "plan": "what a release would do and how good it would be, without reading the counts",
    "design": "the best mechanism that meets your requirements",
    "compare": "named mechanisms side by side",
    "certify": "prove a matrix private, or show where it is not",
    "noise": "bounded integer noise",
    "distribution": "the private distribution of counts",
    "construct": "a mechanism that keeps a given distribution",
    "estimate": "what a release says about the truth, with intervals",
    "choose": "help to choose epsilon",
    "count": "a table of counts from one row per person",
    "ledger": "the record of what was spent",
    "sample-noise": "noise that keeps invariants (private side)",
    "diagnose": "how fast a chain forgets its start (private side)",
    "evaluate": "errors of several methods on a table (private side)",
    "reproduce": "the published experiments, again",
}


def main() -> None:
    """Entry point of `discreet`."""
    from discreet.cli.common import run_app

    sys.exit(run_app(_app()))


def _app() -> typer.Typer:
    """Only the command that is asked for is imported, so that each starts fast.

    A shell that completes a word asks through the environment and gives no arguments: all commands are there for it.
    """
    import typer

    from discreet.cli.common import root
    from discreet.cli.flags import FlagCommand

    # a pretty traceback may print the values of variables, and these may be secret counts
    app = typer.Typer(
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        help="Tables of counts, published with exact privacy.",
    )
    app.callback()(root)
    asked = next((word for word in sys.argv[1:] if not word.startswith("-")), None)
    for name, summary in COMMANDS.items():
        module = f"discreet.cli.{name.replace('-', '_')}"
        if (asked in COMMANDS and name != asked) or find_spec(module) is None:
            continue
        loaded = import_module(module)
        if hasattr(loaded, "app"):
            for inner in loaded.app.registered_commands:
                inner.cls = FlagCommand
            app.add_typer(loaded.app, name=name, help=summary)
        else:
            app.command(name, help=summary, cls=getattr(loaded, "COMMAND", FlagCommand))(loaded.run)
    return app
