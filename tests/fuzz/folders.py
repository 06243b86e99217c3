"""Release folders as a hostile sender would make them: edited in any place, and sealed again."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import discreet as dc
from discreet.record.release import seal_of

GOLDEN = Path(__file__).parents[1] / "golden"
RAW, FILES = 0, 1  # the second byte: the record as it stands, a file of the folder; otherwise edits of fields

ESTIMATED = 8  # one folder in so many is asked for an estimate: that may take seconds

# What a field may be turned into.
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 10**6, 10**19, 10**400, 0.5, -0.0, 1e308, float("nan"), float("inf"), "", "0", "1",
    "-1", "1/2", "1/0", "1e-40000000", "1e400", "9" * 5000, "nan", "\x00", "\ud800", "no", "table.csv", "../table.csv",
    "release.json", "geometric", "row-by-row", "keep-sums", "total", "exact", "2024-01-01", [], [0], [[0]], [None],
    ["1", "1"], {}, {"name": "geometric"}, [0] * 300, [[1, 2], [3]],
]  # fmt: skip


def hostile_folder(data: bytes, folder: Path) -> None:
    """The first byte chooses a release, the second what is done to it; then it is verified, read and asked."""
    files, document = _release(data[0] % len(_names()) if data else 0)
    mode, rest = data[1] if len(data) > 1 else RAW, data[2:]
    if mode == RAW:
        content = rest
    else:
        if mode == FILES:
            _edit_file(files, rest)
        else:
            edit_fields(document, rest)
        content = _sealed(document, files)
    for name, held in files.items():
        (folder / name).write_bytes(held)
    (folder / "release.json").write_bytes(content)
    verdict = dc.verify(folder, digest="0" * 64 if mode % 7 == 3 else None)
    if crc32(data) % ESTIMATED == 0:
        estimate = dc.estimate(folder)
        if verdict:  # numbers that contradict each other are for verify to find, not for arithmetic
            estimate.total()


@cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(path.parent.name for path in GOLDEN.glob("*/release.json")))


def _release(which: int) -> tuple[dict[str, bytes], dict[str, Any]]:
    files, document = _read(which)
    return dict(files), copy.deepcopy(document)


@cache
def _read(which: int) -> tuple[dict[str, bytes], dict[str, Any]]:
    files = {path.name: path.read_bytes() for path in sorted((GOLDEN / _names()[which]).iterdir())}
    document = json.loads(files.pop("release.json"))
    # by versions unknown here: the pictures in a report take longer to draw than all the rest to check
    document["rendered"] = dict.fromkeys(document["rendered"], "0")
    return files, document


def edit_fields(document: dict[str, Any], data: bytes) -> None:
    """Three bytes an edit: the place (two), and what is put there."""
    for start in range(0, min(len(data) - 2, 60), 3):
        places = list(_places(document))
        if not places:
            return
        holder, key = places[int.from_bytes(data[start : start + 2], "little") % len(places)]
        choice = data[start + 2]
        if choice < len(VALUES):
            holder[key] = copy.deepcopy(VALUES[choice])
        elif choice < 128:
            del holder[key]
        elif isinstance(holder, dict) and choice < 160:
            holder[f"field {choice}"] = 1
        else:  # something that stands elsewhere in the record
            other, name = places[(choice * 31 + start) % len(places)]
            holder[key] = copy.deepcopy(other[name])


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every field, and every item of a short list."""
    if isinstance(value, dict):
        keys: Any = list(value)
    elif isinstance(value, list):
        keys = range(min(len(value), 6))
    else:
        return
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _edit_file(files: dict[str, bytes], data: bytes) -> None:
    """The rest of the bytes in place of a part of a file."""
    if len(data) < 4:
        return
    name = sorted(files)[data[0] % len(files)]
    start, length = int.from_bytes(data[1:3], "little") % (len(files[name]) + 1), data[3]
    files[name] = files[name][:start] + data[4:] + files[name][start + length :]


def _sealed(document: Any, files: dict[str, bytes]) -> bytes:
    if isinstance(document.get("digests"), dict):
        for name in document["digests"].keys() & files.keys():
            document["digests"][name] = hashlib.sha256(files[name]).hexdigest()
    document.pop("seal", None)
    try:
        document["seal"] = seal_of(document)
        return json.dumps(document).encode()
    except (ValueError, UnicodeEncodeError):  # what could not be sealed is sent as it is
        return json.dumps(document).encode("utf-8", errors="surrogatepass")


def record_seeds() -> list[bytes]:
    raw = [bytes([k, RAW]) + (GOLDEN / name / "release.json").read_bytes() for k, name in enumerate(_names())]
    edits = [bytes([k, 2, place, 0, choice]) for k in range(len(_names())) for place, choice in ((9, 3), (40, 21))]
    return [*raw, *edits, b"\x00\x01\x00\x05\x00\x03abc", b"\x08\x01\x01\x05\x00\x00\n"]
