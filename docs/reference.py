"""The page of all options, made from where they are written: `python docs/reference.py`."""

from __future__ import annotations

from pathlib import Path

from discreet.options import options_of
from discreet.record.release import About
from discreet.run import LedgerSpec, Output, TableSpec
from discreet.ways import ways_by_keyword

PAGE = Path(__file__).parent / "options.md"
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


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
