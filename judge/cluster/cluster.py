"""The matches of a contest on many machines, which dask finds and brings them to.

A worker announces slots as a resource of dask's, and each match takes one. What is ours: a match is given to a worker
that has a free slot, and to another one when that worker is lost; a worker's answer is data, which is checked before
it counts (`judge.cluster.checkers`); a worker whose answer is refused gets no more matches; what a worker lacks is sent
to it (`judge.cluster.transfers`); and where the scheduler was lost, what it had is given to the next one. The store
counts one result of each match, whatever was played twice.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection
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
from judge.cluster.parcels import Parcels
from judge.cluster.roster import Roster, WorkerFound
from judge.cluster.security import Address, parse_address, security_of
from judge.cluster.tasks import SLOT, play
from judge.cluster.transfers import TransferEnd, Transfers
from judge.contest.estimate import longest_game_s
from judge.contest.executor import JobEnd
from judge.contest.hosts import WORKER
from judge.contest.worker import Job, JobResult
from judge.matches import Match
from judge.referee.policy import Policy
from judge.sandbox.archive import Capacity
from judge.sandbox.docker.images import image_contents
from judge.store.contests import Store

LOOK_S = 1.0
"""How often it is asked which workers there are."""

REFUSALS = 3
"""After so many refused answers an attempt is void: then the fault may be with the game and not with the workers."""

SEARCHES = 3
"""So many times it is asked anew which workers there are for one that nobody knows; then its answer is refused."""

STOPS = 10
"""After an attempt was stopped so many times it is void: its workers are lost and found without an end."""

OVERDUE = 3
"""An attempt is void after no answer came in time so many times: then the fault may be with the game."""

SETUP_S = 300.0
"""Seconds that a worker has beside the clocks of a game: for images, containers, folders and its record."""

PARCELS = ".parcels"
"""The folder, in the contest's, of what is sent to workers."""

log = get_logger()


@dataclass(slots=True)
class _Given:
    """An attempt that is with the workers since `at`, on this host's monotonic clock."""

    job: Job
    at: float
    longest_s: float
    """How long a worker may have it, without the time in which it is sent agents."""
    largest: int
    """The largest answer in bytes."""
    worker: str = ""
    """The address of the worker that has it; empty: it waits for a slot."""
    task: Future[Any] | None = None
    """What dask has of it; None while its worker is sent the agents that it awaits."""
    awaits: set[str] = field(default_factory=set)
    """The digests of the agents that its worker must have been sent first."""
    sent_to: str = ""
    """The address of the worker that was sent its agents last."""
    told: str = ""
    """The name of the worker that is said to play it."""
    given_at: float = 0.0
    """When its worker was given it, on this host's monotonic clock."""
    overdue: int = 0
    """How often no answer came within `longest_s`."""
    refused: int = 0
    searched: int = 0
    stopped: int = 0
    is_checked: bool = False
    """Its answer is being checked: no worker plays it any more."""
    followed: FollowedGame | None = None
    """What its recorder is told; None if it has none."""

    def is_overdue(self) -> bool:
        """Whether its worker has had it for too long."""
        return monotonic() - self.given_at > self.longest_s


