"""One machine that plays for a cluster: its slots, the agents it has, the games it plays and those not yet fetched.

A game belongs to this machine from the moment it is given here until the contest's host says that it has its record. It
is played once, however often it is asked for, and whether or not anybody can be reached meanwhile.
"""

import threading
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import IO

from judge.agents.store import AgentStore
from judge.cluster.messages import HostFacts, Key, RemoteJob
from judge.cluster.unacknowledged import Outbox
from judge.contest.executor import LocalExecutor
from judge.contest.worker import Job, JobResult
from judge.errors import HostError, InputError
from judge.host.host import describe_host
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


class WorkerHost:
    """The slots of this machine, of which each has a thread and a process of its own."""

    def __init__(self, name: str, folder: Path, slots: Sequence[Slot]) -> None:
        """`folder` stores agents and played matches. Raises InputError if another worker uses it."""
        self.name = name
        self.folder = folder
        self.slots = len(slots)
        self.cores_per_slot = max(1, len(slots[0].cores))
        self._lock_file = _locked(folder)
        self._agents = AgentStore(folder / "agents")
        self._outbox = Outbox(folder / "played")
        # These threads last as long as the host: a slot's process dies with the thread that started it.
        self._threads = ThreadPoolExecutor(len(slots), thread_name_prefix="slot")
        self._idle: SimpleQueue[LocalExecutor] = SimpleQueue()
        for slot in slots:
            self._idle.put(LocalExecutor([slot], ahead=0))
        self._games: dict[Key, Future[JobResult]] = {}
        self._unwanted: set[Key] = set()
        self._lock = threading.Lock()

    def facts(self, contest: str, images: Collection[str]) -> HostFacts:
        """What the contest's host asks before it gives matches; `images` by the names of runtimes.

        Raises HostError if an image was asked for and the Engine does not answer.
        """
        with self._lock:
            games = frozenset(key for key in self._games if key.contest == contest)
        return HostFacts(
            name=self.name,
            about=describe_host(),
            code=code_digest(),
            slots=self.slots,
            cores_per_slot=self.cores_per_slot,
            images=image_contents(images) if images else {},
            agents=self._agents.digests(),
            games=games | self._outbox.keys(contest),
        )

    def take_agent(self, digest: str, data: bytes) -> None:
        """Store the files of an agent: see `AgentStore.put_packed`."""
        self._agents.put_packed(digest, data)

    def play(self, job: RemoteJob) -> Future[JobResult]:
        """The game, which begins now if it is not known yet."""
        with self._lock:
            known = self._known(job.key)
            if known is not None:
                return known
            game = self._games[job.key] = self._threads.submit(self._play, job)
        log.info("game taken", match=job.key.match, attempt=job.key.attempt)
        game.add_done_callback(lambda _: self._has_ended(job.key, game))
        return game

    def game(self, key: Key) -> Future[JobResult]:
        """A game that is known here; HostError for any other."""
        with self._lock:
            known = self._known(key)
        if known is None:
            raise HostError(f"the worker {self.name} knows nothing of game {key}")
        return known

    def forget(self, keys: Collection[Key]) -> None:
        """The contest's host has these games."""
        with self._lock:
            for key in keys:
                self._games.pop(key, None)
        self._outbox.forget(keys)

    def stop(self, keys: Collection[Key]) -> None:
        """Nobody wants these games: end what runs of them, and forget what is left."""
        with self._lock:
            self._unwanted |= set(keys) & set(self._games)
        self.forget(set(keys) - self._unwanted)

    def close(self) -> None:
        """End everything now."""
        with self._lock:
            self._unwanted |= set(self._games)
        self._threads.shutdown(wait=True)
        while not self._idle.empty():
            self._idle.get().close()
        self._lock_file.close()

    def _has_ended(self, key: Key, game: Future[JobResult]) -> None:
        """The spool knows the matches that were played, this the others."""
        with self._lock:
            is_unwanted = key in self._unwanted
            self._unwanted.discard(key)
            if is_unwanted or not game.exception():
                self._games.pop(key, None)
        if is_unwanted:
            self._outbox.forget([key])

    def _known(self, key: Key) -> Future[JobResult] | None:
        if key in self._games:
            return self._games[key]
        kept = self._outbox.get(key)
        if kept is None:
            return None
        found: Future[JobResult] = Future()
        found.set_result(kept)
        return found

    def _play(self, job: RemoteJob) -> JobResult:
        refuse_other_images(self.name, job.images, image_contents(job.images) if job.images else {})
        programs = {digest: self._program(digest) for digest in job.job.programs}
        try:
            result = self._in_a_slot(job.key, replace(job.job, programs=programs))
        except Exception:
            # What a lost process leaves of its game would sit on the slot's cores until the next start.
            self._clear_away(containers=bool(job.images))
            raise
        self._outbox.put(job.key, result)
        return result

    def _program(self, digest: str) -> Path:
        """The files of an agent. Files that were changed are removed, so that they come again with the next game."""
        try:
            return self._agents.get(digest)
        except InputError as error:
            self._agents.remove(digest)
            raise HostError(f"the worker {self.name}: {error}") from None

    def _in_a_slot(self, key: Key, job: Job) -> JobResult:
        slots = self._idle.get()
        try:
            slots.start(job)
            while not (ended := slots.wait(LOOK_S)):
                if key in self._unwanted:
                    slots.kill()
                    slots.close()
                    slots = LocalExecutor(slots.slots, ahead=0)
                    raise HostError(f"the game {key} was stopped")
            (end,) = ended
        finally:
            self._idle.put(slots)
        if end.result is None:
            raise end.error or HostError(f"the game {key} has no end")
        return end.result

    def _clear_away(self, *, containers: bool) -> None:
        try:
            for line in reap(containers=containers):
                log.info("removed what a lost game left", what=line)
        except HostError as error:
            log.warning("what a lost game left is still there", why=str(error))


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
        file = try_lock_directory(folder)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}: a worker needs a folder of its own") from None
    if file is None:
        raise InputError(f"{folder} belongs to a worker that runs: give this one another")
    return file
