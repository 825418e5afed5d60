"""A contest and its store: lock in, next games, standings.

The folder of contest.toml contains database, locked-in agents, records and folder states.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from judge.agents.store import AgentStore
from judge.base.errors import InputError
from judge.base.owner import owned_directory
from judge.base.text import percent, sentence
from judge.contest.attempts import Executor, Job
from judge.contest.folders.kept import share_files
from judge.contest.folders.transfer import brought, folder_words
from judge.contest.plan import Planned
from judge.contest.runner import ContestRunner
from judge.contest.skip_ratings import skip_words
from judge.contest.take_snapshot import take_snapshot
from judge.contest_games import GameResult, GameState, ScheduledGame
from judge.journal.events import (
    AdmissionsFrozen,
    AdmissionsReopened,
    FoldersTransferred,
    SeasonEnded,
    StartRatingsRead,
    StartTimeReached,
)
from judge.record.spec import KeptFolders, RecordFile
from judge.sandbox.archive import EMPTY
from judge.sandbox.box import FolderKind
from judge.statistics.rating_model import BAYESELO_MODEL
from judge.statistics.ratings import lower_ends
from judge.store.contests import Store
from judge.store.damage import damaged
from judge.store.files import Files
from judge.store.queries import Reader
from judge.store.types import EntryRow
from judge.submissions.windows import moment_text
from judge.tournament.results import PlayedPairing
from judge.tournament.schedule import PendingPairing, Table, Tournament
from judge.tournament.seeds import Freeze, commitment_to, new_secret
from judge.tournament.snapshot import Snapshot, SnapshotEntry, read_snapshot
from judge.transparency.merkle import Tree

if TYPE_CHECKING:
    from judge.contest.ladder import LadderScheduler


@dataclass(frozen=True, slots=True)
class Standing:
    """Table, results, agents without counted results (`out`) with reasons, and each agent's group or league."""

    table: Table
    played: Sequence[PlayedPairing]
    out: Mapping[str, str]
    stages: Mapping[str, str]
    withdrawn: Mapping[str, str]

    @property
    def disqualified(self) -> Mapping[str, str]:
        """Disqualified agents and reasons."""
        return {agent: why for agent, why in self.out.items() if self.withdrawn.get(agent) != why}


