"""The blame table, a test a row: what was seen and what is known -> who is to blame."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.games.types import AgentFault, Verdict
from judge.referee.blame import LATE, NO_SEAT, TABLE, Cause, Void, judge, judge_failure
from judge.sandbox.evidence import Evidence, ProcessReport
from tests.examples import examples

STARVED_SHARE = 0.1

KILLED, REMOVED = ProcessReport("signalled", 9), ProcessReport("removed")
RAN_ON = Evidence(ran_on_ms=1000.4, ran_on_cpu_ms=990.6, others_share=1, held_by_others=True)
PAUSED = Evidence(charged_ms=1499.9, allowed_ms=1500, judge_paused_ms=4000, others_share=1, stalled_share=1)
PAUSED_AFTERWARDS = Evidence(charged_ms=1500, allowed_ms=1500, judge_paused_ms=4000)
KILLED_BELOW = {"oom_kills": 1, "reached_cap": False}
BELOW = Evidence.model_validate(KILLED_BELOW)
ABOVE = Evidence(kernel_peak_bytes=40 << 20, kernel_limit_bytes=27 << 20)
"""Of the kernel's memory."""

# (row that must decide, cause, evidence, verdict, a part of the reason)
ROWS = [
    ("host-failed", Cause.HOST, Evidence(detail="the Engine is gone"), Verdict.VOID, "the Engine is gone"),
    ("judge-failed", Cause.JUDGE, Evidence(detail="at 3 ms: KeyError"), Verdict.VOID, "failed at 3 ms: KeyError; "),
    ("kernel-memory", Cause.KERNEL_MEMORY, ABOVE, Verdict.MEMORY, "limit of 27.0 MiB (peak 40.0 MiB)"),
    ("kernel-memory", Cause.DEATH, ABOVE.model_copy(update=KILLED_BELOW), Verdict.MEMORY, "the kernel's memory"),
    ("kernel-memory", Cause.TURN_TIME, ABOVE.model_copy(update={"others_share": 1}), Verdict.MEMORY, "page tables"),
    ("host-memory", Cause.DEATH, BELOW.model_copy(update={"report": KILLED}), Verdict.VOID, "never at its cap"),
    ("host-memory", Cause.MEMORY, BELOW, Verdict.VOID, "check memory with `judge doctor`"),
    ("host-memory", Cause.RAN_ON, BELOW, Verdict.VOID, "too little memory"),
    ("memory", Cause.DEATH, Evidence(oom_kills=1, reached_cap=True), Verdict.MEMORY, "killed"),
    ("memory", Cause.TURN_TIME, Evidence(oom_kills=1), Verdict.MEMORY, "cap of ?"),
    ("memory", Cause.DEATH, Evidence(oom_kills=1, report=ProcessReport("lost")), Verdict.MEMORY, "killed"),
    ("memory", Cause.TURN_BYTES, Evidence(oom_kills=2), Verdict.MEMORY, "peak ?"),
    ("memory-event", Cause.MEMORY, Evidence(memory_cap_bytes=16 << 20), Verdict.MEMORY, "16.0 MiB"),
    ("kernel-memory-event", Cause.KERNEL_MEMORY, Evidence(), Verdict.MEMORY, "limit of ?"),
    ("turn-bytes", Cause.TURN_BYTES, Evidence(bytes_read=9), Verdict.OUTPUT, "9 bytes, more than the bound of a turn"),
    ("game-bytes", Cause.GAME_BYTES, Evidence(bytes_read=9), Verdict.OUTPUT, "bound of a game"),
    ("frozen-by-others", Cause.TURN_TIME, Evidence(held_by_others=True, others_share=0.5), Verdict.VOID, "held"),
    ("frozen-by-others", Cause.START_TIME, Evidence(held_by_others=True), Verdict.VOID, "do not touch it"),
    ("starved", Cause.START_TIME, Evidence(others_share=0.11), Verdict.VOID, "others took 11 %"),
    ("starved", Cause.TURN_TIME, Evidence(others_share=0.5), Verdict.VOID, "starved"),
    ("starved", Cause.MATCH_TIME, Evidence(others_share=1.0), Verdict.VOID, "starved"),
    ("starved", Cause.TURN_TIME, Evidence(others_share=0.5, waited_share=0.25), Verdict.VOID, "without a core for 25%"),
    ("turn-time", Cause.TURN_TIME, Evidence(others_share=0.5, waited_share=0.24), Verdict.TURN_TIME, "turn"),
    ("match-time", Cause.MATCH_TIME, Evidence(others_share=1.0, waited_share=0), Verdict.MATCH_TIME, "match"),
    ("start-time", Cause.START_TIME, Evidence(others_share=0.1), Verdict.START_TIME, "not ready in time"),
    (
        "turn-time",
        Cause.TURN_TIME,
        Evidence(charged_ms=1500.4, allowed_ms=1500),
        Verdict.TURN_TIME,
        "1500 ms of 1500 ms",
    ),
    ("match-time", Cause.MATCH_TIME, Evidence(), Verdict.MATCH_TIME, "the time of the match"),
    ("memory", Cause.RAN_ON, Evidence(oom_kills=1), Verdict.MEMORY, "killed"),
    (
        "ran-on",
        Cause.RAN_ON,
        RAN_ON,
        Verdict.TURN_TIME,
        "in 1000 ms of its opponent's time it used 991 ms of processor time",
    ),
    ("ran-on", Cause.RAN_ON, Evidence(ran_on_ms=1000.4), Verdict.TURN_TIME, "it used ? ms"),
    ("removed", Cause.RAN_ON, Evidence(report=REMOVED, ran_on_cpu_ms=40), Verdict.VOID, "another client"),
    ("removed", Cause.DEATH, Evidence(report=REMOVED), Verdict.VOID, "another client"),
    (
        "ran-on",
        Cause.RAN_ON,
        Evidence(report=ProcessReport("lost"), ran_on_cpu_ms=40),
        Verdict.TURN_TIME,
        "it used 40 ms",
    ),
    ("lost", Cause.DEATH, Evidence(report=ProcessReport("lost")), Verdict.CRASH, "its container ended while it ran"),
    (
        "not-executable",
        Cause.DEATH,
        Evidence(report=ProcessReport("exec-failed", 13)),
        Verdict.CRASH,
        "Permission denied",
    ),
    ("exited", Cause.DEATH, Evidence(report=ProcessReport("exited")), Verdict.CRASH, "exited with code 0"),
    ("signalled", Cause.DEATH, Evidence(report=KILLED), Verdict.CRASH, "signal 9 (SIGKILL)"),
    ("signalled", Cause.DEATH, Evidence(report=ProcessReport("signalled", 40)), Verdict.CRASH, "signal 40"),
    ("stdout-closed", Cause.DEATH, Evidence(), Verdict.CRASH, "closed its stdout"),
    ("host-stalled", Cause.START_TIME, Evidence(stalled_share=0.11), Verdict.VOID, "for 11% of the time"),
    (
        "host-stalled",
        Cause.TURN_TIME,
        Evidence(stalled_share=0.5, slept_share=0.25),
        Verdict.VOID,
        "and the agent slept for 25%",
    ),
    ("host-stalled", Cause.MATCH_TIME, Evidence(stalled_share=0, game_stalled_share=0.2), Verdict.VOID, "for 20%"),
    ("turn-time", Cause.TURN_TIME, Evidence(stalled_share=0.5, slept_share=0.24), Verdict.TURN_TIME, "turn"),
    ("turn-time", Cause.TURN_TIME, Evidence(stalled_share=0.1, slept_share=1), Verdict.TURN_TIME, "turn"),
    ("match-time", Cause.MATCH_TIME, Evidence(game_stalled_share=1, game_slept_share=0), Verdict.MATCH_TIME, "match"),
    ("judge-paused", Cause.TURN_TIME, PAUSED, Verdict.VOID, "the judge did not run for 4.0 s"),
    ("turn-time", Cause.TURN_TIME, PAUSED_AFTERWARDS, Verdict.TURN_TIME, "1500 ms of 1500 ms"),
    ("turn-time", Cause.TURN_TIME, Evidence(charged_ms=1400, allowed_ms=1500), Verdict.TURN_TIME, "turn"),
]


