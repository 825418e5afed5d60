"""A contest and its store: jobs of games, results, standings; and the opened contest of another person.

The folder of contest.toml contains database, locked-in agents, records and folder states.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from judge.base.errors import InputError
from judge.base.text import percent, sentence
from judge.contest.plan import Planned, load_plan
from judge.contest_games import GameResult, ScheduledGame
from judge.journal.events import AdmissionsFrozen, AdmissionsReopened
from judge.record.spec import KeptFolders, RecordFile
from judge.sandbox.archive import EMPTY
from judge.sandbox.box import FolderKind
from judge.statistics.rating_model import BAYESELO_MODEL
from judge.store.contests import Store
from judge.store.files import Files
from judge.store.queries import Reader
from judge.store.sqlite_files import damaged, refuse_other_tables
from judge.tournament.snapshot import Snapshot, SnapshotEntry, read_snapshot

if TYPE_CHECKING:
    from judge.contest.attempts import Job
    from judge.contest_view.stored import StoredView
    from judge.contest_view.view import ContestView


class Contest:
    """A contest that has begun."""

    def __init__(self, store: Store, planned: Planned) -> None:
        """Raises InputError if the contest has not begun or the store lacks its secret."""
        self.store = store
        self.name = planned.name
        self.planned = planned
        self.first: Snapshot = read_snapshot(store.document(planned.name))
        """Without entries after the start."""
        self.secret = store.secret(planned.name)
        """See `Reader.secret`."""
        view = self.view()
        self.snapshot, self.tournament = view.snapshot, view.tournament
        if self.tournament.seed is None:
            raise InputError(f"the store lacks the secret of {self.name}; restore the store from a backup")
        self._programs: dict[str, Path] = {}

    @cached_property
    def files(self) -> Files:
        """Records and states of folders."""
        return Files(self.planned.files)

    def refresh(self) -> None:
        """Read entries after the start."""
        if self.store.number_of_entries(self.name) != len(self.snapshot.entries):
            view = self.view()
            self.snapshot, self.tournament = view.snapshot, view.tournament
            self.__dict__.pop("alone", None)

    @property
    def has_new_plan(self) -> bool:
        """Whether contest.toml was changed after the lock-in, without effect."""
        return hashlib.sha256(self.planned.text.encode()).hexdigest() != self.snapshot.plan_sha256

    def view(self) -> StoredView:
        """The contest now. A view reads each part once."""
        from judge.contest_view.stored import StoredView

        return StoredView(self.store, self.first, self.secret)

    def read(self) -> ContestView:
        """All of the contest at one moment."""
        from judge.contest_view.stored import StoredView

        with self.store.moment() as store:
            return StoredView(store, self.first, self.secret).read()

    # --- games to play --------------------------------------------------------------------------------

    def priorities(self) -> Mapping[str, float]:
        """Each agent's rating minus its deviation; empty without results."""
        from judge.statistics.ratings import lower_ends

        view = self.view()
        results = [result for result in view.results if view.out.keys().isdisjoint(result.agents)]
        return lower_ends(results, BAYESELO_MODEL) if results else {}

    @cached_property
    def alone(self) -> frozenset[str]:
        """Agents that play one game at a time."""
        folders = self.snapshot.policy.folders
        if not folders.kept or folders.round == "first":
            return frozenset()
        return frozenset(entry.name for entry in self.snapshot.entries)

    def check_failures(self, game: ScheduledGame) -> None:
        """Disqualify an ended game's agents, if checked after every game."""
        agents = (game.first, game.second)
        is_checked = self.snapshot.failures.check == "game" or not self.snapshot.format.has_rounds
        if is_checked and self.store.results_of(self.name, agents, failed=True):
            self.disqualify_failed(self.store.results_of(self.name, agents), game)

    def disqualify_failed(self, results: Sequence[GameResult], game: ScheduledGame | None = None) -> None:
        """Disqualify agents that failed too often. With `game`, only its two agents, and `results` are theirs."""
        limit = percent(self.snapshot.failures.limit)
        for agent, failed in self.tournament.failed(results, self.view().out).items():
            if game is None or agent in (game.first, game.second):
                share = percent(failed)
                why = sentence(f"failed in {share} of its games; {limit} are allowed")
                with suppress(InputError):  # an organiser was faster
                    self.store.disqualify(self.name, agent, why)

    def job(self, game: ScheduledGame, listener: Path | None = None) -> Job:
        """The job of the current attempt. Raises InputError if an agent's files or folders were changed."""
        from judge.contest.attempts import Job

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
        from judge.agents.store import AgentStore

        if digest not in self._programs:
            self._programs[digest] = AgentStore(self.planned.agents).get(digest)
        return self._programs[digest]

    def check_agents(self) -> None:
        """Raises InputError if a playing agent's files are missing or changed."""
        out = self.view().out
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
        from judge.contest_view.values import folder_words

        entries = self.snapshot.entries
        begun = {entry.name for entry in entries if entry.persistent}
        return folder_words([entry.name for entry in entries], begun, self.snapshot.folders_from)

    # --- played games ---------------------------------------------------------------------------------

    def record(self, digest: str) -> RecordFile:
        """Return a record. Raises InputError if it is missing or changed."""
        return RecordFile.model_validate_json(self.files.get(digest))


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


@contextmanager
def opened_if_begun(planned: Planned) -> Iterator[Contest | None]:
    """Context manager: a contest with its store; None before it begins."""
    if planned.has_no_store:
        yield None
        return
    with closing(open_store(planned)) as store:
        yield Contest(store, planned) if has_begun(store, planned) else None


def foreign(planned: Planned, named: Collection[str], instead: str = "") -> Planned:
    """Allow the store of an untrusted folder: an SQLite file in it, or what the caller names.

    `named`: URLs that may be opened. `instead`: opened for any other database. Raises InputError.
    """
    if planned.keeps_own_database:
        if planned.database_file is not None and not planned.has_no_store:
            refuse_other_tables(planned.database_file)
        return planned
    if instead:
        return planned.with_store(instead)
    if planned.written_store_url in named:
        return planned.with_store(planned.written_store_url)
    raise InputError(
        f"{planned.path}: store names a database outside its folder, which is opened only if you name it: give --store "
        "URL where the command has that option, or use an export of the contest"
    )


@contextmanager
def opened_foreign(path: Path, named: Collection[str], instead: str = "") -> Iterator[Contest]:
    """Context manager: the contest of a contest.toml or its folder, as `foreign`. Raises InputError if it has not
    begun.
    """
    planned = load_plan(path)
    if not planned.has_no_store:
        with opened_if_begun(foreign(planned, named, instead)) as contest:
            if contest is not None:
                yield contest
                return
    raise planned.not_begun()


def find_game(contest: Contest, word: str) -> ScheduledGame:
    """Find a game by number or id prefix. Raises InputError unless exactly one matches."""
    matching = contest.store.matching_games(contest.name, word)
    found = [game for game in matching if str(game.number) == word] or matching
    if len(found) != 1:
        raise InputError(
            f"{word!r} is {'no game' if not found else 'several games'} of {contest.name}: give its number, or more of "
            "its id; judge contest status --games lists them"
        )
    return found[0]
