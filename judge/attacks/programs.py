"""Compiles the attack programs from images/attacks and stages them like an agent's."""

from pathlib import Path

from judge.base.durable_files import write_durably
from judge.base.resources import IMAGES
from judge.host.compilers import compile_static, rebuild_folder
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
    with build_lock("attacks"):
        return rebuild_folder("attacks", content_digest(SOURCES, *GCC_FLAGS), _build)


def _build(folder: Path) -> None:
    for name in program_names():
        compile_static([SOURCES / f"{name}.c", SOURCES / COMMON], folder / name)
    # Pages that are not on the disk are not dropped.
    write_durably(folder / PAGES, bytes(range(256)) * (PAGES_BYTES // 256))
    (folder / NAMES).mkdir()
