"""A roster whose events a test reads."""

from judge.cluster.roster import Roster
from judge.journal.events import WorkerEvent
from judge.store.contests import Store


class NotedRoster(Roster):
    """Keeps its events."""

    def __init__(self) -> None:
        super().__init__(Store("sqlite:///:memory:"), "cup")
        self.events: list[WorkerEvent] = []

    def add(self, event: WorkerEvent) -> None:
        self.events.append(event)
