"""The matches of a contest on many machines: dask places them, and plays them again where a worker is lost.

A worker announces slots as a resource of dask's, and each match takes one. What is ours: a worker's answer is data,
which is checked before it counts (`judge.cluster.checkers`); a worker whose answer is refused gets no more matches; and
where the scheduler was lost, what it had is given to the next one. The store counts one result of each match, whatever
was played twice.
"""

import itertools
import secrets
from collections import deque
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future as Check
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from distributed import CancelledError, Client, Future
from distributed.client import ClosedClientError
from distributed.security import Security

from judge.agents.store import pack_agent
from judge.cluster.checkers import Checkers
from judge.cluster.dask_config import settle
from judge.cluster.machine import code_digest
from judge.cluster.messages import Answer, Broken, Lacks, Order, Unfit
from judge.cluster.security import Address, parse_address, security_of
from judge.cluster.tasks import SLOT, play
from judge.contest.executor import JobEnd
from judge.contest.hosts import WORKER, worker_barred, worker_joined, worker_lost
from judge.contest.worker import Job, JobResult
from judge.errors import HostError, InputError, StoreLostError
from judge.logs import get_logger
from judge.matches import Match
from judge.sandbox.images import image_contents
from judge.store.contests import Store
from judge.text import printable

CONNECT_S = 10.0
ANSWER_S = 10.0
"""How long a scheduler, or a worker that gives a record, may take to answer."""

LOOK_S = 1.0
"""How often it is asked which workers there are."""

REFUSALS = 3
"""After so many refused answers an attempt is void: then the fault may be with the game and not with the workers."""

log = get_logger()


@dataclass(frozen=True, slots=True)
class _Worker:
    """A worker as the scheduler describes it."""

    address: str
    name: str
    slots: int


@dataclass(slots=True)
class _Given:
    """An attempt that is with the workers since `at`, on this host's monotonic clock."""

    job: Job
    at: float
    name: str = ""
    """Of its task."""
    task: Future[Any] | None = None
    """None: no worker may have it now."""
    agents: frozenset[str] = frozenset()
    """Those whose files travel with it, because a worker has said that it lacks them."""
    only: frozenset[str] | None = None
    """The addresses of the workers that may have it; None: any."""
    refused: int = 0
    is_checked: bool = False
    """Its answer is being checked: no worker plays it any more."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a cluster is to know of the contest that it plays for."""

    images: Mapping[str, str]
    """What the images of its runtimes hold, by name: workers must have the same."""
    tell: Callable[[str], None]
    """Takes sentences about workers for its journal."""


class _Client(Client):
    """A client of dask that does not look at what a task has raised, which may be anything that a worker sends."""

    def _handle_task_erred(self, key: Any = None, exception: Any = None, traceback: Any = None) -> None:  # noqa: ARG002
        super()._handle_task_erred(key, HostError("the task has failed"), None)  # type: ignore[no-untyped-call]


