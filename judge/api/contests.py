"""Run, read and export a contest."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.base.errors import HostError, InputError, os_errors_as
from judge.base.logs import redirected
from judge.base.progress import Tracker, untracked
from judge.base.text import printable, sentence
from judge.contest.contest import Contest, has_begun, open_store, opened_if_begun
from judge.contest.plan import Planned, load_plan
from judge.contest.run_lock import alone
from judge.contest_view.values import chance_words
from judge.journal.events import ImagesChanged, cut
from judge.tournament.results import PlayedPairing
from judge.tournament.schedule import Table

if TYPE_CHECKING:
    from judge.contest.attempts import Executor
    from judge.contest.estimate import ContestEstimate
    from judge.contest.runner import RunObserver, StopReason, StopRequest
    from judge.play.venue import Slot
    from judge.publish.export.export import ExportSummary, PageOptions
    from judge.sandbox.machine.cores import Tell

LOG_FILE = "log.jsonl"


@dataclass(frozen=True, slots=True)
class Standing:
    """Table, results, agents without counted results (`out`) with reasons, and each agent's group or league."""

    table: Table
    played: Sequence[PlayedPairing]
    out: Mapping[str, str]
    stages: Mapping[str, str]
    withdrawn: Mapping[str, str]

    @property
    def disqualified(self) -> Mapping[str, str]:
        """Disqualified agents and reasons."""
        return {agent: why for agent, why in self.out.items() if self.withdrawn.get(agent) != why}


@dataclass(frozen=True, slots=True)
class ContestFolder:
    """A contest folder."""

    planned: Planned

    def plan(self) -> ContestEstimate:
        """Return the games, the duration, and missing items."""
        from judge.contest.estimate import estimate_contest

        return estimate_contest(self.planned)

    @contextmanager
    def opened(self) -> Iterator[Contest]:
        """Context manager: the running or finished contest, for its games and journal. Raises InputError before."""
        with self.opened_if_begun() as contest:
            if contest is None:
                raise self.planned.not_begun()
            yield contest

    def opened_if_begun(self) -> AbstractContextManager[Contest | None]:
        """Like `opened`; None if the contest has not begun."""
        return opened_if_begun(self.planned)

    def standings(self) -> Standing:
        """Return the standings. Raises InputError if the contest has not begun."""
        with self.opened() as contest:
            view = contest.view()
            return Standing(view.table, view.paired, view.out, view.stages, view.withdrawn)

    def run(
        self,
        *,
        workers: int = 0,
        accept_images: bool = False,
        cluster: str = "",
        keys: Path | None = None,
        begin_early: Callable[[str], bool] = lambda _: False,
        observer: RunObserver | None = None,
        notify: Tell = lambda _: None,
        stop: StopRequest | None = None,
    ) -> StopReason:
        """Play the contest to its end, or continue it. The first run locks in its entries and terms.

        `workers` is the number of games at the same time; 0: as many as the cores allow. `cluster` is the address of a
        dask scheduler and `keys` this host's folder of TLS keys. `begin_early` receives the reason if the announced
        start has not come, and returns whether to begin now. Raises InputError if runtimes were rebuilt since the
        start, unless `accept_images`.
        """
        from judge.contest.begin import begin, why_not_yet
        from judge.contest.event_log.recorder import RecorderProcess
        from judge.contest.host_setup import make_ready
        from judge.contest.runner import ContestRunner, RunObserver
        from judge.contest.settings import finish_change
        from judge.contest.slots import slots_on_host
        from judge.contest.take_snapshot import check_terms
        from judge.contest.witnesses import periodic_cosigning
        from judge.publish.before_export import export_problems
        from judge.record.policy import shortest_turn_ms
        from judge.sandbox.docker.reaper import reap

        planned = self.planned
        observer = observer or RunObserver()
        if planned.has_no_store and not planned.waits_for():
            check_terms(planned)
        policy, cores = planned.policy, planned.plan.slots.cores
        slots = [] if cluster else slots_on_host(cores, workers, policy.box.sharing, ponders=policy.clock.ponder)
        with (
            alone(planned),
            closing(RecorderProcess(planned)) as recorder,
            closing(open_store(planned)) as store,
            store.lease(planned.name, f"judge on {platform.node()}, process {os.getpid()}"),
            _logged(planned.folder),
            ExitStack() as stack,
        ):
            is_new = not has_begun(store, planned)
            finish_change(planned)
            if is_new and load_plan(planned.path).text != planned.text:
                raise InputError(f"{planned.path} was changed just now; run the same command again")
            waits = why_not_yet(store, planned) if is_new else ""
            is_early = bool(waits) and begin_early(waits)
            turn_ms = None if cluster else shortest_turn_ms(planned.policy, planned.clocks)
            make_ready(planned.plan.box, planned.policy, [], notify, turn_ms=turn_ms)
            stack.enter_context(periodic_cosigning(planned))
            found = begin(store, planned, _host(), is_early=is_early)
            if is_new:
                notify(f"the chance of {found.name}: {chance_words(found.snapshot, None)}")
            images = sorted(found.snapshot.images)
            turn_ms = None if cluster else shortest_turn_ms(found.snapshot.policy, found.snapshot.clocks)
            make_ready(planned.plan.box, found.snapshot.policy, images, notify, turn_ms=turn_ms)
            found.check_agents()
            _check_images(found, accept_images)
            if found.has_new_plan:
                notify(f"{planned.path} was changed since the contest was locked in; the changes have no effect")
            for problem in export_problems(planned, found.snapshot, found.snapshot.by_name()):
                notify(f"judge contest export: {printable(problem, 2000)}")
            if found.folders_notice:
                notify(printable(found.folders_notice, 2000))
            executor = (
                _elsewhere(found, cluster, keys)
                if cluster and not found.view().is_over
                else _here(found, slots, notify)
            )
            recorder.start()
            try:
                observer.open(found, executor)
                return ContestRunner(found, executor, observer, stop, recorder).run()
            finally:
                try:
                    executor.kill()
                    executor.close()
                    recorder.finish()
                finally:
                    # Leftovers of abandoned games have no owner any more.
                    reap(containers=planned.plan.box == "docker")
                    observer.close()

    def export(
        self,
        directory: Path,
        *,
        key: Path | None = None,
        private: Path | None = None,
        options: PageOptions | None = None,
        progress: Tracker = untracked,
        notify: Tell = lambda _: None,
    ) -> ExportSummary:
        """Write tables, records, pages and the signed manifest to a new directory.

        `key` is the private key file, by default the folder's own. `private` is the new directory of the authors'
        private files, by default `directory` with `-private` appended.
        """
        from judge.contest.witnesses import Witnesses
        from judge.publish.export.export import PageOptions, publish
        from judge.transparency.keys import KEY_FILE, load_key
        from judge.transparency.log import ContestLog

        with self.opened() as found:
            signing = load_key(key or self.planned.folder / KEY_FILE)
            if self.planned.plan.witnesses:
                log = ContestLog.stored(found.name, found.store)
                for witness, why in Witnesses(self.planned).ask(log):
                    if why:
                        notify(f"the witness {printable(witness.name)} has not signed the current log: {why[:300]}")
            authors = private or directory.with_name(f"{directory.name}-private")
            summary = publish(found, directory, authors, signing, options or PageOptions(), progress)
        for warning in summary.warnings:
            notify(printable(warning, 2000))
        return summary


