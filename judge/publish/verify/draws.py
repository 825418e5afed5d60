"""Verifies that each draw follows from the log before it, and from the contest's secret in a ladder.

The entries and terms are locked in once, before the contest is created. Each submission enters a ladder before the
first draw after its check.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from judge.base.errors import InputError
from judge.contest_games import GameContent, GameResult, Pairing
from judge.contest_view.export import CONTRADICTIONS, DOCUMENT
from judge.contest_view.view import ContestView
from judge.journal.codec import UnknownLine, kind_of
from judge.journal.events import (
    Accepted,
    Announced,
    Annulled,
    Created,
    Disqualified,
    Entered,
    LockedIn,
    NotEntered,
    Scheduled,
    SubmissionChanged,
    SubmissionState,
    Withdrawn,
)
from judge.journal.state import ContestState, JournalLine, state_after
from judge.publish.verify.log import ReadLog
from judge.publish.verify.records import Outcomes, result_of
from judge.store.types import ENTERS
from judge.tournament.formats.base import by_seed
from judge.tournament.formats.sequential import Sequential
from judge.tournament.snapshot import SnapshotEntry, Versions, is_new_version, start_rating, terms_digest

MAX_REPORTED = 10
"""Maximum number of reported pairs that differ from the matchmaker's choice."""

_Draw = tuple[int, Mapping[str, GameResult], Mapping[str, int], int]
"""Number of pairings without byes, results, rounds by game with changed results, number of changed entries."""

_LOTS = range(16)
"""Seeds that give each lot between two both results, while the secret is unknown."""


def pairing_problems(contest: ContestView, log: Sequence[JournalLine], outcomes: Outcomes) -> Iterator[str]:
    """The first round that does not follow from the results before it in the log. Ladders are not verified."""
    if not contest.snapshot.format.has_rounds:
        return
    pairings, start = contest.pairings, 0
    draws = _draws_of_log(contest, log, outcomes)
    if isinstance(contest.snapshot.format, Sequential):
        yield from _sequential_problems(contest, contest.snapshot.format, draws)
        return
    for count, results, _, changes in draws:
        drawn = _first_pairings(pairings[start:], count)
        if not drawn or not _may_be_drawn(contest, pairings[:start], drawn, results, changes):
            break
        start += len(drawn)
    if start < len(pairings):
        yield f"round {pairings[start].round} does not follow from the entries and the earlier results"


def _sequential_problems(contest: ContestView, form: Sequential, draws: Iterable[_Draw]) -> Iterator[str]:
    entries = contest.tournament.entries(contest.absent_after(0))
    if len(entries) != form.agents[0]:
        yield f"a sequential test has two agents, contest.json has {len(entries)}"
        return
    names, pairings = {entry.id for entry in entries}, contest.pairings
    agent, place = by_seed(entries)[0].id, {pairing.round: at for at, pairing in enumerate(pairings)}
    states = [form.progress()]
    """By number of pairings."""
    seen: set[GameContent] = set()
    played: dict[int, dict[str, GameResult]] = {}
    start = 0
    for count, results, changed, _ in draws:
        for game, number in changed.items():
            at = place.get(number, len(pairings))
            if game in results:
                played.setdefault(at, {})[game] = results[game]
            else:
                played.get(at, {}).pop(game, None)
            for state in states[at + 1 :]:
                seen -= state.new
            del states[at + 1 :]
        while len(states) <= start and not states[-1].is_decided:
            games = played.get(len(states) - 1, {}).values()
            if len(games) != form.games:
                break
            if any(set(game.agents) != names for game in games):
                yield f"round {pairings[len(states) - 1].round} has results of other agents"
                return
            states.append(form.progress_with(states[-1], games, agent, seen))
            seen |= states[-1].new
        following = form.pairing_after(entries, pairings[start - 1] if start else None)
        may_follow = not states[-1].is_decided and following.round <= form.rounds
        if count != 1 or not may_follow or pairings[start : start + 1] != [following]:
            break
        start += 1
    if start < len(pairings):
        yield f"round {pairings[start].round} does not follow from the entries and the earlier results"


def _draws_of_log(contest: ContestView, log: Sequence[JournalLine], outcomes: Outcomes) -> Iterator[_Draw]:
    changed: dict[str, int] = {}
    by_id = {game.id: game for game in contest.games}
    results: dict[str, GameResult] = {}
    changes = 0
    for line in log:
        game = by_id.get(line.game or "")
        match line.change:
            case Disqualified() | Withdrawn() | Entered():
                changes += 1
            case Scheduled(count):
                yield count // contest.snapshot.format.games, results, changed, changes
                changed = {}
            case UnknownLine() if kind_of(line.change) is Scheduled:
                yield 0, results, changed, changes
                changed = {}
            case Annulled() if game is not None:
                results.pop(game.id, None)
                changed[game.id] = game.round
            case Accepted(attempt=attempt) if game is not None:
                if (result := result_of(game, attempt, outcomes)) is not None:
                    results[game.id] = result
                    changed[game.id] = game.round


