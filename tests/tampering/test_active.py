"""What runs in a folder is ours, letter by letter, whichever version it says it is of; its data has no room."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from discreet.io import ANALYSIS, EXPLORE, METADATA
from discreet.report import known
from discreet.verify import BESIDE, SCRIPTS, verify_contents
from tests.tampering.folders import honest
from tests.tampering.forge import sealed, with_files
from tests.tampering.test_files import others, valid

KINDS = ["keep-distribution", "row-by-row-own", "keep-sums", "measure", "workbook", "parquet", "unmeasured"]
SCRIPT_EDITS: dict[str, Callable[[str], str]] = {
    "a call more": lambda page: page.replace("  head();\n", "  head(); fetch('https://example.org');\n"),
    "a script more": lambda page: page.replace("</body>", "<script>alert(1)</script></body>"),
    "a script before": lambda page: page.replace("<body>", "<body><script>alert(1)</script>"),
    "a weaker policy": lambda page: page.replace("default-src 'none'", "default-src *"),
    "no policy": lambda page: page.replace("Content-Security-Policy", "Content-Policy"),
    "an attribute": lambda page: page.replace("<body>", "<body onload='alert(1)'>"),
    "a picture": lambda page: page.replace("<body>", "<body><img src='https://example.org/x.png'>"),
    "a blank": lambda page: page.replace("STEP = 200", "STEP =  200"),
    "something at the end": lambda page: page + " ",
    "something before": lambda page: " " + page,
    "the data ends early": lambda page: page.replace(
        '"stated":"', '"</script><script>alert(1)</script>":"","stated":"'
    ),
    "markup in the data": lambda page: page.replace('"stated":"', '"x":"<img src=x onerror=alert(1)>","stated":"'),
    "nothing": lambda page: "",
}


def as_of_another_version(contents: Any) -> Any:
    """Whoever forges can say so, and then nothing is rendered again."""
    document = json.loads(json.dumps(contents.document))
    document["rendered"]["words"] = "0" * 64
    return sealed(contents, document)


@pytest.mark.parametrize("edit", SCRIPT_EDITS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_page_is_refused_whatever_version_it_says_it_is_of(kind: str, edit: str) -> None:
    folder, files = honest(kind), others(honest(kind))
    page = files[EXPLORE].decode()
    forged = SCRIPT_EDITS[edit](page)
    assert forged != page
    contents = with_files(folder.contents, {**files, EXPLORE: forged.encode()})
    for one in (contents, as_of_another_version(contents)):
        assert not valid(folder, one), edit


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_r_script_is_refused(kind: str) -> None:
    folder, files = honest(kind), others(honest(kind))
    script = files[ANALYSIS]
    for forged in (script + b"\n", script + b"system('id')\n", script.replace(b"at <- ", b"at  <- "), b""):
        contents = with_files(folder.contents, {**files, ANALYSIS: forged})
        for one in (contents, as_of_another_version(contents)):
            assert any(
                "none of ours" in problem for problem in verify_contents(one, allow_seeded=folder.seeded).problems
            )


@pytest.mark.parametrize("kind", KINDS)
def test_other_numbers_on_the_page_are_refused(kind: str) -> None:
    folder, files = honest(kind), others(honest(kind))
    page = files[EXPLORE].decode()
    edits = [
        page.replace('"level":0.95', '"level":0.99'), page.replace('"published":[', '"published":[1'),
        page.replace('"private: ', '"'), page.replace('"guarantee":["', '"guarantee":["Not '),
        page.replace('"estimate":[', '"estimate":[1', 1), page.replace('"low":[', '"low":[-1,', 1),
        page.replace('"exact":false', '"exact":true', 1), page.replace('"files":[[', '"files":[["x","y"],['),
    ]  # fmt: skip
    for forged in edits:
        if forged != page:
            assert not valid(folder, with_files(folder.contents, {**files, EXPLORE: forged.encode()}))


def test_a_page_of_another_version_may_say_it_in_other_words_but_promises_the_same() -> None:
    folder, files = honest("keep-distribution"), others(honest("keep-distribution"))
    page = files[EXPLORE].decode()
    said = as_of_another_version(
        with_files(folder.contents, {**files, EXPLORE: page.replace("Protected:", "Guarded:").encode()})
    )
    found = verify_contents(said)
    assert found.valid and SCRIPTS in found.checked and any(BESIDE in one for one in found.not_applicable)
    lie = page.replace("epsilon = 1;", "epsilon = 0.001;")
    assert lie != page
    forged = as_of_another_version(with_files(folder.contents, {**files, EXPLORE: lie.encode()}))
    assert any("does not state the guarantee" in problem for problem in verify_contents(forged).problems)


def test_a_page_around_another_known_script_is_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it will be where a script was changed since: the older one is known, and not rendered again."""
    from discreet.report import explore

    folder, files = honest("row-by-row"), others(honest("row-by-row"))
    older = SCRIPT_EDITS["a blank"](files[EXPLORE].decode())
    contents = as_of_another_version(with_files(folder.contents, {**files, EXPLORE: older.encode()}))
    assert not verify_contents(contents).valid
    more = {*known.KNOWN_SHELLS, explore.digest_of_shell(*explore.shell_of(older))}
    monkeypatch.setattr(explore, "KNOWN_SHELLS", more)
    assert verify_contents(contents).valid


@pytest.mark.parametrize("kind", ["keep-distribution", "measure", "several-tables"])
def test_other_metadata_is_refused(kind: str) -> None:
    folder, files = honest(kind), others(honest(kind))
    text = files[METADATA].decode()
    value = json.loads(text)
    lies = {
        "a file more": {**value, "tables": [*value["tables"], {"url": "https://example.org/x.csv"}]},
        "a note": {**value, "notes": ["3,1,2,5"]},
        "a table less": {**value, "tables": value["tables"][:-1]},
    }
    written = [json.dumps(lie, indent=1) + "\n" for lie in lies.values()]
    for forged in (*written, text + " ", "", "[]", "nothing"):
        contents = with_files(folder.contents, {**files, METADATA: forged.encode()})
        assert not valid(folder, contents), forged[:60]
        if forged in written:
            assert not valid(folder, as_of_another_version(contents)), forged[-60:]


def _digits_more(page: str) -> str:
    return re.sub(r'"low":\[(-?\d+\.\d+)', r'"low":[\g<1>000000000123', page, count=1)


DATA_EDITS: dict[str, Callable[[str], str]] = {
    "a field more": lambda page: page.replace('"values":', '"truth":[3,1,2],"values":', 1),
    "a field twice": lambda page: page.replace('"values":', '"values":[3,1,2],"values":', 1),
    "a blank": lambda page: page.replace('"values":', '"values": ', 1),
    "more digits": _digits_more,
    "another published count": lambda page: re.sub(r'"published":\[', '"published":[7', page, count=1),
    "another estimate": lambda page: re.sub(r'"estimate":\[', '"estimate":[7', page, count=1),
}


@pytest.mark.parametrize("edit", DATA_EDITS)
@pytest.mark.parametrize("kind", ["keep-distribution", "keep-sums"])
def test_the_data_of_a_page_has_no_room_whatever_version_it_says_it_is_of(kind: str, edit: str) -> None:
    folder, files = honest(kind), others(honest(kind))
    page = files[EXPLORE].decode()
    forged = DATA_EDITS[edit](page)
    if forged == page:
        assert kind == "keep-sums" and edit == "more digits", "there are digits after the point"
        return
    contents = with_files(folder.contents, {**files, EXPLORE: forged.encode()})
    for one in (contents, as_of_another_version(contents)):
        assert not valid(folder, one), edit
