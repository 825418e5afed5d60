"""Attacks by processes (A7, A8, C: processes.c), memory (B: memory.c), system calls (O: calls.c) and stalls (V11:
stalls.c).

In O the attacker answers in time, with uninterruptible system calls; its opponent must not lose, be blamed or be
charged.
"""

from dataclasses import replace

from judge.attacks.attack import BY_ITSELF, NOT_PERMITTED, Attack, Control, Expected, Observed, Opponent
from judge.attacks.cpu import FARMED, LATE, SPAN, TURN, patient
from judge.attacks.fixtures import bystanders, hoarder
from judge.attacks.weak_box import (
    allowing,
    as_pid_1,
    as_the_hoarder,
    both,
    unfiltered,
    with_all_addresses,
    with_core_dumps,
    with_new_privileges,
    with_writable_proc,
)
from judge.attacks.weak_judge import UnchargedWire, UnwatchedWire, with_constants
from judge.games.types import Verdict
from judge.referee import fault_finder
from judge.referee.transcript import EntryKind
from judge.referee.wire import RanOn

LEFT = Expected(verdict=Verdict.CRASH, because="exited with code 3")
OUTLIVED = Control(off="the agent is a shell that waits for its child", in_shell="{}; sleep 30")
ROOMY = {"limits": {"processes": 400}}
MANY = "200"
NONE = frozenset({"NONE"})
INSIDES = ("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "mem", "environ", "stderr", "root")

BY_PROCESSES = (
    Attack(
        id="A7", title="exits while a child continues to play", program="processes", words=("child-plays-on",),
        danger="a verdict could be about the wrong process", expected=LEFT, control=OUTLIVED,
    ),
    Attack(
        id="A8", title="exits while a daemon continues to play", program="processes", words=("daemon-plays-on",),
        danger="processes would be left on the host", expected=LEFT, control=OUTLIVED,
    ),
    Attack(
        id="C1", title="starts many processes", program="processes", words=("fork", "4000"),
        danger="an agent could use up the host's processes",
        expected=Expected(denied=("fork",), by=frozenset({"EAGAIN"})),
        control=Control(
            off="the limit: it is 400", policy=ROOMY, words=("fork", MANY), expected=Expected(got=("fork",))
        ),
    ),
    Attack(
        id="C1.bomb", title="starts processes that start processes", program="processes", words=("bomb",),
        danger="an agent could use up the host's processes", policy=TURN,
        expected=replace(LATE, did={"processes": 5}, also=(Verdict.MEMORY,)),  # of the kernel
        control="it would be a danger to the host",
    ),
    Attack(
        id="C2", title="starts many threads", program="processes", words=("threads", "4000"),
        danger="an agent could use up the host's processes",
        expected=Expected(denied=("thread",), by=frozenset({"EAGAIN"})),
        control=Control(
            off="the limit: it is 400", policy=ROOMY, words=("threads", MANY), expected=Expected(got=("thread",))
        ),
    ),
    Attack(
        id="C4", title="kills all processes that it can, and the judge by its process id", program="processes",
        words=("kill", "{judge}"), danger="an agent could end the contest",
        expected=Expected(denied=("judge",), by=frozenset({"ESRCH"}), did={"killed": 1}),
        control="without separate namespaces it would kill other processes on the host", scene=bystanders,
    ),
    Attack(
        id="C5", title="looks into PID 1", program="processes", words=("look-into", "1"),
        danger="an agent could forge the report of its end",
        expected=Expected(denied=INSIDES, by=NOT_PERMITTED | {"ESRCH", "ENOENT"}),
        control=Control(
            off="it is a separate child that may be dumped, without a filter, and with a writable /proc",
            words=("look-into", "child"), weaken=both(unfiltered, with_writable_proc), shares_files=True,
            expected=Expected(got=INSIDES),
        ),
    ),
    Attack(
        id="C10", title="signals and limits PID 1, and reads its processor time", program="processes", words=("reach",),
        danger="an agent could have PID 1 killed, and pass numbers to its next game",
        expected=Expected(denied=("signal", "limit", "clock"), by=NOT_PERMITTED),
        control=Control(
            off="a separate user for PID 1, and the filter of limits and clocks",
            weaken=both(as_pid_1, allowing("prlimit64", "clock_gettime")),
            expected=Expected(got=("signal", "limit", "clock")),
        ),
    ),
    Attack(
        id="C6", title="runs a program as another user", program="processes", words=("setuid",),
        danger="an agent could become root in its box, a step towards escape",
        expected=Expected(denied=("setuid-file", "setuid", "new-privileges"), by=NOT_PERMITTED | NONE),
        control=Control(
            off="no-new-privileges", weaken=with_new_privileges,
            expected=Expected(denied=("setuid-file", "setuid"), by=NOT_PERMITTED | NONE, got=("new-privileges",)),
        ),
    ),
    Attack(
        id="C7", title="has leftover groups of the judge", program="processes", words=("groups",),
        danger="an agent could read files of a host group",
        expected=Expected(denied=("group", "setgroups"), by=NOT_PERMITTED | NONE),
        control=BY_ITSELF + "PID 1 leaves all groups, whatever the box has",
    ),
    Attack(
        id="C8", title="leaves core dumps", program="processes", words=("core",),
        danger="an agent could fill the disk, or have the host's crash handler run on its memory",
        expected=Expected(denied=("core-limit", "core"), by=NOT_PERMITTED | NONE),
        control=Control(off="the limit of core dumps", weaken=with_core_dumps, expected=Expected(got=("core-limit",))),
    ),
    Attack(
        id="C9", title="uses up the signals and pipes of its user from another game", program="processes",
        words=("probe",), scene=hoarder,
        danger="an agent could break the programs of other games: signals and pipes are counted by user",
        expected=Expected(got=("signals", "pipe")),
        control=Control(
            off="a separate user for each box", weaken=as_the_hoarder,
            expected=Expected(denied=("signals", "pipe"), by=frozenset({"EAGAIN", "ENOSPC"})),
        ),
    ),
    Attack(
        id="I4", title="plays normally, next to a process and a box similar to its own", program="processes",
        words=("kill", "{judge}"), danger="ending one game would end others", scene=bystanders,
        expected=Expected(denied=("judge",), by=frozenset({"ESRCH"})),
        control=BY_ITSELF + "the judge ends boxes by id only",
    ),
)  # fmt: skip

SMALL = {"limits": {"memory_bytes": 64 << 20}}
OVER = "200"
"""MiB, more than the small limit and the writable directories together."""
SPIKE = 48
HOLES = "40"
"""MiB of messages: more than the limit of the kernel's memory."""

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


def _kernel_use_is_seen(seen: Observed) -> str:
    evidence = seen.record.seats[0].evidence
    peak, limit = (0, 0) if evidence is None else (evidence.kernel_peak_bytes, evidence.kernel_limit_bytes)
    return "" if peak and limit and peak > limit else f"the evidence has a peak of {peak} bytes for a limit of {limit}"


OVER_THE_CAP = Expected(verdict=Verdict.MEMORY, because="cap of", proof=_peak_is_the_cap)

ON_MEMORY = (
    Attack(
        id="B1", title="takes memory", program="memory", words=("eat", OVER),
        danger=SPREAD, policy=SMALL, expected=OVER_THE_CAP, control=LARGE,
    ),
    Attack(
        id="B3", title="splits it among sixteen children", program="memory", words=("children", OVER),
        danger=SPREAD, policy=SMALL, expected=OVER_THE_CAP, control=LARGE,
    ),
    Attack(
        id="B4", title="uses memory that belongs to no process", program="memory", words=("shared", OVER),
        danger=SPREAD, policy=SMALL, expected=OVER_THE_CAP, control=LARGE,
    ),
    Attack(
        id="B9", title="makes the kernel swap out its memory", program="memory", words=("swap", OVER),
        danger="an agent could use more than others, and slow down the host", policy=SMALL,
        expected=replace(OVER_THE_CAP, denied=("pageout",)), engine_allows=("pageout",),
        control=replace(
            LARGE, off="the cap, and the denial of swapping out", weaken=allowing("madvise"),
            expected=Expected(got=("pageout",)),
        ),
    ),
    Attack(
        id="B10", title="survives when a child is killed for its memory", program="memory", words=("victim", OVER),
        danger="an agent could exceed its memory limit repeatedly", policy=SMALL, expected=OVER_THE_CAP,
        control=LARGE,
    ),
    Attack(
        id="B12", title="uses memory for a moment only", program="memory", words=("spike", str(SPIKE)),
        danger="the memory in a record would be meaningless", expected=Expected(proof=_spike_is_seen),
        control=BY_ITSELF + "the kernel records the peak",
    ),
    Attack(
        id="B13", title="leaves pages of the kernel that keep one message of many", program="memory",
        words=("holes", HOLES), danger="an agent could use several times its cap",
        expected=Expected(verdict=Verdict.MEMORY, because="kernel's memory", proof=_kernel_use_is_seen),
        control=Control(off="the judge's limit of the kernel's memory", wire=UnwatchedWire),
    ),
)  # fmt: skip

LONGEST = ("page-table", "511")

ROBBED = "an honest agent would lose by the time that its opponent took"
LONG_MS = 50
"""Shorter than such a call, even on a fast host."""
STRICT = with_constants(fault_finder, STILL_MS=LONG_MS)
PATIENT = with_constants(fault_finder, STILL_MS=60000)

RAN_ON = Expected(verdict=Verdict.TURN_TIME, because="did not stop when its turn was over")
CLOSED = Expected(denied=("page-table",))
DUMPS = "the ban on dumps of a process, which closes its page table"
THINKS_MS = 200
NOBODY_WAITS = with_constants(fault_finder, STILL_MS=1, RAN_ON_MS=10**6)
IN_TURN = {"clock": {"turn_ms": THINKS_MS}}
"""The opponent uses two thirds of its time on the core of the call."""


def _is_charged(seen: Observed) -> str:
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
        id="O1", title="makes a long system call after its answer", program="calls", words=("in-the-turn", *LONGEST),
        danger=ROBBED, opponent=Opponent("work", THINKS_MS), expected=CLOSED,
        control=Control(
            off=f"{DUMPS}, waiting until it has stopped, and charging CPU time of stopped boxes",
            shares_files=True, policy=IN_TURN, scene=NOBODY_WAITS, wire=UnchargedWire,
            expected=Expected(
                verdict=Verdict.TURN_TIME, against_opponent=True, because="did not answer", got=CLOSED.denied
            ),
        ),
    ),
    Attack(
        id="O1.charged", title="makes a long system call after its answer, shorter than the judge waits",
        program="calls", words=("in-the-turn", *LONGEST), danger=ROBBED, expected=CLOSED,
        control=Control(
            off=DUMPS, shares_files=True, scene=PATIENT, expected=Expected(got=CLOSED.denied, proof=_is_charged)
        ),
    ),
    Attack(
        id="O2", title="makes a long system call in its opponent's start-up", program="calls",
        words=("in-the-start", *LONGEST), danger=ROBBED, expected=CLOSED,
        control=Control(off=DUMPS, shares_files=True, scene=STRICT, expected=RAN_ON),
    ),
    Attack(
        id="O3", title="makes a long system call after the game, so that it cannot be killed", program="calls",
        words=("at-the-end", *LONGEST), danger="an agent could turn a lost game into a void, and stop a contest",
        policy={"clock": {"close_ms": 1}}, expected=CLOSED,
        control=Control(
            off=DUMPS, shares_files=True, scene=PATIENT,
            expected=Expected(got=CLOSED.denied, proof=_box_outlived_the_game)
        ),
    ),
    Attack(
        id="O4.mincore", title="queries which pages of terabytes are in memory, after its answer", program="calls",
        words=("in-the-turn", "mincore", "20"), danger=ROBBED, engine_allows=("mincore",),
        expected=Expected(denied=("mincore",)),
        control=Control(
            off="the filter of system calls, and the limit of address space",
            weaken=both(unfiltered, with_all_addresses), expected=replace(RAN_ON, got=("mincore",)),
        ),
    ),
    Attack(
        id="O4.engine", title="makes the Engine's pause fail, after its answer", program="calls",
        words=("in-the-turn", "mincore", "40"), danger="an agent could make a game void in the middle",
        policy={"box": {"freeze": "engine"}}, engine_allows=("mincore",), is_quick=False,
        expected=Expected(denied=("mincore",)),
        control=Control(
            off="the filter of system calls, and the limit of address space",
            weaken=both(unfiltered, with_all_addresses), expected=replace(RAN_ON, got=("mincore",)),
        ),
    ),
    Attack(
        id="O4.populate", title="maps tens of gigabytes of zeros, after its answer", program="calls",
        words=("in-the-turn", "populate", "20"), danger=ROBBED, engine_allows=("populate",),
        expected=Expected(denied=("populate",), by=NOT_PERMITTED | {"EINVAL"}),
        control=Control(
            off="the filter of system calls, and the limit of address space",
            weaken=both(unfiltered, with_all_addresses),
            scene=with_constants(fault_finder, STILL_MS=200),
            expected=replace(RAN_ON, got=("populate",)),
        ),
    ),
)  # fmt: skip

SMALL_AND_SLOW = {**TURN, **SMALL}
NEARLY = "89"
"""MiB, nearly the small limit and the writable directories."""
JUST_LATE = "700ms"
"""Longer than the turn; the control plays a whole game of such turns."""


def _attack(mode: str, title: str, *words: str) -> Attack:
    return Attack(
        id=f"V11.{mode}",
        title=title,
        program="stalls",
        words=(mode, SPAN, *words),
        danger=FARMED,
        policy=SMALL_AND_SLOW if words else TURN,
        earns_void=True,
        expected=LATE,
        control=replace(patient(rounds=1), words=(mode, JUST_LATE, *words)),
    )


BY_STALLS = (
    _attack("thrash", "fills its memory and reads files for which no room is left", NEARLY),
    _attack("reads", "has eight processes read the disk, past the memory"),
    _attack("faults", "has eight processes take memory and give it back"),
    _attack("vforks", "has eight processes vfork in a loop"),
    _attack("threads", "has eight processes make threads"),
    _attack("syncs", "has eight processes write files and sync them"),
)
