"""Start of a contest: announcement, locked entries, creation."""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import asdict

from sqlalchemy import insert, update

from judge.base.errors import InputError
from judge.journal.events import Announced, Created, LockedIn
from judge.store.queries import Reader, announced_row
from judge.store.submission_queries import RegisterReader
from judge.store.tables import contests, entries
from judge.store.types import ANNOUNCED, EntryRow, SubmissionsChangedError

SentEntry = tuple[int, str, str | None]
"""Number, display name and files of a submission that is an entry."""


class ContestStart(Reader):
    """Transactions before a contest's first game."""

    def announce(self, name: str, secret: str | None, commitment: str | None, event: Announced) -> None:
        """Start a contest's log with the commitment to its secret, unless it has one.

        Secret and commitment are None with a fixed seed.
        """
        with self._writing() as connection:
            if announced_row(connection, name, locked=True) is not None:
                return
            values = {"document": "", "created_at": self._stamp(), "state": ANNOUNCED, "secret": secret}
            connection.execute(insert(contests).values(name=name, **values))
            self._tell(connection, name, event, digest=commitment)

    def announced_secret(self, name: str) -> str | None:
        """None if the contest is not announced or its seed is fixed."""
        with self._reading() as connection:
            row = announced_row(connection, name)
        return None if row is None else row.secret

    def freeze(self, name: str, digest: str, sent: Collection[SentEntry]) -> int:
        """Lock in the entries before the draw; return the leaf count. `sent`: those that were submitted.

        Raises InputError if another digest is locked in: the organiser could choose the draw. Raises
        SubmissionsChangedError if other submissions are entries now.
        """
        with self._writing() as connection:
            if announced_row(connection, name, locked=True) is None:
                raise InputError(f"contest {name!r} was not announced")
            for line in self._inside(connection).last_lines(name, 1, LockedIn):
                if line.digest != digest:
                    raise InputError(
                        f"other entries of {name!r} are locked in ({line.at}); "
                        "restore those entries, or begin a contest with another name"
                    )
                return (line.number or 0) + 1
            register = RegisterReader.for_contest(self._inside(connection), name)
            if {(each.id, each.title, each.digest) for each in register.first_entries()} != {*sent}:
                raise SubmissionsChangedError(
                    f"the submissions of {name!r} changed while its entries were locked in; begin it again"
                )
            return self._tell(connection, name, LockedIn(), digest=digest) + 1

    def create(
        self,
        name: str,
        document: str,
        entered: Sequence[EntryRow],
        secret: str | None = None,
        withheld_from: int | None = None,
    ) -> None:
        """Create a contest with its final entries. Raises InputError if the name exists.

        `secret`: if the document has only its commitment. `withheld_from`: the first round whose results are withheld.
        """
        values: dict[str, object] = {"document": document, "created_at": self._stamp(), "state": "open"}
        values |= {"secret": secret, "withheld_from": withheld_from}
        with self._writing() as connection:
            announced = announced_row(connection, name, locked=True)
            if announced is None:
                connection.execute(insert(contests).values(name=name, **values))
            elif announced.state == ANNOUNCED:
                connection.execute(update(contests).where(contests.c.name == name).values(**values))
            else:
                raise InputError(f"contest {name!r} exists already; continue it, or choose another name")
            for entry in entered:
                connection.execute(insert(entries).values(contest=name, **asdict(entry)))
            digest = hashlib.sha256(f"{document}\n".encode()).hexdigest()
            self._tell(connection, name, Created(len(entered)), digest=digest)