def contest(path: Path) -> ContestFolder:
    """Return the contest of a contest.toml or of the folder with it. Raises InputError for an invalid file."""
    return ContestFolder(load_plan(path))


def _here(contest: Contest, slots: Sequence[Slot], notify: Tell) -> Executor:
    from judge.contest.executor import LocalExecutor
    from judge.contest.host_setup import report_occupied

    report_occupied(slots, notify)
    if slots and slots[0].judge_cores:
        os.sched_setaffinity(0, slots[0].judge_cores)
    return LocalExecutor(slots, log=contest.planned.folder / LOG_FILE)


def _elsewhere(contest: Contest, scheduler: str, keys: Path | None) -> Executor:
    from judge.cluster.bounded_messages import VALUES, refuse_pickles
    from judge.cluster.cluster import open_cluster
    from judge.contest.host_setup import KEEPER

    refuse_pickles(VALUES, except_here=True)  # dask reads in its own threads
    images = set(contest.snapshot.images) | ({KEEPER} if contest.snapshot.policy.folders.kept else set())
    return open_cluster(scheduler, keys, contest.store, contest.name, contest.planned.folder, sorted(images))


def _host() -> Mapping[str, Any]:
    return {
        "name": platform.node(),
        "system": platform.platform(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
    }


@contextmanager
def _logged(folder: Path) -> Iterator[None]:
    path = folder / LOG_FILE
    with os_errors_as(HostError, path):
        file = path.open("a", encoding="utf-8")
    with file, redirected(file):
        yield


def _check_images(contest: Contest, accept: bool) -> None:
    from judge.contest.take_snapshot import images_of

    then, now = contest.snapshot.images, images_of(contest.snapshot.images)
    # The same image has different ids if two Engines built it; an organiser's own image has only an id.
    changed = sorted(
        name
        for name in then
        if then[name].id != now[name].id and (not then[name].content or then[name].content != now[name].content)
    )
    if not changed:
        return
    if not accept:
        raise InputError(
            f"the runtimes {', '.join(changed)} were rebuilt since {contest.name} was locked in; accept them with "
            "--accept-images, which is recorded in the journal"
        )
    words = sentence(f"built anew since the start: {', '.join(changed)}")
    contest.store.remark(contest.name, ImagesChanged(cut(words)))
