"""Parts of the judge without one defence, for controls."""

import select
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from judge.attacks.attack import Scene
from judge.games.gomoku.requests import StonesRequest
from judge.protocols.gomocup import Gomocup
from judge.protocols.types import AgentProtocol, Effect
from judge.referee.live_wire import LiveWire
from judge.referee.referee import Referee
from judge.referee.setup import build_referee
from judge.referee.side import Dialogue
from judge.referee.spec import GameSpec
from judge.referee.wire import Happening, Wire
from judge.sandbox.box import EventSource


def with_constants(module: ModuleType, **values: int) -> Scene:
    """Give constants of a module other values."""

    @contextmanager
    def scene(_directory: Path) -> Iterator[Mapping[str, str]]:
        before = {name: getattr(module, name) for name in values}
        vars(module).update(values)
        try:
            yield {}
        finally:
            vars(module).update(before)

    return scene


class SpinningWire(LiveWire):
    """Ignores broken pipes, which are reported again at once."""

    def _take(self, ready: Sequence[tuple[int, int]]) -> None:
        super()._take([(fd, mask) for fd, mask in ready if not mask & select.EPOLLERR])


class UnreadWire(LiveWire):
    """Reads nothing before a request, so output is read in the other agent's time."""

    def look(self) -> Sequence[Happening]:
        return ()


class RestlessWire(LiveWire):
    """Reads stderr as fast as an agent prints."""

    def _rest(self, fd: int, source: EventSource) -> None: ...


class UnchargedWire(LiveWire):
    """Records CPU time of stopped boxes without charging it."""

    def stopped_cpu(self, seat: int, asked: int) -> int:
        super().stopped_cpu(seat, asked)
        return 0


class UnwatchedWire(LiveWire):
    """Does not look at the kernel's memory of agents."""

    def _watch_kernel(self, now: int) -> bool:  # noqa: ARG002
        return False


class HastyReferee(Referee):
    """Counts an answer whenever it is read, and closes both seats at once."""

    def _prepare_start(self, seat: int) -> None:
        self._faults.await_still(1 - seat)

    def _close_seats(self, living: Sequence[int]) -> None:
        self._await_ends(living, max([0, *map(self._say_goodbye, living)]))

    def _latest(self, talk: Dialogue) -> int:
        return talk.over_at

    def _judge_lateness(self, seat: int, talk: Dialogue, now: int) -> bool:  # noqa: ARG002
        return False


class EagerGomocup(Gomocup):
    """Answers every suggestion."""

    def _ask(self, request: StonesRequest) -> Sequence[Effect]:
        effects = super()._ask(request)
        self._suggested_count = -sys.maxsize
        return effects

    @classmethod
    def like(cls, protocol: AgentProtocol) -> AgentProtocol:
        """`protocol` itself, if it is another one."""
        return cls(protocol._options) if isinstance(protocol, Gomocup) else protocol


def hasty_referee(spec: GameSpec, wire: Wire, *more: Any, **options: Any) -> Referee:
    """As `build_referee`."""
    made = build_referee(spec, wire, *more, **options)
    return HastyReferee(
        made.game,
        [EagerGomocup.like(side.protocol) for side in made.sides],
        [side.opening for side in made.sides],
        wire,
        spec.policy.clock,
        spec.policy.bytes,
        made._chance,
        made._watch,
        kernel_bytes=spec.policy.enforced().kernel_bytes,
    )
