"""Orders for a contest that has begun. A new one is a class here and a name in `CONTEST_ORDERS`."""

from collections.abc import Mapping

from judge.base.errors import InputError
from judge.base.text import sentence
from judge.contest.contest import find_game, why_frozen
from judge.contest.late_entries import late_entrant, new_entry, possible_entrants, refuse_ended, refuse_frozen
from judge.contest.orders.order import AGENT, ENTRANT, GAME, NO_PLACE_CHANGES, ROUND, SEASON, ContestOrder, Effect
from judge.contest.shared_files import share_files
from judge.contest_games import OPEN_STATES, GameState
from judge.journal.events import AdmissionsFrozen, AdmissionsReopened, Paused, Resumed, SeasonEnded, Stopped
from judge.journal.state import state_after
from judge.store.contests import Store
from judge.store.orders import OrganiserOrder
from judge.store.submission_queries import RegisterReader
from judge.store.types import ENTERS, EntryRow
from judge.tournament.formats import AnyFormat


class Pause(ContestOrder):
    """Pause a contest: no more games are started, and `run` ends after the running games."""

    action = "pause"
    label = sentence("Pause")
    needs = "can_pause"
    default_why = "the organiser paused it"

    def read(self) -> None:
        self.is_over = self.contest.view().is_over

    def do(self, inner: Store) -> Effect:
        if self.is_over:
            raise InputError(sentence(f"{self.name} is over: there is nothing to pause"))
        inner.set_state(self.name, Paused(self.given.why))
        counts = inner.counts(self.name)
        running, waiting = counts[GameState.RUNNING], counts[GameState.PENDING]
        done = (
            sentence(f"{self.name} is paused; running games that are being finished: {running}")
            if running
            else sentence(f"{self.name} is paused; no game is running")
        )
        return Effect(
            done,
            sentence(f"Running games that will be finished: {running}. Waiting games that will not start: {waiting}."),
            NO_PLACE_CHANGES,
        )


class Resume(ContestOrder):
    """Resume a paused or stopped contest. Games that were stopped after too many voids are played again."""

    action = "resume"
    label = sentence("Resume")
    needs = "can_resume"
    default_why = "the organiser resumed it"
    result_of_run = "continues it"

    def read(self) -> None:
        """Games set aside before a pause are tried last."""
        store, self.aside = self.contest.store, set[str]()
        if store.state(self.name) == "paused":
            state = state_after(store.journal(self.name))
            games = store.listed(self.name, GameState.HELD)
            self.aside = {game.id for game in games if state.set_aside.get(game.id) == len(state.stops)}

    def do(self, inner: Store) -> Effect:
        waiting = inner.counts(self.name)[GameState.PENDING]
        count = inner.release(self.name, self.given.why, but=self.aside)
        if inner.state(self.name) != "open":
            inner.set_state(self.name, Resumed(self.given.why))
        aside = len(self.aside)
        return Effect(
            sentence(f"{self.name} is open, {count} held games are played again")
            if count
            else sentence(f"{self.name} is open"),
            sentence(f"Waiting games that can start: {waiting}. Stopped games that are played again: {count}."),
            sentence(f"Games that were set aside and are tried after all others: {aside}.")
            if aside
            else NO_PLACE_CHANGES,
        )


class GameOrder(ContestOrder):
    """An order for a game."""

    target = GAME

    @property
    def heading(self) -> str:
        return self.title.format(number=self.game.number)

    def read(self) -> None:
        self.game = find_game(self.contest, self.given.target)


class Void(GameOrder):
    """Withdraw the result of a game; it is played again when the contest runs."""

    action = "void"
    example = "17 cup --why 'the wrong opening file'"
    label = sentence("Void and play again")
    link = sentence("Void")
    title = sentence("Void game {number} and play it again")
    states = (GameState.DONE, GameState.RUNNING)

    def do(self, inner: Store) -> Effect:
        state, attempt = inner.annul(self.game.id, self.given.why, self.attempt), self.game.attempt
        self.attempt = attempt  # Another one may have another result.
        number, first, second = self.game.number, self.game.first, self.game.second
        words = (
            sentence(f"The result of game {number}, {first} - {second}, no longer counts.")
            if self.game.state is GameState.DONE
            else sentence(f"The running attempt of game {number}, {first} - {second}, no longer counts.")
        )
        if state is GameState.CANCELLED:
            return Effect(
                sentence(f"game {number}, {first} - {second}: void, not played again: an agent no longer takes part"),
                words,
                sentence("The game is not played again, because an agent no longer takes part."),
            )
        self.result_of_run = "plays it"
        return Effect(
            sentence(f"game {number}, {first} - {second}: void, to be played again"),
            words,
            sentence("The game is played again with the same opening and a new seed."),
        )


