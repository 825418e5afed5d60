"""The managers whose contests the installed games know, by name."""

from collections.abc import Mapping

from judge.base.errors import InputError
from judge.base.text import suggest
from judge.catalog import GAMES
from judge.records.managers import ContestManager


def contest_managers() -> Mapping[str, ContestManager]:
    """The managers of all games that can be loaded; of two with one name that of the first game counts."""
    found: dict[str, ContestManager] = {}
    for entry in GAMES.working():
        for name, manager in entry.managers().items():
            found.setdefault(name, manager)
    return found


def contest_manager(name: str) -> ContestManager:
    """The manager called `name`; InputError if there is none."""
    known = contest_managers()
    if name not in known:
        raise InputError(f"no manager of contests is called {name!r}; {suggest(name, known)}")
    return known[name]
