"""A contest's entries: first `seeds`, then agents in the order of contest.toml, then accepted submissions by name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from judge.base.errors import InputError
from judge.base.resources import house_agent_names
from judge.base.text import quote
from judge.base.toml_files import place_of
from judge.base.watched_file import WatchedFile
from judge.contest.plan import Planned, load_plan
from judge.tournament.snapshot import read_snapshot

if TYPE_CHECKING:
    from judge.agents.agents import Agent
    from judge.store.submissions import Register
    from judge.store.types import Submission
    from judge.submissions.service import IntakeDirectory


@dataclass(frozen=True, slots=True)
class EntryName:
    """An agent's contest name, with its path in contest.toml or its submission."""

    name: str
    path: str = ""
    submission: int | None = None
    author: str = ""
    """The submission's, else the manifest's; empty for a house agent."""

    @property
    def origin(self) -> str:
        """Such as `submission 3 of 'ada'`."""
        if self.submission is None:
            return f"{quote(self.path)} in [[agents]]"
        return f"submission {self.submission} of {quote(self.author)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant(EntryName):
    """An agent and its contest name."""

    agent: Agent
    is_checked: bool = True
    """Whether a check with the contest's clocks passed."""
    title: str = ""
    """Display name, if it differs from the name."""
    parent: str = ""
    """Entry of which it is a new version."""
    upload: str = ""
    """Digest of the submitted file."""


def intake_directory(planned: Planned) -> IntakeDirectory:
    """Where the contest stores submissions."""
    # Slow import that replays do not need.
    from judge.submissions.service import IntakeDirectory

    return IntakeDirectory(
        planned.name,
        planned.policy,
        planned.folder.resolve(),
        planned.store_url,
        planned.plan.intake,
        planned.plan.windows,
        planned.path.resolve(),
        planned.plan.agents_per_author,
        not planned.plan.format.has_rounds,
        partial(_current_names, planned),
        planned.clocks,
    )


def _current_names(planned: Planned) -> Sequence[str]:
    with suppress(InputError):
        planned = load_plan(planned.path)
    return [each.name for each in listed_names(planned)]


def listed_names(planned: Planned) -> Sequence[EntryName]:
    """Of readable agents."""
    from judge.agents.agents import manifest_of

    found = []
    for each in planned.plan.agents:
        with suppress(InputError, OSError):
            name = each.name or manifest_of(each.locate(planned.folder))[0].name
            found.append(EntryName(name, each.path))
    return found


def current_intake(directory: IntakeDirectory, register: Register) -> IntakeDirectory:
    """With the current policy of the contest's file; after the start of a ladder, with its runtimes."""
    if directory.plan is None:
        return directory
    if (document := register.document()) is not None:
        if not directory.joins_later:
            return directory
        policy, images = directory.policy, read_snapshot(document).images
        admitted = {
            "admits": tuple(name for name in policy.admits if name in images),
            "runtimes": {name: image for name, image in policy.runtimes.items() if image in images},
        }
        return replace(directory, policy=policy.model_copy(update=admitted))
    planned = _watched_plan(directory.plan).current_value()
    return directory if planned is None else replace(directory, policy=planned.policy, clocks=planned.clocks)


@lru_cache(maxsize=64)
def _watched_plan(path: Path) -> WatchedFile[Planned | None]:
    return WatchedFile[Planned | None](path, load_plan, None)


