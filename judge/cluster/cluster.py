"""Plays games on the workers of a dask scheduler, and games of lost workers on others.

`judge.cluster.checkers` checks the answers.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future as Check
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from distributed import Future
from distributed.security import Security

from judge.base.errors import HostError, InputError, StoreLostError
from judge.base.logs import get_logger
from judge.cluster.checkers import Checkers
from judge.cluster.connection import SchedulerConnection
from judge.cluster.live_moves import FollowedGame, LiveMoves
from judge.cluster.machine import code_digest
from judge.cluster.messages import MAX_ANSWER_BYTES, Answer, Broken, Lacks, Order, Stopped, Unfit, transfer_s
from judge.cluster.roster import Roster, WorkerFound
from judge.cluster.security import Address, parse_address, security_of
from judge.cluster.tasks import SLOT, play
from judge.cluster.transfers import MAX_TRIES, Parcels, TransferEnd, Transfers
from judge.contest.attempts import EndedAttempt, Job
from judge.contest.estimate import longest_game_s
from judge.contest.host_setup import KEEPER
from judge.contest_games import ScheduledGame
from judge.record.policy import Policy
from judge.record.spec import GameSpec
from judge.referee.clock import COURTESY_MS, SYNC_MS
from judge.referee.referee import STILL_MS
from judge.sandbox.archive import Capacity
from judge.sandbox.box import ImageFacts
from judge.sandbox.docker.images import image_facts
from judge.store.contests import Store

POLL_INTERVAL_S = 1.0

REFUSALS = 3
"""Refused answers after which an attempt is void: the game may be the cause."""

STOPS = 10
"""Stops after which an attempt is void: its workers keep disappearing."""

OVERDUE = 3
"""Timeouts after which an attempt is void."""

MAX_CHECKS = 3
"""Failures of this host to check an answer after which its attempt is void."""

SETUP_S = 300.0
"""In addition to a game's clocks: images, containers, folders and the record."""

PARCELS = ".parcels"

log = get_logger()


@dataclass(slots=True)
class _Attempt:
    job: Job
    longest_s: float
    max_answer: int
    worker: str = ""
    task: Future[Any] | None = None
    """None while agents are sent to the worker."""
    awaits: set[str] = field(default_factory=set)
    sent_to: str = ""
    placed_at: str = ""
    given_at: float = 0.0
    overdue: int = 0
    refused: int = 0
    stopped: int = 0
    unchecked: int = 0
    avoided: set[str] = field(default_factory=set)
    requests: Counter[tuple[str, str]] = field(default_factory=Counter)
    is_checked: bool = False
    followed: FollowedGame | None = None

    def is_overdue(self) -> bool:
        return monotonic() - self.given_at > self.longest_s

    def __str__(self) -> str:
        return f"game {self.job.game.number}, attempt {self.job.game.attempt}"

    def order(self, images: Mapping[str, ImageFacts]) -> bytes:
        spec = self.job.spec()
        order = Order(
            contest=self.job.contest,
            game=replace(self.job.game, spec=spec.model_dump_json()),
            agents=tuple(self.job.programs),
            states=self.job.states,
            images=needed_images(spec, images),
            code=code_digest(),
            is_followed=self.followed is not None,
        )
        return order.model_dump_json().encode()


def needed_images(spec: GameSpec, images: Mapping[str, ImageFacts]) -> Mapping[str, ImageFacts]:
    """Those of the contest's `images` that a game needs."""
    needed = {KEEPER, *(seat.runtime for seat in spec.seats)}
    return {name: facts for name, facts in images.items() if name in needed}


