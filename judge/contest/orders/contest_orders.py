"""Orders for a contest that has begun. A new one is a class here and a name in `CONTEST_ORDERS`."""

from collections.abc import Mapping

from judge.base.errors import InputError
from judge.base.text import sentence
from judge.contest.contest import find_game, why_frozen
from judge.contest.entries import late_entrants
from judge.contest.folders.kept import share_files
from judge.contest.late_entries import joined_words, late_agents, late_entrant, new_entry, refuse_ended, refuse_frozen
from judge.contest.orders.order import AGENT, ENTRANT, GAME, SEASON, ContestOrder, Effect, Offer
from judge.contest.runner import STOPPED
from judge.contest_games import GameState
from judge.journal.events import AdmissionsFrozen, AdmissionsReopened, Paused, Resumed, SeasonEnded, SetAside, Stopped
from judge.store.contests import Store
from judge.store.orders import OrganiserOrder
from judge.store.submission_queries import RegisterReader
from judge.store.types import ENTERS, EntryRow
from judge.tournament.formats import AnyFormat

NO_PLACE_CHANGES = sentence("No place changes.")
OPEN_STATES = (GameState.PENDING, GameState.RUNNING, GameState.HELD)


class Pause(ContestOrder):
    """Pause a contest: no more games are started, and `run` ends after the running games."""

    action = "pause"
    label = sentence("Pause")
    default_why = "the organiser paused it"

    @classmethod
    def is_offered(cls, offer: Offer) -> bool:
        return offer.state == "open" and not offer.is_over

    def read(self) -> None:
        self.is_over = self.contest.is_over()

    def do(self, inner: Store) -> str:
        if self.is_over:
            raise InputError(sentence(f"{self.name} is over: there is nothing to pause"))
        inner.set_state(self.name, Paused(self.given.why))
        if running := inner.counts(self.name)[GameState.RUNNING]:
            return sentence(f"{self.name} is paused; running games that are being finished: {running}")
        return sentence(f"{self.name} is paused; no game is running")

    def effect(self) -> Effect:
        running, waiting = self.after.count(GameState.RUNNING), self.after.count(GameState.PENDING)
        return Effect(
            sentence(f"Running games that will be finished: {running}. Waiting games that will not start: {waiting}."),
            NO_PLACE_CHANGES,
        )


class Resume(ContestOrder):
    """Resume a paused or stopped contest. Games that were stopped after too many voids are played again."""

    action = "resume"
    label = sentence("Resume")
    default_why = "the organiser resumed it"
    result_of_run = "continues it"

    @classmethod
    def is_offered(cls, offer: Offer) -> bool:
        return offer.state != "open" and not offer.is_over

    def read(self) -> None:
        """Games set aside before a pause are tried last."""
        store, aside = self.contest.store, set[str]()
        if store.state(self.name) == "paused":
            for line in store.journal(self.name):
                match line.change:
                    case SetAside(game):
                        aside.add(game)
                    case Stopped():
                        aside.clear()
        self.aside = {game.id for game in store.listed(self.name, GameState.HELD)} & aside

    def do(self, inner: Store) -> str:
        released = inner.release(self.name, self.given.why, but=self.aside)
        inner.set_state(self.name, Resumed(self.given.why))
        if not released:
            return sentence(f"{self.name} is open")
        return sentence(f"{self.name} is open, {released} held games are played again")

    def effect(self) -> Effect:
        waiting, held = self.before.count(GameState.PENDING), self.moved(GameState.PENDING)
        words = sentence(f"Waiting games that can start: {waiting}. Stopped games that are played again: {held}.")
        if aside := self.after.count(GameState.HELD):
            return Effect(words, sentence(f"Games that were set aside and are tried after all others: {aside}."))
        return Effect(words, NO_PLACE_CHANGES)


class GameOrder(ContestOrder):
    """An order for a game."""

    target = GAME

    def read(self) -> None:
        self.game = find_game(self.contest, self.given.target)


