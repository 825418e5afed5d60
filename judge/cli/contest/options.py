"""Opening of a contest's file and store, for all commands of `judge contest`."""

from contextlib import AbstractContextManager
from pathlib import Path

from judge.api.contests import ContestFolder, contest
from judge.contest.contest import Contest
from judge.contest.plan import Planned


def opened(path: Path) -> AbstractContextManager[Contest]:
    """Context manager: the contest of a file. Raises InputError if it has not begun."""
    return contest(path).opened()


def opened_if_begun(planned: Planned) -> AbstractContextManager[Contest | None]:
    """Context manager: the planned contest; None if it has not begun."""
    return ContestFolder(planned).opened_if_begun()


def manager_names() -> list[str]:
    """The names of the managers, for shell completion and help."""
    from judge.catalog.files import contest_managers

    return sorted(contest_managers())
