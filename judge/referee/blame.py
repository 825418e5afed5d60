"""The blame table: maps (cause, evidence) to a verdict for every game that the rules did not end.

Rows are in order of precedence; the first match decides. See decisions 0004 and 0005. Texts explain each verdict to
authors and organisers.
"""

import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from judge.base.text import mib, sentence
from judge.games.types import NATURE, AgentFault, Reply, ReplyKind, Verdict
from judge.sandbox.evidence import Evidence as Evidence
from judge.sandbox.evidence import ProcessReport, host_memory_words


class Cause(StrEnum):
    """Why the referee could not continue with a seat."""

    HOST = "host"
    JUDGE = "judge"
    MEMORY = "memory"
    KERNEL_MEMORY = "kernel-memory"
    TURN_BYTES = "turn-bytes"
    GAME_BYTES = "game-bytes"
    START_TIME = "start-time"
    TURN_TIME = "turn-time"
    MATCH_TIME = "match-time"
    RAN_ON = "ran-on"
    DEATH = "death"
    """The process exited, or its stdout was closed."""


@dataclass(frozen=True, slots=True)
class Void:
    """The game does not count. `reason` includes the fix."""

    reason: str


@dataclass(frozen=True, slots=True)
class BlameRow:
    """`verdict` applies if the cause is in `causes` and `holds` is true. Reports and the corpus refer to `name`."""

    name: str
    causes: frozenset[Cause]
    holds: Callable[[Evidence, float], bool]
    verdict: Verdict
    because: Callable[[Evidence], str]
    when: str
    example: Evidence


WAITED_SHARE = 0.5
"""An overrun is void only if the agent waited for a core, or slept, for this share of the time that was taken."""

LATE = frozenset({Cause.START_TIME, Cause.TURN_TIME, Cause.MATCH_TIME})

LATE_OR_DEAD = LATE | {Cause.DEATH}
"""These do not count if the opponent ran in the seat's time."""

NO_SEAT = frozenset({Cause.HOST, Cause.JUDGE})

_ANY_FAULT = frozenset(Cause) - NO_SEAT


def _always(_evidence: Evidence, _starved_share: float) -> bool:
    return True


def _starved(evidence: Evidence, starved_share: float) -> bool:
    taken, waited = evidence.others_share, evidence.waited_share
    if taken is None or taken <= starved_share:
        return False
    return waited is None or waited >= WAITED_SHARE * taken


def _judge_paused(evidence: Evidence, _starved_share: float) -> bool:
    return bool(evidence.judge_paused_ms) and evidence.charged_ms < evidence.allowed_ms


def _stalled(evidence: Evidence, starved_share: float) -> bool:
    return any(
        stalled is not None and stalled > starved_share and (slept is None or slept >= WAITED_SHARE * stalled)
        for stalled, slept in _stalls_of(evidence)
    )


def _stalls_of(evidence: Evidence) -> list[tuple[float | None, float | None]]:
    return [(evidence.stalled_share, evidence.slept_share), (evidence.game_stalled_share, evidence.game_slept_share)]


def _reported(*kinds: str) -> Callable[[Evidence, float], bool]:
    return lambda evidence, _: evidence.report is not None and evidence.report.kind in kinds


def _number_of(evidence: Evidence) -> int:
    return 0 if evidence.report is None else evidence.report.number


def _killed_below_cap(evidence: Evidence, _starved_share: float) -> bool:
    return bool(evidence.oom_kills) and evidence.reached_cap is False


def _beyond_kernel_limit(evidence: Evidence, _starved_share: float) -> bool:
    peak, limit = evidence.kernel_peak_bytes, evidence.kernel_limit_bytes
    return peak is not None and limit is not None and peak > limit


def _kernel_memory_words(evidence: Evidence) -> str:
    peak, limit = mib(evidence.kernel_peak_bytes), mib(evidence.kernel_limit_bytes)
    return sentence(
        f"used more of the kernel's memory than its limit of {limit} (peak {peak}); sockets, threads, mappings and "
        "page tables count"
    )


def _memory_words(evidence: Evidence) -> str:
    peak, cap = mib(evidence.memory_peak_bytes), mib(evidence.memory_cap_bytes)
    return sentence(f"used more memory than its cap of {cap} (peak {peak}); the kernel killed it")


def _time_words(what: str) -> Callable[[Evidence], str]:
    def because(evidence: Evidence) -> str:
        return sentence(f"{what}: {evidence.charged_ms:.0f} ms of {evidence.allowed_ms} ms allowed, tolerance included")

    return because


