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


def packaged_programs(width: int) -> Path:
    """The folder of Windows programs of this width that the distribution has built, and of the DLLs that they need:
    `mpicalc.exe` needs two."""
    folder = Path(f"/usr/{_MACHINES[width]}-w64-mingw32/bin")
    if not (folder / "mpicalc.exe").is_file():
        pytest.skip("needs libgcrypt-mingw-w64-dev, which ./scripts/test installs")
    return folder


def compile_windows(sources: Iterable[Path], output: Path, width: int, *flags: str) -> Path:
    """The program `output`, as its author would compile it for Windows of this width."""
    compiler = f"{_MACHINES[width]}-w64-mingw32-gcc"
    files = [str(source) for source in sources]
    subprocess.run([compiler, *_FLAGS, *flags, "-o", output, *files, "-lm", "-lpthread"], check=True)
    output.chmod(0o755)
    return output