class Contest:
    """A contest that has begun."""

    def __init__(self, store: Store, planned: Planned) -> None:
        """Raises InputError if the contest has not begun or the store lacks its secret."""
        self.store = store
        self.name = planned.name
        self.planned = planned
        self.files = Files(planned.files)
        self.first: Snapshot = read_snapshot(store.document(planned.name))
        """Without entries after the start."""
        self.secret = store.secret(planned.name)
        """See `Reader.secret`."""
        self.snapshot: Snapshot = self.first
        self.tournament = Tournament(self.snapshot, self.secret)
        self.refresh()
        if self.tournament.seed is None:
            raise InputError(f"the store lacks the secret of {self.name}; restore the store from a backup")
        self._programs: dict[str, Path] = {}
        self.enter_passed: Callable[[Contest], bool] = lambda _: False
        """Called in a ladder when a submission passed: `judge.contest.admissions.enter_passed`."""

    def refresh(self) -> None:
        """Read entries after the start."""
        if self.store.number_of_entries(self.name) == len(self.snapshot.entries):
            return
        first = self.first.by_name()
        late = [entry.entry for entry in self.store.entries(self.name) if entry.name not in first]
        self.snapshot = self.first.with_late(late)
        self.tournament = Tournament(self.snapshot, self.secret)
        self.__dict__.pop("alone", None)

    @property
    def has_new_plan(self) -> bool:
        """Whether contest.toml was changed after the lock-in, without effect."""
        text = self.planned.text.encode()
        return hashlib.sha256(text).hexdigest() != self.snapshot.plan_sha256

    # --- games to play --------------------------------------------------------------------------------

    def runner(
        self,
        executor: Executor,
        check: Callable[[], None] = lambda: None,
        listener: Path | None = None,
        drain: Event | None = None,
        abandon: Event | None = None,
    ) -> ContestRunner:
        """The runner; `listener` is the recorder's socket."""
        return ContestRunner(
            self.store,
            self.files,
            self.name,
            executor,
            job_of=partial(self.job, listener=listener),
            schedule_next=self.schedule_next,
            check_failures=self.check_failures,
            priorities=self.priorities if self.planned.plan.order == "lowest" else None,
            attempts=self.snapshot.policy.attempts,
            alone=lambda: self.alone,
            check=check,
            drain=drain,
            abandon=abandon,
        )

    def priorities(self) -> Mapping[str, float]:
        """Each agent's rating minus its deviation; empty without results."""
        out = self.out()
        results = [result for result in self.store.results(self.name) if out.keys().isdisjoint(result.agents)]
        return lower_ends(results, BAYESELO_MODEL) if results else {}

    @cached_property
    def alone(self) -> frozenset[str]:
        """Agents that play one game at a time."""
        folders = self.snapshot.policy.folders
        if not folders.kept or folders.round == "first":
            return frozenset()
        return frozenset(entry.name for entry in self.snapshot.entries)

    def schedule_next(self) -> bool:
        """Disqualify failing agents, then schedule the next games. False if none follow now."""
        if self.store.state(self.name) != "open":
            return False
        if self._ladder is not None:
            return self._ladder.schedule_next()
        self.refresh()
        while True:
            [(last, _)] = self.store.journal_before(self.name, None, 1)
            counts = self.store.counts(self.name)
            if counts[GameState.PENDING] or counts[GameState.HELD]:
                return False
            if counts[GameState.RUNNING] and self.snapshot.format.waits:
                return False
            results, earlier = self.store.results(self.name), self.store.pairings(self.name)
            self._disqualify_failed(results)
            pairings = self.tournament.next(earlier, results, self.absent())
            games = self.tournament.games(pairings, len(earlier))
            if not games:
                return False
            if self.store.schedule(self.name, games, pairings, after=last):
                return True

    @cached_property
    def _ladder(self) -> "LadderScheduler | None":
        if self.snapshot.format.has_rounds:
            return None
        # NumPy takes long to import.
        from judge.contest.ladder import LadderScheduler

        return LadderScheduler(self.store, self.first, self._with_late, self.record, lambda: self.enter_passed(self))

    def _with_late(self) -> Tournament:
        self.refresh()
        return self.tournament

    def check_failures(self, game: ScheduledGame) -> None:
        """Disqualify an ended game's agents, if checked after every game."""
        agents = (game.first, game.second)
        is_checked = self.snapshot.failures.check == "game" or self._ladder is not None
        if is_checked and self.store.results_of(self.name, agents, failed=True):
            self._disqualify_failed(self.store.results_of(self.name, agents), game)

    def _disqualify_failed(self, results: Sequence[GameResult], game: ScheduledGame | None = None) -> None:
        limit = percent(self.snapshot.failures.limit)
        for agent, failed in self.tournament.failed(results, self.out()).items():
            # Of others, only games against these two are known.
            if game is None or agent in (game.first, game.second):
                share = percent(failed)
                why = sentence(f"failed in {share} of its games; {limit} are allowed")
                with suppress(InputError):  # an organiser was faster
                    self.store.disqualify(self.name, agent, why)

    def job(self, game: ScheduledGame, listener: Path | None = None) -> Job:
        """The job of the current attempt. Raises InputError if an agent's files or folders were changed."""
        entries = self.snapshot.by_name()
        agents = [entries[name] for name in (game.first, game.second)]
        first, second = (self._folders(agent, game.number) for agent in agents)
        states = {
            digest: self.files.get(digest)
            for folders in (first, second)
            for digest in (folders.digests.values() if folders else ())
            if digest != EMPTY.digest
        }
        return Job(
            game=game,
            programs={agent.seat.digest: self.program(agent.seat.digest) for agent in agents},
            seed=self.tournament.seed_of(game, game.attempt),
            folders=(first, second),
            states=states,
            contest=self.name,
            listener=listener,
        )

    def program(self, digest: str) -> Path:
        """Path of a locked-in agent, checked at the first call."""
        if digest not in self._programs:
            self._programs[digest] = AgentStore(self.planned.agents).get(digest)
        return self._programs[digest]

    def check_agents(self) -> None:
        """Raises InputError if a playing agent's files are missing or changed."""
        out = self.out()
        for entry in self.snapshot.entries:
            if entry.name not in out:
                self.program(entry.seat.digest)

    def _folders(self, agent: SnapshotEntry, number: int) -> KeptFolders | None:
        policy = self.snapshot.policy.folders
        if not policy.kept:
            return None
        last = self.store.last_record(self.name, agent.name, number) if policy.round == "each" else None
        heads: Mapping[FolderKind, str] = {}
        if last is not None:
            digest, seat = last
            heads = {kind: folder.digest for kind, folder in self.record(digest).record.seats[seat].folders.items()}
        elif agent.persistent is not None:
            heads = {FolderKind.PERSISTENT: agent.persistent}
        kept = {kind.value: heads.get(kind, EMPTY.digest) for kind in policy.kept}
        return KeptFolders(name=agent.calls_itself, **kept)

    @property
    def folders_notice(self) -> str:
        """Source of the persistent folders; empty without any."""
        if not self.snapshot.policy.folders.persistent:
            return ""
        entries = self.snapshot.entries
        begun = {entry.name for entry in entries if entry.persistent}
        return folder_words([entry.name for entry in entries], begun, self.snapshot.folders_from)

    # --- played games ---------------------------------------------------------------------------------

    def record(self, digest: str) -> RecordFile:
        """Return a record. Raises InputError if it is missing or changed."""
        return RecordFile.model_validate_json(self.files.get(digest))

    def out(self) -> Mapping[str, str]:
        """Agents whose results do not count, and reasons."""
        return {entry.name: entry.out for entry in self.store.gone_entries(self.name) if entry.out is not None}

    def withdrawn(self) -> Mapping[str, str]:
        """Agents that withdrew, and reasons."""
        return {
            entry.name: entry.withdrawn for entry in self.store.gone_entries(self.name) if entry.withdrawn is not None
        }

    def absent(self) -> frozenset[str]:
        """Agents that are no longer paired."""
        return frozenset(self.out()) | frozenset(self.withdrawn())

    def results(self) -> list[GameResult]:
        """The results so far, in schedule order."""
        return self.store.results(self.name)

    def standing(self, results: Sequence[GameResult] | None = None) -> Standing:
        """The current table. `results`, here and below: those of `results()`; None: read them."""
        out = self.out()
        found = self.results() if results is None else results
        played = self.tournament.played(self.store.pairings(self.name), found)
        table, stages = self.tournament.table(played, out), self.tournament.stages(played, out)
        return Standing(table, played, out, stages, self.withdrawn())

    def stages_of_games(self) -> Mapping[int, str]:
        """Group or league by game number; empty without groups."""
        groups = {(each.round, each.table): each.group for each in self.store.pairings(self.name) if each.group}
        rows = self.store.schedule_of(self.name) if groups else ()
        return {row.number: self.snapshot.format.stage_name(groups[row.round, row.table]) for row in rows}

    @property
    def has_ended(self) -> bool:
        """Whether a ladder's season ended early."""
        is_ladder = not self.snapshot.format.has_rounds
        return is_ladder and bool(self.store.last_lines(self.name, 1, SeasonEnded))

    @property
    def frozen_admissions(self) -> str | None:
        return why_frozen(self.store, self.name)

    def to_come(self, results: Sequence[GameResult] | None = None) -> PendingPairing:
        """Pairings that will be scheduled later."""
        if self.has_ended:
            return PendingPairing(0, is_exact=True)
        found = self.results() if results is None else results
        return self.tournament.to_come(self.store.pairings(self.name), found, self.absent())

    def is_over(self, results: Sequence[GameResult] | None = None) -> bool:
        """Whether all games are played and no round follows."""
        counts = self.store.counts(self.name)
        if counts[GameState.PENDING] or counts[GameState.RUNNING] or counts[GameState.HELD]:
            return False
        if self.has_ended:
            return True
        found = self.results() if results is None else results
        return not self.tournament.goes_on(self.store.pairings(self.name), found, self.absent())


