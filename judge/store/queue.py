"""Durable queues: table rows that wait until they are due, and are due again after a failure.

    waiting --take--> running --finish--> a final state
       ^                 |
       |                 |-- release: due again, not counted as a failure
       |                 |-- give_back: its judge was lost; due again, not counted as a failure
       '----- fail ------'-- too many failures in a row: given up

Only a row's current attempt changes it.
"""

from datetime import timedelta
from typing import Any, Generic

from sqlalchemy import ColumnElement, Connection, Row, Select, Table, select, update

from judge.store.database import ContestDatabase, Value, stamp, value_of

MAX_WAIT_S = 86_400.0
"""Also for moments by a clock that was ahead."""

MAX_LOSSES = 8
"""Lost judges per row. Each loss but the first doubles the pause, so the last judges ran hours apart by default."""


class Queue(ContestDatabase, Generic[Value]):
    """A contest's rows in a table with queue columns. `waiting` equals `running` if rows are not taken."""

    table: Table
    kind: type[Value]
    waiting: str
    running: str
    retried: str
    given_up: str
    backoff: int
    """Factor of the wait after each failure in a row."""
    lost: str

    def fail(self, number: Any, attempt: int | None, why: str, allowed: int, again_s: float = 0) -> Value:
        """Fail the current attempt: due after `again_s`, longer after each failure in a row, given up after `allowed`.
        `attempt` is None where rows are not taken.
        """
        with self._writing() as connection:
            row = self._current(connection, number, attempt)
            if row is not None:
                failures = row.failures + 1
                is_last = failures >= allowed
                due_at = None if is_last else self._in(again_s * self.backoff**row.failures)
                state = self.given_up if is_last else self.retried
                self._change(connection, row, state, why, failures=failures, due_at=due_at)
            return self._value(connection, number)

    def release(self, number: Any, attempt: int, why: str, again_s: float | None = None) -> Value:
        """End the current attempt without a failure: due at once or after `again_s` seconds."""
        with self._writing() as connection:
            row = self._current(connection, number, attempt)
            if row is not None:
                due_at = None if again_s is None else self._in(again_s)
                self._change(connection, row, self.waiting, why, due_at=due_at)
            return self._value(connection, number)

    def running_attempts(self) -> list[tuple[int, int, str]]:
        """Row numbers, attempts and workers.

        The worker may be this process: a commit that seemed to fail can take a row.
        """
        rows = self._rows(self._all().where(self.table.c.state == self.running))
        return [(row.id, row.attempt, row.worker) for row in rows]

    def give_back(self, number: int, attempt: int, again_s: float) -> bool:
        """End an attempt after the loss of its judge, without a failure; False if it is not current.

        It is due at once, after the next loss in `again_s` seconds, then later each time, and given up after
        `MAX_LOSSES`: the row may be the cause.
        """
        with self._writing() as connection:
            row = self._current(connection, number, attempt)
            if row is not None:
                losses = row.losses + 1
                state, why, wait_s = self.waiting, self.lost, again_s * 2 ** (losses - 2) if losses > 1 else 0.0
                if losses > MAX_LOSSES:
                    state, why = self.given_up, f"{self.lost} in each of {losses} attempts"
                due_at = self._in(wait_s) if state == self.waiting and wait_s else None
                self._change(connection, row, state, why, losses=losses, due_at=due_at)
            return row is not None

    def _all(self) -> Select[Any]:
        return select(self.table).where(self.table.c.contest == self._contest)

    def _is_due(self) -> ColumnElement[bool]:
        state, due_at = self.table.c.state, self.table.c.due_at
        is_new = (state == self.waiting) & due_at.is_(None)
        is_due = (due_at <= self._stamp()) | (due_at > self._in(MAX_WAIT_S))
        return is_new | (state.in_((self.waiting, self.retried)) & is_due)

    def _is_recent(self, moment: ColumnElement[Any], seconds: float) -> ColumnElement[bool]:
        """False for a moment after now, of a clock that was ahead."""
        return (moment > self._in(-seconds)) & (moment <= self._stamp())

    def _take(self, connection: Connection, row: Row[Any], worker: str, why: str = "") -> Value:
        self._change(connection, row, self.running, why, attempt=row.attempt + 1, worker=worker, due_at=None)
        return self._value(connection, row.id)

    def _current(self, connection: Connection, number: Any, attempt: int | None) -> Row[Any] | None:
        query = self._all().where(self.table.c.id == number, self.table.c.state == self.running)
        if attempt is not None:
            query = query.where(self.table.c.attempt == attempt)
        return connection.execute(query.with_for_update()).first()

    def _change(self, connection: Connection, row: Row[Any], state: str, why: str, **values: Any) -> None:
        values |= {"state": state, "why": why}
        connection.execute(update(self.table).where(self.table.c.id == row.id).values(values))

    def _row(self, connection: Connection, number: Any) -> Row[Any]:
        return connection.execute(self._all().where(self.table.c.id == number)).one()

    def _value(self, connection: Connection, number: Any) -> Value:
        return value_of(self.kind, self._row(connection, number))

    def _in(self, seconds: float) -> str:
        return stamp(self._now() + timedelta(seconds=min(MAX_WAIT_S, seconds)))
