"""The agent under examination: it answers questions and plays, each time in a new box beside a house agent."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from judge.agents.agents import WINE, Agent, stage_agent
from judge.agents.programs import has_window
from judge.base.errors import HostError, InputError, JudgeError
from judge.base.text import decode
from judge.catalog import game_entry
from judge.catalog.entry import Partner, Question, Questions
from judge.games.types import Reply, Request, Verdict
from judge.referee.clock import MS
from judge.referee.play import Slot, Venue, play_until_scored
from judge.referee.policy import Policy
from judge.referee.setup import check_playable
from judge.referee.spec import GameRecord, GameSpec, RecordFile, SeatRecord, SeatSpec
from judge.referee.transcript import Entry, EntryKind, unseal
from judge.sandbox.box import BoxKind
from judge.submissions.check.probe_game import AGENT, Interview, ProbeAnswer

LATE = frozenset({Verdict.TURN_TIME, Verdict.MATCH_TIME})
NEVER_MS = 1 << 40
_WRONGS = frozenset(
    {Verdict.START_TIME, Verdict.TURN_TIME, Verdict.MATCH_TIME, Verdict.MEMORY, Verdict.OUTPUT, Verdict.CRASH}
)
"""The faults after which there is no agent to go on with."""


_NO_COMMANDS = (b"DONE",)
"""Words that end a command and are none."""
_LINE_CHARACTERS = 200
"""More of a line that an agent wrote is not shown."""


def _lines(data: bytes) -> list[str]:
    """What an agent wrote, as lines that are not empty; hostile still."""
    text = decode(data)
    return [line.strip()[:_LINE_CHARACTERS] for line in text.splitlines() if line.strip()]


@dataclass(frozen=True)
class RecordedTalk:
    """One conversation or game with the agent, as its record and its transcript have it."""

    file: RecordFile
    seat: int
    program: Path
    """The agent's files."""
    answers: Sequence[ProbeAnswer] = ()
    question: Question | None = None
    """The question that was asked last, in an interview."""

    @property
    def record(self) -> GameRecord:
        """The record."""
        return self.file.record

    @property
    def side(self) -> SeatRecord:
        """The agent's half of it."""
        return self.record.seats[self.seat]

    @property
    def has_stopped(self) -> bool:
        """Whether the agent is to blame that nothing more could be asked."""
        return self.side.fault in _WRONGS

    @property
    def got_ready(self) -> bool:
        """Whether its start was over, well; a seat is frozen from then on."""
        refused = self.side.fault in (Verdict.REFUSED, Verdict.UNREADABLE)
        kinds = [entry.kind for entry in self._entries if entry.kind in (EntryKind.FROZEN, EntryKind.EVIDENCE)]
        return kinds[:1] == [EntryKind.FROZEN] and not refused  # behind a fault's evidence it is frozen, too

    @property
    def turns_ms(self) -> Sequence[float]:
        """The time of each turn of the agent's, in milliseconds."""
        return [ply.ms for ply in self.record.plies if ply.seat == self.seat]

    @property
    def start_ms(self) -> float | None:
        """From its start to its first output; None if it wrote nothing."""
        started = self._first(EntryKind.STARTED)
        said = self._first(EntryKind.READ)
        return None if started is None or said is None else (said.ns - started.ns) / MS

    @property
    def exit_ms(self) -> float | None:
        """From the goodbye to its exit; None if it had to be killed or was gone before."""
        last = [entry for entry in self._after_goodbye if entry.kind in (EntryKind.REPORT, EntryKind.KILLED)]
        if not last or last[0].kind is EntryKind.KILLED or self._goodbye is None:
            return None
        return (last[0].ns - self._goodbye.ns) / MS

    @property
    def was_killed(self) -> bool:
        """Whether it did not exit by itself at the end."""
        return any(entry.kind is EntryKind.KILLED for entry in self._after_goodbye)

    @property
    def last_words(self) -> bytes:
        """What it said after the goodbye."""
        return b"".join(e.data for e in self._after_goodbye if e.kind is EntryKind.READ)

    @property
    def awaited(self) -> str:
        """The last command that it was sent before the goodbye, without the lines that belong to it."""
        sent = [entry for entry in self._entries if entry.kind is EntryKind.WROTE]
        ended = 1 if self._goodbye is not None else 0
        lines = b"".join(entry.data for entry in sent[: len(sent) - ended]).splitlines()
        commands = [line for line in lines if line[:1].isalpha() and line not in _NO_COMMANDS]
        words = commands[-1:] or lines[-1:]
        return decode(words[0]) if words else ""

    @property
    def awake_before_ms(self) -> float:
        """How long it was awake before the wait that it was judged in: it used no more CPU time than that."""
        return sum(self._wakes[:-1])

    @property
    def awake_ms(self) -> float:
        """How long it was awake, up to the goodbye or the fault."""
        return sum(self._wakes)

    @cached_property
    def _wakes(self) -> Sequence[float]:
        """How long it was awake each time, in milliseconds."""
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
    def unasked(self) -> bytes:
        """What it said between its turns, while nobody waited for it."""
        said, is_waited_for = bytearray(), True
        for entry in self._entries:
            if entry.kind in (EntryKind.THAWED, EntryKind.STARTED, EntryKind.FROZEN):
                is_waited_for = entry.kind is not EntryKind.FROZEN
            elif entry.kind is EntryKind.READ and not is_waited_for:
                said += entry.data
        return bytes(said)

    @property
    def was_restarted(self) -> bool:
        """Whether a new process had to be made in the middle of it."""
        return self._first(EntryKind.RESPAWNED) is not None

    @property
    def errors(self) -> list[str]:
        """The lines of its stdout that begin with ERROR or UNKNOWN."""
        lines = _lines(self._joined(self._entries, EntryKind.READ))
        return [line for line in lines if line.upper().startswith(("ERROR", "UNKNOWN"))]

    @property
    def printed(self) -> list[str]:
        """The lines of its stdout since it was last sent anything, up to the goodbye: what it said before it ended."""
        return _lines(self._said)

    @property
    def unfinished(self) -> bytes:
        """The end of the same behind the last line end."""
        return self._said.rpartition(b"\n")[2]

    @property
    def _said(self) -> bytes:
        """Its stdout since it was last sent anything, up to the goodbye, which may be sent while it is frozen."""
        before = self._entries
        if self._goodbye is not None:
            before = before[: before.index(self._goodbye)]
        sent = 0
        for number, entry in enumerate(before):
            if entry.kind is EntryKind.EVIDENCE:
                break
            if entry.kind is EntryKind.WROTE:
                sent = number
        return self._joined(before[sent:], EntryKind.READ)

    @property
    def first_bytes(self) -> bytes:
        """The first bytes that it wrote to stdout."""
        first = self._first(EntryKind.READ)
        return b"" if first is None else first.data[:16]

    @property
    def complaints(self) -> list[str]:
        """The lines that it wrote to stderr."""
        return _lines(self._joined(self._entries, EntryKind.STDERR))

    @staticmethod
    def _joined(entries: Sequence[Entry], kind: EntryKind) -> bytes:
        return b"".join(entry.data for entry in entries if entry.kind is kind)

    def wrote(self, line: bytes) -> bool:
        """Whether the judge sent this line."""
        return any(entry.kind is EntryKind.WROTE and line in entry.data.splitlines() for entry in self._entries)

    @cached_property
    def _entries(self) -> Sequence[Entry]:
        return [entry for entry in unseal(self.file.transcript) if entry.seat == self.seat]

    def _first(self, kind: EntryKind) -> Entry | None:
        """The first entry of a kind; an end of file is no word."""
        for entry in self._entries:
            if entry.kind is kind and not (kind is EntryKind.READ and not entry.data):
                return entry
        return None

    @cached_property
    def _goodbye(self) -> Entry | None:
        """The thaw with which the agent may hear that the game is over; None if it was gone before."""
        last = None
        for entry in self._entries:
            if entry.kind is EntryKind.THAWED:
                last = entry
            elif entry.kind in (EntryKind.FROZEN, EntryKind.EVIDENCE):
                last = None
        return last

    @property
    def _after_goodbye(self) -> Sequence[Entry]:
        if self._goodbye is None:
            return ()
        return self._entries[self._entries.index(self._goodbye) + 1 :]


