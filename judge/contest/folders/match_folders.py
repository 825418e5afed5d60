"""Folders of two agents during `judge match`."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from judge.agents.kept_folders import FolderStore, GameShelf, owner_of
from judge.record.policy import Policy
from judge.record.spec import KeptFolders, RecordFile, SeatSpec
from judge.sandbox.box import FolderKind


class KeptThroughRun:
    """Folder states before and after each game; colours alternate from game to game."""

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
        with self._store.held(self._owners):
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
