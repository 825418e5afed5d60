"""A machine that plays for a cluster."""

import hashlib
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from threading import Lock

from judge.agents.store import AgentStore
from judge.base.descriptors import raise_descriptor_limit
from judge.base.durable_files import PARTIAL, sha256_of
from judge.base.errors import HostError, InputError, os_errors_as
from judge.base.locks import locked, try_lock_directory
from judge.base.logs import get_logger
from judge.base.owner import owned_directory
from judge.base.resources import POLICIES, code_parts
from judge.cluster.bounded_messages import own_pickles
from judge.cluster.live_moves import GameClient, relay_moves
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
from judge.contest.attempts import Job, describe_loss
from judge.contest.executor import LocalExecutor
from judge.host.image_files import ID, import_image, refuse_unlike
from judge.play.venue import Slot
from judge.sandbox.box import ImageFacts
from judge.sandbox.docker.images import NO_IMAGE, image_facts
from judge.sandbox.docker.reaper import reap
from judge.sandbox.docker.requirements import require_exact_clocks
from judge.sandbox.static_builds import content_digest

KEPT_S = 7 * 86_400
"""An incomplete file is removed after this time without growth."""

TENTH = 10

POLL_INTERVAL_S = 0.5

log = get_logger()


class _NotWantedError(Exception): ...


