"""What the judge knows of a game: the type of the entries of `judge.games`, one object a game.

Only `name`, `new` and `view` must be given; each of the others adds something that the game can then do. An entry is
loaded wherever its game is played, so its methods import what only they need when they are called.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from judge.base.errors import InputError
from judge.games import GameRules
from judge.games.types import Decision, Game, Reply, Request
from judge.records.formats import FileFormats
from judge.records.managers import ContestManager
from judge.records.steps import Stepped
from judge.records.views import BoardView
from judge.referee.spec import RecordFile

if TYPE_CHECKING:
    from judge.records.gomoku.record import FiveRecord

Opening = tuple[tuple[int, int], ...]
"""What a game begins from, as the option `opening` of its rules has it; empty: from nothing."""

Turn = Callable[[int, int], tuple[int, int]]
"""Where a square lies after a symmetry of the board."""

NOT_TURNED: Sequence[Turn] = (lambda x, y: (x, y),)


@dataclass(frozen=True, slots=True)
class Openings:
    """How openings are written for a game under given options."""

    parse: Callable[[str], Opening]
    """The opening that a text spells, the empty one for an empty text; InputError names the token and the fix."""
    example: str
    """Two or more texts that could stand in a line, for messages."""
    turns: Sequence[Turn] = NOT_TURNED
    """The symmetries in which an opening may come again; none comes first."""


class ResultWord(NamedTuple):
    """The word of a result line and the seat that it is said of; None: of both."""

    word: str
    named: int | None


@dataclass(frozen=True, slots=True)
class ResultWords:
    """How the games of a field end where its own manager prints a result line."""

    every: frozenset[str]
    """Every word that a game can end with."""
    read: Callable[[str], ResultWord | None]
    """The word of a result line; None where the line is none of this field."""


@dataclass(frozen=True, slots=True)
class Question:
    """What `judge check` asks: to play some turns from a position, in the seat whose turn it is unless one is given."""

    check: str
    """The name of the check that the answer counts for."""
    what: str = ""
    opening: Opening = ()
    seat: int | None = None
    turns: int = 1
    answers: tuple[Decision, ...] = field(default=(), hash=False)
    """The decisions that are right; empty: all that are legal."""


@dataclass(frozen=True, slots=True)
class Questions:
    """What `judge check` asks an agent before it plays whole games."""

    asked: Sequence[Question]
    opponent: Callable[[Request], Reply]
    """A harmless, legal answer for the opponent."""
    say: Callable[[Decision], str]
    """A decision in words."""
    plain: Mapping[str, Any] = field(default_factory=dict)
    """Options of a game without an opening stage, in which all of `asked` is asked."""
    hard: Question | None = None
    """A question that takes long to answer, asked where the protocol has a command that stops the search."""


@dataclass(frozen=True, slots=True)
class Partner:
    """An agent for the games of `judge check` and for practice games, as `judge match` would be given it, and words
    behind its command."""

    agent: str
    words: tuple[str, ...] = ()


class GameEntry(GameRules):
    """A game; the docstring of each method says what the judge does where a game leaves it out."""

    partners: Sequence[Partner] = ()
    """The opponents in `judge check`: the first that can play under the policy. Without one there is no check."""
    practice: Sequence[Partner] = ()
    """The opponents in the practice games of a submission that passed, in turn; none: those of the check."""
    words_are_public: bool = False
    """Whether no agent of this game knows anything that the other may not: then what agents say is shown while they
    play, as far as it is public at all. Else it is shown when the game is over."""

    @abstractmethod
    def view(self, game: Game, seat: int | None = None) -> BoardView:
        """A game of `new` as it stands, or what `seat` may see of it."""

    def public(self, game: Game) -> BoardView | None:  # noqa: ARG002 a game may show nothing
        """What everybody may see of a game while it is played: nothing that one of its agents may not know.

        Its caption says the last move where `words_are_public` is False. None: there is no board before the end.
        """
        return None

    def formats(self) -> FileFormats[Any] | None:
        """The formats of the field; None: a game is in its record only."""
        return None

    def managers(self) -> Mapping[str, ContestManager]:
        """The managers of the field whose contests can be imported, written and compared, by name; none by default."""
        return {}

    def pgn(self, file: RecordFile) -> "FiveRecord | None":  # noqa: ARG002 a game may have none
        """The game as the PGN of an export has it; None: names and result alone."""
        return None

    def read_log(self, data: bytes, source: str) -> Stepped:  # noqa: ARG002 a game may have none
        """The game of a file in one of `formats`, for `judge show`; raises InputError with `source` and the line."""
        raise InputError(f"{source}: games of {self.name} are shown from records only")

    def replay_log(self, data: bytes, source: str) -> str | None:  # noqa: ARG002 a log may hold no proof
        """By which rules a log was replayed and how its game ended, for `judge verify`; None: a log proves nothing.

        Called for a file in one of `formats`. Raises InputError with `source` and the line that contradicts the rules.
        """
        return None

    def result_words(self, options: Mapping[str, Any]) -> ResultWords | None:  # noqa: ARG002 a game may have none
        """The words that a policy's [points] score; None: the judge's own verdicts."""
        return None

    def openings(self, options: Mapping[str, Any]) -> Openings | None:  # noqa: ARG002 a game may have none
        """How openings are written; None: the game has none."""
        return None

    def questions(self, options: Mapping[str, Any]) -> Questions | None:  # noqa: ARG002 a game may have none
        """What `judge check` asks; None: it only plays whole games."""
        return None
