"""The openings of a contest. Their file is text, gzip or zstd; the game splits it."""

import gzip
import io
import sys
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from judge import DISTRIBUTION
from judge.base.durable_files import is_file, open_regular
from judge.base.errors import InputError
from judge.base.parsing import FrozenModel
from judge.base.resources import OPENINGS
from judge.base.text import printable, suggest
from judge.base.text_files import GUESS, decode_file, encoding_of
from judge.catalog import game_entry
from judge.catalog.entry import Openings
from judge.games.types import Opening
from judge.record.policy import Policy

MAX_LINE_CHARACTERS = 1 << 16
MAX_OPENINGS = 1_000_000
MAX_LINES = 10 * MAX_OPENINGS
MAX_CHARACTERS = 1 << 30
MAX_WHOLE_BYTES = 64 << 20
"""Decompressed size of a file that is not read line by line."""

_HEAD_BYTES = 4096
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_UNREAD = {
    b"\xfd7zXZ\x00": "compressed with xz: compress it with gzip",
    b"BZh": "compressed with bzip2: compress it with gzip",
    b"PK\x03\x04": "a zip archive: unpack it",
    b"\xffRenLib\xff": "a library of Renlib: save it as text, one opening per line, or as SGF",
}


SHIPPED = "judge:"
"""Prefix of judge's own files."""


class OpeningsPlan(FrozenModel):
    """The openings of all pairings, each played with both colours."""

    file: str = ""
    """Relative to this file, or judge's own, such as `judge:freestyle-20`; empty: an empty board."""
    shuffle: bool = False
    """Use a random order instead of file order."""
    transform: bool = False
    """Rotate and mirror openings when they repeat."""


def shipped_openings(policy: Policy) -> str:
    """Such as `judge:freestyle-20`, or empty."""
    game = policy.game
    name = game_entry(game.name).balanced_openings(game.options)
    return f"{SHIPPED}{name}" if name and is_file(OPENINGS / f"{name}.txt") else ""


def openings_of(path: Path, chosen: OpeningsPlan, policy: Policy) -> list[Opening]:
    """The openings `chosen` in the file `path`; may be the empty one. Raises InputError with the line."""
    if not chosen.file and not chosen.transform:
        return [()]
    game = policy.game
    written = game_entry(game.name).openings(game.options)
    if written is None:
        raise InputError(f"{path}: [openings]: {game.name} does not support opening positions; remove the table")
    if not chosen.file:
        return [()]
    try:
        file = opening_file(path.parent, chosen.file)
    except InputError as error:
        raise InputError(f"{path}: [openings] file: {error}") from None
    return read_openings(file, written)


def opening_file(folder: Path, name: str) -> Path:
    """Raises InputError for an unknown `judge:` name."""
    if not name.startswith(SHIPPED):
        return folder / name
    known = {f"{SHIPPED}{path.stem}": path for path in sorted(OPENINGS.glob("*.txt"))}
    if name not in known:
        raise InputError(f"{printable(name, 60)}: {suggest(name, known)}")
    return known[name]


def read_openings(path: Path, openings: Openings, most: int = MAX_OPENINGS) -> list[Opening]:
    """Read only the first `most` openings.

    Raises InputError with file, line, token and fix, also for a repeated opening.
    """
    openings.parse("")  # reports a wrong board size before line 1
    found: list[Opening] = []
    lines: dict[bytes, int] = {}
    with closing(_split(path, openings)) as split:
        for number, text in split:
            if len(found) == most:
                if most == MAX_OPENINGS:
                    raise InputError(f"{path} contains more than {MAX_OPENINGS} openings; split the file")
                break
            try:
                opening = openings.parse(text)
            except InputError as error:
                raise InputError(f"{path}, line {number}: {error}") from error
            first = lines.setdefault(blake2b(repr(opening).encode(), digest_size=16).digest(), number)
            if first != number:
                raise InputError(f"{path}, line {number}: the same opening as in line {first}; remove one of the two")
            found.append(opening)
    if not found:
        raise InputError(f"{path} contains no openings; write one per line, such as {openings.example}")
    return found


def _split(path: Path, openings: Openings) -> Generator[tuple[int, str]]:
    try:
        with open_regular(path) as file:
            head = file.read(_HEAD_BYTES)
            file.seek(0)
            for mark, words in _UNREAD.items():
                if head.startswith(mark):
                    raise InputError(f"{path} is {words}")
            with _decompressed(file, head, path) as stream:
                try:
                    yield from openings.split(_lines(stream, str(path)))
                except InputError as error:
                    raise error if str(error).startswith(str(path)) else InputError(f"{path}, {error}") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error


@contextmanager
def _decompressed(file: IO[bytes], head: bytes, path: Path) -> Generator[IO[bytes]]:
    name = ""
    raw: Any = None
    faults: tuple[type[Exception], ...] = ()
    if head.startswith(_GZIP):
        name, raw, faults = "gzip", gzip.GzipFile(fileobj=file), (gzip.BadGzipFile, zlib.error, EOFError)
    elif head.startswith(_ZSTD):
        zstd = _zstd(path)
        name, raw, faults = "zstd", zstd.ZstdFile(file), (zstd.ZstdError, EOFError)
    try:
        with io.BufferedReader(raw) if raw else file as stream:
            yield stream
    except faults as error:
        raise InputError(f"{path} is a damaged {name} file: {error}; compress it again") from None


def _zstd(path: Path) -> Any:
    """The library limits a file's window to 128 MiB."""
    try:
        return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    except ImportError:
        raise InputError(
            f"{path} is compressed with zstd: pip install '{DISTRIBUTION}[zstd]', or compress it with gzip"
        ) from None


def _lines(stream: IO[bytes], source: str) -> Iterator[str]:
    head = stream.read(_HEAD_BYTES)
    if encoding_of(head).codec not in ("utf-8", GUESS):
        data = head + stream.read(MAX_WHOLE_BYTES)
        if len(data) > MAX_WHOLE_BYTES:
            raise InputError(f"{source} has more than {MAX_WHOLE_BYTES} bytes; save it as UTF-8 or split it")
        yield from decode_file(data, source).split("\n")
        return
    stream.seek(0)
    with io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape") as text:
        number = size = 0
        while line := text.readline(MAX_LINE_CHARACTERS + 1):
            number, size = number + 1, size + len(line)
            if number > MAX_LINES or size > MAX_CHARACTERS:
                raise InputError(
                    f"{source}, line {number}: more than {MAX_LINES} lines or {MAX_CHARACTERS} characters; "
                    "split the file"
                )
            if len(line) > MAX_LINE_CHARACTERS:
                raise InputError(f"{source}, line {number}: longer than {MAX_LINE_CHARACTERS} characters; shorten it")
            yield _without_surrogates(line, source, number)


def _without_surrogates(line: str, source: str, number: int) -> str:
    try:
        line.encode()
    except UnicodeEncodeError:
        data = line.encode("utf-8", "surrogateescape")
        try:
            return data.decode(GUESS)
        except UnicodeDecodeError as error:
            raise InputError(
                f"{source}, line {number}: byte 0x{data[error.start]:02x} is invalid in {GUESS}; save the file as UTF-8"
            ) from None
    return line
