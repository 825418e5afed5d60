"""Replays a record from its transcript, for the file formats of a game."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import Generic, NamedTuple, TypeVar

from judge.base.errors import InputError
from judge.games.types import Verdict
from judge.referee.observer import Observer
from judge.referee.referee import Referee
from judge.referee.replay import Replay, rejoined, replaying
from judge.referee.setup import build_referee
from judge.referee.side import Ply
from judge.referee.spec import RecordFile
from judge.referee.transcript import unseal

AnyGame = TypeVar("AnyGame")


class ReplayedPly(NamedTuple):
    """`left_ms` is of its seat; None: unlimited."""

    ply: Ply
    left_ms: int | None


def replay_record(
    file: RecordFile, kind: type[AnyGame], name: str, watch: Callable[[AnyGame], None] | None = None
) -> tuple[AnyGame, Sequence[ReplayedPly]]:
    """The game at its end, and its answers. A void game stops where it broke off.

    `watch` gets the game before each answer is applied. Raises InputError if the record is of another game than
    `kind`, called `name`, or contradicts the rules.
    """
    with replaying():
        answers = _Answers(kind, watch)
        referee = answers.referee = build_referee(file.record.spec, answers)
        replay = Replay(referee, rejoined(unseal(file.transcript)))
        game = referee.game
        if not isinstance(game, kind):
            raise InputError(f"a record of {file.record.spec.policy.game.name}, not of {name}")
        with suppress(InputError) if file.record.verdict is Verdict.VOID else nullcontext():
            replay.finish()
    return game, [ReplayedPly(*each) for each in zip(referee.plies, answers.left_ms, strict=True)]


class _Answers(Observer, Generic[AnyGame]):
    referee: Referee

    def __init__(self, kind: type[AnyGame], watch: Callable[[AnyGame], None] | None) -> None:
        self.left_ms: list[int | None] = []
        self._kind = kind
        self._watch = watch

    def see_answer(self, ply: Ply) -> None:
        left_ns = self.referee.sides[ply.seat].clock.left_ns()
        self.left_ms.append(None if left_ns is None else left_ns // 1_000_000)
        if self._watch is not None and isinstance(self.referee.game, self._kind):
            self._watch(self.referee.game)
