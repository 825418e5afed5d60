"""The formats of games of five in a row: Piskvork's and Gomocup's, SGF, PGN and Renlib's text."""

from collections.abc import Callable, Sequence

from judge.records.formats import FileFormat, FileFormats
from judge.records.gomoku.pgn import looks_like_pgn, read_pgn, write_pgn
from judge.records.gomoku.psq import looks_like_psq, read_psq, write_psq, write_psq_gomocupjudge
from judge.records.gomoku.rec import looks_like_rec, read_rec, write_rec
from judge.records.gomoku.record import FiveRecord
from judge.records.gomoku.replay import five_of
from judge.records.gomoku.sgf import looks_like_sgf, read_sgf, sgf_encoding, write_sgf
from judge.records.text_files import encoding_of


def _read_one(read: Callable[[bytes, str], FiveRecord]) -> Callable[[bytes, str], Sequence[FiveRecord]]:
    return lambda data, source: (read(data, source),)


def _is_guess(data: bytes) -> bool:
    return encoding_of(data).is_guess


# Two names before a stone prove less than a header.
GOMOKU_FORMATS = FileFormats(
    five_of,
    {
        "psq": FileFormat(
            ".psq", write_psq, _read_one(read_psq), looks_like_psq, guesses_encoding=_is_guess, is_export=True
        ),
        "psq-gomocupjudge": FileFormat(
            ".psq", write_psq_gomocupjudge, _read_one(read_psq), looks_like_psq, guesses_encoding=_is_guess
        ),
        "sgf": FileFormat(
            ".sgf",
            write_sgf,
            read_sgf,
            looks_like_sgf,
            guesses_encoding=lambda data: sgf_encoding(data, "").is_guess,
            holds_many=True,
        ),
        "pgn": FileFormat(".pgn", write_pgn, read_pgn, looks_like_pgn, guesses_encoding=_is_guess, holds_many=True),
        "rec": FileFormat(".rec", write_rec, _read_one(read_rec), looks_like_rec, guesses_encoding=_is_guess),
    },
    has_result=lambda game: bool(game.outcome),
    names_of=lambda game: game.names or (),
)
