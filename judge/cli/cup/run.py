"""`judge contest run` of a cup: play all leagues."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from judge.base.errors import HostError
from judge.base.text import printable
from judge.contest.host_setup import place_on_host
from judge.cup.plan import load_cup
from judge.cup.run import CupRun, LeagueEnd, alone
from judge.terminal.output import note


def run(cup: Path, workers: int, cluster: str, tls: Path | None, *, now: bool) -> None:
    """Play all leagues of a cup, or continue it. The arguments are the options of `judge contest run`."""
    planned = load_cup(cup)
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
        note(f"judge: {planned.cup.name} is over; judge contest standings {planned.path}")
    else:
        note(f"judge: to continue: judge contest run {planned.path}")


@contextmanager
def _interrupts(running: CupRun) -> Iterator[None]:
    def interrupted(_signal: int, _frame: FrameType | None) -> None:
        running.stop()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
