"""The games of a contest on many machines: given to workers, and fetched from them, late too from those that were lost.

dask brings a game to a worker and its record back, and says which workers there are. What it forgets stays known on the
worker (`Host`), and in the store: a worker that is met says which games it has, and they are handed over. The loop that
asks for them (`Round`) hears of each attempt that it began, once: with its record or with an error. A record that comes
after such an error is told too; the store knows that it is late.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from distributed import CancelledError, Future
from distributed.scheduler import KilledWorker

from judge.agents.store import pack_agent
from judge.cluster import worker_tasks
from judge.cluster.daemons import CORE
from judge.cluster.host import code_digest, refuse_other_images
from judge.cluster.messages import HostFacts, Key, RemoteJob
from judge.cluster.scheduler_client import ANSWER_S, SchedulerClient, SchedulerLostError
from judge.cluster.security import parse_address, security_of
from judge.contest.executor import JobEnd
from judge.contest.worker import Job, JobResult
from judge.errors import HostError, InputError
from judge.logs import get_logger
from judge.matches import Match
from judge.sandbox.images import image_contents
from judge.store.contests import Store

LAST_WORDS_S = 5.0
"""Seconds to wait for workers that were told of a contest's end."""

Ends = list[JobEnd]

log = get_logger()


@dataclass(slots=True)
class _Worker:
    """A worker as the contest's host sees it; without `facts` it is given no games."""

    address: str
    name: str
    facts: HostFacts | None = None
    shipped: dict[str, Future[Any]] = field(default_factory=dict)
    """The agents whose files are, or will be, there beside those of `facts`."""
    busy: set[Key] = field(default_factory=set)

    @property
    def free(self) -> int:
        return max(0, self.facts.slots - len(self.busy)) if self.facts else 0


@dataclass(slots=True)
class _Running:
    """An attempt that the loop waits for; `adrift` since the scheduler was lost, None while it is not."""

    match: Match
    host: str
    adrift: float | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """What a cluster is to know of the contest that it plays for."""

    contest: str
    """A name that no other contest has, not even one of the same name in another store."""
    images: Mapping[str, str]
    """What the images of its runtimes hold, by name: workers must have the same."""
    lost_after_s: float
    """How long a worker has to come back after the scheduler was lost."""
    attempt: Callable[[str, int], Match | None]
    """Its attempts again, by match and number."""
    tell: Callable[[str], None]
    """Takes sentences about workers for its journal."""


