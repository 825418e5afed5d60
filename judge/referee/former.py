"""Rules of older judges, to replay records of format 2.

referee   sends both goodbyes at once; one read before a request; an answer counts whenever it is read;
          a reason does not quote the answer's notation
gomocup   answers every SUGGEST; doubts only an ERROR to the first move; keeps no keyword of a refusal
person    complains about every unreadable line
"""

import sys
from collections.abc import Callable, Mapping, Sequence

from judge.base.text import decode
from judge.games.types import Reply, ReplyKind, Request
from judge.protocols import FormerBuilds
from judge.protocols.gomocup import STEPS, Gomocup, GomocupPhase
from judge.protocols.gomocup_words import GomocupOptions, GomocupWord
from judge.protocols.person import Person
from judge.protocols.types import Answer, Effect
from judge.referee.referee import Referee
from judge.referee.side import Dialogue

FORMER_FORMAT = 2

REWORDED = (
    ("stones, and nobody won", "stones and no winner"),
    ("did not stand still when its turn was over", "did not stop when its turn was over"),
    ("; it said ", "; it sent "),
    ("; before that it said ", "; before that it sent "),
)
"""Former words in reasons of records, and those of today."""


class FormerReferee(Referee):
    """The referee of record format 2."""

    max_looks = 1

    def _prepare_start(self, seat: int) -> None:
        self._faults.await_still(1 - seat)

    def _ask(self, request: Request) -> Reply:
        reply = super()._ask(request)
        reply.spoken = ""
        return reply

    def _close_seats(self, living: Sequence[int]) -> None:
        self._await_ends(living, max([0, *map(self._say_goodbye, living)]))

    def _latest(self, talk: Dialogue) -> int:
        return talk.over_at

    def _judge_lateness(self, seat: int, talk: Dialogue, now: int) -> bool:  # noqa: ARG002
        return False


class FormerGomocup(Gomocup):
    """The Gomocup protocol of record format 2."""

    def __init__(self, options: GomocupOptions) -> None:
        super().__init__(options, sys.maxsize)
        self._has_moved = False

    @property
    def _steps(self) -> Mapping[GomocupPhase, Mapping[GomocupWord, Callable[..., Sequence[Effect]]]]:
        return _FORMER_STEPS

    def _start(self) -> list[Effect]:
        self._has_moved = False
        return super()._start()

    def _start_refused_formerly(self, rest: bytes) -> Sequence[Effect]:
        self._phase = GomocupPhase.IDLE
        return [Answer(Reply(ReplyKind.REFUSED, f"{self._start_line}: {decode(rest)}"))]

    def _moved_formerly(self, rest: bytes) -> Sequence[Effect]:
        self._has_moved, self._doubt = True, None
        return self._moved(rest)

    def _move_unknown(self, rest: bytes) -> Sequence[Effect]:
        return self._excused() or self._refused(decode(rest[:200]))

    def _move_failed(self, rest: bytes) -> Sequence[Effect]:
        if self._has_moved or self._answers_info:
            return self._move_unknown(rest)
        return self._doubted() or self._refused(decode(rest[:200]))

    def _doubted(self) -> Sequence[Effect]:
        effects = super()._doubted()
        if effects:
            self._doubt = decode(self._rest[:200])
        return effects


_FORMER_STEPS: Mapping[GomocupPhase, Mapping[GomocupWord, Callable[..., Sequence[Effect]]]] = {
    **STEPS,
    GomocupPhase.STARTING: {
        **STEPS[GomocupPhase.STARTING],
        GomocupWord.ERROR: FormerGomocup._start_refused_formerly,
        GomocupWord.UNKNOWN: FormerGomocup._start_refused_formerly,
    },
    GomocupPhase.THINKING: {
        **STEPS[GomocupPhase.THINKING],
        GomocupWord.MOVE: FormerGomocup._moved_formerly,
        GomocupWord.ERROR: FormerGomocup._move_failed,
        GomocupWord.UNKNOWN: FormerGomocup._move_unknown,
    },
}

FORMER_PROTOCOLS: FormerBuilds = {
    Gomocup: FormerGomocup,
    Person: lambda options, words: Person(options, words, sys.maxsize),
}