def why_frozen(store: Reader, name: str) -> str | None:
    """Why a ladder's admissions are frozen; None if they are open."""
    for line in store.last_lines(name, 1, AdmissionsFrozen, AdmissionsReopened):
        match line.change:
            case AdmissionsFrozen(why):
                return why
    return None


def open_store(planned: Planned) -> Store:
    """Open or create the store. Raises StoreDamagedError if its file lost its contents."""
    path = planned.database_file
    if path is not None and path.exists() and not path.stat().st_size and any(Files(planned.files).digests()):
        raise damaged(path, "it is empty, but the contest has records")
    return Store(planned.store_url)


def has_begun(store: Store, planned: Planned) -> bool:
    """Whether the contest is in the store."""
    return planned.name in store.contest_names()


def why_not_yet(store: Store, planned: Planned) -> str:
    """Why a contest may not begin yet; empty if it may. Setting the clock back after the start has no effect."""
    starts = planned.plan.windows.starts
    begun = store.last_lines(planned.name, 1, StartTimeReached) if starts is not None else ()
    if starts is not None and begun and begun[0].change == StartTimeReached(moment_text(starts)):
        return ""
    return planned.waits_for()


def announce(store: Store, planned: Planned) -> None:
    """Start the contest's log with the commitment to its secret, unless it is started.

    Raises InputError if the fixed seed was added or removed since, or the cup was changed.
    """
    if has_begun(store, planned):
        return
    secret = None if planned.plan.seed is not None else new_secret()
    store.announce(planned.name, secret, None if secret is None else commitment_to(secret), planned.announced)
    if store.leaves(planned.name, 0, 1)[0].change != planned.announced:
        raise InputError(
            f"{planned.path}: cup was changed since the contest was announced; restore it, or choose another name"
        )
    if (store.announced_secret(planned.name) is None) != (secret is None):
        raise InputError(
            f"{planned.path}: seed was {'added' if secret is None else 'removed'} since the contest was announced; "
            "restore the file, or choose another name"
        )