class OverlongError(JudgeError):
    """It was awake for longer than its examination may take: it hangs, or is far too slow; the text says where."""


def within(policy: Policy, left_ms: int) -> Policy:
    """The policy, with no wait for an answer that is longer than what is left."""
    clock = policy.clock
    turn_ms = min(clock.turn_ms, left_ms)
    tolerance_ms = min(clock.tolerance_ms, left_ms - turn_ms)
    if (turn_ms, tolerance_ms) == (clock.turn_ms, clock.tolerance_ms):
        return policy
    shorter = clock.model_copy(update={"turn_ms": turn_ms, "tolerance_ms": tolerance_ms})
    return policy.model_copy(update={"clock": shorter})


@dataclass
class Examinee:
    """The agent, the house agent opposite, and where they meet. `talks` collects everything that was played."""

    agent: Agent
    partner: Agent
    policy: Policy
    slot: Slot
    box: BoxKind
    seconds: float = math.inf
    """How long it may be awake in all; then `OverlongError` is raised."""
    trying: Callable[[str], None] = lambda _: None
    """Called with what is tried next, before each conversation and game."""
    talks: list[RecordedTalk] = field(default_factory=list)
    line_ending: str = ""
    """What the lines that it is sent end with, where that was found out; else as agent.toml, policy or protocol say."""

    _spent_ms: float = 0.0

    @cached_property
    def questions(self) -> Questions:
        """What it is asked; none where its game has no questions."""
        game = self.policy.game
        return game_entry(game.name).questions(game.options) or Questions((), _refuse, str)

    @property
    def protocol(self) -> str:
        """What the agent speaks."""
        return self.agent.seat(self.policy).protocol

    @property
    def has_window(self) -> bool:
        """Whether it is a Windows program of the subsystem that has no console."""
        seat = self.agent.seat(self.policy)
        return seat.runtime == WINE and has_window(self.agent.program / seat.command[1])

    def ask(
        self,
        questions: Sequence[Question],
        policy: Policy,
        *,
        options: Mapping[str, Any] | None = None,
        protocol_options: dict[str, Any] | None = None,
        pause_s: float = 0.0,
        command: tuple[str, ...] = (),
    ) -> RecordedTalk:
        """An interview under `policy`; `options` override those of its game, `protocol_options` the agent's own, and a
        `command` that of the agent."""
        self.trying(f"{questions[0].check}, {len(questions)} {'question' if len(questions) == 1 else 'questions'}")

        def interview() -> Interview:
            game = policy.game
            chosen = {**game.options, **(options or {})}
            return Interview(game.name, chosen, questions, self.questions.opponent, pause_s)

        agent, partner = self._seats(policy, protocol_options or {})
        seats = (agent.model_copy(update={"command": command}) if command else agent, partner)
        return self._talk(GameSpec(seats=seats, policy=policy, box=self.box), AGENT, interview)

    def play(self, seat: int, policy: Policy) -> RecordedTalk:
        """A whole game in this seat."""
        self.trying(f"a whole game as the {('first', 'second')[seat]} seat")
        agent, partner = self._seats(policy, {})
        seats = (agent, partner) if seat == 0 else (partner, agent)
        return self._talk(GameSpec(seats=seats, policy=policy, box=self.box), seat)

    def _seats(self, policy: Policy, options: dict[str, Any]) -> tuple[SeatSpec, SeatSpec]:
        agent, partner = self.agent.seat(policy), self.partner.seat(policy)
        ending = {"line_ending": self.line_ending} if self.line_ending else {}
        own = agent.protocol_options | ending | options
        return (
            agent.model_copy(update={"protocol_options": own}),
            partner.model_copy(update={"name": f"partner-{partner.name}"[:64]}),
        )

    def _talk(self, spec: GameSpec, seat: int, interview: Callable[[], Interview] | None = None) -> RecordedTalk:
        """One conversation, again while it is void, as often as the policy says."""
        programs = {agent.digest: agent.program for agent in (self.agent, self.partner)}
        left_ms = max(1, int(min(self.seconds * 1000 - self._spent_ms, NEVER_MS)))
        whole, spec = spec, spec.model_copy(update={"policy": within(spec.policy, left_ms)})
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
        self._spent_ms += talk.awake_ms
        is_late = talk.side.fault in LATE and spec.policy != whole.policy
        if is_late or self._spent_ms >= self.seconds * 1000:
            check = f" in the check of {talk.question.check}" if talk.question else " in a whole game"
            awaited = f"; the last command that it was sent was {talk.awaited[:80]!r}" if talk.awaited else ""
            raise OverlongError(f"its check took more than {self.seconds:g} s and was stopped{check}{awaited}")
        self.talks.append(talk)
        return talk


def _refuse(request: Request) -> Reply:
    raise TypeError(f"a game without questions has no answer to {request!r}")


def find_partner(agent: Agent, policy: Policy, box: BoxKind, staging: Path) -> Agent:
    """The agent to play against, staged; InputError that says why, where the agent itself cannot be seated."""
    seat = agent.seat(policy)
    check_playable(GameSpec(seats=(seat, seat), policy=policy, box=box))
    partners = game_entry(policy.game.name).partners
    if not partners:
        raise InputError(
            f"the game {policy.game.name} has no agent to play a check against; its package must name one in `partners`"
        )
    partner = next(playable_partners(agent, policy, box, staging, partners), None)
    if partner is not None:
        return partner
    raise InputError(
        f"none of the built agents can play against it under {policy.name}, of "
        f"{', '.join(named.agent for named in partners)}; run: judge images build"
    )


def playable_partners(
    agent: Agent, policy: Policy, box: BoxKind, staging: Path, partners: Sequence[Partner]
) -> Iterator[Agent]:
    """Those of some house agents that are built and can play against an agent, staged."""
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
