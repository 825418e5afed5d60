"""Reads the former contests that a contest.toml joins with its own: contests of this machine, or exports of any."""

import hashlib
from contextlib import closing
from pathlib import Path

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.base.parsing import parse
from judge.contest.contest import Contest, has_begun, open_store
from judge.contest.plan import Planned, load_plan
from judge.publish.joined import FormerContest, Joined
from judge.publish.load import DOCUMENT, load_claimed, load_store
from judge.publish.manifest import LARGEST_MANIFEST, MANIFEST
from judge.publish.model import PublishedContest
from judge.tournament.comparable import policy_difference


def load_any(path: Path) -> PublishedContest:
    """The contest of a contest.toml, of its folder, or of an export, whose tables are taken as they are.

    Raises InputError if it has not begun, or if a file is not what an export has there.
    """
    if (path / DOCUMENT).is_file():
        return load_claimed(path)
    planned = load_plan(path)
    if not planned.has_no_store:
        with closing(open_store(planned)) as store:
            if has_begun(store, planned):
                return load_store(Contest(store, planned))
    raise planned.not_begun()


def read_joined(planned: Planned) -> Joined | None:
    """What [ratings] of a contest.toml joins; None if it joins nothing.

    Raises InputError if a contest cannot be read, or is of another game.
    """
    chosen = planned.plan.ratings
    if not chosen.with_:
        return None
    contests = [_former(planned, planned.folder / name) for name in chosen.with_]
    return parse(Joined, {"anchors": chosen.anchors, "contests": contests}, f"{planned.path}: [ratings]")


def _former(planned: Planned, path: Path) -> FormerContest:
    contest = load_any(path)
    game, own = contest.snapshot.policy.game.name, planned.policy.game.name
    if game != own:
        raise InputError(f"{planned.path}: [ratings] with: {path} is of {game}: strength at it is none at {own}")
    if what := policy_difference(contest.snapshot.policy, planned.policy):
        raise InputError(
            f"{planned.path}: [ratings] with: {path} has other rules or another clock ({what}), so strength there is "
            "another strength; leave it out"
        )
    if contest.name == planned.name:
        raise InputError(f"{planned.path}: [ratings] with: {path} is of a contest of the same name; leave it out")
    manifest = None
    if (path / DOCUMENT).is_file():
        manifest = hashlib.sha256(read_bounded(path / MANIFEST, LARGEST_MANIFEST)).hexdigest()
    return FormerContest.of(contest.as_rated, manifest)
