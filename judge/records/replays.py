"""Replays a record from its transcript, for the file formats of a game."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import NamedTuple, TypeVar

from judge.base.errors import InputError
from judge.games.types import Verdict
from judge.referee.replay import ReplayWire, replaying
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
    left_ms: list[int | None] = []
    with replaying():

        def take(ply: Ply) -> None:
            left = referee.sides[ply.seat].clock.left_ns()
            left_ms.append(None if left is None else left // 1_000_000)
            if watch is not None and isinstance(referee.game, kind):
                watch(referee.game)

        referee = build_referee(file.record.spec, ReplayWire(unseal(file.transcript)), take)
        game = referee.game
        if not isinstance(game, kind):
            raise InputError(f"a record of {file.record.spec.policy.game.name}, not of {name}")
        with suppress(InputError) if file.record.verdict is Verdict.VOID else nullcontext():
            referee.play()
    return game, [ReplayedPly(*each) for each in zip(referee.plies, left_ms, strict=True)]
