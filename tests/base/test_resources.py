"""Where the judge's own files are."""

from pathlib import Path

import pytest

from judge import __version__
from judge.base import resources

ROOT = Path(__file__).parents[2]


def test_a_checkout_has_all_at_its_top() -> None:
    assert ROOT / "images" == resources.IMAGES
    assert ROOT / "policies" == resources.POLICIES
    assert ROOT / ".build" == resources.build_directory()


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [("/var/cache/me", "/var/cache/me"), ("", "HOME/.cache"), ("relative", "HOME/.cache")],
)
def test_an_installed_judge_builds_in_the_cache_of_its_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str, expected: str
) -> None:
    monkeypatch.setattr(resources, "_DATA", tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", chosen)

    cache = Path(expected.replace("HOME", str(tmp_path)))
    assert cache / "judge" / __version__ == resources.build_directory()


def test_the_code_is_the_package_without_its_data() -> None:
    parts = resources.code_parts()

    assert {resources.CODE / "cli", resources.CODE / "contest_games.py"} <= set(parts)
    assert {"data", "__pycache__"}.isdisjoint(path.name for path in parts)