def _first_pairings(pairings: Sequence[Pairing], count: int) -> list[Pairing]:
    drawn: list[Pairing] = []
    for pairing in pairings:
        if pairing.second is not None:
            if not count:
                break
            count -= 1
        drawn.append(pairing)
    return drawn


def _may_be_drawn(
    contest: ContestView,
    paired: Sequence[Pairing],
    drawn: Sequence[Pairing],
    results: Mapping[str, GameResult],
    changes: int,
) -> bool:
    """Whether all pairings of the next rounds, after this number of changes of the entries, may be these."""
    tournament, absent, out = contest.tournament, contest.absent_after(changes), contest.out_after(changes)
    for lots in _LOTS if tournament.seed is None else (None,):
        following = tournament.next(paired, results.values(), absent, out, lots)
        further = following[len(drawn) :]
        if following[: len(drawn)] == drawn and not (further and further[0].round == drawn[-1].round):
            return True
    return False


# --- a ladder --------------------------------------------------------------------------------------------------------


def ladder_problems(contest: ContestView, log: ReadLog, outcomes: Outcomes) -> Iterator[str]:
    """Choices that differ from those of the matchmaker. Nothing is checked before the secret is revealed."""
    seed = contest.tournament.seed
    if contest.snapshot.format.has_rounds or seed is None:
        return
    # It needs NumPy, whose import takes long.
    from judge.tournament.ladder import LadderHistory, follow

    by_id = {game.id: game for game in contest.games}

    def known_result(game: str, attempt: int) -> GameResult:
        result = result_of(by_id[game], attempt, outcomes)
        if result is None:
            number = by_id[game].number
            raise InputError(f"game {number}: the result of attempt {attempt}, on which later pairs depend, is missing")
        return result

    entries = contest.snapshot.by_name()
    at_start = tuple(entry for entry in contest.snapshot.entries if entry.name not in contest.entered)
    first = contest.snapshot.model_copy(update={"entries": at_start})
    history = LadderHistory(first, seed, known_result, entries.__getitem__)
    found: list[str] = []

    def compare(pairing: Pairing) -> None:
        expected = history.next()
        if expected != pairing and len(found) < MAX_REPORTED:
            right = "no pair" if expected is None else f"{expected.first} - {expected.second}"
            found.append(
                f"game {history.drawn + 1}: the matchmaker chooses {right}, but {pairing.first} - {pairing.second} "
                "was scheduled"
            )

    pairings = list(contest.pairings)
    problem = ""
    try:
        follow(history, (line.change for line in log.lines), pairings, contest.games, compare)
    except CONTRADICTIONS as error:
        problem = f"the choice of the pairs cannot be verified after game {history.drawn}: {error}"
    yield from found
    if problem:
        yield problem
    elif history.drawn != len(pairings):
        yield f"the log schedules {history.drawn} games, pairings.json has {len(pairings)}"


def admission_problems(contest: ContestView, log: ReadLog) -> Iterator[str]:
    """Late entries of a ladder without a submission that passed, and delayed ones."""
    if contest.snapshot.format.has_rounds:
        return
    admissions = _Admissions(contest)
    for number, line in enumerate(log.lines):
        for problem in admissions.take(line):
            yield f"leaf {number} of the log, {line.event}: {problem}"


