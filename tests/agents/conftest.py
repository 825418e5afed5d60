"""Where the agents of a test are staged."""

from pathlib import Path

import pytest


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    path = tmp_path / "staging"
    path.mkdir()
    return path
