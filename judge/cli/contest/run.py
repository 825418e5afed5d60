"""`judge contest run`: play a contest to its end."""

import signal
import sys
from types import FrameType
from typing import Annotated

import typer

from judge.api.contests import ContestFolder
from judge.api.contests import contest as contest_of
from judge.base.errors import HostError, InputError
from judge.cli.options import (
    HERE,
    SLOTS_HELP,
    ContestOrCupArgument,
    JsonOption,
    TlsOption,
    cup_at,
    refuse_given,
    require_dask,
)
from judge.contest.attempts import EndedAttempt, Executor
from judge.contest.contest import Contest
from judge.contest.runner import RunObserver, StopReason, StopRequest
from judge.journal.events import Stopped
from judge.terminal.contest_progress import Lines, Panel, Progress
from judge.terminal.output import note

EXAMPLES = """
Examples:

judge contest run contest.toml

judge contest run contest.toml --workers 3

judge contest run spring/cup.toml

judge contest run contest.toml --cluster tls://10.0.0.1:8786 --tls keys/10.0.0.1

Ctrl-C once finishes the running games, twice abandons them. The same command continues.

Exit codes: 0 the contest is over or the organiser stopped it; 1 the judge or its host failed, or voids stopped the
contest; 2 the command or the file was wrong.
"""


def run(
    contest: ContestOrCupArgument = HERE,
    workers: Annotated[int, typer.Option(min=0, help=SLOTS_HELP)] = 0,
    accept_images: Annotated[
        bool, typer.Option("--accept-images", help="Continue although runtimes were rebuilt since the contest began.")
    ] = False,
    cluster: Annotated[str, typer.Option(help="Play on the workers of this scheduler: tls://10.0.0.1:8786.")] = "",
    tls: TlsOption = None,
    now: Annotated[bool, typer.Option("--now", help="Begin before the announced deadline or start; final.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Play a contest or all leagues of a cup to the end, or continue. The first run locks in entries and terms.

    Leagues share the slots game by game. A league begins at its time, or after the end of another league.

    Without a terminal, or with --json, each finished game is printed on a line.
    """
    if cluster and workers:
        raise InputError("--workers is for games on this machine, --cluster for those on others")
    if cluster:
        require_dask()
    if (cup := cup_at(contest)) is not None:
        from judge.cli.cup.run import run as run_cup

        refuse_given("is not for a cup", accept_images=accept_images, json=as_json)
        run_cup(cup, workers, cluster, tls, now=now)
        return
    display = _Display(as_json=as_json)
    chosen = contest_of(contest)
    try:
        stop = chosen.run(
            workers=workers,
            accept_images=accept_images,
            cluster=cluster,
            keys=tls,
            begin_early=lambda waits: now and _confirm_begin(waits),
            observer=display,
            notify=lambda text: note(f"judge: {text}"),
            stop=display.stop,
        )
    except KeyboardInterrupt:
        if cluster and not display.is_open:
            note(f"judge: stopped before {cluster} answered; no game was started")
        raise
    _say_end(chosen, stop)


def _confirm_begin(waits: str) -> bool:
    if sys.stdin.isatty():
        note(f"judge: {waits}.")
        if not typer.confirm("Begin now? This locks in its entries and terms and cannot be undone.", err=True):
            raise InputError("the contest was not started")
    return True


class _Display(RunObserver):
    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self.stop = StopRequest()
        self.is_open = False
        self._shown: Progress | None = None

    def open(self, contest: Contest, executor: Executor) -> None:
        self.is_open = True
        self._shown = self._made(contest, executor)
        self._before = signal.signal(signal.SIGINT, self._interrupted)

    def _made(self, contest: Contest, executor: Executor) -> Progress:
        if sys.stdout.isatty() and not self._as_json:
            return Panel(contest, executor)
        return Lines(contest, as_json=self._as_json)

    def report(self, ended: EndedAttempt) -> None:
        if self._shown is not None:
            self._shown.report(ended)

    def close(self) -> None:
        if self._shown is not None:
            signal.signal(signal.SIGINT, self._before)
            self._shown.close()

    def _interrupted(self, _signal: int, _frame: FrameType | None) -> None:
        if self._shown is None:
            return
        if self.stop.drain.is_set():
            self.stop.abandon.set()
            self._shown.notify("abandoning the running games; they will be played again")
        else:
            self.stop.drain.set()
            self._shown.notify("finishing the running games; Ctrl-C again abandons them")


def _say_end(chosen: ContestFolder, stop: StopReason) -> None:
    name, path = chosen.planned.name, chosen.planned.path
    if stop is StopReason.FINISHED:
        note(f"judge: {name} is over; judge contest standings {path}")
        return
    with chosen.opened() as found:
        state = found.store.state(name)
        last = [line.text for line in found.store.last_lines(name, 1, Stopped)]
    if stop is StopReason.HELD or state == "stopped":
        why = last[0] if last else "games are stopped after too many voids"
        raise HostError(
            f"{name} is stopped: {why}; fix it, then judge contest resume {path} and judge contest run {path}"
        )
    if stop is StopReason.PAUSED:
        note(f"judge: {name} is paused; judge contest resume {path} resumes it")
        return
    note(f"judge: to continue: judge contest run {path}")
