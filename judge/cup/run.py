"""Plays a cup: each league by its own `judge contest run`, in the order of cup.toml.

A game waits for its core's lock (`judge.sandbox.machine.cores`), which the kernel gives to the longest-waiting
game.
"""

import signal
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from threading import Event
from typing import Self

from judge.agents.agents import stage_agent
from judge.agents.manifest import MANIFEST, brains_of
from judge.base.durable_files import is_file
from judge.base.errors import InputError
from judge.base.locks import try_lock_directory
from judge.base.owner import owned_directory
from judge.contest.contest import Contest, open_store, opened_if_begun
from judge.contest.entries import entrants
from judge.contest.estimate import ContestEstimate, estimate_contest
from judge.contest.plan import AgentPlan, Plan, Planned
from judge.contest.run_lock import player_of
from judge.contest.run_process import RUN_LOG, last_lines, start_run
from judge.cup.plan import League, PlannedCup
from judge.cup.results import advancing
from judge.tournament.snapshot import SnapshotEntry

_MANY_SLOTS = 1 << 40
"""With this number of slots only the order within a league takes time."""


@dataclass(frozen=True, slots=True)
class LeagueEstimate:
    """The estimated size of a league. `later`: agents promoted from another league."""

    league: League
    plan: Plan
    later: int
    found: ContestEstimate
    missing: Sequence[str]

    @property
    def agents(self) -> int:
        """Number of agents, with those promoted later."""
        return len(self.found.agents) + self.later

    @property
    def pairs(self) -> int:
        return self.found.games // self.plan.format.games


@dataclass(frozen=True, slots=True)
class CupHours:
    """Duration of a cup if agents use all their time.

    `busy`: no core is ever idle. `most`: upper bound for any order that leaves no core idle while a game can be played
    (Graham, Bounds on multiprocessing timing anomalies, 1969).
    """

    busy: float
    most: float


def estimate_cup(planned: PlannedCup, names: Collection[str] | None = None) -> list[LeagueEstimate]:
    """Check all requirements of the leagues `names` without changes; None: all leagues."""
    estimates = []
    for league in planned.cup.leagues:
        if names is not None and league.name not in names:
            continue
        contest = planned.begun(league.name)
        # A league that has begun has its promoted agents.
        later = league.promoted if league.after and contest is None else 0
        contest = contest or planned.contest(league.name)
        found = estimate_contest(contest, later)
        place = f"{planned.path}: leagues.{league.name}"
        folder = f"{planned.folder.resolve()}/"  # paths of agents are absolute here
        missing = [sentence.replace(str(contest.path), place).replace(folder, "") for sentence in found.missing]
        missing = [sentence.replace("in [[agents]]", "in [[entries]]") for sentence in missing]
        missing = [sentence if place in sentence else f"{place}: {sentence}" for sentence in missing]
        if later and league.promotes_new:
            found = replace(found, is_exact=False)
        estimates.append(LeagueEstimate(league, contest.plan, later, found, missing))
    return estimates


def cup_hours(planned: PlannedCup, estimates: Sequence[LeagueEstimate], cores: int) -> CupHours | None:
    """Duration on this number of cores; None without a limit of a game's time."""
    work = 0.0
    hours: list[float] = []
    chains: dict[str, float] = {}
    for each in estimates:
        alone = each.found.hours(_MANY_SLOTS, each.found.longest_s)
        if alone is None or each.found.longest_s is None:
            return None
        hours.append(alone)
        work += each.found.games * each.found.longest_s / 3600 * each.plan.slots.cores
        chains[each.league.name] = alone + (chains[each.league.after] if each.league.after else 0)
    # With a limit, leagues may wait for each other.
    longest = sum(hours) if planned.cup.leagues_at_once else max(chains.values())
    return CupHours(work / cores, work / cores + longest)


POLL_INTERVAL_S = 0.5

INTERRUPTED = frozenset({-signal.SIGINT, 128 + signal.SIGINT})
"""Exit codes of an interrupted `judge contest run`: while it starts, and later."""


class LeagueEnd(StrEnum):
    """How a league's run ended."""

    OVER = "over"
    STOPPED = "stopped"
    """Paused, or ended on request."""
    FAILED = "failed"


