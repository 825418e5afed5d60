"""A process of the judge imports what it needs: hundreds are started in a contest, and each import counts in each."""

import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from judge.base.errors import InputError
from judge.cli import app
from judge.cli.contest import app as contest_app
from judge.cli.lazy import LazyGroup

HEAVY = {
    "alembic", "asyncio", "cryptography", "distributed", "docker", "fastapi", "jinja2", "networkx", "numpy", "PIL",
    "pydantic", "requests", "rich", "sqlalchemy", "structlog",
}  # fmt: skip
"""What takes longer to import than Python itself needs to start."""


def imported_by(code: str) -> set[str]:
    """What of `HEAVY` a fresh process has imported after `code`."""
    program = f"""
import sys
try:
    {code}
except SystemExit:
    pass
print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return HEAVY & set(done.stderr.split())


def run(*words: str) -> str:
    return f"sys.argv[1:] = {list(words)}; from judge.cli import main; main()"


def groups() -> list[LazyGroup]:
    found = [typer.main.get_group(each) for each in (app, contest_app)]
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


def test_a_new_contest_without_authors_opens_no_database(tmp_path: Path) -> None:
    words = ("contest", "init", str(tmp_path / "cup"), "--policy", "gomocup-freestyle")
    assert not {"sqlalchemy", "docker", "numpy", "networkx", "fastapi"} & imported_by(run(*words))
    assert (tmp_path / "cup" / "contest.toml").exists()


def test_a_worker_imports_no_library_until_it_needs_it() -> None:
    """One is started for every slot, and every judge that plays imports what plays."""
    assert {"pydantic"} == imported_by("import judge.contest.worker")


def test_a_process_that_replays_published_games_imports_no_database() -> None:
    assert imported_by("import judge.publish.verify.records") <= {"pydantic", "cryptography"}


@pytest.mark.parametrize(
    ("words", "unused"),
    [
        ("match x x", {"asyncio", "cryptography", "jinja2", "numpy", "sqlalchemy"}),
        ("show x", {"asyncio", "jinja2", "numpy", "sqlalchemy"}),
        ("contest status x", {"alembic", "docker", "jinja2", "networkx", "numpy"}),
    ],
)
def test_a_command_whose_argument_is_missing_imports_nothing_for_later_steps(words: str, unused: set[str]) -> None:
    assert unused.isdisjoint(imported_by(run(*words.split())))


def test_help_of_all_commands_also_lists_the_rare_ones() -> None:
    runner = CliRunner()

    listed, short = runner.invoke(app, ["help", "all"], prog_name="judge"), runner.invoke(app, ["--help"])

    commands = [" ".join(line[:32].split()) for line in listed.stdout.splitlines()]
    assert len(set(commands)) == len(commands) <= 63
    assert {"judge match", "judge scheduler", "judge contest folders", "judge tokens make"} <= set(commands)
    assert "scheduler" not in short.stdout
    assert "judge help all lists every command" in short.stdout
    alone = runner.invoke(app, ["help", "contest", "run"], prog_name="judge").stdout
    assert alone.split() == runner.invoke(app, ["contest", "run", "--help"], prog_name="judge").stdout.split()
    with pytest.raises(InputError, match="judge contest has no command ru: did you mean 'run'"):
        runner.invoke(app, ["help", "contest", "ru"], prog_name="judge", catch_exceptions=False)
