"""What the player of a contest tells the service, in a file in the contest's folder."""

from pathlib import Path

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.base.parsing import FailFastTuple, FrozenModel, parse_foreign
from judge.contest.folder_names import PLAYER_DIRECTORY
from judge.submissions.service import IntakeDirectory

MAX_STATUS_BYTES = 1 << 20


class PlayerStatus(FrozenModel):
    """`waiting`: submissions that wait for a slot. `problems`: stalled parts."""

    waiting: FailFastTuple[int] = ()
    problems: FailFastTuple[str] = ()


def player_status(directory: IntakeDirectory) -> PlayerStatus:
    """What the player of a contest wrote last."""
    path = status_file(directory)
    if not path.exists():
        return PlayerStatus()
    try:
        return parse_foreign(PlayerStatus, read_bounded(path, MAX_STATUS_BYTES), str(path))
    except InputError:
        return PlayerStatus(problems=("the status of the process that plays is unreadable",))


def status_file(directory: IntakeDirectory) -> Path:
    """The file with a `PlayerStatus`."""
    return directory.folder / PLAYER_DIRECTORY / "status.json"
