"""A person at a seat of `judge match`: `judge.terminal.player` asks, and writes answers to a pipe for
`judge.sandbox.process.person_box`.
"""

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from judge.agents.agents import ME, Agent, AgentManifest, stage_agent
from judge.base.errors import HostError, InputError
from judge.protocols import PERSON, protocol_entry
from judge.referee.policy import Policy
from judge.referee.spec import SeatSpec
from judge.sandbox import Box, BoxKind, BoxPolicy, Limits, Tenant, open_box
from judge.sandbox.process.person_box import PersonBox
from judge.terminal.live import LiveView
from judge.terminal.output import note
from judge.terminal.presenters import Presenter, Shown

LEFT = 130
"""Exit code when a person leaves; as for Ctrl-C."""

_NO_FILES = hashlib.sha256().hexdigest()


class GameAbortedError(KeyboardInterrupt):
    """The person left during a game. Handled like Ctrl-C."""


class PersonAgent(Agent):
    """A person, without files."""

    def seat(self, policy: Policy) -> SeatSpec:  # noqa: ARG002 a person plays under every policy
        """The seat for a game's spec."""
        manifest = self.manifest
        return SeatSpec(name=manifest.name, digest=self.digest, command=(), runtime=manifest.runtime, protocol=PERSON)


def stage(named: str, staging: Path) -> Agent:
    """Return the person, or stage the agent `named`."""
    if named != ME:
        return stage_agent(named, staging)
    manifest = AgentManifest(name=ME, command=(ME,), runtime=PERSON, protocol=PERSON)
    return PersonAgent(manifest, staging, _NO_FILES)


def is_person(seat: SeatSpec) -> bool:
    """Whether a person has the seat."""
    return seat.protocol == PERSON


def seated(seats: Sequence[SeatSpec], has_clock: bool) -> tuple[SeatSpec, SeatSpec]:
    """The seats of a game with one person, of whom the agent is informed if its protocol allows it."""
    if all(map(is_person, seats)):
        raise InputError("a person plays an agent: give an agent for one of the seats")
    first, second = (
        _with(seat, clock=has_clock) if is_person(seat) else _with(seat, **protocol_entry(seat.protocol).against_person)
        for seat in seats
    )
    return first, second


def _with(seat: SeatSpec, **options: int) -> SeatSpec:
    return seat.model_copy(update={"protocol_options": {**seat.protocol_options, **options}})


class PersonPresenter(Shown):
    """Asks the person and shows the games; prints the results at the end."""

    def __init__(self, has_clock: bool, lines: Presenter | None) -> None:
        """If `lines` is given, only it writes to stdout. `has_clock`: the policy's clock limits the person."""
        super().__init__(lines)
        self._has_clock = has_clock
        self._only_lines = lines is not None
        self._answers = -1
        self._player: LiveView | None = None

    def stage(self, named: str, staging: Path) -> Agent:
        """Return the person, or stage an agent."""
        return stage(named, staging)

    def seated(self, seats: tuple[SeatSpec, SeatSpec]) -> tuple[SeatSpec, SeatSpec]:
        """The seats with the options of a game with one person."""
        return seated(seats, self._has_clock)

    def _start(self, names: tuple[str, str], games: int) -> LiveView:
        self._answers, theirs = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._answers, False)
        keyboard = os.dup(sys.stdin.fileno())
        stdout = sys.stderr if self._only_lines else None
        try:
            self._player = LiveView(names, games, "judge.terminal.player", (keyboard, theirs), stdout)
        finally:
            os.close(keyboard)
            os.close(theirs)
        return self._player

    def build(self, kind: BoxKind, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> Box:
        """The box of a person or an agent."""
        if tenant.runtime == PERSON:
            return PersonBox(self._answers, self._leave)
        return open_box(kind, tenant, limits, policy)

    def close(self) -> None:
        """Free the terminal."""
        super().close()
        if self._answers >= 0:
            os.close(self._answers)
            self._answers = -1

    def _leave(self) -> None:
        if self._player is not None and self._player.has_failed():
            raise HostError("the process that shows the game failed; see the error above")
        raise GameAbortedError


@contextmanager
def may_leave() -> Iterator[None]:
    """Context manager: if the person leaves, print that there is no record."""
    try:
        yield
    except KeyboardInterrupt:
        note("judge: you left the game; it has no result and no record")
        raise SystemExit(LEFT) from None
