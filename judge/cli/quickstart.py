"""`judge quickstart`: from an Engine to a published contest, by the commands that a user would type."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from judge.base.durable_files import open_regular
from judge.base.errors import HostError, InputError, NotReadyError, os_errors_as
from judge.contest.file_names import PLAN_FILE
from judge.terminal.output import note

CONTEST = "quickstart"
AGENTS = ("house-strong", "house-python", "house-instant")
TURN_MS = 200
ADDRESS = "127.0.0.1:8000"
POLL_INTERVAL_S = 0.2
PLAN_BYTES = 1 << 16
"""The name is in the first lines of a contest.toml."""

Command = subprocess.Popen[bytes]

EXAMPLES = """
judge quickstart
judge quickstart --serve

It needs a Docker Engine of version 20.10 or newer and no root. It prints each command that it runs, and stops at the
first one that fails.
"""


def quickstart(
    serve: Annotated[
        bool, typer.Option("--serve", help=f"Also serve the contest at http://{ADDRESS}/ until Ctrl-C.")
    ] = False,
) -> None:
    """Build the images, play a small contest between house agents, publish it, and verify what it published.

    The contest is the folder `quickstart` in this folder, which replaces that of an earlier quickstart.
    """
    began = time.monotonic()
    _require_engine()
    _remove_earlier()
    _run("images", "build")
    agents = [f"--agent={name}" for name in AGENTS]
    policy = ("--policy", "gomocup-fastgame", "--set", f"clock.turn_ms={TURN_MS}")
    _run("contest", "init", CONTEST, *policy, *agents, is_quiet=True)
    _run("contest", "key", f"{CONTEST}/organiser.key")
    _run("contest", "plan", CONTEST)
    with ExitStack() as services:
        service = _play(services, is_served=serve)
        _run("contest", "standings", CONTEST)
        _run("contest", "standings", "--crosstable", CONTEST)
        _run("contest", "export", f"{CONTEST}/published", CONTEST)
        _run("contest", "verify", f"{CONTEST}/published", "--key", f"{CONTEST}/organiser.pem")
        print(_next_words(time.monotonic() - began), flush=True)
        if service is not None:
            note(f"The live pages stay at http://{ADDRESS}/live.html until Ctrl-C.")
            _await_end(service)


def _require_engine() -> None:
    from judge.host.distribution import commands_for_engine
    from judge.sandbox.docker.engine import Engine

    try:
        with closing(Engine()) as engine:
            engine.info()
    except NotReadyError as error:
        unset = "; or unset DOCKER_HOST" if os.environ.get("DOCKER_HOST") else ""
        raise HostError(f"{error}; {commands_for_engine(str(error))}{unset}") from error


def _remove_earlier() -> None:
    from judge.contest.run_lock import player_of

    folder = Path(CONTEST).absolute()
    if not os.path.lexists(folder):
        return
    if folder.is_symlink() or f'name = "{CONTEST}"' not in _lines_of(folder / PLAN_FILE):
        raise InputError(f"{folder} exists and is not the folder of an earlier quickstart: move it away")
    if player := player_of(folder):
        raise InputError(f"process {player} plays the contest of {folder}: wait for its end, or use another folder")
    with os_errors_as(InputError, folder, ": remove it as the user who made it, or use another folder"):
        shutil.rmtree(folder)


def _lines_of(path: Path) -> list[str]:
    try:
        with open_regular(path) as file:
            return file.read(PLAN_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return []


def _play(services: ExitStack, *, is_served: bool) -> Command | None:
    """The service, if the contest is served while it is played."""
    from judge.broadcast.log import LOG_FILE

    service = None
    with _started("contest", "run", CONTEST) as games:
        if is_served:
            feed = Path(CONTEST, LOG_FILE)
            while not feed.exists() and games.poll() is None:  # the pages need a contest that has begun
                time.sleep(POLL_INTERVAL_S)
            service = services.enter_context(_started("serve", CONTEST, "--read-only", "--listen", ADDRESS))
            note(f"Watch it: http://{ADDRESS}/live.html")
        _require_success(games)
    return service


def _run(*words: str, is_quiet: bool = False) -> None:
    with _started(*words, is_quiet=is_quiet) as command:
        _require_success(command)


@contextmanager
def _started(*words: str, is_quiet: bool = False) -> Iterator[Command]:
    """A command of this judge, which ends with the block at the latest."""
    note(f"$ {shlex.join(['judge', *words])}")
    sys.stdout.flush()
    # -P: not the `judge` of this folder.
    line = [sys.executable, "-P", "-m", "judge.cli", *words]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL if is_quiet else None) as command:
        try:
            yield command
        finally:
            if command.poll() is None:
                command.terminate()


def _require_success(command: Command) -> None:
    if code := _await_end(command):
        raise SystemExit(code)


def _await_end(command: Command) -> int:
    while True:
        with suppress(KeyboardInterrupt):  # the command gets it too, and ends in its own way
            return command.wait()


def _next_words(seconds: float) -> str:
    page = Path(CONTEST, "published", "index.html").resolve()
    return f"""
{seconds:.0f} seconds in all. Look at it: {page}

What to type next:
  {_program()} contest journal {CONTEST}     what happened, as a story
  {_program()} match house-strong house-instant --policy gomocup-fastgame     watch one game, move by move
  {_program()} match ./my-agent house-python --policy gomocup-fastgame     your own program plays"""


def _program() -> str:
    """What a user types for this judge."""
    if shutil.which("judge"):
        return "judge"
    program = Path(sys.argv[0])
    return os.path.relpath(program) if program.name == "judge" else f"{sys.executable} -m judge.cli"
