"""Omissions of a future export, for plan, announce and run."""

from collections.abc import Collection, Iterator

from judge.contest.plan import Planned
from judge.publish.load import read_joined
from judge.record.policy import Policy
from judge.transparency.log import KEY_FILE


def ratings_problems(planned: Planned, policy: Policy, agents: Collection[str] | None = None) -> Iterator[str]:
    """Why joined ratings are omitted. `policy`: locked in or planned; `agents`: names, if known."""
    joined, problems = read_joined(planned, policy)
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


def export_problems(planned: Planned, policy: Policy, agents: Collection[str] | None = None) -> Iterator[str]:
    """See `ratings_problems`."""
    for why in ratings_problems(planned, policy, agents):
        yield f"ratings will not be joined with former contests: {why}"
    if not (planned.folder / KEY_FILE).is_file():
        yield (
            f"{KEY_FILE} is missing in {planned.folder}, and an export is signed: judge contest key "
            f"{planned.folder / KEY_FILE}, or name another file by --key"
        )
