"""A ladder's ratings after each game, and their file for live pages.

Damaged files, and those of other code, are ignored.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from judge.base.durable_files import read_bounded, write_durably
from judge.base.errors import InputError
from judge.base.logs import get_logger
from judge.contest_games import OPEN_STATES, GameResult, Pairing, PublishedGame
from judge.journal.codec import Event
from judge.journal.events import Accepted, Annulled, Entered
from judge.statistics.scales import ELO

if TYPE_CHECKING:
    import numpy as np

    from judge.journal.state import JournalLine
    from judge.tournament.snapshot import Snapshot

    Arrays = Mapping[str, np.ndarray[Any, Any]]

RATINGS_FILE = "ladder.ratings"
MAX_FILE_BYTES = 1 << 28
_MAGIC = b"judge-ladder-ratings-1\n"
_CODE = ("judge.contest_view.ladder", "judge.statistics.online_ratings", "judge.statistics.portable_math")

TREND_GAMES = 20

SAVED_RESULTS = 500
"""Results between stored states."""

_Attempt = tuple[str | None, int | None]
Rated = tuple[float, float]
"""Rating and half of the interval."""


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
    """Follows a ladder: later calls read only new lines. Threads share it, each with its own view of the contest."""

    def __init__(self, file: Path | None = None) -> None:
        """`file`: a stored state."""
        self._file = file
        self._pass: _Pass | None = None
        self._lock = Lock()

    def agents(self, log: LadderLog) -> Mapping[str, LadderAgent]:
        """The agents by name. Withdrawn results are left out from the start."""
        left_out = _withdrawn(log.journal)
        with self._lock:
            if self._pass is None and self._file is not None and (found := load_state(self._file)) is not None:
                with suppress(ValueError, LookupError, TypeError, AttributeError):
                    self._pass = _Pass(log, found, left_out)
            if self._pass is None or not self._pass.precedes(log, left_out):
                self._pass = _Pass(log)
            return self._pass.follow(log, left_out, self._file)


class _Pass:
    def __init__(
        self,
        log: LadderLog,
        stored: tuple[Mapping[str, Any], Mapping[str, Any]] | None = None,
        left_out: frozenset[_Attempt] = frozenset(),
    ) -> None:
        """Raises ValueError or LookupError for the state of another log."""
        # NumPy takes long to import.
        from judge.tournament.ladder import LadderHistory

        self._read: list[JournalLine] = []
        self._hash = hashlib.sha256()
        self._counted: list[tuple[int, float, float, float, float]] = []
        """Line, and both agents' ratings and reaches."""
        self._saved = 0
        self._take(log)
        at_start = tuple(entry for entry in log.snapshot.entries if entry.name not in log.late)
        first = log.snapshot.model_copy(update={"entries": at_start})
        self._history = LadderHistory(
            first, 0, self._result_of, lambda agent: self._entries[agent], has_stored_ratings=stored is not None
        )
        self._points: dict[str, list[RatedGame]] = {}
        self._starts: dict[str, float] = {}
        for entry in at_start:
            self._begin(entry.name)
        if stored is not None:
            self._restore(log, left_out, *stored)

    def _restore(
        self, log: LadderLog, left_out: frozenset[_Attempt], header: Mapping[str, Any], arrays: Mapping[str, Any]
    ) -> None:
        from judge.statistics.online_ratings import OnlineRatings, Prior
        from judge.tournament.ladder import follow

        lines = log.journal[: header["lines"]]
        for line in lines:
            self._hash.update(line.leaf)
        if self._digest(log) != header["digest"]:
            raise ValueError("the state is of another log")
        for line in lines:
            if not _is_left_out(line.change, left_out):
                follow(self._history, [line.change], log.pairings, log.games)
        ratings = OnlineRatings.restored(header["agents"], arrays)
        self._history.restore(ratings, {agent: Prior(*each) for agent, each in header["priors"].items()})
        self._starts = {agent: header["starts"][agent] for agent in header["agents"]}
        self._points = {agent: [] for agent in header["agents"]}
        for at, *values in arrays["counted"].tolist():
            self._add(lines[int(at)], int(at), (values[0], values[1]), (values[2], values[3]))
        self._saved = len(self._counted)
        self._read = list(lines)
        if not self.precedes(log, left_out):
            raise ValueError("a result was withdrawn since")

    def _digest(self, log: LadderLog) -> str:
        found = self._hash.copy()
        found.update(log.snapshot.model_dump_json(exclude={"entries"}).encode())
        return found.hexdigest()

    def _save(self, file: Path, log: LadderLog) -> None:
        import numpy as np

        history = self._history
        self._saved = len(self._counted)
        header = {
            "lines": len(self._read),
            "digest": self._digest(log),
            "agents": history.ratings.agents,
            "starts": self._starts,
            "priors": {agent: (each.mean, each.deviation) for agent, each in history.priors.items()},
        }
        counted = np.array(self._counted, dtype=np.float64).reshape(-1, 5)
        save_state(file, header, {**history.ratings.saved(), "counted": counted})

    def precedes(self, log: LadderLog, left_out: frozenset[_Attempt]) -> bool:
        read = len(self._read)
        is_same = not read or (read <= len(log.journal) and self._read[-1] == log.journal[read - 1])
        return is_same and not any(_is_left_out(self._read[at].change, left_out) for at, *_ in self._counted)

    def follow(self, log: LadderLog, left_out: frozenset[_Attempt], file: Path | None) -> Mapping[str, LadderAgent]:
        """The agents after the log; states are stored in `file`."""
        from judge.statistics.certainty import any_time_reach
        from judge.tournament.ladder import follow

        self._take(log)
        for at, line in enumerate(log.journal[len(self._read) :], len(self._read)):
            self._read.append(line)
            self._hash.update(line.leaf)
            if _is_left_out(line.change, left_out):
                continue
            follow(self._history, [line.change], log.pairings, log.games)
            match line.change:
                case Entered(agent):
                    self._begin(agent)
                case Accepted():
                    self._count(line, at)
                    if file is not None and len(self._counted) >= self._saved + SAVED_RESULTS:
                        self._save(file, log)
        ratings = self._history.ratings
        all_reaches: list[float] = (any_time_reach((ratings.relative_deviations() / ELO) ** 2) * ELO).tolist()
        reaches = dict(zip(ratings.agents, all_reaches, strict=True))
        unfinished: dict[str, list[PublishedGame]] = {}
        for game in log.games:
            if game.state in OPEN_STATES:
                for agent in game.agents:
                    unfinished.setdefault(agent, []).append(game)
        found = {}
        for agent, start in self._starts.items():
            rating = ratings.rating(agent)
            points, games = tuple(self._points[agent]), tuple(unfinished.get(agent, ()))
            reach = reaches[agent] if rating.deviation else 0.0
            found[agent] = LadderAgent(agent, rating.elo, rating.deviation, reach, start, points, games)
        return found

    def _take(self, log: LadderLog) -> None:
        self._entries = log.snapshot.by_name()
        self._games = {game.id: game for game in log.games}

    def _begin(self, agent: str) -> None:
        self._starts[agent] = self._history.ratings.rating(agent).elo
        self._points[agent] = []

    def _count(self, line: JournalLine, at: int) -> None:
        first, second = self._games[line.game or ""].agents
        self._add(line, at, self._rated(first), self._rated(second))

    def _rated(self, agent: str) -> Rated:
        return self._history.ratings.rating(agent).elo, self._reach(agent)

    def _add(self, line: JournalLine, at: int, first: Rated, second: Rated) -> None:
        self._counted.append((at, *first, *second))
        order, game = len(self._counted), self._games[line.game or ""]
        self._points[game.first].append(RatedGame(game, order, line.at, *first))
        self._points[game.second].append(RatedGame(game, order, line.at, *second))

    def _reach(self, agent: str) -> float:
        import numpy as np

        from judge.statistics.certainty import any_time_reach

        ratings = self._history.ratings
        if not ratings.rating(agent).deviation:
            return 0.0
        return float(any_time_reach(np.array((ratings.relative_deviation(agent) / ELO) ** 2))) * ELO

    def _result_of(self, game: str, attempt: int) -> GameResult:
        result = self._games[game].result
        if result is None or result.attempt != attempt:
            raise ValueError(f"game {self._games[game].number}: attempt {attempt} has no result")
        return result


