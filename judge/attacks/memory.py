"""Attacks on the cap of memory (B): images/attacks/memory.c."""

from dataclasses import replace

from judge.attacks.attack import BY_ITSELF, Attack, Control, Expected, Observed
from judge.attacks.weak_box import allowing
from judge.games.types import Verdict

SMALL = {"limits": {"memory_bytes": 64 << 20}}
OVER = "200"
"""MiB, more than the small cap and the writable directories together."""
SPIKE = 48

LARGE = Control(off="the cap: it is 512 MiB", policy={"limits": {"memory_bytes": 512 << 20}})
SPREAD = "an agent could use up the host's memory, and others would die for it"


def _peak_is_the_cap(seen: Observed) -> str:
    evidence = seen.record.seats[0].evidence
    peak, cap = (0, 0) if evidence is None else (evidence.memory_peak_bytes, evidence.memory_cap_bytes)
    if not peak or not cap:
        return "peak or cap are not in the evidence"
    return "" if 0.8 * cap < peak <= cap else f"the peak {peak} is not at the cap {cap}"


def _spike_is_seen(seen: Observed) -> str:
    peak = seen.record.seats[0].memory_peak_bytes or 0
    return "" if peak >= SPIKE << 20 else f"the record has a peak of {peak} bytes only"


OVER_THE_CAP = Expected(verdict=Verdict.MEMORY, because="cap of", proof=_peak_is_the_cap)

ON_MEMORY = (
    Attack(
        id="B1", title="takes memory", program="memory", words=("eat", OVER),
        danger=SPREAD, policy=SMALL, expected=OVER_THE_CAP, control=LARGE,
    ),
    Attack(
        id="B3", title="splits it over sixteen children", program="memory", words=("children", OVER),
        danger=SPREAD, policy=SMALL, expected=OVER_THE_CAP, control=LARGE,
    ),
    Attack(
        id="B4", title="takes memory that belongs to no process", program="memory", words=("shared", OVER),
        danger=SPREAD, policy=SMALL, expected=OVER_THE_CAP, control=LARGE,
    ),
    Attack(
        id="B9", title="has the kernel swap out what it takes", program="memory", words=("swap", OVER),
        danger="an agent could use more than others, and slow the host for all", policy=SMALL,
        expected=replace(OVER_THE_CAP, denied=("pageout",)), engine_allows=("pageout",),
        control=replace(
            LARGE, off="the cap, and the denial of swapping out", weaken=allowing("madvise"),
            expected=Expected(got=("pageout",)),
        ),
    ),
    Attack(
        id="B10", title="has a child killed for it and lives on", program="memory", words=("victim", OVER),
        danger="an agent could overrun its memory as often as it likes", policy=SMALL, expected=OVER_THE_CAP,
        control=LARGE,
    ),
    Attack(
        id="B12", title="takes memory for a moment only", program="memory", words=("spike", str(SPIKE)),
        danger="the memory in a record would mean nothing", expected=Expected(proof=_spike_is_seen),
        control=BY_ITSELF + "the kernel keeps the peak",
    ),
)  # fmt: skip
