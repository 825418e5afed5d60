"""Attacks on the judge's own time (I7, I8, O10, A14, V12): images/attacks/requests.c."""

from dataclasses import replace

from judge.attacks.attack import Attack, Control, Expected, Observed, Opponent
from judge.attacks.cpu import FARMED, LATE, LONGER, PATIENT, SPAN, TURN
from judge.attacks.fixtures import beside_the_judge, many_watches
from judge.attacks.streams import WIDE
from judge.attacks.weak_box import allowing
from judge.attacks.weak_judge import SpinningWire, UnreadWire, UnwatchedWire, hasty_referee
from judge.games.types import Verdict
from judge.referee.transcript import EntryKind

WATCHES = ("60", "60", "60")
"""Processes, duplicates of stdin, and epolls per duplicate: 216,000 watches."""
FEWER_WATCHES = ("60", "20", "20")
OTHERS_WAIT = "games of other slots would be answered late, because their judge has the same core"

IDLE_MS = 400.0
BUSY_MS = 800.0
DEAF = {"clock": {"turn_ms": 2500}}

SPARE_BYTES = 4096
"""The answer, and a read in progress."""
CHUNK_BYTES = 16384


def _judge_rests(seen: Observed) -> str:
    return "" if seen.judge_cpu_ms < IDLE_MS else f"the judge used {seen.judge_cpu_ms:.0f} ms of processor time"


def _judge_spins(seen: Observed) -> str:
    return "" if seen.judge_cpu_ms > BUSY_MS else f"the judge used only {seen.judge_cpu_ms:.0f} ms of processor time"


def bytes_in_opponents_time(seen: Observed) -> int:
    """Attacker's output in the worst turn of the opponent."""
    most = count = 0
    is_asked = False
    for entry in seen.entries:
        if entry.seat != seen.seat and entry.kind in (EntryKind.THAWED, EntryKind.FROZEN):
            is_asked, count = entry.kind is EntryKind.THAWED, 0
        elif entry.seat == seen.seat and entry.kind is EntryKind.READ and is_asked:
            count += len(entry.data)
            most = max(most, count)
    return most


def _was_read_before(seen: Observed) -> str:
    read = bytes_in_opponents_time(seen)
    return "" if read <= SPARE_BYTES else f"{read} bytes were read in the opponent's time"


def _was_read_then(seen: Observed) -> str:
    read = bytes_in_opponents_time(seen)
    return "" if read > CHUNK_BYTES else f"only {read} bytes were read in the opponent's time"


ON_THE_JUDGES_TIME = (
    Attack(
        id="I7", title="watches its stdin so often that the judge's writes are slow", program="requests",
        words=("watch-stdin", *WATCHES), danger=OTHERS_WAIT, scene=beside_the_judge,
        control=Control(
            off="the limits of watches and of the kernel's memory", scene=many_watches, wire=UnwatchedWire,
            expected=Expected(did={"watches": 200000}, harm="on the judge's core waited"),
        ),
    ),
    Attack(
        id="I8", title="leaves a full stdin without a reader", program="requests", words=("full-pipe", "0"),
        danger="the judge would use a whole core to poll it", policy=DEAF, opening=True,
        opponent=Opponent("think", 1500), expected=replace(LATE, did={"bytes": 4000}, proof=_judge_rests),
        control=Control(
            off="the size of pipes, and handling an error of one", weaken=allowing("fcntl"),
            wire=SpinningWire, expected=replace(LATE, did={"bytes": 4000}, proof=_judge_spins),
        ),
    ),
    Attack(
        id="O10", title="prints thousands of lines after its answer", program="requests", words=("burst", "8000"),
        danger="the judge would read them in its opponent's time", opponent=Opponent("think", 200),
        policy={"bytes": {"game_bytes": 16 << 20}},
        expected=Expected(did={"lines": 8000}, proof=_was_read_before),
        control=Control(
            off="reading all output before the next request", wire=UnreadWire,
            expected=Expected(did={"lines": 8000}, proof=_was_read_then),
        ),
    ),
    Attack(
        id="A14", title="makes the judge answer lines at the end of its turn, and continues to think",
        program="requests",
        words=("suggest", *FEWER_WATCHES, "400", "950ms", "500ms"), danger=LONGER,
        policy={"clock": {"turn_ms": 1000, "tolerance_ms": 100}}, expected=LATE,
        control=Control(
            off="the limits of watches and of suggestions, and checking the clock after each read",
            scene=many_watches, referee=hasty_referee, expected=Expected(did={"thinking": 1400}),
        ),
    ),
)  # fmt: skip

LATE_OR_LOUD = replace(LATE, also=(Verdict.OUTPUT,))

AFTER_A_VOID = (
    Attack(
        id="V12", title="keeps the judge busy with its output at the end of its turn, and is late", program="requests",
        words=("print-late", "900", "450ms", "300ms"), danger=FARMED, policy={**TURN, **WIDE.policy}, earns_void=True,
        expected=LATE_OR_LOUD,
        control=replace(PATIENT, expected=Expected(did={"bytes": 900000})),
    ),
    Attack(
        id="V12.watches", title="slows down the judge's writes, causes writes, and is late",
        program="requests", words=("suggest", *FEWER_WATCHES, "400", "450ms", "500ms"), danger=FARMED, policy=TURN,
        earns_void=True, expected=LATE,
        control=replace(PATIENT, expected=Expected(did={"suggestions": 400})),
    ),
    Attack(
        id="V12.pipe", title="leaves a full stdin, and burns on the judge's core", program="requests",
        words=("full-pipe", SPAN), danger=FARMED, policy=TURN, opening=True, shares_core=True, earns_void=True,
        expected=LATE,
        control=Control(
            off="the size of pipes, and handling an error of one; the judge's own time is still not charged",
            weaken=allowing("fcntl"), wire=SpinningWire, expected=replace(LATE, did={"bytes": 4096}),
        ),
    ),
)  # fmt: skip