class Replay(GameOrder):
    """Resume only a stopped game."""

    action = "replay"
    command = ""
    label = sentence("Play again")
    title = sentence("Play game {number} again")
    states = (GameState.HELD,)
    result_of_run = "continues it"

    def do(self, inner: Store) -> Effect:
        number, first, second = self.game.number, self.game.first, self.game.second
        if not inner.release(self.name, self.given.why, self.game.id):
            (found,) = inner.listed(self.name, after=number - 1, limit=1)
            raise InputError(
                sentence(f"game {number} is {found.state}: only a game stopped after too many voids can be replayed")
            )
        if inner.state(self.name) == Stopped.NAME:
            inner.set_state(self.name, Resumed(self.given.why))
        others = inner.counts(self.name)[GameState.HELD]
        return Effect(
            sentence(f"game {number}, {first} - {second}, is played again"),
            sentence(
                f"Game {number}, {first} - {second}, is played again with the same opening and a new seed. One more "
                f"void stops it again. Other games that stay stopped: {others}."
            ),
            NO_PLACE_CHANGES,
        )


class AgentOrder(ContestOrder):
    """An order that takes an agent out."""

    target = AGENT

    def counts(self, inner: Store) -> tuple[int, int]:
        """Numbers of the agent's results that count and of cancelled games."""
        agent, out = self.given.target, {each.name for each in inner.gone_entries(self.name) if each.out is not None}
        results = [] if agent in out else inner.results_of(self.name, [agent])
        return sum(out.isdisjoint(each.agents) for each in results), inner.counts(self.name)[GameState.CANCELLED]

    def words(self, played: int, cancelled: int) -> str:
        agent = self.given.target
        return sentence(
            f"Played games of {agent} that no longer count: {played}. Games that are cancelled: {cancelled}."
        )


class Disqualify(AgentOrder):
    """Disqualify an agent: its games do not count, and its future games are not played."""

    action = "disqualify"
    example = "mybrain cup --why 'two entries of one author'"
    label = sentence("Disqualify")
    title = sentence("Disqualify {target}")

    def read(self) -> None:
        super().read()
        versions = {entry.parent: entry.name for entry in self.contest.snapshot.entries if entry.parent}
        newest = self.given.target
        while newest in versions:
            newest = versions[newest]
        self.newer = "" if newest == self.given.target or newest in self.contest.view().absent else newest

    def do(self, inner: Store) -> Effect:
        agent, newer, (played, before) = self.given.target, self.newer, self.counts(inner)
        inner.disqualify(self.name, agent, self.given.why)
        cancelled = self.counts(inner)[1] - before
        words = self.words(played, cancelled)
        if not newer:
            return Effect(sentence(f"{agent} is disqualified; {cancelled} games of {self.name} are cancelled"), words)
        return Effect(
            sentence(
                f"{agent} is disqualified; {cancelled} games of {self.name} are cancelled; its newer version {newer} "
                "still takes part"
            ),
            words,
            sentence(f"Its newer version {newer} still takes part."),
        )


