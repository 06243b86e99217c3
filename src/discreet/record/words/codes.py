"""What is said of a code that nobody gave words to."""

from __future__ import annotations

from discreet.errors import BadInput, short


def wordless(code: str) -> BadInput:
    do = "A way with codes of its own gives their words to discreet.record.words.learn"
    return BadInput(f"words for {short(code)} were asked for", "there are none", do)
