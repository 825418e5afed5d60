"""`judge contest run`: play a contest or a cup to its end."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.errors import HostError, InputError
from judge.base.text import printable
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
from judge.terminal.output import note

if TYPE_CHECKING:
    from judge.api.contests import ContestFolder
    from judge.contest.runner import StopReason

EXAMPLES = """
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
    from judge.api.contests import contest as contest_of
    from judge.terminal.contest_progress import RunDisplay

    if cluster and workers:
        raise InputError("--workers is for games on this machine, --cluster for those on others")
    if cluster:
        require_dask()
    if (cup := cup_at(contest)) is not None:
        refuse_given("is not for a cup", accept_images=accept_images, json=as_json)
        _run_cup(cup, workers, cluster, tls, now=now)
        return
    display = RunDisplay(as_json=as_json)
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


def _say_end(chosen: ContestFolder, stop: StopReason) -> None:
    from judge.contest.runner import StopReason
    from judge.journal.events import Stopped

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


def _run_cup(cup: Path, workers: int, cluster: str, tls: Path | None, *, now: bool) -> None:
    from judge.contest.host_setup import place_on_host
    from judge.cup.plan import load_cup
    from judge.cup.run import CupRun, LeagueEnd, alone

    planned = load_cup(cup)
    arguments = ["--now"] if now else []
    arguments += ["--workers", str(workers)] if workers else []
    arguments += ["--cluster", cluster] if cluster else []
    arguments += ["--tls", str(tls.resolve())] if tls else []
    if not cluster:
        place_on_host()
    with alone(planned), CupRun(planned, arguments, lambda text: note(f"judge: {printable(text, 600)}")) as running:
        before = signal.signal(signal.SIGINT, lambda _signal, _frame: running.stop())
        try:
            ends = running.run()
        finally:
            signal.signal(signal.SIGINT, before)
    if failed := [name for name, end in ends.items() if end is LeagueEnd.FAILED]:
        raise HostError(f"failed: {', '.join(failed)}; fix it, and run the same command again")
    if len(ends) == len(planned.cup.leagues) and set(ends.values()) == {LeagueEnd.OVER}:
        note(f"judge: {planned.cup.name} is over; judge contest standings {planned.path}")
    else:
        note(f"judge: to continue: judge contest run {planned.path}")