class Cluster:
    """All workers' slots; implements `judge.contest.attempts.Executor`."""

    host = slot = ""
    """Not known before a worker gets the game."""

    def __init__(self, address: Address, security: Security, parcels: Parcels, store: Store, contest: str) -> None:
        """`close` also closes `parcels`. Raises HostError if the scheduler does not answer."""
        self._parcels = parcels
        self._store = store
        self._attempts: dict[str, _Attempt] = {}
        self._failed: dict[str, set[str]] = {}
        """Workers whose attempts had no result, by game."""
        self._news: SimpleQueue[Callable[[], None]] = SimpleQueue()
        """Calls that other threads leave for `wait`."""
        self._later: list[Callable[[], None]] = []
        """Calls that the next look at the scheduler repeats."""
        self._finished: list[EndedAttempt] = []
        """Returned by the next `wait`."""
        self._looked = -POLL_INTERVAL_S
        self._scheduler = ""
        self._moves = LiveMoves()
        self._connection = SchedulerConnection(address, security, self._moves)
        self._roster = Roster(store, contest)
        self._checkers = Checkers(self._connection)
        self._transfers = Transfers(
            self._connection,
            self._roster,
            parcels,
            lambda end: self._news.put(partial(self._sent, end)),
            lambda why: self._news.put(partial(self._roster.note, why)),
        )

    @property
    def free(self) -> int:
        slots = self._free_slots()
        waiting = sum(not attempt.worker for attempt in self._all())
        checked = len(self._attempts) - len(self._all())
        piled = max(0, checked - sum(self._roster.workers[address].slots for address in slots))
        return max(0, sum(slots.values()) - waiting - piled)

    @property
    def running(self) -> int:
        return len(self._attempts)

    def start(self, job: Job) -> None:
        """Raises IndexError if no worker has a free slot."""
        if not self.free:
            raise IndexError("no worker has a free slot")
        policy = job.spec().policy
        longest_s = answer_s(policy) + transfer_s(sum(map(len, job.states.values())) * 4 / 3)
        self._attempts[job.game.id] = attempt = _Attempt(job, longest_s, largest_answer(policy))
        attempt.avoided |= self._failed.get(job.game.id, set())
        if job.listener is not None:
            attempt.followed = FollowedGame(job, job.listener)
        self._give(attempt)

    def wait(self, timeout_s: float) -> list[EndedAttempt]:
        self._look()
        with suppress(Empty):
            self._news.get(timeout=0 if self._finished else timeout_s)()
            while True:
                self._news.get_nowait()()
        self._give_waiting()
        finished, self._finished = self._finished, []
        return finished

    def kill(self) -> list[ScheduledGame]:
        """End all games and return them. An unreachable worker ends its game by itself."""
        running, self._attempts = self._attempts, {}
        self._connection.cancel([attempt.task for attempt in running.values() if attempt.task])
        return [attempt.job.game for attempt in running.values()]

    def close(self) -> None:
        self._transfers.close()
        self._connection.close()
        self._moves.close()
        self._checkers.close()
        self._parcels.close()

    def _free_slots(self) -> dict[str, int]:
        taken = Counter(attempt.worker for attempt in self._all())
        usable = self._roster.usable - self._transfers.receivers(self._parcels.images)
        return {address: max(0, self._roster.workers[address].slots - taken[address]) for address in sorted(usable)}

    def _look(self) -> None:
        if monotonic() - self._looked < POLL_INTERVAL_S:
            return
        self._looked = monotonic()
        self._connection.reconnect()
        try:
            identity = self._connection.ask("identity", n_workers=-1)
        except OSError:
            return
        if identity["id"] != self._scheduler or any(
            attempt.task and attempt.task.cancelled() for attempt in self._all()
        ):
            if self._scheduler:
                log.warning("the scheduler was lost: its games are played again", games=self.running)
            self._scheduler = identity["id"]
            self._connection.listen()
            self._transfers.forget_counts()
            for attempt in self._attempts.values():
                attempt.requests.clear()
            for attempt in self._all():
                self._take_back(attempt)
        self._roster.meet(identity["workers"])
        for attempt in self._all():
            if attempt.worker and attempt.worker not in self._roster.workers:
                self._roster.note(f"{attempt}, of worker {attempt.placed_at} starts again")
                self._take_back(attempt)
            elif attempt.task is not None and attempt.is_overdue():
                self._overdue(attempt, attempt.task)
        later, self._later = self._later, []
        for call in later:
            call()
        self._give_waiting()

    def _overdue(self, attempt: _Attempt, task: Future[Any]) -> None:
        if not self._is_current(attempt, task) or attempt.is_checked or not attempt.is_overdue():
            return
        worker = self._roster.workers.get(attempt.worker)
        why = f"{attempt}: no answer came within {attempt.longest_s:.0f} s"
        if worker is not None:
            self._roster.bar_twice(worker, why)
        attempt.overdue += 1
        if attempt.overdue >= OVERDUE:
            why = f"no answer came within {attempt.longest_s:.0f} s from any of {attempt.overdue} workers"
            self._end(attempt, HostError(why), worker.name if worker else "")
            return
        self._roster.note(f"{why}; another worker plays it")
        self._give(attempt)

    def _all(self) -> list[_Attempt]:
        return [attempt for attempt in self._attempts.values() if not attempt.is_checked]

    def _give(self, attempt: _Attempt) -> None:
        self._take_back(attempt)
        attempt.is_checked = False
        self._give_waiting()

    def _give_waiting(self) -> None:
        slots = self._free_slots()
        for attempt in self._all():
            if not attempt.worker and (chosen := self._preferred(attempt, slots)):
                address = attempt.sent_to if attempt.sent_to in chosen else max(chosen, key=slots.__getitem__)
                if not self._give_to(address, attempt):
                    break
                slots[address] -= 1
        for attempt in self._all():
            worker = self._roster.workers.get(attempt.worker)
            name = worker.name if worker else ""
            if name != attempt.placed_at:
                attempt.placed_at, game = name, attempt.job.game
                with suppress(StoreLostError):
                    self._store.played_by(game.id, game.attempt, name)

    def _preferred(self, attempt: _Attempt, slots: Mapping[str, int]) -> Collection[str]:
        """Workers with a free slot; only others than the avoided ones, if there are others."""
        free = [address for address, number in slots.items() if number > 0]
        if not attempt.avoided:
            return free
        usable = self._roster.usable
        others = {address for address in usable if self._roster.workers[address].name not in attempt.avoided}
        return [address for address in free if address in (others or usable)]

    def _give_to(self, address: str, attempt: _Attempt) -> bool:
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
        self._forget_task(attempt)
        attempt.worker = ""
        attempt.awaits.clear()

    def _forget_task(self, attempt: _Attempt) -> None:
        """dask would repeat it if the worker is lost."""
        if attempt.task is not None:
            self._moves.forget(str(attempt.task.key))
            attempt.task.release()
        attempt.task = None

    def _await(self, attempt: _Attempt, task: Future[Any]) -> None:
        task.add_done_callback(lambda _: self._news.put(partial(self._ended, attempt, task)))

    def _is_current(self, attempt: _Attempt, task: Future[Any]) -> bool:
        return self._attempts.get(attempt.job.game.id) is attempt and attempt.task is task

    def _ended(self, attempt: _Attempt, task: Future[Any]) -> None:
        if not self._is_current(attempt, task) or attempt.is_checked or task.cancelled():
            return
        worker = self._roster.workers.get(attempt.worker)
        if task.status == "error":
            if worker is not None:
                attempt.avoided.add(worker.name)
                self._count_result(attempt, worker, has_score=False)
            self._refuse(attempt, None, "its workers were lost, have no judge or another version, or are hostile")
        elif worker is None:
            self._give(attempt)
        else:
            attempt.is_checked = True
            elapsed_s = monotonic() - attempt.given_at
            check = self._checkers.check(task, attempt.max_answer, attempt.job, elapsed_s)
            check.add_done_callback(lambda _: self._news.put(partial(self._checked, attempt, task, check, worker)))

    def _checked(
        self, attempt: _Attempt, task: Future[Any], check: Check[EndedAttempt | Answer], worker: WorkerFound
    ) -> None:
        if not self._is_current(attempt, task):
            return
        attempt.is_checked = False
        if task.cancelled():
            return
        try:
            if self._roster.is_distrusted(worker):
                raise InputError("an answer of this worker was refused before")
            self._apply(attempt, check.result(), worker)
        except InputError as error:
            self._refuse(attempt, worker, str(error))
        except HostError as error:
            self._count_unchecked(attempt, task, worker, str(error))
        except OSError:
            if attempt.is_overdue():
                self._overdue(attempt, task)
            else:
                self._later.append(partial(self._await, attempt, task))
        except Exception as error:  # noqa: BLE001 - whatever a hostile answer makes its check stumble over
            self._refuse(attempt, worker, f"it cannot be read: {error!r:.200}")

    def _count_unchecked(self, attempt: _Attempt, task: Future[Any], worker: WorkerFound, why: str) -> None:
        attempt.unchecked += 1
        self._roster.note(f"{attempt}: the answer of worker {worker.name} could not be checked here: {why}")
        if attempt.unchecked >= MAX_CHECKS:
            self._count_result(attempt, worker, has_score=False)
            error = HostError(f"its answer could not be checked {attempt.unchecked} times: {why}")
            self._end(attempt, error, worker.name)
        else:
            self._later.append(partial(self._await, attempt, task))

    def _apply(self, attempt: _Attempt, answer: EndedAttempt | Answer, worker: WorkerFound) -> None:
        if isinstance(answer, EndedAttempt):
            self._forget_task(self._attempts.pop(attempt.job.game.id))
            self._count_result(attempt, worker, has_score=answer.has_score)
            self._finished.append(replace(answer, host=worker.name))
        elif isinstance(answer, Broken):
            self._count_result(attempt, worker, has_score=False)
            self._end(attempt, HostError(answer.why), worker.name)
        elif isinstance(answer, Lacks):
            self._send(attempt, answer, worker)
        elif isinstance(answer, Stopped):
            attempt.stopped += 1
            attempt.avoided.add(worker.name)
            if attempt.stopped >= STOPS:
                why = f"stopped {attempt.stopped} times: {answer.why}"
                self._end(attempt, HostError(why), worker.name)
            else:
                self._give(attempt)
        elif isinstance(answer, Unfit):
            self._roster.bar(worker, answer.why)
            self._give(attempt)
        else:
            raise InputError("its kind is unknown")

    def _count_result(self, attempt: _Attempt, worker: WorkerFound, *, has_score: bool) -> None:
        game = attempt.job.game.id
        if not has_score:
            self._failed.setdefault(game, set()).add(worker.name)
            return
        self._roster.count_result(worker)
        for name in self._failed.pop(game, set()) - {worker.name}:
            self._roster.count_failure(name)

    def _refuse(self, attempt: _Attempt, worker: WorkerFound | None, why: str) -> None:
        whose = f"worker {worker.name}" if worker else "an unknown worker"
        refused = f"{attempt}: the answer of {whose} is refused: {why}"
        self._roster.note(refused)
        if worker:
            self._roster.distrust(worker, refused)
        attempt.refused += 1
        if attempt.refused >= REFUSALS:
            error = HostError(f"{attempt.refused} answers were refused: {why}")
            self._end(attempt, error, worker.name if worker else "")
        else:
            self._give(attempt)

    def _end(self, attempt: _Attempt, error: HostError, host: str) -> None:
        self._forget_task(self._attempts.pop(attempt.job.game.id))
        self._finished.append(EndedAttempt(attempt.job.game, error=error, host=host))

    def _send(self, attempt: _Attempt, lacks: Lacks, worker: WorkerFound) -> None:
        programs = attempt.job.programs
        agents = {digest: programs[digest] for digest in lacks.agents if digest in programs}
        images = set(lacks.images) & self._parcels.images.keys()
        if len(agents) + len(images) < max(1, len(lacks.agents) + len(lacks.images)):
            raise InputError("it requested files that the game does not need")
        for what in (*agents, *images):
            attempt.requests[worker.name, what] += 1
            if attempt.requests[worker.name, what] > MAX_TRIES:
                raise InputError(f"it requested {what[:12]} more than {MAX_TRIES} times")
        for digest, program in agents.items():
            self._transfers.send(worker, digest, program)
        for name in images:
            if self._transfers.send(worker, name):
                self._roster.note(f"worker {worker.name} is sent the image {name}")
        if images:
            self._give(attempt)
        else:
            self._forget_task(attempt)
            attempt.worker, attempt.awaits = worker.address, set(agents)

    def _sent(self, sent: TransferEnd) -> None:
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