class _Admissions:
    def __init__(self, contest: ContestView) -> None:
        self._form = contest.snapshot.format
        self._entries = contest.snapshot.by_name()
        self._state = ContestState()
        self._versions = Versions()
        self._names: dict[int, str] = {}
        """First names of the entries, by submission."""
        for entry in contest.snapshot.entries:
            if entry.name not in contest.entered:
                self._add(entry)
        self._passed: dict[str, list[int]] = defaultdict(list)
        """Negative numbers of submissions that had passed, as a heap by name in lower case."""
        self._changed: set[str] = set()
        """Names to look at before the next draw."""
        self._refused: set[str] = set()
        self._reported: set[int] = set()

    def take(self, line: JournalLine) -> Iterator[str]:
        change = line.change
        if isinstance(change, SubmissionChanged):
            self._change_names(change.number)
        self._state.apply(change, line.digest)
        match change:
            case Scheduled() if self._state.why_frozen is None and self._state.is_created:
                yield from self._of_draw()
            case SubmissionChanged(state, number, name):
                self._change_names(number)
                if state in ENTERS:
                    heapq.heappush(self._passed[(name or "").casefold()], -number)
            case Entered(agent) if agent in self._entries:
                yield from self._of_entry(self._entries[agent])
            case NotEntered(agent):
                self._refused.add(agent)

    def _add(self, entry: SnapshotEntry) -> str:
        name = self._versions.add(entry)
        if entry.submission is not None:
            self._names[entry.submission] = name
        return name

    def _change_names(self, number: int) -> None:
        if number in self._state.submissions:
            self._changed.add((self._state.submissions[number][0].name or "").casefold())
        if number in self._names:
            self._changed.add(self._names[number])

    def _of_entry(self, entry: SnapshotEntry) -> Iterator[str]:
        self._changed.add(self._add(entry))
        change, digest = self._state.submissions.get(entry.submission or 0, (None, None))
        passed = change is not None and change.state in ENTERS and digest == entry.seat.digest
        name = (change and change.name) or ""
        if not passed or self._versions.newest.get(name.casefold()) is not entry:
            yield f"{entry.name} has no submission that had passed with its name and files"
        if entry.start != start_rating(self._form, entry):
            yield f"{entry.name} has a start rating that differs from the terms"

    def _of_draw(self) -> Iterator[str]:
        waiting = sorted(found for key in self._changed if (found := self._waiting(key)) is not None)
        self._changed.clear()
        for submission, name in waiting:
            if name not in self._refused and submission not in self._reported:
                self._reported.add(submission)
                yield f"submission {submission}, {name}, had passed, but had not entered"

    def _waiting(self, key: str) -> tuple[int, str] | None:
        """The last submission with this name, if it can enter."""
        passed = self._passed[key]
        while passed:
            number = -passed[0]
            change, digest = self._state.submissions[number]
            name = change.name or ""
            if change.state in ENTERS and name.casefold() == key:
                former = self._versions.newest.get(key)
                can_enter = former is None or is_new_version(former, number, digest, self._withdrawn(former))
                return (number, name) if can_enter else None
            heapq.heappop(passed)
        return None

    def _withdrawn(self, entry: SnapshotEntry) -> set[int]:
        number = entry.submission or 0
        change, _ = self._state.submissions.get(number, (None, None))
        return {number} if change is not None and change.state is SubmissionState.WITHDRAWN else set()


# --- the lock-in -----------------------------------------------------------------------------------------------------


def draw_problems(contest: ContestView, log: ReadLog) -> Iterator[str]:
    """Signs of a manipulated draw: the commitment must be the first leaf, and the terms must be locked in once,
    before the contest is created.
    """
    freeze, events = contest.snapshot.freeze, [kind_of(line.change) for line in log.lines]
    if freeze is None:
        yield f"the draw in {DOCUMENT} does not depend on the log, so the organiser could choose it"
        return
    if events[:1] != [Announced] or log.lines[0].digest != contest.snapshot.commitment:
        yield f"the log does not begin with the commitment of {DOCUMENT}"
    terms = terms_digest(contest.document)
    frozen = [number for number, event in enumerate(events, 1) if event is LockedIn]
    if frozen != [freeze.leaves] or Created in events[: freeze.leaves] or Created not in events:
        yield f"the log does not lock in the entries once, as leaf {freeze.leaves}, before the contest is created"
    elif {terms, freeze.entries} != {log.lines[freeze.leaves - 1].digest}:
        yield f"the entries and terms that the log locked in differ from those of {DOCUMENT}"
    elif log.tree.root(freeze.leaves).hex() != freeze.root:
        yield f"the draw depends on another log: the root of the first {freeze.leaves} leaves differs"
    yield from _entry_problems(contest, log.lines[: freeze.leaves])


def _entry_problems(contest: ContestView, lines: Sequence[JournalLine]) -> Iterator[str]:
    ends = {number: each for number, each in state_after(lines).submissions.items() if each[0].state in ENTERS}
    names = {number: (change.name or "").lower() for number, (change, _) in ends.items()}
    latest = {names[number]: number for number in sorted(ends)}
    entries = {entry.submission: entry for entry in contest.snapshot.entries}
    for number, (_, digest) in ends.items():
        entry = entries.get(number)
        if entry is not None and names[number] not in ("", entry.name.casefold()):
            yield f"submission {number} takes part as {entry.name}, but passed with another name"
        if entry is None and latest[names[number]] == number:
            yield f"submission {number} passed before the entries were locked in, but does not take part"
        if entry is not None and entry.seat.digest != digest:
            yield f"submission {number} takes part with files that differ from those that passed"


def undecided(contest: ContestView, log: ReadLog) -> Iterator[str]:
    """Submissions that were undecided at lock-in."""
    freeze = contest.snapshot.freeze
    for number, (change, _) in state_after(log.lines[: freeze.leaves] if freeze else ()).submissions.items():
        if words := _UNDECIDED.get(change.state):
            yield f"submission {number} {words} when the entries were locked in"


_UNDECIDED: Mapping[SubmissionState, str] = {
    SubmissionState.RECEIVED: "had no result",
    SubmissionState.FAILED: "had no result, because the judge's host failed during its check,",
}
