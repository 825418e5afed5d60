"""Who is to blame: the one table (cause, evidence -> verdict) that decides every end that the rules did not decide.

A cause is what the referee saw; evidence is what the kernel, PID 1 and the Engine say, which an agent can not make. The
rows stand in the order of precedence (host, judge, memory, output, time, crash) and the first that fits decides.
Nothing that an agent can do yields a void: a void needs a failure of the host or the judge, CPU taken by others, a
stall of a process of the judge's own, a container that others held still, or one that ended without PID 1's word.
"""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from judge.base.text import mib, sentence
from judge.games.types import NATURE, AgentFault, Reply, ReplyKind, Verdict
from judge.sandbox.box import ProcessReport


class Cause(StrEnum):
    """What the referee saw of a seat when it could not go on with it."""

    HOST = "host"
    """The Engine, the kernel or the disk failed; `detail` says how."""
    JUDGE = "judge"
    """The judge made a mistake; `detail` says when and which."""
    MEMORY = "memory"
    """The kernel said that it killed for memory."""
    TURN_BYTES = "turn-bytes"
    GAME_BYTES = "game-bytes"
    START_TIME = "start-time"
    TURN_TIME = "turn-time"
    MATCH_TIME = "match-time"
    RAN_ON = "ran-on"
    """Its turn was over, and it did not stand still: a system call that nothing interrupts goes on, for example."""
    DEATH = "death"
    """The agent's process ended, or its stdout did."""


class Evidence(BaseModel):
    """What is known of a seat when it is judged, from sources it cannot reach; None where the host cannot tell."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    report: str | None = None
    """PID 1's word, such as `exited 3`."""
    oom_kills: int | None = None
    memory_peak_bytes: int | None = None
    memory_cap_bytes: int | None = None
    reached_cap: bool | None = None
    """Whether its box was at its own memory cap; None in older records."""
    others_share: float | None = None
    """Share of the slot's core time that went to neither agent while this seat was waited for, 0 to 1."""
    waited_share: float | None = None
    """Share of that time in which it could have run and did not, for others had the core, 0 to 1."""
    stalled_share: float | None = None
    """Share of that time for which the kernel stalled a process of the judge's own, which no agent can reach."""
    slept_share: float | None = None
    """Share of that time in which the seat did nothing and wanted no core, or waited for memory or a disk."""
    game_stalled_share: float | None = None
    """As `stalled_share`, of all the time for which the seat was waited for in this game; with `match-time` only."""
    game_slept_share: float | None = None
    """As `slept_share`, of the same time."""
    pressure_share: float | None = None
    """Share of the time of the wait in which all that its box wanted was memory or a disk, by the kernel's pressure
    figures. Shown, and part of `slept_share`: an agent can cause it."""
    host_pressure_share: float | None = None
    """The same of the whole host: shown only, for an agent can cause this too."""
    interrupt_share: float | None = None
    """Share of the slot's core time that interrupts took while this seat was waited for, where the kernel counts it.
    Shown only: the agent itself, its opponent's timers, devices and other games cause interrupts, and no counter tells
    them apart."""
    judge_paused_ms: float | None = None
    """For how long the judge's process did not run while the seat was waited for, which is not in `charged_ms`."""
    held_by_others: bool | None = None
    """Somebody else held its container still that the judge had let go, or had paused it."""
    cpu_ms: int | None = None
    """CPU time of the seat's whole box so far."""
    charged_ms: float = 0.0
    """Time since the clock of this wait began."""
    allowed_ms: int = 0
    """What the policy allowed for it, tolerance included."""
    ran_on_ms: float | None = None
    """For how long it ran on in its opponent's time."""
    ran_on_cpu_ms: float | None = None
    """The CPU time that it used meanwhile."""
    bytes_read: int = 0
    """What the seat has printed since its last answer, or in the game, whichever bound was broken, as the policy counts
    it: a line is `bytes.least_bytes` at least."""
    detail: str = ""
    """Where no seat failed: the host's words on its own failure, or where the judge's mistake was seen."""


@dataclass(frozen=True, slots=True)
class Void:
    """The game does not count: the judge or the host is to blame. `reason` says what happened and what to do."""

    reason: str


@dataclass(frozen=True, slots=True)
class BlameRow:
    """When one of `causes` is seen and `holds`, the verdict is `verdict` for the reason `because` gives."""

    causes: frozenset[Cause]
    holds: Callable[[Evidence, "Thresholds"], bool]
    verdict: Verdict
    because: Callable[[Evidence], str]
    when: str
    """What `causes` and `holds` say together, for people."""
    example: Evidence
    """Evidence for which it holds."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The policy's numbers that the table needs."""

    starved_share: float
    waited_share: float


