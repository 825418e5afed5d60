"""One machine that plays for a cluster: its slots, and the agents whose files it has."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import IO

from judge.agents.store import AgentStore
from judge.cluster.messages import Answer, Broken, Lacks, Order, Played, Unfit
from judge.cluster.unpickling import own_pickles
from judge.contest.executor import LocalExecutor
from judge.contest.worker import Job, describe_loss
from judge.errors import HostError, InputError
from judge.locks import try_lock_directory
from judge.logs import get_logger
from judge.referee.play import Slot
from judge.resources import POLICIES, code_parts
from judge.sandbox.images import image_contents
from judge.sandbox.reaper import reap
from judge.sandbox.static_builds import content_digest

LOOK_S = 0.5
"""How soon a game ends that nobody wants any more."""

log = get_logger()


class Machine:
    """The slots of this machine. Games are played by the threads that ask for them."""

    def __init__(self, name: str, folder: Path, slots: Sequence[Slot], *, allows_processes: bool = False) -> None:
        """`folder` stores agents. Raises InputError if another worker uses it.

        `allows_processes`: agents may run as processes of this user, too, which nothing isolates.
        """
        self.name = name
        self.folder = folder
        self.slots = len(slots)
        self._allows_processes = allows_processes
        self._lock_file = _locked(folder)
        self._agents = AgentStore(folder / "agents")
        self._idle: SimpleQueue[LocalExecutor] = SimpleQueue()
        for slot in slots:
            self._idle.put(LocalExecutor([slot], ahead=0))

    def play(self, order: Order, packed: Mapping[str, bytes], is_wanted: Callable[[], bool]) -> Answer:
        """Play a match in a free slot, to its end or until it is not wanted any more; `packed` are files of agents, see
        `judge.agents.store.pack_agent`."""
        try:
            self._refuse_unlike(order)
        except HostError as error:
            log.warning("this worker is given no games", contest=order.contest, why=str(error))
            return Unfit(why=str(error))
        try:
            for digest, data in packed.items():
                self._agents.put_packed(digest, data)
        except InputError as error:
            log.warning("files of an agent were damaged on their way", why=str(error))
        except HostError as error:
            return Unfit(why=f"{self.name}: {error}")
        programs = {digest: path for digest in order.agents if (path := self._program(digest))}
        if lacking := tuple(digest for digest in order.agents if digest not in programs):
            return Lacks(agents=lacking)
        try:
            with own_pickles():
                return self._in_a_slot(
                    Job(order.match, programs, states=order.states, contest=order.contest), is_wanted
                )
        except (HostError, InputError) as error:
            # What a lost process leaves of its game would sit on the slot's cores until the next start.
            self._clear_away(containers=bool(order.images))
            return Broken(why=f"{self.name}: {error}"[:2000])

    def close(self) -> None:
        """End the processes of slots in which nothing is played."""
        while not self._idle.empty():
            self._idle.get().close()
        self._lock_file.close()

    def _refuse_unlike(self, order: Order) -> None:
        if order.code != code_digest():
            raise HostError(f"the judge on {self.name} is not the one that runs the contest: install the same on both")
        if not self._allows_processes and order.spec.box == "process":
            raise HostError(f"{self.name} plays in containers only")
        refuse_other_images(self.name, order.images, image_contents(order.images) if order.images else {})

    def _program(self, digest: str) -> Path | None:
        """The files of an agent; None if there are none, or if they were changed."""
        try:
            return self._agents.get(digest)
        except InputError:
            self._agents.remove(digest)
            return None

    def _in_a_slot(self, job: Job, is_wanted: Callable[[], bool]) -> Answer:
        slots = self._idle.get()
        log.info("game taken", match=job.match.id, attempt=job.match.attempt)
        try:
            slots.start(job)
            while not (ended := slots.wait(LOOK_S)):
                if not is_wanted():
                    slots.kill()
                    slots.close()
                    slots = LocalExecutor(slots.slots, ahead=0)
                    raise HostError("the game was stopped")
        finally:
            self._idle.put(slots)
        (end,) = ended
        if end.result is None:
            raise HostError(describe_loss(end.error or RuntimeError("no end")))
        return Played(record=end.result.record, states=end.result.states)

    def _clear_away(self, *, containers: bool) -> None:
        try:
            for line in reap(containers=containers):
                log.info("removed what a lost game left", what=line)
        except HostError as error:
            log.warning("what a lost game left is still there", why=str(error))


@cache
def code_digest() -> str:
    """SHA-256 (hex) of what decides a game beside its spec: the judge's own code, and its system call filters."""
    return content_digest(*code_parts(), POLICIES / "seccomp")


def refuse_other_images(host: str, wanted: Mapping[str, str], found: Mapping[str, str]) -> None:
    """Raises HostError, with the fix, if the images of `host` are not those of the contest's host."""
    for name, content in wanted.items():
        if not found.get(name):
            raise HostError(
                f"{host} has no current image {name}: run judge images build {name} there, or carry it over with "
                f"docker save and docker load"
            )
        if found[name] != content:
            raise HostError(
                f"the image {name} of {host} has other contents than the contest's: run judge images build {name} on "
                f"both, or carry it over with docker save and docker load"
            )


def _locked(folder: Path) -> IO[bytes]:
    """One worker a folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = try_lock_directory(folder)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}: a worker needs a folder of its own") from None
    if file is None:
        raise InputError(f"{folder} belongs to a worker that runs: give this one another")
    return file
