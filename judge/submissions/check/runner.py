"""Runs the examined agent: interviews and games, each in a new box against a house agent."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from judge.agents.agents import Agent, stage_agent
from judge.agents.program_files import file_inside
from judge.agents.programs import read_pe
from judge.base.errors import HostError, InputError, JudgeError
from judge.base.text import decode, printable_lines
from judge.catalog import game_entry
from judge.catalog.entry import Partner, Question, Questions
from judge.games.types import Reply, Request, Verdict
from judge.play.game import play_until_scored
from judge.play.venue import Slot, Venue
from judge.record.policy import Policy
from judge.record.spec import GameRecord, GameSpec, RecordFile, SeatRecord, SeatSpec
from judge.record.transcript import Entry, EntryKind, unseal
from judge.referee.clock import MS
from judge.referee.setup import check_playable
from judge.sandbox.box import WINE, BoxKind
from judge.submissions.check.probe_game import AGENT, Interview, ProbeAnswer
from judge.submissions.check.report import CheckReport

TURN_LIMITS = frozenset({Verdict.TURN_TIME, Verdict.MATCH_TIME})
NEVER_MS = 1 << 40
_WRONGS = TURN_LIMITS | {Verdict.START_TIME, Verdict.MEMORY, Verdict.OUTPUT, Verdict.CRASH}
_LINE_CHARACTERS = 200
MAX_STDERR_LINES = 12
"""Maximum number of stderr lines in a report."""

IGNORED = "ignored: "
_OF_MONO = "mono_thread_internal_set_priority:"
"""Mono writes it on stdout in every box."""
CHATTER = re.compile(rf"(?i)(?:debug|message|error|unknown|info|bye)\b|name=|{_OF_MONO}")


def _lines(data: bytes) -> list[str]:
    lines = (line.strip() for line in decode(data).splitlines())
    return [line[:_LINE_CHARACTERS] for line in lines if line and not line.startswith(_OF_MONO)]


@dataclass(frozen=True)
class RecordedTalk:
    """One conversation or game, from its record."""

    file: RecordFile
    seat: int
    program: Path
    answers: Sequence[ProbeAnswer] = ()
    question: Question | None = None

    @property
    def record(self) -> GameRecord:
        return self.file.record

    @property
    def side(self) -> SeatRecord:
        return self.record.seats[self.seat]

    @property
    def seat_spec(self) -> SeatSpec:
        return self.record.spec.seats[self.seat]

    @property
    def is_late(self) -> bool:
        """Whether it exceeded a time limit."""
        return self.side.fault in TURN_LIMITS | {Verdict.START_TIME}

    @property
    def has_stopped(self) -> bool:
        """Whether a fault of the agent ended it."""
        return self.side.fault in _WRONGS

    @property
    def got_ready(self) -> bool:
        """Whether it started without fault."""
        refused = self.side.fault in (Verdict.REFUSED, Verdict.UNREADABLE)
        kinds = [entry.kind for entry in self._entries if entry.kind in (EntryKind.FROZEN, EntryKind.EVIDENCE)]
        return kinds[:1] == [EntryKind.FROZEN] and not refused  # A seat is also frozen after a fault's evidence.

    @property
    def turns_ms(self) -> Sequence[float]:
        return [ply.ms for ply in self.record.plies if ply.seat == self.seat]

    @property
    def start_ms(self) -> float | None:
        """Time from the start to the first output."""
        started = self._first(EntryKind.STARTED)
        said = self._first(EntryKind.READ)
        return None if started is None or said is None else (said.ns - started.ns) / MS

    @property
    def exit_ms(self) -> float | None:
        """Time from the farewell to its exit; None if killed or already gone."""
        last = [entry for entry in self._after_goodbye if entry.kind in (EntryKind.REPORT, EntryKind.KILLED)]
        if not last or last[0].kind is EntryKind.KILLED or self._goodbye is None:
            return None
        return (last[0].ns - self._goodbye.ns) / MS

    @property
    def was_killed(self) -> bool:
        return any(entry.kind is EntryKind.KILLED for entry in self._after_goodbye)

    @property
    def last_words(self) -> bytes:
        """Output after the farewell."""
        return self._joined(self._after_goodbye, EntryKind.READ)

    @property
    def awaited(self) -> str:
        """First line of the last command before the farewell."""
        sent = [entry for entry in self._entries if entry.kind is EntryKind.WROTE]
        asked = sent if self._goodbye is None else sent[:-1]
        lines = b"".join(entry.data for entry in asked).splitlines()
        commands = [line for line in lines if line[:1].isalpha() and line != b"DONE"]
        words = commands[-1:] or lines[-1:]
        return decode(words[0]) if words else ""

    @cached_property
    def wakes_ms(self) -> Sequence[float]:
        """Awake times up to the farewell or fault; the last one is the judged wait. Upper bounds of CPU time."""
        wakes: list[float] = []
        since_ns = -1
        for entry in self._entries:
            if since_ns >= 0 and entry.kind in (EntryKind.FROZEN, EntryKind.EVIDENCE, EntryKind.THAWED):
                wakes.append((entry.ns - since_ns) / MS)
                since_ns = -1
            if entry is self._goodbye or entry.kind is EntryKind.EVIDENCE:
                break
            if entry.kind in (EntryKind.STARTED, EntryKind.THAWED):
                since_ns = entry.ns
        return wakes

    @property
    def output_between_turns(self) -> bytes:
        said, is_waited_for = bytearray(), True
        for entry in self._entries:
            if entry.kind in (EntryKind.THAWED, EntryKind.STARTED, EntryKind.FROZEN):
                is_waited_for = entry.kind is not EntryKind.FROZEN
            elif entry.kind is EntryKind.READ and not is_waited_for:
                said += entry.data
        return bytes(said)

    @property
    def was_restarted(self) -> bool:
        return self._first(EntryKind.RESPAWNED) is not None

    @property
    def errors(self) -> list[str]:
        """Its stdout lines that begin with ERROR or UNKNOWN."""
        lines = _lines(self._joined(self._entries, EntryKind.READ))
        return [line for line in lines if line.upper().startswith(("ERROR", "UNKNOWN"))]

    @property
    def printed(self) -> list[str]:
        """Its stdout lines between the last input and the farewell."""
        return _lines(self._said)

    @property
    def last_line(self) -> str:
        """Its last stdout line before the farewell."""
        return next(iter(_lines(self._joined(self._before_goodbye, EntryKind.READ))[-1:]), "")

    @property
    def ignored(self) -> list[str]:
        """Ignored lines, quoted, without messages and refusals."""
        lines = [note.removeprefix(IGNORED) for note in self.side.notes if note.startswith(IGNORED)]
        return [line for line in lines if not CHATTER.match(line.strip("'\""))]

    @property
    def unfinished(self) -> bytes:
        """The unfinished last line of `printed`."""
        return self._said.rpartition(b"\n")[2]

    @property
    def _said(self) -> bytes:
        sent = 0
        for number, entry in enumerate(self._before_goodbye):
            if entry.kind is EntryKind.EVIDENCE:
                break
            if entry.kind is EntryKind.WROTE:
                sent = number
        return self._joined(self._before_goodbye[sent:], EntryKind.READ)

    @property
    def first_bytes(self) -> bytes:
        """Of its stdout."""
        first = self._first(EntryKind.READ)
        return b"" if first is None else first.data[:16]

    @property
    def complaints(self) -> list[str]:
        """Its stderr lines."""
        return _lines(self._joined(self._entries, EntryKind.STDERR))

    @cached_property
    def stderr_end(self) -> tuple[str, ...]:
        """Its last stderr lines, numbered."""
        data = self._joined(self._entries, EntryKind.STDERR).rstrip()
        lines = printable_lines(data, _LINE_CHARACTERS) if data else []
        first = max(0, len(lines) - MAX_STDERR_LINES)
        return tuple(f"{number:>4}  {line}".rstrip() for number, line in enumerate(lines[first:], first + 1))

    @property
    def dialogue(self) -> Sequence[str]:
        """`>` to the agent, `<` its stdout, `!` its stderr."""
        marks = {EntryKind.WROTE: ">", EntryKind.READ: "<", EntryKind.STDERR: "!"}
        parts: list[tuple[str, bytes]] = []
        for entry in self._entries:
            if (mark := marks.get(entry.kind)) and entry.data:
                if parts and parts[-1][0] == mark:
                    parts[-1] = mark, parts[-1][1] + entry.data
                else:
                    parts.append((mark, entry.data))
        return [f"{mark} {line}" for mark, data in parts for line in printable_lines(data.removesuffix(b"\n"))]

    @staticmethod
    def _joined(entries: Sequence[Entry], kind: EntryKind) -> bytes:
        return b"".join(entry.data for entry in entries if entry.kind is kind)

    def wrote(self, line: bytes) -> bool:
        return any(entry.kind is EntryKind.WROTE and line in entry.data.splitlines() for entry in self._entries)

    @cached_property
    def _entries(self) -> Sequence[Entry]:
        return [entry for entry in unseal(self.file.transcript) if entry.seat == self.seat]

    def _first(self, kind: EntryKind) -> Entry | None:
        entries = (entry for entry in self._entries if entry.kind is kind)
        return next((entry for entry in entries if entry.data or kind is not EntryKind.READ), None)

    @cached_property
    def _goodbye(self) -> Entry | None:
        last = None
        for entry in self._entries:
            if entry.kind is EntryKind.THAWED:
                last = entry
            elif entry.kind in (EntryKind.FROZEN, EntryKind.EVIDENCE):
                last = None
        return last

    @property
    def _before_goodbye(self) -> Sequence[Entry]:
        return self._entries if self._goodbye is None else self._entries[: self._entries.index(self._goodbye)]

    @property
    def _after_goodbye(self) -> Sequence[Entry]:
        return self._entries[len(self._before_goodbye) + 1 :]


class OverlongError(JudgeError):
    """The agent exceeded its awake time."""


def with_shorter_waits(policy: Policy, left_ms: int) -> Policy:
    """Policy with waits of at most `left_ms`."""
    clock = policy.clock
    longest_ms = clock.announced_answer_ms
    turn_ms = min(longest_ms, left_ms)
    tolerance_ms = min(clock.tolerance_ms, left_ms - turn_ms)
    if (turn_ms, tolerance_ms) == (longest_ms, clock.tolerance_ms):
        return policy
    return policy.model_copy(update={"clock": clock.with_turn(turn_ms, tolerance_ms)})


class CheckObserver:
    """Receives the events of a check; methods do nothing by default."""

    def trying(self, step: str) -> None:
        """Report the next step. An error ends the check."""

    def keep(self, talk: RecordedTalk, check: str) -> None:
        """Store a conversation or game, and its check."""

    def progress(self, report: CheckReport) -> None:
        """Report the findings so far."""


@dataclass
class Examinee:
    """The examined agent, its opponent and slot. `talks` has all conversations and games."""

    agent: Agent
    partner: Agent
    policy: Policy
    slot: Slot
    box: BoxKind
    seconds: float = math.inf
    observer: CheckObserver = field(default_factory=CheckObserver)
    talks: list[RecordedTalk] = field(default_factory=list)
    line_ending: str = ""

    _spent_ms: float = 0.0

    @cached_property
    def questions(self) -> Questions:
        game = self.policy.game
        return game_entry(game.name).questions(game.options) or Questions((), _refuse, str)

    @property
    def protocol(self) -> str:
        return self.agent.seat(self.policy).protocol

    @property
    def has_window(self) -> bool:
        """Whether it is a Windows program without console."""
        seat = self.agent.seat(self.policy)
        file = file_inside(self.agent.program, seat.command[1]) if seat.runtime == WINE else None
        program = read_pe(file) if file else None
        return program is not None and program.has_window

    def ask(
        self,
        questions: Sequence[Question],
        policy: Policy,
        *,
        is_plain: bool = True,
        is_trial: bool = False,
        protocol_options: dict[str, Any] | None = None,
        pause_s: float = 0.0,
        command: tuple[str, ...] = (),
    ) -> RecordedTalk:
        """`is_plain`: without the game's opening stage. `is_trial`: not one of `talks`. Options and `command` override
        the agent's.
        """
        self.observer.trying(
            f"{questions[0].check}, {len(questions)} {'question' if len(questions) == 1 else 'questions'}"
        )

        def interview() -> Interview:
            game = policy.game
            options = {**game.options, **(self.questions.plain if is_plain else {})}
            return Interview(game.name, options, questions, self.questions.opponent, pause_s)

        agent, partner = self._seats(policy, protocol_options or {})
        seats = (agent.model_copy(update={"command": command}) if command else agent, partner)
        talk = self._talk(GameSpec(seats=seats, policy=policy, box=self.box), AGENT, questions[0].check, interview)
        if not is_trial:
            self.talks.append(talk)
        return talk

    def play(self, seat: int, policy: Policy) -> RecordedTalk:
        self.observer.trying(f"a whole game as the {('first', 'second')[seat]} player")
        agent, partner = self._seats(policy, {})
        seats = (agent, partner) if seat == 0 else (partner, agent)
        name = ("game-first", "game-second")[seat]
        self.talks.append(self._talk(GameSpec(seats=seats, policy=policy, box=self.box), seat, name))
        return self.talks[-1]

    def _seats(self, policy: Policy, options: dict[str, Any]) -> tuple[SeatSpec, SeatSpec]:
        agent, partner = self.agent.seat(policy), self.partner.seat(policy)
        ending = {"line_ending": self.line_ending} if self.line_ending else {}
        protocol_options = agent.protocol_options | ending | options
        return (
            agent.model_copy(update={"protocol_options": protocol_options}),
            partner.model_copy(update={"name": f"partner-{partner.name}"[:64]}),
        )

    def _talk(
        self, spec: GameSpec, seat: int, name: str, interview: Callable[[], Interview] | None = None
    ) -> RecordedTalk:
        programs = {agent.digest: agent.program for agent in (self.agent, self.partner)}
        left_ms = max(1, int(min(self.seconds * 1000 - self._spent_ms, NEVER_MS)))
        whole, spec = spec, spec.model_copy(update={"policy": with_shorter_waits(spec.policy, left_ms)})
        interviews: list[Interview] = []

        def new_interview() -> Interview:
            interviews.append(interview())  # type: ignore[misc] # called only if there is one
            return interviews[-1]

        file = play_until_scored(spec, programs, Venue(self.slot), new_game=new_interview if interview else None)
        if file.record.verdict is Verdict.VOID:
            raise HostError(f"the check could not be made: {file.record.reason}")
        if interviews and file.record.seats[1 - seat].fault is not None:
            raise HostError(f"the house agent {self.partner.manifest.name} failed: {file.record.reason}")
        talk = RecordedTalk(file, seat, self.agent.program)
        if interviews:
            talk = replace(talk, answers=tuple(interviews[-1].answers), question=interviews[-1].question)
        self._spent_ms += sum(talk.wakes_ms)
        self.observer.keep(talk, name)
        has_run_out = talk.side.fault in TURN_LIMITS and spec.policy != whole.policy
        if has_run_out or self._spent_ms >= self.seconds * 1000:
            check = f" in the check of {talk.question.check}" if talk.question else " in a whole game"
            awaited = f"; the last command that it was sent was {talk.awaited[:80]!r}" if talk.awaited else ""
            raise OverlongError(f"its check took more than {self.seconds:g} s and was stopped{check}{awaited}")
        return talk


def _refuse(request: Request) -> Reply:
    raise TypeError(f"a game without questions has no answer to {request!r}")


def find_partner(agent: Agent, policy: Policy, box: BoxKind, staging: Path) -> Agent:
    """A staged opponent. Raises InputError if the agent cannot be seated."""
    seat = agent.seat(policy)
    check_playable(GameSpec(seats=(seat, seat), policy=policy, box=box))
    partners = game_entry(policy.game.name).partners
    if not partners:
        raise InputError(
            f"the game {policy.game.name} has no agent to play a check against; its package must name one in `partners`"
        )
    if partner := next(playable_partners(agent, policy, box, staging, partners), None):
        return partner
    raise InputError(
        f"none of the built agents can play against it under {policy.name}, of "
        f"{', '.join(named.agent for named in partners)}; run: judge images build"
    )


def playable_partners(
    agent: Agent, policy: Policy, box: BoxKind, staging: Path, partners: Sequence[Partner]
) -> Iterator[Agent]:
    """Staged house agents that can play the agent."""
    seat = agent.seat(policy)
    for named in partners:
        try:
            partner = stage_agent(named.agent, staging)
            command = (*partner.manifest.command, *named.words)
            partner = replace(partner, manifest=partner.manifest.model_copy(update={"command": command}))
            check_playable(GameSpec(seats=(seat, partner.seat(policy)), policy=policy, box=box))
        except InputError:
            continue
        yield partner
