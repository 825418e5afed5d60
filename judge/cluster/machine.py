"""One machine that plays for a cluster: its slots, and the agents and images that it has or is sent."""

import hashlib
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import IO

from judge.agents.store import AgentStore
from judge.base.durable_files import PARTIAL
from judge.base.errors import HostError, InputError
from judge.base.locks import locked, try_lock_directory
from judge.base.logs import get_logger
from judge.base.resources import POLICIES, code_parts
from judge.cluster.live_moves import relay_moves
from judge.cluster.messages import (
    Answer,
    Arrived,
    Broken,
    Lacks,
    Order,
    Parcel,
    ParcelPiece,
    Played,
    Receipt,
    Stopped,
    Unfit,
)
from judge.cluster.unpickling import own_pickles
from judge.contest.executor import LocalExecutor
from judge.contest.worker import Job, describe_loss
from judge.host.image_files import ID, import_image, refuse_unlike
from judge.referee.play import Slot
from judge.sandbox.docker.images import image_contents
from judge.sandbox.docker.reaper import reap
from judge.sandbox.machine.owner import owned_directory
from judge.sandbox.static_builds import content_digest

KEPT_S = 7 * 86_400
"""How long a file is kept that does not grow."""

TENTH = 10

LOOK_S = 0.5
"""How soon a game ends that nobody wants any more."""

log = get_logger()


class _NotWantedError(Exception):
    """The game was stopped because nobody waited for it any more."""