def frozen(store: Store, name: str, terms: str) -> Freeze:
    """Lock in the digest of a contest's terms in its log. Raises InputError if other terms are locked in."""
    leaves = store.freeze(name, terms)
    tree = Tree(line.leaf for line in store.leaves(name, 0, leaves))
    return Freeze(leaves=leaves, root=tree.root().hex(), entries=terms)


def begin(store: Store, planned: Planned, host: Mapping[str, Any], *, is_early: bool = False) -> Contest:
    """Lock in and store a contest with its first games, or open it.

    Raises InputError before the end of submissions or the start, unless `is_early`.
    """
    if not has_begun(store, planned):
        if not is_early and (waits := why_not_yet(store, planned)):
            raise InputError(f"{planned.name} has not begun: {waits}; --now begins it now, which cannot be undone")
        announce(store, planned)
        with owned_directory() as staging:
            secret = store.announced_secret(planned.name)
            begins = partial(_begins, planned)
            freeze = partial(frozen, store, planned.name)
            snapshot = take_snapshot(planned, staging, dict(host), secret, begins, freeze)
        share_files(store, planned, snapshot)
        entered = [EntryRow(entry.name, entry.rank, entry.model_dump_json()) for entry in snapshot.entries]
        store.create(planned.name, snapshot.model_dump_json(), entered, secret)
        if words := skip_words(planned):
            store.remark(planned.name, StartRatingsRead(words))
        if source := planned.plan.ratings.from_:
            words = sentence(f"the agents start from their ratings in {source}")
            store.remark(planned.name, StartRatingsRead(words))
        if snapshot.policy.folders.persistent:
            states = {entry.name: entry.persistent for entry in snapshot.entries if entry.persistent}
            digests = "; ".join(f"{name} {digest}" for name, digest in states.items())
            words = folder_words([entry.name for entry in snapshot.entries], states, snapshot.folders_from)
            store.remark(planned.name, FoldersTransferred(f"{words}: {digests}" if digests else words))
    contest = Contest(store, planned)
    share_files(store, planned, contest.snapshot)
    # A ladder first enters submissions that passed.
    if contest.snapshot.format.has_rounds and not store.pairings(planned.name):
        contest.schedule_next()
    return contest


def _begins(planned: Planned, agents: Sequence[tuple[str, str]]) -> tuple[str, Mapping[str, str]]:
    found = brought(planned)
    if found is None:
        return "", {}
    files = Files(planned.files)
    states = found.of(agents)
    return found.source, {name: files.put(state.data) for name, state in states.items()}


def find_game(contest: Contest, word: str) -> ScheduledGame:
    """Find a game by number or id prefix. Raises InputError unless exactly one matches."""
    games = contest.store.games(contest.name)
    found = [game for game in games if str(game.number) == word]
    if not found and len(word) >= 4:
        found = [game for game in games if game.id.startswith(word)]
    if len(found) != 1:
        raise InputError(
            f"{word!r} is {'no game' if not found else 'several games'} of {contest.name}: give its number, or more of "
            "its id; judge contest status --games lists them"
        )
    return found[0]
