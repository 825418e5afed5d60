"""A finished game step by step, with text and times. Formats, pictures and pages show these steps."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from judge.base.errors import InputError
from judge.formats.views import BoardView, numbered
from judge.games.types import NATURE, AgentFault, Event, Game, Reply, Verdict
from judge.record.spec import GameRecord, RecordFile
from judge.record.transcript import unseal
from judge.referee.replay import rejoined, replaying
from judge.referee.steps import MS, GameStep, SteppedGame

Played = TypeVar("Played", bound=Game)


@dataclass(slots=True)  # frozen takes three times as long
class ReplayStep:
    """The first step is the start position."""

    view: BoardView
    seat: int | None = None
    said: str = ""
    """Callers must escape it."""
    ms: float | None = None
    search: Mapping[str, str] = field(default_factory=dict)
    messages: tuple[str, ...] = ()
    """Since the previous answer, with the judge's notes. Callers must escape them."""
    left_ms: tuple[int | None, int | None] = (None, None)
    """Times by seat; None: unlimited or unknown."""
    memory_bytes: int | None = None
    at_ns: int | None = None
    events: Sequence[Event] = field(default=(), repr=False)
    """What the answer changed; of records only."""

    @property
    def text(self) -> str:
        """The move in the game's notation. Callers must escape it."""
        return "before the first answer" if self.seat is None else self.view.move_text(self.seat, self.said)

    def said_with_square(self, before: BoardView) -> str:
        """The answer, followed by the square of its stone, as in `7,7 h8`. `before`: the view before it."""
        number, square = numbered(self.view.caption)
        is_new = number and self.view.caption != before.caption and square != self.said
        return f"{self.said} {square}" if is_new else self.said

    @property
    def clock_ms(self) -> int | None:
        """Time left of its seat, as a clock shows it; None: unlimited or unknown."""
        left_ms = None if self.seat is None else self.left_ms[self.seat]
        return None if left_ms is None else max(0, left_ms)


@dataclass(frozen=True, slots=True)
class Stepped:
    """A whole game. A record has `record`, and the game and the times of its replay. A void breaks off."""

    title: str
    names: tuple[str, str]
    steps: Sequence[ReplayStep]
    result: str
    problem: str = ""
    record: GameRecord | None = None
    game: Game | None = field(default=None, repr=False)
    charged_ms: Sequence[float] = field(default=(), repr=False)
    """By answer, with the time charged after its turn."""

    @property
    def opening_moves(self) -> int:
        """Number of set moves before the first answer."""
        if self.record is not None:
            return self.record.spec.opening_moves
        return numbered(self.steps[0].view.caption)[0]

    def number_of(self, at: int) -> int:
        """The number of the move before a position, as lists of moves show it: set moves count."""
        return self.opening_moves + at

    def titled(self, titles: tuple[str, str]) -> "Stepped":
        """With display names; an empty one keeps the name."""
        names = (titles[0] or self.names[0], titles[1] or self.names[1])
        record = self.record
        if names == self.names or record is None:
            return self
        return replace(self, names=names, result=record.outcome(names))

    def record_and_game(self, kind: type[Played], name: str) -> tuple[GameRecord, Played]:
        """The record and its game.

        Raises InputError if it contradicts the rules or is of another game than `kind`, called `name`.
        """
        if self.record is None or self.game is None:
            raise TypeError(f"{self.title} is not a record")
        if not isinstance(self.game, kind):
            raise InputError(f"a record of {self.record.spec.policy.game.name}, not of {name}")
        if self.problem:
            raise InputError(self.problem)
        return self.record, self.game


def replay_steps(file: RecordFile, view: Callable[[Game], BoardView]) -> Stepped:
    """The steps of a record, with `view` of each position.

    A contradiction to the rules ends them and is the problem. Raises InputError if the transcript is broken.
    """
    record = file.record
    with replaying():
        game = _RecordSteps(file, view)
    problem = ""
    try:
        with replaying(game.replay):
            game.replay.finish()
    except InputError as error:
        problem = "" if record.verdict is Verdict.VOID else str(error)
    game.end_step()
    title = f"{record.spec.policy.name}, {record.id}"
    charged_ms = [ply.charged_ns / MS for ply in game.referee.plies]
    return Stepped(title, record.names, game.steps, record.outcome(), problem, record, game.referee.game, charged_ms)


class _RecordSteps(SteppedGame):
    def __init__(self, file: RecordFile, view: Callable[[Game], BoardView]) -> None:
        self.steps: list[ReplayStep] = []
        self._view = view
        super().__init__(file.record.spec, rejoined(unseal(file.transcript)))

    def see_step(self, step: GameStep) -> None:
        view = self._view(self.referee.game).since(self.steps[-1].view if self.steps else None)
        if step.ply is None:
            self.steps.append(ReplayStep(view, left_ms=step.left_ms, events=step.events))
            return
        seat, said, charged_ns, search, memory_bytes, _ = step.ply
        self.steps.append(
            ReplayStep(
                *(view, seat, said, charged_ns / MS, search, tuple(step.messages), step.left_ms),
                *(memory_bytes, step.read_ns, step.events),
            )
        )


def play_steps(
    game: Played, answers: Iterable[Reply | AgentFault], view: Callable[[Played], BoardView]
) -> list[ReplayStep]:
    """Apply the answers of a log, with those of nature, to `game`. Faults and random choices are no steps."""
    steps: list[ReplayStep] = []
    for answer in answers:
        seat: int | None = game.pending().seat
        if not steps and seat != NATURE:
            steps.append(ReplayStep(view(game)))
        if isinstance(answer, AgentFault):
            game.forfeit(answer)
            continue
        game.apply(answer)
        said = answer.said
        if seat == NATURE:
            if len(steps) < 2:
                continue
            step = steps.pop()
            seat, said = step.seat, step.said
        steps.append(ReplayStep(view(game).since(steps[-1].view), seat, said))
    return steps or [ReplayStep(view(game))]
