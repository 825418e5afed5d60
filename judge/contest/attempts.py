"""Attempts of games: jobs for workers, and their outcomes."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from judge.base.errors import HostError, InputError
from judge.contest_games import AttemptState, Outcome, ScheduledGame
from judge.contest_view.values import outcome_of
from judge.games.types import Verdict
from judge.record.seeds import Seed
from judge.record.spec import GameSpec, KeptFolders, RecordFile, public_part


@dataclass(frozen=True, slots=True)
class Job:
    """The current attempt of a game, with the agents' staged files by digest.

    `seed`: None if the spec has it. `states`: archives of `folders` by digest.
    """

    game: ScheduledGame
    programs: Mapping[str, Path]
    seed: Seed | None = None
    folders: tuple[KeptFolders | None, KeptFolders | None] = (None, None)
    states: Mapping[str, bytes] = field(default_factory=dict)
    contest: str = ""
    listener: Path | None = None
    """Socket for the transcript during the game."""

    def spec(self) -> GameSpec:
        """The scheduled spec with game id, seed and folders."""
        spec = GameSpec.model_validate_json(self.game.spec)
        seats = tuple(
            seat if folders is None else seat.model_copy(update={"folders": folders})
            for seat, folders in zip(spec.seats, self.folders, strict=True)
        )
        seed = spec.seed if self.seed is None else self.seed
        return spec.model_copy(update={"seats": seats, "seed": seed, "scheduled_as": self.game.id})


@dataclass(frozen=True, slots=True)
class EndedAttempt:
    """An ended attempt: its outcome, or the error that lost its worker. The runner sets `state` and `why`."""

    game: ScheduledGame
    outcome: Outcome | None = None
    record: bytes = b""
    """As JSON; `outcome.record` is its digest."""
    states: Mapping[str, bytes] = field(default_factory=dict)
    """New folder states by digest."""
    error: BaseException | None = None
    host: str = ""
    """Set if unknown at the start."""
    state: AttemptState = AttemptState.RUNNING
    why: str = ""

    @property
    def has_score(self) -> bool:
        """Whether the game was played and is not void."""
        return self.outcome is not None and self.outcome.verdict != Verdict.VOID.value


class Executor(Protocol):
    """Plays a contest's games, locally or on other machines."""

    @property
    def free(self) -> int:
        """Number of games that can be started now."""

    @property
    def host(self) -> str:
        """The machine of the next game; empty if unknown."""

    @property
    def slot(self) -> str:
        """The cores of the next game, such as `core 2`; empty if unknown."""

    @property
    def running(self) -> int:
        """Number of games being played or prepared."""

    def start(self, job: Job) -> None:
        """Play a game. Raises IndexError if no slot is free."""

    def wait(self, timeout_s: float) -> list[EndedAttempt]:
        """Return the ended jobs; wait for the first."""

    def kill(self) -> list[ScheduledGame]:
        """End everything now and return the running games."""

    def close(self) -> None:
        """End the processes. No game may be running."""


def outcome_and_record(file: RecordFile) -> tuple[Outcome, bytes]:
    """An attempt's outcome and its record as JSON."""
    data = file.to_json()
    public = hashlib.sha256(public_part(file).to_json()).hexdigest()
    return replace(outcome_of(file, hashlib.sha256(data).hexdigest()), public=public), data


def describe_loss(error: BaseException) -> str:
    """Why a job has no result."""
    if isinstance(error, HostError | InputError):
        return str(error)
    return f"the worker of this game was lost ({type(error).__name__}: {error})"