class Void(GameOrder):
    """Withdraw the result of a game; it is played again when the contest runs."""

    action = "void"
    example = "17 cup --why 'the wrong opening file'"
    label = sentence("Void and play again")
    link = sentence("Void")
    states = (GameState.DONE, GameState.RUNNING)

    @property
    def heading(self) -> str:
        return sentence(f"Void game {self.game.number} and play it again")

    def do(self, inner: Store) -> str:
        state = inner.annul(self.game.id, self.given.why, self.attempt)
        number, first, second = self.game.number, self.game.first, self.game.second
        if state is GameState.CANCELLED:
            return sentence(f"game {number}, {first} - {second}: void, not played again: an agent no longer takes part")
        self.result_of_run = "plays it"
        return sentence(f"game {number}, {first} - {second}: void, to be played again")

    def effect(self) -> Effect:
        # Another attempt may have another result.
        self.attempt = self.game.attempt
        number, first, second = self.game.number, self.game.first, self.game.second
        words = (
            sentence(f"The result of game {number}, {first} - {second}, no longer counts.")
            if self.before.games[self.game.id] is GameState.DONE
            else sentence(f"The running attempt of game {number}, {first} - {second}, no longer counts.")
        )
        note = (
            sentence("The game is not played again, because an agent no longer takes part.")
            if self.after.games[self.game.id] is GameState.CANCELLED
            else sentence("The game is played again with the same opening and a new seed.")
        )
        return Effect(words, note)


class Replay(GameOrder):
    """Resume only a stopped game."""

    action = "replay"
    command = ""
    label = sentence("Play again")
    states = (GameState.HELD,)
    result_of_run = "continues it"

    @property
    def heading(self) -> str:
        return sentence(f"Play game {self.game.number} again")

    def do(self, inner: Store) -> str:
        game = self.game
        if not inner.release(self.name, self.given.why, game.id):
            (found,) = inner.listed(self.name, after=game.number - 1, limit=1)
            raise InputError(
                sentence(
                    f"game {game.number} is {found.state}: only a game stopped after too many voids can be replayed"
                )
            )
        if inner.state(self.name) == STOPPED:
            inner.set_state(self.name, Resumed(self.given.why))
        return sentence(f"game {game.number}, {game.first} - {game.second}, is played again")

    def effect(self) -> Effect:
        number, first, second = self.game.number, self.game.first, self.game.second
        others = self.after.count(GameState.HELD)
        words = sentence(
            f"Game {number}, {first} - {second}, is played again with the same opening and a new seed. One more void "
            f"stops it again. Other games that stay stopped: {others}."
        )
        return Effect(words, NO_PLACE_CHANGES)


class AgentOrder(ContestOrder):
    """An order that takes an agent out."""

    target = AGENT

    def without_results(self) -> str:
        agent, played, cancelled = self.given.target, self.uncounted(), self.moved(GameState.CANCELLED)
        return sentence(
            f"Played games of {agent} that no longer count: {played}. Games that are cancelled: {cancelled}."
        )


class Disqualify(AgentOrder):
    """Disqualify an agent: its games do not count, and its future games are not played."""

    action = "disqualify"
    example = "mybrain cup --why 'two entries of one author'"
    label = sentence("Disqualify")

    @property
    def heading(self) -> str:
        return sentence(f"Disqualify {self.given.target}")

    def read(self) -> None:
        super().read()
        versions = {entry.parent: entry.name for entry in self.contest.snapshot.entries if entry.parent}
        newest = self.given.target
        while newest in versions:
            newest = versions[newest]
        self.newer = "" if newest == self.given.target or newest in self.contest.absent() else newest

    def do(self, inner: Store) -> str:
        agent, newer, before = self.given.target, self.newer, inner.counts(self.name)[GameState.CANCELLED]
        inner.disqualify(self.name, agent, self.given.why)
        cancelled = inner.counts(self.name)[GameState.CANCELLED] - before
        if newer:
            return sentence(
                f"{agent} is disqualified; {cancelled} games of {self.name} are cancelled; its newer version {newer} "
                "still takes part"
            )
        return sentence(f"{agent} is disqualified; {cancelled} games of {self.name} are cancelled")

    def effect(self) -> Effect:
        note = sentence(f"Its newer version {self.newer} still takes part.") if self.newer else ""
        return Effect(self.without_results(), note)