def _ran_on_words(evidence: Evidence) -> str:
    if evidence.lingered_cpu_ms is not None:
        return sentence(
            f"did not end when it was killed: in {evidence.lingered_ms or 0:.0f} ms after that "
            f"it used {evidence.lingered_cpu_ms:.0f} ms of processor time"
        )
    if evidence.stopped_cpu_ms is not None:
        return sentence(
            f"did not stop when its turns were over: in {evidence.stopped_turns} turns of its opponent "
            f"it used {evidence.stopped_cpu_ms:.0f} ms of processor time"
        )
    used = "?" if evidence.ran_on_cpu_ms is None else f"{evidence.ran_on_cpu_ms:.0f}"
    return sentence(
        f"did not stop when its turn was over: in {evidence.ran_on_ms or 0:.0f} ms of its opponent's time "
        f"it used {used} ms of processor time"
    )


def _starved_words(evidence: Evidence) -> str:
    share = (evidence.others_share or 0) * 100
    waited = (
        ""
        if evidence.waited_share is None
        else sentence(f", and it was without a core for {evidence.waited_share:.0%}")
    )
    return sentence(
        f"the agent was starved: others took {share:.0f} % of its cores during its time{waited}; free the slot's cores"
    )


def _judge_paused_words(evidence: Evidence) -> str:
    seconds = (evidence.judge_paused_ms or 0) / 1000
    return sentence(
        f"the judge did not run for {seconds:.1f} s during the agent's time, so the time of its answer is unknown; "
        "do not stop the judge (Ctrl-Z, a suspended job or machine) during a game"
    )


def _stalled_words(evidence: Evidence) -> str:
    stalled, slept = max(_stalls_of(evidence), key=lambda shares: shares[0] or 0)
    asleep = "" if slept is None else sentence(f", and the agent slept for {slept:.0%}")
    return sentence(
        f"the host stalled: for {stalled or 0:.0%} of the time that the agent had, the judge's probe process got no "
        f"memory, thread or disk block{asleep}; check stalls, memory and disks with `judge doctor`"
    )


def _bytes_words(what: str) -> Callable[[Evidence], str]:
    return lambda evidence: sentence(f"printed what counts as {evidence.bytes_read} bytes, more than the bound {what}")


_TIME_WORDS = {
    Cause.START_TIME: (sentence("was not ready in time"), "it was not ready before the end of its start-up time"),
    Cause.TURN_TIME: (
        sentence("did not answer within the turn"),
        "no complete answer arrived before the end of the turn and its tolerance",
    ),
    Cause.MATCH_TIME: (
        sentence("used up the time of the match"),
        "its turns, and without a time control its start-up, took more than the match allows",
    ),
}
_BYTES_WORDS = {
    Cause.TURN_BYTES: (sentence("of a turn"), "it printed more since its last answer than a turn allows"),
    Cause.GAME_BYTES: (sentence("of a game"), "it printed more in the whole game than a game allows"),
}
_OVERRUN = Evidence(charged_ms=6000.4, allowed_ms=6000, others_share=0.01, cpu_ms=5900)
_KERNEL_USE = Evidence(kernel_peak_bytes=40 << 20, kernel_limit_bytes=27 << 20)
_KILLED = Evidence(oom_kills=1, memory_peak_bytes=400 << 20, memory_cap_bytes=400 << 20)


