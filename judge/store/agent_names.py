"""Names of uploaded agents, and conflicts between them."""

import re
from collections.abc import Callable, Collection
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Row, func, select

from judge.base.text import sentence
from judge.journal.events import SubmissionState
from judge.store.database import count, value_of
from judge.store.lookalikes import appearances
from judge.store.queries import Reader
from judge.store.submission_queries import RegisterReader
from judge.store.tables import entries, submissions
from judge.store.types import ENTERS, VERSIONED_CHARACTERS, EntryRow, ProcessingResult

_VERSION = re.compile(r"(.+)\.[0-9]+(?:-[0-9]+)?")


class AgentNames(RegisterReader):
    """Queries of the names that agents have."""

    def __init__(
        self, url: str, contest: str, listed_names: Callable[[], Collection[str]] = tuple, joins_later: bool = False
    ) -> None:
        """`listed_names`: of agents in the contest's file. `has_versions`: versions are named such as `five.2`."""
        super().__init__(url, contest)
        self._listed_names = listed_names
        self.joins_later = joins_later

    def _why_taken(self, connection: Connection, author: str, name: str, title: str) -> str:
        if name and self._is_listed(connection, name):
            return f"the contest's file lists an agent called {name!r}: choose another name"
        if name and self._is_anothers(connection, author, name):
            return f"an agent of another author is called {name!r} already: choose another name"
        if agent := self._version_of(connection, author, name):
            return f"{name!r} looks like a version of the agent {agent!r}: choose another name"
        taken = self._taken_names(connection, author, name)
        for shown in (name, title):
            if not taken.isdisjoint(appearances(shown)):
                return f"another agent is called {shown!r}: choose another name"
        return ""

    def _version_of(self, connection: Connection, author: str, name: str) -> str:
        found = _VERSION.fullmatch(name) if self.joins_later else None
        own = self._called(author, name).where(submissions.c.state.in_((*ENTERS, SubmissionState.WITHDRAWN)))
        if found is None or count(connection, own):
            return ""
        inner = self._inside(connection)
        names = [] if inner.has_begun() else [*self._listed_names()]
        names += [each.name for each in Reader.from_part(inner).entries(self._contest)]
        names += [each.name for each in inner.entries()]
        return next((each for each in names if each[:VERSIONED_CHARACTERS].lower() == found[1].lower()), "")

    def _taken_names(self, connection: Connection, author: str, name: str) -> frozenset[str]:
        """Of all other agents; with an empty `name`, of other authors'."""
        inner = self._inside(connection)
        shown = {*inner.names_of_others(author, name), *(() if inner.has_begun() else self._listed_names())}
        for each in inner.entries():
            if each.author != author or name.lower() not in ("", each.name.lower()):
                shown |= {each.name, each.title}
        return frozenset(chain.from_iterable(map(appearances, shown)))

    def _is_listed(self, connection: Connection, name: str) -> bool:
        if not self._inside(connection).has_begun():
            return name.casefold() in map(str.casefold, self._listed_names())
        entry = self._entry_called(connection, name)
        return entry is not None and entry.submission is None

    def _entry_called(self, connection: Connection, name: str) -> EntryRow | None:
        query = select(entries).where(entries.c.contest == self._contest, func.lower(entries.c.name) == name.lower())
        row = connection.execute(query).first()
        return None if row is None else value_of(EntryRow, row)

    def _is_anothers(self, connection: Connection, author: str, name: str) -> bool:
        query = self._all().where(
            func.lower(submissions.c.name) == name.lower(),
            submissions.c.author != author,
            submissions.c.state.in_(ENTERS),
        )
        # An agent that left a ladder keeps its name: new versions start from its rating.
        entry = self._entry_called(connection, name)
        number = None if entry is None else entry.submission
        entered = self._all().where(submissions.c.id == number, submissions.c.author != author)
        return count(connection, query) > 0 or count(connection, entered) > 0

    def _other_names(self, connection: Connection, row: Row[Any], name: str) -> list[str]:
        query = self._of(row.author).where(
            func.lower(submissions.c.name) != name.lower(), submissions.c.id != row.id, submissions.c.state.in_(ENTERS)
        )
        newest = {each.name.lower(): each for each in connection.execute(query.order_by(submissions.c.id))}
        left = self._inside(connection).left(row.author)
        return [each.name for each in newest.values() if each.id not in left]

    def _free_title(self, connection: Connection, row: Row[Any], came: ProcessingResult) -> str:
        taken = self._taken_names(connection, row.author, came.name) if came.title else ()
        return came.title if appearances(came.title).isdisjoint(taken) else ""

    def _last_title(self, connection: Connection, row: Row[Any], name: str) -> str:
        """Newest one that is still free."""
        query = self._called(row.author, name).where(submissions.c.id != row.id, submissions.c.agent.is_not(None))
        titles = [str(each.title) for each in connection.execute(query.order_by(submissions.c.id.desc()))]
        taken = self._taken_names(connection, row.author, name) if any(titles) else ()
        return next((title for title in titles if appearances(title).isdisjoint(taken)), "")

    def _notes(self, connection: Connection, row: Row[Any], came: ProcessingResult) -> str:
        notes = [self._replaces(connection, row, came.name), self._same_files(connection, row, came)]
        return "; ".join(filter(None, notes))

    def _same_files(self, connection: Connection, row: Row[Any], came: ProcessingResult) -> str:
        others = {each.lower() for each in self._other_names(connection, row, came.name)}
        same = [
            each.name
            for each in self._inside(connection).entries(row.author)
            if each.name.lower() in others and (each.upload == row.upload or each.digest == came.digest)
        ]
        if not same:
            return ""
        return sentence(
            f"you have another agent with the same files: {', '.join(same)}; if only one of them is to play, withdraw "
            f"the other; to replace {same[0]} later, submit under its name (--name {same[0]})"
        )

    def _replaces(self, connection: Connection, row: Row[Any], name: str) -> str:
        query = self._called(row.author, name).where(submissions.c.id != row.id, submissions.c.state.in_(ENTERS))
        former = connection.execute(query.order_by(submissions.c.id.desc()).limit(1)).first()
        if former is None or former.id > row.id:
            return ""
        return (
            f"it replaces version {former.version} of {name}, uploaded as {former.filename}; "
            "to enter both, upload one of them under another name (--name)"
        )
