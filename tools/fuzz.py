"""`make fuzz`: every fuzzing target, ten thousand inputs each, guided by the coverage of the source.

    python tools/fuzz.py [TARGET ..] [--runs N]

The corpus is made anew from the releases and examples in the repository; what is found is written to `fuzz-findings`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FINDINGS = ROOT / "fuzz-findings"
RUNS = 10_000  # a few minutes a target
MEMORY = Path("/dev/shm")  # where there is one: what is written for an input need not reach a disk
LONGEST = 4096  # bytes of an input: what is larger costs time and shows nothing new
SECONDS, MEGABYTES = 120, 2048  # where libFuzzer ends an input by itself; the targets have narrower limits
INSTALL = (
    "atheris is not installed: pip install 'discreet[fuzz]'. It has wheels for Linux and macOS, Python 3.11 to 3.13"
)

sys.path.insert(0, str(ROOT))


def main() -> int:
    given = arguments()
    try:
        import atheris
    except ImportError:
        print(INSTALL, file=sys.stderr)
        return 2
    if given.corpus is not None:
        return fuzz(atheris, given.targets[0], given.runs, given.corpus)
    FINDINGS.mkdir(exist_ok=True)
    failed = [name for name in given.targets or names() if not survived(name, given.runs)]
    print(f"found something: {', '.join(failed)} (see {FINDINGS})" if failed else "nothing was found")
    return 1 if failed else 0


def survived(name: str, runs: int) -> bool:
    """A process for each target, since libFuzzer ends the one it runs in, and cleans nothing up."""
    print(f"{name}: {runs} inputs", flush=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
        command = [sys.executable, __file__, name, "--runs", str(runs), "--corpus", folder]
        return subprocess.run(command, env={**os.environ, "TMPDIR": folder}, check=False).returncode == 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="all, if none is named")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--corpus", type=Path, help=argparse.SUPPRESS)  # of one target, in a process of its own
    return parser.parse_args()


def names() -> list[str]:
    from tests.fuzz.targets import TARGETS

    return list(TARGETS)


def fuzz(atheris: Any, name: str, runs: int, folder: Path) -> int:
    with atheris.instrument_imports(include=["discreet"]):
        from tests.fuzz.targets import TARGETS, TOKENS, attack, warm

        target = TARGETS[name]
        warm(target)  # what a target imports only when it is needed is followed, too
    corpus, words = folder / "corpus", folder / "words"
    corpus.mkdir()
    for number, seed in enumerate(target.seeds()):
        (corpus / f"seed-{number}").write_bytes(seed)
    words.write_text("".join(f'"{quoted(token)}"\n' for token in TOKENS))
    options = [
        f"-runs={runs}", f"-max_len={LONGEST}", f"-timeout={SECONDS}", f"-rss_limit_mb={MEGABYTES}", f"-dict={words}",
        f"-artifact_prefix={FINDINGS}/{name}-", "-print_final_stats=1",
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, str(corpus)], lambda data: attack(target, data))
    atheris.Fuzz()
    return 0


def quoted(token: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in token)


if __name__ == "__main__":
    sys.exit(main())
