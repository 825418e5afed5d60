"""Attacks on the opponent's time (O), by system calls that nothing interrupts: images/attacks/calls.c.

The attacker answers in time. It is its opponent who must not lose, nor be blamed, nor be charged for it.
"""

from dataclasses import replace

from judge.attacks.attack import BY_ITSELF, NOT_PERMITTED, Attack, Control, Expected, Observed, Opponent
from judge.attacks.weak_box import unfiltered
from judge.games.types import Verdict
from judge.referee.transcript import EntryKind
from judge.referee.wire import RanOn

LONGEST = ("page-table", "511")
"""Most of a second on the host that this was written on; no filter can tell it from a small one."""

ROBBED = "an honest agent would lose by the time that its opponent took"
LONG_MS = 50
"""A part of such a call, also on a host that is ten times as fast."""
STRICT = {"clock": {"still_ms": LONG_MS}}
"""Who runs on for so long loses."""

RAN_ON = Expected(verdict=Verdict.TURN_TIME, because="did not stand still when its turn was over")
THINKS_MS = 200
NOBODY_WAITS = {"clock": {"still_ms": 1, "ran_on_ms": 10**6, "turn_ms": THINKS_MS}}
"""The opponent, which thinks for two thirds of what it has, shares its core with the call."""


def _is_charged(seen: Observed) -> str:
    """The attacker pays for the processor time that it ran on with; its opponent has none to pay for."""
    used_ms = [0.0, 0.0]
    for entry in seen.entries:
        if entry.kind is EntryKind.RAN_ON:
            used_ms[entry.seat] += (RanOn.decode(entry.data).cpu_ns or 0) / 1e6
    attacker, opponent = used_ms
    if attacker < LONG_MS or opponent > attacker / 2:
        return f"it ran on for {attacker:.0f} ms, and its opponent for {opponent:.0f} ms"
    charged = seen.record.seats[0].charged_ms
    return "" if charged >= attacker else f"it was charged {charged:.0f} of {attacker:.0f} ms"


def _box_outlived_the_game(seen: Observed) -> str:
    lingered = seen.record.seats[0].lingered_ms
    return "" if lingered > 0 else "its box was gone before it was left"


ON_THE_OPPONENT = (
    Attack(
        id="O1", title="makes a long system call behind its answer", program="calls", words=("in-the-turn", *LONGEST),
        danger=ROBBED, policy=STRICT, opponent=Opponent("work", THINKS_MS), expected=RAN_ON,
        control=Control(
            off="waiting until it stands still", policy=NOBODY_WAITS,
            expected=Expected(verdict=Verdict.TURN_TIME, against_opponent=True, because="did not answer"),
        ),
    ),
    Attack(
        id="O1.charged", title="makes a long system call behind its answer, shorter than is waited for",
        program="calls", words=("in-the-turn", *LONGEST), danger=ROBBED, policy={"clock": {"still_ms": 60000}},
        expected=Expected(proof=_is_charged), control=BY_ITSELF + "O1 shows who loses where nobody waits",
    ),
    Attack(
        id="O2", title="makes a long system call in its opponent's start-up", program="calls",
        words=("in-the-start", *LONGEST), danger=ROBBED, policy=STRICT, expected=RAN_ON,
        control=BY_ITSELF + "its opponent is not started before it stands still",
    ),
    Attack(
        id="O3", title="makes a long system call when the game is over, so that it cannot be killed", program="calls",
        words=("at-the-end", *LONGEST), danger="an agent could turn a lost game into a void, and stop a contest",
        policy={"clock": {"close_ms": 1}}, expected=Expected(proof=_box_outlived_the_game),
        control=BY_ITSELF + "a verdict stands before a box is closed",
    ),
    Attack(
        id="O4.mincore", title="asks of terabytes which pages are in memory, behind its answer", program="calls",
        words=("in-the-turn", "mincore", "20"), danger=ROBBED, engine_allows=("mincore",),
        expected=Expected(denied=("mincore",)),
        control=Control(
            off="the filter of system calls, and the limit of address space", weaken=unfiltered,
            policy={"limits": {"address_bytes": 0}}, expected=replace(RAN_ON, got=("mincore",)),
        ),
    ),
    Attack(
        id="O4.engine", title="makes the Engine's pause fail, behind its answer", program="calls",
        words=("in-the-turn", "mincore", "40"), danger="an agent could make a game void in the middle",
        policy={"box": {"freeze": "engine"}}, engine_allows=("mincore",), is_quick=False,
        expected=Expected(denied=("mincore",)),
        control=Control(
            off="the filter of system calls, and the limit of address space", weaken=unfiltered,
            policy={"limits": {"address_bytes": 0}}, expected=replace(RAN_ON, got=("mincore",)),
        ),
    ),
    Attack(
        id="O4.populate", title="maps tens of gigabytes of zeros, behind its answer", program="calls",
        words=("in-the-turn", "populate", "20"), danger=ROBBED, engine_allows=("populate",),
        expected=Expected(denied=("populate",), by=NOT_PERMITTED | {"EINVAL"}),
        control=Control(
            off="the filter of system calls, and the limit of address space", weaken=unfiltered,
            policy={"clock": {"still_ms": 200}, "limits": {"address_bytes": 0}},
            expected=replace(RAN_ON, got=("populate",)),
        ),
    ),
)  # fmt: skip
