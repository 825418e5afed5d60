"""A shelf for one attack: keeps what its agent leaves in memory, for the next game, and shows it."""

from judge.errors import InputError
from judge.sandbox.archive import EMPTY, Archive


class MemoryShelf:
    """The states of kept folders, by their digests; see `judge.referee.folders.Shelf`."""

    def __init__(self) -> None:
        self.states = {EMPTY.digest: EMPTY}

    def get(self, seat: int, digest: str) -> Archive:
        """A state that was put here; InputError for any other."""
        if digest not in self.states:
            raise InputError(f"seat {seat} never left a folder {digest}")
        return self.states[digest]

    def put(self, seat: int, state: Archive) -> None:  # noqa: ARG002 one agent keeps one folder
        """Take a state in."""
        self.states[state.digest] = state