TABLE: tuple[BlameRow, ...] = (
    BlameRow(
        "host-failed",
        frozenset({Cause.HOST}),
        _always,
        Verdict.VOID,
        lambda evidence: evidence.detail,
        "the Engine, the kernel or a disk of the judge failed",
        Evidence(detail="the Engine does not answer; see that it runs"),
    ),
    BlameRow(
        "judge-failed",
        frozenset({Cause.JUDGE}),
        _always,
        Verdict.VOID,
        lambda evidence: sentence(
            f"the judge failed {evidence.detail}; this is a bug in judge: report it with the record and the server log"
        ),
        "the judge itself failed, because of a bug",
        Evidence(detail="before any output of an agent: TypeError"),
    ),
    BlameRow(
        "kernel-memory",
        _ANY_FAULT,
        _beyond_kernel_limit,
        Verdict.MEMORY,
        _kernel_memory_words,
        "the kernel's own memory for its box exceeded the limit, which is 16 MiB and 1/32 of `limits.memory_bytes`. An "
        "agent could otherwise use much more memory than its cap, because the kernel charges objects and not their "
        "pages. This takes precedence over a kill below the cap, which such an agent can cause",
        _KERNEL_USE,
    ),
    BlameRow(
        "host-memory",
        _ANY_FAULT,
        _killed_below_cap,
        Verdict.VOID,
        host_memory_words,
        "the kernel killed a process of its box for memory, and the box never reached its own cap: the host, or a "
        "cgroup above the box, has too little memory. No evidence attributes this to a seat, so no seat loses. "
        "Memory that is not charged to an agent is bounded, so an agent cannot cause it",
        Evidence(oom_kills=1, memory_peak_bytes=20 << 20, memory_cap_bytes=400 << 20, reached_cap=False),
    ),
    BlameRow(
        "memory",
        _ANY_FAULT,
        lambda evidence, _: bool(evidence.oom_kills),
        Verdict.MEMORY,
        _memory_words,
        "the kernel killed a process of its box for memory; this takes precedence over other faults",
        _KILLED,
    ),
    BlameRow(
        "memory-event",
        frozenset({Cause.MEMORY}),
        _always,
        Verdict.MEMORY,
        _memory_words,
        "the kernel reported an out-of-memory kill during the game",
        _KILLED,
    ),
    BlameRow(
        "kernel-memory-event",
        frozenset({Cause.KERNEL_MEMORY}),
        _always,
        Verdict.MEMORY,
        _kernel_memory_words,
        "the judge found the kernel's own memory for its box above that limit during the game",
        _KERNEL_USE,
    ),
    *(
        BlameRow(
            cause.value,
            frozenset({cause}),
            _always,
            Verdict.OUTPUT,
            _bytes_words(words),
            when,
            Evidence(bytes_read=1 << 21),
        )
        for cause, (words, when) in _BYTES_WORDS.items()
    ),
    BlameRow(
        "frozen-by-others",
        LATE,
        lambda evidence, _: bool(evidence.held_by_others),
        Verdict.VOID,
        lambda _: sentence("the agent was held still: another process froze or paused its container; do not touch it"),
        "it was late, and another process had frozen or paused its container",
        _OVERRUN.model_copy(update={"held_by_others": True}),
    ),
    BlameRow(
        "judge-paused",
        LATE,
        _judge_paused,
        Verdict.VOID,
        _judge_paused_words,
        "its answer was read after the deadline, the judge's process was paused before it, and the answer is in time "
        "if the pause is not counted. An agent that is late even without the pause loses",
        _OVERRUN.model_copy(update={"charged_ms": 1500.0, "judge_paused_ms": 4000.0}),
    ),
    BlameRow(
        "starved",
        LATE,
        _starved,
        Verdict.VOID,
        _starved_words,
        "it was late, other processes took more of its cores than the policy's `clock.starved_share`, and it waited "
        "for a core for at least half of what they took",
        _OVERRUN.model_copy(update={"others_share": 0.43, "waited_share": 0.41}),
    ),
    BlameRow(
        "host-stalled",
        LATE,
        _stalled,
        Verdict.VOID,
        _stalled_words,
        "it was late, the kernel stalled the judge's probe process, which no agent can reach, for more of the time "
        "than the policy's `clock.starved_share`, and the agent slept for at least half of the stall. "
        "For `match-time`, this turn or all its turns together count",
        _OVERRUN.model_copy(update={"stalled_share": 0.62, "slept_share": 0.7}),
    ),
    *(
        BlameRow(cause.value, frozenset({cause}), _always, Verdict(cause.value), _time_words(words), when, _OVERRUN)
        for cause, (words, when) in _TIME_WORDS.items()
    ),
    BlameRow(
        "removed",
        frozenset({Cause.RAN_ON, Cause.DEATH}),
        _reported("removed"),
        Verdict.VOID,
        lambda _: sentence("another client of the Engine ended its container; do not touch it, and play again"),
        "another client of the Engine killed, stopped or removed its container, which the Engine's events show",
        Evidence(report=ProcessReport("removed")),
    ),
    BlameRow(
        "ran-on",
        frozenset({Cause.RAN_ON}),
        _always,
        Verdict.TURN_TIME,
        _ran_on_words,
        "it kept running after its turn, and used more than 20 ms of processor time in this time: either for 1 s "
        "before its opponent could begin, or while it was stopped, for example because a timer ended one of its "
        "processes. In all turns of its opponent together, it may use as much, or 5 ms a turn if that is more. After "
        "the kill of a box, 1 s of processor time is the bound; then the game's result is unchanged, and this counts "
        "as a failure",
        Evidence(ran_on_ms=1000.2, ran_on_cpu_ms=998.7),
    ),
    BlameRow(
        "not-executable",
        frozenset({Cause.DEATH}),
        _reported("exec-failed"),
        Verdict.CRASH,
        lambda evidence: sentence(f"could not be run: {os.strerror(_number_of(evidence))}"),
        "its program could not be executed",
        Evidence(report=ProcessReport("exec-failed", 2)),
    ),
    BlameRow(
        "exited",
        frozenset({Cause.DEATH}),
        _reported("exited"),
        Verdict.CRASH,
        lambda evidence: sentence(f"exited with code {_number_of(evidence)} before the game was over"),
        "its process exited during its turn, with any exit code",
        Evidence(report=ProcessReport("exited", 3)),
    ),
    BlameRow(
        "signalled",
        frozenset({Cause.DEATH}),
        _reported("signalled"),
        Verdict.CRASH,
        lambda evidence: sentence(f"was ended by signal {_signal_words(_number_of(evidence))}"),
        "a signal ended its process, including a SIGKILL that it sent itself",
        Evidence(report=ProcessReport("signalled", 11)),
    ),
    BlameRow(
        "lost",
        frozenset({Cause.DEATH}),
        _reported("lost"),
        Verdict.CRASH,
        lambda _: sentence(
            "its container ended while it ran, and neither the Engine nor the kernel was asked to end it"
        ),
        "its container ended while it ran, without a report of PID 1. The judge did not end it, the Engine shows no "
        "kill, and the kernel counted none for memory. Otherwise an agent that finds a way to end its container could "
        "make a game void",
        Evidence(report=ProcessReport("lost")),
    ),
    BlameRow(
        "stdout-closed",
        frozenset({Cause.DEATH}),
        _always,
        Verdict.CRASH,
        lambda _: sentence("closed its stdout before the game was over"),
        "its stdout was closed, so no answer can arrive, even if it keeps running",
        Evidence(report=ProcessReport("started")),
    ),
)
"""Every cause has a row that always matches."""


