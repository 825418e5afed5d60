"""Output of `judge match`: nothing, a line for each move, or a live view of the games, also for a person who plays.

`judge.terminal.player` asks the person, and writes answers to a pipe for `judge.sandbox.process.person_box`.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from judge.agents.agents import ME, Agent, stage_agent
from judge.agents.manifest import AgentManifest
from judge.base.errors import HostError, InputError
from judge.base.scheduling import set_scheduling
from judge.base.text import printable
from judge.broadcast import pipe
from judge.contest.matches import MatchObserver
from judge.games.types import Verdict
from judge.protocols import PERSON, protocol_entry
from judge.record.policy import Policy
from judge.record.spec import GameRecord, GameSpec, SeatSpec, game_scores, outcome_text
from judge.referee.side import Ply
from judge.sandbox.box import Box, BoxKind, BoxPolicy, Limits, Tenant
from judge.sandbox.open_box import open_box
from judge.sandbox.process.person_box import PersonBox
from judge.terminal.output import styled
from judge.terminal.series_score import SeriesScore

LAST_WAIT_S = 10.0


class LiveView:
    """The judge's side: starts the view and sends the feed."""

    def __init__(
        self,
        names: tuple[str, str],
        games: int,
        module: str = "judge.terminal.live",
        given: Sequence[int] = (),
        stdout: IO[str] | None = None,
    ) -> None:
        command = [sys.executable, "-P", "-m", module, *map(str, given)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=stdout, pass_fds=given)
        if self._process.stdin is None:
            raise RuntimeError("Popen made no pipe")
        self._feed = pipe.Feed(os.dup(self._process.stdin.fileno()))
        self._process.stdin.close()
        self._send(pipe.SERIES, {"names": names, "games": games})
        self._first = names[0]

    def begin(self, spec: GameSpec) -> None:
        self._feed.send(pipe.BEGIN, spec.model_dump_json().encode())

    def follow(self, packed: bytes) -> None:
        self._feed.send(pipe.TRANSCRIPT, packed)

    def end(self, record: GameRecord, is_last_attempt: bool) -> None:
        said = {"result": record.outcome(), "points": points_of(record, self._first)}
        self._send(pipe.END, {**said, "is_last_attempt": is_last_attempt})

    def close(self) -> None:
        """Let the view finish, and wait until it has restored the terminal."""
        set_scheduling(self._process.pid, os.SCHED_OTHER)
        self._feed.close()
        try:
            self._process.wait(LAST_WAIT_S)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            self._process.wait()

    def has_failed(self) -> bool:
        """Wait for the view's end; whether it failed."""
        try:
            return self._process.wait(LAST_WAIT_S) != 0
        except subprocess.TimeoutExpired:
            return True

    def _send(self, kind: bytes, said: dict[str, object]) -> None:
        self._feed.send(kind, json.dumps(said).encode())


def points_of(record: GameRecord, name: str) -> float | None:
    """1, 0.5 or 0 for the agent `name`; None for a void, or if both are at fault."""
    scores = game_scores(record.verdict, record.winner)
    return scores[record.seats[0].name != name] if any(scores) else None


class Presenter(MatchObserver):
    """Shows nothing."""

    def score(self, records: Sequence[GameRecord]) -> None:
        """Report the end of all games."""

    def close(self) -> None:
        """Restore the terminal."""


class LinePresenter(Presenter):
    """Prints lines, coloured on a terminal, optionally with each move."""

    def __init__(self, *, moves: bool = True) -> None:
        self._agents = self._names = ("", "")
        self._count = 0
        if moves:
            self.watch = self._ply

    def open(self, seats: tuple[SeatSpec, SeatSpec], games: int) -> None:  # noqa: ARG002 implements the observer
        self._agents = (seats[0].name, seats[1].name)

    def begin(self, spec: GameSpec, attempt: int) -> None:
        self._names = (spec.seats[0].name, spec.seats[1].name)
        self._count = spec.opening_moves
        if attempt == 1:
            first, second = self._names
            print(f"{styled(f'game {spec.number + 1}', 'bold')}: {first} - {second}, {spec.policy.name}, {spec.id}")

    def _ply(self, ply: Ply) -> None:
        self._count += 1
        name, said = self._names[ply.seat], printable(ply.said, 60)
        print(f"{self._count:4}. {name:<20} {said:<12} {ply.charged_ns / 1e6:10.1f} ms")

    def end(self, record: GameRecord, path: Path, *, is_last: bool) -> None:  # noqa: ARG002 a void is also printed
        without_winner = "yellow" if record.verdict is Verdict.VOID else "cyan"
        colour = without_winner if record.winner is None else "green"
        text = outcome_text(record.verdict, record.winner, self._names)
        print(f"{styled(text, colour)} ({record.verdict}): {printable(record.reason, 300)}")
        if record.result:
            print(f"result {printable(record.result, 300)}")
        print(f"record {path}")

    def score(self, records: Sequence[GameRecord]) -> None:
        from judge.contest_view.values import moves_of

        if len(records) < 2:
            return
        points = tuple(points_of(record, self._agents[0]) for record in records)
        series = SeriesScore(self._agents, len(records), points)
        copies = len(records) - len({(record.seats[0].name, moves_of(record)) for record in records})
        repeated = f"; {copies} of {len(records)} games repeat others and show nothing new" if copies else ""
        print(f"{styled('score', 'bold')}: {series.words}{repeated}")