LATE = frozenset({Cause.START_TIME, Cause.TURN_TIME, Cause.MATCH_TIME})
"""No whole answer was there in time."""

LATE_OR_DEAD = LATE | {Cause.DEATH}
"""The causes that are not the seat's own if its opponent ran on in its time. Memory and output have precedence."""

NO_SEAT = frozenset({Cause.HOST, Cause.JUDGE})
"""Not a seat failed, but what they were played with."""

_ANY_FAULT = frozenset(Cause) - NO_SEAT


def _always(_evidence: Evidence, _thresholds: Thresholds) -> bool:
    return True


def _starved(evidence: Evidence, thresholds: Thresholds) -> bool:
    """Others took its core, and it wanted it: one that sleeps over its turn is starved by nobody."""
    taken, waited = evidence.others_share, evidence.waited_share
    if taken is None or taken <= thresholds.starved_share:
        return False
    return waited is None or waited >= thresholds.waited_share * taken


def _judge_paused(evidence: Evidence, _thresholds: Thresholds) -> bool:
    """It would not be late if nothing had happened while the judge did not run."""
    return bool(evidence.judge_paused_ms) and evidence.charged_ms < evidence.allowed_ms


def _stalled(evidence: Evidence, thresholds: Thresholds) -> bool:
    """The kernel stalled others too, and it slept meanwhile: one that works on is slow, whatever the host does."""
    return any(
        stalled is not None
        and stalled > thresholds.starved_share
        and (slept is None or slept >= thresholds.waited_share * stalled)
        for stalled, slept in _stalls_of(evidence)
    )


def _stalls_of(evidence: Evidence) -> list[tuple[float | None, float | None]]:
    """The shares stalled and slept: of this wait, and of all."""
    return [
        (evidence.stalled_share, evidence.slept_share),
        (evidence.game_stalled_share, evidence.game_slept_share),
    ]


def _reported(*kinds: str) -> Callable[[Evidence, Thresholds], bool]:
    def holds(evidence: Evidence, _thresholds: Thresholds) -> bool:
        report = evidence.report
        return (None if report is None else ProcessReport.decode(report.encode()).kind) in kinds

    return holds


def _number_of(evidence: Evidence) -> int:
    return 0 if evidence.report is None else ProcessReport.decode(evidence.report.encode()).number


def _killed_below_cap(evidence: Evidence, _thresholds: Thresholds) -> bool:
    """The kernel killed, and the box was never at its cap. Unknown in older records: then the kill is the agent's."""
    return bool(evidence.oom_kills) and evidence.reached_cap is False


def _host_memory_words(evidence: Evidence) -> str:
    peak, cap = mib(evidence.memory_peak_bytes), mib(evidence.memory_cap_bytes)
    return sentence(
        f"the kernel killed a process of the agent for memory although its box was never at its cap (peak {peak} of "
        f"{cap}): the host, or a cgroup above the box, has too little memory; see what `judge doctor` says of memory"
    )


def _memory_words(evidence: Evidence) -> str:
    peak, cap = mib(evidence.memory_peak_bytes), mib(evidence.memory_cap_bytes)
    return sentence(f"used more memory than its cap of {cap} (peak {peak}); the kernel killed it")


def _time_words(what: str) -> Callable[[Evidence], str]:
    def because(evidence: Evidence) -> str:
        return sentence(f"{what}: {evidence.charged_ms:.0f} ms of {evidence.allowed_ms} ms allowed, tolerance included")

    return because


def _ran_on_words(evidence: Evidence) -> str:
    used = "?" if evidence.ran_on_cpu_ms is None else f"{evidence.ran_on_cpu_ms:.0f}"
    return sentence(
        f"did not stand still when its turn was over: in {evidence.ran_on_ms or 0:.0f} ms of its opponent's time "
        f"it used {used} ms of processor time"
    )


def _starved_words(evidence: Evidence) -> str:
    share = (evidence.others_share or 0) * 100
    waited = (
        ""
        if evidence.waited_share is None
        else sentence(f", and it wanted one in vain for {evidence.waited_share:.0%}")
    )
    return sentence(
        f"the agent was starved: others took {share:.0f} % of its cores while it was waited for{waited}; "
        "free the slot's cores"
    )


