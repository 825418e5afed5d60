"""A judge that is killed at its N-th change of the disk while it commits a game.

python -m tests.submissions.killed STORE RECORD N OWNER OWNER < a record file as JSON
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from judge.agents.kept_folders import FolderStore, GameShelf
from judge.record.spec import RecordFile
from judge.sandbox.archive import pack_folder


def deadly(change: Callable[..., Any], countdown: list[int]) -> Callable[..., Any]:
    """A change of the disk that is not made any more when the count is down."""

    def do(*arguments: Any, **options: Any) -> Any:
        countdown[0] -= 1
        if countdown[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return change(*arguments, **options)

    return do


def commit(store: FolderStore, record: Path, kill_at: int, owners: tuple[str, str]) -> None:
    """Put two new states, write the record that names them, move the heads."""
    file = RecordFile.model_validate_json(sys.stdin.read())
    countdown = [kill_at]
    for name in ("replace", "unlink", "mkdir"):
        setattr(Path, name, deadly(getattr(Path, name), countdown))
    with store.lock_owners(owners):
        for seat in (0, 1):
            GameShelf(store, owners).put(seat, pack_folder({b"of": b"seat %d" % seat}))
        store.commit(file, record, dict(enumerate(owners)))
    sys.stdout.write(f"{kill_at - countdown[0]} changes\n")


if __name__ == "__main__":
    commit(
        FolderStore(Path(sys.argv[1])),
        Path(sys.argv[2]),
        int(sys.argv[3]),
        (sys.argv[4], sys.argv[5]),
    )
