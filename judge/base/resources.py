"""Locations of policies, image sources and compiled programs, and the default policy.

`data` in this package has `images` and `policies`: links in a checkout, directories in a wheel.
"""

import os
from pathlib import Path

import judge

CODE = Path(__file__).resolve().parents[1]

_DATA = CODE / "data"

IMAGES = (_DATA / "images").resolve()

POLICIES = (_DATA / "policies").resolve()
"""Built-in policies and the sources of the seccomp profiles."""

PLUGINS = _DATA / "plugins.toml"

OPENINGS = POLICIES / "openings"
"""Balanced openings by rule and board size."""


def code_parts() -> list[Path]:
    """Sorted, without `data`."""
    return sorted(path for path in CODE.iterdir() if path not in (_DATA, CODE / "__pycache__"))


def house_agent_names() -> list[str]:
    """Sorted: the folders `images/house-*` with a manifest. `judge.host.house_agents` builds the agents."""
    return sorted(path.parent.name for path in IMAGES.glob("house-*/agent.toml"))


def build_directory() -> Path:
    """Folder for compiled programs; it may not exist yet.

    It is `.build` of a checkout, else `judge/VERSION` in XDG_CACHE_HOME, or in ~/.cache if that is not absolute.
    """
    if _DATA.joinpath("images").is_symlink():
        return IMAGES.parent / ".build"
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    cache = chosen if chosen.is_absolute() else Path.home() / ".cache"
    return cache / "judge" / judge.__version__


BUILD_DIRECTORY = build_directory()

DEFAULT_BASE = "debian:bookworm-slim"
"""Base image of images, of the release that the project tests."""

DEFAULT_POLICY = "gomocup-freestyle"
"""Policy of `match` and `check`."""
