"""A ladder's ratings after each game."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge.contest_games import GameResult, GameState, Pairing, PublishedGame
from judge.statistics.scales import ELO

if TYPE_CHECKING:
    from judge.store.types import JournalLine
    from judge.tournament.snapshot import Snapshot, SnapshotEntry

TREND_GAMES = 20

OPEN = (GameState.PENDING, GameState.RUNNING, GameState.HELD)

_Attempt = tuple[str | None, int | None]


@dataclass(frozen=True, slots=True)
class RatedGame:
    """An agent's rating after a game. `order` counts the ladder's results, from 1. `reach`: half of the interval."""

    game: PublishedGame
    order: int
    at: str
    elo: float
    reach: float


@dataclass(frozen=True, slots=True)
class LadderAgent:
    """An agent with the matchmaker's rating; `start`: before its first game. `deviation`: 0 for an anchor."""

    agent: str
    elo: float
    deviation: float
    reach: float
    start: float
    history: Sequence[RatedGame]
    open_games: Sequence[PublishedGame]

    @property
    def trend(self) -> float | None:
        """Change over the last `TREND_GAMES` games; None for an anchor or without games."""
        if not self.history or not self.deviation:
            return None
        return self.elo - (self.history[-TREND_GAMES - 1].elo if len(self.history) > TREND_GAMES else self.start)


@dataclass(frozen=True, slots=True)
class LadderLog:
    """A ladder so far. `late`: agents entered after the start."""

    snapshot: Snapshot
    late: Collection[str]
    journal: Sequence[JournalLine]
    pairings: Sequence[Pairing]
    games: Sequence[PublishedGame]


class LadderRatings:
    """Follows a ladder: later calls read only new lines."""

    def __init__(self) -> None:
        self._pass: _Pass | None = None

    def agents(self, log: LadderLog) -> Mapping[str, LadderAgent]:
        """The agents by name. Withdrawn results are left out from the start."""
        left_out = _withdrawn(log.journal)
        if self._pass is None or not self._pass.precedes(log, left_out):
            self._pass = _Pass(log)
        return self._pass.follow(log, left_out)


class _Pass:
    def __init__(self, log: LadderLog) -> None:
        # NumPy takes long to import.
        from judge.tournament.ladder import LadderHistory

        self._read: list[JournalLine] = []
        self._left_out: frozenset[_Attempt] = frozenset()
        self._take(log)
        at_start = tuple(entry for entry in log.snapshot.entries if entry.name not in log.late)
        first = log.snapshot.model_copy(update={"entries": at_start})
        self._history = LadderHistory(first, 0, self._result_of, self._entry_of)
        self._points: dict[str, list[RatedGame]] = {}
        self._starts: dict[str, float] = {}
        self._order = 0
        for entry in at_start:
            self._begin(entry.name)

    def precedes(self, log: LadderLog, left_out: frozenset[_Attempt]) -> bool:
        read = len(self._read)
        counted = {(line.game, line.attempt) for line in self._read if line.event == "accepted"} - self._left_out
        is_same = not read or (read <= len(log.journal) and self._read[-1] == log.journal[read - 1])
        return is_same and not left_out & counted

    def follow(self, log: LadderLog, left_out: frozenset[_Attempt]) -> Mapping[str, LadderAgent]:
        from judge.tournament.ladder import follow

        self._take(log)
        self._left_out = left_out
        for line in log.journal[len(self._read) :]:
            if line.event in ("accepted", "annulled") and (line.game, line.attempt) in left_out:
                continue
            follow(self._history, [line], log.pairings, log.games)
            if line.event == "entered":
                self._begin(line.text.partition(": ")[0])
            elif line.event == "accepted":
                self._count(line)
        self._read = list(log.journal)
        unfinished: dict[str, list[PublishedGame]] = {}
        for game in log.games:
            if game.state in OPEN:
                for agent in (game.first, game.second):
                    unfinished.setdefault(agent, []).append(game)
        found = {}
        for agent, start in self._starts.items():
            rating = self._history.ratings.rating(agent)
            points, games = tuple(self._points[agent]), tuple(unfinished.get(agent, ()))
            reach = self._reach(agent)
            found[agent] = LadderAgent(agent, rating.elo, rating.deviation, reach, start, points, games)
        return found

    def _take(self, log: LadderLog) -> None:
        self._entries = log.snapshot.by_name()
        self._games = {game.id: game for game in log.games}

    def _begin(self, agent: str) -> None:
        self._starts[agent] = self._history.ratings.rating(agent).elo
        self._points[agent] = []

    def _count(self, line: JournalLine) -> None:
        self._order += 1
        game = self._games[line.game or ""]
        for agent in (game.first, game.second):
            elo = self._history.ratings.rating(agent).elo
            self._points[agent].append(RatedGame(game, self._order, line.at, elo, self._reach(agent)))

    def _reach(self, agent: str) -> float:
        import numpy as np

        from judge.statistics.certainty import any_time_reach

        ratings = self._history.ratings
        if not ratings.rating(agent).deviation:
            return 0.0
        return float(any_time_reach(np.array((ratings.relative_deviation(agent) / ELO) ** 2))) * ELO

    def _entry_of(self, agent: str) -> SnapshotEntry:
        return self._entries[agent]

    def _result_of(self, game: str, attempt: int) -> GameResult:
        result = self._games[game].result
        if result is None or result.attempt != attempt:
            raise ValueError(f"game {self._games[game].number}: attempt {attempt} has no result")
        return result


def _withdrawn(journal: Sequence[JournalLine]) -> frozenset[_Attempt]:
    accepted = {(line.game, line.attempt) for line in journal if line.event == "accepted"}
    return frozenset(
        (line.game, line.attempt)
        for line in journal
        if line.event == "annulled" and (line.game, line.attempt) in accepted
    )
