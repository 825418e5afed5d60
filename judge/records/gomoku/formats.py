"""The formats of games of five in a row: Piskvork's and Gomocup's, SGF, PGN and Renlib's text."""

from collections.abc import Callable, Sequence

from judge.records.formats import FileFormat, FileFormats
from judge.records.gomoku.pgn import looks_like_pgn, read_pgn, write_pgn
from judge.records.gomoku.psq import looks_like_psq, read_psq, write_psq, write_psq_gomocupjudge
from judge.records.gomoku.rec import looks_like_rec, read_rec, write_rec
from judge.records.gomoku.record import FiveRecord
from judge.records.gomoku.replay import five_of
from judge.records.gomoku.sgf import looks_like_sgf, read_sgf, write_sgf


def _read_one(read: Callable[[bytes, str], FiveRecord]) -> Callable[[bytes, str], Sequence[FiveRecord]]:
    return lambda data, source: (read(data, source),)


# Two names before a stone prove less than a header.
GOMOKU_FORMATS = FileFormats(
    five_of,
    {
        "psq": FileFormat(".psq", write_psq, _read_one(read_psq), looks_like_psq, is_export=True),
        "psq-gomocupjudge": FileFormat(".psq", write_psq_gomocupjudge, _read_one(read_psq), looks_like_psq),
        "sgf": FileFormat(".sgf", write_sgf, read_sgf, looks_like_sgf, holds_many=True),
        "pgn": FileFormat(".pgn", write_pgn, read_pgn, looks_like_pgn, holds_many=True),
        "rec": FileFormat(".rec", write_rec, _read_one(read_rec), looks_like_rec),
    },
    has_result=lambda game: bool(game.outcome),
)
