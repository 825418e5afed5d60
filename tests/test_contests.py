"""Contests that all tests share: each is made once, as if no test had patched anything, and old ones are removed."""

import multiprocessing
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from judge.store.contests import Store
from tests import contests
from tests.contests import LOGGED, Recipe
from tests.publish.cups import Cup

pytestmark = pytest.mark.slow


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty directory of kept contests."""
    monkeypatch.setattr(contests, "KEPT", tmp_path / "kept")
    contests._directory.cache_clear()
    yield tmp_path / "kept"
    contests._directory.cache_clear()


def copied(recipe: Recipe, folder: Path) -> None:
    recipe.contest(folder).close()


def test_processes_make_a_contest_once(kept: Path, tmp_path: Path) -> None:
    def happens(cup: Cup) -> None:
        with (tmp_path / "made").open("a") as file:
            file.write(f"{cup.contest.name}\n")

    recipe = replace(LOGGED, happens=happens)
    fork = multiprocessing.get_context("fork")
    processes = [fork.Process(target=copied, args=(recipe, tmp_path / f"cup-{number}")) for number in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()

    assert [0, 0, 0] == [process.exitcode for process in processes]
    assert "spring-cup\n" == (tmp_path / "made").read_text()
    assert 1 == len([path for path in kept.glob("*/contest-*") if path.is_dir()])


def test_a_kept_contest_has_nothing_that_a_test_patched(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lies(*_: object) -> None:
        pass

    monkeypatch.setattr(Store, "remark", lies)
    with LOGGED.contest(tmp_path / "cup") as cup:
        assert Store.remark is lies
        assert "images" in {line.event for line in cup.store.journal("spring-cup")}
    assert list(kept.iterdir())
