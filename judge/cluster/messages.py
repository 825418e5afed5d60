"""What goes over the wire: games to play, and what a worker says of itself."""

from collections.abc import Mapping
from dataclasses import dataclass

from judge.contest.worker import Job


@dataclass(frozen=True, slots=True)
class Key:
    """One attempt of one game, among all contests that a worker may ever play for."""

    contest: str
    """The contest's name and when it was created: another store's contest of that name is another."""
    match: str
    attempt: int

    def __str__(self) -> str:
        return f"{self.match}#{self.attempt}"


@dataclass(frozen=True, slots=True)
class RemoteJob:
    """A job for a worker. The worker has the files of its agents under other paths, known by digest.

    `images` has the contents of the images of the agents' runtimes on the contest's host, by name; empty if no
    container is used.
    """

    key: Key
    job: Job
    images: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What a worker says of itself when the contest's host meets it."""

    name: str
    about: str
    """System, kernel, processors and Engine, in one line."""
    code: str
    """The digest of the judge's own code there."""
    slots: int
    cores_per_slot: int
    images: Mapping[str, str]
    """The contents of the images that were asked for, by name; empty text for one that is missing or out of date."""
    agents: frozenset[str]
    """The digests of the agents whose files it has."""
    games: frozenset[Key]
    """The games of the contest that it plays, or has played and still has the records of."""
