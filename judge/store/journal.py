"""Writes the journal of a contest: a line in the transaction of what it tells, and the leaf of the log with it."""

from datetime import UTC, datetime

from sqlalchemy import Connection, insert, select

from judge.store.tables import journal


def now() -> str:
    """The time, UTC, as the tables have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def tell(
    connection: Connection,
    contest: str,
    event: str,
    text: str,
    match: str | None = None,
    attempt: int | None = None,
    digest: str | None = None,
    who: str | None = None,
) -> int | None:
    """Add a line; the number of its leaf. The contest's row is locked (`announced_row`).

    None if the contest was begun by a judge without logs: a log that lacks the beginning would prove nothing.
    """
    lines = select(journal.c.number).where(journal.c.contest == contest).order_by(journal.c.id.desc())
    last = connection.execute(lines.limit(1)).first()
    number = 0 if last is None else None if last.number is None else last.number + 1
    connection.execute(
        insert(journal).values(
            contest=contest,
            at=now(),
            event=event,
            match=match,
            attempt=attempt,
            text=text,
            number=number,
            digest=digest,
            who=who,
        )
    )
    return number
