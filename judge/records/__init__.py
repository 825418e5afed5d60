"""A finished game in the formats of its field, beside its record."""

from pathlib import Path

from judge.games.gomoku import Gomoku
from judge.games.stones import Stone
from judge.games.types import decided
from judge.records.psq import Move, write_psq
from judge.referee.spec import MatchRecord


def write_exports(record: MatchRecord, path: Path) -> None:
    """Write the files that this game's field reads, next to the record file `path`."""
    if record.spec.policy.game.name == "gomoku":
        path.with_suffix(".psq").write_bytes(psq_of(record))


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