class Withdraw(AgentOrder):
    """Withdraw an agent after the start. Swiss, ladder: its games count; round robins and groups: they do not."""

    action = "withdraw-agent"
    command = "withdraw"
    example = "mybrain cup --why 'the author asked for it'"
    label = sentence("Withdraw")

    @classmethod
    def is_offered(cls, offer: Offer) -> bool:
        return offer.can_withdraw

    @property
    def heading(self) -> str:
        return sentence(f"Withdraw {self.given.target}")

    def do(self, inner: Store) -> str:
        return withdraw(inner, self.name, self.contest.snapshot.format, self.given)

    def effect(self) -> Effect:
        agent, form = self.given.target, self.contest.snapshot.format
        if form.withdrawal == "annuls":
            return Effect(self.without_results(), sentence("So all other agents are compared by the same games."))
        own = [self.after.games[game.id] for game in self.contest.store.listed(self.name, agent=agent)]
        played, waiting = own.count(GameState.DONE), sum(state in OPEN_STATES for state in own)
        if not form.has_rounds:
            words = sentence(f"Played games of {agent} that count: {played}. Open games that are finished: {waiting}.")
            return Effect(words, sentence("It is not paired any more."))
        words = sentence(f"Played games of {agent} that count: {played}. Games of this round to be played: {waiting}.")
        return Effect(words, sentence("From the next round on it is not paired."))


def withdraw(store: Store, contest: str, form: AnyFormat, order: OrganiserOrder) -> str:
    """Withdraw an agent; return the effect. Raises InputError."""
    agent = order.target
    if form.withdrawal == "refused":
        raise InputError(
            sentence(
                f"an agent cannot withdraw from the format {form.name} after the start, because pairings depend on it; "
                "disqualify it instead"
            )
        )
    is_annulled = form.withdrawal == "annuls"
    store.withdraw(contest, agent, order.why, is_annulled=is_annulled)
    if is_annulled:
        return sentence(f"{agent} is withdrawn; its games do not count")
    if not form.has_rounds:
        return sentence(f"{agent} no longer takes part: {order.why}")
    return sentence(f"{agent} is withdrawn from the next round on; its games count")


class Enter(ContestOrder):
    """Enter an agent in a ladder, or in a Swiss from its next round on with 0 points for missed rounds."""

    action = "enter"
    example = "mybrain cup --why 'the mail server was down'"
    label = sentence("Enter")
    target = ENTRANT

    @property
    def heading(self) -> str:
        return sentence(f"Enter {self.given.target}")

    def read(self) -> None:
        super().read()
        contest, agent = self.contest, self.given.target
        found = late_entrants(contest.planned, contest.snapshot.entries)
        if agent in contest.snapshot.by_name() and agent not in found:
            raise InputError(sentence(f"{agent} takes part already"))
        entrant = late_entrant(contest, agent, found)
        self.submission = entrant.submission or 0
        self.entry = new_entry(contest, entrant)
        self.row = EntryRow(self.entry.name, self.entry.rank, self.entry.model_dump_json())
        self.snapshot = contest.snapshot.with_late([self.row.entry])

    def write_files(self) -> None:
        share_files(self.contest.store, self.contest.planned, self.snapshot)

    def do(self, inner: Store) -> str:
        name, parent, why = self.entry.name, self.entry.parent, self.given.why
        if inner.number_of_entries(self.name) != self.row.rank - 1:
            raise InputError(sentence("another agent entered in the meantime: open this page again"))
        if RegisterReader.within(inner, self.name).get(self.submission).state not in ENTERS:
            raise InputError(sentence(f"{name} was withdrawn in the meantime"))
        refuse_frozen(why_frozen(inner, self.name))
        inner.enter(self.name, self.row, f"new version of {parent}: {why}" if parent else why)
        if parent and parent not in {entry.name for entry in inner.gone_entries(self.name)}:
            inner.withdraw(self.name, parent, sentence(f"{name} replaces it"), is_annulled=False)
        if not self.contest.snapshot.format.has_rounds:
            return joined_words(name, parent)
        return sentence(f"{name} enters from the next round on, with 0 points for missed rounds")

    def effect(self) -> Effect:
        agent = self.given.target
        if not self.contest.snapshot.format.has_rounds:
            return Effect(joined_words(self.entry.name, self.entry.parent))
        missed = max((each.round for each in self.contest.store.pairings(self.name)), default=0)
        number = missed + 1
        words = sentence(f"{agent} is paired from round {number} on. Missed rounds, which give 0 points: {missed}.")
        note = sentence("It is the last seed. Its files are those that passed. Its kept folders begin empty.")
        return Effect(words, note)


