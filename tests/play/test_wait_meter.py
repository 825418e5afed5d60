"""What an agent causes others to use of its cores is not held against them: readings as hosts give them."""

import time
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import cast

import pytest

from judge.games.types import AgentFault
from judge.play.wait_meter import WaitMeter
from judge.referee.blame import Cause, judge
from judge.sandbox.box import Box, Meter
from judge.sandbox.evidence import Evidence
from judge.sandbox.host_activity.core_use import CoreUse, Use

SPAN_NS = 10**9


class ScriptedUse(CoreUse):
    """In place of the readings of a host with a hypervisor, and threads of the kernel that work."""

    def __init__(self) -> None:
        super().__init__([0])
        self.busy_ns = self.stolen_ns = self.threads_ns = 0
        self.interrupts_ns: int | None = None

    def now(self) -> Use:
        return Use(self.busy_ns, self.stolen_ns, self.interrupts_ns)

    def kernel_threads(self) -> Mapping[int, int]:
        return {2: self.threads_ns}

    def kernel_ns(self, before: Mapping[int, int]) -> int:
        return self.threads_ns - before[2]


class ScriptedMeter(Meter):
    """In place of the meter of a box whose processes wait for a disk."""

    def __init__(self, cpu_ns: int | None = 0) -> None:
        super().__init__()
        self.pressed_ns, self.used_ns = 0, cpu_ns

    def cpu_ns(self) -> int | None:
        return self.used_ns

    def waited_ns(self) -> int:
        return 0

    def pressure_ns(self, *, of_any: bool = False) -> int:
        return self.pressed_ns if of_any else 0


