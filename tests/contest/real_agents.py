"""Contests of real agents without a contest.toml: agents, policy and format are given."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from judge.agents.agents import Agent
from judge.agents.store import AgentStore
from judge.contest.contest import Contest
from judge.record.policy import Policy
from judge.sandbox.box import BoxKind
from judge.store.contests import Store
from judge.store.types import EntryRow
from judge.tournament.formats import AnyFormat
from judge.tournament.snapshot import SnapshotEntry
from tests.contest.cups import reopen, snapshot

NO_FOLDERS = ("folders.temporary=false", "folders.persistent=false")
"""Changes of a policy, so that an agent plays several games at the same time."""


def begin_with(
    agents: Mapping[str, Agent],
    policy: Policy,
    chosen: AnyFormat,
    store: Store,
    folder: Path,
    box: BoxKind = "docker",
    words: Sequence[str] = (),
) -> Contest:
    """The contest `cup`, without games. `words` are added to the agents' commands."""
    entries = []
    for rank, (name, agent) in enumerate(agents.items(), 1):
        seat = agent.seat(policy)
        seat = seat.model_copy(update={"name": name, "command": (*seat.command, *words)})
        entries.append(SnapshotEntry(name=name, rank=rank, seat=seat, calls_itself=name))
    document = snapshot(chosen, 0, entries=tuple(entries), policy=policy, box=box)
    store.create("cup", document.model_dump_json(), [EntryRow(each.name, each.rank, "{}") for each in entries])
    contest = reopen(store, document, folder)
    for agent in agents.values():
        AgentStore(contest.planned.agents).put(agent.program)
    return contest