class Cluster:
    """The slots of all workers of a scheduler: see `judge.contest.executor.Executor`."""

    def __init__(self, address: Address, security: Security, terms: Terms) -> None:
        """Connect. Raises HostError if no scheduler answers."""
        settle()
        self._address = address
        self._security = security
        self._terms = terms
        self._names = (f"game-{secrets.token_hex(8)}-{number}" for number in itertools.count())
        self._workers: dict[str, _Worker] = {}
        self._unfit: set[str] = set()
        """The addresses of workers that cannot play."""
        self._liars: set[str] = set()
        """The names of workers whose answers were refused."""
        self._given: dict[str, _Given] = {}
        self._news: SimpleQueue[Callable[[], list[JobEnd]]] = SimpleQueue()
        """What to do next, in the thread of the loop: each returns the matches that have ended by it."""
        self._checkers = Checkers()
        self._looked = -LOOK_S
        self._client = self._connect()
        self._scheduler = ""

    # --- what the loop of a contest asks for -------------------------------------------------------------------------

    @property
    def free(self) -> int:
        """How many games could be started now."""
        slots = sum(self._workers[address].slots for address in self._usable())
        checked = sum(given.is_checked for given in self._given.values())
        # As many may wait for their check as are played: else answers pile up with the workers.
        return max(0, slots - len(self._given) + min(checked, slots))

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
        self._give(_Given(job, monotonic()))

    def wait(self, timeout_s: float) -> list[JobEnd]:
        """The matches that have ended; waits for one, or for news of a worker."""
        self._look()
        found: list[JobEnd] = []
        with suppress(Empty):
            found += self._news.get(timeout=timeout_s)()
            while True:
                found += self._news.get_nowait()()
        return found

    def kill(self) -> list[Match]:
        """End every game now; the games that were running. A worker that is out of reach notices by itself."""
        running, self._given = self._given, {}
        tasks = [given.task for given in running.values() if given.task]
        if self._client.status == "running":
            with suppress(OSError, TimeoutError, ClosedClientError):
                self._client.cancel(tasks)
        return [given.job.match for given in running.values()]

    def close(self) -> None:
        """Let the workers go; they wait for the next contest."""
        self._client.close(timeout=ANSWER_S)
        self._checkers.close()

    # --- workers come and go -----------------------------------------------------------------------------------------

    def _usable(self) -> frozenset[str]:
        """The addresses of the workers that may have games."""
        return frozenset(
            address
            for address, worker in self._workers.items()
            if address not in self._unfit and worker.name not in self._liars
        )

    def _look(self) -> None:
        """Note who has come and gone; a new scheduler is given what the one before it had."""
        if monotonic() - self._looked < LOOK_S:
            return
        self._looked = monotonic()
        if self._client.status == "closed":
            with suppress(HostError):
                self._client = self._connect()
        try:
            identity = self._ask("identity", n_workers=-1)
        except (OSError, TimeoutError):
            return
        if identity["id"] != self._scheduler or any(given.task and given.task.cancelled() for given in self._all()):
            if self._scheduler:
                log.warning("the scheduler was lost: its games are played again", games=self.running)
            self._scheduler = identity["id"]
            for given in self._all():
                given.task = None
        self._meet(identity["workers"])
        for given in self._all():
            if given.task is None or (given.only is not None and not given.only & self._workers.keys()):
                self._give(given)

    def _all(self) -> list[_Given]:
        """Those that the workers have to play."""
        return [given for given in self._given.values() if not given.is_checked]

    def _meet(self, workers: Mapping[str, Any]) -> None:
        found = {
            address: _Worker(address, printable(str(worker["name"]), 80), int(worker["resources"].get(SLOT, 0)))
            for address, worker in workers.items()
        }
        for address in self._workers.keys() - found.keys():
            self._note(worker_lost(self._workers[address].name))
        for address in found.keys() - self._workers.keys():
            worker = found[address]
            if worker.slots:
                self._note(worker_joined(worker.name, worker.slots))
            else:
                self._note(worker_barred(worker.name, f"start it with --resources {SLOT}=1"))
        self._workers = found
        self._unfit &= found.keys()

    def _connect(self) -> Client:
        try:
            return _Client(  # type: ignore[no-untyped-call]
                str(self._address), security=self._security, timeout=CONNECT_S, set_as_default=False, name="judge"
            )
        except (OSError, TimeoutError) as error:
            raise HostError(
                f"no scheduler answers at {self._address} ({error}): start judge scheduler there, with keys of the "
                f"same authority"
            ) from None

    def _ask(self, what: str, **values: object) -> Mapping[str, Any]:
        """What the scheduler says. Raises OSError or TimeoutError if it does not answer."""
        if self._client.status != "running" or self._client.scheduler is None:
            raise TimeoutError
        answer: Mapping[str, Any] = self._client.sync(
            getattr(self._client.scheduler, what), callback_timeout=ANSWER_S, **values
        )
        return answer

    # --- games come and go -------------------------------------------------------------------------------------------

    def _give(self, given: _Given) -> None:
        """Have an attempt played, also once more."""
        self._given.pop(given.name, None)
        given.name = next(self._names)
        self._given[given.name] = given
        given.task, given.is_checked = None, False
        usable = self._usable()
        given.only = None if len(usable) == len(self._workers) else usable
        if given.only is not None and not usable:
            return
        with suppress(ClosedClientError):
            given.task = self._client.submit(
                play,
                self._order(given.job),
                {digest: pack_agent(given.job.programs[digest]) for digest in sorted(given.agents)},
                key=given.name,
                pure=False,
                resources={SLOT: 1},
                workers=None if given.only is None else sorted(given.only),
                allow_other_workers=False,
            )
            self._await(given, given.task)

    def _await(self, given: _Given, task: Future[Any]) -> None:
        task.add_done_callback(lambda _: self._news.put(lambda: self._ended(given, task)))

    def _order(self, job: Job) -> bytes:
        order = Order(
            contest=job.contest,
            match=replace(job.match, spec=job.spec().model_dump_json()),
            agents=tuple(job.programs),
            states=job.states,
            images=self._terms.images,
            code=code_digest(),
        )
        return order.model_dump_json().encode()

    def _ended(self, given: _Given, task: Future[Any]) -> list[JobEnd]:
        """The end of an attempt that has none to check; the answer of any other is given to the checkers."""
        if self._given.get(given.name) is not given or given.task is not task or given.is_checked:
            return []  # it was given again meanwhile
        if task.status == "error":
            return self._refuse(given, None, "its workers were lost, or one has no judge, or another, or it attacks")
        given.is_checked = True
        name, holder = given.name, list[_Worker]()

        def fetch() -> object:
            addresses = self._ask("who_has", keys=[name]).get(name, ())
            if len(addresses) == 1 and addresses[0] in self._workers:
                holder.append(self._workers[addresses[0]])
            return task.result(timeout=ANSWER_S)

        check = self._checkers.check(fetch, given.job, monotonic() - given.at)
        check.add_done_callback(lambda _: self._news.put(lambda: self._checked(given, task, check, holder)))
        return []

    def _checked(
        self, given: _Given, task: Future[Any], check: Check[JobResult | Answer], holder: list[_Worker]
    ) -> list[JobEnd]:
        """What an answer means. `holder` is empty if nobody, or more than one, claims to have it."""
        if self._given.get(given.name) is not given or given.task is not task:
            return []  # it was given up meanwhile
        given.is_checked = False
        worker = holder[0] if holder else None
        try:
            if worker and worker.name in self._liars:
                raise InputError("an answer of this worker was refused before")
            return self._judge(given, check.result(), worker)
        except (OSError, TimeoutError):
            # Its worker may be lost: then dask has it played again.
            self._await(given, task)
            return []
        except CancelledError:
            return []  # with its scheduler, which the next look finds lost
        except InputError as error:
            return self._refuse(given, worker, str(error))
        except Exception as error:  # noqa: BLE001 - whatever a hostile worker makes dask stumble over
            return self._refuse(given, worker, f"it cannot be read: {error!r:.200}")

    def _judge(self, given: _Given, answer: JobResult | Answer, worker: _Worker | None) -> list[JobEnd]:
        """What an answer means that holds. Raises InputError if it is none that this worker may give."""
        name = worker.name if worker else ""
        if isinstance(answer, Broken):
            return self._end(given, HostError(answer.why), name)
        if isinstance(answer, Lacks):
            if given.agents.issuperset(answer.agents):
                raise InputError("it says that the files of agents did not arrive undamaged")
            given.agents |= given.job.programs.keys() & set(answer.agents)
            self._give(given)
            return []
        if worker is None:
            raise InputError("nobody knows which worker it is of")
        if isinstance(answer, Unfit):
            self._unfit.add(worker.address)
            self._note(worker_barred(name, f"{answer.why}; then start it again"))
            self._give(given)
            return []
        if not isinstance(answer, JobResult):
            raise InputError("it is of no kind that is known")
        self._given.pop(given.name)
        return [JobEnd(given.job.match, answer, None, name)]

    def _refuse(self, given: _Given, worker: _Worker | None, why: str) -> list[JobEnd]:
        """An answer does not count; the game is played elsewhere."""
        match = given.job.match
        name = worker.name if worker else ""
        whose = f"worker {name}" if worker else "an unknown worker"
        refused = f"game {match.number}, attempt {match.attempt}: the answer of {whose} is refused: {why}"
        self._note(refused)
        if worker and name not in self._liars:
            self._liars.add(name)
            self._note(worker_barred(name, refused))
        given.refused += 1
        if given.refused >= REFUSALS:
            return self._end(given, HostError(f"{given.refused} answers were refused: {why}"), name)
        self._give(given)
        return []

    def _end(self, given: _Given, error: HostError, host: str = "") -> list[JobEnd]:
        """An attempt has no result."""
        self._given.pop(given.name)
        return [JobEnd(given.job.match, None, error, host)]

    def _note(self, text: str) -> None:
        log.info("cluster", text=text)
        self._terms.tell(text)


def open_cluster(address: str, keys: Path | None, store: Store, contest: str, runtimes: Collection[str]) -> Cluster:
    """The workers of the scheduler at `address` (`tls://HOST:8786`), for one contest of a store.

    `keys` is this host's folder of `judge cluster keys`. `runtimes` are those of the contest's agents, and `keeper`
    where folders are kept; none where no container is used: a worker whose images of these differ from this host's is
    given no games.

    Raises InputError for an address or keys that cannot be used, HostError where no scheduler answers.
    """
    where = parse_address(address)
    security = security_of(where, keys)
    untold: deque[str] = deque()

    def tell(text: str) -> None:
        """What is said of workers while the store is lost is written when it is back."""
        untold.append(text)
        with suppress(StoreLostError):
            while untold:
                store.remark(contest, WORKER, untold[0])
                untold.popleft()

    terms = Terms(images=image_contents(runtimes) if runtimes else {}, tell=tell)
    return Cluster(where, security, terms)
