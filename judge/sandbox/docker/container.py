"""A container and what the judge holds of it, which may outlive a game; and those that are kept for their agents.

A container is kept only for the agent that it was made for. At the end of a game it is renewed and proved clean
(`judge.sandbox.docker.renewal`). It waits on its parking cores and is checked again before the next game. Kept
containers belong to this process and end with it; after a kill the reaper removes them.
"""

import os
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from judge.base.errors import HostError
from judge.base.logs import get_logger
from judge.sandbox.docker.attach import AttachStream
from judge.sandbox.docker.engine import Engine
from judge.sandbox.docker.freezer import EnginePause, Freezer
from judge.sandbox.docker.program_copy import ProgramCopy
from judge.sandbox.docker.renewal import Renewal, UncleanError
from judge.sandbox.host_activity.interference import FirstProcess
from judge.sandbox.machine.owner import remove_directory
from judge.sandbox.machine.users import User

log = get_logger()

MOST_KEPT = 4
"""So many containers are kept by a process: two for each seat of its games. The one that waits longest goes first."""

END_S = 1.0
"""How long a killed container is waited for before the Engine is asked to kill it too."""

CLEAN_S = 5.0
"""How long PID 1 may take to leave nothing."""


@dataclass(slots=True)
class Container:
    """A container, from its creation to its end; what is not there yet is None or empty."""

    engine: Engine | None = None
    id: str = ""
    user: User | None = None
    """Claimed for as long as the container lasts; None if its agent's folders have an owner already."""
    directory: Path | None = None
    """Its named pipes, its account files and its program."""
    program: ProgramCopy | None = None
    """Its own copy of the agent's files; None: it uses the staged ones."""
    stream: AttachStream | None = None
    first: FirstProcess | None = None
    groups: Mapping[str, Path] = field(default_factory=dict)
    freezer: Freezer = field(default_factory=Freezer)
    renewal: Renewal | None = None
    """How it is made as new after a game; None: it serves one game."""
    is_reused: bool = False
    """Whether it has served a game of its agent before."""

    @property
    def is_closed(self) -> bool:
        """Whether there is none, or none any more."""
        return not self.id

    def begin(self, tmpfs: Mapping[str, str], kind: type[Renewal] = Renewal) -> None:
        """Before the first game: make ready for being renewed. Raises UncleanError where that cannot be."""
        if self.first is None or not self.groups:
            raise UncleanError("judge and Engine share no kernel")
        if isinstance(self.freezer, EnginePause):
            raise UncleanError("this judge may not write the files of its cgroups")
        self._clean()
        renewal = kind(self.first.pid, self.first.fd, self.groups, tmpfs, self.program)
        renewal.begin()
        self.renewal = renewal

    def renew(self) -> None:
        """After a game: undo what it could have left, and prove it. Raises UncleanError, HostError."""
        if self.renewal is None:
            raise UncleanError("it serves one game")
        self._clean()
        self.renewal.renew()

    def _clean(self) -> None:
        if self.stream is None or not self.stream.clean(CLEAN_S):
            raise UncleanError("PID 1 does not say that nothing is left")

    def close(self, name: str) -> None:
        """Remove it, and close every file; never raises. `name` is for the log."""
        with suppress(HostError):
            self.freezer.thaw()
        self.freezer.close()
        self.freezer = Freezer()
        if self.stream:
            self.stream.close()  # first: the Engine waits until somebody takes what a container has written
        if self.engine and self.id:
            self._end(self.engine)
            try:
                self.engine.remove(self.id)
            except HostError as error:
                log.warning("box left behind for the reaper", box=name, error=str(error))
            self.id = ""
        if self.first:
            self.first.close()
            self.first = None
        self.drop_directory()
        if self.user:
            self.user.close()
            self.user = None
        if self.engine:
            self.engine.close()
            self.engine = None

    def _end(self, engine: Engine) -> None:
        """End what runs, if this user may, and let the Engine take note: else it executes runc to kill the dead."""
        if self.first and self.first.kill():
            self.first.await_end(END_S)
            if not self.first.is_running():
                with suppress(HostError):
                    engine.wait(self.id)

    def drop_directory(self) -> None:
        """Remove its directory, if there is one."""
        if self.directory:
            remove_directory(self.directory)
            self.directory = self.program = None


class Whose(NamedTuple):
    """The agent that a container is kept for."""

    digest: str
    made_with: Hashable
    """What else is in the container's configuration, but for what is a game's own."""


class KeptContainers:
    """The containers of this process that wait for the next game of their agents; for several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: OrderedDict[tuple[Whose, str], Container] = OrderedDict()
        self._owner = 0
        """The process that closes them when it ends."""

    def put(self, whose: Whose, container: Container) -> None:
        """Keep a container that was renewed for a game of the same agent; the one that waits longest may go."""
        with self._lock:
            if self._owner != os.getpid():
                self._owner = os.getpid()
                Finalize(None, self.close, exitpriority=0)  # at the end of a worker process too
            self._waiting[whose, container.id] = container
            gone = [self._waiting.popitem(last=False)[1] for _ in range(len(self._waiting) - MOST_KEPT)]
        for each in gone:
            each.close(f"container {each.id[:12]}")

    def take(self, whose: Whose) -> Container | None:
        """The agent's container that was used last, in which nobody has run anything since; None if there is none."""
        while (container := self._pop(whose)) is not None:
            try:
                container.renewal.prove_alone()  # type: ignore[union-attr]  # it was renewed
            except (UncleanError, OSError) as error:
                tell_thrown_away(f"container {container.id[:12]}", str(error))
                container.close(f"container {container.id[:12]}")
            else:
                container.is_reused = True
                return container
        return None

    def _pop(self, whose: Whose) -> Container | None:
        with self._lock:
            found = next((key for key in reversed(self._waiting) if key[0] == whose), None)
            return None if found is None else self._waiting.pop(found)

    def all(self) -> Sequence[Container]:
        """Those that wait now."""
        with self._lock:
            return tuple(self._waiting.values())

    def close(self, but_of: str = "") -> None:
        """Remove all but those of the agent with this digest; never raises."""
        with self._lock:
            keys = [key for key in self._waiting if not but_of or key[0].digest != but_of]
            gone = [self._waiting.pop(key) for key in keys]
        for each in gone:
            each.close(f"container {each.id[:12]}")


def tell_thrown_away(box: str, why: str) -> None:
    """Log that a container gets no further game, and why."""
    log.warning("a box that cannot be proved clean is thrown away; the next game gets a fresh one", box=box, why=why)


@cache
def tell_shared_files() -> None:
    """Log once that boxes do not have their own copies of their agents' files."""
    log.warning(
        "the Engine does not see TMPDIR: all games of an agent share its files, so an agent can pass numbers from game "
        "to game; set TMPDIR to a directory that the Engine sees"
    )


@cache
def tell_no_effect(why: str) -> None:
    """Log, once a reason, that boxes cannot be kept although the policy says so."""
    log.warning("box.reuse has no effect: each game has a fresh box", why=why)


KEPT = KeptContainers()
"""Those of this process."""
