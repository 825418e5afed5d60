"""The type of entries of `judge.formats`: reads, writes and compares contests of another contest manager."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from judge.base.registry import Registry

if TYPE_CHECKING:
    from judge.formats.steps import Stepped
    from judge.games.types import Opening
    from judge.record.policy import Policy
    from judge.record.spec import GameRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedAgent:
    """`named_in` is such as `a.txt, line 5`."""

    name: str
    path: Path
    named_in: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedContest:
    """A planned contest as in contest.toml. `games` is the number per pairing."""

    name: str
    policy: str
    """`name:variant`, or a .toml file, which is copied into the contest's folder."""
    changes: tuple[str, ...]
    format: Literal["round-robin", "gauntlet"]
    games: int
    openings: tuple[str, ...]
    failure_limit: float
    failures_after: int
    agents: tuple[ImportedAgent, ...]
    remarks: tuple[str, ...]
    """Settings without equivalent, with a suggestion."""
    skip_difference: int = 0
    """Pairs whose ratings differ by this or more do not meet; 0: all meet."""
    ratings: Mapping[str, int] = field(default_factory=dict)
    """By agent; 0: the agent meets all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestGame:
    """`steps` are None without a valid result."""

    number: int
    first: str
    second: str
    opening: Opening = ()
    steps: Stepped | None = None

    @property
    def record(self) -> GameRecord | None:
        """Of its steps."""
        return None if self.steps is None else self.steps.record


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedContest:
    """`games` are in schedule order."""

    name: str
    agents: Sequence[str]
    policy: Policy
    openings: Sequence[Opening] = ((),)
    games: Iterable[ContestGame] = ()
    """Can be read only once."""
    ratings: Mapping[str, float] = field(default_factory=dict)
    out: Mapping[str, str] = field(default_factory=dict)


class DifferenceKind(StrEnum):
    """Why two games differ."""

    RULE = "rule"
    CLOCK = "clock"
    BLAME = "blame"
    OPENING = "opening"
    ANSWER = "answer"
    """Different answer in the same position, normal for programs that use a clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference from this judge's game `number`, or from its rules if 0."""

    game: str
    number: int = 0
    kind: DifferenceKind
    text: str
    changes_result: bool = False


@dataclass(frozen=True, slots=True)
class ContestComparison:
    """Comparison of another manager's contest with one of this judge."""

    theirs: int
    ours: int
    aligned: int
    same: int
    differences: tuple[Difference, ...]


PairScore = tuple[str, str, int, int, int]
"""Two agents, and wins, draws and losses of the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestManager:
    """`about` is a phrase for messages. Functions that are None are not supported."""

    name: str
    about: str
    read: Callable[[Path], ImportedContest] | None = None
    write: Callable[[FinishedContest], Iterator[tuple[str, bytes]]] | None = None
    """A contest's files in pieces. A repeated name continues its file."""
    rating: Mapping[str, float] = field(default_factory=dict)
    """`judge.statistics.ratings.RatingModel` fields other than the default."""
    compare: Callable[[Path, FinishedContest], ContestComparison] | None = None
    pairs: Callable[[Path], tuple[Sequence[PairScore], Sequence[str]]] | None = None
    """A file's results and warnings, for `judge stats --certainty`. Raises InputError for other files."""


MANAGERS = Registry("judge.formats", "contest manager", ContestManager)
"""The installed contest managers, with which judge exchanges files."""
