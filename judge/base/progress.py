"""Progress of long work: each loop over many items runs through a tracker."""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class Tracker(Protocol):
    """Yields the items unchanged, and shows how many of `total`; `what` names the work."""

    def __call__(self, items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
        """Track a loop."""


def untracked(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:  # noqa: ARG001 shows nothing
    """Tracker without display."""
    return iter(items)