class Cluster:
    """The slots of all workers of a scheduler: see `judge.contest.executor.Executor`."""

    def __init__(self, line: SchedulerClient[JobEnd], terms: Terms) -> None:
        self._line = line
        self._terms = terms
        self._code = code_digest()
        self._workers: dict[str, _Worker] = {}
        self._running: dict[Key, _Running] = {}
        self._taken: list[tuple[str, Key]] = []

    # --- what the loop of a contest asks for -------------------------------------------------------------------------

    @property
    def free(self) -> int:
        """How many games could be started now."""
        return sum(worker.free for worker in self._workers.values())

    @property
    def running(self) -> int:
        """How many games are being played."""
        return len(self._running)

    @property
    def host(self) -> str:
        """The worker that gets the next match; empty if none is free."""
        worker = self._freest()
        return worker.name if worker else ""

    def start(self, job: Job) -> None:
        """Give a match to the worker with most free slots. Raises IndexError if none has one."""
        worker = self._freest()
        if worker is None or worker.facts is None:
            raise IndexError("no worker has a free slot")
        match = job.match
        key = Key(self._terms.contest, match.id, match.attempt)
        taken = self._ship(worker, worker.facts, job.programs)
        worker.busy.add(key)
        self._running[key] = _Running(match, worker.name)
        self._line.ask(
            worker.address,
            lambda future: self._ended(worker, key, match, future),
            worker_tasks.play_remotely,
            RemoteJob(key, job, self._terms.images),
            *taken,
            name=str(key),
            resources={CORE: worker.facts.cores_per_slot},
        )

    def wait(self, timeout_s: float) -> Ends:
        """The matches that have ended, late ones included; waits for one, or for news of a worker.

        The store has the results of the last call when this one is made, so the workers are told to delete their
        copies.
        """
        self._let_forget()
        found = [*self._look_around(), *self._given_up()]
        return [*found, *self._line.hear(0 if found else timeout_s)]

    def kill(self) -> list[Match]:
        """End every game now; the games that were running. A worker that is out of reach plays on, for nothing."""
        running = [run.match for run in self._running.values()]
        told = [
            self._line.ask(worker.address, _unheard, worker_tasks.stop, frozenset(worker.busy))
            for worker in self._workers.values()
            if worker.busy
        ]
        self._running.clear()
        self._line.wait_for(told, LAST_WORDS_S)
        return running

    def close(self) -> None:
        """Let the workers go; they wait for the next contest."""
        self._line.wait_for(self._let_forget(), LAST_WORDS_S)
        self._line.close()

    # --- workers come and go -----------------------------------------------------------------------------------------

    def _look_around(self) -> Ends:
        """Meet the workers that have come, and give up those that are gone."""
        try:
            found = self._line.workers()
        except SchedulerLostError as error:
            self._set_adrift(str(error))
            return []
        if found is None:
            return []
        for address in set(found) - set(self._workers):
            self._meet(_Worker(address, found[address]))
        lost = [self._workers[address] for address in set(self._workers) - set(found)]
        return [end for worker in lost for end in self._lose(worker)]

    def _set_adrift(self, why: str) -> None:
        """The scheduler has forgotten everything; the workers have not, and play on."""
        if self._workers:
            log.warning("what the workers play is waited for", why=why)
        self._workers.clear()
        for run in self._running.values():
            run.adrift = run.adrift or monotonic()

    def _meet(self, worker: _Worker) -> None:
        self._workers[worker.address] = worker
        self._line.ask(
            worker.address,
            lambda future: self._met(worker, future),
            worker_tasks.look,
            self._terms.contest,
            tuple(self._terms.images),
        )

    def _met(self, worker: _Worker, future: Future[Any]) -> Ends:
        """Fetch what the worker has of this contest, and give it games unless there is something against it."""
        try:
            facts: HostFacts = future.result(timeout=ANSWER_S)
            self._refuse(facts)
        except TimeoutError:
            why = f"the scheduler does not reach it at {worker.address}; see judge worker --listen"
            self._note(f"worker {worker.name} is given no games: {why}")
            return []
        except (HostError, InputError) as error:
            self._note(f"worker {worker.name} is given no games: {error}; then start it again")
            return []
        worker.facts = facts
        self._note(f"worker {facts.name} plays: {facts.slots} slots of {facts.cores_per_slot} cores; {facts.about}")
        for key in facts.games:
            self._fetch(worker, key)
        return self._without(
            f"the worker {facts.name} came back without this game",
            lambda key, run: run.adrift is not None and run.host == facts.name and key not in facts.games,
        )

    def _refuse(self, facts: HostFacts) -> None:
        if facts.code != self._code:
            raise HostError(f"the judge on {facts.name} is not the one that runs the contest: install the same on both")
        refuse_other_images(facts.name, self._terms.images, facts.images)

    def _lose(self, worker: _Worker) -> Ends:
        """It is gone, as far as the scheduler knows; should it come back, it is another to us."""
        del self._workers[worker.address]
        self._line.drop(worker.address)
        self._note(f"worker {worker.name} is lost, and {len(worker.busy)} games with it")
        return self._without(
            f"the worker {worker.name} of this game was lost",
            lambda key, run: key in worker.busy and run.adrift is None,
        )

    def _given_up(self) -> Ends:
        """The games of workers that have not come back to a new scheduler."""
        since = monotonic() - self._terms.lost_after_s
        return self._without(
            "the scheduler was lost, and the worker of this game with it",
            lambda _, run: run.adrift is not None and run.adrift < since,
        )

    def _without(self, why: str, is_so: Callable[[Key, _Running], bool]) -> Ends:
        """The games of which something is so have no end."""
        keys = [key for key, run in self._running.items() if is_so(key, run)]
        return [JobEnd(self._running.pop(key).match, None, HostError(why)) for key in keys]

    # --- games come and go -------------------------------------------------------------------------------------------

    def _ship(self, worker: _Worker, facts: HostFacts, programs: Mapping[str, Path]) -> Iterable[Future[Any]]:
        """The errands that bring a game's agents to a worker, for those that were not there before we met."""
        for digest in programs.keys() - facts.agents - worker.shipped.keys():
            errand = self._line.ask(
                worker.address,
                partial(self._arrived, worker, digest),
                worker_tasks.take_agent,
                digest,
                pack_agent(programs[digest]),
            )
            if errand is not None:
                worker.shipped[digest] = errand
        return [worker.shipped[digest] for digest in programs if digest in worker.shipped]

    def _arrived(self, worker: _Worker, digest: str, future: Future[Any]) -> Ends:
        if future.status != "finished":
            worker.shipped.pop(digest, None)  # the agent's next game tries again
        return []

    def _fetch(self, worker: _Worker, key: Key) -> None:
        """Have a game handed over that the worker began before we met."""
        run = self._running.get(key)
        match = run.match if run else self._terms.attempt(key.match, key.attempt)
        if match is None:
            return
        if run is not None:
            run.adrift = None
        worker.busy.add(key)
        self._line.ask(
            worker.address, lambda future: self._ended(worker, key, match, future), worker_tasks.hand_over, key
        )

    def _ended(self, worker: _Worker, key: Key, match: Match, future: Future[Any]) -> Ends:
        """A match has ended. If nobody waits for it any more, it is reported only if it was played."""
        result: JobResult | None = None
        error: Exception | None = None
        try:
            result = future.result(timeout=ANSWER_S)
        except TimeoutError:
            # The record cannot be had now: whether its worker is lost, the next look around says.
            self._line.follow(worker.address, lambda again: self._ended(worker, key, match, again), future)
            return []
        except CancelledError:
            return []  # with its scheduler, which the next look around finds lost
        except KilledWorker:
            return self._lose(worker)
        except Exception as raised:  # noqa: BLE001 - whatever the worker raised is why this game has no end
            error = raised
        worker.busy.discard(key)
        self._taken.append((worker.address, key))
        is_late = self._running.pop(key, None) is None
        return [] if is_late and result is None else [JobEnd(match, result, error)]

    def _let_forget(self) -> Sequence[Future[Any] | None]:
        """The store has what the loop was given."""
        taken, self._taken = self._taken, []
        keys = {at: frozenset(key for where, key in taken if where == at) for at, _ in taken}
        return [
            self._line.ask(address, _unheard, worker_tasks.forget, keys[address])
            for address in self._workers
            if address in keys
        ]

    def _freest(self) -> _Worker | None:
        """The worker with most free slots; of equals the first by name, so that like contests are given out alike."""
        workers = sorted(self._workers.values(), key=lambda worker: worker.name)
        return max((w for w in workers if w.free), key=lambda worker: worker.free, default=None)

    def _note(self, text: str) -> None:
        log.info("cluster", text=text)
        self._terms.tell(text)


