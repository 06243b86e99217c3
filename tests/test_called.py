"""Errors name options as their reader knows them."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import discreet
import discreet as dc
from discreet.errors import BadInput, Infeasible, by_flags, called, in_the_shell
from discreet.options import options_of
from discreet.spec.values import LedgerSpec, Output, TableSpec
from discreet.ways import keywords, spec_of, ways_by_keyword
from discreet.web.words import LABELS, plainly
from tests.shell import shell

SOURCE = Path(discreet.__file__).parent
TOTALS = f"Leave them out with {called('drop_totals', like='')}; or say so with {called('contributions', like='K')}"


@pytest.mark.parametrize(
    ("do", "python", "shell", "page"),
    [
        (f"Say which with {called('sheet', like='NAME')}",
         "Say which with sheet (--sheet NAME).", "Say which with --sheet NAME.", "Say which with “Sheet”."),
        (TOTALS, "Leave them out with drop_totals (--drop-totals); or say so with contributions (--contributions K).",
         "Leave them out with --drop-totals; or say so with --contributions K.",
         "Leave them out with “Totals among the rows: Leave them out”; or say so with “In how many rows may one person "
         "be counted?”."),
        (f"Use law l1, or {called('nonnegative_by', 'project')}", "Use law l1, or nonnegative_by = project.",
         "Use law l1, or --nonnegative-by project.", "Use law l1, or --nonnegative-by project in a terminal."),
    ],
)  # fmt: skip
def test_an_option_has_the_name_of_its_reader(do: str, python: str, shell: str, page: str) -> None:
    error = BadInput("a", "b", do)
    begin = "A: b. "
    assert str(error) == begin + python and error.said(in_the_shell) == begin + shell and plainly(error) == begin + page


def test_a_value_stands_beside_its_option() -> None:
    error = BadInput(f"{called('max_count', 5)} was asked for", "it is not", f"Leave {called('max_count')} out")
    assert str(error) == "max_count = 5 was asked for: it is not. Leave max_count out."
    assert error.said(in_the_shell) == "--max-count 5 was asked for: it is not. Leave --max-count out."
    label = LABELS["max_count"]
    assert plainly(error) == f"“{label}” 5 was asked for: it is not. Leave “{label}” out."


@pytest.mark.parametrize(
    "said", ["the column 'max_count' is empty", "/tmp/max_count/t.csv", "max_count.csv", "max_count"]
)
def test_names_of_others_stay(said: str) -> None:
    error = BadInput(said, said)
    assert said in error.said(in_the_shell) and said in plainly(error)


def _sentences(tree: ast.Module) -> Iterator[ast.Constant]:
    """The texts in a file, but for what is written for readers of the code, or is the help of an option."""
    apart = {id(part) for node in ast.walk(tree) for part in ast.walk(_not_said(node))}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and " " in node.value
            and id(node) not in apart
        ):
            yield node


def _not_said(node: ast.AST) -> ast.AST:
    body = getattr(node, "body", None)
    if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
        return body[0]
    is_option = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "option"
    return node if is_option else ast.Pass()


def test_no_error_names_an_option_in_words_of_its_own() -> None:
    """Those of several words, which no sentence has by chance."""
    kinds = (TableSpec, Output, LedgerSpec, *ways_by_keyword())
    names = {name for kind in kinds for name in options_of(kind) if "_" in name}
    plain = re.compile(rf"(?<![\w{{'./-])({'|'.join(sorted(names))})(?![\w}}'])")
    wrong = [
        f"{path.relative_to(SOURCE)}:{text.lineno}: {text.value}"
        for path in sorted(SOURCE.rglob("*.py"))
        for text in _sentences(ast.parse(path.read_text(encoding="utf-8")))
        if plain.search(text.value)
    ]
    assert "max_count" in names and not wrong, "\n".join(wrong)


def test_every_label_is_on_a_page() -> None:
    pages = Path(__file__).parents[1] / "src" / "discreet" / "web" / "pages"
    text = "".join(path.read_text(encoding="utf-8") for path in pages.glob("*.jinja")).replace("&lt;", "<")
    for label in LABELS.values():
        assert all(part in text for part in label.split(": ", 1)) or label in text, label


def test_the_shell_names_flags(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("county,n\nAsh,1\nTotal,1\n")
    done = shell("release", str(tmp_path / "t.csv"), "--count", "n", "--epsilon", "1", "--out", str(tmp_path / "out"))
    assert "Leave them out with --drop-totals; or" in done.stderr and "drop_totals" not in done.stderr, done.stderr


TABLE = "place,sex,n\nAsh,f,1\nAsh,m,4\nOak,f,0\nOak,m,7\n"
GIVEN = ("release", "t.csv", "--count", "n", "--keys", "all", "--out", "out")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "z.json").write_text("[0.5, 0.3, 0.2]")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--epsilon 1 --max-count 5 --keep total", "--max-count was asked for together with --keep"),
        ("--epsilon 1 --law l2", "--law was asked for without --keep: it belongs to kept sums. Drop --law, or give"),
        ("--epsilon 1 --levels sex", "Give --measure too (auto, or margin:COLUMN, cells), or drop --levels."),
        ("--epsilon 1 --support 3", "--support was asked for with no mechanism: it belongs to bounded noise."),
        ("--epsilon 1 --contributions 0", "--contributions 0 was asked for: it must be at least 1."),
        ("--epsilon 1 --signed --no-refine", "--signed and --no-refine were asked for"),
        ("--epsilon 1 --lam -1", "--lam -1 was asked for: a weight is not negative."),
        ("--epsilon 1 --keep total --nonnegative-by no", "--nonnegative-by 'no' was asked for: there is none"),
        ("--epsilon 1 --engine spark", "--engine was asked for, which is of tables in parts"),
        ("--rho 1 --delta 0.1", "--delta 0.1 was asked for with --rho: rho stands alone"),
        ("--epsilon 0", "--epsilon 0 was asked for: it must be greater than zero."),
    ],
)  # fmt: skip
def test_a_release_is_told_of_its_flags(words: str, said: str, place: Path) -> None:
    done = shell(*GIVEN, *words.split(), cwd=place)
    assert done.returncode == 2 and said in done.stderr, done.stderr


def test_no_odd_value_is_refused_by_a_name_that_the_shell_has_not() -> None:
    """Every option of every way, with values that most of them cannot have, alone and beside one of another way."""
    as_in_python = re.compile(rf"(?<![\w'-])({'|'.join(keywords())})(?: = | was | were | is not given)")
    odd = (-1, "zz/0", True, [], ["zz"], 1.5)
    beside = ({}, {"keep": "total"}, {"mechanism": "geometric"}, {"mechanism": "bounded"}, {"signed": True})
    said = []
    for options in ({**other, name: value} for name in keywords() for value in odd for other in beside):
        try:
            spec_of(options)
        except BadInput as error:
            said.append((options, error.said(in_the_shell)))
    assert len(said) > 200
    assert not [one for one in said if as_in_python.search(one[1])]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("construct --distribution z.json --epsilon 1 --seconds 0", "--seconds was given as 0.0: it must be"),
        ("design --max-count 3000 --epsilon 1", "--max-count 3000 was asked for: it must be at most 2,000."),
        ("choose --schema t.csv --max-count 1000000000", "it must be at most 100,000."),
        ("evaluate t.csv --count n --keys all --epsilons 0 --mechanisms geometric", "epsilon = 0 was asked for"),
        ("evaluate t.csv --count n --keys all --epsilons 1 --mechanisms l1", "Give --keep total."),
        ("ledger create sqlite:///b.db --dataset people --epsilon 0", "--epsilon 0 was asked for"),
    ],
)  # fmt: skip
def test_a_command_names_no_flag_that_it_has_not(words: str, said: str, place: Path) -> None:
    done = shell(*words.split(), cwd=place)
    assert done.returncode == 2 and said in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("table", "way", "said"),
    [
        ("", "", "with keys in [table];"),
        ("keys = 'all'", "[keep-sums]\nkeep = 'total'\nnonnegative = true\nnonnegative_by = 'condition'",
         'nonnegative_by = "project" in [keep-sums].'),
        ("keys = 'all'", "[keep-sums]\nkeep = 'zz'", "[keep-sums]: keep 'zz' was asked for: it is neither total"),
        ("keys = 'all'", "[measure]\nmeasure = 'zz'", "measure 'zz' was asked for"),
        ("keys = 'all'", "[output]\nengine = 'spark'", "discreet: engine in [output] was asked for"),
        ("keys = 'all'\nheader_row = 0", "", "header_row = 0 in [table] was asked for: it must be at least 1."),
    ],
)  # fmt: skip
def test_a_release_file_is_told_of_its_keys(table: str, way: str, said: str, place: Path) -> None:
    (place / "r.toml").write_text(f"[table]\nfile = 't.csv'\ncount = 'n'\n{table}\n[privacy]\nrho = 1\n{way}\n")
    done = shell("run", "r.toml", "--out", "out", cwd=place)
    assert done.returncode == 2 and said in done.stderr and "--" not in done.stderr, done.stderr


def test_yes_and_no_are_keys_with_values(place: Path) -> None:
    (place / "t.csv").write_text(TABLE.replace("Oak", "Total"))
    (place / "r.toml").write_text("[table]\nfile = 't.csv'\ncount = 'n'\nkeys = 'all'\n[privacy]\nepsilon = 1\n")
    done = shell("run", "r.toml", "--out", "out", cwd=place)
    assert "Leave them out with drop_totals = true in [table]; or" in done.stderr, done.stderr


def test_a_flag_is_only_said_where_there_is_one() -> None:
    error = BadInput(f"{called('max_count', 5)} was asked for", "it is not", f"Give {called('refine', False)}")
    assert (
        error.said(by_flags({"refine": "--refine/--no-refine"}))
        == "max_count = 5 was asked for: it is not. Give --no-refine."
    )
    assert (
        str(BadInput(f"{called('the number of rows', 0)} was asked for", "no"))
        == "The number of rows = 0 was asked for: no."
    )


def test_who_reads_the_parts_of_an_error_sees_no_signs() -> None:
    error = Infeasible(
        f"{called('max_count', 5)} was asked for", f"no {called('keep')}", f"Give {called('sheet')}", rows=3
    )
    assert (error.asked, error.found, error.do) == ("max_count = 5 was asked for", "no keep", "Give sheet")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is Infeasible and (str(again), again.values) == (str(error), {"rows": 3})
    assert again.said(in_the_shell) == error.said(in_the_shell)


HUGE = 10**5000  # Python does not write it out


@pytest.mark.parametrize(
    "ask",
    [
        lambda: dc.design(HUGE, 1), lambda: dc.design(-HUGE, 1), lambda: dc.design(3, 1, seconds=-HUGE),
        lambda: dc.design(3, 1, objective=HUGE), lambda: dc.design(3, 1, require=[HUGE]), lambda: dc.choose(HUGE),
        lambda: dc.choose(100, max_count=10**9), lambda: dc.plan(100, 1, max_count=HUGE),
        lambda: dc.plan(100, 1, lam=HUGE), lambda: dc.plan(100, 1, signed=HUGE), lambda: dc.construct(HUGE, 1),
        lambda: dc.private_distribution([1, 2], 1, max_count=HUGE),
        lambda: dc.private_distribution([1, 2], 1, max_count=3, bits=7),
    ],
)  # fmt: skip
def test_what_cannot_be_written_out_is_refused_as_anything_else(ask: Callable[[], object]) -> None:
    with pytest.raises(BadInput):
        ask()
