"""What every command of a contest begins with: its file, its store, and the contest if it has begun."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from judge.contest.contest import Contest, has_begun, open_store
from judge.contest.plan import Planned, load_plan


@contextmanager
def opened(path: Path) -> Iterator[Contest]:
    """The contest of a file. Raises InputError if it has not begun."""
    planned = load_plan(path)
    with opened_if_begun(planned) as contest:
        if contest is None:
            raise planned.not_begun()
        yield contest


@contextmanager
def opened_if_begun(planned: Planned) -> Iterator[Contest | None]:
    """The contest that is planned; None if it has not begun."""
    if planned.has_no_store:
        yield None
        return
    with closing(open_store(planned)) as store:
        yield Contest(store, planned) if has_begun(store, planned) else None


def manager_names() -> list[str]:
    """The names of the managers, for the shell and for help."""
    from judge.catalog.files import contest_managers

    return sorted(contest_managers())
