"""Where a release is made: proved to be free and writable before anything is spent, filled aside, and then named.

Aside is a folder for what nobody else may read, while a release is made: files that are not yet whole, sorted rows,
drafts of tasks, random words. It is gone when the release is made or refused. Of a process that was killed it stays; so
whoever makes the next one beside it sweeps it away. A lock tells whether its owner lives: the system lets go of it when
a process ends, however it ends.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import BadInput
from discreet.sample.bits import unguessable

if TYPE_CHECKING:
    from discreet.record.release import LedgerEntry

SUFFIX = ".secret"
LOCK = "owner"  # a file in it, which names the machine: locks of others may not be seen here
BOOT = Path("/proc/sys/kernel/random/boot_id")
ATTEMPTS = 10  # at removing a folder into which a late copy of a task still writes


@dataclass(frozen=True)
class Place:
    """Where a release will be: a folder near it, made already, that takes its name once it is full."""

    target: Path
    part: Path


@contextmanager
def place_for(folder: str | Path, inside: Path | None = None) -> Iterator[Place]:
    """Prove that a release can be saved there by making the folder it is written into, before anything is spent.

    It is in a folder of its own beside the release, or in the one that is given. Whoever made that removes it; of a
    process that was killed it stays, and the next release beside it sweeps it away."""
    target = free_target(folder)
    if inside is None:
        with secret_folder(target) as own, place_for(target, own) as place:
            yield place
        return
    try:
        part = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=inside))
    except OSError as error:
        raise cannot_be_saved(target, error) from error
    _try_to_move(target, part.with_suffix(".old"))
    yield Place(target, part)


def _try_to_move(target: Path, aside: Path) -> None:
    """An empty folder makes room once the release is full: what cannot be moved away now cannot be then."""
    try:
        if target.exists():
            target.rename(aside)
            aside.rename(target)
    except OSError as error:
        raise cannot_be_saved(target, error) from error


def in_its_place(folder: Place, entry: LedgerEntry | None = None) -> None:
    """What is full takes its name: from here on it is a release."""
    try:
        folder.part.chmod(0o755)
        if folder.target.exists():
            folder.target.rmdir()
        folder.part.rename(folder.target)
    except OSError as error:
        raise cannot_be_saved(folder.target, error, entry) from error


def cannot_be_saved(target: Path, error: OSError, entry: LedgerEntry | None = None) -> BadInput:
    """A release that was paid for is lost with the process that made it, and another one costs again."""
    found, do = error.strerror or str(error), "Make room there, or name another folder"
    if entry is not None:
        found += f"; its entry #{entry.number} of {entry.dataset!r} stays charged, since the noise may have been seen"
    return BadInput(f"the release was to be saved in {target}", found, do)


def free_target(folder: str | Path) -> Path:
    """The folder, if a release can be put there; to be called before any budget is spent."""
    target = Path(folder).absolute()
    if target.is_symlink():
        found = "that is a link, which a folder cannot take the place of"
        raise BadInput(
            f"the release was to be saved in {folder}", found, "Name the folder that it leads to, or a new one"
        )
    if os.path.ismount(target):
        found = "something is mounted there, which a folder cannot take the place of"
        raise BadInput(f"the release was to be saved in {folder}", found, "Name a new folder inside it")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BadInput(f"the release was to be saved in {folder}", "that is there already", "Name a new folder")
    parent = target.parent
    if not parent.is_dir():
        raise BadInput(f"the release was to be saved in {folder}", f"there is no folder {parent}", "Make it first")
    if not os.access(parent, os.W_OK):
        raise BadInput(f"the release was to be saved in {folder}", f"the folder {parent} is not writable")
    return target


@contextmanager
def secret_folder(beside: Path) -> Iterator[Path]:
    """For what nobody else may read, while the release is made; what is left of dead ones is swept away."""
    sweep(beside.parent)
    try:
        made = Path(tempfile.mkdtemp(prefix=f".{beside.name}.", suffix=SUFFIX, dir=beside.parent))
    except OSError as error:
        raise cannot_be_saved(beside, error) from error
    try:
        lock = _locked(made)
    except OSError as error:
        removed(made)
        raise cannot_be_saved(beside, error) from error
    try:
        yield made
    finally:
        removed(made)
        if lock is not None:
            os.close(lock)


def _locked(folder: Path) -> int | None:
    """The lock, held. It has its name only once it is held, so that no sweeper comes in between."""
    draft = folder / f"{LOCK}.{unguessable()}"
    held = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    if not _hold(held):
        os.close(held)
        return None
    os.write(held, "\n".join(_here()).encode())
    draft.rename(folder / LOCK)
    return held


def _here() -> set[str]:
    """What tells this machine from others: its name; and its last start, which all its containers share."""
    found = {socket.gethostname()}
    with suppress(OSError):
        found.add(BOOT.read_text().strip())
    return found


def _hold(file: int) -> bool:
    """Whether nobody else holds it; False, too, where there are no locks."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def sweep(folder: Path) -> list[Path]:
    """Remove what is left there by processes of this machine that are dead. Which it was."""
    swept = []
    with suppress(OSError), os.scandir(folder) as entries:
        ours = [Path(one.path) for one in entries if one.name.startswith(".") and one.name.endswith(SUFFIX)]
        swept = [path for path in ours if _is_left(path)]
    for path in swept:
        removed(path)
    return swept


def _is_left(path: Path) -> bool:
    try:
        if path.is_symlink() or path.stat().st_uid != os.getuid():
            return False
        held = os.open(path / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except (OSError, AttributeError):  # where there are no owners, nothing is known to be ours
        return False
    try:
        return not _here().isdisjoint(os.read(held, 1 << 10).decode(errors="replace").split("\n")) and _hold(held)
    finally:
        os.close(held)


def removed(folder: Path) -> None:
    """Out of the way first, so that no late copy of a task finds it; then gone, the lock last: who is killed here
    leaves what can be swept."""
    gone = folder.with_name(f".{unguessable()}{SUFFIX}")
    with suppress(OSError):
        folder.rename(gone)
        folder = gone
    with suppress(OSError):
        for entry in [one for one in folder.iterdir() if one.is_dir()]:
            shutil.rmtree(entry, ignore_errors=True)
    for _ in range(ATTEMPTS if folder.exists() else 0):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
