"""Facts into sentences, for people. The one place for words about a release: no code reads them, and they may change.

Every template is filled from a remark's own numbers, or from the promise it belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.errors import BadInput
from discreet.record.words import pages, promises
from discreet.record.words import steps as doings

MODULES = (promises, doings, pages)  # the constants of these are all the texts there are


def learn(remarks: Mapping[str, str], steps: Mapping[str, str]) -> None:
    """The words of a way of one's own, by the codes of its remarks and of its steps; each has one text."""
    for ours, theirs in ((promises.REMARKS, remarks), (doings.STEPS, steps)):
        taken = next((code for code, text in theirs.items() if ours.get(code, text) != text), None)
        if taken is not None:
            raise BadInput(f"words for {taken!r} were to be learnt", "there are others for that code")
        ours.update(theirs)
