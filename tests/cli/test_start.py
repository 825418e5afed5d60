"""A process of the judge imports what it needs: hundreds are started in a contest, and each import counts in each."""

import subprocess
import sys
from collections.abc import Set

import pytest
import typer

from judge.cli import app
from judge.cli.contest import app as contest_app
from judge.cli.contest.folders import app as folders_app
from judge.cli.lazy import LazyGroup
from tests.examples import evidence

HEAVY = {
    "alembic", "asyncio", "cryptography", "distributed", "docker", "fastapi", "jinja2", "networkx", "numpy", "PIL",
    "pydantic", "requests", "rich", "sqlalchemy", "structlog",
}  # fmt: skip
"""What takes longer to import than Python itself needs to start."""


PAGES = {"jinja2", "judge.export.export", "judge.site.game_files", "judge.site.site"}
"""What writes pages and exports."""

UNUSED = {
    "contest init x": {"alembic", "distributed", "docker", "numpy", "structlog"} | PAGES,
    "contest pause x": {"alembic", "docker", "judge.referee.play", "networkx", "numpy"} | PAGES,
    "contest plan x": {"alembic", "distributed", "networkx", "numpy"} | PAGES,
    "contest run x": {"alembic", "distributed", "networkx", "numpy"} | PAGES,
    "contest status x": {"alembic", "docker", "judge.referee.play", "networkx", "numpy"} | PAGES,
    "contest verify x": {"alembic", "docker", "fastapi", "judge.referee.play", "networkx"} | PAGES,
    "match x x": {"asyncio", "cryptography", "numpy", "sqlalchemy"} | PAGES,
    "show x": {"asyncio", "numpy", "sqlalchemy"} | PAGES,
    "submit x x": {"alembic", "docker", "fastapi", "numpy"} | PAGES,
}
"""Commands with a missing file or agent, and modules that they import only in later steps."""
ONLY_EVIDENCE = ("contest init x", "contest pause x", "contest plan x", "contest verify x", "submit x x")


def imported_by(code: str, watched: Set[str] = HEAVY) -> set[str]:
    """Those of `watched` that a fresh process has imported after `code`."""
    program = f"""
import sys
try:
    {code}
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(watched) & set(done.stderr.split())


def run(*words: str) -> str:
    return f"sys.argv[1:] = {list(words)}; from judge.cli import main; main()"


def groups() -> list[LazyGroup]:
    found = [typer.main.get_group(each) for each in (app, contest_app, folders_app)]
    return [each for each in found if isinstance(each, LazyGroup)]


@pytest.mark.parametrize("group", groups(), ids=lambda group: group.help[:30])
def test_command_list_shows_the_first_line_of_each_help(group: LazyGroup) -> None:
    listed = {name: group.get_command(None, name).help for name in group.places}
    assert listed == {name: " ".join(group.load(name).help.split("\n\n")[0].split()) for name in group.places}


TYPER_S = {"rich", "pydantic"}
"""What typer imports to read options and to write help."""


@pytest.mark.parametrize("words", [["--help"], ["contest", "--help"], ["match", "--help"], ["no-such-command"]])
def test_a_list_of_commands_and_their_help_import_no_library_that_plays(words: list[str]) -> None:
    assert imported_by(run(*words)) <= TYPER_S


def test_a_worker_imports_no_library_until_it_needs_it() -> None:
    """One is started for every slot, and every judge that plays imports what plays."""
    assert {"pydantic"} == imported_by("import judge.contest.worker")


def test_a_process_that_replays_published_games_imports_no_database() -> None:
    assert imported_by("import judge.verify.records") <= {"pydantic", "cryptography"}


def test_images_are_built_and_listed_without_contest_dependencies() -> None:
    assert imported_by(run("images", "--help")) <= TYPER_S


@pytest.mark.parametrize(
    "command",
    [pytest.param(command, marks=[evidence] * (command in ONLY_EVIDENCE)) for command in UNUSED],
)
def test_a_command_whose_argument_is_missing_imports_no_module_for_later_steps(command: str) -> None:
    assert imported_by(run(*command.split()), UNUSED[command]) == set()
