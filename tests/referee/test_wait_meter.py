"""What an agent causes others to use of its cores is not held against them: readings as hosts give them."""

import time
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import cast

import pytest

from judge.referee.wait_meter import WaitMeter
from judge.sandbox.box import Box, Meter
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


def metered(*meters: Meter) -> Sequence[Box]:
    """Boxes with these counters."""
    return cast("Sequence[Box]", [SimpleNamespace(meter=meter) for meter in meters])


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
    now = [SPAN_NS]
    monkeypatch.setattr(time, "monotonic_ns", lambda: now[0])
    use, meters = ScriptedUse(), [ScriptedMeter(), ScriptedMeter()]
    meter = WaitMeter(metered(*meters), use, 1, None)
    meter.look()
    meter.begin(0, now[0])
    deadline = now[0] + SPAN_NS
    now[0] = meter.look_closer(now[0], deadline)
    assert now[0] < deadline - 0.9 * SPAN_NS
    assert deadline == meter.look_closer(now[0], deadline)
    use.busy_ns, use.stolen_ns, use.threads_ns = (int(part * SPAN_NS) for part in (busy, stolen, threads))
    meters[0].pressed_ns = int(pressed * SPAN_NS)
    now[0] += SPAN_NS
    assert deadline == meter.look_closer(now[0], deadline), "once is enough"

    assert share == pytest.approx(meter.shares(0).others_share, abs=1e-6)


@pytest.mark.parametrize(("before", "after", "share"), [(5, 5 + SPAN_NS // 4, 0.25), (None, None, None)])
def test_interrupts_are_a_share_of_the_wait_where_the_kernel_counts_them(
    monkeypatch: pytest.MonkeyPatch, before: int | None, after: int | None, share: float | None
) -> None:
    now = [SPAN_NS]
    monkeypatch.setattr(time, "monotonic_ns", lambda: now[0])
    use = ScriptedUse()
    use.interrupts_ns = before
    meter = WaitMeter(metered(ScriptedMeter(), ScriptedMeter()), use, 1, None)
    meter.look()
    meter.begin(0, now[0])
    use.interrupts_ns = after
    now[0] += SPAN_NS

    assert share == meter.shares(0).interrupt_share


def test_a_judge_that_did_not_run_measures_from_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [SPAN_NS]
    monkeypatch.setattr(time, "monotonic_ns", lambda: now[0])
    use = ScriptedUse()
    meter = WaitMeter(metered(ScriptedMeter(), ScriptedMeter()), use, 1, None)
    meter.look()
    meter.begin(0, now[0])
    deadline = now[0] + SPAN_NS
    assert meter.look_closer(now[0], deadline) < deadline
    use.busy_ns = SPAN_NS // 2
    now[0] += SPAN_NS - 1
    assert deadline == meter.look_closer(now[0], deadline)

    assert (0.5, None) == pytest.approx(meter.shares(0)[:2])


@pytest.mark.parametrize("seat", [0, 1])
def test_unknown_agent_usage_is_not_charged_to_others(monkeypatch: pytest.MonkeyPatch, seat: int) -> None:
    """Else whoever thinks too long would seem to be starved."""
    now = [SPAN_NS]
    monkeypatch.setattr(time, "monotonic_ns", lambda: now[0])
    use, meters = ScriptedUse(), [ScriptedMeter(), ScriptedMeter()]
    meters[seat] = ScriptedMeter(None)
    meter = WaitMeter(metered(*meters), use, 1, None)
    meter.look()
    meter.begin(0, now[0])
    use.busy_ns = SPAN_NS
    now[0] += SPAN_NS

    assert meter.shares(0).others_share is None
