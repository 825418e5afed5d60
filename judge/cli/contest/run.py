"""`judge contest run`: play a contest to its end."""

import os
import platform
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from judge.base.errors import HostError, InputError
from judge.base.logs import redirected
from judge.base.text import printable
from judge.cli.host_setup import KEEPER, make_ready, report_occupied
from judge.cli.options import HERE, SLOTS_HELP, ContestArgument, TlsOption, require_dask
from judge.contest.attempts import Executor
from judge.contest.contest import Contest, begin, has_begun, open_store, why_not_yet
from judge.contest.event_log.recorder import RecorderProcess
from judge.contest.executor import LocalExecutor, slots_on_host
from judge.contest.plan import load_plan
from judge.contest.run_lock import alone
from judge.contest.runner import ContestRunner, StopReason
from judge.contest.take_snapshot import images_of
from judge.contest.witnesses import periodic_cosigning
from judge.publish.model import chance_words
from judge.referee.play import Slot
from judge.sandbox.docker.reaper import reap
from judge.store.types import UNWITNESSED
from judge.terminal.contest_progress import JsonLines, Panel, Progress
from judge.terminal.output import note

LOG_FILE = "log.jsonl"

EXAMPLES = """
Examples:

judge contest run contest.toml

judge contest run contest.toml --workers 3

judge contest run contest.toml --cluster tls://10.0.0.1:8786 --tls keys/10.0.0.1

Ctrl-C once finishes the running games, twice abandons them. The same command continues.

Exit codes: 0 the contest is over or the organiser stopped it; 1 the judge or its host failed, or voids stopped the
contest; 2 the command or the file was wrong.
"""


def run(
    contest: ContestArgument = HERE,
    workers: Annotated[int, typer.Option(min=0, help=SLOTS_HELP)] = 0,
    accept_images: Annotated[
        bool, typer.Option("--accept-images", help="Continue although runtimes were rebuilt since the contest began.")
    ] = False,
    cluster: Annotated[str, typer.Option(help="Play on the workers of this scheduler: tls://10.0.0.1:8786.")] = "",
    tls: TlsOption = None,
    now: Annotated[bool, typer.Option("--now", help="Begin before the announced deadline or start; final.")] = False,
) -> None:
    """Play a contest to its end, or continue it. The first run locks in its entries and terms."""
    planned = load_plan(contest)
    if cluster and workers:
        raise InputError("--workers is for games on this machine, --cluster for those on others")
    slots = [] if cluster else slots_on_host(planned.plan.slots.cores, workers, planned.policy.box.sharing)
    with (
        alone(planned),
        closing(RecorderProcess(planned)) as recorder,
        closing(open_store(planned)) as store,
        store.lease(planned.name, f"judge on {platform.node()}, process {os.getpid()}") as lease,
        _logged(planned.folder),
        ExitStack() as stack,
    ):
        is_new = not has_begun(store, planned)
        if is_new and load_plan(contest).text != planned.text:
            raise InputError(f"{planned.path} was changed just now; run the same command again")
        is_early = is_new and _begins_early(why_not_yet(store, planned), now)
        make_ready(planned.plan.box, planned.policy, [])
        witnesses = stack.enter_context(periodic_cosigning(planned))
        found = begin(store, planned, _host(), witnesses.cosign, is_early=is_early)
        if is_new:
            note(f"judge: the chance of {found.name}: {chance_words(found.snapshot, None)}")
            for line in store.journal(found.name):
                if line.event == UNWITNESSED:
                    note(f"judge: drawn without a witness, as the public log will show: {printable(line.text, 300)}")
        make_ready(planned.plan.box, found.snapshot.policy, sorted(found.snapshot.images))
        found.check_agents()
        _check_images(found, accept_images)
        if found.has_new_plan:
            note(f"judge: {planned.path} was changed since the contest was locked in; the changes have no effect")
        if found.folders_notice:
            note(f"judge: {printable(found.folders_notice, 2000)}")
        is_elsewhere = bool(cluster) and not found.is_over()
        executor = _elsewhere(found, cluster, tls) if is_elsewhere else _here(found, slots)
        recorder.start()

        def check() -> None:
            lease.check()
            recorder.restart_if_ended()

        is_seen = sys.stdout.isatty()
        progress: Progress = Panel(found, lambda: executor.running) if is_seen else JsonLines(found)
        try:
            runner = found.runner(executor, check, recorder.address)
            with _interrupts(runner, progress):
                stop = runner.run(progress.report)
        finally:
            try:
                executor.kill()
                executor.close()
                recorder.finish()
            finally:
                # Leftovers of abandoned games have no owner any more.
                reap(containers=planned.plan.box == "docker")
                progress.close()
        _say_end(found, stop)


def _begins_early(waits: str, now: bool) -> bool:
    if not waits or not now:
        return False
    if sys.stdin.isatty():
        note(f"judge: {waits}.")
        if not typer.confirm("Begin now? This makes the entries final and cannot be undone.", err=True):
            raise InputError("the contest was not started")
    return True


def _here(contest: Contest, slots: Sequence[Slot]) -> Executor:
    report_occupied(slots)
    if slots and slots[0].judge_cores:
        os.sched_setaffinity(0, slots[0].judge_cores)
    return LocalExecutor(slots, log=contest.planned.folder / LOG_FILE, fork=True)


def _elsewhere(contest: Contest, scheduler: str, keys: Path | None) -> Executor:
    require_dask()
    from judge.cluster.cluster import open_cluster
    from judge.cluster.unpickling import VALUES, refuse_pickles

    refuse_pickles(VALUES, except_here=True)  # dask reads in its own threads
    images = set(contest.snapshot.images) | ({KEEPER} if contest.snapshot.policy.folders.kept else set())
    try:
        return open_cluster(scheduler, keys, contest.store, contest.name, contest.planned.folder, sorted(images))
    except KeyboardInterrupt:
        note(f"judge: stopped before {scheduler} answered; no game was started")
        raise


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
    try:
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raise HostError(f"{path}: {error.strerror}") from None
    with file, redirected(file):
        yield


def _check_images(contest: Contest, accept: bool) -> None:
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
    contest.store.remark(contest.name, "images", f"built anew since the start: {', '.join(changed)}")


@contextmanager
def _interrupts(runner: ContestRunner, progress: Progress) -> Iterator[None]:
    def interrupted(_signal: int, _frame: FrameType | None) -> None:
        if runner.drain.is_set():
            runner.abandon.set()
            progress.notify("abandoning the running games; they will be played again")
        else:
            runner.drain.set()
            progress.notify("finishing the running games; Ctrl-C again abandons them")

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _say_end(contest: Contest, stop: StopReason) -> None:
    path = contest.planned.path
    if stop is StopReason.FINISHED:
        note(f"judge: {contest.name} is over; judge contest standings {path}")
        return
    state = contest.store.state(contest.name)
    if stop is StopReason.HELD or state == "stopped":
        last = [line.text for line in contest.store.journal(contest.name) if line.event == "stopped"]
        why = last[-1] if last else "games are stopped after too many voids"
        raise HostError(
            f"{contest.name} is stopped: {why}; fix it, then judge contest resume {path} and judge contest run {path}"
        )
    if stop is StopReason.PAUSED:
        note(f"judge: {contest.name} is paused; judge contest resume {path} resumes it")
        return
    note(f"judge: to continue: judge contest run {path}")
