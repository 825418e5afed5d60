"""Reads a contest from its store.

While results are withheld, all public pages, files and events use its `public_view`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from judge.base.text import sentence
from judge.contest_games import GameResult, GameState, PublishedGame
from judge.contest_view.view import ContestView
from judge.journal.events import SeasonEnded
from judge.journal.state import state_after
from judge.record.seeds import Key
from judge.store.queries import Reader, published_games
from judge.store.types import EntryRow
from judge.tournament.schedule import Tournament
from judge.tournament.snapshot import Snapshot

Part = TypeVar("Part")

WITHHELD = sentence("Its result is withheld until the reveal.")


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

    def _results_of(self, agents: Collection[str]) -> Sequence[GameResult]:
        return self._store.results_of(self._first.name, agents)

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


def public_view(view: ContestView) -> ContestView:
    """The contest without withheld results, games and entries; the same view if nothing is withheld.

    It follows from the public lines of the journal alone. `view` has the lines of a store.
    """
    first = view.state.withheld_from
    if first is None:
        return view
    journal = [line for line in view.journal if not line.is_withheld(first)]
    state = state_after(journal)
    scheduled = sorted(view.games, key=lambda game: game.number)[: state.scheduled]
    last = max((game.round for game in scheduled), default=0)
    late = view.entered.keys() - state.entered.keys()
    entries = tuple(entry for entry in view.snapshot.entries if entry.name not in late)
    gone = view.out.keys() - state.disqualified.keys() - state.withdrawn.keys()

    def shown(game: PublishedGame) -> PublishedGame:
        if game.round >= first:
            return replace(game, state=GameState.PENDING, attempt=0, why=WITHHELD, result=None, uncounted=())
        is_cancelled = game.state == GameState.CANCELLED and not gone.isdisjoint(game.agents)
        return replace(game, state=GameState.PENDING, why="") if is_cancelled else game

    return replace(
        view,
        snapshot=view.snapshot.model_copy(update={"entries": entries}),
        pairings=[pairing for pairing in view.pairings if pairing.round <= last],
        games=[shown(game) for game in scheduled],
        disqualified=state.disqualified,
        journal=journal,
        secret=None,
        withdrawn=state.withdrawn,
        entered={agent: entry for agent, entry in view.entered.items() if agent not in late},
    )
