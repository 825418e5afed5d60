"""File formats of finished games (`judge.catalog.entry.GameEntry.formats`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

from judge.base.errors import InputError

if TYPE_CHECKING:
    from judge.formats.steps import Stepped

MAX_FILE_BYTES = 32 << 20

HEAD_BYTES = 64 << 10

FormatGame = TypeVar("FormatGame")


def _refuse(data: bytes, source: str) -> NoReturn:  # noqa: ARG001
    raise InputError(f"{source}: this format is only written, not read")


@dataclass(frozen=True)
class FileFormat(Generic[FormatGame]):
    """Without `looks_like` and `read` it can only be written."""

    ending: str
    write: Callable[[FormatGame], bytes]
    """Raises InputError if the format cannot represent the game."""
    read: Callable[[bytes, str], Sequence[FormatGame]] = _refuse
    """Games of (data, file name). Raises InputError."""
    looks_like: Callable[[bytes], bool] = lambda _data: False
    holds_many: bool = False
    is_export: bool = False
    """Written next to each record."""

    @property
    def is_only_written(self) -> bool:
        return self.read is _refuse


@dataclass(frozen=True)
class FileFormats(Generic[FormatGame]):
    """Formats by name, the most certain first."""

    of_record: Callable[[Stepped], FormatGame]
    """Raises InputError if the record contradicts the rules."""
    by_name: Mapping[str, FileFormat[FormatGame]]
    has_result: Callable[[FormatGame], bool] = lambda _game: True
    names_of: Callable[[FormatGame], Sequence[str]] = lambda _game: ()
    guesses_encoding: Callable[[bytes], bool] = lambda _data: False

    def recognise(self, data: bytes) -> FileFormat[FormatGame] | None:
        return next((form for form in self.by_name.values() if form.looks_like(data[:HEAD_BYTES])), None)

    def read(self, data: bytes, source: str) -> Sequence[FormatGame]:
        """Raises InputError if the format is unknown."""
        if len(data) > MAX_FILE_BYTES:
            raise InputError(f"{source}: larger than {MAX_FILE_BYTES} bytes; split it")
        form = self.recognise(data)
        if form is None:
            raise InputError(f"{source}: in no format that can be read ({', '.join(self.endings())})")
        return form.read(data, source)

    def write(self, games: Sequence[FormatGame], name: str) -> bytes:
        """One file of all `games`. Raises InputError if not possible."""
        form = self.by_name[name]
        if len(games) != 1 and not form.holds_many:
            raise InputError(f"a {form.ending} file holds one game, not {len(games)}")
        return b"".join(form.write(game) for game in games)

    def changed_names(self, game: FormatGame, name: str) -> Sequence[str]:
        names, form = self.names_of(game), self.by_name[name]
        if not names or form.is_only_written:
            return ()
        (written,) = form.read(form.write(game), name)
        return [name for name in names if name not in self.names_of(written)]

    def endings(self) -> Sequence[str]:
        return list(dict.fromkeys(form.ending for form in self.by_name.values() if not form.is_only_written))