def _judge_paused_words(evidence: Evidence) -> str:
    seconds = (evidence.judge_paused_ms or 0) / 1000
    return sentence(
        f"the judge did not run for {seconds:.1f} s while the agent was waited for, and when its answer came is "
        "unknown; do not stop the judge (Ctrl-Z, a suspended job or machine) while a game is played"
    )


def _stalled_words(evidence: Evidence) -> str:
    stalled, slept = max(_stalls_of(evidence), key=lambda shares: shares[0] or 0)
    asleep = "" if slept is None else sentence(f", and the agent slept for {slept:.0%}")
    return sentence(
        f"the host stalled: for {stalled or 0:.0%} of the time in which the agent was waited for, a process of the "
        f"judge's own got no memory, thread or block of a disk{asleep}; see what `judge doctor` says of stalls, memory "
        "and disks"
    )


def _bytes_words(what: str) -> Callable[[Evidence], str]:
    return lambda evidence: sentence(f"printed what counts as {evidence.bytes_read} bytes, more than the bound {what}")


_TIME_WORDS = {
    Cause.START_TIME: (sentence("was not ready in time"), "it was not ready when its start-up time was over"),
    Cause.TURN_TIME: (
        sentence("did not answer within the turn"),
        "no whole reply was there when the turn and its tolerance were over",
    ),
    Cause.MATCH_TIME: (
        sentence("used up the time of the match"),
        "its turns and its start-up together took more than the match allows",
    ),
}
_BYTES_WORDS = {
    Cause.TURN_BYTES: (sentence("of a turn"), "it printed more since its last answer than a turn allows"),
    Cause.GAME_BYTES: (sentence("of a game"), "it printed more in the whole game than a game allows"),
}
_OVERRUN = Evidence(charged_ms=6000.4, allowed_ms=6000, others_share=0.01, cpu_ms=5900)
_KILLED = Evidence(oom_kills=1, memory_peak_bytes=400 << 20, memory_cap_bytes=400 << 20)


def _one(cause: Cause) -> frozenset[Cause]:
    return frozenset({cause})


