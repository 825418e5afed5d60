"""Compiles the attack programs from images/attacks and stages them like an agent's."""

import shutil
import tempfile
from pathlib import Path

from judge.base.durable_files import write_durably
from judge.base.resources import BUILD_DIRECTORY, IMAGES
from judge.host.compilers import compile_static
from judge.sandbox.static_builds import GCC_FLAGS, build_lock, content_digest

SOURCES = IMAGES / "attacks"
COMMON = "brain.c"
PAGES, PAGES_BYTES = "pages.dat", 1 << 20
"""Attacks drop and read its pages."""
NAMES = "names"


def program_names() -> list[str]:
    """Sorted: all C files except the shared one."""
    return sorted(path.stem for path in SOURCES.glob("*.c") if path.name != COMMON)


def build_attacks() -> Path:
    """Compile outdated programs. Raises HostError if gcc fails."""
    target = BUILD_DIRECTORY / "attacks"
    stamp = BUILD_DIRECTORY / "attacks.stamp"
    digest = content_digest(SOURCES, *GCC_FLAGS)
    with build_lock("attacks"):
        if not target.is_dir() or not stamp.is_file() or stamp.read_text() != digest:
            _build(target)
            stamp.write_text(digest)
    return target


def _build(target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=BUILD_DIRECTORY) as scratch:
        fresh = Path(scratch) / "fresh"
        fresh.mkdir()
        for name in program_names():
            compile_static([SOURCES / f"{name}.c", SOURCES / COMMON], fresh / name)
        # Pages that are not on the disk are not dropped.
        write_durably(fresh / PAGES, bytes(range(256)) * (PAGES_BYTES // 256))
        (fresh / NAMES).mkdir()
        shutil.rmtree(target, ignore_errors=True)
        fresh.rename(target)
