"""Writes an examination's conversations and games to a directory."""

from pathlib import Path

from judge.base.durable_files import write_durably
from judge.base.errors import InputError
from judge.base.text import file_word
from judge.catalog.files import write_exports
from judge.submissions.check.runner import RecordedTalk


class TalkFolder:
    """Numbered files: `02-begin.txt` has the lines of a conversation, `09-game-first-mine-house.json` is a record."""

    def __init__(self, folder: Path) -> None:
        """Create the folder. Raises InputError."""
        self._folder = folder
        self._count = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"--keep {folder}: {error.strerror}") from None

    def keep(self, talk: RecordedTalk, check: str) -> None:
        """Write a conversation and a game's record. Raises InputError."""
        self._count += 1
        names = "-".join(file_word(seat.name) for seat in talk.record.seats)
        path = self._folder / f"{self._count:02}-{check}-{names}"
        try:
            write_durably(path.with_name(f"{path.name}.txt"), ("\n".join(talk.dialogue) + "\n").encode())
            if talk.question is None:
                record = path.with_name(f"{path.name}.json")
                write_durably(record, talk.file.to_json())
                write_exports(talk.file, record)
        except OSError as error:
            raise InputError(f"--keep {self._folder}: {error.strerror}") from None