class Arrivals:
    """Files that arrive in pieces, named by digest."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError."""
        self._folder = folder
        folder.mkdir(exist_ok=True)
        for path in folder.iterdir():
            if path.stat().st_mtime < time.time() - KEPT_S:
                path.unlink()

    def add(self, piece: ParcelPiece, data: bytes) -> int:
        """Add a piece; return the file's size. Ignores damaged or misplaced pieces. Raises HostError."""
        parcel = piece.parcel
        path = self._path(parcel)
        with os_errors_as(HostError, path, ": make room there"), locked(self._folder / "lock"), path.open("ab") as file:
            there = file.tell()
            is_whole = hashlib.sha256(data).hexdigest() == piece.digest
            if not data or piece.begin != there or there + len(data) > parcel.size or not is_whole:
                return there
            if not there and shutil.disk_usage(self._folder).free < 2 * parcel.size:
                raise HostError(f"{self._folder}: no room for {parcel}: {2 * parcel.size / 1e6:.0f} MB are needed")
            file.write(data)
        arrived = there + len(data)
        if TENTH * there // parcel.size != TENTH * arrived // parcel.size:
            log.info("receiving", what=str(parcel), percent=100 * arrived // parcel.size, bytes=arrived)
        return arrived

    def whole(self, parcel: Parcel) -> Path | None:
        """Return the file; remove it if its digest is wrong. Raises HostError."""
        path = self._path(parcel)
        with os_errors_as(HostError, path):
            if sha256_of(path) == parcel.digest:
                return path
            path.unlink()
        return None

    def _path(self, parcel: Parcel) -> Path:
        return self._folder / f"{parcel.digest}{PARTIAL}"


class Machine:
    """The slots of this machine. Games run in the threads that request them."""

    def __init__(self, name: str, folder: Path, slots: Sequence[Slot], *, allows_processes: bool = False) -> None:
        """`folder` stores agents and arriving files; raises InputError if another worker uses it. Records contain
        `name`. `allows_processes`: agents may run without isolation, as this user.
        """
        self.name = name
        self.folder = folder
        self.slots = len(slots)
        self._each_slot = tuple(slots)
        self._allows_processes = allows_processes
        with os_errors_as(InputError, folder, ": a worker needs its own folder"):
            lock_file = try_lock_directory(folder)
        if lock_file is None:
            raise InputError(f"{folder} is used by a running worker: give this one another folder")
        self._lock_file = lock_file
        raise_descriptor_limit()  # Each slot takes several files, here and in the fork server.
        self._agents = AgentStore(folder / "agents")
        self._arrivals = Arrivals(folder / "arrivals")
        self._taking_in = Lock()
        self._idle: SimpleQueue[LocalExecutor] = SimpleQueue()
        for slot in slots:
            self._idle.put(LocalExecutor([replace(slot, host=name)], ahead=0))

    def play(self, order: Order, client: GameClient) -> Answer:
        """Play a game until it ends or is not wanted."""
        try:
            return self._answer(order, client)
        except (OSError, RuntimeError) as error:  # This host has no more files, processes or threads.
            self._clear_away(order)
            return self._broken(error)

    def _answer(self, order: Order, client: GameClient) -> Answer:
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
            with own_pickles(), self._spectators(order, client) as listener:
                return self._in_a_slot(replace(job, listener=listener), client)
        except _NotWantedError:
            self._clear_away(order)
            return Stopped(why=f"{self.name} lost its scheduler, or the game was given up")
        except (HostError, InputError) as error:
            self._clear_away(order)
            return self._broken(error)

    def _broken(self, error: Exception) -> Broken:
        log.warning("a game has no result", why=str(error))
        return Broken(why=f"{self.name}: {error}"[:2000])

    def receive(self, piece: ParcelPiece, data: bytes) -> Receipt:
        """Add a piece. Without `data`, report progress, or install a complete file."""
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
            log.warning("cannot receive", what=str(parcel), why=str(error))
            return Unfit(why=f"{self.name}: {error}"[:2000])

    def close(self) -> None:
        """End the processes of idle slots."""
        while not self._idle.empty():
            self._idle.get().close()
        self._lock_file.close()

    def _refuse_unlike(self, order: Order) -> None:
        if order.code != code_digest():
            raise HostError(f"the judge on {self.name} differs from the contest's: install the same version on both")
        if not self._allows_processes and order.spec.box == "process":
            raise HostError(f"{self.name} plays in containers only")
        for slot in self._each_slot:
            if why := slot.unfit_reason(order.spec.policy):
                raise HostError(f"{self.name}: {why}; start judge worker with more --cores or fewer --slots")
        if order.spec.box == "docker":
            policy = order.spec.policy
            require_exact_clocks(policy.game_box, policy.clock.shortest_ms)

    def _lacking_images(self, wanted: Mapping[str, ImageFacts]) -> tuple[str, ...]:
        found = image_facts(wanted) if wanted else {}
        for name, facts in wanted.items():
            if found[name] not in (NO_IMAGE, facts):
                what = "other contents" if found[name].content != facts.content else "another way or base image"
                tag = name if facts.content.startswith(ID) else f"judge/{name}:1"
                raise HostError(
                    f"the image {name} of {self.name} has {what} than the contest's: remove it there with "
                    f"docker image rm {tag}, then the contest's is sent"
                )
        return tuple(name for name in wanted if found[name] == NO_IMAGE)

    def _has(self, parcel: Parcel) -> bool:
        if parcel.image:
            return not self._lacking_images({parcel.image.name: parcel.image.facts})
        return self._program(parcel.agent) is not None

    def _take_in(self, parcel: Parcel) -> Receipt:
        with self._taking_in:
            if self._has(parcel):
                return Arrived(bytes=parcel.size, is_whole=True)
            path = self._arrivals.whole(parcel)
            if path is None:
                log.warning("damaged in transit; it is sent again", what=str(parcel))
                return Arrived(bytes=0)
            try:
                if parcel.image:
                    import_image(parcel.image, path)
                else:
                    with path.open("rb") as file:
                        self._agents.put_packed(parcel.agent, file)
            finally:
                path.unlink(missing_ok=True)
        log.info("received", what=str(parcel), bytes=parcel.size)
        return Arrived(bytes=parcel.size, is_whole=True)

    def _program(self, digest: str) -> Path | None:
        try:
            return self._agents.get(digest)
        except InputError:
            self._agents.remove_damaged(digest)
            return None

    @contextmanager
    def _spectators(self, order: Order, client: GameClient) -> Iterator[Path | None]:
        if not order.is_followed:
            yield None
            return
        with owned_directory() as directory, relay_moves(client, directory) as address:
            yield address

    def _in_a_slot(self, job: Job, client: GameClient) -> Answer:
        slots = self._idle.get()
        log.info("game taken", game=job.game.id, attempt=job.game.attempt)
        try:
            slots.start(job)
            while not (ended := slots.wait(POLL_INTERVAL_S)):
                if not client.is_wanted():
                    slots.kill()
                    raise _NotWantedError
        finally:
            self._idle.put(slots)
        (end,) = ended
        if end.outcome is None:
            raise HostError(describe_loss(end.error or RuntimeError("no end")))
        return Played(record=end.record, states=end.states)

    def _clear_away(self, order: Order) -> None:
        """Leftovers would use the slot's cores."""
        try:
            for line in reap(containers=bool(order.images)):
                log.info("removed leftovers of a lost game", what=line)
        except (HostError, OSError) as error:
            log.warning("cannot remove leftovers of a lost game", why=str(error))


@cache
def code_digest() -> str:
    """SHA-256 of the judge's code and system call filters."""
    return content_digest(*code_parts(), POLICIES / "seccomp")
