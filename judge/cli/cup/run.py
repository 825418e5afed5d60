"""`judge cup run`: play all leagues."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Annotated

import typer

from judge.base.errors import HostError, InputError
from judge.base.text import printable
from judge.cli.options import CUP_HERE, SLOTS_HELP, CupArgument, TlsOption, require_dask
from judge.contest.host_setup import place_on_host
from judge.cup.plan import load_cup
from judge.cup.run import CupRun, LeagueEnd, alone
from judge.terminal.output import note

EXAMPLES = """
Examples:

judge cup run cup-2026

judge cup run cup-2026 --cluster tls://10.0.0.1:8786 --tls keys/10.0.0.1

Ctrl-C once finishes the running games, twice abandons them. The same command continues.

Exit codes: 0 the cup is over or the organiser stopped it; 1 a league failed; 2 the command or the file was wrong.
"""


def run(
    cup: CupArgument = CUP_HERE,
    workers: Annotated[int, typer.Option(min=0, help=SLOTS_HELP)] = 0,
    cluster: Annotated[str, typer.Option(help="Play on the workers of this scheduler: tls://10.0.0.1:8786.")] = "",
    tls: TlsOption = None,
    now: Annotated[bool, typer.Option("--now", help="Begin before the announced deadline or start; final.")] = False,
) -> None:
    """Play all leagues of a cup, or continue it. Leagues share the slots game by game.

    A league begins at its moment, or after the end of another league.
    """
    planned = load_cup(cup)
    if cluster and workers:
        raise InputError("--workers is for games on this machine, --cluster for those on others")
    if cluster:
        require_dask()
    arguments = ["--now"] if now else []
    arguments += ["--workers", str(workers)] if workers else []
    arguments += ["--cluster", cluster] if cluster else []
    arguments += ["--tls", str(tls.resolve())] if tls else []

    def report(text: str) -> None:
        note(f"judge: {printable(text, 600)}")

    if not cluster:
        place_on_host()
    with alone(planned), CupRun(planned, arguments, report) as running, _interrupts(running):
        ends = running.run()
    if failed := [name for name, end in ends.items() if end is LeagueEnd.FAILED]:
        raise HostError(f"failed: {', '.join(failed)}; fix it, and run the same command again")
    if len(ends) == len(planned.cup.leagues) and set(ends.values()) == {LeagueEnd.OVER}:
        note(f"judge: {planned.cup.name} is over; judge cup standings {planned.path}")
    else:
        note(f"judge: to continue: judge cup run {planned.path}")


@contextmanager
def _interrupts(running: CupRun) -> Iterator[None]:
    def interrupted(_signal: int, _frame: FrameType | None) -> None:
        running.stop()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
