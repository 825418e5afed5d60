"""`judge.api`: the examples of its page, cancellation, and modules of Unix that reading needs not."""

import doctest
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from judge import api
from judge.host.house_agents import build_house_agents

PAGE = Path(__file__).parents[2] / "docs/python-api.md"


def run(tmp_path: Path, program: str) -> list[str]:
    """The lines that a program prints, in its own process: a match moves its process to the core of the judge."""
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(program))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, str(path)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout.splitlines()


@pytest.mark.docker
def test_examples_of_the_page_are_true(tmp_path: Path) -> None:
    build_house_agents()
    assert [] == run(tmp_path, f"import doctest; doctest.testfile({str(PAGE)!r}, module_relative=False)")
    assert doctest.DocTestParser().get_examples(PAGE.read_text())


def test_each_public_name_exists() -> None:
    assert api.__all__ == sorted(api.__all__)
    for _ in range(2):  # a submodule of the same name would replace a function once it is imported
        assert all(callable(getattr(api, name)) and getattr(api, name).__doc__ for name in api.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = api.nothing


@pytest.mark.docker
def test_cancelled_match_keeps_finished_games_and_no_container(tmp_path: Path) -> None:
    build_house_agents()
    said = run(
        tmp_path,
        """
        import threading
        from judge import api
        from judge.sandbox.docker.reaper import reap

        cancel = threading.Event()

        class Cancelling(api.MatchObserver):
            def begin(self, spec, attempt):
                if spec.number == 1:
                    cancel.set()

        try:
            api.match("house-instant", "house-python", games=3, observer=Cancelling(), cancel=cancel)
        except Exception:
            print("an Exception")
        except api.CancelledError:
            print("cancelled")
        print(list(reap(containers=True)))
        """,
    )

    assert ["cancelled", "[]"] == said
    (record,) = (tmp_path / "records").glob("*.json")
    assert api.verify(record).is_valid


@pytest.mark.docker
def test_cancelled_check_tries_nothing_more(tmp_path: Path) -> None:
    build_house_agents()
    said = run(
        tmp_path,
        """
        import threading
        from judge import api

        cancel = threading.Event()
        tried = []

        def trying(what):
            tried.append(what)
            cancel.set()

        try:
            api.check("house-python", trying=trying, cancel=cancel)
        except api.CancelledError:
            print(len(tried))
        """,
    )

    assert ["1"] == said


def test_invalid_input_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(api.InputError, match="nowhere"):
        api.match("nowhere", "house-python", out=tmp_path / "records")
    with pytest.raises(api.InputError, match=r"contest\.toml"):
        api.contest(tmp_path)
    with pytest.raises(api.InputError, match="none"):
        api.verify(tmp_path / "none.json")
    assert [] == list(tmp_path.iterdir())