class CupRun:
    """A cup's running leagues, as a context manager that ends them."""

    def __init__(self, planned: PlannedCup, arguments: Sequence[str], report: Callable[[str], None]) -> None:
        """`arguments`: of `judge contest run`; `report` receives a sentence for each change."""
        self._planned = planned
        self._arguments = [*arguments]
        self._report = report
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._ready: dict[str, Planned] = {}
        self._stop = Event()
        self._waits = ""
        self.ends: dict[str, LeagueEnd] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.wait()

    def stop(self) -> None:
        """Let the leagues finish their running games; at the second call abandon these."""
        self._stop.set()
        for process in self._processes.values():
            process.send_signal(signal.SIGINT)

    def run(self) -> Mapping[str, LeagueEnd]:
        """Play until all leagues have ended. Raises InputError and HostError."""
        leagues = self._planned.cup.leagues
        self.ends |= {league.name: LeagueEnd.OVER for league in leagues if _is_over(self._planned.begun(league.name))}
        self._planned.announce()
        while True:
            self._collect()
            if not self._stop.is_set():
                self._begin()
            if not self._processes and (self._stop.is_set() or not self._waits):
                return self.ends
            time.sleep(POLL_INTERVAL_S)

    def _begin(self) -> None:
        cup, waits = self._planned.cup, ""
        for league in cup.leagues:
            name = league.name
            if name in self.ends or name in self._processes:
                continue
            if league.after and self.ends.get(league.after) is not LeagueEnd.OVER:
                continue
            if cup.leagues_at_once and len(self._processes) >= cup.leagues_at_once:
                break
            if why := self._why_not_yet(league):
                waits += f"{name}: {why}. "
                continue
            planned = self._ready[name] = self._contest(league)
            process = self._processes[name] = start_run(planned.path, self._arguments, dies_with_parent=True)
            if self._stop.is_set():  # during its start
                process.send_signal(signal.SIGINT)
            self._report(f"{name}: {planned.name} runs; its log is {planned.folder / RUN_LOG}")
        if waits != self._waits:
            self._waits = waits
            if waits:
                self._report(f"waiting: {waits.rstrip()}")

    def _why_not_yet(self, league: League) -> str:
        planned = self._planned.contest(league.name)
        if (player := player_of(planned.folder)) is not None:
            return f"process {player} plays it"
        if self._planned.begun(league.name) is not None:
            return ""
        if waits := "" if "--now" in self._arguments else planned.waits_for():
            return waits
        if league.after and not _is_over(self._planned.begun(league.after)):
            del self.ends[league.after]  # an order had a game of it played again
            return f"{league.after} is not over"
        return ""

    def _contest(self, league: League) -> Planned:
        """The league's contest, with the agents that advance now: orders may change the table below until then."""
        begun = self._planned.begun(league.name)
        if begun is not None:
            return begun
        return self._planned.write(league.name, promoted_agents(self._planned, league) if league.after else ())

    def _collect(self) -> None:
        for name, process in [*self._processes.items()]:
            code = process.poll()
            if code is None:
                continue
            del self._processes[name]
            planned = self._ready[name]
            if code and player_of(planned.folder) is not None:
                continue  # judge serve started it at the same moment
            if code and not (code in INTERRUPTED and self._stop.is_set()):
                self.ends[name] = LeagueEnd.FAILED
                lines = last_lines(planned)
                self._report(f"{name}: failed: {lines[-1] if lines else 'no message'}")
            else:
                self.ends[name] = LeagueEnd.OVER if _is_over(planned) else LeagueEnd.STOPPED
                self._report(f"{name}: {self.ends[name]}")


@contextmanager
def alone(planned: PlannedCup) -> Iterator[None]:
    """Hold the cup's lock. Raises InputError if another process has it, or if a league lacks something."""
    names = [
        league.name
        for league in planned.cup.leagues
        if planned.begun(league.name) is None and not planned.contest(league.name).waits_for()
    ]
    if missing := [sentence for each in estimate_cup(planned, names) for sentence in each.missing]:
        raise InputError(f"{missing[0]}; judge contest plan {planned.path} prints all problems")
    file = try_lock_directory(planned.folder)
    if file is None:
        raise InputError(f"another judge plays {planned.cup.name}; wait for its end, or stop it with Ctrl-C")
    with file:
        yield


def promoted_agents(planned: PlannedCup, league: League) -> Sequence[AgentPlan]:
    """The best agents of the league played before, without those that have a place in `league`. Raises InputError."""
    below = planned.begun(league.after)
    if below is None:
        raise InputError(f"{planned.path}: leagues.{league.after} has not begun")
    with closing(open_store(below)) as store, owned_directory() as staging:
        contest = Contest(store, below)
        view = contest.view()
        best = advancing(view, league.promoted, promotes_new=league.promotes_new)
        members = {each.name for each in entrants(planned.write(league.name, is_complete=False), staging)}
        listed = {}
        for number, entry in enumerate(planned.cup.entries):
            if league.after in entry.leagues:
                place = staging / str(number)
                place.mkdir()
                name = entry.name or stage_agent(entry.locate(planned.folder), place).manifest.name
                listed[name] = AgentPlan(path=entry.path, name=name)
        entries = view.snapshot.by_name()
        return [listed.get(name) or _submitted(below, entries[name]) for name in best if name not in members]


def _submitted(below: Planned, entry: SnapshotEntry) -> AgentPlan:
    folder = below.agents / entry.seat.digest
    files = [path for path in folder.rglob("*") if path.is_file()]
    is_agent = is_file(folder / MANIFEST) or brains_of(folder) or len(files) != 1
    path = folder if is_agent else files[0]
    return AgentPlan(path=path.relative_to(below.folder.parent).as_posix(), name=entry.name)


def _is_over(planned: Planned | None) -> bool:
    if planned is None:
        return False
    with opened_if_begun(planned) as contest:
        return contest is not None and contest.view().is_over