@pytest.mark.parametrize(("row", "cause", "evidence", "verdict", "words"), ROWS)
def test_row(row: str, cause: Cause, evidence: Evidence, verdict: Verdict, words: str) -> None:
    """The row that decides is the first that fits, and says why."""
    fits = [each.name for each in TABLE if cause in each.causes and each.holds(evidence, STARVED_SHARE)]
    assert row == fits[0]

    blame = judge(cause, evidence, STARVED_SHARE, seat=1)

    assert words in blame.reason
    if verdict is Verdict.VOID:
        assert isinstance(blame, Void)
    else:
        assert blame == AgentFault(verdict, 1, blame.reason)


def test_every_row_is_tested() -> None:
    assert sorted(row.name for row in TABLE) == sorted({row for row, *_ in ROWS})


SHARES = st.none() | st.floats(0, 1)


@settings(max_examples=examples(300))
@given(
    cause=st.sampled_from(sorted(LATE)),
    evidence=st.builds(
        Evidence,
        stalled_share=SHARES,
        slept_share=SHARES,
        game_stalled_share=SHARES,
        game_slept_share=SHARES,
        waited_share=SHARES,
        pressure_share=SHARES,
        host_pressure_share=SHARES,
    ),
)
def test_only_delays_of_the_judges_process_count_as_host_stalls(cause: Cause, evidence: Evidence) -> None:
    """Whatever an agent can raise (its sleep, its waiting, pressure, its host's too) makes no void without that."""
    of_others = [evidence.stalled_share or 0, evidence.game_stalled_share or 0]

    verdict = judge(cause, evidence, STARVED_SHARE, seat=0)

    if max(of_others) <= STARVED_SHARE:
        assert isinstance(verdict, AgentFault)
    least = {"slept_share": 1, "game_slept_share": 1}
    asleep = judge(cause, evidence.model_copy(update=least), STARVED_SHARE, seat=0)
    assert isinstance(asleep, Void) == (max(of_others) > STARVED_SHARE)


