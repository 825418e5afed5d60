"""A match: games between two agents with alternating seats. Each attempt is written as a record; folders are kept
through a run.
"""

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from judge.agents.agents import Agent, stage_agent
from judge.agents.kept_folders import FolderStore, GameShelf, owner_of
from judge.base.durable_files import is_file
from judge.base.errors import HostError, InputError, os_errors_as
from judge.base.text import file_word
from judge.catalog import game_entry
from judge.catalog.entry import NOT_TURNED, Turn
from judge.contest.opening_files import MAX_OPENINGS, SHIPPED, opening_file, read_openings
from judge.games.types import Opening, Verdict
from judge.play.game import play_until_scored
from judge.play.venue import BoxBuilder, Venue
from judge.record.policy import Policy
from judge.record.spec import GameRecord, GameSpec, KeptFolders, RecordFile, SeatSpec
from judge.referee.setup import check_playable
from judge.referee.side import Ply
from judge.sandbox.box import BoxKind, FolderKind
from judge.sandbox.open_box import open_box
from judge.tournament.schedule import opening_of_pair


class MatchObserver:
    """Receives the events of a match, in its thread; methods do nothing by default. `build` creates the boxes.

    `watch` receives each answer, `follow` new parts of the transcript (see `judge.referee.replay`). They must return
    at once.
    """

    watch: Callable[[Ply], None] | None = None
    follow: Callable[[bytes], None] | None = None
    build: BoxBuilder = staticmethod(open_box)

    def stage(self, named: str, staging: Path) -> Agent:
        """Copy the files of the agent `named` into `staging`."""
        return stage_agent(named, staging)

    def seated(self, seats: tuple[SeatSpec, SeatSpec]) -> tuple[SeatSpec, SeatSpec]:
        """The first game's seats, possibly with other protocol options."""
        return seats

    def open(self, seats: tuple[SeatSpec, SeatSpec], games: int) -> None:
        """Report the start of the match, when the host is ready."""

    def begin(self, spec: GameSpec, attempt: int) -> None:
        """Report the start of an attempt."""

    def end(self, record: GameRecord, path: Path, *, is_last: bool) -> None:
        """Report the end of an attempt, after writing its record; `is_last`: no attempt follows."""


@dataclass(frozen=True, slots=True)
class MatchGame:
    """A game of a match: its last attempt."""

    record: GameRecord
    path: Path


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """The games of a match."""

    programs: Mapping[str, Path]
    """Staged files by digest."""
    policy: Policy
    games: int
    openings: Sequence[Opening]
    turns: Sequence[Turn]
    shuffle: bool
    seed: int
    box: BoxKind
    out: Path


class KeptThroughRun:
    """Kept folders of two agents: states before and after each game; colours alternate from game to game."""

    def __init__(
        self,
        store: FolderStore,
        policy: Policy,
        seats: tuple[SeatSpec, SeatSpec],
        names: Sequence[str],
        games: int,
        persons: Collection[int] = (),
    ) -> None:
        """`seats` and `names`: of the first game; `persons`: human seats, without folders."""
        self._store = store
        self._kinds = policy.folders.kept
        self._seats = seats
        self._names = names
        self._persons = persons
        self._owners = tuple(owner_of(seat.name, seat.digest) for seat in seats)
        self._committed = range(games) if policy.folders.round == "each" else range(games - 1, games)
        """Games whose states count."""

    @contextmanager
    def through_the_run(self) -> Iterator[None]:
        """Reserve the folders; temporary ones are empty before and after."""
        if not self._kinds:
            yield
            return
        with self._store.lock_owners(self._owners):
            self._forget()
            yield
            self._forget()

    def seats(self, number: int) -> tuple[SeatSpec, SeatSpec]:
        """Seats of a game, with initial folder states."""
        first, second = (self._seat(index) for index in (number % 2, 1 - number % 2))
        return first, second

    def shelf(self, number: int) -> GameShelf:
        """Storage of a game's folder states."""
        return GameShelf(self._store, self._order(number), frozenset(self._committing(number)))

    def commit(self, file: RecordFile, path: Path) -> None:
        """Write a record and its folder states, none for a void game."""
        self._store.commit(file, path, self._committing(file.record.spec.number))

    def _seat(self, index: int) -> SeatSpec:
        if not self._kinds or index in self._persons:
            return self._seats[index]
        heads = {kind.value: self._store.head(self._owners[index], kind) for kind in self._kinds}
        kept = KeptFolders(name=self._names[index], **heads)
        return self._seats[index].model_copy(update={"folders": kept})

    def _order(self, number: int) -> tuple[str, str]:
        return self._owners[number % 2], self._owners[1 - number % 2]

    def _committing(self, number: int) -> dict[int, str]:
        return dict(enumerate(self._order(number))) if number in self._committed else {}

    def _forget(self) -> None:
        for owner in self._owners:
            self._store.forget(owner, FolderKind.TEMPORARY)


