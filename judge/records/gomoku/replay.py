"""Replays a five-in-a-row record from its transcript."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from judge.games.gomoku import Gomoku
from judge.games.gomoku.options import GomokuOptions
from judge.games.types import Verdict
from judge.records.gomoku.record import WINNERS, FiveRecord, Outcome
from judge.records.replays import replay_record
from judge.records.steps import Stepped
from judge.referee.make_record import winner_of
from judge.referee.side import Ply
from judge.referee.spec import GameRecord, RecordFile


class LaidPly(NamedTuple):
    """`stones` are the indices of those that it placed."""

    ply: Ply
    stones: range


def replay_gomoku(file: RecordFile) -> tuple[Gomoku, Sequence[LaidPly]]:
    """As `judge.records.replays.replay_record`."""
    laid_before: list[int] = []
    game, plies = replay_record(file, Gomoku, "five in a row", lambda game: laid_before.append(len(game.stones)))
    spans = pairwise([*laid_before, len(game.stones)])
    return game, [LaidPly(each.ply, range(*span)) for each, span in zip(plies, spans, strict=True)]


def five_of(file: RecordFile) -> FiveRecord:
    """Raises as `replay_gomoku`. An answer's first stone has its time in whole milliseconds."""
    game, plies = replay_gomoku(file)
    record = file.record
    times = [0] * len(game.stones)
    for ply, stones in plies:
        for stone in stones[:1]:
            times[stone] = round(ply.charged_ns / 1e6)
    black, white = record.seats[game.black], record.seats[1 - game.black]
    outcome, verdict = _ended(game, record)
    return FiveRecord(
        width=game.width,
        height=game.height,
        moves=tuple((x, y, ms) for (x, y, _), ms in zip(game.stones, times, strict=True)),
        opening=plies[0].stones.start if plies else len(game.stones),
        rule=game.rule.value,
        names=(black.name, white.name),
        outcome=outcome,
        verdict=verdict.value,
        event=record.spec.policy.name,
        round=str(record.spec.number + 1),
        date=_day(record.started_at),
    )


def five_of_steps(record: GameRecord, replay: Stepped) -> FiveRecord:
    """A record without times."""
    view = replay.steps[-1].view
    black, white = (replay.names[seat] for seat in view.seats)
    outcome: Outcome = ""
    if record.verdict is not Verdict.VOID:
        outcome = "draw" if record.winner is None else WINNERS[record.winner ^ view.seats[0]]
    return FiveRecord(
        width=len(view.columns),
        height=len(view.rows),
        moves=tuple((x, y, 0) for x, y in view.tokens),
        opening=len(replay.steps[0].view.tokens),
        rule=GomokuOptions.of(record.spec.game_options()).rule.value,
        names=(black, white),
        outcome=outcome,
        verdict=record.verdict.value,
        event=record.spec.policy.name,
        round=str(record.spec.number + 1),
        date=_day(record.started_at),
    )


def _ended(game: Gomoku, record: GameRecord) -> tuple[Outcome, Verdict]:
    if game.end is None or record.verdict is Verdict.VOID:
        return "", Verdict.VOID
    winner = winner_of(game.end)
    return "draw" if winner is None else WINNERS[winner ^ game.black], game.end.verdict


def _day(started_at: str) -> str:
    try:
        return datetime.fromisoformat(started_at).date().isoformat()
    except ValueError:
        return ""
