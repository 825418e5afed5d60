"""Opening of a contest's file and store, for all commands of `judge contest`."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from judge.contest.contest import Contest, has_begun, open_store
from judge.contest.plan import Planned, load_plan


@contextmanager
def opened(path: Path) -> Iterator[Contest]:
    """Yield the contest of a file. Raises InputError if it has not begun."""
    planned = load_plan(path)
    with opened_if_begun(planned) as contest:
        if contest is None:
            raise planned.not_begun()
        yield contest


@contextmanager
def opened_if_begun(planned: Planned) -> Iterator[Contest | None]:
    """Yield the planned contest; None if it has not begun."""
    if planned.has_no_store:
        yield None
        return
    with closing(open_store(planned)) as store:
        yield Contest(store, planned) if has_begun(store, planned) else None


def manager_names() -> list[str]:
    """Return the names of the managers, for shell completion and help."""
    from judge.catalog.files import contest_managers

    return sorted(contest_managers())
