"""verify.mjs under Node.js: one process for all directories that a test process checks."""

import atexit
import json
import shutil
import subprocess
from functools import cache
from pathlib import Path

VERIFIER = Path(__file__).parents[2] / "judge/site/templates/verify.mjs"


def verify(directory: Path, *key: Path | str) -> tuple[int, list[str]]:
    """The exit code and the lines of the copy that is not in the export: a forger changes that one too."""
    process = _process()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{json.dumps([str(word) for word in (directory, *key)])}\n")
    process.stdin.flush()
    if not (line := process.stdout.readline()):
        _process.cache_clear()
        raise AssertionError(f"Node.js ended with code {process.wait()}")
    done = json.loads(line)
    assert "" == done["stderr"]
    return done["code"], done["stdout"].splitlines()


def problems(directory: Path, *key: Path | str) -> list[str]:
    code, lines = verify(directory, *key)
    found = [line.removeprefix("problem: ") for line in lines if line.startswith("problem: ")]
    assert bool(found) == bool(code)
    return found


def node() -> str:
    found = shutil.which("node")
    assert found is not None, "there is no Node.js here; scripts/test installs it"
    return found


@cache
def _process() -> subprocess.Popen[str]:
    words = [node(), str(Path(__file__).with_name("many.mjs")), str(VERIFIER)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)  # closes its stdin
    return process
