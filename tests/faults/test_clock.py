"""Somebody sets the host's clock in the middle of a game: nothing changes, for no deadline is of that clock."""

import ast
from collections.abc import Iterator
from pathlib import Path

JUDGE = Path(__file__).parents[2] / "judge"

ROOMS = (
    *("games", "protocols", "sandbox", "host", "record", "referee", "play"),
    *("tournament", "contest", "cluster", "publish"),
)
"""Where a game is played."""

WALL = {"time", "time_ns", "now", "today", "utcnow", "localtime", "gmtime", "ctime", "CLOCK_REALTIME"}
"""What a module's `time` or a `datetime` has of the clock that can be set."""

ALLOWED = {
    "cluster/checkers.py: now": "whether a worker's date in a record would contradict the log, in hours",
    "cluster/machine.py: time": "how old files are that have arrived in part, in days",
    "cluster/security.py: now": "from when to when a host's certificate holds",
    "contest/take_snapshot.py: now": "the date in the document of a contest",
    "contest/runner.py: now": "whether the moment has passed from which results are withheld",
    "contest/event_log/recorder.py: time": "the moments in the log of events",
    "contest/resolved_format.py: now": "whether the season of a ladder is over before it begins",
    "contest/backup.py: now": "the date in the manifest of a backup, which nothing is decided by",
    "contest/plan.py: now": "whether a contest may begin, by the moments of its file",
    "contest/window_keeper.py: now": "which moments of a contest are shown as coming",
    "contest/status.py: now": "whether the time of a start has passed, for a sentence of the status",
    "play/game.py: now": "the date in a record, which the verifier compares with the log, in days",
    "sandbox/docker/reaper.py: time": "how old rubbish of unknown owners is, in hours",
    "sandbox/docker/container_box.py: time": "until when the Engine is asked for its events; only others can make one",
}
"""Where the clock on the wall may be read, and for what."""


def readings(path: Path) -> Iterator[str]:
    """The readings of the wall's clock in a module, as `ALLOWED` names them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and node.attr in WALL:
            if ast.unparse(node.value) in ("time", "datetime", "date"):
                yield f"{path.relative_to(JUDGE)}: {node.attr}"
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            for alias in node.names:
                if alias.name in WALL:
                    yield f"{path.relative_to(JUDGE)}: {alias.name}"


def test_the_clock_on_the_wall_decides_nothing() -> None:
    modules = [path for room in ROOMS for path in sorted((JUDGE / room).rglob("*.py"))]
    assert set(ALLOWED) == {reading for path in modules for reading in readings(path)}