class Arrivals:
    """Files that arrive in pieces, each under the digest of the whole.

    A transfer continues after a kill, and for another contest. A piece counts only if it begins where the file ends.
    """

    def __init__(self, folder: Path) -> None:
        """Remove those that have not grown for long. Raises OSError."""
        self._folder = folder
        folder.mkdir(exist_ok=True)
        for path in folder.iterdir():
            if path.stat().st_mtime < time.time() - KEPT_S:
                path.unlink()

    def add(self, piece: ParcelPiece, data: bytes) -> int:
        """Take a piece in; how many bytes of the file are there now.

        A piece is passed over if it is damaged, or of another place. Raises HostError if the disk does not take it.
        """
        parcel = piece.parcel
        path = self._path(parcel)
        try:
            with locked(self._folder / "lock"), path.open("ab") as file:
                there = file.tell()
                is_whole = hashlib.sha256(data).hexdigest() == piece.digest
                if not data or piece.begin != there or there + len(data) > parcel.size or not is_whole:
                    return there
                if not there and shutil.disk_usage(self._folder).free < 2 * parcel.size:
                    raise HostError(f"{self._folder}: no room for {parcel}: {2 * parcel.size / 1e6:.0f} MB are needed")
                file.write(data)
        except OSError as error:
            raise HostError(f"{path}: {error.strerror}: make room there") from None
        arrived = there + len(data)
        if TENTH * there // parcel.size != TENTH * arrived // parcel.size:
            log.info("receiving", what=str(parcel), percent=100 * arrived // parcel.size, bytes=arrived)
        return arrived

    def whole(self, parcel: Parcel) -> Path | None:
        """The file, if it is what was announced; one that is not is removed. Raises HostError."""
        path = self._path(parcel)
        try:
            with path.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() == parcel.digest:
                    return path
            path.unlink()
        except OSError as error:
            raise HostError(f"{path}: {error.strerror}") from None
        return None

    def remove(self, parcel: Parcel) -> None:
        """Remove what there is of a file."""
        self._path(parcel).unlink(missing_ok=True)

    def _path(self, parcel: Parcel) -> Path:
        return self._folder / f"{parcel.digest}{PARTIAL}"


class Machine:
    """The slots of this machine. Games are played by the threads that ask for them."""

    def __init__(self, name: str, folder: Path, slots: Sequence[Slot], *, allows_processes: bool = False) -> None:
        """`folder` stores agents, and what arrives. Raises InputError if another worker uses it. Records have the
        `name`, and not the host's own, which machines that are copies of one another share.

        `allows_processes`: agents may run as processes of this user, too, which nothing isolates.
        """
        self.name = name
        self.folder = folder
        self.slots = len(slots)
        self._allows_processes = allows_processes
        self._lock_file = _locked(folder)
        self._agents = AgentStore(folder / "agents")
        self._arrivals = Arrivals(folder / "arrivals")
        self._taking_in = Lock()
        self._idle: SimpleQueue[LocalExecutor] = SimpleQueue()
        for slot in slots:
            self._idle.put(LocalExecutor([replace(slot, host=name)], ahead=0))

    def play(
        self, order: Order, is_wanted: Callable[[], bool], send_moves: Callable[[int, bytes], None] = lambda *_: None
    ) -> Answer:
        """Play a game in a free slot, to its end or until it is not wanted any more.

        `send_moves` sends its moves meanwhile: some bytes, and how many were sent before.
        """
        try:
            self._refuse_unlike(order)
            images = self._lacking_images(order.images)
        except HostError as error:
            log.warning("this worker is given no games", contest=order.contest, why=str(error))
            return Unfit(why=str(error)[:2000])
        programs = {digest: path for digest in order.agents if (path := self._program(digest))}
        agents = tuple(digest for digest in order.agents if digest not in programs)
        if images or agents:
            return Lacks(agents=agents, images=images)
        try:
            job = Job(order.game, programs, states=order.states, contest=order.contest)
            with own_pickles(), self._spectators(order, send_moves) as listener:
                return self._in_a_slot(replace(job, listener=listener), is_wanted)
        except _NotWantedError:
            self._clear_away(containers=bool(order.images))
            return Stopped(why=f"{self.name} had lost its scheduler, or the game was taken back")
        except (HostError, InputError) as error:
            # What a lost process leaves of its game would sit on the slot's cores until the next start.
            self._clear_away(containers=bool(order.images))
            return Broken(why=f"{self.name}: {error}"[:2000])

    def receive(self, piece: ParcelPiece, data: bytes) -> Receipt:
        """Take in a piece of what this machine lacks; without `data` say how far it is, or make use of the whole."""
        parcel = piece.parcel
        try:
            if not data and self._has(parcel):
                return Arrived(bytes=parcel.size, is_whole=True)
            if not data and parcel.image:
                refuse_unlike(parcel.image)
            arrived = self._arrivals.add(piece, data)
            if data or arrived < parcel.size:
                return Arrived(bytes=arrived)
            return self._take_in(parcel)
        except (HostError, InputError) as error:
            log.warning("it cannot be received", what=str(parcel), why=str(error))
            return Unfit(why=f"{self.name}: {error}"[:2000])

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

    def _lacking_images(self, wanted: Mapping[str, str]) -> tuple[str, ...]:
        """The names of those that are missing or out of date. Raises HostError, with the fix, if one has other contents
        than the contest's."""
        found = image_contents(wanted) if wanted else {}
        for name, content in wanted.items():
            if found[name] not in ("", content):
                tag = name if content.startswith(ID) else f"judge/{name}:1"
                raise HostError(
                    f"the image {name} of {self.name} has other contents than the contest's: remove it there with "
                    f"docker image rm {tag}, then the contest's is sent"
                )
        return tuple(name for name in wanted if not found[name])

    def _has(self, parcel: Parcel) -> bool:
        """Whether it was received, or is here in another way. Raises HostError."""
        if parcel.image:
            return not self._lacking_images({parcel.image.name: parcel.image.content})
        return self._program(parcel.agent) is not None

    def _take_in(self, parcel: Parcel) -> Receipt:
        """Check what has arrived, and make an agent or an image of it. Raises HostError and InputError."""
        with self._taking_in:
            if self._has(parcel):  # another contest has sent it meanwhile
                return Arrived(bytes=parcel.size, is_whole=True)
            path = self._arrivals.whole(parcel)
            if path is None:
                log.warning("it was damaged on its way, and comes again", what=str(parcel))
                return Arrived(bytes=0)
            try:
                if parcel.image:
                    import_image(parcel.image, path)
                else:
                    with path.open("rb") as file:
                        self._agents.put_packed(parcel.agent, file)
            finally:
                self._arrivals.remove(parcel)
        log.info("received", what=str(parcel), bytes=parcel.size)
        return Arrived(bytes=parcel.size, is_whole=True)

    def _program(self, digest: str) -> Path | None:
        """The files of an agent; None if there are none, or if they were changed."""
        try:
            return self._agents.get(digest)
        except InputError:
            self._agents.remove(digest)
            return None

    @contextmanager
    def _spectators(self, order: Order, send_moves: Callable[[int, bytes], None]) -> Iterator[Path | None]:
        """Where the process of a game tells of its moves; None if nobody follows them. Raises HostError."""
        if not order.is_followed:
            yield None
            return
        with owned_directory() as directory, relay_moves(send_moves, directory) as address:
            yield address

    def _in_a_slot(self, job: Job, is_wanted: Callable[[], bool]) -> Answer:
        slots = self._idle.get()
        log.info("game taken", game=job.game.id, attempt=job.game.attempt)
        try:
            slots.start(job)
            while not (ended := slots.wait(LOOK_S)):
                if not is_wanted():
                    slots.kill()
                    slots.close()
                    slots = LocalExecutor(slots.slots, ahead=0)
                    raise _NotWantedError
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