TABLE: tuple[BlameRow, ...] = (
    BlameRow(
        _one(Cause.HOST),
        _always,
        Verdict.VOID,
        lambda evidence: evidence.detail,
        "the Engine, the kernel or a disk of the judge's failed",
        Evidence(detail="the Engine does not answer; see that it runs"),
    ),
    BlameRow(
        _one(Cause.JUDGE),
        _always,
        Verdict.VOID,
        lambda evidence: sentence(
            f"the judge failed {evidence.detail}; this is a mistake of the judge's: "
            "report it with the record and the judge's log"
        ),
        "the judge itself made a mistake",
        Evidence(detail="before any agent said anything: TypeError"),
    ),
    BlameRow(
        _ANY_FAULT,
        _killed_below_cap,
        Verdict.VOID,
        _host_memory_words,
        "the kernel killed a process of its box for memory, and the box was never at its own cap: the host, or a "
        "cgroup above the box, has too little memory. No evidence attributes that to a seat, so no seat loses; what "
        "an agent can allocate without being charged for it is bounded, so no agent causes it",
        Evidence(oom_kills=1, memory_peak_bytes=20 << 20, memory_cap_bytes=400 << 20, reached_cap=False),
    ),
    BlameRow(
        _ANY_FAULT,
        lambda evidence, _: bool(evidence.oom_kills),
        Verdict.MEMORY,
        _memory_words,
        "the kernel killed a process of its box for memory, whatever else went wrong",
        _KILLED,
    ),
    BlameRow(
        _one(Cause.MEMORY), _always, Verdict.MEMORY, _memory_words, "the kernel said so while the game went on", _KILLED
    ),
    *(
        BlameRow(_one(cause), _always, Verdict.OUTPUT, _bytes_words(words), when, Evidence(bytes_read=1 << 21))
        for cause, (words, when) in _BYTES_WORDS.items()
    ),
    BlameRow(
        LATE,
        lambda evidence, _: bool(evidence.held_by_others),
        Verdict.VOID,
        lambda _: sentence("the agent was held still: somebody outside froze or paused its container; let it be"),
        "it was late, and somebody outside held its container still or had paused it",
        _OVERRUN.model_copy(update={"held_by_others": True}),
    ),
    BlameRow(
        LATE,
        _judge_paused,
        Verdict.VOID,
        _judge_paused_words,
        "its answer was read after the deadline, the judge's own process did not run for a part of the time, and "
        "without that part the answer was in time; an agent that does not answer in its full time without that part "
        "is late",
        _OVERRUN.model_copy(update={"charged_ms": 1500.0, "judge_paused_ms": 4000.0}),
    ),
    BlameRow(
        LATE,
        _starved,
        Verdict.VOID,
        _starved_words,
        "it was late, others took more of its cores meanwhile than the policy's `clock.starved_share`, and it wanted a "
        "core and had none for at least `clock.waited_share` of what they took",
        _OVERRUN.model_copy(update={"others_share": 0.43, "waited_share": 0.41}),
    ),
    BlameRow(
        LATE,
        _stalled,
        Verdict.VOID,
        _stalled_words,
        "it was late, the kernel stalled a process of the judge's own meanwhile, which no agent can reach, for more of "
        "the time than the policy's `clock.starved_share`, and the agent slept for at least `clock.waited_share` of "
        "that; for the time of the match, in this turn or in all of its turns together",
        _OVERRUN.model_copy(update={"stalled_share": 0.62, "slept_share": 0.7}),
    ),
    *(
        BlameRow(_one(cause), _always, Verdict(cause.value), _time_words(words), when, _OVERRUN)
        for cause, (words, when) in _TIME_WORDS.items()
    ),
    BlameRow(
        frozenset({Cause.RAN_ON, Cause.DEATH}),
        _reported("lost"),
        Verdict.VOID,
        lambda _: sentence("the container ended without a word of its PID 1: somebody outside ended it; play again"),
        "its container was ended from outside: the judge's own process in it could not report",
        Evidence(report="lost 0"),
    ),
    BlameRow(
        _one(Cause.RAN_ON),
        _always,
        Verdict.TURN_TIME,
        _ran_on_words,
        "it ran on when its turn was over: for the policy's `clock.still_ms`, before its opponent could begin, or "
        "while it was stopped, such as by the end of a process that a timer kills; and it used more processor time "
        "in this time than `clock.ran_on_ms`",
        Evidence(ran_on_ms=1000.2, ran_on_cpu_ms=998.7),
    ),
    BlameRow(
        _one(Cause.DEATH),
        _reported("exec-failed"),
        Verdict.CRASH,
        lambda evidence: sentence(f"could not be run: {os.strerror(_number_of(evidence))}"),
        "its program could not be executed",
        Evidence(report="exec-failed 2"),
    ),
    BlameRow(
        _one(Cause.DEATH),
        _reported("exited"),
        Verdict.CRASH,
        lambda evidence: sentence(f"exited with code {_number_of(evidence)} before the game was over"),
        "its process exited, with any code, and it was its turn",
        Evidence(report="exited 3"),
    ),
    BlameRow(
        _one(Cause.DEATH),
        _reported("signalled"),
        Verdict.CRASH,
        lambda evidence: sentence(f"was ended by signal {_signal_words(_number_of(evidence))}"),
        "a signal ended its process, its own SIGKILL included",
        Evidence(report="signalled 11"),
    ),
    BlameRow(
        _one(Cause.DEATH),
        _always,
        Verdict.CRASH,
        lambda _: sentence("closed its stdout before the game was over"),
        "its stdout ended, and so no answer can come, whether it lives on or not",
        Evidence(report="started 0"),
    ),
)
"""Exhaustive: every cause has a row that always holds."""


def judge(cause: Cause, evidence: Evidence, thresholds: Thresholds, seat: int) -> AgentFault | Void:
    """The verdict on `seat`."""
    for row in TABLE:
        if cause in row.causes and row.holds(evidence, thresholds):
            reason = row.because(evidence)
            if row.verdict is Verdict.VOID:
                return Void(reason)
            return AgentFault(row.verdict, seat, reason)
    raise AssertionError(f"the blame table has no row for {cause}")


def judge_failure(cause: Cause, detail: str) -> Void:
    """The verdict where no seat failed: `cause` is one of `NO_SEAT`, and `detail` says what happened."""
    verdict = judge(cause, Evidence(detail=detail), Thresholds(1, 1), NATURE)
    if not isinstance(verdict, Void):
        raise TypeError(f"{cause} is the failure of a seat")
    return verdict


def judge_start(seat: int, reply: Reply) -> AgentFault:
    """The verdict on a `seat` that answered its first command with something else than that it is ready."""
    verdict = Verdict.REFUSED if reply.kind is ReplyKind.REFUSED else Verdict.UNREADABLE
    return AgentFault(verdict, seat, sentence(f"would not start: {reply.said!r}"))


def _signal_words(number: int) -> str:
    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:
        return str(number)
