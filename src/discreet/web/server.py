"""Run the page: on this machine only, with a folder for uploads that goes when the page goes, however it goes."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.errors import BadInput, MissingExtra

WATCH = "import shutil, sys; sys.stdin.buffer.read(); shutil.rmtree(sys.argv[1], ignore_errors=True)"


@contextmanager
def uploads() -> Iterator[Path]:
    """A folder that only its owner can open. A process of its own removes it once this one is gone, even if killed."""
    place = Path(tempfile.mkdtemp(prefix="discreet-"))
    place.chmod(0o700)
    watch = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", WATCH, str(place)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    before = tempfile.tempdir
    tempfile.tempdir = str(place)  # what is uploaded is kept nowhere else on its way
    try:
        yield place
    finally:
        tempfile.tempdir = before
        shutil.rmtree(place, ignore_errors=True)
        assert watch.stdin is not None
        watch.stdin.close()
        watch.wait()


def serve(folder: str | Path = ".", port: int = 0, opened: Callable[[str], None] = print) -> None:
    """Serve until interrupted. `opened` is told the address, with the token that opens it once."""
    try:
        import multipart as _multipart  # noqa: F401  (forms with files need it)
        import uvicorn
        from starlette.applications import Starlette as _Starlette  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            "the page was to be served", f"{error.name} is not installed", "Run: pip install 'discreet[web]'"
        ) from error
    from discreet.web.app import Pages
    from discreet.web.guard import Guard, Keys

    place = Path(folder).absolute()
    if not place.is_dir() or not os.access(place, os.W_OK):
        raise BadInput(f"releases were to go to {folder}", "that is no folder that can be written", "Name another")
    keys = Keys()
    with uploads() as kept, _bound(port) as listening:
        own = listening.getsockname()[1]
        app = Guard(Pages(keys, kept, place).app(), keys, own)
        settings = uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, date_header=False, ws="none", workers=1,
            timeout_graceful_shutdown=5,
        )  # fmt: skip
        opened(f"http://127.0.0.1:{own}/?token={keys.token}")
        uvicorn.Server(settings).run(sockets=[listening])


@contextmanager
def _bound(port: int) -> Iterator[socket.socket]:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen()  # so that whoever is told the address is answered
    except OSError as error:
        listening.close()
        raise BadInput(f"port {port} was to be used", error.strerror or str(error), "Name another port") from error
    with listening:
        yield listening
