"""A `judge` command without some defences, for controls.

    python -m judge.attacks.weak_command PARENT NAME,NAME COMMAND...

It ends with process PARENT. NAME is a key of `DEFENCES`, or `MODULE:ATTRIBUTE=MODULE:ATTRIBUTE`, which replaces the
first by the second.
"""

import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from pkgutil import resolve_name
from types import SimpleNamespace

from judge.base.procfs import memory_bytes
from judge.base.worker_processes import die_with_parent

DEFENCES: Mapping[str, Sequence[tuple[str, object]]] = {
    "organisers' room": [("judge.web.kit.rooms:ORGANISER_ROOM", 0), ("judge.web.kit.rooms:SIGN_IN_ROOM", 0)],
    "shares of a full room": [("judge.web.kit.rooms:networks_of", lambda _: [SimpleNamespace(name="everybody")])],
    "stream bound": [("judge.web.live.hub:MAX_UNSENT_BYTES", 1 << 40), ("judge.web.live.hub:PIECE_BYTES", 1 << 39)],
    "origin": [("judge.web.authors.app:check_site", lambda _: None)],
    "message bound": [("judge.cluster.connection:bound_messages", lambda: None)],
    "slots": [("judge.cluster.bound_scheduler:slots_in", lambda resources: resources["slot"])],
    "first error": [("judge.base.parsing:_failing_fast", lambda schema: schema)],
}


def switch_off(name: str) -> None:
    """Raises KeyError, ImportError or AttributeError for an unknown name."""
    place, is_replaced, other = name.partition("=")
    for target, value in [(place, resolve_name(other))] if is_replaced else DEFENCES[name]:
        resolve_name(target)
        module, _, attribute = target.partition(":")
        setattr(resolve_name(module), attribute, value)


def weak_command(without: Sequence[str], *words: str) -> list[str]:
    """Arguments of this module; `without` names defences."""
    return [sys.executable, "-m", __name__, str(os.getpid()), ",".join(without), *words]


def main(parent: str, names: str, *words: str) -> None:
    """Print its peak memory in bytes at the end."""
    die_with_parent(int(parent))
    for name in filter(None, names.split(",")):
        switch_off(name)
    sys.argv[1:] = words
    try:
        runpy.run_module("judge.cli", run_name="__main__", alter_sys=True)
    finally:
        sys.stdout.write(f"{memory_bytes('self')}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
