"""A disk that fails at the n-th thing done to it: every write, and every folder or name made, inside one folder."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

NAMED = ("mkdir", "rename", "replace", "chmod", "rmdir", "link", "fsync")  # of the module os, where they change names


def full() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Disk(ExitStack):
    """While it is entered, the n-th operation below `folder` does what `fault` does. `done` counts them."""

    def __init__(self, folder: Path, fatal: int, fault: Callable[[], None] = full) -> None:
        super().__init__()
        self.folder, self.fatal, self.fault = str(folder), fatal, fault
        self.done: list[str] = []

    def __enter__(self) -> Disk:
        opened = io.open
        self.enter_context(patch("io.open", self._open(opened)))
        self.enter_context(patch("builtins.open", self._open(opened)))
        for name in NAMED:
            self.enter_context(patch(f"os.{name}", self._named(name, getattr(os, name))))
        import pyarrow.parquet as pq

        self.enter_context(patch.object(pq, "write_table", self._parquet))
        return self

    def step(self, what: str) -> None:
        self.done.append(what)
        if len(self.done) == self.fatal:
            self.fault()

    def _inside(self, path: Any) -> bool:
        return isinstance(path, (str, os.PathLike)) and os.path.abspath(path).startswith(self.folder)

    def _named(self, name: str, real: Any) -> Any:
        def call(path: Any, *more: Any, **options: Any) -> Any:
            if self._inside(path):
                self.step(name)
            return real(path, *more, **options)

        return call

    def _open(self, real: Any) -> Any:
        """The real thing, over a raw file whose every write is counted; the last one may come when it is closed."""

        def call(path: Any, mode: str = "r", buffering: int = -1, *more: Any, **options: Any) -> Any:
            if not self._inside(path) or not set(mode) & set("wax+"):
                return real(path, mode, buffering, *more, **options)
            self.step("open")
            raw = _Counted(self, path, mode.replace("b", "").replace("t", ""))
            file = io.BufferedWriter(raw)
            if "b" in mode:
                return file
            return io.TextIOWrapper(file, encoding=options.get("encoding"), newline=options.get("newline"))

        return call

    def _parquet(self, frame: Any, target: Any, row_group_size: int | None = None, **options: Any) -> None:
        """Arrow writes Parquet by itself: given one of our files it writes through it."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not self._inside(target):
            with pq.ParquetWriter(target, frame.schema, **options) as writer:
                writer.write_table(frame, row_group_size)
            return
        with open(target, "wb") as file:
            self._parquet(frame, pa.PythonFile(file, "w"), row_group_size, **options)


class _Counted(io.FileIO):
    def __init__(self, disk: Disk, path: Any, mode: str) -> None:
        super().__init__(path, mode)
        self._disk = disk

    def write(self, content: Any) -> int:
        self._disk.step("write")
        return super().write(content) or 0