@pytest.mark.parametrize("cause", list(Cause))
def test_without_evidence_only_a_cause_of_the_host_is_void(cause: Cause) -> None:
    verdict = judge(cause, Evidence(), STARVED_SHARE, seat=0)

    assert isinstance(verdict, Void) == (cause in (Cause.HOST, Cause.JUDGE))


REPORTS = (None, "exited 0", "exited 137", "signalled 9", "signalled 19", "exec-failed 2", "lost 0")


@settings(max_examples=examples(300))
@given(
    cause=st.sampled_from(sorted(set(Cause) - NO_SEAT)),
    evidence=st.builds(
        Evidence,
        report=st.sampled_from(REPORTS),
        oom_kills=st.sampled_from([None, 0, 5]),
        others_share=st.just(0.0),
        stalled_share=st.just(0.0),
        slept_share=SHARES,
        game_slept_share=SHARES,
        pressure_share=SHARES,
        host_pressure_share=SHARES,
        bytes_read=st.integers(0, 1 << 30),
        cpu_ms=st.none() | st.integers(0, 1 << 30),
    ),
)
def test_nothing_an_agent_can_do_is_a_void(cause: Cause, evidence: Evidence) -> None:
    """Its own deaths, CPU time, floods and sleep, and pressure. A void needs others' CPU or hold, or a stall."""
    assert isinstance(judge(cause, evidence, STARVED_SHARE, seat=0), AgentFault)


def test_game_without_a_seat_fault_is_void_for_the_given_reason() -> None:
    assert Void("the disk is full") == judge_failure(Cause.HOST, "the disk is full")
    assert judge_failure(Cause.JUDGE, "at 1 ms: KeyError") == Void(
        "the judge failed at 1 ms: KeyError; this is a bug in judge: report it with the record and the server log"
    )


@pytest.mark.parametrize("cause", sorted(set(Cause) - NO_SEAT))
def test_the_failure_of_a_seat_is_judged_with_its_seat(cause: Cause) -> None:
    with pytest.raises(TypeError, match=f"{cause} is the failure of a seat"):
        judge_failure(cause, "")
