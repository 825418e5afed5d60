"""Builds each starter once for all tests, also of other processes of the same run."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from judge.base.locks import locked
from tests.starters.building import build

Built = Callable[[str], Path]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The folder of a starter, by name."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    folder /= "starters"
    folder.mkdir(exist_ok=True)

    @cache
    def build_once(name: str) -> Path:
        is_built = folder / f"{name}.built"
        with locked(folder / f"{name}.lock"):
            if not is_built.exists():
                build(name, folder)
                is_built.touch()
        return folder / name

    return build_once
