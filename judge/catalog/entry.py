"""The type of entries of `judge.games`: one object for each game.

Only `name`, `new` and `view` are required. Entries are loaded for every game, so methods import their dependencies when
called.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from judge.base.errors import InputError
from judge.games import GameRules

if TYPE_CHECKING:
    from judge.formats.registry import FileFormats
    from judge.formats.steps import Stepped
    from judge.formats.views import BoardView
    from judge.games.types import Decision, Game, Opening, Reply, Request

Turn = Callable[[int, int], tuple[int, int]]
"""Maps a square by a symmetry of the board."""

NOT_TURNED: Sequence[Turn] = (lambda x, y: (x, y),)


def one_per_line(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The number (from 1) and text of each line, without blank lines and `# comments`."""
    for number, line in enumerate(lines, 1):
        if text := line.partition("#")[0].strip():
            yield number, text


@dataclass(frozen=True, slots=True)
class Openings:
    """The notation of openings for a game with given options."""

    parse: Callable[[str], Opening]
    """Parses an opening, which may be empty. InputError names the token and the fix."""
    example: str
    turns: Sequence[Turn] = NOT_TURNED
    """Symmetries for repeated openings of squares, the identity first."""
    split: Callable[[Iterable[str]], Iterator[tuple[int, str]]] = one_per_line
    """Yields the first line's number and the text of each opening, for `parse`."""


class ResultWord(NamedTuple):
    """`named` is None for both seats."""

    word: str
    named: int | None


@dataclass(frozen=True, slots=True)
class ResultWords:
    """Words of games whose usual manager prints a result line."""

    every: frozenset[str]
    """All possible words."""
    read: Callable[[str], ResultWord | None]
    """The word of a result line; None for other lines."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question of `judge check`: some turns."""

    check: str
    what: str = ""
    opening: Opening = ()
    seat: int | None = None
    turns: int = 1
    answers: tuple[Decision, ...] = field(default=(), hash=False)
    """Correct decisions; empty: all legal ones."""


@dataclass(frozen=True, slots=True)
class Questions:
    """Asked before whole games."""

    asked: Sequence[Question]
    opponent: Callable[[Request], Reply]
    say: Callable[[Decision], str]
    """Describes a decision."""
    plain: Mapping[str, Any] = field(default_factory=dict)
    """Options of a game without an opening stage."""
    hard: Question | None = None
    """With a long search, for protocols that can stop it."""
    mistakes: Mapping[str, Mapping[str, Callable[[Decision], Decision]]] = field(default_factory=dict)
    """Systematic errors of answers: the advice, and a function that corrects an answer."""


@dataclass(frozen=True, slots=True)
class Partner:
    """An opponent; `words` are arguments of its command."""

    agent: str
    words: tuple[str, ...] = ()


class GameEntry(GameRules):
    """A game. The docstrings of optional methods describe the default."""

    partners: Sequence[Partner] = ()
    """Opponents in `judge check`: the first that supports the policy. Without one there is no check."""
    practice: Sequence[Partner] = ()
    """Opponents of practice games, in turn; empty: those of the check."""
    policy: str = ""
    """Recommended policy of contests; empty: the first one."""
    words_are_public: bool = False
    """Agents have no secrets from each other; then public messages are shown during the game."""

    @abstractmethod
    def view(self, game: Game, seat: int | None = None) -> BoardView:
        """The current position, or the part visible to `seat`."""

    def goal(self, options: Mapping[str, Any]) -> Sequence[str]:  # noqa: ARG002 optional
        """How a game is won, in sentences."""
        return ()

    def public(self, game: Game) -> BoardView | None:  # noqa: ARG002 a game may show nothing
        """The view of a running game; None: hidden until the end.

        Its caption is the last move if `words_are_public` is False.
        """
        return None

    def formats(self) -> FileFormats[Any] | None:
        """The game's file formats; None: only records."""
        return None

    def write_pgn(self, replay: Stepped, event: str, round_name: str) -> bytes | None:  # noqa: ARG002 optional
        """A record for an export's PGN, with its tags Event and Round; None: only names and result."""
        return None

    def read_log(self, data: bytes, source: str) -> Stepped:  # noqa: ARG002 optional
        """A file in one of `formats`. Raises InputError with `source` and the line."""
        raise InputError(f"{source}: games of {self.name} are shown from records only")

    def replay_log(self, data: bytes, source: str) -> str | None:  # noqa: ARG002 a log may hold no proof
        """Rules and result of a replayed log; None: logs cannot be verified.

        Raises InputError with `source` and the line that contradicts the rules.
        """
        return None

    def result_words(self, options: Mapping[str, Any]) -> ResultWords | None:  # noqa: ARG002 optional
        """The words that a policy's [points] score; None: the judge's verdicts."""
        return None

    def openings(self, options: Mapping[str, Any]) -> Openings | None:  # noqa: ARG002 optional
        """The notation of openings; None: unsupported."""
        return None

    def balanced_openings(self, options: Mapping[str, Any]) -> str:  # noqa: ARG002 optional
        """Name of the set in policies/openings that fits these options; empty: unknown."""
        return ""

    def unsuited(self, agent: str, options: Mapping[str, Any]) -> str:  # noqa: ARG002 optional
        """Why one of judge's agents cannot play with these options; empty: it can, or this is unknown."""
        return ""

    def has_chance(self, options: Mapping[str, Any]) -> bool:  # noqa: ARG002 optional
        """Whether a game asks for random choices, so that agents without chance can play different games."""
        return False

    def questions(self, options: Mapping[str, Any]) -> Questions | None:  # noqa: ARG002 optional
        """Questions of `judge check`; None: only whole games."""
        return None
