"""Errors name options as their reader knows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.spoken import in_the_shell
from discreet.web.words import LABELS, plainly
from tests.shell import shell

TOTALS = "Leave them out with drop_totals (--drop-totals); or say so with contributions (--contributions K)."


@pytest.mark.parametrize(
    ("said", "shell", "page"),
    [
        ("Say which with sheet (--sheet NAME).", "Say which with --sheet NAME.", "Say which with “Sheet”."),
        (TOTALS, "Leave them out with --drop-totals; or say so with --contributions K.",
         "Leave them out with “Totals among the rows: Leave them out”; or say so with “In how many rows may one person "
         "be counted?”."),
        ("max_count = 5 was asked for. Leave max_count out.", "--max-count 5 was asked for. Leave --max-count out.",
         "“Largest count to expect” was asked for. Leave “Largest count to expect” out."),
        ('Use law l1, or nonnegative_by="project".', "Use law l1, or --nonnegative-by project.",
         "Use law l1, or --nonnegative-by project in a terminal."),
        ("accept it with accept_disclosure (--accept-disclosure)", "accept it with --accept-disclosure",
         "accept it with --accept-disclosure in a terminal"),
    ],
)  # fmt: skip
def test_an_option_has_the_name_of_its_reader(said: str, shell: str, page: str) -> None:
    assert in_the_shell(said) == shell and plainly(said) == page


@pytest.mark.parametrize(
    "said",
    ["the column 'max_count' is empty", '"keep_order" was found', "/tmp/max_count/t.csv was to be read",
     "max_count.csv was to be read", "a.max_count and my-max_count", "nothing_of_ours was found", "Use (--this way)"],
)  # fmt: skip
def test_names_of_others_stay(said: str) -> None:
    assert in_the_shell(said) == said and plainly(said) == said


def test_every_label_is_on_a_page() -> None:
    pages = Path(__file__).parents[1] / "src" / "discreet" / "web" / "pages"
    text = "".join(path.read_text(encoding="utf-8") for path in pages.glob("*.jinja")).replace("&lt;", "<")
    for label in LABELS.values():
        assert all(part in text for part in label.split(": ", 1)) or label in text, label


def test_the_shell_names_flags(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("county,n\nAsh,1\nTotal,1\n")
    done = shell("release", str(tmp_path / "t.csv"), "--count", "n", "--epsilon", "1", "--out", str(tmp_path / "out"))
    assert "Leave them out with --drop-totals; or" in done.stderr and "drop_totals" not in done.stderr, done.stderr
