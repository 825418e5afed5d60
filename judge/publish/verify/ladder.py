"""Verifies that each pair of a ladder follows from the log before it and from the contest's secret, and that each
submission enters before the first draw after its check.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterator

from judge.base.errors import InputError
from judge.contest_games import GameResult, Pairing
from judge.contest_view.view import ContestView
from judge.journal.events import Entered, NotEntered, Scheduled, SubmissionChanged, SubmissionState
from judge.journal.state import ContestState
from judge.publish.verify.log import ReadLog
from judge.publish.verify.records import CONTRADICTIONS, Outcomes, result_of
from judge.store.types import ENTERS, JournalLine
from judge.tournament.snapshot import SnapshotEntry, Versions, is_new_version, start_rating


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


MAX_REPORTED = 10


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
        name, digest = self._version(entry.submission or 0)
        if digest != entry.seat.digest or self._versions.newest.get(name.casefold()) is not entry:
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

    def _version(self, number: int) -> tuple[str, str | None]:
        """Name and digest of a submission that had passed."""
        change, digest = self._state.submissions.get(number, (None, None))
        return (change.name or "", digest) if change is not None and change.state in ENTERS else ("", None)

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
