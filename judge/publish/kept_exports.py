"""The exports in a contest's folder."""

from pathlib import Path

from judge.contest.file_names import EXPORTS
from judge.journal.events import Accepted, Annulled, Disqualified, Entered, Revealed, SeasonEnded, Withdrawn
from judge.journal.state import JournalLine
from judge.publish.manifest import MANIFEST
from judge.store.queries import Reader

RESULT_EVENTS = (Accepted, Annulled, Disqualified, Entered, Revealed, SeasonEnded, Withdrawn)
"""After each of them an export has other results."""


def last_change(store: Reader, contest: str) -> JournalLine | None:
    """The last event that changed the results of a contest."""
    lines = store.last_lines(contest, 1, *RESULT_EVENTS)
    return lines[0] if lines else None


def kept_exports(folder: Path) -> list[tuple[int, Path]]:
    """The public parts of the complete exports, newest first, each after its time in nanoseconds."""
    found = [
        (path.stat().st_mtime_ns, path.parent)
        for path in (folder / EXPORTS).glob(f"*/public/{MANIFEST}")
        if not (path.parent.is_symlink() or path.parent.parent.is_symlink())
    ]
    return sorted(found, reverse=True)
