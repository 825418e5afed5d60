"""The former contests that an export joins, and omissions of a future export, for plan, announce and run."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from judge.base.durable_files import read_bounded
from judge.base.errors import HostError, InputError
from judge.base.parsing import parse
from judge.contest.plan import Planned

if TYPE_CHECKING:
    from judge.contest_view.joined import FormerContest, Joined
    from judge.contest_view.view import ContestView
    from judge.tournament.snapshot import Terms


def read_joined(planned: Planned, terms: Terms) -> tuple[Joined | None, Sequence[str]]:
    """The contests of [ratings], or why they are omitted. `terms`: locked in or planned."""
    chosen = planned.plan.ratings
    if not chosen.with_:
        return None, ()
    from judge.contest_view.joined import Joined

    contests, problems = [], []
    for name in chosen.with_:
        try:
            contests.append(_former(planned, planned.folder / name, terms))
        except (InputError, HostError) as error:
            problems.append(str(error))
    if problems:
        return None, problems
    try:
        document = {"anchors": chosen.anchors, "contests": contests}
        return parse(Joined, document, f"{planned.path}: [ratings]"), ()
    except InputError as error:
        return None, [str(error)]


def with_joined(contest: ContestView, planned: Planned) -> tuple[ContestView, Sequence[str]]:
    """With the contests of [ratings], or why they are omitted."""
    joined, problems = read_joined(planned, contest.snapshot)
    found = replace(contest, joined=joined)
    try:
        found.histories  # noqa: B018 - a missing or ambiguous anchor
    except InputError as error:
        return contest, [f"{planned.path}: [ratings]: {error}"]
    return found, problems


def former_problem(planned: Planned, name: str) -> str:
    """Why the contest `name` cannot be joined; or empty."""
    try:
        _former(planned, planned.folder / name, planned)
    except (InputError, HostError) as error:
        return str(error).removeprefix(f"{planned.path}: [ratings] with: ").removesuffix("; leave it out")
    return ""


def _former(planned: Planned, path: Path, terms: Terms) -> FormerContest:
    from judge.contest.earlier_contests import read_contest
    from judge.contest_view.export import DOCUMENT
    from judge.contest_view.joined import FormerContest
    from judge.publish.manifest import MANIFEST, MAX_MANIFEST_BYTES
    from judge.tournament.snapshot import terms_difference

    contest = read_contest(path, [planned.store_url])
    former_game, game = contest.snapshot.policy.game.name, terms.policy.game.name
    if former_game != game:
        raise InputError(f"{planned.path}: [ratings] with: {path}: ratings of {former_game} cannot be used for {game}")
    if what := terms_difference(contest.snapshot, terms):
        raise InputError(
            f"{planned.path}: [ratings] with: {path} has other rules or clocks ({what}), which makes the "
            "ratings incomparable; leave it out"
        )
    if contest.name == planned.name:
        raise InputError(f"{planned.path}: [ratings] with: {path} is of a contest of the same name; leave it out")
    manifest = None
    if (path / DOCUMENT).is_file():
        manifest = hashlib.sha256(read_bounded(path / MANIFEST, MAX_MANIFEST_BYTES)).hexdigest()
    return FormerContest.of(contest.as_rated, manifest)


def ratings_problems(planned: Planned, terms: Terms, agents: Collection[str] | None = None) -> Iterator[str]:
    """Why joined ratings are omitted. `terms`: locked in or planned; `agents`: names, if known."""
    joined, problems = read_joined(planned, terms)
    yield from problems
    if joined is None:
        return
    for name in joined.anchors:
        versions = {each.programs[name] for each in joined.contests if name in each.programs}
        if len(versions) > 1:
            yield (
                f"{planned.path}: [ratings] anchors: {name} has {len(versions)} versions, which differ in strength; "
                "choose an agent whose files never changed"
            )
        elif not versions and agents is not None and name not in agents:
            yield f"{planned.path}: [ratings] anchors: {name} takes part in none of the contests; remove it"


def export_problems(planned: Planned, terms: Terms, agents: Collection[str] | None = None) -> Iterator[str]:
    """See `ratings_problems`."""
    from judge.transparency.keys import KEY_FILE

    for why in ratings_problems(planned, terms, agents):
        yield f"ratings will not be joined with former contests: {why}"
    if not (planned.folder / KEY_FILE).is_file():
        yield (
            f"{KEY_FILE} is missing in {planned.folder}, and an export is signed: judge contest key "
            f"{planned.folder / KEY_FILE}, or name another file by --key"
        )
