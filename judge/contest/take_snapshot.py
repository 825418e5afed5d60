"""Takes the snapshot of a contest, which fixes everything that decides it, and stores its files."""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import judge
from judge.agents.store import AgentStore
from judge.base.errors import HostError, InputError
from judge.base.logs import get_logger
from judge.base.owner import owned_directory
from judge.contest.entries import Entrant, entrants, equal_names, first_author, refuse_many_of_an_author
from judge.contest.folder_transfer import brought
from judge.contest.plan import Planned
from judge.contest.resolved_format import resolved_format
from judge.record.policy import Policy
from judge.record.seeds import Key
from judge.record.spec import GameSpec
from judge.referee.setup import check_playable, in_contest
from judge.sandbox.docker.images import find_runtime, listing
from judge.store.contest_start import SentEntry
from judge.store.contests import Store
from judge.store.files import Files
from judge.tournament.formats import AnyFormat
from judge.tournament.formats.ladder import Ladder
from judge.tournament.results import points_table
from judge.tournament.snapshot import (
    Freeze,
    Snapshot,
    SnapshotEntry,
    SnapshotImage,
    SnapshotWitness,
    commitment_to,
    contest_key,
    ranks_of,
    refuse_large_entry,
    refuse_large_snapshot,
    refuse_many_entries,
    terms_digest,
)
from judge.transparency.merkle import Tree

log = get_logger()


def take_snapshot(
    planned: Planned, staging: Path, host: dict[str, Any], secret: Key | None, store: Store | None = None
) -> Snapshot:
    """Copy the agents and make the snapshot. Raises InputError; SubmissionsChangedError if it is to be repeated.

    `staging` is empty. `secret` is the source of all chance; None: the plan's seed. The log of `store` gets the digest
    of all but the draw.
    """
    plan = planned.plan
    if secret is None and plan.seed is None:
        raise ValueError("a contest without a seed needs a secret")
    points_table(planned.policy)
    entered, agents, format_ = _agreed(planned, staging)
    imported, files = brought(planned), Files(planned.files)
    states = {} if imported is None else imported.of(agents)
    persistent = {name: files.put(state.data) for name, state in states.items()}
    authors = dict.fromkeys(first_author(each.author) for each in entered if each.author)
    numbers = {author: number for number, author in enumerate(authors, 1)} if isinstance(format_, Ladder) else {}
    entries = tuple(
        entry_of(
            each, rank, planned, persistent.get(each.name), planned.policy, numbers.get(first_author(each.author), 0)
        )
        for rank, each in enumerate(entered, 1)
    )
    terms = Snapshot(
        judge=judge.__version__,
        name=plan.name,
        title=plan.title,
        about=plan.about,
        frozen_at=datetime.now(UTC).isoformat(timespec="seconds"),
        plan_sha256=hashlib.sha256(planned.text.encode()).hexdigest(),
        policy=planned.policy,
        format=format_,
        clocks=plan.clocks,
        duel=plan.duel,
        failures=plan.failures,
        withholding=plan.freeze_terms,
        seed=None if secret is not None else plan.seed,
        commitment=None if secret is None else commitment_to(secret),
        witnesses=tuple(SnapshotWitness(key=each.key) for each in plan.witnesses),
        seeding=plan.seeding,
        openings=tuple(planned.openings()),
        shuffle=plan.openings.shuffle,
        transform=plan.openings.transform,
        box=plan.box,
        folders_from="" if imported is None else imported.source,
        entries=entries,
        images=images_of(
            {entry.seat.runtime for entry in entries},
            {*planned.policy.admits, *planned.policy.runtimes.values()} if format_.withdrawal == "keeps" else (),
        ),
        host=host,
    )
    refuse_large_snapshot(terms, str(planned.path))
    digest = terms_digest(terms.model_dump_json())
    sent = [(each.submission, each.title, each.agent.digest) for each in entered if each.submission is not None]
    return _drawn(terms, secret, None if store is None else frozen(store, plan.name, digest, sent))


def frozen(store: Store, name: str, terms: str, sent: Collection[SentEntry]) -> Freeze:
    """Lock in the digest of a contest's terms in its log. Raises as `ContestStart.freeze`."""
    leaves = store.freeze(name, terms, sent)
    tree = Tree(line.leaf for line in store.leaves(name, 0, leaves))
    return Freeze(leaves=leaves, root=tree.root().hex(), entries=terms)


def check_terms(planned: Planned) -> None:
    """As `take_snapshot`, for agents, ratings and seats. Writes nothing."""
    with owned_directory() as staging:
        _agreed(planned, staging)


def _agreed(planned: Planned, staging: Path) -> tuple[Sequence[Entrant], Sequence[tuple[str, str]], AnyFormat]:
    entered = entrants(planned, staging)
    if (why := planned.lacks_agents(len(entered))) is not None:
        raise InputError(why)
    refuse_many_of_an_author(planned, entered)
    for why in equal_names(planned, entered):
        raise InputError(why)
    agents = [(each.name, each.agent.digest) for each in entered]
    form = resolved_format(planned, agents)
    refuse_many_entries(form, len(agents), str(planned.path))
    return entered, agents, form


def entry_of(
    entrant: Entrant, rank: int, planned: Planned, persistent: str | None, policy: Policy, author: int = 0
) -> SnapshotEntry:
    """Copy an agent and make its entry. Raises InputError as `take_snapshot`."""
    entry = SnapshotEntry(
        name=entrant.name,
        rank=rank,
        seat=in_contest(entrant.agent.seat(policy), policy).model_copy(update={"name": entrant.name}),
        calls_itself=entrant.agent.calls_itself(policy),
        description=entrant.agent.manifest.description,
        submission=entrant.submission,
        persistent=persistent,
        title=entrant.title,
        author=author,
        parent=entrant.parent,
    )
    refuse_large_entry(entry, str(planned.path))
    check_playable(GameSpec(seats=(entry.seat, entry.seat), policy=policy, box=planned.plan.box))
    AgentStore(planned.agents).put(entrant.agent.program)
    return entry


def _drawn(terms: Snapshot, secret: Key | None, freeze: Freeze | None) -> Snapshot:
    seed = terms.seed if secret is None else contest_key(secret, terms.name, freeze)
    if seed is None:
        raise ValueError("a contest without a seed needs a secret")
    ranks = ranks_of(len(terms.entries), terms.seeding, seed)
    ranked = zip(terms.entries, ranks, strict=True)
    entries = tuple(entry.model_copy(update={"rank": rank}) for entry, rank in ranked)
    return terms.model_copy(update={"entries": entries, "freeze": freeze})


def images_of(runtimes: Iterable[str], others: Iterable[str] = ()) -> dict[str, SnapshotImage]:
    """Images by runtime; of `others`, of agents that may enter later, those that this host has. Raises HostError if one
    of judge's is missing or outdated, InputError if an organiser's is missing.
    """
    contents = {state.id: state.content for state in listing()}
    ids = {runtime: find_runtime(runtime).id for runtime in runtimes}
    for runtime in {*others} - ids.keys():
        with suppress(HostError, InputError):
            ids[runtime] = find_runtime(runtime).id
    ids = dict(sorted(ids.items()))
    return {name: SnapshotImage(id=image, content=contents.get(image, "")) for name, image in ids.items()}
