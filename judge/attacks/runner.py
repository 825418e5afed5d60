"""Plays an attack against a house agent in real boxes and compares the result with the attack's row."""

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from judge.agents.program_files import program_digest
from judge.attacks.attack import Attack, Changes, HarmError, Observed, Opponent
from judge.attacks.programs import build_attacks
from judge.attacks.scenes import CANARY_TEXT, find_leftovers, own_directories
from judge.base.errors import HostError
from judge.base.owner import owned_directory
from judge.base.procfs import memory_bytes
from judge.base.resources import BUILD_DIRECTORY
from judge.games.types import Verdict
from judge.host.house_agents import build_house_agents
from judge.play.game import play_until_scored
from judge.play.venue import Slot, Venue
from judge.record.policy import ClockPolicy, GameChoice, Policy
from judge.record.spec import GameSpec, KeptFolders, RecordFile, SeatSpec
from judge.record.transcript import EntryKind
from judge.referee.verify import verify
from judge.sandbox.archive import EMPTY, Archive
from judge.sandbox.box import Box, BoxKind, BoxPolicy, FolderKind, Limits, Tenant
from judge.sandbox.docker import seccomp
from judge.sandbox.docker.freezer import frozen_may_end
from judge.sandbox.docker.kept import KEPT
from judge.sandbox.docker.renewal import UncleanError, helper
from judge.sandbox.host_activity.core_use import CoreUse
from judge.sandbox.open_box import open_box

ATTACKER, ACCOMPLICE = "attack", "accomplice"
OPPONENT = "house-instant"
CLOCK = ClockPolicy(turn_ms=20000, match_ms=0, tolerance_ms=100, start_ms=20000, close_ms=500, starved_share=1)
"""Long, so that only attacks on the clock can lose by it."""

MILLISECONDS = re.compile("([0-9]+)ms")
SCALED = ("turn_ms", "tolerance_ms", "start_ms", "close_ms")
"""Longer on a slow host; the time to stop is measured."""

LARGE_BOARD = {"width": 40, "height": 40, "rule": "freestyle"}
STONES = 1000

HONEST = Attack(id="", title="plays", program="honest", words=("instant",), danger="")


POLL_INTERVAL_S = 0.25
PATIENCE_S = 15.0


TAKEN_SHARE = 0.05
"""CPU share of other tasks that may explain the opponent's loss or figures."""
FIGURES = ("took_us", "lost_us", "irq_us")


class BusyHostError(HostError):
    """Attacks on time or for a void cannot be judged."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of an attack."""

    attack: Attack
    verdict: Verdict
    reason: str
    problems: tuple[str, ...]
    seconds: float
    late_ms: float
    grown_bytes: int
    opponent_ms: float
    figures: Mapping[str, Sequence[int]]
    taken_share: float

    @property
    def is_as_expected(self) -> bool:
        return not self.problems

    @property
    def seen(self) -> str:
        if self.problems:
            return "; ".join(self.problems)
        return "plays on" if self.verdict is Verdict.WIN else f"{self.verdict}: {self.reason}"


class MemoryShelf:
    """See `judge.play.folders.Shelf`."""

    def __init__(self) -> None:
        self.states = {EMPTY.digest: EMPTY}

    def get(self, seat: int, digest: str) -> Archive:  # noqa: ARG002 one agent has one folder
        return self.states[digest]

    def put(self, seat: int, state: Archive) -> None:  # noqa: ARG002 one agent has one folder
        self.states[state.digest] = state


