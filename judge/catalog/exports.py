"""A finished game in the formats of its field: the files that stand beside its record."""

from pathlib import Path

from judge.catalog import game_entry
from judge.durable import write_durably
from judge.referee.spec import RecordFile


def write_exports(file: RecordFile, path: Path) -> None:
    """Write the files that this game's field reads, next to the record file `path`; raises OSError."""
    entry = game_entry(file.record.spec.policy.game.name)
    for ending, data in entry.exports(file).items():
        write_durably(path.with_suffix(ending), data)
