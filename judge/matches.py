"""A match from its pairing to its result, as the rules of contests and their store share it: plain values."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from judge.games.types import Verdict
from judge.records.outcome import match_scores


class MatchState(StrEnum):
    """Where a match of a schedule is."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    HELD = "held"
    """Void too often: the organiser decides."""
    CANCELLED = "cancelled"
    """Never to be played: one of its agents is disqualified."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two agents who meet in a round. `first` has seat 0 in the first match; `second` None is a bye for `first`.

    `round` and `table` count from 1 and name the pairing; `meeting` counts from 0 how often the two have met before;
    `group` is the group or the league they meet in, empty if the format has none.
    """

    first: str
    second: str | None
    round: int
    table: int
    meeting: int = 0
    group: str = ""

    @property
    def agents(self) -> frozenset[str]:
        """Both agents, or the only one of a bye."""
        return frozenset({self.first} if self.second is None else {self.first, self.second})


@dataclass(frozen=True, slots=True)
class Match:
    """A match of the schedule: its number there, its round, its table in the round, all from 1; `game` counts the
    matches of its pairing from 0. `first` has seat 0, `second` seat 1. `spec` is the JSON of its MatchSpec.

    `attempt` is the number of its last attempt, 0 before the first; `why` says what happened to it last.
    """

    id: str
    number: int
    round: int
    table: int
    game: int
    first: str
    second: str
    spec: str
    state: str = MatchState.PENDING
    """A `MatchState`; any text if it was read from an export."""
    attempt: int = 0
    why: str = ""


def schedule_digest(matches: Iterable[Match]) -> str:
    """SHA-256 of what a schedule says of some matches, in JSON."""
    rows = [[each.number, each.id, each.round, each.table, each.game, each.first, each.second] for each in matches]
    return hashlib.sha256(json.dumps(rows, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class SeatOutcome:
    """What one seat did: the word for which it lost, if it was at fault, its answers, and the time charged to it."""

    fault: str | None
    replies: int
    charged_ms: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended, with the digest of its record, which is on disk before this is used."""

    verdict: str
    winner: int | None
    """A seat."""
    result: str
    """The field's own result line, by whose words some contests score."""
    reason: str
    record: str
    seconds: float
    seats: tuple[SeatOutcome, SeatOutcome]
    public: str | None = None
    """The digest of the record's public part, which everybody may see; None if nobody computed it."""

    def row(self, match: Match, attempt: int) -> "ResultRow":
        """The result of a match, if this attempt counts."""
        first, second = self.seats
        return result_row(
            (
                *(match.first, match.second, self.winner, self.verdict, self.reason, self.result),
                *(first.fault, second.fault, first.replies, second.replies, first.charged_ms, second.charged_ms),
                *(match.round, match.table, match.game),
                *(match.id, match.number, attempt, self.record, self.seconds),
            )
        )


class ResultRow(NamedTuple):
    """The one result of a match. `first` sat in seat 0, `winner` is one of the two, or None for a draw or when both are
    at fault.

    Pairs are in the order of seats: the word for which each lost, how often it answered, and the time charged to it in
    milliseconds. `result` is the line of the field's own manager, `record` the digest of the record, `match` the id.

    A plain tuple, because a contest may have a hundred thousand.
    """

    first: str
    second: str
    winner: str | None
    verdict: Verdict
    reason: str = ""
    result: str = ""
    faults: tuple[Verdict | None, Verdict | None] = (None, None)
    replies: tuple[int, int] = (0, 0)
    charged_ms: tuple[float, float] = (0.0, 0.0)
    round: int = 1
    table: int = 1
    game: int = 0
    match: str = ""
    number: int = 0
    attempt: int = 0
    record: str = ""
    seconds: float = 0.0

    @property
    def agents(self) -> tuple[str, str]:
        """In order of seats."""
        return self.first, self.second

    @property
    def winning_seat(self) -> int | None:
        """The seat of the winner; None if there is none."""
        return None if self.winner is None else int(self.winner != self.first)

    @property
    def is_draw(self) -> bool:
        """Nobody won and nobody is at fault."""
        return self.verdict is Verdict.DRAW

    @property
    def scores(self) -> tuple[float, float]:
        """1 for a win, a half for a draw, 0 for a loss; 0 for both if both are at fault."""
        return match_scores(self.verdict, self.winning_seat)


# Looked up: an enum's own way from a word to its member takes ten times as long, three times a match.
_VERDICTS: Mapping[str, Verdict] = {verdict.value: verdict for verdict in Verdict}
_FAULTS: Mapping[str | None, Verdict | None] = {None: None} | dict(_VERDICTS)


def result_row(columns: Sequence[Any]) -> ResultRow:
    """The result of a row of the store: its columns are the fields in their order, pairs as two, the winner a seat."""
    first, second, winner, verdict, reason, result, fault_0, fault_1, replies_0, replies_1, *rest = columns
    charged_ms_0, charged_ms_1, *rest = rest
    return ResultRow(
        first,
        second,
        None if winner is None else second if winner else first,
        _VERDICTS[verdict],
        reason,
        result,
        (_FAULTS[fault_0], _FAULTS[fault_1]),
        (replies_0, replies_1),
        (charged_ms_0, charged_ms_1),
        *rest,
    )


@dataclass(frozen=True, slots=True)
class GameConditions:
    """Where and when a game was played. `slot` are its cores, `host` its machine (empty if the record has none).

    `began` is in seconds of any clock that all games share, `seconds` for how long it lasted, `hour` that of the day.
    """

    host: str
    slot: str
    began: float
    seconds: float
    hour: str
