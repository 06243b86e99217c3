"""The pages of all options, all commands and all fields of release.json, made from where these are written:
`python docs/reference.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.options import options_of
from discreet.record.release import About
from discreet.spec.values import LedgerSpec, Output, TableSpec
from discreet.ways import ways_by_keyword

PAGE = Path(__file__).parent / "options.md"
COMMANDS_PAGE, FIELDS_PAGE = PAGE.with_name("commands.md"), PAGE.with_name("record.md")
COMMANDS_HEAD = """# Commands

Every command of `discreet`, made from the program itself: what `--help` prints. With `--json` each prints one JSON
value. Exit status 0: done; 1: a check failed or the ledger refused; 2: bad input. `discreet --version` prints the
version.
"""
HEAD = """# Options

Every option of a release stands in one place in the source, and this page is made from there. An option of a way
is a keyword of `release` and `plan`, a field of the value of that way, a flag of `discreet release` where one is named,
and a key of a [release file](release-file.md); other sections are about the table (its `file` first) and the output.

## Privacy, in every way

One of `epsilon` (a number, or a value `Pure(e)`, `Approximate(e, d)`, `Concentrated(r)`), `alpha` (e^-epsilon, exact)
and `rho`; beside epsilon a `delta`, for Gaussian noise and for mechanisms of your own. Section `[privacy]`.
"""


def page() -> str:
    parts = [HEAD]
    for kind in ways_by_keyword():
        parts.append(f"## {kind.__name__}: section `[{kind.name}]`\n\n{kind.__doc__}\n\n{_listing(kind)}")
    for kind, section in ((TableSpec, "table"), (LedgerSpec, "ledger"), (Output, "output"), (About, "about")):
        parts.append(f"## Section `[{section}]`\n\n{kind.__doc__}\n\n{_listing(kind)}")
    return "\n".join(parts)


def _listing(kind: type) -> str:
    lines = ["| option | flag | default | what it does | values |", "|---|---|---|---|---|"]
    for name, (option, default) in options_of(kind).items():
        flag = "" if option.flag == "" else f"`{option.flag_of(name)}`"
        shown = "" if default in (None, "", ()) else f"`{default}`"
        values = "" if option.values is None else ", ".join(f"`{value}`" for value in option.values())
        lines.append(f"| `{name}` | {flag} | {shown} | {option.help} | {values} |")
    return "\n".join(lines) + "\n"


def commands() -> str:
    """Every command with its arguments and options, as `--help` has them."""
    import sys

    import typer

    from discreet.cli import COMMANDS, _app

    sys.argv = ["discreet"]  # all commands are loaded
    group: Any = typer.main.get_command(_app())
    parts = [COMMANDS_HEAD]
    for name, summary in COMMANDS.items():
        command = group.commands[name]
        inner = getattr(command, "commands", None)
        parts.append(f"## {name}\n\n{summary[0].upper()}{summary[1:]}.\n")
        for title, one in [(name, command)] if inner is None else [(f"{name} {key}", inner[key]) for key in inner]:
            parts.append(_command(title, one, heading=inner is not None))
    return "\n".join(parts)


def _command(title: str, command: Any, heading: bool) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    names = " ".join(one.name.upper() for one in arguments)
    lines = [f"### {title}\n\n{command.help[0].upper()}{command.help[1:]}.\n"] if heading else []
    lines.append(f"`{' '.join(['discreet', title, *([names] if names else []), '[OPTIONS]'])}`\n")
    lines += [f"- `{one.name.upper()}`: {one.help}" for one in arguments if one.help]
    lines.append("\n| option | what it does | default |\n|---|---|---|")
    for one in options:
        flags = ", ".join(f"`{flag}`" for flag in (*one.opts, *one.secondary_opts))
        default = one.default if isinstance(one.default, (str, int)) and one.default not in (False, "") else None
        lines.append(f"| {flags} | {_in_cell(one.help or '')} | {'' if default is None else f'`{default}`'} |")
    return "\n".join(lines) + "\n"


def _in_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def write_all() -> None:
    from fields import page as fields_page

    for place, text in ((PAGE, page()), (COMMANDS_PAGE, commands()), (FIELDS_PAGE, fields_page())):
        place.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_all()
