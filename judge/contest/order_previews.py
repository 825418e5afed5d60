"""Previews of orders, which are carried out in a transaction that is rolled back."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from judge.base.text import sentence
from judge.contest.contest import Contest, find_game
from judge.contest.entries import late_entrants
from judge.contest.orders import (
    disqualify,
    end_season,
    freeze_admissions,
    games_left,
    joined_words,
    late_agents,
    late_entrant,
    newer_version,
    open_games,
    pause,
    reopen_admissions,
    replay,
    resume,
    void,
    withdraw,
    withdrawal_of,
)
from judge.contest_games import GameResult, GameState, ScheduledGame
from judge.store.orders import DoneOrder, OrganiserOrder


@dataclass(frozen=True, slots=True)
class PlaceChange:
    """Old and new place and points of an agent."""

    agent: str
    places: tuple[int, int]
    points: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of an order: one or two sentences and the changes of the table."""

    words: str
    note: str = ""
    changes: Sequence[PlaceChange] = ()


NO_PLACE_CHANGES = sentence("No place changes.")


@dataclass(frozen=True, slots=True)
class _State:
    games: Mapping[str, GameState]
    results: Sequence[GameResult]
    out: Mapping[str, str]

    @classmethod
    def of(cls, contest: Contest) -> "_State":
        games = {game.id: GameState(game.state) for game in contest.store.games(contest.name)}
        return cls(games, contest.results(), contest.out())

    def count(self, *states: GameState) -> int:
        return sum(state in states for state in self.games.values())


@dataclass(frozen=True, slots=True)
class _Trial:
    before: _State
    after: _State

    def moved(self, state: GameState) -> int:
        return sum(new is state and self.before.games[game] is not state for game, new in self.after.games.items())

    def uncounted(self) -> int:
        return len(self._counting(self.before)) - len(self._counting(self.after))

    @staticmethod
    def _counting(state: _State) -> Sequence[GameResult]:
        return [result for result in state.results if state.out.keys().isdisjoint(result.agents)]

    def changes(self, contest: Contest) -> Sequence[PlaceChange]:
        """Later rounds stay as drawn."""
        if self.uncounted() == 0:
            return ()
        pairings = contest.store.pairings(contest.name)
        tables = (
            contest.tournament.table(contest.tournament.played(pairings, state.results), state.out)
            for state in (self.before, self.after)
        )
        now, then = ({line.agent: (line.place, line.points) for line in table.lines} for table in tables)
        return [
            PlaceChange(agent, (place, then[agent][0]), (points, then[agent][1]))
            for agent, (place, points) in now.items()
            if (place, points) != then[agent]
        ]


class _RolledBack(Exception):  # noqa: N818 not an error
    """Ends a trial."""


def _try(
    contest: Contest, carry_out: Callable[[Contest, OrganiserOrder], DoneOrder], action: str, target: str = ""
) -> _Trial:
    contest.refresh()
    found: list[_Trial] = []
    with suppress(_RolledBack), contest.store.change() as store:
        inner = Contest(store, contest.planned)
        before = _State.of(inner)
        carry_out(inner, OrganiserOrder("", action, target, ""))
        found.append(_Trial(before, _State.of(inner)))
        raise _RolledBack
    return found[0]


def effect_of_pause(contest: Contest) -> Effect:
    """Preview `pause`."""
    now = _try(contest, pause, "pause").after
    running, waiting = now.count(GameState.RUNNING), now.count(GameState.PENDING)
    return Effect(
        sentence(f"Running games that will be finished: {running}. Waiting games that will not start: {waiting}."),
        NO_PLACE_CHANGES,
    )


def effect_of_resume(contest: Contest) -> Effect:
    """Preview `resume`."""
    trial = _try(contest, resume, "resume")
    waiting, held, aside = (
        trial.before.count(GameState.PENDING),
        trial.moved(GameState.PENDING),
        trial.after.count(GameState.HELD),
    )
    words = sentence(f"Waiting games that can start: {waiting}. Stopped games that are played again: {held}.")
    if not aside:
        return Effect(words, NO_PLACE_CHANGES)
    return Effect(words, sentence(f"Games that were set aside and are tried after all others: {aside}."))


