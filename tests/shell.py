"""A command as from the shell, without a process of its own: its exit status and what it printed."""

from __future__ import annotations

import io
import os
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from discreet.cli import main


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def shell(*words: str, cwd: Path | None = None) -> Done:
    """`discreet WORDS...`: what it prints goes through files with bytes behind them, as in a process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    code: object = None
    argv = mock.patch.object(sys, "argv", ["discreet", *words])
    with redirect_stdout(out), redirect_stderr(err), argv, chdir(cwd or os.curdir):
        try:
            main()
        except SystemExit as left:
            code = left.code
    return Done(int(str(code or 0)), *(file.buffer.getvalue().decode() for file in (out, err)))  # type: ignore[attr-defined]