class Cluster:
    """The slots of all workers of a scheduler: see `judge.contest.executor.Executor`."""

    def __init__(
        self,
        address: Address,
        security: Security,
        parcels: Parcels,
        tell: Callable[[str], None] = lambda _: None,
        place: Callable[[Match, str], None] = lambda *_: None,
    ) -> None:
        """Connect. `parcels` are the contest's, and are closed with this; `tell` takes sentences about workers for its
        journal, and `place` a match with the name of the worker that has it now, which is empty if none has. Raises
        HostError if no scheduler answers."""
        self._parcels = parcels
        self._place = place
        self._given: dict[str, _Given] = {}
        """By the match's id."""
        self._news: SimpleQueue[Callable[[], list[JobEnd]]] = SimpleQueue()
        """What to do next, in the thread of the loop: each returns the matches that have ended by it."""
        self._looked = -LOOK_S
        self._scheduler = ""
        self._moves = LiveMoves()
        self._connection = SchedulerConnection(address, security, self._moves.take)
        self._roster = Roster(tell)
        self._checkers = Checkers()
        self._transfers = Transfers(
            self._connection,
            self._roster,
            ended=lambda end: self._news.put(lambda: self._sent(end)),
            tell=lambda text: self._news.put(lambda: self._noted(text)),
        )

    # --- what the loop of a contest asks for -------------------------------------------------------------------------

    @property
    def free(self) -> int:
        """How many games could be started now."""
        slots = self._free_slots()
        waiting = sum(not given.worker for given in self._all())
        checked = len(self._given) - len(self._all())
        # As many may wait for their check as are played: else answers pile up with the workers.
        piled = max(0, checked - sum(self._roster.workers[address].slots for address in slots))
        return max(0, sum(slots.values()) - waiting - piled)

    @property
    def running(self) -> int:
        """How many games are being played."""
        return len(self._given)

    @property
    def host(self) -> str:
        """Nobody knows yet who plays the next match."""
        return ""

    @property
    def slot(self) -> str:
        """Nor on which of its cores."""
        return ""

    def start(self, job: Job) -> None:
        """Give a match to dask. Raises IndexError if no worker has a free slot."""
        if not self.free:
            raise IndexError("no worker has a free slot")
        policy = job.spec().policy
        self._given[job.match.id] = given = _Given(job, monotonic(), answer_s(policy), largest_answer(policy))
        if job.listener is not None:
            given.followed = FollowedGame(job, job.listener)
        self._give(given)

    def wait(self, timeout_s: float) -> list[JobEnd]:
        """The matches that have ended; waits for one, or for news of a worker."""
        self._look()
        found: list[JobEnd] = []
        with suppress(Empty):
            found += self._news.get(timeout=timeout_s)()
            while True:
                found += self._news.get_nowait()()
        self._give_waiting()
        return found

    def kill(self) -> list[Match]:
        """End every game now; the games that were running. A worker that is out of reach notices by itself."""
        running, self._given = self._given, {}
        self._connection.cancel([given.task for given in running.values() if given.task])
        return [given.job.match for given in running.values()]

    def close(self) -> None:
        """Let the workers go; they wait for the next contest."""
        self._transfers.close()
        self._connection.close()
        self._moves.close()
        self._checkers.close()
        self._parcels.close()

    # --- workers come and go -----------------------------------------------------------------------------------------

    def _usable(self) -> frozenset[str]:
        """The addresses of the workers that may have games: one that is sent an image can play none."""
        return self._roster.usable - self._transfers.receivers(self._parcels.images)

    def _free_slots(self) -> dict[str, int]:
        """How many more games each worker could have now that may have any, by address."""
        taken = Counter(given.worker for given in self._all())
        return {
            address: max(0, self._roster.workers[address].slots - taken[address]) for address in sorted(self._usable())
        }

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
        if identity["id"] != self._scheduler or any(given.task and given.task.cancelled() for given in self._all()):
            if self._scheduler:
                log.warning("the scheduler was lost: its games are played again", games=self.running)
            self._scheduler = identity["id"]
            self._connection.listen()
            for given in self._all():
                self._take_back(given)
        self._roster.meet(identity["workers"])
        for given in self._all():
            if given.worker and given.worker not in self._roster.workers:
                match = given.job.match
                self._roster.note(f"game {match.number}, attempt {match.attempt}, of worker {given.told} begins again")
                self._take_back(given)
            elif given.task is not None and given.is_overdue():
                self._news.put(partial(self._overdue, given, given.task))
        self._give_waiting()

    def _overdue(self, given: _Given, task: Future[Any]) -> list[JobEnd]:
        """A worker has had a game for longer than its clocks allow: another plays it."""
        if not self._is_current(given, task) or given.is_checked or not given.is_overdue():
            return []
        match, worker = given.job.match, self._roster.workers.get(given.worker)
        why = f"game {match.number}, attempt {match.attempt}: no answer came within {given.longest_s:.0f} s"
        if worker is not None:
            self._roster.bar_overdue(worker, why)
        given.overdue += 1
        if given.overdue >= OVERDUE:
            why = f"no answer came within {given.longest_s:.0f} s from any of {given.overdue} workers"
            return self._end(given, HostError(why), worker.name if worker else "")
        self._roster.note(f"{why}; another worker plays it")
        self._give(given)
        return []

    def _all(self) -> list[_Given]:
        """Those that the workers have to play."""
        return [given for given in self._given.values() if not given.is_checked]

    # --- games come and go -------------------------------------------------------------------------------------------

    def _give(self, given: _Given) -> None:
        """Have an attempt played, also once more, as soon as a slot is free."""
        self._take_back(given)
        given.is_checked = False
        self._give_waiting()

    def _give_waiting(self) -> None:
        """Give the attempts that wait for a slot to workers that have one free. dask would give them to any worker, and
        the game of a lost worker too, where it waits for another game while other workers are free."""
        slots = self._free_slots()
        for given in self._all():
            if not given.worker and any(slots.values()):
                is_sent = slots.get(given.sent_to, 0) > 0
                address = given.sent_to if is_sent else max(slots, key=slots.__getitem__)
                if not self._give_to(address, given):
                    break
                slots[address] -= 1
        for given in self._all():
            worker = self._roster.workers.get(given.worker)
            name = worker.name if worker else ""
            if name != given.told:
                given.told = name
                self._place(given.job.match, name)

    def _give_to(self, address: str, given: _Given) -> bool:
        """Have an attempt played by a worker; False if the connection is lost."""
        name, order = self._connection.new_task(), self._order(given.job)
        if given.followed is not None:
            self._moves.follow(name, given.followed)
        task = self._connection.submit(play, order, task=name, only=[address], resources={SLOT: 1})
        if task is None:
            self._moves.forget(name)
            return False
        given.worker, given.task, given.given_at = address, task, monotonic()
        self._await(given, task)
        return True

    def _take_back(self, given: _Given) -> None:
        """No worker has it; it waits for a slot."""
        self._forget_task(given)
        given.worker = ""
        given.awaits.clear()

    def _forget_task(self, given: _Given) -> None:
        """No worker plays it. dask has a task done again whose worker is lost with the answer, until the task's future
        is released; otherwise that happens when the garbage is collected."""
        if given.task is not None:
            self._moves.forget(str(given.task.key))
            given.task.release()
        given.task = None

    def _await(self, given: _Given, task: Future[Any]) -> None:
        task.add_done_callback(lambda _: self._news.put(lambda: self._ended(given, task)))

    def _order(self, job: Job) -> bytes:
        order = Order(
            contest=job.contest,
            match=replace(job.match, spec=job.spec().model_dump_json()),
            agents=tuple(job.programs),
            states=job.states,
            images=self._parcels.images,
            code=code_digest(),
            is_followed=job.listener is not None,
        )
        return order.model_dump_json().encode()

    def _is_current(self, given: _Given, task: Future[Any]) -> bool:
        """Whether the attempt was neither given up nor given again."""
        return self._given.get(given.job.match.id) is given and given.task is task

    def _ended(self, given: _Given, task: Future[Any]) -> list[JobEnd]:
        """The end of an attempt that has none to check; the answer of any other is given to the checkers."""
        if not self._is_current(given, task) or given.is_checked:
            return []
        if task.status == "error":
            return self._refuse(given, None, "its workers were lost, or one has no judge, or another, or it attacks")
        given.is_checked = True
        holder = list[WorkerFound]()

        def fetch() -> object:
            name = str(task.key)
            addresses = self._connection.ask("who_has", keys=[name]).get(name, ())
            if len(addresses) == 1 and addresses[0] in self._roster.workers:
                holder.append(self._roster.workers[addresses[0]])
            return self._connection.fetch(task, given.largest)

        check = self._checkers.check(fetch, given.job, monotonic() - given.at)
        check.add_done_callback(lambda _: self._news.put(lambda: self._checked(given, task, check, holder)))
        return []

    def _checked(
        self, given: _Given, task: Future[Any], check: Check[JobResult | Answer], holder: list[WorkerFound]
    ) -> list[JobEnd]:
        """What an answer means. `holder` is empty if nobody, or more than one, claims to have it."""
        if not self._is_current(given, task):
            return []
        given.is_checked = False
        worker = holder[0] if holder else None
        try:
            if worker and self._roster.is_distrusted(worker):
                raise InputError("an answer of this worker was refused before")
            return self._judge(given, check.result(), worker)
        except (OSError, TimeoutError):
            if given.is_overdue():
                return self._overdue(given, task)
            # Its worker may be lost: then the next look takes it back.
            self._await(given, task)
            return []
        except CancelledError:
            return []  # with its scheduler, which the next look finds lost
        except InputError as error:
            return self._refuse(given, worker, str(error))
        except Exception as error:  # noqa: BLE001 - whatever a hostile worker makes dask stumble over
            return self._refuse(given, worker, f"it cannot be read: {error!r:.200}")

    def _judge(self, given: _Given, answer: JobResult | Answer, worker: WorkerFound | None) -> list[JobEnd]:
        """What an answer means that holds. Raises InputError if it is none that this worker may give."""
        if isinstance(answer, Broken):
            return self._end(given, HostError(answer.why), worker.name if worker else "")
        if worker is None:
            self._search(given)
            return []
        if isinstance(answer, Lacks):
            self._send(given, answer, worker)
            return []
        if isinstance(answer, Stopped):
            given.stopped += 1
            if given.stopped >= STOPS:
                why = f"stopped {given.stopped} times: {answer.why}"
                return self._end(given, HostError(why), worker.name)
            self._give(given)
            return []
        if isinstance(answer, Unfit):
            self._roster.bar(worker, answer.why)
            self._give(given)
            return []
        if not isinstance(answer, JobResult):
            raise InputError("it is of no kind that is known")
        self._forget_task(self._given.pop(given.job.match.id))
        return [JobEnd(given.job.match, answer, None, worker.name)]

    def _search(self, given: _Given) -> None:
        """Look for the worker that an answer is of: it may have come since the last look, or be lost with the answer.
        Raises InputError where it was looked for in vain."""
        if given.searched >= SEARCHES:
            raise InputError("nobody knows which worker it is of")
        given.searched += 1
        task = given.task
        self._looked = -LOOK_S
        self._look()
        if task is not None and self._is_current(given, task):
            self._await(given, task)

    def _refuse(self, given: _Given, worker: WorkerFound | None, why: str) -> list[JobEnd]:
        """An answer does not count; the game is played elsewhere."""
        match = given.job.match
        whose = f"worker {worker.name}" if worker else "an unknown worker"
        refused = f"game {match.number}, attempt {match.attempt}: the answer of {whose} is refused: {why}"
        self._roster.note(refused)
        if worker:
            self._roster.distrust(worker, refused)
        given.refused += 1
        if given.refused >= REFUSALS:
            error = HostError(f"{given.refused} answers were refused: {why}")
            return self._end(given, error, worker.name if worker else "")
        self._give(given)
        return []

    def _end(self, given: _Given, error: HostError, host: str) -> list[JobEnd]:
        """An attempt has no result."""
        self._forget_task(self._given.pop(given.job.match.id))
        return [JobEnd(given.job.match, None, error, host)]

    # --- what workers lack is sent -----------------------------------------------------------------------------------

    def _send(self, given: _Given, lacks: Lacks, worker: WorkerFound) -> None:
        """Send it. The game waits for its agents; while a worker gets an image, others play. Raises InputError for what
        the worker does not need."""
        programs = given.job.programs
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
            self._give(given)
        else:
            self._forget_task(given)
            given.worker, given.awaits = worker.address, set(agents)

    def _sent(self, sent: TransferEnd) -> list[JobEnd]:
        """The end of a transfer."""
        self._transfers.forget(sent)
        if sent.is_lie:
            self._roster.distrust(sent.worker, f"{sent.what} could not be sent: {sent.why}")
        elif sent.why:
            self._roster.bar(sent.worker, sent.why)
        for given in self._all():
            if given.awaits and given.worker == sent.worker.address:
                given.awaits.discard(sent.what)
                if not given.awaits:
                    given.sent_to = given.worker
                    self._give(given)
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
    untold: deque[str] = deque()

    def place(match: Match, worker: str) -> None:
        """While the store is lost nobody asks who plays; at its end a game names its worker again."""
        with suppress(StoreLostError):
            store.played_by(match.id, match.attempt, worker)

    def tell(text: str) -> None:
        """What is said of workers while the store is lost is written when it is back."""
        untold.append(text)
        with suppress(StoreLostError):
            while untold:
                store.remark(contest, WORKER, untold[0])
                untold.popleft()

    parcels = Parcels(folder / PARCELS, image_contents(runtimes) if runtimes else {})
    return Cluster(where, security, parcels, tell, place)