def answer_s(policy: Policy) -> float:
    """Maximum seconds for an answer: twice what the clocks allow."""
    clock = policy.clock
    plies = policy.bounds().plies
    turn_ms = clock.answer_ms + clock.tolerance_ms
    played_s = longest_game_s(policy) or plies * turn_ms / 1000
    around_ms = 2 * (clock.start_ms + SYNC_MS + 4 * COURTESY_MS + clock.close_ms)
    pauses_s = min(played_s, STILL_MS * plies / 1000)
    return SETUP_S + 2 * (played_s + around_ms / 1000) + pauses_s


def largest_answer(policy: Policy) -> int:
    """Maximum bytes of an answer: record and kept folders, as Base64 in JSON."""
    folders = policy.folders
    kept = 2 * sum(
        Capacity(size, inodes).stream_bytes
        for is_kept, size, inodes in (
            (folders.temporary, folders.temporary_bytes, folders.temporary_inodes),
            (folders.persistent, folders.persistent_bytes, folders.persistent_inodes),
        )
        if is_kept
    )
    return min(MAX_ANSWER_BYTES, (policy.bounds().record_bytes + kept) * 4 // 3 + (1 << 16))


def open_cluster(
    address: str, keys: Path | None, store: Store, contest: str, folder: Path, runtimes: Collection[str]
) -> Cluster:
    """Workers of the scheduler `address` (`tls://HOST:8786`) for one contest.

    `keys`: this host's folder from `judge cluster`; `folder`: the contest's. A worker with other images of
    `runtimes` (the agents' and `keeper`) gets no games. Raises InputError and HostError.
    """
    where = parse_address(address)
    security = security_of(where, keys)
    parcels = Parcels(folder / PARCELS, image_facts(runtimes) if runtimes else {})
    return Cluster(where, security, parcels, store, contest)
