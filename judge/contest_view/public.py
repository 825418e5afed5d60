"""The public part of a contest while results are withheld. All public pages, files and events use it."""

from dataclasses import replace

from judge.base.text import sentence
from judge.contest_games import GameState, PublishedGame
from judge.contest_view.view import ContestView
from judge.store.types import state_after

WITHHELD = sentence("Its result is withheld until the reveal.")


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