class Shown(Presenter):
    """Shows games on the whole terminal; prints results at the end."""

    def __init__(self, lines: Presenter | None = None) -> None:
        self._lines = lines or LinePresenter(moves=False)
        self._said: list[Callable[[], None]] = []
        self._view: LiveView | None = None

    def open(self, seats: tuple[SeatSpec, SeatSpec], games: int) -> None:
        self._lines.open(seats, games)
        self._view = self._start((seats[0].name, seats[1].name), games)
        self.follow = self._view.follow

    def _start(self, names: tuple[str, str], games: int) -> LiveView:
        return LiveView(names, games)

    def begin(self, spec: GameSpec, attempt: int) -> None:
        if self._view is not None:
            self._view.begin(spec)
        self._said.append(lambda: self._lines.begin(spec, attempt))

    def end(self, record: GameRecord, path: Path, *, is_last: bool) -> None:
        if self._view is not None:
            self._view.end(record, is_last)
        self._said.append(lambda: self._lines.end(record, path, is_last=is_last))

    def score(self, records: Sequence[GameRecord]) -> None:
        self.close()
        self._lines.score(records)

    def close(self) -> None:
        """End the view, and print the results."""
        if self._view is not None:
            self._view.close()
            self._view = None
        while self._said:
            self._said.pop(0)()


_NO_FILES = hashlib.sha256().hexdigest()


class PersonAgent(Agent):
    """A person, without files."""

    def seat(self, policy: Policy) -> SeatSpec:  # noqa: ARG002 a person plays under every policy
        manifest = self.manifest
        return SeatSpec(name=manifest.name, digest=self.digest, command=(), runtime=manifest.runtime, protocol=PERSON)


class PersonPresenter(Shown):
    """Asks the person and shows the games; prints the results at the end."""

    def __init__(self, has_clock: bool, lines: Presenter | None) -> None:
        """If `lines` is given, only it writes to stdout. `has_clock`: the policy's clock limits the person."""
        super().__init__(lines)
        self._has_clock = has_clock
        self._only_lines = lines is not None
        self._answers = -1

    def stage(self, named: str, staging: Path) -> Agent:
        if named != ME:
            return stage_agent(named, staging)
        manifest = AgentManifest(name=ME, command=(ME,), runtime=PERSON, protocol=PERSON)
        return PersonAgent(manifest, staging, _NO_FILES)

    def seated(self, seats: tuple[SeatSpec, SeatSpec]) -> tuple[SeatSpec, SeatSpec]:
        """Inform the agent that it plays a person, if its protocol allows it, and the person of a clock."""
        if all(seat.protocol == PERSON for seat in seats):
            raise InputError("a person plays an agent: give an agent for one of the seats")
        first, second = map(self._informed, seats)
        return first, second

    def _informed(self, seat: SeatSpec) -> SeatSpec:
        options = (
            {"clock": self._has_clock} if seat.protocol == PERSON else protocol_entry(seat.protocol).against_person
        )
        return seat.model_copy(update={"protocol_options": {**seat.protocol_options, **options}})

    def _start(self, names: tuple[str, str], games: int) -> LiveView:
        self._answers, theirs = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._answers, False)
        keyboard = os.dup(sys.stdin.fileno())
        stdout = sys.stderr if self._only_lines else None
        try:
            return LiveView(names, games, "judge.terminal.player", (keyboard, theirs), stdout)
        finally:
            os.close(keyboard)
            os.close(theirs)

    def build(self, kind: BoxKind, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> Box:
        if tenant.runtime == PERSON:
            return PersonBox(self._answers, self._leave)
        return open_box(kind, tenant, limits, policy)

    def close(self) -> None:
        super().close()
        if self._answers >= 0:
            os.close(self._answers)
            self._answers = -1

    def _leave(self) -> None:
        if self._view is not None and self._view.has_failed():
            raise HostError("the process that shows the game failed; see the error above")
        raise KeyboardInterrupt
