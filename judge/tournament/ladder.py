"""Chooses a ladder's pairs from the events of its log (docs/decisions/0013-matchmaking-of-ladders.md)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

from judge.contest_games import GameResult, Pairing, ScheduledGame
from judge.journal.codec import Event
from judge.journal.events import Abandoned, Accepted, Annulled, Disqualified, Entered, Scheduled, Voided, Withdrawn
from judge.journal.state import ContestState
from judge.record.seeds import Seed
from judge.statistics.online_ratings import OnlineRatings, Prior
from judge.tournament.formats.ladder import Ladder
from judge.tournament.matchmaker import LadderGames, next_pair
from judge.tournament.snapshot import Snapshot, SnapshotEntry, start_rating


class _NoRatings(OnlineRatings):
    """Computes nothing."""

    def version_prior(self, parent: str, widening: float) -> Prior:  # noqa: ARG002
        return Prior()

    def add_result(self, result: GameResult) -> None:
        pass

    def count_result(self, result: GameResult) -> None:
        pass

    def refit(self) -> None:
        pass


class LadderHistory:
    """Agents, games and ratings after the lines of the log so far."""

    def __init__(
        self,
        snapshot: Snapshot,
        seed: Seed,
        result_of: Callable[[str, int], GameResult],
        entry_of: Callable[[str], SnapshotEntry],
        *,
        has_stored_ratings: bool = False,
    ) -> None:
        """Start with the agents of a ladder's document, without those that `entry_of` returns for later lines.
        Agents with kept folders have one open game at most. `result_of`: the result of an accepted attempt of a game.
        `has_stored_ratings`: `restore` follows.

        Raises TypeError for another format.
        """
        form, folders = snapshot.format, snapshot.policy.folders
        if not isinstance(form, Ladder):
            raise TypeError(f"{form.name} is no ladder")
        rules = form.matchmaking
        if folders.kept and folders.round != "first":
            rules = rules.model_copy(update={"open_games": 1})
        known = {**{agent: each.rating for agent, each in form.ratings.items()}, **form.anchors}
        self._unknown = Prior(fmean(known.values()) if known else 0.0, form.deviation)
        self._form = form
        self._seed = seed
        self._result_of = result_of
        self._entry_of = entry_of
        self.games = LadderGames(rules)
        self._new_ratings: type[OnlineRatings] = _NoRatings if has_stored_ratings else OnlineRatings
        self.ratings = self._new_ratings()
        self.priors: dict[str, Prior] = {}
        """Ratings before the first games."""
        self._out: set[str] = set()
        self._drawn: dict[str, tuple[str, str]] = {}
        """Agents by game id."""
        self._log = ContestState()
        self._results: dict[str, GameResult] = {}
        for entry in snapshot.entries:
            self.admit(entry)

    def admit(self, entry: SnapshotEntry) -> None:
        """Add an agent. Raises KeyError for a version of an unknown agent."""
        form, name = self._form, entry.name
        prior = self._unknown
        if name in form.anchors:
            prior = Prior(form.anchors[name], 0)
        elif (start := start_rating(form, entry)) is not None:
            prior = Prior(start.rating, start.deviation)
        elif entry.parent:
            prior = self.ratings.version_prior(entry.parent, form.version_deviation)
        self.priors[name] = prior
        self.ratings.admit(name, prior)
        self.games.admit(name, str(entry.author or ""), anchor=name in form.anchors)

    def restore(self, ratings: OnlineRatings, priors: Mapping[str, Prior]) -> None:
        """Set the ratings after the lines so far. Raises ValueError for other agents."""
        if ratings.agents != self.ratings.agents or priors.keys() != self.priors.keys():
            raise ValueError("the ratings are of other agents")
        self._new_ratings = OnlineRatings
        self.ratings, self.priors = ratings, dict(priors)

    def next(self) -> Pairing | None:
        """None at the end, or if no pair is allowed now."""
        return None if self.is_over else next_pair(self.ratings, self.games, self._seed)

    @property
    def is_over(self) -> bool:
        """Whether no further game is drawn."""
        return self._form.is_season_over(self.games.drawn, has_ended=self._log.has_ended)

    @property
    def drawn(self) -> int:
        return self.games.drawn

    def draw(self, pairing: Pairing, game: ScheduledGame) -> None:
        self.games.draw(pairing)
        self._drawn[game.id] = game.agents

    def take(self, event: Event) -> None:
        """Take an event that schedules no game."""
        match event:
            case Entered(agent):
                self.admit(self._entry_of(agent))
            case Withdrawn(agent):
                self.games.withdraw(agent)
            case Disqualified(agent):
                self._remove(agent)
            case Accepted(game, attempt) if game in self._drawn:
                self.games.finish(*self._drawn[game])
                result = self._results[game] = self._result_of(game, attempt)
                if self._out.isdisjoint(result.agents):
                    self.ratings.add_result(result)
            case Voided(game) | Abandoned(game) if game in self._drawn:
                self._wait_again(game)
            case Annulled(game) if game in self._drawn:
                if self._log.games[game].running is None:
                    del self._results[game]
                    self.games.reopen(*self._drawn[game])
                    self._rate_again()
                self._wait_again(game)
        self._log.apply(event)

    def _wait_again(self, game: str) -> None:
        if not self._out.isdisjoint(self._drawn[game]):  # cancelled
            self.games.finish(*self._drawn[game])

    def _remove(self, agent: str) -> None:
        if agent not in self.priors or agent in self._out:
            return
        self.games.withdraw(agent)
        for game, agents in self._drawn.items():
            is_waiting = self._log.games[game].running is None and game not in self._results
            if is_waiting and agent in agents and self._out.isdisjoint(agents):
                self.games.finish(*agents)
        self._out.add(agent)
        self._rate_again()

    def _rate_again(self) -> None:
        self.ratings = self._new_ratings()
        for agent, prior in self.priors.items():
            self.ratings.admit(agent, prior)
        for game in self._drawn:
            result = self._results.get(game)
            if result is not None and self._out.isdisjoint(result.agents):
                self.ratings.count_result(result)
        self.ratings.refit()


def follow(
    history: LadderHistory,
    events: Iterable[Event],
    pairings: Sequence[Pairing],
    games: Sequence[ScheduledGame],
    scheduled: Callable[[Pairing], None] = lambda _: None,
) -> None:
    """Take events of a log.

    `pairings` and `games` are those of the contest in order. `scheduled` is called before each draw.
    """
    for event in events:
        if isinstance(event, Scheduled):
            count, start = event.games, history.drawn
            for pairing, game in zip(pairings[start : start + count], games[start : start + count], strict=False):
                scheduled(pairing)
                history.draw(pairing, game)
        else:
            history.take(event)
