"""Verifies a published record: it is of the scheduled game, and its replay gives the claimed result."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.base.parsing import parse_foreign
from judge.contest_games import AttemptState, GameConditions, GameResult, Outcome, PublishedGame
from judge.contest_view.values import conditions_of, outcome_of
from judge.games.types import Opening, Verdict
from judge.record.bounds import MAX_RECORD_BYTES
from judge.record.seeds import Seed
from judge.record.spec import GameRecord, GameSpec, KeptFolders, RecordFile
from judge.referee.verify import verify
from judge.sandbox.archive import EMPTY
from judge.sandbox.box import FolderKind
from judge.tournament.schedule import bare

States = Mapping[FolderKind, str]
"""Digests of an agent's folders."""


Outcomes = Mapping[tuple[int, int], Outcome | None]
"""Replayed records, by game number and attempt."""


@dataclass(frozen=True, slots=True)
class VerifiedRecord:
    """A record with its expected game (id, spec as JSON, attempt) and, after the replay, its results.

    `seed` is None before the secret is revealed. `openings`: possible ones. `outcome` is None after a problem. `begun`
    and `left`: kept folders' states before and after the game, by seat; empty without kept folders.
    """

    number: int
    directory: Path
    name: str
    game_id: str
    spec: str
    attempt: int
    state: str
    why: str
    """Reason of an uncounted attempt."""
    names: tuple[str, str]
    """What each agent calls itself, by seat; names the temporary folder."""
    seed: Seed | None
    openings: Sequence[Opening]
    is_replayed: bool = True
    """False: only the digest of its file is read."""
    outcome: Outcome | None = None
    problems: Sequence[str] = ()
    begun: tuple[States, ...] = ()
    left: tuple[States, ...] = ()
    conditions: GameConditions | None = None
    started_at: str = ""
    """Of a replayed record, with its `seconds`."""
    seconds: float = 0.0
    digest: str = ""
    """SHA-256 of its file; empty if it is unreadable."""


def result_of(game: PublishedGame, attempt: int, outcomes: Outcomes) -> GameResult | None:
    """The result of an attempt, also if it was withdrawn later; None if its record is missing."""
    if game.result is not None and game.attempt == attempt:
        return game.result
    outcome = outcomes.get((game.number, attempt))
    return None if outcome is None else outcome.row(game, attempt)


def check_record(expected: VerifiedRecord) -> VerifiedRecord:
    """Read and, if `is_replayed`, replay one record; errors become problems."""
    try:
        data = read_bounded(expected.directory / expected.name, MAX_RECORD_BYTES)
    except InputError as error:
        return replace(expected, problems=[f"{expected.name}: no record: {error}"])
    checked = _replayed(expected, data) if expected.is_replayed else expected
    # Saves memory and transfers.
    return replace(checked, spec="", openings=(), digest=hashlib.sha256(data).hexdigest())


def _replayed(expected: VerifiedRecord, data: bytes) -> VerifiedRecord:
    def refused(problem: str) -> VerifiedRecord:
        return replace(expected, problems=[problem])

    name = expected.name
    try:
        file = parse_foreign(RecordFile, data, f"{name}: not a record of a game")
    except InputError as error:
        return refused(str(error))
    record = file.record
    # Specs are untrusted: only a scheduled one is replayed.
    if bare(record.spec) != bare(GameSpec.model_validate_json(expected.spec)):
        return refused(f"{name}: a record of another game than the scheduled one")
    if record.spec.opening not in expected.openings:
        return refused(f"{name}: has another opening than the contest's seed gives")
    is_seed_due = isinstance(record.spec.seed, str) if expected.seed is None else record.spec.seed == expected.seed
    if not is_seed_due:
        return refused(f"{name}: has another seed than the contest's seed gives")
    problems = list(_attempt_problems(record, expected))
    # The policy determines kept folders, the agent their name. `chain_problems` checks states.
    kinds = set(record.spec.policy.folders.kept)
    for seat, called in zip(record.spec.seats, expected.names, strict=True):
        folders = seat.folders or KeptFolders(name=called)
        if set(folders.digests) != kinds or folders.name != called:
            problems.append(f"{seat.name} had other folders than the policy requires")
    conditions = None
    try:
        conditions = conditions_of(record)
    except InputError as error:
        problems.append(str(error))
    problems += verify(file).problems
    return replace(
        expected,
        outcome=None if problems else outcome_of(file, ""),
        problems=[f"{name}: {problem}" for problem in problems],
        begun=_states(seat.folders.digests if seat.folders else {} for seat in record.spec.seats),
        left=_states({kind: folder.digest for kind, folder in seat.folders.items()} for seat in record.seats),
        conditions=conditions,
        started_at=record.started_at,
        seconds=record.seconds,
    )


def _states(by_seat: Iterable[States]) -> tuple[States, ...]:
    states = tuple(by_seat)
    return states if any(states) else ()


def _attempt_problems(record: GameRecord, expected: VerifiedRecord) -> Iterator[str]:
    if record.spec.scheduled_as != expected.game_id:
        yield f"of game {record.id}, the tables name {expected.game_id}"
    if record.attempt != expected.attempt:
        yield f"of attempt {record.attempt}, the tables name {expected.attempt}"
    if expected.state == AttemptState.ACCEPTED and record.verdict is Verdict.VOID:
        yield "void, so it cannot count"
    if expected.state == AttemptState.VOID and record.verdict is not Verdict.VOID:
        yield f"its verdict is {record.verdict}; in the tables it is void"
    elif expected.state == AttemptState.VOID and record.reason != expected.why:
        yield f"its reason is {record.reason!r:.100}, in the tables it is {expected.why!r:.100}"


def chain_problems(
    replayed: Sequence[VerifiedRecord], agents: Sequence[tuple[str, str]], begins: Mapping[str, str]
) -> list[str]:
    """Problems of folders, which must start from states that earlier games of the agent produced.

    `replayed` are games in order, `agents` those of each. After an annulment a game may start from an older state.
    `begins`: initial states of non-empty persistent folders, by agent.
    """
    known = {(name, FolderKind.PERSISTENT): {state} for name, state in begins.items()}
    problems = []
    for record, names in zip(replayed, agents, strict=True):
        for name, states in zip(names, record.begun, strict=False):
            problems += [
                f"{record.name}: {name}'s {kind.value} folder starts from a state that no earlier game left"
                for kind, state in states.items()
                if state not in known.get((name, kind), {EMPTY.digest})
            ]
        for name, states in zip(names, record.left, strict=False):
            for kind, state in states.items():
                known.setdefault((name, kind), {EMPTY.digest}).add(state)
    return problems