class Suite:
    """Plays trials under one policy. With reused boxes, each has at least two games.

    The opponent's box is reused in the next trial; `close` removes it.
    """

    def __init__(self, policy: Policy, slot: Slot, slower: float = 1, pair: Slot | None = None) -> None:
        """`policy` is an organiser's. Clocks and attacks are `slower` times as long. Agents that ponder need a `pair`
        of cores.
        """
        self._slower = slower
        self._policy = self._changed(suite_policy(policy), {"clock": {name: getattr(CLOCK, name) for name in SCALED}})
        self._starved_share = policy.clock.starved_share
        self._has_engine_profile = policy.box.seccomp_of.get("native") == seccomp.ENGINE
        self._slot, self._pair = slot, pair
        self._programs = build_attacks()
        self._opponent = build_house_agents()[OPPONENT]
        self._opponents_digest = program_digest(self._opponent)
        self._digests = {program_digest(self._programs): self._programs, self._opponents_digest: self._opponent}
        self._peaceful: dict[tuple[Opponent | None, bool, int], Observed] = {}

    def close(self) -> None:
        """Never raises."""
        KEPT.close()

    def obstacle(self, attack: Attack) -> str:
        """Why this host cannot play it; else empty."""
        if attack.ponders and self._pair is None:
            return "pondering needs two cores"
        if attack.ends_frozen and not frozen_may_end(self._policy.box.freeze):
            return "with the freezer of cgroup v1 no process ends while it is frozen"
        try:
            if attack.is_reused:
                helper()
        except UncleanError as error:
            return f"no box is reused here: {error}"
        return ""

    def attack(self, attack: Attack) -> Trial:
        """Raises BusyHostError if other programs use the slot's cores, and the attack tries for a void or its opponent
        has little spare time.
        """
        if attack.needs_calm:
            self._demand_calm()
        trial = self._try(attack)
        if attack.needs_calm and (trial.verdict is Verdict.VOID or (attack.is_tight and trial.problems)):
            self._demand_calm()
        if trial.problems and trial.taken_share > TAKEN_SHARE and (attack.is_tight or trial.figures):
            raise BusyHostError(f"others took {trial.taken_share * 100:.0f} % of the opponent's turn: try again")
        return trial

    def _try(self, attack: Attack) -> Trial:
        began, began_s, before = time.monotonic(), time.time(), own_directories()
        problems: list[str] = []
        for seat in attack.seats:
            with owned_directory() as directory:
                try:
                    seen, names = self._play(attack, directory, seat)
                finally:
                    KEPT.close(but_of=self._opponents_digest)
            if seen.measured(FIGURES[0]):
                seen = replace(seen, peace=self._in_peace(attack, seat))
            found = [*self._unexpected(attack, seen, names), *self._harm(attack, seen)]
            problems += (f"in seat {seat}: {problem}" if len(attack.seats) > 1 else problem for problem in found)
            if problems:
                break
        problems += find_leftovers(began_s, before, KEPT.all())
        took, lost, interrupted = (sum(seen.measured(what)) for what in FIGURES)
        evidence = seen.opponent.evidence
        late = 0.0 if evidence is None else max(evidence.others_share or 0.0, evidence.waited_share or 0.0)
        taken_share = max(late, (lost - interrupted) / took if took else 0.0)
        return Trial(
            attack,
            seen.record.verdict,
            seen.record.reason,
            tuple(problems),
            time.monotonic() - began,
            max(file.record.judge_late_ms for file in seen.files),
            seen.grown_bytes,
            max((ply.ms for ply in seen.record.plies if ply.seat != seen.seat), default=0.0),
            {what: seen.measured(what) for what in FIGURES if seen.measured(what)},
            taken_share,
        )

    def _demand_calm(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while (share := self._taken_by_others()) > self._starved_share / 2:
            if time.monotonic() > deadline:
                raise BusyHostError(
                    f"others take {share * 100:.0f} % of the slot's cores {self._slot.cores} while no agent runs: "
                    "free them, and try again"
                )

    def _taken_by_others(self) -> float:
        use = CoreUse(self._slot.cores)
        began, before = time.monotonic_ns(), use.now().busy_ns
        time.sleep(POLL_INTERVAL_S)
        span = (time.monotonic_ns() - began) * len(self._slot.cores)
        return (use.now().busy_ns - before) / span

    def _play(self, attack: Attack, directory: Path, seat: int) -> tuple[Observed, Mapping[str, str]]:
        policy = self._changed(self._policy, attack.policy)
        if attack.earns_void:
            policy = change_policy(policy, {"clock": {"starved_share": self._starved_share}})
        names: dict[str, str] = {"judge": str(os.getpid()), "opponent": str(self._opponent)}
        if attack.is_kept:
            policy = change_policy(policy, {"folders": {"persistent": True}})
        files: list[RecordFile] = []
        found: list[str] = []
        shelf = MemoryShelf()
        used = time.thread_time()
        with measure_growth() as growth:
            try:
                with attack.scene(directory) as more:
                    names |= more
                    spec = self._spec(attack, policy, names, seat)
                    plays = max(attack.plays, 2) if policy.box.reuse == "agent" else attack.plays
                    files += [self._game(spec, number, attack, shelf) for number in range(plays)]
                    if attack.is_kept:
                        found += self._harm_by_folder(spec, files[-1], shelf)
            except HarmError as harm:
                found.append(str(harm))
        used_ms = (time.thread_time() - used) * 1000
        return Observed(tuple(files), tuple(found), growth[0], used_ms / self._slower, seat), names

    def _game(self, spec: GameSpec, number: int, attack: Attack, shelf: MemoryShelf) -> RecordFile:
        spec = spec.model_copy(update={"number": number})
        slot = self._slot if self._pair is None or not spec.policy.clock.ponder else self._pair
        venue = Venue(slot, shelf, build=self._build_or_reuse)
        if not attack.shares_core or not slot.is_apart:
            return play_until_scored(spec, self._digests, venue)
        venue = replace(venue, slot=replace(slot, judge_cores=slot.cores))
        own_cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, slot.cores)
        try:
            return play_until_scored(spec, self._digests, venue)
        finally:
            os.sched_setaffinity(0, own_cores)

    def _build_or_reuse(self, kind: BoxKind, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> Box:
        if tenant.digest == self._opponents_digest and policy.reuse == "never":
            policy = policy.model_copy(update={"reuse": "auto"})
        return open_box(kind, tenant, limits, policy)

    def _harm_by_folder(self, spec: GameSpec, file: RecordFile, shelf: MemoryShelf) -> Iterator[str]:
        if any(CANARY_TEXT.encode() in state.data for state in shelf.states.values()):
            yield "a host file is in the folder"
        left = file.record.seats[0].folders[FolderKind.PERSISTENT].digest
        honest = self._seat(ATTACKER, self._programs, (HONEST.program, *HONEST.words), left)
        spec = spec.model_copy(update={"seats": (honest, spec.seats[1])})
        record = self._game(spec, 0, HONEST, shelf).record
        if record.verdict is not Verdict.WIN:
            yield f"no game can begin with the folder:  {record.reason}"

    def _spec(self, attack: Attack, policy: Policy, names: Mapping[str, str], seat: int) -> GameSpec:
        command = (attack.program, *(self._scaled(word.format_map(names)) for word in attack.words))
        if attack.opening:
            policy = change_policy(policy, {"game": {"options": LARGE_BOARD}})
        start = EMPTY.digest if attack.is_kept else None
        attacker = self._seat(ATTACKER, self._programs, command, start)
        if (one := attack.opponent) is None:
            opponent = self._seat("opponent", self._opponent, (OPPONENT,))
        else:
            name = ACCOMPLICE if one.is_accomplice else "opponent"
            opponent = self._seat(name, self._programs, (one.program, one.mode, str(round(one.ms * self._slower))))
        return GameSpec(
            seats=(attacker, opponent) if seat == 0 else (opponent, attacker),
            policy=policy,
            opening=full_board() if attack.opening else (),
        )

    def _changed(self, policy: Policy, changes: Changes) -> Policy:
        clock = changes.get("clock", {})
        scaled = {name: round(ms * self._slower) if name in SCALED else ms for name, ms in clock.items()}
        return change_policy(policy, {**changes, "clock": scaled})

    def _scaled(self, word: str) -> str:
        time_of = MILLISECONDS.fullmatch(word)
        return word if time_of is None else str(round(int(time_of[1]) * self._slower))

    def _seat(self, name: str, program: Path, command: tuple[str, ...], folder: str | None = None) -> SeatSpec:
        return SeatSpec(
            name=name,
            digest=next(digest for digest, path in self._digests.items() if path == program),
            command=command,
            runtime="native",
            protocol="gomocup",
            folders=KeptFolders(name=name, persistent=folder) if folder else None,
        )

    def _unexpected(self, attack: Attack, seen: Observed, names: Mapping[str, str]) -> Iterator[str]:
        record, expected = seen.record, attack.expected
        winner = {Verdict.WIN: seen.seat, Verdict.VOID: None}.get(expected.verdict, 1 - seen.seat)
        verdicts = (expected.verdict, *expected.also)
        if record.verdict not in verdicts or record.winner != winner:
            yield f"{record.verdict}, not {expected.verdict}: {record.reason}"
            return
        if record.verdict in expected.also:
            return
        fault = expected.verdict if winner == 1 - seen.seat else None
        faults = (fault, Verdict.TURN_TIME) if expected.may_fail else (fault,)
        if record.seats[seen.seat].fault not in faults or expected.because not in record.reason:
            yield f"another blame:  {record.reason}"
        yield from self._reported_otherwise(attack, seen.attacker.notes, names)
        for what, least in expected.did.items():
            if (count := seen.done(what)) < least:
                yield f"it did {what} {count} times, not {least}"
        if expected.sent.encode("latin-1") not in seen.bytes_of(EntryKind.READ, seen.seat):
            yield f"it did not print {expected.sent!r}"
        if wrong := expected.proof(seen):
            yield wrong

    def _reported_otherwise(self, attack: Attack, notes: Sequence[str], names: Mapping[str, str]) -> Iterator[str]:
        expected = attack.expected
        denied = dict(note.removeprefix("denied ").rsplit(" ", 1) for note in notes if note.startswith("denied "))
        got = {note.removeprefix("got ") for note in notes if note.startswith("got ")}
        allowed = set(attack.engine_allows if self._has_engine_profile else ())
        for name in (name.format_map(names) for name in expected.denied):
            if denied.get(name) not in expected.by and name not in allowed:
                yield f"{name} was {f'denied by {denied[name]}' if name in denied else 'not denied'}"
        wanted = {name.format_map(names) for name in expected.got}
        yield from (f"it got {name}" for name in sorted(got - wanted - allowed))
        yield from (f"it did not get {name}" for name in sorted(wanted - got))

    def _harm(self, attack: Attack, seen: Observed) -> Iterator[str]:
        yield from seen.found
        record = seen.record
        if seen.opponent.fault is not None:
            yield f"the opponent was blamed: {seen.opponent.why}"
        moves = [ply.said for ply in record.plies if ply.seat != seen.seat]
        in_peace = [ply.said for ply in self._in_peace(attack, seen.seat).record.plies if ply.seat != seen.seat]
        if moves != in_peace[: len(moves)]:
            yield f"the opponent played other moves:  {' '.join(moves)}"
        for file in seen.files:
            yield from verify(file).problems

    def _in_peace(self, attack: Attack, seat: int) -> Observed:
        opponent = attack.opponent
        if opponent is not None and opponent.is_accomplice:
            opponent = Opponent("think")
        key = (opponent, attack.opening, seat)
        if key not in self._peaceful:
            honest = replace(HONEST, opponent=opponent, opening=attack.opening)
            self._peaceful[key], _ = self._play(honest, BUILD_DIRECTORY, seat)
        return self._peaceful[key]


def suite_policy(policy: Policy) -> Policy:
    """The organiser's boxes and limits, five in a row, and the suite's clock."""
    return Policy(
        name=policy.name,
        game=GameChoice(name="gomoku", options={"width": 20, "height": 20, "rule": "freestyle"}),
        clock=CLOCK,
        bytes=policy.bytes,
        limits=policy.limits,
        box=policy.box,
        attempts=policy.attempts,
    )


def change_policy(policy: Policy, changes: Changes) -> Policy:
    """A policy with changed values."""
    document = policy.model_dump()
    for section, values in changes.items():
        document[section] |= values
    return Policy.model_validate(document)


def full_board() -> tuple[tuple[int, int], ...]:
    """Alternating stones in bands two cells wide that fill the top without a five."""
    cells = [(x, y) for y in range(STONES // 40) for x in range(40)]
    first, second = ([cell for cell in cells if (cell[0] // 2 + cell[1]) % 2 == c] for c in (0, 1))
    return tuple(cell for pair in zip(first, second, strict=True) for cell in pair)


@contextmanager
def measure_growth() -> Iterator[list[int]]:
    """Measure the maximum growth of this process in bytes; the list has it afterwards."""
    growth = [0]
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # resets the peak
    before = memory_bytes("self", "VmRSS")
    yield growth
    growth[0] = max(0, memory_bytes("self") - before)
