"""What fuzzing has found, kept."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet as dc
from discreet.ledger.address import address_of, mask
from discreet.numbers import exact

from .folders import GOLDEN
from .targets import TARGETS, attack


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("ledger-address", b"\x80"),  # bytes that are no text have no URL
        ("ledger-address", b"postgresql://\xdfe/\xdf"),
        ("ledger-address", b"~nobody-has-this-name/ledger.db"),
        ("ledger-address", b"sqlite:///file:x?mode=memory&uri=maybe"),
        ("ledger-address", b"x" * 4000 + b"/" + b"x" * 1000),  # longer than any name, or any path
        ("distribution", b"1e400"),  # a number that no float is
        ("matrix", b"\x00" + b"[" * 100_000),
        ("csv", b".k,n\na,1\na,1\nbb,2\n"),  # Arrow takes such a name for a path
        ("csv", b"[0],k,n\nb,a,1\na,b,1\n"),
        ("keep", b"111e4_000000"),  # an underscore hid the size of the exponent
        ("keep", b"9" * 400 + b"e3999"),  # more digits than Python prints
    ],
)
def test_it_is_answered_now(name: str, data: bytes) -> None:
    attack(TARGETS[name], data)


@pytest.mark.parametrize("url", ["me:geheim@host/db", "postgresql:/me:geheim@host/db", "postgresql:me:geheim@host/db"])
def test_a_url_without_its_scheme_shows_no_password(url: str, tmp_path: Path) -> None:
    with pytest.raises(dc.BadInput) as error:
        dc.ledger(url).status()
    assert "geheim" not in str(error.value) and "geheim" not in mask(url)


@pytest.mark.parametrize(
    "options",
    ["mode=memory&uri=true", "nolock=1&mode=rw&uri=true", "mode=rwc&uri=true", "immutable=1", "vfs=unix-none"],
)
def test_options_that_make_or_forget_a_ledger_are_refused(options: str, tmp_path: Path) -> None:
    with pytest.raises(dc.BadInput, match=r"in memory would be forgotten|without the locks"):
        address_of(f"sqlite:///file:{tmp_path}/x.db?{options}")
    assert not list(tmp_path.iterdir())


def test_a_law_of_no_known_name_gives_no_estimate(tmp_path: Path) -> None:
    for file in (GOLDEN / "keep-sums").iterdir():
        (tmp_path / file.name).write_text(file.read_text(encoding="utf-8").replace('"law": "l1"', '"law": "l0"'))
    with pytest.raises(dc.BadInput, match="damaged"):
        dc.estimate(tmp_path)


@pytest.mark.parametrize("number", ["1e4_000_000", "1" * 3000 + "e1001", "1e-4001", "1e40000000"])
def test_absurd_numbers_are_refused(number: str) -> None:
    with pytest.raises(dc.BadInput, match="exponent"):
        exact(number)


@pytest.mark.parametrize(
    "words",
    [
        "verify NAME",
        "release NAME --count n --epsilon 1 --out out",
        "release t.csv --count n --epsilon 1 --out NAME",
        "ledger status NAME",
        "run NAME",
        "certify NAME --epsilon 1",
    ],
)
def test_a_name_that_no_file_can_have_is_no_traceback(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from discreet.cli import main

    (tmp_path / "t.csv").write_text("k,n\na,1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["discreet", *words.replace("NAME", "x" * 300).split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("discreet: ")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
