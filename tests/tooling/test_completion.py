"""Shell completion, asked for the way a shell asks: through the environment, of a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.cli import COMMANDS

# the shells find the program by its name, so it must have it
SCRIPT = "#!{python}\nfrom discreet.cli import main\nmain()\n"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bin") / "discreet"
    path.write_text(SCRIPT.format(python=sys.executable))
    path.chmod(0o755)
    return path


def offered(program: Path, line: str, shell: str = "bash") -> list[str]:
    """What the shell is told when <tab> is pressed at the end of the line."""
    question = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    environment = {**os.environ, **question, "_DISCREET_COMPLETE": f"complete_{shell}"}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split("\n")


def test_all_commands_are_offered(program: Path) -> None:
    assert {word for word in offered(program, "discreet ") if word} == set(COMMANDS)


def test_a_word_is_completed(program: Path) -> None:
    assert offered(program, "discreet est")[0] == "estimate"


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_answered_too(program: Path, shell: str) -> None:
    answer = "\n".join(offered(program, "discreet ", shell))
    assert all(name in answer for name in COMMANDS)


def test_options_of_a_command_are_offered(program: Path) -> None:
    assert {"--digest", "--json"} <= set(offered(program, "discreet verify --"))
    assert offered(program, "discreet release --epsi")[0] == "--epsilon"


def test_subcommands_are_offered(program: Path) -> None:
    from discreet.cli.ledger import app

    names = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    assert names and names <= set(offered(program, "discreet ledger "))


def test_the_version_is_not_told_in_the_middle_of_a_line(program: Path) -> None:
    assert offered(program, "discreet --version est")[0] == "estimate"


def in_bash(program: Path, option: str, home: Path) -> str:
    """The shell is recognized by looking at the parents of the process, so there is a real one."""
    environment = {**os.environ, "HOME": str(home), "PATH": f"{program.parent}:{os.environ['PATH']}"}
    command = ["bash", "-c", f"discreet {option}; exit $?"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_the_script_for_the_shell_is_shown(program: Path, tmp_path: Path) -> None:
    assert "_DISCREET_COMPLETE=complete_bash" in in_bash(program, "--show-completion", tmp_path)
    assert not list(tmp_path.iterdir())


def test_completion_can_be_installed(program: Path, tmp_path: Path) -> None:
    """Installed into an empty home; a new shell that reads its startup file then completes."""
    in_bash(program, "--install-completion", tmp_path)
    line = 'source ~/.bashrc; COMP_WORDS=(discreet est); COMP_CWORD=1; _discreet_completion discreet; echo "$COMPREPLY"'
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": f"{program.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", line], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "estimate\n", done.stderr