def entrants(planned: Planned, staging: Path, absent: list[InputError] | None = None) -> Sequence[Entrant]:
    """The entries. `absent` receives why an agent cannot play; without it, this is raised.

    Listed agents are staged below `staging`."""
    from judge.agents.agents import stage_agent

    def miss(error: InputError) -> None:
        if absent is None:
            raise error
        absent.append(error)

    found: list[Entrant] = []
    for each in planned.plan.agents:
        try:
            agent = stage_agent(each.locate(planned.folder), staging)
            is_house = each.locate(planned.folder) in house_agent_names()
            author = "" if is_house else agent.manifest.author
            name = each.name or agent.manifest.name
            found.append(Entrant(name, each.path, author=author, agent=agent, is_checked=is_house))
        except InputError as error:
            miss(InputError(f"{planned.path}: {error}"))
    if not planned.has_no_store:
        directory = intake_directory(planned)
        with closing(directory.register()) as register:
            submissions = register.first_entries()
        for submission in submissions:
            try:
                found.append(sent_entrant(directory, submission))
            except InputError as error:
                miss(error)
    taking_part = {each.name for each in found}
    named = [
        *((["seeds"], name) for name in planned.plan.seeds),
        *((["clocks", name], name) for name in planned.clocks),
    ]
    for keys, name in named:
        if name not in taking_part:
            place = place_of(planned.path, keys, planned.text)
            miss(InputError(f"{place}: {keys[0]} names {name}, which does not take part"))
    order = {name: place for place, name in enumerate(planned.plan.seeds)}
    return sorted(found, key=lambda each: order.get(each.name, len(order)))


def sent_entrant(directory: IntakeDirectory, submission: Submission) -> Entrant:
    """The entrant of a passed submission. Raises InputError."""
    from judge.journal.events import SubmissionState
    from judge.store.types import ORGANISER
    from judge.submissions.service import agent_of, has_other_clock

    agent = agent_of(directory, submission)
    is_checked = submission.state is SubmissionState.PASSED and not has_other_clock(directory, submission)
    author = agent.manifest.author if submission.author == ORGANISER else submission.author
    name = submission.name or agent.manifest.name
    title, upload = submission.title, submission.upload
    return Entrant(name, "", submission.id, author, agent=agent, is_checked=is_checked, title=title, upload=upload)


def equal_files(agents: Iterable[tuple[str, Collection[str]]]) -> list[str]:
    """A sentence for each group of agents with a common digest."""
    groups: list[tuple[list[str], set[str]]] = []
    for name, digests in agents:
        mine = [group for group in groups if not group[1].isdisjoint(digests)]
        names = [each for group in mine for each in group[0]]
        groups = [group for group in groups if group not in mine]
        groups.append(([*names, name], {*digests}.union(*(group[1] for group in mine))))
    return [f"{', '.join(names)} have the same files" for names, _ in groups if len(names) > 1]


def equal_names(planned: Planned, names: Iterable[EntryName]) -> Iterator[str]:
    """A sentence with the fix for each name that occurs twice, in any case."""
    known: dict[str, EntryName] = {}
    for second in sorted(names, key=lambda each: each.submission is not None):
        first = known.setdefault(second.name.casefold(), second)
        if first is second:
            continue
        called = f"both called {first.name!r}"
        if first.name != second.name:
            called = f"called {first.name!r} and {second.name!r}, which differ only by case"
        fix = "give one of them another name ="
        if second.submission is not None:
            withdraw = f"judge submissions withdraw {second.submission} {planned.path} --why REASON"
            fix = f"{'' if first.submission else 'give the first another name =, or '}withdraw the second: {withdraw}"
        yield f"{planned.path}: {first.origin} and {second.origin} are {called}: {fix}"


def name_problems(planned: Planned, submissions: Iterable[Submission]) -> Sequence[str]:
    """`equal_names` of listed agents and submissions."""
    sent = [EntryName(each.name, submission=each.id, author=each.author) for each in submissions]
    return list(equal_names(planned, [*listed_names(planned), *sent]))


_SEPARATORS = re.compile(r"[,;&]| and ")


def first_author(text: str) -> str:
    """The first of several authors, in lower case."""
    return " ".join(_SEPARATORS.split(text)[0].split()).casefold()


def refuse_many_of_an_author(planned: Planned, found: Sequence[Entrant]) -> None:
    """Raises InputError if an author has more agents than `agents_per_author`."""
    most = planned.plan.agents_per_author
    by_author: dict[str, list[Entrant]] = {}
    for each in found:
        by_author.setdefault(first_author(each.author), []).append(each)
    for author, agents in by_author.items():
        if most and author and len(agents) > most:
            raise InputError(
                f"{planned.path}: agents_per_author = {most}, and {quote(agents[0].author)} has {len(agents)} agents: "
                f"{', '.join(each.name for each in agents)}; leave out some, or raise the limit"
            )