def _withdrawn(journal: Sequence[JournalLine]) -> frozenset[_Attempt]:
    accepted, annulled = (
        frozenset((line.game, line.attempt) for line in journal if isinstance(line.change, kind))
        for kind in (Accepted, Annulled)
    )
    return accepted & annulled


def _is_left_out(event: Event, left_out: frozenset[_Attempt]) -> bool:
    return isinstance(event, Accepted | Annulled) and (event.game, event.attempt) in left_out


# --- the file ---------------------------------------------------------------------------------------------------------


def save_state(path: Path, header: Mapping[str, Any], arrays: Arrays) -> None:
    """Write the file. Logs errors."""
    import numpy as np

    buffer = io.BytesIO()
    text = np.frombuffer(json.dumps({**header, "code": _code()}).encode(), dtype=np.uint8)
    np.savez(buffer, allow_pickle=False, **{**arrays, "header": text})
    data = buffer.getvalue()
    if len(data) > MAX_FILE_BYTES:
        return
    try:
        write_durably(path, _MAGIC + hashlib.sha256(data).digest() + data)
    except OSError as error:
        get_logger().warning("the ratings of the ladder cannot be stored", why=str(error))


def load_state(path: Path) -> tuple[Mapping[str, Any], Arrays] | None:
    """Read the file; None without a valid one."""
    import numpy as np

    start = len(_MAGIC) + 32
    with suppress(OSError, InputError, ValueError, KeyError, EOFError):
        data = read_bounded(path, MAX_FILE_BYTES + start)
        if data[:start] != _MAGIC + hashlib.sha256(data[start:]).digest():
            return None
        with np.load(io.BytesIO(data[start:]), allow_pickle=False) as found:
            arrays = dict(found)
        header = json.loads(arrays.pop("header").tobytes())
        return (header, arrays) if header["code"] == _code() else None
    return None


@cache
def _code() -> str:
    found = hashlib.sha256()
    for name in _CODE:
        found.update(Path(str(import_module(name).__file__)).read_bytes())
    return found.hexdigest()