class Wait:
    """A wait for seat 0 of a judge whose clock the test sets, with scripted counters."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *meters: Meter, interrupts_ns: int | None = None) -> None:
        self.now = SPAN_NS
        monkeypatch.setattr(time, "monotonic_ns", lambda: self.now)
        self.use, self.meters = ScriptedUse(), meters or (ScriptedMeter(), ScriptedMeter())
        self.use.interrupts_ns = interrupts_ns
        boxes = cast("Sequence[Box]", [SimpleNamespace(meter=meter) for meter in self.meters])
        self.meter = WaitMeter(boxes, self.use, 1, None)
        self.meter.take_snapshot()
        self.meter.begin(0, self.now)
        self.deadline = self.now + SPAN_NS


@pytest.mark.parametrize(
    ("busy", "stolen", "threads", "pressed", "share"),
    [
        (0.4, 0, 0, 0, 0.4),  # processes of others
        (0.4, 0, 0, 1, 0.4),  # the same while it reads
        (0.4, 0, 0.3, 0, 0.1),
        (0.4, 0.4, 0, 0, 0.4),  # a hypervisor with other guests
        (0.4, 0.4, 0, 1, 0.0),  # a hypervisor that reads for it
        (0.4, 0.4, 0, 0.1, 0.3),
        (0.8, 0.4, 0.1, 0.3, 0.4),
        (0.1, 0, 0.3, 0, 0.0),
    ],
)
def test_own_load_is_not_counted_as_load_of_others(
    monkeypatch: pytest.MonkeyPatch, busy: float, stolen: float, threads: float, pressed: float, share: float
) -> None:
    seat_meter = ScriptedMeter()
    wait = Wait(monkeypatch, seat_meter, ScriptedMeter())
    wait.now = wait.meter.read_for_verdict(wait.now, wait.deadline)
    assert wait.now < wait.deadline - 0.9 * SPAN_NS
    assert wait.deadline == wait.meter.read_for_verdict(wait.now, wait.deadline)
    use = wait.use
    use.busy_ns, use.stolen_ns, use.threads_ns = (int(part * SPAN_NS) for part in (busy, stolen, threads))
    seat_meter.pressed_ns = int(pressed * SPAN_NS)
    wait.now += SPAN_NS
    assert wait.deadline == wait.meter.read_for_verdict(wait.now, wait.deadline), "once is enough"

    assert share == pytest.approx(wait.meter.shares(0)["others_share"], abs=1e-6)


@pytest.mark.parametrize(("before", "after", "share"), [(5, 5 + SPAN_NS // 4, 0.25), (None, None, None)])
def test_interrupts_are_a_share_of_the_wait_where_the_kernel_counts_them(
    monkeypatch: pytest.MonkeyPatch, before: int | None, after: int | None, share: float | None
) -> None:
    wait = Wait(monkeypatch, interrupts_ns=before)
    wait.use.interrupts_ns = after
    wait.now += SPAN_NS

    assert share == wait.meter.shares(0)["interrupt_share"]


@pytest.mark.parametrize(("ran_at", "missed"), [(0.0625, 0), (0.125, 0), (0.375, 0.25), (1, 0.875)])
def test_agent_may_have_waited_while_the_judge_did_not_run(
    monkeypatch: pytest.MonkeyPatch, ran_at: float, missed: float
) -> None:
    wait = Wait(monkeypatch)
    start = wait.now
    assert wait.meter.read_for_verdict(wait.now, wait.deadline) < wait.deadline
    wait.now = start + int(ran_at * SPAN_NS)
    assert wait.deadline == wait.meter.read_for_verdict(wait.now, wait.deadline)
    wait.use.busy_ns = SPAN_NS // 2
    wait.now = start + SPAN_NS

    shares = wait.meter.shares(0)
    measured = 1 - ran_at
    assert missed / (measured + missed) == pytest.approx(shares["waited_share"])
    assert (0.5 if missed else 0.5 / measured) == pytest.approx(shares["others_share"])


def test_judge_that_ran_missed_nothing_if_the_deadline_moves_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    """A brain answers RESTART, which may take long, and then has a short turn."""
    wait = Wait(monkeypatch)
    start = wait.now
    assert wait.now < wait.meter.read_for_verdict(wait.now, start + 30 * SPAN_NS)
    wait.now = start + int(1.8 * SPAN_NS)
    assert wait.now < wait.meter.read_for_verdict(wait.now, start + 30 * SPAN_NS)
    deadline = start + int(6.8 * SPAN_NS)
    assert deadline == wait.meter.read_for_verdict(wait.now, deadline)
    wait.now = deadline

    assert 0 == wait.meter.shares(0)["waited_share"]


@pytest.mark.parametrize("allowed_ns", [0, 1, 10**6, 5 * 10**6, 2 * 10**7])
@pytest.mark.parametrize("slow_ns", [0, 10**6])
def test_agent_that_sleeps_through_a_short_time_was_not_starved(
    monkeypatch: pytest.MonkeyPatch, allowed_ns: int, slow_ns: int
) -> None:
    """The use of a processor grows in steps of 10 ms, and the judge wakes up too late by 1 ms."""
    wait = Wait(monkeypatch)
    deadline = wait.now + allowed_ns
    while wait.now < deadline:
        wait.now = wait.meter.read_for_verdict(wait.now, deadline) + slow_ns
    wait.meter.read_for_verdict(wait.now, deadline)
    wait.use.busy_ns = 10**7
    wait.now += 1

    evidence = Evidence(charged_ms=1, allowed_ms=1).model_copy(update=wait.meter.shares(0))
    assert isinstance(judge(Cause.MATCH_TIME, evidence, 0.1, 0), AgentFault)


@pytest.mark.parametrize("seat", [0, 1])
def test_unknown_agent_usage_is_not_charged_to_others(monkeypatch: pytest.MonkeyPatch, seat: int) -> None:
    """Else whoever thinks too long would seem to be starved."""
    meters = [ScriptedMeter(), ScriptedMeter()]
    meters[seat] = ScriptedMeter(None)
    wait = Wait(monkeypatch, *meters)
    wait.use.busy_ns = SPAN_NS
    wait.now += SPAN_NS

    assert wait.meter.shares(0)["others_share"] is None
