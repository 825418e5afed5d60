"""Values of the organisers' pages."""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from judge.contest.contest import Contest, why_frozen
from judge.contest.entries import name_problems
from judge.contest.hosts import contest_hosts
from judge.contest.late_entries import possible_entrants
from judge.contest.plan import load_plan
from judge.contest.run_lock import player_of
from judge.contest.settings import Settings, settings_of
from judge.contest_games import GameState, PublishedGame
from judge.host.doctor import worst_light
from judge.journal.events import Paused, Resumed, Stopped, SubmissionState, Voided
from judge.journal.state import JournalLine
from judge.sandbox.machine.cores import holders_here, service_cores
from judge.web.authors.views import UNDERWAY, submission_values
from judge.web.organisers.console import Console, offered
from judge.web.player.status import NO_PLAYER, ask_for_host_check

SHOWN_WAITING = 10
SHOWN_LAST = 20
SHOWN_GAMES = 200
SHOWN_SUBMISSIONS = 200
SHOWN_ORDERS = 500
SHOWN_JOURNAL_LINES = 200
CHECK_S = 60.0


def overview(console: Console) -> Mapping[str, Any]:
    """Games, failures, free resources."""
    contest, player = console.contest(), console.state.player
    values: dict[str, Any] = {
        "room": free_space_of(console.planned.folder),
        "orders": console.orders.latest(SHOWN_LAST),
        "submissions": {state.value: count for state, count in console.state.register.counts().items() if count},
        "begun": contest is not None,
        "reason": None,
        "path": str(console.planned.path),
        "moments": console.file.plan.windows.moments,
        "problems": [*{each: None for each in (console.file.problem, player.mistake, *player.problems) if each}],
    }
    if contest is None:
        return {**values, **_before(console), "state": "not begun"}
    contest.refresh()
    store, name = contest.store, contest.name
    state = store.state(name)
    running = store.running(name)
    places = [(attempt.host, attempt.slot) for _, attempt in running if attempt.slot]
    view = contest.view()
    is_over, to_come = view.is_over, view.to_come
    form, frozen = contest.snapshot.format, why_frozen(store, name)
    first_withheld = store.withheld_from(name)
    has_season = bool(to_come.games) and not form.has_rounds
    reasons = store.last_lines(name, 1, Paused, Stopped, Resumed)
    return {
        **values,
        "state": state if state != "open" else "over" if is_over else "running",
        "reason": reasons[0].change if reasons and state != "open" else None,
        "player": player_of(console.planned.folder),
        "is_over": is_over,
        "counts": {each: count for each, count in view.counts.items() if count},
        "to_come": to_come,
        "season": {"frozen": frozen} if has_season else None,
        "offers": offered(
            can_pause=state == "open" and not is_over,
            can_resume=state != "open" and not is_over,
            can_withdraw=form.withdrawal != "refused" and not is_over,
            can_freeze=has_season and frozen is None,
            can_reopen=has_season and frozen is not None,
            can_end=has_season,
            can_reveal=first_withheld is not None,
        ),
        "first_withheld": first_withheld,
        "running": running,
        "stages": view.stage_at,
        "shares_slots": len(set(places)) < len(places),
        "hosts": contest_hosts(store, name),
        "waiting": store.listed(name, GameState.PENDING, limit=SHOWN_WAITING),
        "held": store.listed(name, GameState.HELD, limit=SHOWN_LAST),
        "voids": _with_games(contest, store.last_lines(name, SHOWN_LAST, Voided)),
        "lines": view.table.lines,
        "out": view.out,
        "withdrawn": view.withdrawn,
        "late": list(possible_entrants(contest)),
    }


def _before(console: Console) -> Mapping[str, Any]:
    register, plan = console.state.register, console.file.plan
    entries = register.entries()
    newest = register.submissions(limit=SHOWN_SUBMISSIONS)
    return {
        "listed": [agent.name or agent.path for agent in plan.agents],
        "entries": entries,
        "name_problems": name_problems(console.file.current_value(), entries),
        "waiting": [each for each in newest if each.state in UNDERWAY],
        "refused": [each for each in newest if each.state in (SubmissionState.REFUSED, SubmissionState.FAILED)],
        "starts": plan.windows.starts,
    }


