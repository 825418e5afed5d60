"""Attacks on the clock (A), and attempts to earn a void (V): images/attacks/cpu.c."""

from dataclasses import replace

from judge.attacks.attack import BY_ITSELF, Attack, Control, Expected, Observed, Opponent
from judge.attacks.weak_box import allowing, as_pid_1, both
from judge.attacks.weak_judge import UnwatchedWire
from judge.games.types import Verdict

TURN = {"clock": {"turn_ms": 500}}
SPAN = "1500ms"

LATE = Expected(verdict=Verdict.TURN_TIME, because="did not answer within the turn")
PATIENT = Control(off="the limit of a turn", policy={"clock": {"turn_ms": 20000}})


def patient(**did: int) -> Control:
    """A control without a turn limit; `did`: required number of actions."""
    return replace(PATIENT, expected=Expected(did=did))


STILL = Expected(denied=("pondering",), by=frozenset({"FREEZER"}))
LOOSE = Control(
    off="freezing outside its turn", policy={"box": {"freeze": "none"}}, expected=Expected(got=("pondering",))
)
LONGER = "an agent could delay a game without limit"
STOLEN = "an agent could think in its opponent's time"
FARMED = "an agent about to lose could have the game played again"


def _children_counted(seen: Observed) -> str:
    evidence = seen.record.seats[0].evidence
    used = 0 if evidence is None else evidence.cpu_ms or 0
    return "" if used > 100 else f"only {used} ms of the children's processor time were counted"


def _parent_lives(signal: int) -> Control:
    return Control(
        off="the judge's PID 1: the parent is a shell",
        in_shell="{}; exit 0",
        expected=Expected(verdict=Verdict.CRASH, because=f"signal {signal}"),
    )


ON_THE_CLOCK = (
    Attack(
        id="A1", title="burns in a loop", program="cpu", words=("busy", SPAN),
        danger=LONGER, policy=TURN, expected=LATE, control=patient(burned=50),
    ),
    Attack(
        id="A2.sleep", title="sleeps", program="cpu", words=("sleep", SPAN),
        danger=LONGER, policy=TURN, expected=LATE, control=patient(slept=1000),
    ),
    Attack(
        id="A2.pause", title="waits for a signal", program="cpu", words=("pause", SPAN),
        danger=LONGER, policy=TURN, expected=LATE, control=patient(waits=1),
    ),
    Attack(
        id="A2.select", title="waits in select", program="cpu", words=("select", SPAN),
        danger=LONGER, policy=TURN, expected=LATE, control=patient(waits=1),
    ),
    Attack(
        id="A3", title="stops itself", program="cpu", words=("stop", SPAN),
        danger=LONGER, policy=TURN, expected=LATE, control=patient(stops=1),
    ),
    Attack(
        id="A4", title="stops and kills its parent, PID 1", program="cpu", words=("stop-parent",),
        danger="an agent could hide how it ended",
        expected=Expected(verdict=Verdict.CRASH, because="exited with code 7"), control=_parent_lives(15),
    ),
    Attack(
        id="A5", title="blocks every signal and never answers", program="cpu", words=("ignore", SPAN),
        danger=LONGER, policy=TURN, expected=LATE, control=patient(blocked=1),
    ),
    Attack(
        id="A6", title="has children burn while it waits", program="cpu", words=("children", SPAN),
        danger="an agent could hide what it uses", policy=TURN,
        expected=Expected(verdict=Verdict.TURN_TIME, proof=_children_counted), control=PATIENT,
    ),
    Attack(
        id="A9.thread", title="thinks in the opponent's time, in a thread", program="cpu",
        words=("ponder-thread",), danger=STOLEN, opponent=Opponent("think", 300), expected=STILL, control=LOOSE,
    ),
    Attack(
        id="A9.process", title="thinks in the opponent's time, in a process that has left its session", program="cpu",
        words=("ponder-process",), danger=STOLEN, opponent=Opponent("think", 300), expected=STILL, control=LOOSE,
    ),
    Attack(
        id="A13", title="trickles a byte every 10 ms", program="cpu", words=("trickle", SPAN),
        danger=LONGER, policy=TURN, expected=LATE, control=patient(bytes=10),
    ),
)  # fmt: skip

AFTER_A_VOID = (
    Attack(
        id="V1", title="has eight threads wait for one core", program="cpu", words=("threads", SPAN),
        danger=FARMED, policy=TURN, earns_void=True, expected=LATE, control=patient(switches=20),
    ),
    Attack(
        id="V2", title="evades the freezer with a loop of vfork, and is late", program="cpu", words=("vfork", SPAN),
        danger=FARMED, policy=TURN, earns_void=True, expected=LATE, control=patient(vforks=100),
    ),
    Attack(
        id="V2.engine", title="evades the Engine's pause with a loop of vfork, and is late", program="cpu",
        words=("vfork", SPAN), danger=FARMED, policy={**TURN, "box": {"freeze": "engine"}}, earns_void=True,
        expected=LATE, control=patient(vforks=100), is_quick=False,
    ),
    Attack(
        id="V3", title="kills itself like an outside process", program="cpu", words=("kill-itself",),
        danger=FARMED, earns_void=True, expected=Expected(verdict=Verdict.CRASH, because="signal 9"),
        control=BY_ITSELF + "PID 1 reports how the agent ended",
    ),
    Attack(
        id="V4", title="has the kernel kill PID 1 for its limit of processor time", program="cpu", words=("meddle",),
        danger=FARMED, earns_void=True, expected=Expected(verdict=Verdict.CRASH, because="exited with code 7"),
        control=Control(
            off="a separate user for PID 1, and the filter of limits", weaken=both(as_pid_1, allowing("prlimit64")),
            expected=Expected(verdict=Verdict.CRASH, because="its container ended while it ran"),
        ),
    ),
    Attack(
        id="V5", title="fills files, descriptors, processes and memory, and is late", program="cpu",
        words=("fill", SPAN, "24"), danger=FARMED, policy={**TURN, "limits": {"memory_bytes": 64 << 20}},
        earns_void=True, expected=LATE, control=patient(folders=100, copies=50, children=30),
    ),
    Attack(
        id="V6", title="dies while frozen", program="cpu", words=("die-frozen",), danger=FARMED,
        opponent=Opponent("think", 200), earns_void=True, expected=Expected(verdict=Verdict.CRASH, because="signal 14"),
        control=BY_ITSELF + "a death counts at any time",
    ),
    Attack(
        id="V9", title="runs only at the kernel's ticks, so that its core seems used by others", program="cpu",
        words=("tick", SPAN), danger=FARMED, policy=TURN, earns_void=True, expected=LATE, control=patient(ticks=100),
    ),
    Attack(
        id="V10", title="has the kernel work for timers and ending processes", program="cpu", words=("storm", SPAN),
        danger=FARMED, policy=TURN, earns_void=True, expected=replace(LATE, also=(Verdict.MEMORY,)),  # of the kernel
        control=replace(
            patient(signals=1000, children=100),
            off="the limit of a turn, and the judge's limit of the kernel's memory", wire=UnwatchedWire,
        ),
    ),
)  # fmt: skip
