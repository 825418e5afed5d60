"""The formats of games of five in a row, in one table: what reads and writes each, and how its files are known."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from judge.errors import InputError
from judge.records.gomoku.pgn import looks_like_pgn, read_pgn, write_pgn
from judge.records.gomoku.psq import looks_like_psq, read_psq, write_psq, write_psq_gomocupjudge
from judge.records.gomoku.rec import looks_like_rec, read_rec, write_rec
from judge.records.gomoku.record import FiveRecord
from judge.records.gomoku.sgf import looks_like_sgf, read_sgf, write_sgf
from judge.records.replay import five_of
from judge.referee.spec import read_record

LARGEST_FILE = 32 << 20
"""Bytes: a cup's games in one PGN file have a tenth of that."""

HEAD = 64 << 10
"""How many bytes of a file tell what it is."""


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format of records.

    `read(data, source)` gives the games of a file, InputError naming `source` and the line;
    `looks_like` tells its files by their first bytes. Where a file `holds_many`, games written one
    after the other are a file of them all.
    """

    ending: str
    holds_many: bool
    looks_like: Callable[[bytes], bool]
    read: Callable[[bytes, str], Sequence[FiveRecord]]
    write: Callable[[FiveRecord], bytes]


def _read_psq(data: bytes, source: str) -> Sequence[FiveRecord]:
    return (read_psq(data, source),)


def _read_rec(data: bytes, source: str) -> Sequence[FiveRecord]:
    return (read_rec(data, source),)


FORMATS: Mapping[str, FileFormat] = {
    "psq": FileFormat(".psq", False, looks_like_psq, _read_psq, write_psq),
    "psq-gomocupjudge": FileFormat(".psq", False, looks_like_psq, _read_psq, write_psq_gomocupjudge),
    "sgf": FileFormat(".sgf", True, looks_like_sgf, read_sgf, write_sgf),
    "pgn": FileFormat(".pgn", True, looks_like_pgn, read_pgn, write_pgn),
    "rec": FileFormat(".rec", False, looks_like_rec, _read_rec, write_rec),
}
"""By name, in the order in which a file is tried: two names before a stone prove less than a header."""


def is_five(data: bytes) -> bool:
    """Whether a file that begins with `data` looks like a game of five in a row in one of the formats."""
    return any(form.looks_like(data[:HEAD]) for form in FORMATS.values())


def read_games(path: Path) -> Sequence[FiveRecord]:
    """The games of a file in any of the formats or of a judge record, told apart by content.

    InputError names the file, and the line where it has lines.
    """
    data = _read_bytes(path)
    if data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return (_read_record(path),)
    return read_data(data, str(path))


def read_data(data: bytes, source: str) -> Sequence[FiveRecord]:
    """The games of a file in any of the formats, told apart by content; InputError names `source`."""
    if len(data) > LARGEST_FILE:
        raise InputError(f"{source}: larger than {LARGEST_FILE} bytes; split it")
    for form in FORMATS.values():
        if form.looks_like(data[:HEAD]):
            return form.read(data, source)
    names = ", ".join(dict.fromkeys(form.ending for form in FORMATS.values()))
    raise InputError(f"{source}: no game of five in a row; it may be {names} or a judge's .json")


def write_games(records: Sequence[FiveRecord], name: str) -> bytes:
    """One file of all `records` in the format called `name`; InputError where it has no room for them."""
    form = FORMATS[name]
    if len(records) != 1 and not form.holds_many:
        raise InputError(f"a {form.ending} file holds one game, not {len(records)}")
    return b"".join(form.write(record) for record in records)


def _read_bytes(path: Path) -> bytes:
    """The file, or so much of it that it is seen to be too large; a record may be larger than any game."""
    try:
        with path.open("rb") as stream:
            return stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


def _read_record(path: Path) -> FiveRecord:
    file = read_record(path)
    try:
        return five_of(file)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
