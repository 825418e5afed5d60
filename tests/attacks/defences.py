"""Defences that can be switched off, in this process or in a `judge` command.

    python -m tests.attacks.defences PARENT NAME,NAME COMMAND...

runs a command without the defences. It ends with process PARENT, and prints its peak memory in bytes at its end. NAME
is a key of `DEFENCES`, or `MODULE:ATTRIBUTE=MODULE:ATTRIBUTE`, which replaces the first by the second.
"""

import os
import runpy
import select
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pkgutil import resolve_name
from types import SimpleNamespace
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic_core import SchemaValidator

from judge.base.procfs import memory_bytes
from judge.base.worker_processes import die_with_parent
from judge.play.kernel_watch import KernelWatch
from judge.play.live_wire import LiveWire
from judge.referee.referee import Referee
from judge.referee.requests import Requests
from judge.sandbox.docker.renewal import NamespaceHelper
from tests.attacks.unprocessed import hosting

_take, _stopped_cpu, _ask = LiveWire._take, LiveWire.read_stopped_cpu, NamespaceHelper.ask


def _nothing(*_: object) -> None: ...


def _take_unbroken(wire: LiveWire, ready: Sequence[tuple[int, int]]) -> None:
    _take(wire, [(fd, mask) for fd, mask in ready if not mask & select.EPOLLERR])


def _uncharged_cpu(wire: LiveWire, seat: int, asked: int) -> int:
    _stopped_cpu(wire, seat, asked)
    return 0


def _read_never(watch: KernelWatch) -> Sequence[tuple[int, int]]:
    watch.due_ns = sys.maxsize
    return ()


def _never_late(*_: object) -> Requests[bool]:
    yield from ()
    return False


def _close_at_once(referee: Referee) -> Requests[None]:
    living = [seat for seat, side in enumerate(referee.sides) if side.is_living]
    deadline = 0
    for seat in living:
        deadline = max(deadline, (yield from referee._say_goodbye(seat)))
    for seat in living:
        yield from referee._await_exit(seat, deadline)


def _asking(**changes: object) -> Callable[..., None]:
    def ask(helper: NamespaceHelper, handle: int, request: Mapping[str, Any]) -> None:
        _ask(helper, handle, {**request, **changes})

    return ask


def collecting_reader(kind: type[BaseModel]) -> SchemaValidator:
    """Validates as `judge.base.parsing`, and collects all errors of a list."""
    return SchemaValidator(_without_fail_fast(built_schema(kind)), _use_prebuilt=False)


def built_schema(kind: type[Any]) -> Any:
    """The whole schema of a class. That of a model is built at its first use."""
    if issubclass(kind, BaseModel):
        kind.model_rebuild(force=True)
        schema: Any = kind.__pydantic_core_schema__
    else:
        schema = TypeAdapter(kind).core_schema
    assert isinstance(schema, dict)
    return schema


def _without_fail_fast(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: _without_fail_fast(value) for key, value in schema.items() if key != "fail_fast"}
    return type(schema)(map(_without_fail_fast, schema)) if isinstance(schema, list | tuple) else schema


ASK, PROVE = "judge.sandbox.docker.renewal:NamespaceHelper.ask", "judge.sandbox.docker.renewal:Renewal.prove"
STILL_MS = "judge.referee.referee:STILL_MS"

DEFENCES: Mapping[str, Mapping[str, object]] = {
    "handling broken pipes": {"judge.play.live_wire:LiveWire._take": _take_unbroken},
    "reading before a request": {"judge.play.live_wire:LiveWire.read_pending": lambda _: ()},
    "rest from stderr": {"judge.play.live_wire:_Surplus.rest": _nothing},
    "charging stopped boxes": {"judge.play.live_wire:LiveWire.read_stopped_cpu": _uncharged_cpu},
    "waiting until a box is still": {STILL_MS: 1},
    "waiting until a box is still, 50 ms": {STILL_MS: 50},
    "waiting until a box is still, 200 ms": {STILL_MS: 200},
    "bound of the wait until a box is still": {STILL_MS: 60_000},
    "bound of running on": {"judge.referee.referee:RAN_ON_MS": 1_000_000},
    "bound of stderr": {"judge.play.game:STDERR_BYTES": 16 << 20},
    "minimum count of a line": {"judge.referee.side:MIN_COUNT_BYTES": 1},
    "limit of kernel memory": {"judge.play.kernel_watch:KernelWatch.read": _read_never},
    "closing one seat after the other": {"judge.referee.referee:Referee._close": _close_at_once},
    "checking the clock after each read": {"judge.referee.referee:Referee._judge_lateness": _never_late},
    "limit of suggestions": {"judge.protocols.gomocup:MAX_SUGGESTIONS": sys.maxsize},
    "new file systems": {ASK: _asking(renew={}), PROVE: _nothing},
    "reset of process numbers": {ASK: _asking(last_pid=None)},
    "hiding counters": {ASK: _asking(hide=None)},
    "proof of renewal": {PROVE: _nothing},
    "organisers' room": {"judge.web.kit.clients:ORGANISER_ROOM": 0, "judge.web.kit.clients:SIGN_IN_ROOM": 0},
    "shares of a full room": {"judge.web.kit.clients:networks_of": lambda _: [SimpleNamespace(name="everybody")]},
    "stream bound": {"judge.web.live.hub:MAX_UNSENT_BYTES": 1 << 40, "judge.web.live.hub:PIECE_BYTES": 1 << 39},
    "origin": {"judge.web.kit.session:check_site": _nothing},
    "message bound": {"judge.cluster.connection:bound_messages": _nothing},
    "slots": {"judge.cluster.bound_scheduler:slots_in": lambda resources: resources["slot"]},
    "first error": {"judge.base.parsing:_reader": collecting_reader},
    "processing of uploads": {"judge.cli.submit:hosting": hosting},
}
"""By name, the parts of the judge that are replaced, as MODULE:ATTRIBUTE."""


def switch_off(names: Sequence[str]) -> Mapping[str, object]:
    """Replace the parts; the former ones. Raises AttributeError for a part that the judge does not have."""
    former: dict[str, object] = {}
    for name in names:
        place, is_replaced, other = name.partition("=")
        parts = {place: resolve_name(other)} if is_replaced else DEFENCES[name]
        former |= {place: resolve_name(place) for place in parts}
        for place, value in parts.items():
            _replace(place, value)
    return former


def _replace(place: str, value: object) -> None:
    module, _, path = place.partition(":")
    owner, _, attribute = path.rpartition(".")
    setattr(resolve_name(f"{module}:{owner}" if owner else module), attribute, value)


@contextmanager
def without(names: Sequence[str]) -> Iterator[None]:
    former = switch_off(names)
    try:
        yield
    finally:
        for place, value in former.items():
            _replace(place, value)


def weak_command(names: Sequence[str], *words: str) -> list[str]:
    return [sys.executable, "-m", __name__, str(os.getpid()), ",".join(names), *words]


def main(parent: str, names: str, *words: str) -> None:
    die_with_parent(int(parent))
    switch_off([*filter(None, names.split(","))])
    sys.argv[1:] = words
    try:
        runpy.run_module("judge.cli", run_name="__main__", alter_sys=True)
    finally:
        sys.stdout.write(f"{memory_bytes('self')}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
