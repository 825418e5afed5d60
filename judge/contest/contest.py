"""A contest of a store: begun once; what is played next, what a game is played with, and where everybody stands.

The folder of its contest.toml has everything: the database, the frozen agents, the records and the folders' states.
"""

import gc
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from judge.agents.store import AgentStore
from judge.contest.chance import new_secret
from judge.contest.folder_transfer import brought, folder_words
from judge.contest.plan import Planned
from judge.contest.results import PlayedPairing
from judge.contest.runner import ContestRunner
from judge.contest.schedule import Table, Tournament
from judge.contest.slots import Players
from judge.contest.snapshot import Frozen, freeze, thaw
from judge.contest.worker import Job
from judge.errors import InputError
from judge.referee.spec import KeptFolders, MatchSpec, RecordFile, SeatSpec
from judge.sandbox.archive import EMPTY
from judge.sandbox.folders import FolderKind
from judge.sandbox.owner import owned_directory
from judge.store.files import Files
from judge.store.store import Store
from judge.store.types import EntryRow, Issued, MatchState, Result, Scheduled


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a contest is: its table, what was played, and who is disqualified, with the reason."""

    table: Table
    played: Sequence[PlayedPairing]
    out: Mapping[str, str]


class Contest:
    """One contest that has begun."""

    def __init__(self, store: Store, planned: Planned) -> None:
        """InputError where it has not begun, or its store does not have the secret that it committed to."""
        self.store = store
        self.name = planned.name
        self.planned = planned
        self.files = Files(planned.files)
        self.frozen: Frozen = thaw(store.plan(planned.name))
        self.secret = store.secret(planned.name)
        """What its chance follows from; nobody may see it before the contest is over. None where a seed was given."""
        self.course = Tournament(self.frozen, self.secret)
        if self.course.seed is None:
            raise InputError(f"the store has lost the secret of {self.name}'s chance; bring the store back from a copy")
        self._programs: dict[str, Path] = {}

    @property
    def has_new_plan(self) -> bool:
        """Whether contest.toml was changed since; the contest is played as it was frozen."""
        text = self.planned.text.encode()
        return hashlib.sha256(text).hexdigest() != self.frozen.plan_sha256

    # --- what is played -------------------------------------------------------------------------------

    def round(self, players: Players[Issued]) -> ContestRunner:
        """The loop that plays it."""
        return ContestRunner(
            self.store,
            self.files,
            self.name,
            players,
            job_of=self.job,
            more=self.more,
            allowed_voids=VOIDS,
            alone=self.alone,
        )

    @cached_property
    def alone(self) -> frozenset[str]:
        """The agents whose games wait for each other: each starts from the folders that the one before it left."""
        folders = self.frozen.policy.folders
        if not folders.kept or folders.round == "first":
            return frozenset()
        return frozenset(entry.name for entry in self.frozen.entries)

    def more(self) -> Sequence[Scheduled]:
        """Schedule the next round, when all that was scheduled has ended; its games, none when the contest is over.

        Before it, who has failed in too many games is disqualified.
        """
        results = self.store.briefs(self.name)
        for agent, share in self.course.failed(results, self.out()).items():
            limit = self.frozen.failures.limit
            self.store.disqualify(self.name, agent, f"failed in {share:.0%} of its games; {limit:.0%} are allowed")
        drawn = self.course.next(self.store.paired(self.name), results, self.out())
        self.store.schedule(self.name, drawn.games, drawn.pairings)
        return drawn.games

    def job(self, issued: Issued) -> Job:
        """What a worker needs to play a game. InputError where an agent's files or folders are not what they were."""
        spec = MatchSpec.model_validate_json(issued.match.spec)
        seed = self.course.seed_of(issued.match, issued.attempt)
        spec = spec.model_copy(update={"seed": seed})
        if self.frozen.policy.folders.kept:
            seats = tuple(self._with_folders(seat, issued) for seat in spec.seats)
            spec = spec.model_copy(update={"seats": seats})
        states = {
            digest: self.files.get(digest)
            for seat in spec.seats
            for digest in (seat.folders.digests.values() if seat.folders else ())
            if digest != EMPTY.digest
        }
        programs = {seat.digest: self.program(seat.digest) for seat in spec.seats}
        return Job(spec.model_dump_json(), issued.attempt, programs, states, self.name)

    def program(self, digest: str) -> Path:
        """The files of a frozen agent, looked at once."""
        if digest not in self._programs:
            self._programs[digest] = AgentStore(self.planned.agents).get(digest)
        return self._programs[digest]

    def check_agents(self) -> None:
        """InputError where the files of an agent that still plays are missing or are not what they were."""
        out = self.out()
        for entry in self.frozen.entries:
            if entry.name not in out:
                self.program(entry.seat.digest)

    def _with_folders(self, seat: SeatSpec, issued: Issued) -> SeatSpec:
        heads = self._heads(seat.name, issued.match.number)
        kept = {kind.value: heads.get(kind, EMPTY.digest) for kind in self.frozen.policy.folders.kept}
        name = self.frozen.by_name()[seat.name].calls_itself
        return seat.model_copy(update={"folders": KeptFolders(name=name, **kept)})

    def _heads(self, agent: str, number: int) -> Mapping[FolderKind, str]:
        """The states that an agent's game starts from: those that its game before it ended with."""
        last = self.store.last_record(self.name, agent, number) if self.frozen.policy.folders.round == "each" else None
        if last is None:
            begun = self.frozen.by_name()[agent].persistent
            return {} if begun is None else {FolderKind.PERSISTENT: begun}
        digest, seat = last
        record = self.record(digest).record
        return {kind: folder.digest for kind, folder in record.seats[seat].folders.items()}

    @property
    def folders_said(self) -> str:
        """Where the agents' persistent folders began, for people; empty where the policy has none."""
        if not self.frozen.policy.folders.persistent:
            return ""
        entries = self.frozen.entries
        begun = {entry.name for entry in entries if entry.persistent}
        return folder_words([entry.name for entry in entries], begun, self.frozen.folders_from)

    # --- what was played ------------------------------------------------------------------------------

    def record(self, digest: str) -> RecordFile:
        """A record by its digest; InputError where it is missing or was changed."""
        return RecordFile.model_validate_json(self.files.get(digest))

    def out(self) -> Mapping[str, str]:
        """Who is disqualified, and why."""
        return {
            entry.name: entry.disqualified for entry in self.store.entries(self.name) if entry.disqualified is not None
        }

    def results(self) -> list[Result]:
        """The results so far, in the order of the schedule."""
        return self.store.results(self.name)

    def standing(self) -> Standing:
        """The table as it is now."""
        out = self.out()
        with _uncollected():
            played = self.course.played(self.store.paired(self.name), self.store.briefs(self.name))
            return Standing(self.course.table(played, out), played, out)

    def is_over(self) -> bool:
        """Whether all games were played and no round follows."""
        counts = self.store.counts(self.name)
        if counts[MatchState.PENDING] or counts[MatchState.RUNNING] or counts[MatchState.HELD]:
            return False
        paired, results = self.store.paired(self.name), self.store.briefs(self.name)
        return not self.course.next(paired, results, self.out()).games