class Withdraw(AgentOrder):
    """Withdraw an agent after the start. Swiss, ladder: its games count; round robins and groups: they do not."""

    action = "withdraw-agent"
    command = "withdraw"
    example = "mybrain cup --why 'the author asked for it'"
    label = sentence("Withdraw")
    title = sentence("Withdraw {target}")
    needs = "can_withdraw"

    def do(self, inner: Store) -> Effect:
        agent, form, (played, before) = self.given.target, self.contest.snapshot.format, self.counts(inner)
        done = withdraw(inner, self.name, form, self.given)
        if form.withdrawal == "annuls":
            words = self.words(played, self.counts(inner)[1] - before)
            return Effect(done, words, sentence("So all other agents are compared by the same games."))
        states = [game.state for game in inner.listed(self.name, agent=agent)]
        played, waiting = states.count(GameState.DONE), sum(state in OPEN_STATES for state in states)
        if not form.has_rounds:
            words = sentence(f"Played games of {agent} that count: {played}. Open games that are finished: {waiting}.")
            return Effect(done, words, sentence("It is not paired any more."))
        words = sentence(f"Played games of {agent} that count: {played}. Games of this round to be played: {waiting}.")
        return Effect(done, words, sentence("From the next round on it is not paired."))


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


class EntriesChangedError(InputError):
    """Another agent entered since the entries were read."""


class Enter(ContestOrder):
    """Enter an agent in a ladder, or in a Swiss from its next round on with 0 points for missed rounds."""

    action = "enter"
    example = "mybrain cup --why 'the mail server was down'"
    label = sentence("Enter")
    title = sentence("Enter {target}")
    target = ENTRANT

    def read(self) -> None:
        super().read()
        self.pairings = len(self.contest.store.pairings(self.name))
        self.entrant = late_entrant(self.contest, self.given.target)
        self.entry = new_entry(self.contest, self.entrant)
        self.row = EntryRow(self.entry.name, self.entry.rank, self.entry.model_dump_json())
        self.snapshot = self.contest.snapshot.with_late([self.row.entry])

    def write_files(self) -> None:
        share_files(self.contest.store, self.contest.planned, self.snapshot)

    def do(self, inner: Store) -> Effect:
        agent, name, parent, why = self.given.target, self.entry.name, self.entry.parent, self.given.why
        if inner.number_of_entries(self.name) != self.row.rank - 1:
            raise EntriesChangedError(sentence("another agent entered in the meantime: open this page again"))
        if RegisterReader.for_contest(inner, self.name).get(self.entrant.submission or 0).state not in ENTERS:
            raise InputError(sentence(f"{name} was withdrawn in the meantime"))
        if not self.snapshot.format.has_rounds:
            refuse_ended(inner, self.name, self.snapshot.format)
        elif len(inner.pairings(self.name)) != self.pairings:
            raise EntriesChangedError(sentence("a round was drawn in the meantime: open this page again"))
        refuse_frozen(inner, self.name)
        inner.enter(self.name, self.row, f"new version of {parent}: {why}" if parent else why)
        if parent and parent not in {entry.name for entry in inner.gone_entries(self.name)}:
            inner.withdraw(self.name, parent, sentence(f"{name} replaces it"), is_annulled=False)
        if not self.snapshot.format.has_rounds:
            words = (
                sentence(f"{name} takes part from now on, and {parent} no longer")
                if parent
                else sentence(f"{name} takes part from now on")
            )
            return Effect(words, words)
        missed = max((each.round for each in inner.pairings(self.name)), default=0)
        number = missed + 1
        return Effect(
            sentence(f"{name} enters from the next round on, with 0 points for missed rounds"),
            sentence(f"{agent} is paired from round {number} on. Missed rounds, which give 0 points: {missed}."),
            sentence("It is the last seed. Its files are those that passed. Its kept folders begin empty."),
        )


