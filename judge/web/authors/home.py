"""The contest and an author's agents, for the first page of the author."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from judge.contest.entries import current_intake
from judge.site.rules import game_facts, limit_facts
from judge.store.types import NotNowError, State, Submission
from judge.submissions.service import has_other_clock
from judge.submissions.starters import starters_of
from judge.tournament.snapshot import Snapshot
from judge.translations.language import Language
from judge.web.intake.app import AppState

MIB = 1 << 20

UNDERWAY = (State.RECEIVED, State.PROCESSING)


@dataclass(frozen=True, slots=True)
class AgentView:
    """An agent of an author. `entry` is the submission that takes part, `last` the newest one."""

    name: str
    entry: Submission | None
    last: Submission

    @property
    def title(self) -> str:
        """Its display name."""
        return (self.entry or self.last).title or self.name

    @property
    def newer(self) -> Submission | None:
        """The newest submission, if it came after the entry."""
        return self.last if self.entry is None or self.last.id > self.entry.id else None

    @property
    def may_withdraw(self) -> bool:
        """Whether a version takes part or is processed."""
        return self.entry is not None or self.last.state in UNDERWAY


def home_values(state: AppState, author: str, contest: Snapshot | None, language: Language) -> Mapping[str, Any]:
    """Values of the page. `contest` is None before it begins."""
    register = state.register
    directory = current_intake(state.directory, register)
    windows = state.receiver.gate.windows
    entries = register.entries(author)
    if contest is not None:
        locked_in = {entry.submission for entry in contest.entries}
        entries = [each for each in register.submissions(author) if each.id in locked_in]
    return {
        "facts": {
            **game_facts(directory.policy, language),
            **limit_facts(directory.policy, language),
            language.gettext("Runtimes"): ", ".join(directory.runtimes),
            language.gettext("Agents per author"): directory.agents_per_author or "",
        },
        "moments": windows.moments,
        "closes": dict(windows.moments).get("closes"),
        "is_open": _is_open(state, author),
        "has_begun": contest is not None,
        "is_too_late": contest is not None and not directory.joins_later,
        "agents": agents_of(register.submissions(author), entries),
        "alike": alike(entries),
        "outdated": [] if contest else [each.name for each in entries if has_other_clock(directory, each)],
        "starters": starters_of(directory.policy),
        "most": language.measure(f"{directory.intake.upload_bytes / MIB:.3g} MiB"),
    }


def agents_of(submissions: Sequence[Submission], entries: Sequence[Submission]) -> Sequence[AgentView]:
    """Agents by name. `submissions` are all of an author, newest first."""
    taking_part = {each.name.lower(): each for each in entries}
    last: dict[str, Submission] = {}
    for each in submissions:
        if each.name:
            last.setdefault(each.name.lower(), each)
    return [
        AgentView((taking_part.get(key) or each).name, taking_part.get(key), each) for key, each in sorted(last.items())
    ]


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
