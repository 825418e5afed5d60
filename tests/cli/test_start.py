"""A process of the judge imports what it needs: hundreds are started in a contest, and each import counts in each."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from judge.base.errors import InputError
from judge.cli import app
from judge.cli.contest import app as contest_app
from judge.cli.lazy import LazyGroup
from judge.cli.submissions import app as submissions_app
from tests.corpus import archive

HEAVY = {
    "alembic", "asyncio", "babel", "cryptography", "distributed", "docker", "fastapi", "jinja2", "multiprocessing",
    "networkx", "numpy", "PIL", "pydantic", "pygments", "requests", "rich", "rich.markdown", "sqlalchemy", "structlog",
    "tomlkit",
}  # fmt: skip
"""Packages that take longer to import than Python itself needs to start."""

RULES = {"cryptography", "pydantic"}
STORE = {"asyncio", "pydantic", "sqlalchemy"}
"""sqlalchemy imports asyncio."""
ENGINE = {"docker", "multiprocessing", "requests"}

IMPORTS: Mapping[str, tuple[int, set[str]]] = {
    "--help": (270, set()),
    "--version": (470, {"docker", "requests"}),
    "no-such-command": (230, set()),
    "contest --help": (228, set()),
    "verdicts": (310, {"pydantic"}),
    "show game.json": (415, {"pydantic", "rich"}),
    "contest init new --policy gomocup-freestyle": (385, {"pydantic"}),
    "contest init with --game gomoku --closes 2099-03-31T18:00 --zone UTC --authors authors.txt": (
        640,
        STORE | {"cryptography"},
    ),
    "contest plan planned": (700, {"docker", "pydantic", "requests"}),
    "contest status cup": (580, STORE),
    "submissions list cup": (575, STORE | {"rich"}),
    "contest standings cup": (1030, STORE | {"networkx", "numpy", "rich"}),
    "match agent.py agent.py": (678, {"pydantic", *ENGINE}),
}
"""For each command the maximum number of modules, and the heavy packages that it may import."""

BEFORE_FIRST_BOX = """
def stop(event, data):
    if event == "http.client.send" and (b"/volumes/create" in data[1] or b"/containers/create" in data[1]):
        report()
        os._exit(0)

sys.addaudithook(stop)
"""


def modules_of(code: str, folder: Path | None = None, first: str = "") -> set[str]:
    """The modules of a fresh process after `code`."""
    program = f"""
import os
import sys

def report():
    print(*sys.modules, file=sys.stderr, flush=True)

{first}
try:
    {code}
except SystemExit:
    pass
report()
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines()[-1].split())


def run(words: str) -> str:
    return f"sys.argv[1:] = {words.split()}; from judge.cli import main; main()"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("start")
    archive.unpack(archive.read("contest-duels", "source"), found / "cup")
    records = archive.read("records-03", "source")
    (found / "game.json").write_text(next(text for name, text in records.items() if "gomocup-gomocup" in name))
    (found / "authors.txt").write_text("ada\nbert\n")
    (found / "agent.py").write_text("#!/usr/bin/env python3\n")
    (found / "agent.py").chmod(0o755)
    (found / "planned").mkdir()
    format_ = '[format]\nname = "round-robin"\n'
    plan = f'name = "planned"\npolicy = "gomocup-freestyle"\nagents = [{{path = "../agent.py"}}]\n{format_}'
    (found / "planned" / "contest.toml").write_text(plan)
    return found


@pytest.mark.parametrize("words", [each for each in IMPORTS if not each.startswith("match agent")])
def test_a_command_imports_what_it_uses(folder: Path, words: str) -> None:
    check_imports(words, modules_of(run(words), folder))


@pytest.mark.docker
def test_a_match_imports_what_it_uses_before_its_first_box(folder: Path) -> None:
    words = "match agent.py agent.py"
    check_imports(words, modules_of(run(words), folder, BEFORE_FIRST_BOX))


def check_imports(words: str, modules: set[str]) -> None:
    most, allowed = IMPORTS[words]
    assert set() == (HEAVY & modules) - allowed
    assert len(modules) <= most


@pytest.mark.parametrize(
    "group", [*map(typer.main.get_group, (app, contest_app, submissions_app))], ids=lambda group: group.help[:30]
)
def test_command_list_shows_the_first_line_of_each_help(group: LazyGroup) -> None:
    listed = {name: group.get_command(None, name).help for name in group.places}
    assert listed == {name: " ".join(group.load(name).help.split("\n\n")[0].split()) for name in group.places}


def test_a_worker_imports_no_library_until_it_needs_it() -> None:
    """One is started for every slot, and every judge that plays imports what plays."""
    assert modules_of("import judge.contest.executor") & HEAVY <= {"multiprocessing", "pydantic"}


def test_a_process_that_replays_published_games_imports_no_database() -> None:
    assert modules_of("import judge.publish.verify.records") & HEAVY <= RULES


def test_help_of_all_commands_also_lists_the_rare_ones() -> None:
    runner = CliRunner()

    listed, short = runner.invoke(app, ["help", "all"], prog_name="judge"), runner.invoke(app, ["--help"])

    commands = [" ".join(line[:32].split()) for line in listed.stdout.splitlines()]
    assert len(set(commands)) == len(commands) <= 66
    assert {"judge match", "judge scheduler", "judge contest folders", "judge tokens make"} <= set(commands)
    assert "scheduler" not in short.stdout
    assert "judge help all lists every command" in short.stdout
    alone = runner.invoke(app, ["help", "contest", "run"], prog_name="judge").stdout
    assert alone.split() == runner.invoke(app, ["contest", "run", "--help"], prog_name="judge").stdout.split()
    with pytest.raises(InputError, match="judge contest has no command ru: did you mean 'run'"):
        runner.invoke(app, ["help", "contest", "ru"], prog_name="judge", catch_exceptions=False)