def judge(cause: Cause, evidence: Evidence, starved_share: float, seat: int) -> AgentFault | Void:
    """The verdict on `seat`."""
    for row in TABLE:
        if cause in row.causes and row.holds(evidence, starved_share):
            reason = row.because(evidence)
            if row.verdict is Verdict.VOID:
                return Void(reason)
            return AgentFault(row.verdict, seat, reason)
    raise AssertionError(f"the blame table has no row for {cause}")


def judge_failure(cause: Cause, detail: str) -> Void:
    """The verdict for a cause in `NO_SEAT`."""
    verdict = judge(cause, Evidence(detail=detail), 1, NATURE)
    if not isinstance(verdict, Void):
        raise TypeError(f"{cause} is the failure of a seat")
    return verdict


def judge_start(seat: int, reply: Reply) -> AgentFault:
    """The verdict on a seat that rejected its first command."""
    verdict = Verdict.REFUSED if reply.kind is ReplyKind.REFUSED else Verdict.UNREADABLE
    return AgentFault(verdict, seat, sentence(f"would not start: {reply.said!r}"))


def _signal_words(number: int) -> str:
    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:
        return str(number)


RULED: Mapping[Verdict, tuple[str, str]] = {
    Verdict.WIN: ("A player has won by the rules.", ""),
    Verdict.DRAW: ("The game is drawn by the rules, or it is over without a winner.", ""),
    Verdict.FOUL: (
        "A player made a move that loses by the rules, such as a forbidden move of renju.",
        sentence("Your program uses other rules than the contest."),
    ),
    Verdict.ILLEGAL: (
        "The answer is readable but not allowed: an occupied square, a wrong count, a piece that cannot go there.",
        sentence(
            "Compare the request and your reply in the record, and check your board after a restart or an opening."
        ),
    ),
    Verdict.UNREADABLE: (
        "The answer cannot be parsed: `8,8,1`, half a move, words after a move.",
        sentence("Print exactly the answers of the protocol, one per line, and nothing else on stdout."),
    ),
    Verdict.RESIGNED: ("The agent gave up with the protocol's word for it.", ""),
    Verdict.REFUSED: (
        "The agent answered a mandatory command, such as the start, with ERROR or UNKNOWN.",
        sentence("Support the board sizes, rules and commands of the contest; see its policy."),
    ),
}
"""(meaning, advice) of verdicts of the game or the protocol."""

FAULTS: Mapping[Verdict, str] = {
    Verdict.START_TIME: sentence("Answer the first command at once and load tables afterwards; see `clock.start_ms`."),
    Verdict.TURN_TIME: sentence(
        "Leave a margin, check the clock more often, and flush your output after every line, because the judge cannot "
        "see an answer in a buffer. See `clock.turn_ms` and `clock.tolerance_ms`. You are frozen after your answer: "
        "start no long system call that cannot be interrupted."
    ),
    Verdict.MATCH_TIME: sentence("Divide your time: INFO time_left gives the remaining time before each move."),
    Verdict.MEMORY: sentence(
        "All processes and threads, shared memory, and the files in the agent's folders count. Choose the size of "
        "tables by INFO max_memory and leave room. See `limits.memory_bytes`."
    ),
    Verdict.OUTPUT: sentence("Print less, and print debug output on stderr. See `[bytes]`."),
    Verdict.CRASH: sentence("The record's evidence has the exit code or signal, and stderr is stored for you."),
    Verdict.VOID: sentence(
        "The judge or its host is at fault: the game is not scored and is played again. Organisers: the reason "
        "includes the fix."
    ),
}


def fix_of(verdict: Verdict) -> str:
    """Return advice on a verdict, or ""."""
    return FAULTS.get(verdict) or RULED.get(verdict, ("", ""))[1]