def open_cluster(
    address: str, keys: Path | None, store: Store, contest: str, runtimes: Collection[str], lost_after_s: float
) -> Cluster:
    """The workers of the scheduler at `address` (`tls://HOST:8786`), for one contest of a store.

    `keys` is this host's folder of `judge cluster keys`. `runtimes` are those of the contest's agents, and `keeper`
    where folders are kept; none where no container is used: a worker whose images of these differ from this host's is
    given no games. A worker has `lost_after_s` to come back after the scheduler was lost.

    Raises InputError for an address or keys that cannot be used, HostError where no scheduler answers.
    """
    where = parse_address(address)
    security = security_of(where, keys)
    terms = Terms(
        contest=f"{contest}, created {store.journal(contest)[0].at}",
        images=image_contents(runtimes) if runtimes else {},
        lost_after_s=lost_after_s,
        attempt=lambda match, attempt: _attempt(store, contest, match, attempt),
        tell=lambda text: store.remark(contest, "worker", text),
    )
    return Cluster(SchedulerClient(where, security), terms)


def _attempt(store: Store, contest: str, match_id: str, attempt: int) -> Match | None:
    """A match as it was when it was issued for an attempt."""
    for match in store.matches(contest):
        if match.id == match_id and attempt <= match.attempt:
            return replace(match, attempt=attempt)
    return None


def _unheard(_: Future[Any]) -> Ends:
    return []