def openings_of_match(
    text: str, policy: Policy, *, transform: bool, most: int
) -> tuple[Sequence[Opening], Sequence[Turn]]:
    """The openings of `text`, a file or one opening, and the symmetries to apply. Raises InputError."""
    if not text:
        return [()], NOT_TURNED
    game = policy.game
    written = game_entry(game.name).openings(game.options)
    if written is None:
        raise InputError(f"--opening: {game.name} does not support openings")
    turns = written.turns if transform else NOT_TURNED
    if is_file(Path(text)) or text.startswith(SHIPPED):
        return read_openings(opening_file(Path(), text), written, most), turns
    try:
        return [written.parse(text)], turns
    except InputError as error:
        raise InputError(f"--opening {text}: neither a file nor an opening: {error}") from None


def openings_needed(games: int, *, shuffle: bool) -> int:
    """Maximum number of openings to read for a match."""
    return MAX_OPENINGS if shuffle else (games + 1) // 2


def seats_of(agents: Sequence[Agent], policy: Policy) -> tuple[SeatSpec, SeatSpec]:
    """The seats of two agents; equal names get numbers."""
    first, second = (agent.seat(policy) for agent in agents)
    if first.name == second.name:
        first = first.model_copy(update={"name": f"{first.name}-1"})
        second = second.model_copy(update={"name": f"{second.name}-2"})
    return first, second


def play_match(plan: MatchPlan, venue: Venue, kept: KeptThroughRun, observer: MatchObserver) -> Sequence[MatchGame]:
    """Play all games. Games that stay void have that verdict. Raises HostError if a record cannot be written."""
    venue = replace(venue, follow=observer.follow, build=observer.build)
    played = []
    with kept.through_the_run():
        for number in range(plan.games):
            spec = GameSpec(
                seats=kept.seats(number),
                policy=plan.policy,
                opening=opening_of_pair(plan.openings, number // 2, plan.seed if plan.shuffle else None, plan.turns),
                seed=plan.seed + number,
                number=number,
                box=plan.box,
            )
            played.append(_play(spec, plan, venue, kept, observer))
    return played


def _play(spec: GameSpec, plan: MatchPlan, venue: Venue, kept: KeptThroughRun, observer: MatchObserver) -> MatchGame:
    check_playable(spec)
    here = replace(venue, shelf=kept.shelf(spec.number))

    paths: list[Path] = []

    def save(file: RecordFile) -> None:
        from judge.catalog.files import write_exports

        record, path = file.record, _free_path(plan.out / record_name(file.record))
        paths.append(path)
        with os_errors_as(HostError, f"{path}: the record could not be written"):
            kept.commit(file, path)
            write_exports(file, path)
        is_last = record.verdict is not Verdict.VOID or record.attempt == spec.policy.attempts
        observer.end(record, path, is_last=is_last)

    file = play_until_scored(
        spec, plan.programs, here, before=lambda attempt: observer.begin(spec, attempt), after=save
    )
    return MatchGame(file.record, paths[-1])


def _free_path(path: Path) -> Path:
    """The path with a number if an earlier match with the same agents, options and seed has written it."""
    others = (path.with_stem(f"{path.stem}-repeat-{number}") for number in itertools.count(1))
    return path if not path.exists() else next(other for other in others if not other.exists())


def record_name(record: GameRecord) -> str:
    """File name of a record: number, agents, id, and the attempt after the first."""
    first, second = (file_word(seat.name) for seat in record.seats)
    attempt = f"-{record.attempt}" if record.attempt > 1 else ""
    return f"{record.spec.number + 1:04}-{first}-{second}-{record.id[:8]}{attempt}.json"
