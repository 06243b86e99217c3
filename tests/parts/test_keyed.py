"""Bits that come again for the same work, and never for any other."""

from __future__ import annotations

import pickle
from dataclasses import replace
from hashlib import shake_256
from pathlib import Path
from threading import Thread

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.parts.keyed import COMMITTED_CHUNK, DOMAIN, KEYED_CHUNK, PartAddress, Randomness, destroyed, drawn
from discreet.sample.contract import assert_shares

KEY = bytes(range(32))
ADDRESS = PartAddress(b"data", b"plan", "1.0", 7)

addresses = st.builds(
    PartAddress, st.binary(max_size=4), st.binary(max_size=4), st.text("ab", max_size=3), st.integers(0, 3),
    st.text("ab", max_size=3),
)  # fmt: skip


def obvious(key: bytes, address: PartAddress, size: int) -> bytes:
    """The rule, letter by letter."""
    out, counter = b"", 0
    while len(out) < size:
        fields = [
            DOMAIN, key, address.data, address.plan, address.version.encode(), address.part.to_bytes(8, "big"),
            address.purpose.encode(), b"bits", counter.to_bytes(8, "big"),
        ]  # fmt: skip
        out += shake_256(b"".join(len(one).to_bytes(8, "big") + one for one in fields)).digest(KEYED_CHUNK)
        counter += 1
    return out[:size]


@given(address=addresses, sizes=st.lists(st.integers(0, 3 * KEYED_CHUNK // 2), max_size=4))
def test_bits_are_those_of_the_rule_however_they_are_asked_for(address: PartAddress, sizes: list[int]) -> None:
    bits = Randomness(KEY).bits(address)
    assert b"".join(bits.bytes(size) for size in sizes) == obvious(KEY, address, sum(sizes))


@given(one=addresses, other=addresses, same_key=st.booleans())
def test_no_other_data_plan_version_part_or_purpose_has_the_same_bits(
    one: PartAddress, other: PartAddress, same_key: bool
) -> None:
    first = Randomness(KEY).bits(one).bytes(16)
    second = Randomness(KEY if same_key else KEY[::-1]).bits(other).bytes(16)
    assert (first == second) == (one == other and same_key)


def test_a_key_is_new_every_time_and_shown_nowhere() -> None:
    one, other = drawn(), drawn()
    assert len(one.key) == 32 and one.key != other.key
    shown = repr((one, one.bits(ADDRESS), str(one.bits(ADDRESS))))
    assert one.key.hex() not in shown and repr(one.key)[2:-1] not in shown and repr(ADDRESS.data) not in shown


def test_only_what_comes_from_no_seed_is_private() -> None:
    assert drawn().bits(ADDRESS).private
    assert not drawn(3).bits(ADDRESS).private
    assert drawn(3).key == drawn(3).key != drawn(4).key


def test_what_is_sealed_is_opened_by_the_same_key_alone() -> None:
    secret = np.arange(1000).tobytes()
    sealed = Randomness(KEY).sealed(secret, ADDRESS)
    assert Randomness(KEY).sealed(sealed, ADDRESS) == secret != sealed
    assert Randomness(KEY[::-1]).sealed(sealed, ADDRESS) != secret
    assert sealed[:16] != Randomness(KEY).bits(ADDRESS).bytes(16)


def test_words_of_the_system_are_written_once_and_come_again(tmp_path: Path) -> None:
    size = COMMITTED_CHUNK + 10
    source = drawn(None, str(tmp_path))
    first = source.bits(ADDRESS).bytes(size)
    assert source.bits(ADDRESS).bytes(size) == first  # a task that is run again
    assert pickle.loads(pickle.dumps(source)).bits(ADDRESS).bytes(size) == first  # and in another process
    assert source.bits(replace(ADDRESS, data=b"other")).bytes(16) != first[:16]
    assert drawn(None, str(tmp_path)).bits(ADDRESS).bytes(16) != first[:16]
    assert all(first[:16] not in file.read_bytes() for file in tmp_path.iterdir())  # the disk tells nothing by itself


def test_of_two_copies_of_a_task_both_use_the_words_that_came_first(tmp_path: Path) -> None:
    source, found = drawn(None, str(tmp_path)), []
    copies = [Thread(target=lambda: found.append(source.bits(ADDRESS).bytes(100))) for _ in range(8)]
    for one in copies:
        one.start()
    for one in copies:
        one.join()
    assert len(set(found)) == 1 and len(found) == 8
    assert len(list(tmp_path.iterdir())) == 1  # no drafts are left


def test_nothing_is_left_of_what_was_destroyed(tmp_path: Path) -> None:
    place = tmp_path / "words"
    place.mkdir()
    source = drawn(None, str(place))
    source.bits(ADDRESS).bytes(10)
    assert destroyed(source).key == b"" and not place.exists()


def test_bits_of_both_kinds_are_uniform(tmp_path: Path) -> None:
    for source in (drawn(), drawn(None, str(tmp_path))):
        words = source.bits(ADDRESS).words(200_000, 8)
        lacking = np.ones(256)  # a nearby law: a word in 128 becomes the next
        lacking[[0, 2]], lacking[[1, 3]] = 0.01, 1.99
        assert_shares(np.bincount(words, minlength=256), np.ones(256), lacking)