@contextmanager
def _uncollected() -> Iterator[None]:
    """No search for garbage: of a hundred thousand games that are all counted it finds none, and takes its third."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


VOIDS = 2
"""How many voids in a row of one game stop the contest (facts/runners.md 3.3)."""


def open_store(planned: Planned) -> Store:
    """The store of a plan, made where it is not there yet."""
    return Store(planned.store_url)


def has_begun(store: Store, planned: Planned) -> bool:
    """Whether the contest is in the store."""
    return planned.name in store.contest_names()


def begin(store: Store, planned: Planned, host: Mapping[str, Any]) -> Contest:
    """Freeze a contest and put it into the store with its first games, or open it where it is there already."""
    if not has_begun(store, planned):
        with owned_directory() as staging:
            secret = None if planned.plan.seed is not None else new_secret()
            begins = partial(_begins, planned)
            frozen = freeze(planned, staging, dict(host), secret, begins)
        entered = [EntryRow(entry.name, entry.rank, entry.model_dump_json()) for entry in frozen.entries]
        store.create(planned.name, frozen.model_dump_json(), entered, secret)
        if frozen.policy.folders.persistent:
            store.remark(planned.name, "folders", _story(frozen))
    contest = Contest(store, planned)
    if not store.paired(planned.name):
        contest.more()
    return contest


def _begins(planned: Planned, agents: Sequence[tuple[str, str]]) -> tuple[str, Mapping[str, str]]:
    """What the agents' persistent folders begin with; the states are among the contest's files then."""
    found = brought(planned)
    if found is None:
        return "", {}
    files = Files(planned.files)
    states = found.of(agents)
    return found.source, {name: files.put(state.data) for name, state in states.items()}


def _story(frozen: Frozen) -> str:
    """Where the folders begin, for the log."""
    states = {entry.name: entry.persistent for entry in frozen.entries if entry.persistent}
    said = "; ".join(f"{name} {digest}" for name, digest in states.items())
    words = folder_words([entry.name for entry in frozen.entries], states, frozen.folders_from)
    return f"{words}: {said}" if said else words


def find_match(contest: Contest, word: str) -> Scheduled:
    """The game that an organiser means by its number or the beginning of its id; InputError for none or several."""
    games = [match for match, *_ in contest.store.games(contest.name)]
    found = [match for match in games if str(match.number) == word]
    if not found and len(word) >= 4:
        found = [match for match in games if match.id.startswith(word)]
    if len(found) != 1:
        raise InputError(
            f"{word!r} is {'no game' if not found else 'several games'} of {contest.name}: give its number, or more of "
            "its id; judge contest status --games lists them"
        )
    return found[0]
