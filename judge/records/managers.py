"""Contests of another manager (the program of today's organisers of a field): reading one, writing one, comparing.

The entry of a game lists the managers of its field (`judge.catalog.entry.GameEntry.managers`). What one of them can do
is a function here that it has or does not have, so a manager of which nothing but finished games is known is an entry
with `compare` alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal

from judge.records.steps import Stepped
from judge.referee.policy import Policy
from judge.referee.spec import RecordFile

# --- what comes in ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedAgent:
    """Who takes part: the name in our tables, the archive or program, and where that was named (`a.txt, line 5`)."""

    name: str
    path: Path
    named_in: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedContest:
    """What the files of another manager plan, in the words of our contest.toml; `games` are those of a pairing."""

    name: str
    policy: str
    """A policy's name, `name:variant`, or the path of a .toml file, which is copied into the contest's folder."""
    changes: tuple[str, ...]
    format: Literal["round-robin", "gauntlet"]
    games: int
    openings: tuple[str, ...]
    """One a line of our file; empty: every game begins from nothing."""
    failure_limit: float
    failures_after: int
    agents: tuple[ImportedAgent, ...]
    remarks: tuple[str, ...]
    """What has no equal here, each with its field and what to do."""


# --- what goes out ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestGame:
    """A game of our schedule. `file` and `steps` are None if it has no result that counts."""

    number: int
    first: str
    second: str
    opening: tuple[tuple[int, int], ...] = ()
    file: RecordFile | None = None
    """Without what only the authors may see."""
    steps: Stepped | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedContest:
    """A contest of ours as another manager's files have it; `games` are in the order of the schedule."""

    name: str
    agents: Sequence[str]
    """In the order of the entries."""
    policy: Policy
    openings: Sequence[tuple[tuple[int, int], ...]] = ((),)
    games: Iterable[ContestGame] = ()
    """Read one by one, once."""
    ratings: Mapping[str, float] = field(default_factory=dict)
    """Of those that are rated, in Elo."""
    out: Mapping[str, str] = field(default_factory=dict)
    """The disqualified, each with the reason."""


# --- theirs beside ours ----------------------------------------------------------------------------------------------


class DifferenceKind(StrEnum):
    """Why a game went or ended otherwise."""

    RULE = "rule"
    """What wins, what is forbidden, when it is drawn."""
    CLOCK = "clock"
    """Who had time left."""
    BLAME = "blame"
    """For what, or on whom, a failure was put."""
    OPENING = "opening"
    """What it began from, or that it was not played."""
    ANSWER = "answer"
    """A program answered otherwise in the same position, as programs with a clock do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference of a game of theirs from ours, or from our rules where `number` is 0."""

    game: str
    """Their file."""
    number: int = 0
    """Of our game in the schedule."""
    kind: DifferenceKind
    text: str
    """What each of the two says."""
    changes_result: bool = False
    """Whether it gives the game to another side."""


@dataclass(frozen=True, slots=True)
class ContestComparison:
    """A contest of theirs beside ours."""

    theirs: int
    ours: int
    aligned: int
    """Games of the same two agents with the same colours from the same opening."""
    same: int
    """Aligned games without a difference."""
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestManager:
    """What the judge can do with the contests of one manager; None where it can do nothing."""

    about: str
    """Its name and what its files are, on one line."""
    read: Callable[[Path], ImportedContest] | None = None
    """The contest that a file plans. InputError names the file, the line, the field and the fix."""
    write: Callable[[FinishedContest], Iterator[tuple[str, bytes]]] | None = None
    """Its files of a finished contest: names and bytes, in pieces. A name that comes again is continued."""
    rating: Mapping[str, float] = field(default_factory=dict)
    """How it rates, as far as that differs from ours: fields of `judge.statistics.ratings.RatingModel`."""
    compare: Callable[[Path, FinishedContest], ContestComparison] | None = None
    """A finished contest of theirs, in a directory, beside ours. InputError names the file and the line."""
