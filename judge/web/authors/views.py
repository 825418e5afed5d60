"""Values of the authors' pages: the first page, also of a ladder, and that of a submission."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

from judge.contest.contest import why_frozen
from judge.contest.entries import current_intake
from judge.contest.late_entries import season_is_over
from judge.contest_games import GameResult, GameState
from judge.contest_view.ladder import TREND_GAMES
from judge.contest_view.values import Participant
from judge.contest_view.view import ContestView
from judge.journal.events import NotEntered, SubmissionState
from judge.site.charts import last_game, signed
from judge.site.rules import game_facts, limit_facts
from judge.store.practice_games import PracticeGame
from judge.store.queries import Reader
from judge.store.submissions import Register
from judge.store.types import ENTERS, VERSIONED_CHARACTERS, EntryRow, NotNowError, Submission, UploadStep
from judge.submissions.check import CheckReport, Grade
from judge.submissions.pipeline import Stage
from judge.submissions.practice import with_shorter_games
from judge.submissions.service import IntakeDirectory, has_other_clock
from judge.submissions.starters import protocol_url, starters_of
from judge.tournament.formats.ladder import Ladder
from judge.tournament.snapshot import Snapshot, newest_versions
from judge.translations.language import Language
from judge.web.authors.games import practice_line
from judge.web.intake.app import AppState, stored_file
from judge.web.schemas import shown_reason

MIB = 1 << 20

UNDERWAY = (SubmissionState.RECEIVED, SubmissionState.PROCESSING)
MAX_REFUSALS = 100
"""Latest refusals that are searched."""

MAX_OPPONENTS = 100
MAX_PICKS = 3
MAX_CHALLENGES = 20

WORDS = {Stage.STAGED: "stored"}
"""Stages with another word on pages."""


@dataclass(frozen=True, slots=True)
class AgentView:
    """`entry`: newest submission that takes or took part; `row`: its entry after the start; `last`: newest submission.

    `why_waiting`: why it has not joined a ladder.
    """

    name: str
    entry: Submission | None
    last: Submission
    row: EntryRow | None = None
    why_waiting: str = ""

    @property
    def title(self) -> str:
        return (self.chosen_title if self.row is None else self.row.title) or self.name

    @property
    def chosen_title(self) -> str:
        """Display name of its next version."""
        return (self.entry or self.last).title

    @property
    def newer(self) -> Submission | None:
        """The newest submission, if it came after the entry."""
        return self.last if self.entry is None or self.last.id > self.entry.id else None

    @property
    def may_withdraw(self) -> bool:
        """Whether a version takes part or may do so."""
        takes_part = self.entry is not None and (self.row is None or self.row.is_active)
        return takes_part or (self.newer is not None and self.last.state in (*UNDERWAY, *ENTERS))


def home_values(state: AppState, author: str, contest: Snapshot | None, language: Language) -> Mapping[str, Any]:
    """Values of the page. `contest` is None before it begins."""
    register = state.register
    directory = current_intake(state.directory, register)
    windows = state.receiver.gate.windows
    submissions, entries = register.submissions(author), register.entries(author)
    rows: Mapping[int, EntryRow] = {}
    if contest is not None:
        rows, by_number = register.own_entries(author), {each.id: each for each in submissions}
        entries = [by_number[number] for number in rows]
    reader = Reader.from_part(register)
    season = season_of(reader, contest)
    agents = agents_of(submissions, entries, rows)
    if season == "running":
        agents = [replace(each, why_waiting=_why_waiting(reader, directory.contest, each.last)) for each in agents]
    active = [each for each in entries if each.id not in rows or rows[each.id].is_active]
    return {
        "facts": {
            **game_facts(directory.policy, language),
            **limit_facts(directory.policy, directory.clocks, language),
            language.gettext("Runtimes"): ", ".join(directory.runtimes),
            language.gettext("Agents per author"): directory.agents_per_author or "",
        },
        "moments": windows.moments,
        "opens": dict(windows.moments).get("opens"),
        "closes": dict(windows.moments).get("closes"),
        "is_closed": state.receiver.gate.is_closed,
        "is_open": _is_open(state, author),
        "has_begun": contest is not None,
        "is_too_late": season == "over" or (contest is not None and not directory.joins_later),
        "season": season,
        "joins_later": directory.joins_later,
        "agents": agents,
        "alike": alike(active) if contest is None or season in ("running", "frozen") else [],
        "outdated": [] if contest else [each.name for each in entries if has_other_clock(directory, each)],
        "protocol": directory.policy.game.protocol,
        "protocol_url": protocol_url(directory.policy),
        "starters": starters_of(directory.policy),
        "most": language.measure(f"{directory.intake.upload_bytes / MIB:.3g} MiB"),
    }


def season_of(reader: Reader, contest: Snapshot | None) -> Literal["", "running", "frozen", "over"]:
    """Empty for other formats and before the start."""
    if contest is None or not isinstance(contest.format, Ladder):
        return ""
    if season_is_over(reader, contest.name, contest.format):
        return "over"
    return "running" if why_frozen(reader, contest.name) is None else "frozen"


def _why_waiting(reader: Reader, contest: str, submission: Submission) -> str:
    if submission.state not in ENTERS:
        return ""
    version = f"{submission.name[:VERSIONED_CHARACTERS]}.{submission.version}"
    names = (submission.name, version, f"{version}-{submission.id}")
    for line in reader.last_lines(contest, MAX_REFUSALS, NotEntered):
        match line.change:
            case NotEntered(agent, why) if agent in names:
                return why
    return ""


def agents_of(
    submissions: Sequence[Submission], entries: Sequence[Submission], rows: Mapping[int, EntryRow]
) -> Sequence[AgentView]:
    """Agents by name. `submissions`: newest first; `entries`: in order, with `rows`."""
    taking_part = {each.name.lower(): each for each in entries}
    last: dict[str, Submission] = {}
    for each in submissions:
        if each.name:
            last.setdefault(each.name.lower(), each)
    found = []
    for key, each in sorted(last.items()):
        entry = taking_part.get(key)
        row = None if entry is None else rows.get(entry.id)
        found.append(AgentView((entry or each).name, entry, each, row))
    return found


def alike(entries: Sequence[Submission]) -> Sequence[tuple[str, str]]:
    """Pairs of names with the same upload or the same files."""
    return [
        (first.name, second.name)
        for first, second in combinations(entries, 2)
        if first.upload == second.upload or (first.digest is not None and first.digest == second.digest)
    ]


def _is_open(state: AppState, author: str) -> bool:
    try:
        state.receiver.check_open(author)
    except NotNowError:
        return False
    return True


# --- a ladder ---------------------------------------------------------------------------------------------------------


def ladder_values(
    contest: ContestView, submissions: Sequence[Submission], challenges: Sequence[PracticeGame], per_day: int
) -> Mapping[str, Any] | None:
    """None for other formats, and without an agent that takes part."""
    passed = {each.id for each in submissions if each.state in ENTERS}
    ids = {each.id for each in submissions}
    newest = {entry.name for entry in newest_versions(contest.snapshot.entries).values()}
    own_agents = [
        each
        for each in contest.participants
        if each.entry.submission in ids and each.name in contest.ladder and each.name in newest
    ]
    if not own_agents:
        return None
    active = {each.name for each in contest.participants if not each.out and not each.withdrawn}
    may_challenge = bool(per_day) and not contest.is_over
    return {
        "agents": [
            _agent(contest, each, active, may_challenge and not each.out and each.entry.submission in passed)
            for each in own_agents
        ],
        "signed": signed,
        "trend_games": TREND_GAMES,
        "per_day": per_day if may_challenge else 0,
        "challenges": [*map(practice_line, challenges)],
    }


def _agent(contest: ContestView, agent: Participant, active: Collection[str], may_challenge: bool) -> Mapping[str, Any]:
    found = contest.ladder[agent.name]
    results = [result for result in contest.counted if agent.name in result.agents]
    met: dict[str, list[GameResult]] = {}
    for result in results:
        met.setdefault(_other(result, agent.name), []).append(result)
    known = [each for each in contest.participants if each.name in met or (each.name in active and each != agent)]
    known.sort(key=lambda each: (-len(met.get(each.name, ())), -contest.ladder[each.name].elo))
    opponents = []
    for each in known[:MAX_OPPONENTS]:
        games = met.get(each.name, [])
        won, drawn = sum(game.winner == agent.name for game in games), sum(game.is_draw for game in games)
        opponents.append(
            {
                "agent": each,
                "elo": contest.ladder[each.name].elo,
                "games": len(games),
                "score": won + drawn / 2,
                "done": (won, drawn, len(games) - won - drawn),
                "may_challenge": may_challenge and each.name in active and each != agent,
            }
        )
    return {
        "participant": agent,
        "found": found,
        "last": last_game(found) if found.history else "",
        "is_over": contest.is_over,
        "place": "" if agent.out else str(contest.lines[agent.name].place),
        "places": contest.place_ranges.get(agent.name, ""),
        "opponents": opponents,
        "more": len(known) - len(opponents),
        "best": _picks(contest, agent, [each for each in results if each.winner == agent.name], sign=-1),
        "worst": _picks(contest, agent, [each for each in results if each.winner not in (agent.name, None)], sign=1),
        "submission": agent.entry.submission,
    }


def _picks(
    contest: ContestView, agent: Participant, results: Sequence[GameResult], sign: int
) -> Sequence[tuple[GameResult, Participant, float]]:
    """Results against the highest-rated opponents (`sign` -1) or the lowest, each once."""
    rated = sorted(results, key=lambda each: (sign * contest.ladder[_other(each, agent.name)].elo, -each.number))
    chosen: dict[str, GameResult] = {}
    for each in rated:
        chosen.setdefault(_other(each, agent.name), each)
    return [
        (result, contest.by_name[name], contest.ladder[name].elo) for name, result in list(chosen.items())[:MAX_PICKS]
    ]


def _other(result: GameResult, agent: str) -> str:
    return result.second if result.first == agent else result.first


# --- a submission -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StageView:
    """`mark` is done, failed, now, held (waits for a slot) or waiting."""

    name: str
    mark: str
    text: str = ""
    seconds: float | None = None


def submission_values(
    directory: IntakeDirectory, register: Register, submission: Submission, *, is_held: bool
) -> Mapping[str, Any]:
    """Values of the page."""
    steps = register.steps(submission)
    report = None
    if submission.report is not None:
        report = CheckReport.model_validate_json(stored_file(directory, submission.report, "report"))
    findings = () if report is None else report.findings
    problems = [each for grade in (Grade.FAIL, Grade.WARNING) for each in findings if each.grade is grade]
    return {
        "submission": submission,
        "why": shown_reason(submission.state, submission.why),
        "stages": _stages(submission, steps, "held" if is_held else "now"),
        "is_open": not submission.is_over,
        "is_too_late": register.has_begun() and not directory.joins_later,
        "problems": problems,
        "passes": [finding for finding in findings if finding.grade is Grade.PASS],
        "untried": () if report is None else report.untried,
    }


def practice_values(
    directory: IntakeDirectory, submission: Submission, games: Sequence[PracticeGame]
) -> Mapping[str, Any]:
    """Values about practice games."""
    limits, clock = directory.intake, directory.policy.clock
    is_waiting = any(game.state in (GameState.PENDING, GameState.RUNNING) for game in games)
    may_ask = limits.practice_games and limits.practice_games_per_day >= limits.practice_games
    return {
        "games": [*map(practice_line, games)],
        "practice_s": limits.practice_s
        if with_shorter_games(directory.policy, limits.practice_s) != directory.policy
        else 0,
        "turn_ms": clock.answer_ms,
        "may_practise": bool(may_ask and submission.state in ENTERS and not is_waiting),
        "is_practising": is_waiting,
    }


def _stages(submission: Submission, steps: Sequence[UploadStep], now: str) -> Sequence[StageView]:
    steps_by_stage = {step.stage: step for step in steps}
    has_failed = any(not step.ok for step in steps)
    shown = []
    for stage in Stage:
        step, word = steps_by_stage.get(stage), WORDS.get(stage, stage.value)
        if step is not None:
            shown.append(StageView(word, "done" if step.ok else "failed", step.text, step.seconds))
        elif stage is Stage.RECEIVED:
            shown.append(StageView(word, "done"))
        elif (
            submission.state is SubmissionState.PROCESSING and not has_failed and not any(s.mark == now for s in shown)
        ):
            shown.append(StageView(word, now))
        else:
            shown.append(StageView(word, "waiting"))
    return shown
