"""One published record, checked: it is of the match that the schedule has there, and it replays to what it says."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from judge.catalog.entry import Opening
from judge.contest.schedule import bare
from judge.contest.worker import ended_by
from judge.documents import parse_json
from judge.errors import InputError
from judge.publish.manifest import read_bounded
from judge.referee.bounds import LARGEST_RECORD
from judge.referee.chance import Seed
from judge.referee.spec import KeptFolders, MatchRecord, MatchSpec, RecordFile
from judge.referee.verify import verify
from judge.sandbox.archive import EMPTY
from judge.sandbox.folders import FolderKind
from judge.store.types import Ended

States = Mapping[FolderKind, str]
"""Digests of the states of an agent's folders."""


@dataclass(frozen=True, slots=True)
class RecordJob:
    """A record to be replayed: its file, the match that it must be of (JSON), and the attempt.

    `seed` is that of the attempt, None while the contest has not revealed its chance; `openings` are those that the
    game may have begun from.
    """

    number: int
    directory: Path
    name: str
    spec: str
    attempt: int | None
    names: tuple[str, str]
    """What each seat's agent calls itself: the name of its temporary folder."""
    seed: Seed | None
    openings: Sequence[Opening]


@dataclass(frozen=True, slots=True)
class VerifiedRecord:
    """What a record says; `ended` None where it says nothing that could count.

    `begun` and `left` are, by seat, the states of kept folders before and after the game.
    """

    job: RecordJob
    ended: Ended | None
    problems: Sequence[str]
    begun: tuple[States, ...] = ()
    left: tuple[States, ...] = ()


def replay(job: RecordJob) -> VerifiedRecord:
    """Read and replay one record. What is wrong with it is a problem of it, never an error."""
    try:
        data = read_bounded(job.directory / job.name, LARGEST_RECORD)
    except InputError as error:
        return VerifiedRecord(job, None, [f"{job.name}: no record: {error}"])
    try:
        file = parse_json(RecordFile, data, f"{job.name}: not a record of a match")
    except InputError as error:
        return VerifiedRecord(job, None, [str(error)])
    record = file.record
    # A spec may ask for anything, so one that nobody scheduled is not played again.
    if bare(record.spec) != bare(MatchSpec.model_validate_json(job.spec)):
        return VerifiedRecord(job, None, [f"{job.name}: of another match than was scheduled here"])
    if wrong := _chance_problem(record.spec, job):
        return VerifiedRecord(job, None, [f"{job.name}: {wrong}"])
    problems = [*_attempt_problems(record, job), *_folder_problems(record, job)]
    problems += verify(file).problems
    return VerifiedRecord(
        job,
        None if problems else ended_by(file, ""),
        [f"{job.name}: {problem}" for problem in problems],
        tuple(seat.folders.digests if seat.folders else {} for seat in record.spec.seats),
        tuple({kind: folder.digest for kind, folder in seat.folders.items()} for seat in record.seats),
    )


def _chance_problem(spec: MatchSpec, job: RecordJob) -> str:
    """What of its chance does not follow from the contest's; empty where all does."""
    if spec.opening not in job.openings:
        return "begins from another opening than the contest's chance gives"
    is_due = isinstance(spec.seed, str) if job.seed is None else spec.seed == job.seed
    return "" if is_due else "has another seed than the contest's chance gives"


def _attempt_problems(record: MatchRecord, job: RecordJob) -> Iterator[str]:
    if record.attempt != job.attempt:
        yield f"of attempt {record.attempt}, the tables name {job.attempt}"


def _folder_problems(record: MatchRecord, job: RecordJob) -> Iterator[str]:
    """Which folders are kept is the policy's, what they are called is the agent's; their states come later."""
    kinds = set(record.spec.policy.folders.kept)
    for seat, name in zip(record.spec.seats, job.names, strict=True):
        folders = seat.folders or KeptFolders(name=name)
        if set(folders.digests) != kinds or folders.name != name:
            yield f"{seat.name} was given other folders than the policy says"


def chain_problems(
    replayed: Sequence[VerifiedRecord], agents: Sequence[tuple[str, str]], begins: Mapping[str, str]
) -> list[str]:
    """Folders that start from a state that no game of the agent before it left.

    `replayed` are games by number, `agents` who sat in them. Usually it is the last one before; where the organiser
    took a result back, an earlier one. `begins` are the states of the persistent folders that did not begin empty, by
    agent.
    """
    known = {(name, FolderKind.PERSISTENT): {state} for name, state in begins.items()}
    problems = []
    for game, names in zip(replayed, agents, strict=True):
        for name, states in zip(names, game.begun, strict=False):
            problems += [
                f"{game.job.name}: {name}'s {kind.value} folder starts from a state that no game before it left"
                for kind, state in states.items()
                if state not in known.get((name, kind), {EMPTY.digest})
            ]
        for name, states in zip(names, game.left, strict=False):
            for kind, state in states.items():
                known.setdefault((name, kind), {EMPTY.digest}).add(state)
    return problems
