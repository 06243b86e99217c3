"""Whatever the command, a privacy parameter is refused in the same words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shell import shell

TABLE = ("t.csv", "--count", "n", "--keys", "place")
SHAPE = ("--shape", "3,3", "--keep", "total")
COMMANDS: dict[str, tuple[str, ...]] = {
    "release": ("release", *TABLE, "--out", "out"),
    "kept sums": ("release", *TABLE, "--keep", "total", "--out", "out"),
    "a file": ("release", *TABLE, "--write-spec", "out"),
    "plan": ("plan", *TABLE),
    "distribution": ("distribution", *TABLE, "--max-count", "5"),
    "design": ("design", "--max-count", "3"),
    "certify": ("certify", "m.json"),
    "noise": ("noise", "--truth", "1/2", "--support", "2"),
    "compare": ("compare", "--max-count", "3"),
    "construct": ("construct", "--distribution", "z.json", "--method", "transport"),
    "sample-noise": ("sample-noise", *SHAPE, "-o", "out"),
    "diagnose": ("diagnose", *SHAPE, "--runs", "10"),
    "ledger": ("ledger", "create", "out", "--dataset", "d"),
}
REFUSED = {
    "": "A privacy parameter was needed: none was given. Give exactly one of --epsilon, --alpha and --rho.",
    "--epsilon 1 --rho 1": "A privacy parameter was needed: --epsilon and --rho were given together. Give exactly one "
    "of --epsilon, --alpha and --rho.",
    "--alpha 1/2 --rho 1": "A privacy parameter was needed: --alpha and --rho were given together. Give exactly one "
    "of --epsilon, --alpha and --rho.",
    "--epsilon=nan": "--epsilon was given as 'nan': that is not a finite number. Write it like 1, 0.1, \"0.1\" or "
    '"1/3".',
    "--epsilon=-1": "--epsilon -1 was asked for: it must be greater than zero.",
    "--rho=1e-40000000": "--rho was given: its exponent is beyond 4000. Write a smaller number.",
    "--alpha=1": "--alpha 1 was asked for: it must lie between 0 and 1, both excluded.",
    "--epsilon 1 --delta=1": "--delta 1 was asked for: it must be at least 0 and below 1.",
    "--rho 1 --delta=1/2": "--delta 0.5 was asked for with --rho: rho stands alone, without a delta. Leave --delta "
    "out, or give --epsilon.",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_it_is_refused_as_by_every_other_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("place,n\na,1\nb,4\nc,0\n")
    (tmp_path / "m.json").write_text("[[0.5, 0.5], [0.5, 0.5]]")
    (tmp_path / "z.json").write_text("[0.5, 0.5]")
    for words, said in REFUSED.items():
        if words or name != "plan":  # a plan without any helps to choose one
            done = shell(*COMMANDS[name], *words.split(), cwd=tmp_path)
            assert (done.returncode, done.stdout, done.stderr) == (2, "", f"discreet: {said}\n"), words
            assert not (tmp_path / "out").exists()
