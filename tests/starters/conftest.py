"""Builds each starter once for all tests."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.starters.building import build

Built = Callable[[str], Path]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The folder of a starter, by name."""
    folder = tmp_path_factory.mktemp("starters")
    return cache(lambda name: build(name, folder))
