"""A finished game in the formats of its field: the files that stand beside its record."""

from collections.abc import Callable, Mapping
from pathlib import Path

from judge.games.gomoku import Gomoku
from judge.games.stones import Stone
from judge.games.types import decided
from judge.records import qchess_log, qchess_replay, stratego_replay
from judge.records.psq import Move, write_psq
from judge.referee.spec import MatchRecord

Writer = Callable[[MatchRecord], bytes]


def psq_of(record: MatchRecord) -> bytes:
    """The `.psq` of a game of five in a row: the stones that the rules accepted, each with its time."""
    game = Gomoku.from_options(record.spec.game_options())
    times = [0] * len(game.stones)
    for ply in record.plies:
        x, _, y = ply.said.partition(",")
        if not (x.isdecimal() and y.isdecimal()):
            break
        game.apply(decided(Stone(int(x), int(y))))
        times.append(round(ply.ms))
    # An illegal stone ends the game and is not on the board: its time is left over.
    moves: list[Move] = [(x, y, ms) for (x, y, _), ms in zip(game.stones, times, strict=False)]
    names = (record.seats[0].name, record.seats[1].name)
    return write_psq(game.width, game.height, moves, names, record.verdict)


def _qchess_log(record: MatchRecord) -> bytes:
    return qchess_log.write_log(qchess_replay.log_of(record))


WRITERS: Mapping[str, Mapping[str, Writer]] = {
    "gomoku": {".psq": psq_of},
    "stratego": {".log": stratego_replay.log_of},
    "quantum-chess": {".log": _qchess_log},
}
"""For each game, what writes the file of an ending."""


def write_exports(record: MatchRecord, path: Path) -> None:
    """Write the files that this game's field reads, next to the record file `path`."""
    for ending, writer in WRITERS.get(record.spec.policy.game.name, {}).items():
        path.with_suffix(ending).write_bytes(writer(record))