class Reveal(ContestOrder):
    """Make withheld results public: those of the next round, up to a round, or all. `judge serve` then exports them."""

    action = "reveal"
    example = "next cup"
    label = sentence("Reveal")
    title = sentence("Reveal results: {target}")
    target = ROUND
    needs = "can_reveal"
    default_why = "the organiser revealed it"
    result_of_run = "shows it on the live pages"

    def read(self) -> None:
        super().read()
        view = self.contest.view()
        self.last, self.is_over = max((pairing.round for pairing in view.pairings), default=0), view.is_over

    def do(self, inner: Store) -> Effect:
        word, first, last = self.given.target, inner.withheld_from(self.name), self.last
        if first is not None and self.is_over:
            last = max(first, last)  # events after the last round may be withheld, such as a disqualification
        if first is None or first > last:
            raise InputError(sentence(f"no results of {self.name} are withheld"))
        if word not in ("next", "all") and not (word.isascii() and word.isdigit() and first <= int(word) <= last):
            raise InputError(
                sentence(f"{word!r} is no withheld round: give next, all, or a number from {first} to {last}")
            )
        number = first if word == "next" else last if word == "all" else int(word)
        is_end = number == last and self.is_over
        listed = [game for game in inner.listed(self.name) if game.round <= number]
        if any(game.state in OPEN_STATES for game in listed):
            raise InputError(sentence(f"games up to round {number} have no result yet: reveal them after their end"))
        if word == "all" and not self.is_over:
            raise InputError(sentence(f"{self.name} is not over: continue it, or reveal next"))
        inner.reveal(self.name, self.given.why, None if is_end else number)
        games = sum(game.round >= first for game in listed)
        return Effect(
            sentence(f"all results of {self.name} are public")
            if is_end
            else sentence(f"the results of {self.name} up to round {number} are public"),
            sentence(f"Rounds that become public: {first} to {number}, with {games} games. This cannot be undone."),
            NO_PLACE_CHANGES,
        )


class SeasonOrder(ContestOrder):
    """An order for the season of a ladder."""

    target = SEASON

    def read(self) -> None:
        super().read()
        self.games_left = 0 if self.contest.snapshot.format.has_rounds else self.contest.view().to_come.games

    def refuse_ended(self, inner: Store) -> None:
        """Raises InputError unless the season of a ladder runs."""
        refuse_ended(inner, self.name, self.contest.snapshot.format)


class EndSeason(SeasonOrder):
    """End the season of a ladder: no game is drawn any more, and games that already run count."""

    action = "end-season"
    example = "friday --why 'the term is over'"
    label = sentence("End the season")
    needs = "can_end"

    def do(self, inner: Store) -> Effect:
        self.refuse_ended(inner)
        left = self.games_left
        inner.remark(self.name, SeasonEnded(self.given.why))
        counts = inner.counts(self.name)
        games = sum(counts[state] for state in OPEN_STATES)
        return Effect(
            sentence(f"the season of {self.name} has ended; games that are being finished: {games}"),
            sentence(f"Open games that are finished and count: {games}. Games that are not drawn any more: {left}."),
            sentence("The contest is over after them, and its secret is revealed."),
        )


class FreezeAdmissions(SeasonOrder):
    """Let no agent enter a ladder. Submissions that pass wait until admissions are open again."""

    action = "freeze-admissions"
    example = "friday --why 'the last week of the season'"
    label = sentence("Freeze admissions")
    needs = "can_freeze"

    def do(self, inner: Store) -> Effect:
        self.refuse_ended(inner)
        refuse_frozen(inner, self.name)
        inner.remark(self.name, AdmissionsFrozen(self.given.why))
        return Effect(
            sentence(f"admissions of {self.name} are frozen; submissions that pass wait"),
            sentence("Submissions are still checked. Those that pass wait until admissions are open again."),
        )


class ReopenAdmissions(SeasonOrder):
    """Open the admissions of a ladder again. Submissions that passed join."""

    action = "reopen-admissions"
    example = "friday --why 'the build machine works again'"
    label = sentence("Reopen admissions")
    needs = "can_reopen"

    def read(self) -> None:
        super().read()
        self.entrants = possible_entrants(self.contest)

    def do(self, inner: Store) -> Effect:
        self.refuse_ended(inner)
        if why_frozen(inner, self.name) is None:
            raise InputError(sentence("admissions are open already"))
        inner.remark(self.name, AdmissionsReopened(self.given.why))
        return Effect(
            sentence(f"admissions of {self.name} are open; submissions that passed join now"),
            sentence(f"Submissions that passed and join: {len(self.entrants)}."),
        )


CONTEST_ORDERS: Mapping[str, type[ContestOrder]] = {
    order.action: order
    for order in (
        *(Pause, Resume, Void, Replay, Disqualify, Withdraw, Enter),
        *(Reveal, EndSeason, FreezeAdmissions, ReopenAdmissions),
    )
}