class SeasonOrder(ContestOrder):
    """An order for the season of a ladder."""

    target = SEASON

    def read(self) -> None:
        super().read()
        self.games_left = 0 if self.contest.snapshot.format.has_rounds else self.contest.to_come().games


class EndSeason(SeasonOrder):
    """End the season of a ladder: no game is drawn any more, and games that already run count."""

    action = "end-season"
    example = "friday --why 'the term is over'"
    label = sentence("End the season")

    @classmethod
    def is_offered(cls, offer: Offer) -> bool:
        return offer.has_season

    def do(self, inner: Store) -> str:
        refuse_ended(self.contest, inner, self.games_left)
        inner.remark(self.name, SeasonEnded(self.given.why))
        counts = inner.counts(self.name)
        games = sum(counts[state] for state in OPEN_STATES)
        return sentence(f"the season of {self.name} has ended; games that are being finished: {games}")

    def effect(self) -> Effect:
        games, left = self.after.count(*OPEN_STATES), self.games_left
        words = sentence(f"Open games that are finished and count: {games}. Games that are not drawn any more: {left}.")
        return Effect(words, sentence("The contest is over after them, and its secret is revealed."))


class FreezeAdmissions(SeasonOrder):
    """Let no agent enter a ladder. Submissions that pass wait until admissions are open again."""

    action = "freeze-admissions"
    example = "friday --why 'the last week of the season'"
    label = sentence("Freeze admissions")

    @classmethod
    def is_offered(cls, offer: Offer) -> bool:
        return offer.has_season and not offer.is_frozen

    def do(self, inner: Store) -> str:
        refuse_ended(self.contest, inner, self.games_left)
        refuse_frozen(why_frozen(inner, self.name))
        inner.remark(self.name, AdmissionsFrozen(self.given.why))
        return sentence(f"admissions of {self.name} are frozen; submissions that pass wait")

    def effect(self) -> Effect:
        return Effect(sentence("Submissions are still checked. Those that pass wait until admissions are open again."))


class ReopenAdmissions(SeasonOrder):
    """Open the admissions of a ladder again. Submissions that passed join."""

    action = "reopen-admissions"
    example = "friday --why 'the build machine works again'"
    label = sentence("Reopen admissions")

    @classmethod
    def is_offered(cls, offer: Offer) -> bool:
        return offer.has_season and offer.is_frozen

    def do(self, inner: Store) -> str:
        refuse_ended(self.contest, inner, self.games_left)
        if why_frozen(inner, self.name) is None:
            raise InputError(sentence("admissions are open already"))
        inner.remark(self.name, AdmissionsReopened(self.given.why))
        return sentence(f"admissions of {self.name} are open; submissions that passed join now")

    def effect(self) -> Effect:
        return Effect(sentence(f"Submissions that passed and join: {len(late_agents(self.contest))}."))


CONTEST_ORDERS: Mapping[str, type[ContestOrder]] = {
    order.action: order
    for order in (
        *(Pause, Resume, Void, Replay, Disqualify, Withdraw, Enter),
        *(EndSeason, FreezeAdmissions, ReopenAdmissions),
    )
}
