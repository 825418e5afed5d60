"""Plays the games of a contest on the workers of a dask scheduler.

A worker announces its slots as a resource, and each game takes one. dask transports tasks and answers. This module
decides which worker plays a game: one that has a free slot, another one if it is lost, and none whose answer was
refused (`judge.cluster.checkers`). docs/architecture.md says why dask does not decide that. The store counts one result
of each game, even if it was played twice.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future as Check
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from distributed import CancelledError, Future
from distributed.security import Security

from judge.base.errors import HostError, InputError, StoreLostError
from judge.base.logs import get_logger
from judge.cluster.checkers import Checkers
from judge.cluster.connection import SchedulerConnection
from judge.cluster.live_moves import FollowedGame, LiveMoves
from judge.cluster.machine import code_digest
from judge.cluster.messages import LARGEST_ANSWER, Answer, Broken, Lacks, Order, Stopped, Unfit
from judge.cluster.roster import Roster, WorkerFound
from judge.cluster.security import Address, parse_address, security_of
from judge.cluster.tasks import SLOT, play
from judge.cluster.transfers import Parcels, TransferEnd, Transfers
from judge.contest.estimate import longest_game_s
from judge.contest.executor import JobEnd
from judge.contest.hosts import WORKER
from judge.contest.worker import Job, JobResult
from judge.contest_games import ScheduledGame
from judge.referee.policy import Policy
from judge.sandbox.archive import Capacity
from judge.sandbox.docker.images import image_contents
from judge.store.contests import Store

LOOK_S = 1.0
"""Interval of requests for the list of workers."""

REFUSALS = 3
"""An attempt is void after so many refused answers: the fault may be with the game."""

STOPS = 10
"""An attempt is void after it was stopped so many times: its workers keep disappearing."""

OVERDUE = 3
"""An attempt is void after no answer came in time so many times: the fault may be with the game."""

SETUP_S = 300.0
"""Time of a worker in addition to the clocks of a game: for images, containers, folders and the record."""

PARCELS = ".parcels"
"""The folder of parcels, in the folder of the contest."""

log = get_logger()


@dataclass(slots=True)
class _Attempt:
    """An attempt that is with the workers since `at` (`time.monotonic`)."""

    job: Job
    at: float
    longest_s: float
    """Maximum time for a worker, without the time in which it is sent agents."""
    max_answer: int
    """Bytes."""
    worker: str = ""
    """The address of its worker; empty while it waits for a slot."""
    task: Future[Any] | None = None
    """None while its worker is sent the agents that it awaits."""
    awaits: set[str] = field(default_factory=set)
    """The digests of agents that its worker does not have yet."""
    sent_to: str = ""
    """The address of the worker that was sent its agents last."""
    placed_at: str = ""
    """The name of its worker in the store."""
    given_at: float = 0.0
    """When its worker got it (`time.monotonic`)."""
    overdue: int = 0
    """Number of times that no answer came within `longest_s`."""
    refused: int = 0
    stopped: int = 0
    is_checked: bool = False
    """Its answer is being checked."""
    followed: FollowedGame | None = None
    """None if it has no recorder."""

    def is_overdue(self) -> bool:
        """Whether its worker has had it for too long."""
        return monotonic() - self.given_at > self.longest_s

    def __str__(self) -> str:
        return f"game {self.job.game.number}, attempt {self.job.game.attempt}"

    def order(self, images: Mapping[str, str]) -> bytes:
        """The order for a worker."""
        order = Order(
            contest=self.job.contest,
            game=replace(self.job.game, spec=self.job.spec().model_dump_json()),
            agents=tuple(self.job.programs),
            states=self.job.states,
            images=images,
            code=code_digest(),
            is_followed=self.followed is not None,
        )
        return order.model_dump_json().encode()


class Cluster:
    """The slots of all workers of a scheduler: see `judge.contest.executor.Executor`."""

    def __init__(
        self,
        address: Address,
        security: Security,
        parcels: Parcels,
        remark: Callable[[str], None] = lambda _: None,
        place: Callable[[ScheduledGame, str], None] = lambda *_: None,
    ) -> None:
        """Connect. `parcels` are closed with this. `remark` writes a sentence about a worker into the journal,
        `place` the name of the worker that has a game; empty if none has. Raises HostError if no scheduler answers."""
        self._parcels = parcels
        self._place = place
        self._attempts: dict[str, _Attempt] = {}
        """By the game's id."""
        self._news: SimpleQueue[Callable[[], list[JobEnd]]] = SimpleQueue()
        """What to do next, in the thread of the loop: each returns the games that have ended by it."""
        self._looked = -LOOK_S
        self._scheduler = ""
        self._moves = LiveMoves()
        self._connection = SchedulerConnection(address, security, self._moves.receive)
        self._roster = Roster(remark)
        self._checkers = Checkers()
        self._transfers = Transfers(
            self._connection,
            self._roster,
            ended=lambda end: self._news.put(lambda: self._sent(end)),
            report=lambda text: self._news.put(lambda: self._noted(text)),
        )

    # --- what the loop of a contest asks for -------------------------------------------------------------------------

    @property
    def free(self) -> int:
        """How many games could be started now."""
        slots = self._free_slots()
        waiting = sum(not attempt.worker for attempt in self._all())
        checked = len(self._attempts) - len(self._all())
        # As many may wait for their check as are played: else answers pile up with the workers.
        piled = max(0, checked - sum(self._roster.workers[address].slots for address in slots))
        return max(0, sum(slots.values()) - waiting - piled)

    @property
    def running(self) -> int:
        """How many games are being played."""
        return len(self._attempts)

    @property
    def host(self) -> str:
        """Empty: the machine of the next game is not known before dask chooses a worker."""
        return ""

    @property
    def slot(self) -> str:
        """Nor on which of its cores."""
        return ""

    def start(self, job: Job) -> None:
        """Give a game to dask. Raises IndexError if no worker has a free slot."""
        if not self.free:
            raise IndexError("no worker has a free slot")
        policy = job.spec().policy
        self._attempts[job.game.id] = attempt = _Attempt(job, monotonic(), answer_s(policy), largest_answer(policy))
        if job.listener is not None:
            attempt.followed = FollowedGame(job, job.listener)
        self._give(attempt)

    def wait(self, timeout_s: float) -> list[JobEnd]:
        """The games that have ended; waits for one, or for news of a worker."""
        self._look()
        found: list[JobEnd] = []
        with suppress(Empty):
            found += self._news.get(timeout=timeout_s)()
            while True:
                found += self._news.get_nowait()()
        self._give_waiting()
        return found

    def kill(self) -> list[ScheduledGame]:
        """End every game now; the games that were running. A worker that is out of reach notices by itself."""
        running, self._attempts = self._attempts, {}
        self._connection.cancel([attempt.task for attempt in running.values() if attempt.task])
        return [attempt.job.game for attempt in running.values()]

    def close(self) -> None:
        """Let the workers go; they wait for the next contest."""
        self._transfers.close()
        self._connection.close()
        self._moves.close()
        self._checkers.close()
        self._parcels.close()

    # --- workers come and go -----------------------------------------------------------------------------------------

    def _free_slots(self) -> dict[str, int]:
        """How many more games each worker could have now that may have any, by address."""
        taken = Counter(attempt.worker for attempt in self._all())
        # A worker that is sent an image can play no game.
        usable = self._roster.usable - self._transfers.receivers(self._parcels.images)
        return {address: max(0, self._roster.workers[address].slots - taken[address]) for address in sorted(usable)}

    def _look(self) -> None:
        """Note who has come and gone; a new scheduler is given what the one before it had."""
        if monotonic() - self._looked < LOOK_S:
            return
        self._looked = monotonic()
        self._connection.reconnect()
        try:
            identity = self._connection.ask("identity", n_workers=-1)
        except (OSError, TimeoutError):
            return
        if identity["id"] != self._scheduler or any(
            attempt.task and attempt.task.cancelled() for attempt in self._all()
        ):
            if self._scheduler:
                log.warning("the scheduler was lost: its games are played again", games=self.running)
            self._scheduler = identity["id"]
            self._connection.listen()
            for attempt in self._all():
                self._take_back(attempt)
        self._roster.meet(identity["workers"])
        for attempt in self._all():
            if attempt.worker and attempt.worker not in self._roster.workers:
                self._roster.note(f"{attempt}, of worker {attempt.placed_at} begins again")
                self._take_back(attempt)
            elif attempt.task is not None and attempt.is_overdue():
                self._news.put(partial(self._overdue, attempt, attempt.task))
        self._give_waiting()

    def _overdue(self, attempt: _Attempt, task: Future[Any]) -> list[JobEnd]:
        """A worker has had a game for longer than its clocks allow: another plays it."""
        if not self._is_current(attempt, task) or attempt.is_checked or not attempt.is_overdue():
            return []
        worker = self._roster.workers.get(attempt.worker)
        why = f"{attempt}: no answer came within {attempt.longest_s:.0f} s"
        if worker is not None:
            self._roster.bar_overdue(worker, why)
        attempt.overdue += 1
        if attempt.overdue >= OVERDUE:
            why = f"no answer came within {attempt.longest_s:.0f} s from any of {attempt.overdue} workers"
            return self._end(attempt, HostError(why), worker.name if worker else "")
        self._roster.note(f"{why}; another worker plays it")
        self._give(attempt)
        return []

    def _all(self) -> list[_Attempt]:
        """Those that the workers have to play."""
        return [attempt for attempt in self._attempts.values() if not attempt.is_checked]

    # --- games come and go -------------------------------------------------------------------------------------------

    def _give(self, attempt: _Attempt) -> None:
        """Have an attempt played, also once more, as soon as a slot is free."""
        self._take_back(attempt)
        attempt.is_checked = False
        self._give_waiting()

    def _give_waiting(self) -> None:
        """Give the attempts that wait for a slot to workers that have one free. dask would give them to any worker, and
        the game of a lost worker too, where it waits for another game while other workers are free."""
        slots = self._free_slots()
        for attempt in self._all():
            if not attempt.worker and any(slots.values()):
                is_sent = slots.get(attempt.sent_to, 0) > 0
                address = attempt.sent_to if is_sent else max(slots, key=slots.__getitem__)
                if not self._give_to(address, attempt):
                    break
                slots[address] -= 1
        for attempt in self._all():
            worker = self._roster.workers.get(attempt.worker)
            name = worker.name if worker else ""
            if name != attempt.placed_at:
                attempt.placed_at = name
                self._place(attempt.job.game, name)

    def _give_to(self, address: str, attempt: _Attempt) -> bool:
        """Have an attempt played by a worker; False if the connection is lost."""
        name, order = self._connection.new_task(), attempt.order(self._parcels.images)
        if attempt.followed is not None:
            self._moves.follow(name, attempt.followed)
        task = self._connection.submit(play, order, task=name, only=[address], resources={SLOT: 1})
        if task is None:
            self._moves.forget(name)
            return False
        attempt.worker, attempt.task, attempt.given_at = address, task, monotonic()
        self._await(attempt, task)
        return True

    def _take_back(self, attempt: _Attempt) -> None:
        """No worker has it; it waits for a slot."""
        self._forget_task(attempt)
        attempt.worker = ""
        attempt.awaits.clear()

    def _forget_task(self, attempt: _Attempt) -> None:
        """No worker plays it. dask has a task done again whose worker is lost with the answer, until the task's future
        is released; otherwise that happens when the garbage is collected."""
        if attempt.task is not None:
            self._moves.forget(str(attempt.task.key))
            attempt.task.release()
        attempt.task = None

    def _await(self, attempt: _Attempt, task: Future[Any]) -> None:
        task.add_done_callback(lambda _: self._news.put(lambda: self._ended(attempt, task)))

    def _is_current(self, attempt: _Attempt, task: Future[Any]) -> bool:
        """Whether the attempt was neither given up nor given again."""
        return self._attempts.get(attempt.job.game.id) is attempt and attempt.task is task

    def _ended(self, attempt: _Attempt, task: Future[Any]) -> list[JobEnd]:
        """The end of an attempt that has none to check; the answer of any other is given to the checkers."""
        if not self._is_current(attempt, task) or attempt.is_checked or task.cancelled():
            return []  # with its scheduler, if it was cancelled, which the next look finds lost
        if task.status == "error":
            return self._refuse(attempt, None, "its workers were lost, or one has no judge, or another, or it attacks")
        worker = self._roster.workers.get(attempt.worker)
        if worker is None:
            self._give(attempt)
            return []
        attempt.is_checked = True
        check = self._checkers.check(
            lambda: self._connection.fetch(task, attempt.max_answer), attempt.job, monotonic() - attempt.at
        )
        check.add_done_callback(lambda _: self._news.put(lambda: self._checked(attempt, task, check, worker)))
        return []

    def _checked(
        self, attempt: _Attempt, task: Future[Any], check: Check[JobResult | Answer], worker: WorkerFound
    ) -> list[JobEnd]:
        """Apply the checked answer of a worker."""
        if not self._is_current(attempt, task):
            return []
        attempt.is_checked = False
        if task.cancelled():
            return []  # whatever dask raised: the next look finds that the scheduler was lost
        try:
            if self._roster.is_distrusted(worker):
                raise InputError("an answer of this worker was refused before")
            return self._apply(attempt, check.result(), worker)
        except CancelledError:
            return []  # the next look finds that the scheduler was lost
        except InputError as error:
            return self._refuse(attempt, worker, str(error))
        except Exception as error:  # noqa: BLE001 - whatever a hostile worker makes dask stumble over
            if not isinstance(error, OSError | TimeoutError) and self._has_scheduler():
                return self._refuse(attempt, worker, f"it cannot be read: {error!r:.200}")
            if attempt.is_overdue():
                return self._overdue(attempt, task)
            # Its worker, or the scheduler, may be lost: then the next look takes it back.
            self._await(attempt, task)
            return []

    def _has_scheduler(self) -> bool:
        """Whether the scheduler that has the tasks still answers. No worker is to blame for what it loses."""
        try:
            return bool(self._connection.ask("identity", n_workers=-1)["id"] == self._scheduler)
        except Exception:  # noqa: BLE001 - a lost scheduler makes dask raise errors of many classes
            return False

    def _apply(self, attempt: _Attempt, answer: JobResult | Answer, worker: WorkerFound) -> list[JobEnd]:
        """Raises InputError if the worker may not give this answer."""
        if isinstance(answer, JobResult):
            self._forget_task(self._attempts.pop(attempt.job.game.id))
            return [JobEnd(attempt.job.game, answer, None, worker.name)]
        if isinstance(answer, Broken):
            return self._end(attempt, HostError(answer.why), worker.name)
        if isinstance(answer, Lacks):
            self._send(attempt, answer, worker)
            return []
        if isinstance(answer, Stopped):
            attempt.stopped += 1
            if attempt.stopped >= STOPS:
                why = f"stopped {attempt.stopped} times: {answer.why}"
                return self._end(attempt, HostError(why), worker.name)
        elif isinstance(answer, Unfit):
            self._roster.bar(worker, answer.why)
        else:
            raise InputError("it is of no kind that is known")
        self._give(attempt)
        return []

    def _refuse(self, attempt: _Attempt, worker: WorkerFound | None, why: str) -> list[JobEnd]:
        """An answer does not count; the game is played elsewhere."""
        whose = f"worker {worker.name}" if worker else "an unknown worker"
        refused = f"{attempt}: the answer of {whose} is refused: {why}"
        self._roster.note(refused)
        if worker:
            self._roster.distrust(worker, refused)
        attempt.refused += 1
        if attempt.refused >= REFUSALS:
            error = HostError(f"{attempt.refused} answers were refused: {why}")
            return self._end(attempt, error, worker.name if worker else "")
        self._give(attempt)
        return []

    def _end(self, attempt: _Attempt, error: HostError, host: str) -> list[JobEnd]:
        """An attempt has no result."""
        self._forget_task(self._attempts.pop(attempt.job.game.id))
        return [JobEnd(attempt.job.game, None, error, host)]

    # --- what workers lack is sent -----------------------------------------------------------------------------------

    def _send(self, attempt: _Attempt, lacks: Lacks, worker: WorkerFound) -> None:
        """Send it. The game waits for its agents; while a worker gets an image, others play. Raises InputError for what
        the worker does not need."""
        programs = attempt.job.programs
        agents = {digest: programs[digest] for digest in lacks.agents if digest in programs}
        images = set(lacks.images) & self._parcels.images.keys()
        if len(agents) + len(images) < max(1, len(lacks.agents) + len(lacks.images)):
            raise InputError("it says that it lacks what the game does not need")
        for digest, program in agents.items():
            self._transfers.send(worker, digest, partial(self._parcels.agent, digest, program))
        for name in images:
            if self._transfers.send(worker, name, partial(self._parcels.image, name)):
                self._roster.note(f"worker {worker.name} is sent the image {name}")
        if images:
            self._give(attempt)
        else:
            self._forget_task(attempt)
            attempt.worker, attempt.awaits = worker.address, set(agents)

    def _sent(self, sent: TransferEnd) -> list[JobEnd]:
        """The end of a transfer."""
        self._transfers.forget(sent)
        if sent.is_lie:
            self._roster.distrust(sent.worker, f"{sent.what} could not be sent: {sent.why}")
        elif sent.why:
            self._roster.bar(sent.worker, sent.why)
        for attempt in self._all():
            if attempt.awaits and attempt.worker == sent.worker.address:
                attempt.awaits.discard(sent.what)
                if not attempt.awaits:
                    attempt.sent_to = attempt.worker
                    self._give(attempt)
        return []

    def _noted(self, text: str) -> list[JobEnd]:
        self._roster.note(text)
        return []


