"""discreet serve"""

from __future__ import annotations

from typing import Annotated

import typer


def run(
    port: Annotated[int, typer.Option("--port", help="of this machine; any free one if not given", metavar="N")] = 0,
    folder: Annotated[
        str, typer.Option("--folder", help="where tables are, and where releases and the ledger go", metavar="DIR")
    ] = ".",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="print the address, and open no browser")] = False,
) -> None:
    from discreet.web.server import serve

    def opened(address: str) -> None:
        print(address, flush=True)
        if not no_browser:
            import webbrowser

            webbrowser.open(address)

    serve(folder, port, opened)
