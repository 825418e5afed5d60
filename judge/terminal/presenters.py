"""Output of `judge match`: nothing, a line for each move, or a live view of the games."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from judge.base.text import printable
from judge.contest.matches import MatchObserver
from judge.games.types import Verdict
from judge.records.outcome import outcome_text
from judge.referee.side import Ply
from judge.referee.spec import GameRecord, GameSpec, SeatSpec
from judge.terminal.live import LiveView


class Presenter(MatchObserver):
    """Shows nothing."""

    def score(self, records: Sequence[GameRecord]) -> None:
        """Report the end of all games."""

    def close(self) -> None:
        """Restore the terminal."""


class LinePresenter(Presenter):
    """Prints lines, coloured on a terminal, optionally with each move."""

    def __init__(self, *, moves: bool = True) -> None:
        self._console = Console(highlight=False, soft_wrap=True, file=sys.stdout)
        self._agents = self._names = ("", "")
        self._count = 0
        if moves:
            self.watch = self._ply

    def open(self, seats: tuple[SeatSpec, SeatSpec], games: int) -> None:  # noqa: ARG002 implements the observer
        """Remember the agents of the score."""
        self._agents = (seats[0].name, seats[1].name)

    def begin(self, spec: GameSpec, attempt: int) -> None:
        """Print the heading, once per game."""
        self._names = (spec.seats[0].name, spec.seats[1].name)
        self._count = spec.opening_moves
        if attempt == 1:
            first, second = map(escape, self._names)
            self._print(f"[bold]game {spec.number + 1}[/]: {first} - {second}, {escape(spec.policy.name)}, {spec.id}")

    def _ply(self, ply: Ply) -> None:
        self._count += 1
        said = escape(printable(ply.said, 60))
        name = escape(self._names[ply.seat])
        self._print(f"{self._count:4}. {name:<20} {said:<12} {ply.charged_ns / 1e6:10.1f} ms")

    def end(self, record: GameRecord, path: Path, *, is_last: bool) -> None:  # noqa: ARG002 a void is also printed
        """Print result, usual manager's result line, and record's path."""
        without_winner = "yellow" if record.verdict is Verdict.VOID else "cyan"
        colour = without_winner if record.winner is None else "green"
        text = escape(outcome_text(record.verdict, record.winner, self._names))
        reason = escape(printable(record.reason, 300))
        self._print(f"[{colour}]{text}[/] ({record.verdict}): {reason}")
        if record.result:
            self._print(f"result {escape(printable(record.result, 300))}")
        self._print(f"record {escape(str(path))}")

    def score(self, records: Sequence[GameRecord]) -> None:
        """Print wins and draws of several games."""
        if len(records) < 2:
            return
        winners = [record.seats[record.winner].name for record in records if record.winner is not None]
        wins = [winners.count(name) for name in self._agents]
        draws = sum(record.verdict is Verdict.DRAW for record in records)
        first, second = map(escape, self._agents)
        self._print(f"[bold]score[/]: {first} {wins[0]} - {wins[1]} {second}, {draws} drawn")

    def _print(self, text: str) -> None:
        self._console.print(text)


class Shown(Presenter):
    """Shows games on the whole terminal; prints results at the end."""

    def __init__(self, lines: Presenter | None = None) -> None:
        self._lines = lines or LinePresenter(moves=False)
        self._said: list[Callable[[], None]] = []
        self._view: LiveView | None = None

    def open(self, seats: tuple[SeatSpec, SeatSpec], games: int) -> None:
        """Start the view."""
        self._lines.open(seats, games)
        self._view = self._start((seats[0].name, seats[1].name), games)
        self.follow = self._view.follow

    def _start(self, names: tuple[str, str], games: int) -> LiveView:
        return LiveView(names, games)

    def begin(self, spec: GameSpec, attempt: int) -> None:
        """Show the game."""
        if self._view is not None:
            self._view.begin(spec)
        self._said.append(lambda: self._lines.begin(spec, attempt))

    def end(self, record: GameRecord, path: Path, *, is_last: bool) -> None:
        """Show the result."""
        if self._view is not None:
            self._view.end(record, is_last)
        self._said.append(lambda: self._lines.end(record, path, is_last=is_last))

    def score(self, records: Sequence[GameRecord]) -> None:
        """Print the score."""
        self.close()
        self._lines.score(records)

    def close(self) -> None:
        """End the view, and print the results."""
        if self._view is not None:
            self._view.close()
            self._view = None
        while self._said:
            self._said.pop(0)()
