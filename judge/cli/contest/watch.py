"""`judge contest watch`: show a running contest from the `events.ndjson` in its folder, without affecting the games."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli.options import HERE, ContestArgument

if TYPE_CHECKING:
    from judge.broadcast.events import AnyEvent
    from judge.contest.contest import Contest
    from judge.contest_view.ladder import LadderAgent
    from judge.submissions.windows import Windows

POLL_INTERVAL_S = 0.1

BEGIN_LOOK_S = 1.0

RATE_SHARE = 0.1
"""Share of time for reading the ratings of a ladder."""

LATE_S = 10.0
"""Maximum wait for missing events after the end: a killed judge leaves the log incomplete."""

EXAMPLES = """
judge contest watch cup
judge contest watch cup --game 3
judge contest watch cup | grep table

On a terminal it shows all running games, or the board of one; otherwise it prints one line per event, from the first
event. Before the start it prints the start time and waits. It ends when the contest or the game is over; Ctrl-C ends
it at any time. Data that agents may not know during a game is hidden; judge match shows everything.
"""


def watch(
    contest: ContestArgument = HERE,
    game: Annotated[int, typer.Option(min=0, help="Show the board of this game; 0: all running games.")] = 0,
) -> None:
    """Show the running games of a contest, its standings and its last results, from the live page's events."""
    from judge.api.contests import contest as contest_of
    from judge.terminal.contest_screen import line_of

    with suppress(KeyboardInterrupt):
        _await_begin(contest)
        with contest_of(contest).opened() as found, closing(Followed(found, game)) as followed:
            if sys.stdout.isatty():
                _on_screen(followed)
            else:
                for event in followed.events():
                    if line := line_of(event, followed.live):
                        print(line, flush=True)


def _await_begin(path: Path) -> None:
    from judge.cli.contest.tables import print_status_before
    from judge.contest.contest import opened_if_begun
    from judge.contest.plan import load_plan
    from judge.contest.status import status_before

    shown: Windows | None = None
    while True:
        planned = load_plan(path)
        with opened_if_begun(planned) as found:
            if found is not None:
                return
        if planned.plan.windows != shown:
            print_status_before(status_before(planned), planned.plan.title)
            sys.stdout.flush()
            shown = planned.plan.windows
        time.sleep(BEGIN_LOOK_S)


class Followed:
    """The events of a contest from the first until the contest, or one of its games, is over."""

    def __init__(self, contest: Contest, game: int = 0) -> None:
        from judge.broadcast.log import LOG_FILE, LogReader
        from judge.broadcast.state import Live
        from judge.contest_view.ladder import LadderRatings

        self.contest, self.game = contest, game
        self.live = Live()
        self._reader = LogReader(contest.planned.folder / LOG_FILE)
        self._asked: int | None = None
        self._is_over = False
        self._has_ended = False
        self._grown_at = time.monotonic()
        self._ladder = LadderRatings()
        self._rated: Mapping[str, LadderAgent] = {}
        self._rated_games = -1
        self._rate_at = 0.0

    def ratings(self) -> Mapping[str, Sequence[str]]:
        """Cells of a ladder's agents by name; empty for other formats."""
        from judge.terminal.contest_tables import ladder_cells

        games, began = sum(line.games for line in self.live.table), time.monotonic()
        is_ladder = not self.contest.snapshot.format.has_rounds
        if is_ladder and games != self._rated_games and began >= self._rate_at:
            self._rated = replace(self.contest.read(), ladder_ratings=self._ladder).ladder
            self._rated_games = games
            self._rate_at = began + (time.monotonic() - began) / RATE_SHARE
        now = None if self._is_over else datetime.now(UTC)
        return {agent: ladder_cells(found, now) for agent, found in self._rated.items()}

    def news(self) -> Iterator[AnyEvent]:
        """Yield new events; all from the first if the log was recreated. Damaged lines are skipped."""
        from judge.broadcast.events import Ended, GameStarted
        from judge.broadcast.state import Live

        if self._reader.is_replaced():
            self._reader.restart()
            self.live = Live()
        while (lines := self._reader.news()) is not None:
            self._grown_at = time.monotonic()
            for line in lines:
                event = line.event
                self.live.apply(event)
                number = getattr(event, "game", 0)
                if number and number == self.game:
                    self._has_ended = isinstance(event, Ended) or (
                        self._has_ended and not isinstance(event, GameStarted)
                    )
                if not self.game or number in (0, self.game):
                    yield event

    def events(self) -> Iterator[AnyEvent]:
        """Yield all events as they arrive, until the end."""
        while True:
            is_over = self.is_over()
            yield from self.news()
            if is_over:
                return
            time.sleep(POLL_INTERVAL_S)

    def is_over(self) -> bool:
        """Whether no more events will come. Call it before reading the last events: the store has a result before the
        log.
        """
        live = self.live
        if self._has_ended:
            return True
        if not live.games and self._asked != live.version:
            self._asked, self._is_over = live.version, self.contest.view().is_over
        is_told = not (live.games or live.waiting or live.is_table_due)
        return self._is_over and (is_told or time.monotonic() - self._grown_at > LATE_S)

    def close(self) -> None:
        self._reader.close()


def _on_screen(followed: Followed) -> None:
    from rich.console import Console
    from rich.live import Live as Terminal

    from judge.terminal.contest_screen import game_screen, overview

    console = Console(highlight=False)
    with Terminal(console=console, screen=True, auto_refresh=False) as terminal:
        goes_on = True
        while goes_on:
            goes_on = not followed.is_over()
            for _ in followed.news():
                pass
            live, now_ms = followed.live, time.time() * 1000
            shown = (
                game_screen(live, followed.game, now_ms)
                if followed.game
                else overview(live, now_ms, followed.ratings())
            )
            terminal.update(shown, refresh=True)
            if goes_on:
                time.sleep(POLL_INTERVAL_S)
    console.print(shown, height=min(console.height - 2, 30))
