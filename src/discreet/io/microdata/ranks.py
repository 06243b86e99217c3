"""Which rows of a person are counted, where there are more than the bound: those with the smallest ranks.

The rank of a row is HMAC-SHA256, under a fresh key, of the person, of the row's category and of its number among the
person's rows in that category; rows of one category are alike, so it does not matter which of them has which number.
Every choice of rows is then equally likely, a row that is looked at again has the same rank, and what is counted of a
person depends on nobody else. Privacy does not rest on the key being secret: for every key one person changes the
counts by no more than the bound.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np

from discreet.arrays import Integers, Words
from discreet.sample.bits import secure

KEY_BYTES = 32  # as many as the digest of SHA-256 has
BLOCK = 64  # bytes that SHA-256 takes at a time
INNER, OUTER = 0x36, 0x5C  # what HMAC's two hashes begin with, under the key
DIGITS = 16  # hexadecimal ones of a rank: 64 bits, so that a person's n rows tie with a chance below n^2 / 2^65


def fresh_key() -> bytes:
    return secure().bytes(KEY_BYTES)


def padded(key: bytes, mark: int) -> bytes:
    """The block that a hash of HMAC begins with."""
    return bytes(byte ^ mark for byte in key.ljust(BLOCK, b"\0"))


def ranked_rows(key: bytes, texts: list[Any], sizes: Integers) -> tuple[Integers, Words]:
    """A row for each row, from columns of texts (the person, then the category) and how many rows each line stands
    for: the place of its line, and its rank."""
    import pyarrow as pa

    place = np.repeat(np.arange(len(sizes)), sizes)
    numbers = np.arange(len(place)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return place, ranks(key, [column.take(pa.array(place)) for column in texts], numbers)


def ranks(key: bytes, texts: list[Any], numbers: Integers) -> Words:
    """HMAC-SHA256 of each row, its first 64 bits. A text has its length in bytes before it, so that no two rows are
    written alike."""
    inner, outer = sha256(padded(key, INNER)), sha256(padded(key, OUTER))
    found = bytearray()
    # hashlib in a loop is as fast as the rounds of SHA-256 would be in numpy, and only rows over the bound come here
    for row in zip(*(column.to_pylist() for column in texts), numbers.tolist()):
        message = b"".join(b"%d:%b" % (len(text), text) for text in (value.encode() for value in row[:-1]))
        first, last = inner.copy(), outer.copy()
        first.update(message + b"%d" % row[-1])
        last.update(first.digest())
        found += last.digest()[: DIGITS // 2]
    return np.frombuffer(bytes(found), dtype=">u8").astype(np.uint64)
