"""The Gomocup conversation as judges held it up to record format 2, to replay their records."""

import sys
from collections.abc import Callable, Mapping, Sequence

from judge.base.text import decode
from judge.games.types import Reply, ReplyKind
from judge.protocols.gomocup import STEPS, Gomocup, GomocupPhase
from judge.protocols.gomocup_words import GomocupOptions, GomocupWord
from judge.protocols.types import Answer, Effect


class FormerGomocup(Gomocup):
    """Answers every SUGGEST, doubts only an ERROR to the first move, and keeps no keyword of a refusal."""

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
