"""Openings of five in a row in files: one per line, or the games of a PSQ, SGF or PGN file."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from judge.base.errors import InputError
from judge.catalog.entry import one_per_line
from judge.formats.gomoku.formats import GOMOKU_FORMATS
from judge.formats.registry import MAX_FILE_BYTES
from judge.games.gomoku.requests import square_name

GAMES = ("psq", "sgf", "pgn")
HEAD_LINES = 50


def split_openings(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The openings as squares, with the number of the line or of the game.

    A game's opening is its stones that are marked as opening, else all of its stones. Raises InputError.
    """
    every = (line.rstrip("\r\n") for line in lines)
    head = list(islice(every, HEAD_LINES))
    start = _encoded(head)
    name = next((name for name in GAMES if GOMOKU_FORMATS.by_name[name].looks_like(start)), None)
    if name is None:
        yield from one_per_line(chain(head, every))
        return
    size, read = len(start), head
    for line in every:
        read.append(line)
        size += len(line) + 1
        if size > MAX_FILE_BYTES:
            raise InputError(f"games of more than {MAX_FILE_BYTES} bytes; split the file")
    for number, game in enumerate(GOMOKU_FORMATS.by_name[name].read(_encoded(read), "games"), 1):
        stones = game.moves[: game.opening] if game.opening else game.moves
        yield number, "".join(square_name(x, y) for x, y, _ in stones)


def _encoded(lines: Iterable[str]) -> bytes:
    return "\n".join(lines).encode("utf-8", "surrogateescape")
