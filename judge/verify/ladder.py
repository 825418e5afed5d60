"""Verifies that each pair of a ladder follows from the log before it and from the contest's secret, and that each
submission enters before the first draw after its check.
"""

from collections.abc import Iterator, Mapping, Sequence

from judge.base.errors import InputError
from judge.contest_games import GameResult, Pairing
from judge.journal.events import Entered, NotEntered, Scheduled, SubmissionChanged, SubmissionState
from judge.journal.state import ContestState
from judge.publish.model import PublishedContest
from judge.store.types import ENTERS, JournalLine
from judge.tournament.snapshot import SnapshotEntry, is_new_version, newest_versions, start_rating
from judge.verify.log import ReadLog
from judge.verify.records import CONTRADICTIONS, VerifiedRecord


def ladder_problems(contest: PublishedContest, log: ReadLog, records: Sequence[VerifiedRecord]) -> Iterator[str]:
    """Choices that differ from those of the matchmaker. Nothing is checked before the secret is revealed."""
    seed = contest.tournament.seed
    if contest.snapshot.format.has_rounds or seed is None:
        return
    # It needs NumPy, whose import takes long.
    from judge.tournament.ladder import LadderHistory, follow

    by_id = {game.id: game for game in contest.games}
    withdrawn = {(record.number, record.attempt): record.outcome for record in records}

    def result_of(game: str, attempt: int) -> GameResult:
        row = by_id[game]
        if row.result is not None and row.attempt == attempt:
            return row.result
        outcome = withdrawn.get((row.number, attempt))
        if outcome is None:
            raise InputError(
                f"game {row.number}: the result of attempt {attempt}, on which later pairs depend, is missing"
            )
        return outcome.row(row, attempt)

    entries = contest.snapshot.by_name()
    at_start = tuple(entry for entry in contest.snapshot.entries if entry.name not in contest.entered)
    first = contest.snapshot.model_copy(update={"entries": at_start})
    history = LadderHistory(first, seed, result_of, entries.__getitem__)
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


def admission_problems(contest: PublishedContest, log: ReadLog) -> Iterator[str]:
    """Late entries of a ladder without a submission that passed, and delayed ones."""
    if contest.snapshot.format.has_rounds:
        return
    admissions = _Admissions(contest)
    for number, line in enumerate(log.lines):
        for problem in admissions.take(line):
            yield f"leaf {number} of the log, {line.event}: {problem}"


class _Admissions:
    def __init__(self, contest: PublishedContest) -> None:
        self._form = contest.snapshot.format
        self._entries = contest.snapshot.by_name()
        self._present = [entry for entry in contest.snapshot.entries if entry.name not in contest.entered]
        self._state = ContestState()
        self._refused: set[str] = set()
        self._reported: set[int] = set()
        self._waiting: Mapping[int, str] | None = None
        """Names of submissions that can enter; None: unknown."""

    def take(self, line: JournalLine) -> Iterator[str]:
        self._state.apply(line.change, line.digest)
        match line.change:
            case Scheduled() if self._state.why_frozen is None and self._state.is_created:
                yield from self._of_draw()
            case SubmissionChanged():
                self._waiting = None
            case Entered(agent) if agent in self._entries:
                yield from self._of_entry(self._entries[agent])
            case NotEntered(agent):
                self._refused.add(agent)

    def _of_entry(self, entry: SnapshotEntry) -> Iterator[str]:
        self._present.append(entry)
        self._waiting = None
        name, digest = self._passed().get(entry.submission or 0, ("", None))
        if digest != entry.seat.digest or newest_versions(self._present).get(name.casefold()) is not entry:
            yield f"{entry.name} has no submission that had passed with its name and files"
        if entry.start != start_rating(self._form, entry):
            yield f"{entry.name} has a start rating that differs from the terms"

    def _of_draw(self) -> Iterator[str]:
        if self._waiting is None:
            self._waiting = self._who_waits()
        for submission, name in self._waiting.items():
            if name not in self._refused and submission not in self._reported:
                self._reported.add(submission)
                yield f"submission {submission}, {name}, had passed, but had not entered"

    def _passed(self) -> Mapping[int, tuple[str, str | None]]:
        """Names and digests of files by the number of the submission."""
        found = sorted(self._state.submissions.items())
        return {number: (each.name or "", digest) for number, (each, digest) in found if each.state in ENTERS}

    def _who_waits(self) -> Mapping[int, str]:
        newest, submissions = newest_versions(self._present), self._state.submissions.items()
        withdrawn = {number for number, (each, _) in submissions if each.state is SubmissionState.WITHDRAWN}
        latest = {name.casefold(): (number, name, digest) for number, (name, digest) in self._passed().items()}
        return {
            number: name
            for key, (number, name, digest) in latest.items()
            if key not in newest or is_new_version(newest[key], number, digest, withdrawn)
        }