def effect_of_replay(contest: Contest, word: str) -> tuple[ScheduledGame, Effect]:
    """Preview `replay`."""
    game = find_game(contest, word)
    others = _try(contest, replay, "replay", word).after.count(GameState.HELD)
    number, first, second = game.number, game.first, game.second
    words = sentence(
        f"Game {number}, {first} - {second}, is played again with the same opening and a new seed. One more void stops "
        f"it again. Other games that stay stopped: {others}."
    )
    return game, Effect(words, NO_PLACE_CHANGES)


def effect_of_void(contest: Contest, word: str) -> tuple[ScheduledGame, Effect]:
    """Preview `void`."""
    game = find_game(contest, word)
    trial = _try(contest, void, "void", word)
    number, first, second = game.number, game.first, game.second
    words = (
        sentence(f"The result of game {number}, {first} - {second}, no longer counts.")
        if game.state is GameState.DONE
        else sentence(f"The running attempt of game {number}, {first} - {second}, no longer counts.")
    )
    note = (
        sentence("The game is not played again, because an agent no longer takes part.")
        if trial.after.games[game.id] is GameState.CANCELLED
        else sentence("The game is played again with the same opening and a new seed.")
    )
    return game, Effect(words, note, trial.changes(contest))


def effect_of_disqualify(contest: Contest, agent: str) -> Effect:
    """Preview `disqualify`."""
    trial = _try(contest, disqualify, "disqualify", agent)
    newer = newer_version(contest, agent)
    note = sentence(f"Its newer version {newer} still takes part.") if newer else ""
    return Effect(_no_longer_count(agent, trial), note, trial.changes(contest))


def _no_longer_count(agent: str, trial: _Trial) -> str:
    played, cancelled = trial.uncounted(), trial.moved(GameState.CANCELLED)
    return sentence(f"Played games of {agent} that no longer count: {played}. Games that are cancelled: {cancelled}.")


def effect_of_withdraw(contest: Contest, agent: str) -> Effect:
    """Preview `withdraw`."""
    trial = _try(contest, withdraw, "withdraw-agent", agent)
    if withdrawal_of(contest.snapshot.format) == "annuls":
        note = sentence("So all other agents are compared by the same games.")
        return Effect(_no_longer_count(agent, trial), note, trial.changes(contest))
    own = {game.id for game in contest.store.games(contest.name) if agent in (game.first, game.second)}
    states = [state for game, state in trial.after.games.items() if game in own]
    played = states.count(GameState.DONE)
    waiting = sum(state in (GameState.PENDING, GameState.RUNNING, GameState.HELD) for state in states)
    if not contest.snapshot.format.has_rounds:
        words = sentence(f"Played games of {agent} that count: {played}. Open games that are finished: {waiting}.")
        return Effect(words, sentence("It is not paired any more."))
    words = sentence(f"Played games of {agent} that count: {played}. Games of this round to be played: {waiting}.")
    return Effect(words, sentence("From the next round on it is not paired."))


def effect_of_enter(contest: Contest, agent: str) -> Effect:
    """Preview `enter`."""
    contest.refresh()
    found = late_entrant(contest, agent, late_entrants(contest.planned, contest.snapshot.entries))
    if not contest.snapshot.format.has_rounds:
        return Effect(joined_words(found.name, found.parent))
    missed = max((each.round for each in contest.store.pairings(contest.name)), default=0)
    number = missed + 1
    words = sentence(f"{agent} is paired from round {number} on. Missed rounds, which give 0 points: {missed}.")
    note = sentence("It is the last seed. Its files are those that passed. Its kept folders begin empty.")
    return Effect(words, note)


def effect_of_end_season(contest: Contest) -> Effect:
    """Preview `end_season`."""
    left = games_left(contest)
    _try(contest, end_season, "end-season")
    games = open_games(contest.store, contest)
    words = sentence(f"Open games that are finished and count: {games}. Games that are not drawn any more: {left}.")
    return Effect(words, sentence("The contest is over after them, and its secret is revealed."))


def effect_of_freeze_admissions(contest: Contest) -> Effect:
    """Preview `freeze_admissions`."""
    _try(contest, freeze_admissions, "freeze-admissions")
    return Effect(sentence("Submissions are still checked. Those that pass wait until admissions are open again."))


def effect_of_reopen_admissions(contest: Contest) -> Effect:
    """Preview `reopen_admissions`."""
    _try(contest, reopen_admissions, "reopen-admissions")
    return Effect(sentence(f"Submissions that passed and join: {len(late_agents(contest))}."))