def games(console: Console, after: int, agent: str = "", show: str = "") -> Mapping[str, Any]:
    """A page of the games with results: all, or those of an agent, or those that `show` names."""
    contest = console.contest()
    chosen = {"agent": agent, "show": show}
    given = urlencode({key: value for key, value in chosen.items() if value})
    values = {"after": after, "chosen": chosen, "filter": given, "offers": offered(), **_before_start(console, contest)}
    if contest is None:
        return {**values, "games": [], "agents": [], "stages": {}, "next": None}
    contest.refresh()
    store, name = contest.store, contest.name
    state = GameState(show) if show in list(GameState) else None
    found = store.listed(name, state, after, SHOWN_GAMES, agent, failed=show == "failed", repeated=show == "repeated")
    results = store.results_by_number(name, [game.number for game in found])
    return {
        **values,
        "games": [PublishedGame.of(game, results.get(game.number)) for game in found],
        "agents": sorted(contest.snapshot.by_name()),
        "stages": contest.view().stage_at,
        "next": found[-1].number if len(found) == SHOWN_GAMES else None,
    }


def settings(console: Console) -> Settings:
    """The settings: until the start those of the file. Raises InputError for an invalid file."""
    planned, contest = load_plan(console.planned.path), console.contest()
    if contest is not None:
        snapshot = contest.snapshot
        plan = planned.plan.model_copy(update={"title": snapshot.title, "about": snapshot.about})
        planned = replace(planned, plan=plan, given_policy=snapshot.policy)
    return settings_of(planned)


def submissions(console: Console, before: int | None) -> Mapping[str, Any]:
    """Newest first."""
    found = console.state.register.submissions(before=before, limit=SHOWN_SUBMISSIONS)
    return {"submissions": found, "next": found[-1].id if len(found) == SHOWN_SUBMISSIONS else None}


def authors(console: Console) -> Mapping[str, Any]:
    """Authors with their notices."""
    has_mail = bool(console.file.plan.intake.notices.smtp)
    is_closed = console.state.receiver.gate.is_closed and not console.state.register.is_locked_in()
    offers = offered(is_closed=is_closed)
    return {"authors": console.state.notices.by_author(), "has_mail": has_mail, "offers": offers}


def submission(console: Console, number: int) -> Mapping[str, Any]:
    """A submission and its history. Raises NotFoundError."""
    register = console.state.register
    found = register.get(number)
    shown = submission_values(console.state.directory, register, found, is_held=console.state.is_held(found.id))
    return {**shown, "history": register.journal(number), "offers": offered(entries_change=not shown["is_too_late"])}


def journal(console: Console, before: int | None) -> Mapping[str, Any]:
    """Newest first, with orders' senders."""
    contest = console.contest()
    found = console.journal_before(before, SHOWN_JOURNAL_LINES)
    journal_lines = [line for _, line in found]
    lines = [(line, None) for line in journal_lines] if contest is None else _with_games(contest, journal_lines)
    page = {"lines": lines, "next": found[-1][0] if len(found) == SHOWN_JOURNAL_LINES else None, "before": before}
    return {**page, **_before_start(console, contest)}


def _before_start(console: Console, contest: Contest | None) -> Mapping[str, Any]:
    return {"not_begun": contest is None, "moments": console.file.plan.windows.moments}


def _with_games(contest: Contest, lines: Sequence[JournalLine]) -> list[tuple[JournalLine, int | None]]:
    numbers = {game.id: game.number for game in contest.store.schedule_of(contest.name)} if lines else {}
    return [(line, numbers.get(line.game or "")) for line in lines]


@dataclass(frozen=True, slots=True)
class Room:
    """Free bytes of the contest's disk and of memory."""

    disk: int
    disk_of: int
    memory: int
    memory_of: int


def free_space_of(folder: Path) -> Room:
    """The current free space."""
    disk = shutil.disk_usage(folder)
    found = re.findall(r"^(\w+): +(\d+) kB$", Path("/proc/meminfo").read_text(encoding="ascii"), re.MULTILINE)
    memory = {name: int(kib) << 10 for name, kib in found}
    return Room(disk.free, disk.total, memory.get("MemAvailable", 0), memory.get("MemTotal", 0))


def host(console: Console) -> Mapping[str, Any]:
    """The capabilities and resources of this machine. The player examines it, except during games."""
    contest, player = console.contest(), console.state.player
    is_playing = contest is not None and contest.store.counts(contest.name)[GameState.RUNNING] > 0
    age_s = None
    if player.checked_at is not None:
        age_s = max(0, round((datetime.now(UTC) - player.checked_at).total_seconds()))
    if not is_playing and (age_s is None or age_s > CHECK_S):
        ask_for_host_check(console.planned.folder, console.planned.name)
    return {
        "findings": player.findings,
        "worst": worst_light(player.findings).value,
        "age_s": age_s,
        "is_playing": is_playing,
        "has_player": NO_PLAYER not in player.problems,
        "cores": holders_here(),
        "service_cores": service_cores(),
        "room": free_space_of(console.planned.folder),
    }
