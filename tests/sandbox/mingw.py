"""Windows programs for the tests: C sources, compiled by mingw-w64 for either width."""

import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

WIDTHS = (64, 32)
NEEDS_WINE = (
    pytest.mark.docker,
    pytest.mark.wine,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="Windows programs are for x86"),
)
"""The marks of a test that runs one."""
HERE = Path(__file__).parent / "windows"

_MACHINES = {64: "x86_64", 32: "i686"}
_FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", f"-I{HERE}")


def compile_windows(sources: Iterable[Path], output: Path, width: int, *flags: str) -> Path:
    """The program `output`, as its author would compile it for Windows of this width."""
    compiler = f"{_MACHINES[width]}-w64-mingw32-gcc"
    files = [str(source) for source in sources]
    subprocess.run([compiler, *_FLAGS, *flags, "-o", output, *files, "-lm", "-lpthread"], check=True)
    output.chmod(0o755)
    return output
