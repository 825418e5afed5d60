"""Ways to freeze a whole container, fastest first. A removed container counts as frozen."""

import errno
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from judge.base.errors import HostError
from judge.sandbox.box import ENGINE_FREEZER, NO_FREEZER
from judge.sandbox.docker.engine import Engine, EngineRefusalError
from judge.sandbox.machine.cgroup import UNIFIED, parse_mounts


class Freezer:
    """`freeze` only requests it; `is_frozen` confirms it. This base class never freezes."""

    name: str = NO_FREEZER

    def freeze(self) -> None: ...

    def thaw(self) -> None: ...

    def is_frozen(self) -> bool:
        return True

    def close(self) -> None: ...


class FileFreezer(Freezer):
    """Writes to an open cgroup file; a call takes a few microseconds."""

    def __init__(self, name: str, order: Path, words: tuple[bytes, bytes], state: Path, sign: bytes) -> None:
        """`words` written to `order` freeze and thaw; `state` contains `sign` once all is frozen."""
        self.name = name
        self._order = os.open(order, os.O_WRONLY)
        try:
            self._state = os.open(state, os.O_RDONLY)
        except OSError:
            os.close(self._order)
            raise
        self._freeze, self._thaw = words
        self._sign = sign

    def freeze(self) -> None:
        self._write(self._freeze)

    def thaw(self) -> None:
        self._write(self._thaw)

    def is_frozen(self) -> bool:
        try:
            return self._sign in os.pread(self._state, 256, 0)
        except OSError as error:
            return _gone(error)

    def close(self) -> None:
        os.close(self._order)
        os.close(self._state)

    def _write(self, word: bytes) -> None:
        try:
            os.pwrite(self._order, word, 0)
        except OSError as error:
            if not _gone(error):
                raise HostError(f"The kernel did not take {word!r} for a freezer: {error}") from error


PROOFS = 5
"""Attempts to pause before a game. runc refuses ("unable to freeze") while a process waits for the disk."""


class EnginePause(Freezer):
    """The Engine's pause, for users without write access to cgroup files."""

    name = ENGINE_FREEZER

    def __init__(self, engine: Engine, container: str) -> None:
        self._engine = engine
        self._container = container
        self._is_wanted = False
        self._frozen = False

    def prove(self) -> "EnginePause":
        """Pause before an agent runs, so that later failures are caused by the agent.

        Raises HostError if each of `PROOFS` attempts fails.
        """
        for left in reversed(range(PROOFS)):
            try:
                self._engine.pause(self._container)
                break
            except EngineRefusalError:
                if not left:
                    raise
        self._engine.unpause(self._container)
        return self

    def freeze(self) -> None:
        self._is_wanted = True
        self.is_frozen()

    def thaw(self) -> None:
        self._is_wanted = False
        if self._frozen:
            self._ask(self._engine.unpause)
            self._frozen = False

    def is_frozen(self) -> bool:
        if self._is_wanted and not self._frozen:
            with suppress(EngineRefusalError):
                self._ask(self._engine.pause)
                self._frozen = True
        return self._frozen

    def _ask(self, call: Callable[[str], None]) -> None:
        try:
            call(self._container)
        except EngineRefusalError as error:
            if error.status not in (404, 409, 500) or self._engine.is_running(self._container):
                raise


FILES = {
    "unified": (UNIFIED, "cgroup.freeze", (b"1", b"0"), "cgroup.events", b"frozen 1"),
    "v1": ("freezer", "freezer.state", (b"FROZEN", b"THAWED"), "freezer.state", b"FROZEN"),
}
"""Per kernel freezer: its hierarchy, then the arguments of `FileFreezer`.

The v1 freezer is slower, and a vfork loop can prevent FROZEN.
"""


ORDERS = {
    UNIFIED: (("cgroup.freeze", "1"), ("cgroup.events", "frozen 1")),
    "freezer": (("freezer.self_freezing", "1"), ("freezer.parent_freezing", "1")),
}
"""Lines that mean that this cgroup or a parent was ordered to freeze."""


def choose_freezer(wish: str, directories: Mapping[str, Path], engine: Engine, container: str) -> Freezer:
    """The policy's; for `auto` the first that this host permits."""
    if wish == NO_FREEZER:
        return Freezer()
    for name, (hierarchy, order, words, state, sign) in FILES.items():
        if wish in ("auto", name) and hierarchy in directories:
            with suppress(OSError):
                return FileFreezer(name, directories[hierarchy] / order, words, directories[hierarchy] / state, sign)
    if wish in ("auto", ENGINE_FREEZER):
        return EnginePause(engine, container).prove()
    raise HostError(f"This host has no {wish} freezer that this user may write: set box.freeze to auto")


def frozen_may_end(wish: str) -> bool:
    """Whether a killed process ends while it is frozen. With v1 it ends after the thaw."""
    mounts = parse_mounts(Path("/proc/self/mountinfo").read_text(encoding="utf-8"))
    return "freezer" not in mounts or (UNIFIED in mounts and os.geteuid() == 0 and wish in ("auto", "unified"))


def is_ordered_frozen(groups: Mapping[str, Path]) -> bool:
    """Whether any program ordered to freeze these cgroups, which an agent cannot. False if they are gone."""
    for hierarchy in ORDERS.keys() & groups.keys():
        for name, sign in ORDERS[hierarchy]:
            with suppress(OSError):
                if sign in (groups[hierarchy] / name).read_text(encoding="ascii").splitlines():
                    return True
    return False


def release(groups: Mapping[str, Path]) -> None:
    """Thaw these cgroups, because a frozen process cannot end."""
    for hierarchy, order, (_, thaw), _, _ in FILES.values():
        if hierarchy in groups:
            with suppress(OSError):
                (groups[hierarchy] / order).write_bytes(thaw)


def _gone(error: OSError) -> bool:
    return error.errno in (errno.ENODEV, errno.ENOENT)
