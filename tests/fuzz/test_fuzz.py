"""A sample of the fuzzing: some hundred inputs for each target, of hypothesis' making. `make fuzz` has the rest."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadInput

from . import targets
from .targets import SECONDS, TARGETS, TOKENS, Target, attack, warm

EXAMPLES = {"record": 150}  # some hundred for the others: a folder takes longest


def inputs(target: Target) -> st.SearchStrategy[bytes]:
    """Any bytes; and good input with fragments put over, or between, its parts."""
    seeds = target.seeds()

    @st.composite
    def spliced(draw: st.DrawFn) -> bytes:
        content = draw(st.sampled_from(seeds))
        for _ in range(draw(st.integers(0, 4))):
            start = draw(st.integers(0, len(content)))
            end = min(len(content), start + draw(st.integers(0, 12)))
            content = content[:start] + draw(st.sampled_from(TOKENS) | st.binary(max_size=6)) + content[end:]
        return content

    return st.one_of(spliced(), spliced(), st.binary(max_size=300))


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """An endless loop becomes a failure; the clock on the wall is generous, for a machine may be busy."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"not done after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", TARGETS)
def test_anything_is_answered(name: str) -> None:
    target = TARGETS[name]

    @settings(max_examples=EXAMPLES.get(name, 300))
    @given(inputs(target))
    def fuzz(data: bytes) -> None:
        with at_most(6 * SECONDS):
            attack(target, data)

    warm(target)
    fuzz()


@pytest.mark.parametrize("name", TARGETS)
def test_every_seed_is_answered(name: str) -> None:
    warm(TARGETS[name])
    for seed in TARGETS[name].seeds():
        attack(TARGETS[name], seed)


def leaves_a_part(data: bytes, folder: Path) -> None:
    (folder / ".out.part").touch()
    raise BadInput("something was asked", "something was found")


def trips(data: bytes, folder: Path) -> None:
    raise KeyError("no such thing")


def takes_for_ever(data: bytes, folder: Path) -> None:
    while True:
        pass


@pytest.mark.parametrize(
    ("feed", "error", "words"),
    [
        (leaves_a_part, AssertionError, "left"),
        (trips, KeyError, "no such thing"),
        (takes_for_ever, TimeoutError, "not done"),
    ],
)
def test_a_target_that_misbehaves_is_caught(feed: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words), at_most(2):
        attack(Target("bad", feed, list), b"")


def test_a_target_that_is_slow_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "SECONDS", 0.01)
    with pytest.raises(AssertionError, match="seconds"):
        attack(Target("bad", lambda data, folder: sum(range(10**6)), list), b"")


def test_a_target_that_takes_memory_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest use so far only ever grows, and other tests may have used much: here it is told."""
    monkeypatch.setattr(targets, "_peak", iter([100.0, 100.0 + targets.MEGABYTES]).__next__)
    with pytest.raises(AssertionError, match="MB"):
        attack(Target("bad", lambda data, folder: None, list), b"")


def test_the_memory_in_use_is_seen() -> None:
    assert 10 < targets._peak() < 1 << 20
