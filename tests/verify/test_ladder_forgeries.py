"""Ways to forge a ladder's choices and admissions: every forgery that changes anything is found.

Games have results by chance instead of moves, so that a season takes a second.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest

import judge.contest.admissions
import judge.contest.ladder
import judge.contest.late_entries
import judge.contest.orders.contest_orders
from judge.contest.admissions import enter_passed
from judge.contest.contest import Contest
from judge.contest.runner import Scheduler
from judge.contest.take_snapshot import entry_of
from judge.contest_games import Pairing, ScheduledGame
from judge.journal.codec import Event
from judge.journal.events import (
    Accepted,
    AdmissionsFrozen,
    AdmissionsReopened,
    AttemptEvent,
    Created,
    Disqualified,
    Entered,
    ImagesChanged,
    Scheduled,
    SeasonEnded,
    SubmissionChanged,
    SubmissionState,
    Withdrawn,
)
from judge.journal.state import JournalLine
from judge.publish.verify.draws import admission_problems, ladder_problems
from judge.publish.verify.log import ReadLog
from judge.publish.verify.log_lines import log_problems
from judge.statistics.online_ratings import Prior
from judge.store.contests import Store
from judge.store.types import EntryRow
from judge.tournament.formats import AnyFormat
from judge.tournament.formats.ladder import StartRating
from judge.tournament.ladder import LadderHistory
from judge.tournament.matchmaker import next_pair
from judge.tournament.snapshot import Snapshot, SnapshotEntry, start_rating
from judge.transparency.checkpoint import Checkpoint
from judge.transparency.merkle import Tree
from tests.calls import calls_of
from tests.contest.cups import won_by
from tests.contest.giving import give
from tests.contests import nothing, steady_clock, submit
from tests.examples import EVIDENCE, of_lanes, sized
from tests.publish.cups import Cast, Cup, player
from tests.verify.log_forgeries import with_event
from tests.verify.test_ladder import order

GAMES = 60
SLOTS = 4

FORM = f"""name = "ladder"
total_games = {GAMES}
anchors = {{ dora = 1500, hugo = 1400 }}
ratings = {{ yan = {{ rating = 1650, deviation = 60, digest = "{"1" * 64}" }} }}
matchmaking = {{ open_games = 1, author_share = 0.1, author_weight = 3, anchor_share = 0.25, period = 1 }}"""

CAST: Cast = {name: player(name, 0.5) for name in ("anna", "bert", "carl", "dora", "emil", "fred", "hugo")}

AUTHORS = {"anna": 1, "bert": 1, "carl": 1, "emil": 2, "fred": 2}


class Season(Cup):
    """A ladder with several agents of an author."""

    def _frozen(self) -> Snapshot:
        found = super()._frozen()
        entries = (entry.model_copy(update={"author": AUTHORS.get(entry.name, 0)}) for entry in found.entries)
        return found.model_copy(update={"entries": tuple(entries)})


class Played:
    """A season that is played, with submissions, a withdrawal, a disqualification, a void and an early end."""

    def __init__(self, cup: Cup, seed: int) -> None:
        self.cup = cup
        self.chance = random.Random(seed)
        self.records: list[Any] = []
        self._running: list[ScheduledGame] = []
        self._strengths = {name: self.chance.gauss(0, 1) for name in CAST}
        self._scheduler = Scheduler(cup.contest)
        contest = cup.contest
        self._events: dict[int, Callable[[], object]] = {
            5: lambda: submit(cup, "zoe", "eve"),
            8: self._annul,
            14: lambda: submit(cup, "zoe", "eve", "2"),
            17: lambda: give(contest, order("freeze-admissions", "a break")),
            18: lambda: submit(cup, "yan", "kim"),
            23: lambda: give(contest, order("reopen-admissions", "the break is over")),
            27: lambda: cup.store.disqualify(contest.name, "fred", "by the organiser"),
            30: lambda: cup.store.withdraw(contest.name, "carl", "it is ill", is_annulled=False),
            34: lambda: submit(cup, "zoe", "eve", "3"),
            38: lambda: give(contest, order("end-season", "the term is over")),
        }

    def play(self) -> None:
        contest = self.cup.contest
        issue = partial(contest.store.issue, contest.name, "here")
        while True:
            while len(self._running) < SLOTS and (issued := issue() or (self._scheduler.schedule_next() and issue())):
                self._running.append(issued)
            if not self._running:
                return
            self._end(self._running.pop(self.chance.randrange(len(self._running))))
            done = len(contest.store.results(contest.name))
            for number in [each for each in self._events if each <= done]:
                self._events.pop(number)()

    def _end(self, game: ScheduledGame) -> None:
        first, second = (
            self._strengths.setdefault(name, self.chance.gauss(0.5, 1)) for name in (game.first, game.second)
        )
        lead = self.chance.gauss(first - second, 1)
        outcome = won_by(None if abs(lead) < 0.2 else int(lead < 0))
        self.cup.store.accept(game.id, game.attempt, replace(outcome, public="2" * 64))
        self.records.append(SimpleNamespace(number=game.number, attempt=game.attempt, outcome=outcome))

    def _annul(self) -> None:
        # The judge has read the others, so it needs no record.
        store, last = self.cup.store, self.records[-1].number
        others = [result for result in store.results(self.cup.contest.name) if result.number != last]
        store.annul(self.chance.choice(others).id, "a power cut")


def log_of(lines: Sequence[JournalLine]) -> ReadLog:
    return ReadLog(Checkpoint("", 0, b""), Tree(()), lines)


def problems(played: Played) -> list[str]:
    """All that the verifier finds in the log, without the records."""
    contest = Contest(played.cup.store, played.cup.planned).read()
    games = {game.id: game.number for game in contest.games}
    digests = {
        (games[line.game], line.attempt or 0): line.digest
        for line in contest.journal
        if line.game in games and line.digest is not None
    }
    log = log_of(contest.journal)
    assert contest.secret, "the season is over"
    outcomes = {(each.number, each.attempt): each.outcome for each in played.records}
    return [
        *log_problems(contest, log, digests),
        *ladder_problems(contest, log, outcomes),
        *admission_problems(contest, log),
    ]


@pytest.mark.parametrize("is_frozen", [False, True])
def test_the_work_for_admissions_is_linear(tmp_path: Path, *, is_frozen: bool) -> None:
    with Season(tmp_path / "cup", CAST, form=FORM) as cup:
        contest = Contest(cup.store, cup.planned).read()

    def work(count: int) -> int:
        changes: list[Event] = [Created(7), *([AdmissionsFrozen("")] * is_frozen)]
        for number in range(1, count + 1):
            submitted = SubmissionChanged(SubmissionState.PASSED, number, ("anna", "kim")[number % 2])
            changes += [submitted, Scheduled(1), Entered("anna", "")]
        log = log_of([with_event(contest.journal[0], each) for each in changes])
        return calls_of(lambda: list(admission_problems(contest, log)))

    assert work(2_000) <= 11 * work(200)


def test_refused_submission_does_not_enter_beside_an_entry_without_a_name(tmp_path: Path) -> None:
    with Season(tmp_path / "cup", CAST, form=FORM) as cup:
        contest = Contest(cup.store, cup.planned).read()
    first = contest.snapshot.entries[0]
    nameless, late = (first.model_copy(update={"name": name, "submission": 1}) for name in ("", "late"))
    entries = (nameless, *contest.snapshot.entries, late)
    forged = replace(contest, snapshot=contest.snapshot.model_copy(update={"entries": entries}))
    changes = [Created(7), SubmissionChanged(SubmissionState.REFUSED, 1, "late"), Entered("late", "")]
    lines = [replace(with_event(contest.journal[0], each), digest=first.seat.digest) for each in changes]

    found = list(admission_problems(forged, log_of(lines)))
    assert any("late has no submission that had passed" in problem for problem in found)


class Forged(LadderHistory):
    """A matchmaker that an organiser changed, and next to it the right one."""

    forgeries = 0
    """Choices that differ from the right ones."""

    def __init__(self, first: Snapshot, seed: Any, result_of: Any, entry_of: Any) -> None:
        both = cache(result_of)
        self.right = LadderHistory(first, seed, both, entry_of)
        super().__init__(first, seed, both, entry_of)

    def choose(self, right: Pairing) -> Pairing | None:
        """The pair instead of the right one after the same log."""
        return super().next()

    def next(self) -> Pairing | None:
        right = self.right.next()
        chosen = self.choose(right) if right is not None and self.drawn >= self.start else right
        # Without a pair the slot stays free, which no log shows.
        Forged.forgeries += chosen not in (None, right)
        return chosen

    def draw(self, pairing: Pairing, game: ScheduledGame) -> None:
        super().draw(pairing, game)
        self.right.draw(pairing, game)

    def take(self, event: Event) -> None:
        self.right.take(event)
        self.take_forged(event)

    def take_forged(self, event: Event) -> None:
        super().take(event)

    start = 0
    chance = random.Random(0)

    def elsewhere(self, *left: str, **rules: Any) -> Pairing | None:
        """The choice as if some agents had left and some rules were others."""
        games = deepcopy(self.right.games)
        games.rules = games.rules.model_copy(update=rules)
        for agent in left:
            games.withdraw(agent)
        return next_pair(self.right.ratings, games, self._seed)


def draws_lots(forged: Forged, right: Pairing) -> Pairing | None:
    games = forged.right.games
    free = [games.name(each) for each, active in enumerate(games.active) if active and not games.open_games[each]]
    if len(free) < 2:
        return right
    first, second = forged.chance.sample(free, 2)
    return replace(right, first=first, second=second)


CHOSEN: dict[str, Callable[[Any, Pairing], Pairing | None]] = {
    "Seats": lambda _, right: replace(right, first=right.second or "", second=right.first),
    "Opening": lambda _, right: replace(right, meeting=right.meeting + 2),
    "Opponent": lambda forged, right: forged.elsewhere(right.second or ""),
    "Secret": lambda forged, _: next_pair(forged.right.ratings, forged.right.games, "5d" * 32),
    "AuthorWeight": lambda forged, _: forged.elsewhere(author_weight=1),
    "Neighbours": lambda forged, _: forged.elsewhere(neighbours=1),
    "Random": draws_lots,
}
"""Another pair in place of the right one, which differs in a part of it, or in a rule of the choice."""


class Late(Forged):
    """Some lines are taken some draws later."""

    events: tuple[type[Event], ...] = (Accepted,)
    draws = 3

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._waiting: list[tuple[int, Event]] = []

    def take_forged(self, event: Event) -> None:
        if isinstance(event, self.events) and self.drawn >= self.start:
            self._waiting.append((self.drawn + self.draws, event))
        else:
            super().take_forged(event)

    def draw(self, pairing: Pairing, game: ScheduledGame) -> None:
        super().draw(pairing, game)
        for each in [each for each in self._waiting if each[0] <= self.drawn]:
            self._waiting.remove(each)
            self.take_late(each[1])

    def take_late(self, event: Event) -> None:
        super().take_forged(event)


class LateResults(Late):
    def take_forged(self, event: Event) -> None:
        game = event.game if isinstance(event, AttemptEvent) else None
        for each in [each for each in self._waiting if isinstance(each[1], Accepted) and each[1].game == game]:
            self._waiting.remove(each)
            self.take_late(each[1])
        # Agents must not seem busy, so only the rating is late.
        if isinstance(event, Accepted) and self.drawn >= self.start:
            self.games.finish(*self._drawn[event.game])
            self._waiting.append((self.drawn + self.draws, event))
        else:
            LadderHistory.take(self, event)

    def take_late(self, event: Event) -> None:
        assert isinstance(event, Accepted)
        self.games.reopen(*self._drawn[event.game])
        LadderHistory.take(self, event)


class KeptResult(Forged):
    def _rate_again(self) -> None:
        return


class OtherPriors(Forged):
    """Some agents begin with another rating or deviation."""

    forged_prior: Callable[[SnapshotEntry, Prior], Prior]

    def admit(self, entry: SnapshotEntry) -> None:
        super().admit(entry)
        right = self.priors[entry.name]
        self.priors[entry.name] = self.forged_prior(entry, right)
        if self.priors[entry.name] != right:
            self._rate_again()


def prior_of(*names: str, **values: float) -> Callable[[Any, SnapshotEntry, Prior], Prior]:
    return lambda _, entry, prior: replace(prior, **values) if entry.name in names else prior


PRIORS: dict[str, Callable[[Any, SnapshotEntry, Prior], Prior]] = {
    # New versions begin stronger than their parents.
    "ParentsPrior": lambda _, entry, prior: replace(prior, mean=prior.mean + 300.0) if entry.parent else prior,
    # A newcomer begins with a small deviation.
    "NarrowPrior": prior_of("zoe", "yan", deviation=30.0),
    # An agent of the last season joins with the deviation of its former files.
    "LastPrior": prior_of("yan", deviation=60.0),
    # An anchor has another rating than the terms say.
    "OtherAnchor": prior_of("dora", mean=1300.0),
}


class LateEnd(Forged):
    def next(self) -> Pairing | None:
        if self.games.drawn >= GAMES:
            return None
        chosen = next_pair(self.ratings, self.games, self._seed)
        Forged.forgeries += self.right.next() != chosen
        return chosen


CHOICES: dict[str, type[Forged]] = {
    **{name: type(name, (Forged,), {"choose": choose}) for name, choose in CHOSEN.items()},
    "LateResults": LateResults,
    "LateDisqualification": type("LateDisqualification", (Late,), {"events": (Disqualified,), "draws": 12}),
    "LateWithdrawal": type("LateWithdrawal", (Late,), {"events": (Withdrawn,), "draws": 6}),
    # An agent that entered is not paired for a while.
    "LateEntry": type("LateEntry", (Late,), {"events": (Entered, Withdrawn), "draws": 6}),
    "KeptResult": KeptResult,
    **{name: type(name, (OtherPriors,), {"forged_prior": prior}) for name, prior in PRIORS.items()},
    "LateEnd": LateEnd,
}


def delays_admission(played: Played, patch: pytest.MonkeyPatch) -> None:
    since = played.chance.randrange(4, 9)

    def enter_late(contest: Contest) -> bool:
        if len(contest.store.results(contest.name)) < since + 6:
            return False
        Forged.forgeries += 1
        return enter_passed(contest)

    patch.setattr("judge.contest.ladder.enter_passed", enter_late)
    events = played._events
    events[since + 6] = lambda: played.cup.store.remark(played.cup.contest.name, ImagesChanged("now"))
    # The judge looks for submissions when one passes.
    events[since + 7] = lambda: submit(played.cup, "xaver", "ute")


def enters_while_frozen(played: Played, patch: pytest.MonkeyPatch) -> None:
    for module in (judge.contest.admissions, judge.contest.late_entries, judge.contest.orders.contest_orders):
        patch.setattr(module, "why_frozen", lambda *_: None)
    contest = played.cup.contest
    played._events[23] = lambda: contest.store.remark(contest.name, AdmissionsReopened("the break is over"))
    Forged.forgeries += 1


def keeps_the_parent(_: Played, patch: pytest.MonkeyPatch) -> None:
    withdraw = Store.withdraw

    def only_others(store: Store, contest: str, agent: str, why: str, **more: bool) -> None:
        if "replaces it" in why:
            Forged.forgeries += 1
        else:
            withdraw(store, contest, agent, why, **more)

    patch.setattr(Store, "withdraw", only_others)


def changed_entry(**values: Any) -> Callable[[Played, pytest.MonkeyPatch], None]:
    """The entry of a new version differs from the right one; `digest` is that of its files."""

    def forge(_: Played, patch: pytest.MonkeyPatch) -> None:
        def forged(*given: Any) -> SnapshotEntry:
            found = entry_of(*given)
            if not found.parent:
                return found
            Forged.forgeries += 1
            if digest := values.get("digest"):
                return found.model_copy(update={"seat": found.seat.model_copy(update={"digest": digest})})
            return found.model_copy(update=values)

        patch.setattr(judge.contest.late_entries, "entry_of", forged)

    return forge


def other_start(played: Played, patch: pytest.MonkeyPatch) -> None:
    def forged(form: AnyFormat, entry: SnapshotEntry) -> StartRating | None:
        found = start_rating(form, entry)
        Forged.forgeries += found is not None
        return found and found.model_copy(update={"rating": found.rating + 100})

    patch.setattr(judge.contest.late_entries, "start_rating", forged)


def enters_without_submission(played: Played, patch: pytest.MonkeyPatch) -> None:
    def enters() -> None:
        contest = played.cup.contest
        contest.refresh()
        entries = contest.snapshot.entries
        friend = entries[0].model_copy(update={"name": "friend", "rank": len(entries) + 1, "submission": 99})
        contest.store.enter(contest.name, EntryRow("friend", friend.rank, friend.model_dump_json()), "its check passed")
        Forged.forgeries += 1

    played._events[played.chance.randrange(3, 30)] = enters


def ends_at_a_wrong_moment(played: Played, patch: pytest.MonkeyPatch) -> None:
    events = played._events
    end = events[38]

    def twice() -> None:
        end()
        played.cup.store.remark(played.cup.contest.name, SeasonEnded("the term is over"))
        Forged.forgeries += 1

    events[38] = twice


ADMISSIONS: dict[str, Callable[[Played, pytest.MonkeyPatch], None]] = {
    "delayed": delays_admission,
    "frozen": enters_while_frozen,
    "parent-plays": keeps_the_parent,
    "other-files": changed_entry(digest="9" * 64),
    # A new version begins at the rating of a stronger agent.
    "other-parent": changed_entry(parent="anna"),
    # A new version is no new version, so it has the widest deviation.
    "no-parent": changed_entry(parent=""),
    "other-submission": changed_entry(submission=1),
    "no-submission": enters_without_submission,
    "other-start": other_start,
    "ended-twice": ends_at_a_wrong_moment,
}

KINDS: dict[str, Any] = CHOICES | ADMISSIONS
FORGERIES = sized(0, 1000)
EACH = max(1, -(-FORGERIES // len(KINDS)))


def season(seed: int, kind: Any = None) -> tuple[int, list[str]]:
    """Play a season; the number of forged choices, and what the verifier finds."""
    Forged.forgeries = 0
    with (
        steady_clock(),
        TemporaryDirectory(prefix="judge-test-", dir="/dev/shm") as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        is_choice = isinstance(kind, type)
        if is_choice:
            patch.setattr(kind, "chance", random.Random(seed))
            patch.setattr(kind, "start", kind.chance.randrange(12))
            patch.setattr(judge.contest.ladder, "LadderHistory", kind)
        with Season(Path(folder), CAST, FORM, drawn=nothing) as cup:
            played = Played(cup, seed)
            if kind and not is_choice:
                kind(played, patch)
            played.play()
            patch.undo()
            return Forged.forgeries, problems(played)


FIRST_SEEDS = {"KeptResult": 34, "NarrowPrior": 2}
"""The first season of the full lane that the forgery changes, where it is not the first one."""


def seeds(name: str) -> Iterator[int]:
    first = 0 if EVIDENCE else FIRST_SEEDS.get(name, 0)
    yield from range(first, first + 1000 * EACH)


@pytest.mark.parametrize("seed", range(sized(1, 3)))
def test_honest_seasons_have_no_problems(seed: int) -> None:
    assert (0, []) == season(seed)
    assert (0, []) == season(seed, Forged)


OF_FULL_LANE = {
    *("Seats", "AuthorWeight", "LateResults", "LateDisqualification", "LateWithdrawal"),
    *("KeptResult", "NarrowPrior", "OtherAnchor", "LateEnd", "delayed", "frozen", "parent-plays", "other-files"),
    *("other-parent", "other-start", "ended-twice"),
}
"""With these every line of the verifier runs that runs with all."""


@pytest.mark.long
@pytest.mark.parametrize("name", of_lanes(KINDS, OF_FULL_LANE))
def test_each_forgery_is_found(name: str) -> None:
    found, without_effect = 0, 0
    for seed in seeds(name):
        forged, complaints = season(seed, KINDS[name])
        assert complaints if forged else not complaints, (name, seed)
        found += bool(forged)
        without_effect += not forged
        assert without_effect < 30 + 9 * found, "the forgery changes nothing"
        if found == EACH:
            return
