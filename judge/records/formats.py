"""Formats of finished games: each game's entry lists those of its field (`judge.catalog.entry.GameEntry.formats`)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NoReturn, TypeVar

from judge.base.errors import InputError
from judge.referee.spec import RecordFile

LARGEST_FILE = 32 << 20
"""In bytes: the games of a whole cup in one PGN file take a tenth of it."""

HEAD = 64 << 10
"""How many bytes of a file are enough to recognise its format."""

FormatGame = TypeVar("FormatGame")
"""A finished game as all formats of its field see it; each game has a type of its own."""


def _refuse(data: bytes, source: str) -> NoReturn:  # noqa: ARG001 a format that is only written
    raise InputError(f"{source}: this format is only written, not read")


def _is_unknown(data: bytes) -> bool:  # noqa: ARG001 a format that is only written
    return False


def _is_certain(data: bytes) -> bool:  # noqa: ARG001 a format of bytes, or in ASCII only
    return False


def _nameless(game: object) -> Sequence[str]:  # noqa: ARG001 a format that keeps names unchanged
    return ()


def _is_complete(game: object) -> bool:  # noqa: ARG001 most formats have no games without a result
    return True


@dataclass(frozen=True)
class FileFormat(Generic[FormatGame]):
    """One format; without `looks_like` and `read` it is only written."""

    ending: str
    write: Callable[[FormatGame], bytes]
    """A file of one game; raises InputError for a game that the format cannot hold."""
    read: Callable[[bytes, str], Sequence[FormatGame]] = _refuse
    """The games of a file; raises InputError with its name, which comes second, and the line."""
    looks_like: Callable[[bytes], bool] = _is_unknown
    """Whether the first bytes of a file are those of this format."""
    guesses_encoding: Callable[[bytes], bool] = _is_certain
    """Whether the encoding of a file that was read is a guess."""
    holds_many: bool = False
    """Whether files of one game, joined, are a file of many."""
    is_export: bool = False
    """Whether such a file is written beside each record."""


@dataclass(frozen=True)
class FileFormats(Generic[FormatGame]):
    """The formats of a game by name, in the order in which a file is tried: the surest first."""

    of_record: Callable[[RecordFile], FormatGame]
    """The game of a record; raises InputError for a record that cannot be replayed."""
    by_name: Mapping[str, FileFormat[FormatGame]]
    has_result: Callable[[FormatGame], bool] = _is_complete
    names_of: Callable[[FormatGame], Sequence[str]] = _nameless

    def recognise(self, data: bytes) -> FileFormat[FormatGame] | None:
        """The format of a file that begins with `data`; None if it is none of these."""
        return next((form for form in self.by_name.values() if form.looks_like(data[:HEAD])), None)

    def read(self, data: bytes, source: str) -> Sequence[FormatGame]:
        """The games of a file in the format that it looks like; raises InputError that names `source`."""
        if len(data) > LARGEST_FILE:
            raise InputError(f"{source}: larger than {LARGEST_FILE} bytes; split it")
        form = self.recognise(data)
        if form is None:
            raise InputError(f"{source}: in no format that can be read ({', '.join(self.endings())})")
        return form.read(data, source)

    def guesses_encoding(self, data: bytes) -> bool:
        """Whether the encoding in which a file was read is a guess."""
        form = self.recognise(data)
        return form is not None and form.guesses_encoding(data)

    def write(self, games: Sequence[FormatGame], name: str) -> bytes:
        """One file of all `games` in the format called `name`; raises InputError if it cannot hold them."""
        form = self.by_name[name]
        if len(games) != 1 and not form.holds_many:
            raise InputError(f"a {form.ending} file holds one game, not {len(games)}")
        return b"".join(form.write(game) for game in games)

    def changed_names(self, game: FormatGame, name: str) -> Sequence[str]:
        """The players' names that the format called `name` cannot hold and writes with other letters."""
        names = self.names_of(game)
        if not names:
            return ()
        form = self.by_name[name]
        (written,) = form.read(form.write(game), name)
        return [name for name in names if name not in self.names_of(written)]

    def endings(self) -> Sequence[str]:
        """The endings of the files, each once."""
        return list(dict.fromkeys(form.ending for form in self.by_name.values()))
