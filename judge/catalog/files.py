"""Files of finished games: records, game formats, exports next to records; and a game's steps.

If a replay fails, the steps end there and `problem` has the reason.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.base.durable_files import read_bounded, write_durably
from judge.base.errors import InputError, naming
from judge.base.text_files import GUESS, reencode
from judge.catalog import GAMES
from judge.catalog.entry import GameEntry
from judge.formats.registry import FileFormats
from judge.formats.steps import Stepped, replay_steps
from judge.record.bounds import MAX_RECORD_BYTES
from judge.record.spec import RecordFile, parse_record

MAX_TEXT_BYTES = 64 << 20
_HEAD_BYTES = 4096

MAX_FILES = 5000
_RECORD = ".json"


@dataclass(frozen=True, slots=True)
class FileContent:
    """`games` are in the representation of `formats`."""

    entry: GameEntry
    formats: FileFormats[Any]
    games: Sequence[Any]
    note: str = ""


def read_games(path: Path, encoding: str = "") -> FileContent:
    """The games of a record, or of a file in a format recognised by its content.

    `encoding` is for files that do not declare one. Raises InputError with file and line.
    """
    data = read_bytes(path)
    if encoding and not is_record(data):
        data = reencode(data, encoding, str(path))
    if is_record(data):
        file = parse_record(data, path)
        with naming(path):
            entry = GAMES.entry(file.record.spec.policy.game.name)
            formats = entry.formats()
            if formats is None:
                raise InputError(f"games of {entry.name} are in records only")
            return FileContent(entry, formats, (formats.of_record(steps_of(file)),))
    found = recognise(data)
    if found is None:
        endings = [f"{', '.join(formats.endings())} ({entry.name})" for entry, formats in _with_formats()]
        raise InputError(f"{path}: neither a record (.json) nor a game in a known format: {'; '.join(endings)}")
    entry, formats = found
    note = f"{path}: read as {GUESS}, because it names no encoding and is not UTF-8; if names are wrong, use --encoding"
    return FileContent(entry, formats, formats.read(data, str(path)), note if formats.guesses_encoding(data) else "")


def recognise(data: bytes) -> tuple[GameEntry, FileFormats[Any]] | None:
    """The first game with a format that matches; games that fail to load are skipped."""
    return next((found for found in _with_formats() if found[1].recognise(data) is not None), None)


def format_names() -> list[str]:
    """Formats of all installed games."""
    return list(dict.fromkeys(name for _, formats in _with_formats() for name in formats.by_name))


def is_record(data: bytes) -> bool:
    """A file that begins with `data` can only be a record."""
    return data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


def read_bytes(path: Path) -> bytes:
    """Raises InputError with the file's name."""
    data = read_bounded(path, MAX_RECORD_BYTES, links=True)
    if len(data) > MAX_TEXT_BYTES and not is_record(data[:_HEAD_BYTES]):
        raise InputError(f"{path}: larger than the limit of {MAX_TEXT_BYTES} bytes for files of games; split it")
    return data


def write_exports(file: RecordFile, path: Path) -> None:
    """Write each exported format next to the record `path`. Raises OSError."""
    formats = GAMES.entry(file.record.spec.policy.game.name).formats()
    exported = [form for form in formats.by_name.values() if form.is_export] if formats else []
    if formats and exported:
        game = formats.of_record(steps_of(file))
        for form in exported:
            write_durably(path.with_suffix(form.ending), form.write(game))


def _with_formats() -> list[tuple[GameEntry, FileFormats[Any]]]:
    found = [(entry, entry.formats()) for entry in GAMES.working()]
    return [(entry, formats) for entry, formats in found if formats is not None]


def game_files(paths: Sequence[Path]) -> list[Path]:
    """Replace folders by their records and logs without a record.

    Raises InputError for an unreadable folder, a folder without games, or too many files.
    """
    files: list[Path] = []
    for path in paths:
        files += _in_folder(path) if path.is_dir() else [path]
        if len(files) > MAX_FILES:
            raise InputError(f"{path}: more than {MAX_FILES} games; name fewer files")
    return files


def _in_folder(folder: Path) -> list[Path]:
    try:
        inside = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}") from None
    records = [path for path in inside if path.suffix == _RECORD]
    known = {path.stem for path in records}
    endings = {ending for _, formats in _with_formats() for ending in formats.endings()}
    logs = [path for path in inside if path.suffix in endings and path.stem not in known]
    if not records and not logs:
        raise InputError(f"{folder}: has no records (*.json) and no game logs")
    return sorted([*records, *logs])


def read_steps(path: Path) -> Stepped:
    """Steps of a record or a game file. Raises InputError."""
    data = read_bytes(path)
    if is_record(data):
        file = parse_record(data, path)
        with naming(path):
            return steps_of(file)
    return _entry_of_log(data, path).read_log(data, str(path))


def replayed_log(data: bytes, path: Path) -> str:
    """Rules and result of a log that has its random events. Raises InputError with the line, or for another file."""
    replayed = _entry_of_log(data, path).replay_log(data, str(path))
    if replayed is None:
        raise InputError(f"{path}: this format has no evidence to verify; name the game's record (.json)")
    return replayed


def _entry_of_log(data: bytes, path: Path) -> GameEntry:
    found = recognise(data)
    if found is None:
        games = ", ".join(GAMES.names())
        raise InputError(f"{path}: neither a record nor a log of an installed game ({games})")
    return found[0]


def steps_of(file: RecordFile) -> Stepped:
    """The steps of a record. Raises InputError if the transcript is broken."""
    return replay_steps(file, GAMES.entry(file.record.spec.policy.game.name).view)
