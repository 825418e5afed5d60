"""What every command of a contest begins with: its file, its store, and the contest if it has begun."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from judge.contest.contest import Contest, has_begun, open_store
from judge.contest.plan import load_plan
from judge.errors import InputError


@contextmanager
def opened(path: Path) -> Iterator[Contest]:
    """The contest of a file. Raises InputError if it has not begun."""
    planned = load_plan(path)
    if not planned.has_no_store:
        with closing(open_store(planned)) as store:
            if has_begun(store, planned):
                yield Contest(store, planned)
                return
    raise InputError(f"the contest {planned.name!r} has not begun; judge contest run {planned.path} begins it")


def manager_names() -> list[str]:
    """The names of the managers, for the shell and for help."""
    from judge.catalog.managers import contest_managers

    return sorted(contest_managers())