def answer_s(policy: Policy) -> float:
    """The seconds after which a worker that was given a game must have answered: twice what its clocks allow."""
    clock = policy.clock
    plies = policy.bounds().plies
    turn_ms = (clock.turn_ms or clock.asap_ms) + clock.tolerance_ms
    played_s = longest_game_s(policy) or plies * turn_ms / 1000
    # Of each seat: its start, the optional answers and the end; and the pause after each turn.
    around_ms = 2 * (clock.start_ms + clock.sync_ms + 4 * clock.courtesy_ms + clock.close_ms)
    pauses_s = min(played_s, clock.still_ms * plies / 1000)
    return SETUP_S + 2 * (played_s + around_ms / 1000) + pauses_s


def largest_answer(policy: Policy) -> int:
    """The largest answer in bytes of a game: its record and the states of its kept folders, as Base64 in JSON."""
    folders = policy.folders
    kept = 2 * sum(
        Capacity(size, inodes).stream_bytes
        for is_kept, size, inodes in (
            (folders.temporary, folders.temporary_bytes, folders.temporary_inodes),
            (folders.persistent, folders.persistent_bytes, folders.persistent_inodes),
        )
        if is_kept
    )
    return min(LARGEST_ANSWER, (policy.bounds().record_bytes + kept) * 4 // 3 + (1 << 16))


def open_cluster(
    address: str, keys: Path | None, store: Store, contest: str, folder: Path, runtimes: Collection[str]
) -> Cluster:
    """The workers of the scheduler at `address` (`tls://HOST:8786`), for one contest of a store.

    `keys` is this host's folder of `judge cluster keys`, and `folder` the contest's. `runtimes` are those of the
    contest's agents, and `keeper` where folders are kept; none where no container is used: a worker whose images of
    these differ from this host's is given no games.

    Raises InputError for an address or keys that cannot be used, HostError where no scheduler answers.
    """
    where = parse_address(address)
    security = security_of(where, keys)
    pending: deque[str] = deque()

    def place(game: ScheduledGame, worker: str) -> None:
        """While the store is lost nobody asks who plays; at its end a game names its worker again."""
        with suppress(StoreLostError):
            store.played_by(game.id, game.attempt, worker)

    def remark(text: str) -> None:
        """What is said of workers while the store is lost is written when it is back."""
        pending.append(text)
        with suppress(StoreLostError):
            while pending:
                store.remark(contest, WORKER, pending[0])
                pending.popleft()

    parcels = Parcels(folder / PARCELS, image_contents(runtimes) if runtimes else {})
    return Cluster(where, security, parcels, remark, place)
