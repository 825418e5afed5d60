"""A running contest: a panel on a terminal, otherwise a JSON line per game."""

import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from judge.base.text import duration, json_text, printable
from judge.contest.attempts import EndedAttempt, Executor
from judge.contest.contest import Contest
from judge.contest.runner import RunObserver, RunTally, StopRequest
from judge.contest_games import AttemptState, GameState
from judge.record.spec import score_text

SHOWN_GAMES = 8


def _score(event: EndedAttempt, between: str) -> str:
    if event.state is not AttemptState.ACCEPTED or event.outcome is None:
        return "void"
    return score_text(event.outcome.verdict, event.outcome.winner, between)


class Lines:
    """Prints a line per finished game: a sentence, or JSON."""

    def __init__(self, contest: Contest, *, as_json: bool) -> None:
        self._tally = RunTally(contest)
        self._as_json = as_json

    def report(self, event: EndedAttempt) -> None:
        self._tally.add(event)
        print(json_text(_line(event, self._tally)) if self._as_json else _sentence(event, self._tally), flush=True)

    def notify(self, sentence: str) -> None:
        """Print a notice, unbuffered because a signal handler may call it."""
        line = json_text({"note": sentence}) if self._as_json else printable(sentence, 2000)
        with suppress(OSError):  # The next line raises the error.
            os.write(sys.stdout.fileno(), f"{line}\n".encode())

    def close(self) -> None: ...


def _sentence(event: EndedAttempt, tally: RunTally) -> str:
    game = event.game
    why = f": {printable(event.why, 400)}" if event.why else ""
    attempt = f", attempt {game.attempt}" if game.attempt > 1 else ""
    return (
        f"game {game.number}{attempt}: {printable(game.first)} - {printable(game.second)} {_score(event, ' : ')}{why}; "
        f"{tally.done} of {tally.total_text} games done"
    )


def _line(event: EndedAttempt, tally: RunTally) -> dict[str, Any]:
    game, outcome = event.game, event.outcome
    minutes = tally.minutes_left
    return {
        "game": game.number,
        "id": game.id,
        "attempt": game.attempt,
        "round": game.round,
        "seats": [game.first, game.second],
        "state": event.state,
        "verdict": outcome.verdict if outcome else None,
        "winner": outcome.winner if outcome else None,
        "why": printable(event.why, 2000),
        "done": tally.done,
        "running": tally.counts[GameState.RUNNING],
        "left": tally.left,
        "is_exact": tally.is_exact,
        "voids": tally.voids,
        "per_minute": round(tally.per_minute, 2),
        "minutes_left": None if minutes is None else round(minutes, 1),
    }


class Panel:
    """Shows a panel at a fixed place on the terminal."""

    def __init__(self, contest: Contest, executor: Executor) -> None:
        self._contest = contest
        self._executor = executor
        self._tally = RunTally(contest)
        self._last: list[EndedAttempt] = []
        self._sentence = "Ctrl-C finishes the running games and stops"
        self._live = Live(get_renderable=self._panel, console=Console(), refresh_per_second=2)
        self._live.start()

    def report(self, event: EndedAttempt) -> None:
        self._tally.add(event)
        self._last = [*self._last[-(SHOWN_GAMES - 1) :], event]

    def notify(self, sentence: str) -> None:
        self._sentence = sentence

    def close(self) -> None:
        """Stop updating; the panel stays on the terminal."""
        self._live.stop()

    def _panel(self) -> RenderableType:
        tally, minutes = self._tally, self._tally.minutes_left
        least = "" if tally.is_exact else "at least "
        heading = Text.assemble(
            (printable(self._contest.name), "bold"),
            f"  {tally.done} of {tally.total_text} games, {self._executor.running} running",
            f", {tally.per_minute:.1f} a minute",
            "" if minutes is None else f", {least}{duration(60_000 * max(1, round(minutes)))} to the end",
            f", {tally.voids} void" if tally.voids else "",
        )
        bar = Table.grid()  # A bar alone does not end its line.
        bar.add_row(ProgressBar(total=max(tally.done + tally.left, 1), completed=tally.done, width=60))
        failing = ", ".join(f"{printable(name)} {count}" for name, count in tally.failures.most_common(5) if count)
        parts: list[RenderableType] = [heading, bar, _games(self._last)]
        if failing:
            parts.append(Text(f"failures since the start: {failing}", style="yellow"))
        return Group(*parts, Text(printable(self._sentence, 300), style="dim"))


def _games(last: list[EndedAttempt]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1))
    for event in last:
        game = event.game
        table.add_row(
            Text(str(game.number), style="dim"),
            Text(f"{printable(game.first, 24)} - {printable(game.second, 24)}"),
            Text(_score(event, "-"), style="" if event.state is AttemptState.ACCEPTED else "red"),
            Text(printable(event.why, 70), style="dim"),
        )
    return table


class RunDisplay(RunObserver):
    """Shows a run. The first Ctrl-C lets the running games end, the second one abandons them."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self.stop = StopRequest()
        self.is_open = False
        self._shown: Lines | Panel | None = None

    def open(self, contest: Contest, executor: Executor) -> None:
        self.is_open = True
        has_panel = sys.stdout.isatty() and not self._as_json
        self._shown = Panel(contest, executor) if has_panel else Lines(contest, as_json=self._as_json)
        self._before = signal.signal(signal.SIGINT, self._interrupted)

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
