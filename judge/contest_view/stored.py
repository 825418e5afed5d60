"""Reads a contest from its store."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from judge.contest_games import GameResult, PublishedGame
from judge.contest_view.view import ContestView
from judge.journal.events import SeasonEnded
from judge.record.seeds import Key
from judge.store.queries import Reader, published_games
from judge.store.types import EntryRow
from judge.tournament.schedule import Tournament
from judge.tournament.snapshot import Snapshot

Part = TypeVar("Part")


def _part(read: Callable[[Reader, str], Part]) -> cached_property[Part]:
    return cached_property(lambda view: read(view._store, view._first.name))


class StoredView(ContestView):
    """Reads each part at its first use: a contest may have 100,000 games."""

    def __init__(self, store: Reader, first: Snapshot, secret: Key | None) -> None:
        """`first`: without entries after the start. `secret`: also of a running contest."""
        self._store = store
        self._first = first
        self._secret = secret

    document = _part(Reader.document)
    pairings = _part(Reader.pairings)
    results = _part(Reader.results)
    counts = _part(Reader.counts)
    journal = _part(Reader.journal)
    _gone = _part(Reader.gone_entries)

    @cached_property
    def _late(self) -> Sequence[EntryRow]:
        return self._store.entries(self._first.name)[len(self._first.entries) :]

    @cached_property
    def snapshot(self) -> Snapshot:
        return self._first.with_late(row.entry for row in self._late)

    @cached_property
    def failed(self) -> Sequence[GameResult]:
        return self._store.results(self._first.name, failed=True)

    @cached_property
    def games(self) -> Sequence[PublishedGame]:
        name = self._first.name
        return published_games(self._store.games(name), self.results, self._store.attempts(name))

    @cached_property
    def disqualified(self) -> Mapping[str, str]:
        """By rank; in the order of the decisions after `read`."""
        return {row.name: row.disqualified for row in self._gone if row.disqualified is not None}

    @cached_property
    def withdrawn(self) -> Mapping[str, str]:
        """In the same order."""
        return {row.name: row.withdrawn for row in self._gone if row.withdrawn is not None}

    @cached_property
    def out(self) -> Mapping[str, str]:
        return {row.name: row.out for row in self._gone if row.out is not None}

    @cached_property
    def entered(self) -> Mapping[str, tuple[str, str]]:
        return {row.name: (self.state.entered[row.name], row.entry) for row in self._late}

    @cached_property
    def tournament(self) -> Tournament:
        return Tournament(self.snapshot, self._secret)

    @cached_property
    def secret(self) -> Key | None:
        return self._secret if self.is_over else None

    @property
    def has_ended(self) -> bool:
        return not self.has_rounds and bool(self._store.last_lines(self._first.name, 1, SeasonEnded))

    def read(self) -> ContestView:
        """All parts. The store reads one moment."""
        state = self.state
        return ContestView(
            self.snapshot,
            self.document,
            self.pairings,
            self.games,
            state.disqualified,
            self.journal,
            self.secret,
            withdrawn=state.withdrawn,
            entered=self.entered,
        )
