"""Attacks on the opponent's time: by timers (O5 to O8), by ends of processes and games (O9, O11, O13, O14), and while
the agent ponders (O12, and variants of B1, I5, V6).

The programs are images/attacks/timers.c, exits.c, calls.c, cpu.c, stalls.c and memory.c. The opponent of a timer
measures the share of its fixed CPU time taken by interrupts.
"""

from dataclasses import replace
from statistics import median

from judge.attacks.attack import BY_ITSELF, Attack, Control, Expected, Observed, Opponent, Proof
from judge.attacks.cpu import AFTER_A_VOID
from judge.attacks.fixtures import many_watches
from judge.attacks.resources import ON_MEMORY
from judge.attacks.streams import ON_STREAMS
from judge.attacks.weak_box import allowing, both, with_ulimit
from judge.attacks.weak_judge import UnchargedWire, hasty_referee
from judge.games.types import Verdict
from judge.referee.fault_finder import STILL_MS
from judge.referee.transcript import EntryKind
from judge.referee.wire import StoppedCpu

WORK_MS = 300
WORKER = Opponent("work", WORK_MS)
BOTH = (0, 1)

HARMLESS_SHARE = 0.07
"""The normal share of interrupts is 0.01 to 0.03, on a busy host up to 0.08."""
HARMFUL_SHARE = 0.07

TURNS = 4

TIGHT = {"clock": {"turn_ms": round(1.15 * WORK_MS), "tolerance_ms": 0}}

ROBBED = "an honest agent would lose because of its opponent's timers"
MORE_FILES = {"limits": {"open_files": 256}}
TIMERFD = ("timerfd_create", "timerfd_settime", "timerfd_gettime")
SIGNALFD = ("signalfd", "signalfd4")
POSIX_TIMERS = ("timer_create", "timer_settime", "timer_delete")


def _shares(seen: Observed | None) -> list[float]:
    if seen is None:
        return []
    answers = zip(*(seen.measured(what) for what in ("irq_us", "took_us", "lost_us")), strict=True)
    return sorted(interrupted / (took - lost) for interrupted, took, lost in answers)


def _in_peace(seen: Observed) -> float:
    return median(_shares(seen.peace) or [0.0])


def takes_little(seen: Observed) -> str:
    """Attacks disturb nearly every answer."""
    shares = _shares(seen)
    if len(shares) < TURNS:
        return "the opponent has not measured its answers"
    return "" if shares[1] < HARMLESS_SHARE + _in_peace(seen) else f"interrupts took {_percent(shares)} of its work"


def takes_much(seen: Observed) -> str:
    """One disturbed answer may be due to the host."""
    shares = _shares(seen)
    is_much = len(shares) > 1 and shares[-2] > HARMFUL_SHARE + _in_peace(seen)
    return "" if is_much else f"interrupts took only {_percent(shares)} of the opponent's work"


def _percent(shares: list[float]) -> str:
    return " ".join(f"{share:.0%}" for share in shares)


def _robs(proof: Proof = takes_much, **did: int) -> Expected:
    return Expected(proof=proof, did=did)


SOME_WATCHES = ("60", "60", "10", "80", "20")
"""Helpers, files per helper, milliseconds before the first timer, microseconds between timers, epolls per file."""

BY_TIMERS = (
    Attack(
        id="O5", title="sets thousands of timerfds that expire in its opponent's time", program="timers",
        words=("timerfds", "60", "240", "10", "20", "0"), danger=ROBBED, opponent=WORKER, seats=BOTH,
        expected=Expected(proof=takes_little),
        control=Control(
            off="the denial of timerfds, and the limit of open files", weaken=allowing(*TIMERFD), policy=MORE_FILES,
            expected=_robs(timers=40000, fired=30000),
        ),
    ),
    Attack(
        id="O5.tight", title="sets thousands of timerfds against an opponent that has little time to spare",
        program="timers", words=("timerfds", "60", "240", "10", "20", "0"), danger=ROBBED, opponent=WORKER, seats=BOTH,
        policy=TIGHT, is_tight=True,
        control=Control(
            off="the denial of timerfds, and the limit of open files", weaken=allowing(*TIMERFD), policy=MORE_FILES,
            expected=Expected(verdict=Verdict.TURN_TIME, against_opponent=True, because="did not answer"),
        ),
    ),
    Attack(
        id="O5.watched", title="sets timerfds, each watched by many epolls", program="timers",
        words=("timerfds", *SOME_WATCHES), danger=ROBBED, opponent=WORKER, seats=BOTH,
        expected=Expected(proof=takes_little),
        control=Control(
            off="the denial of timerfds, and the limit of watches", weaken=allowing(*TIMERFD), scene=many_watches,
            expected=_robs(timers=10000, fired=7000),
        ),
    ),
    Attack(
        id="O6", title="makes signals traverse tens of thousands of signalfd watches", program="timers",
        words=("signalfds", "60", "24", "10", "5000", "24", "60"), danger=ROBBED, opponent=WORKER, seats=BOTH,
        expected=Expected(proof=takes_little),
        control=Control(
            off="the denial of signalfds, and the limits of watches and pending signals", scene=many_watches,
            weaken=both(allowing(*SIGNALFD, *POSIX_TIMERS), with_ulimit("sigpending", 256)),
            expected=_robs(timers=200, fired=150),
        ),
    ),
    Attack(
        id="O7", title="sets as many POSIX timers as it may, which expire in its opponent's time", program="timers",
        words=("posix-timers", "1", "16000", "10", "20"), danger=ROBBED, opponent=WORKER, seats=BOTH,
        expected=Expected(proof=takes_little),
        control=Control(
            off="the denial of POSIX timers, and the limit of waiting signals",
            weaken=both(allowing(*POSIX_TIMERS), with_ulimit("sigpending", 1 << 16)),
            expected=_robs(timers=50000, fired=30000),
        ),
    ),
    Attack(
        id="O8", title="sets interval timers in all of its processes", program="timers",
        words=("itimers", "60", "0", "10", "20"), danger=ROBBED, opponent=WORKER, seats=BOTH,
        expected=Expected(proof=takes_little, did={"timers": 200, "fired": 120}),
        control=BY_ITSELF + "the kernel does not set it again before its signal is taken",
    ),
)  # fmt: skip


RAN_ON = Expected(verdict=Verdict.TURN_TIME, because="did not stop when its turn was over", did={"helpers": 2})
THINKS = Opponent("think", 300)
UNCHARGED_MS = 60.0
MEMORY_BYTES = 800 << 20
"""Enough for an exit that takes longer than `UNCHARGED_MS` on a fast host."""
DELAYED = "the agent's processes would end in its opponent's time, without being charged"

OFTEN_MS = 25.0
"""More than a game's sum, in which one helper a turn uses about 10 ms."""

SAVE_MS, CLOSE_MS = 800, 1200
"""Work of the opponent after the game, and less than twice that."""


def _stopped_ms(seen: Observed) -> float:
    entries = [entry for entry in seen.entries if (entry.kind, entry.seat) == (EntryKind.STOPPED_CPU, seen.seat)]
    return sum(StoppedCpu.decode(entry.data).ns for entry in entries) / 1e6


def _is_uncharged(seen: Observed) -> str:
    used_ms = _stopped_ms(seen)
    return "" if used_ms > UNCHARGED_MS else f"it used only {used_ms:.0f} ms while it was stopped"


def _is_often_uncharged(seen: Observed) -> str:
    used_ms = _stopped_ms(seen)
    return "" if used_ms > OFTEN_MS else f"it used only {used_ms:.0f} ms while it was stopped"


def _was_killed(seen: Observed) -> bool:
    return any(entry.kind is EntryKind.KILLED and entry.seat != seen.seat for entry in seen.entries)


def _has_saved(seen: Observed) -> str:
    return "the opponent was killed before it had saved its data" if _was_killed(seen) else ""


def _has_not_saved(seen: Observed) -> str:
    return "" if _was_killed(seen) else "the opponent has saved its data"


def _pays_for_its_calls(seen: Observed) -> str:
    """Its calls may be denied on some hosts."""
    if wrong := _has_saved(seen):
        return wrong
    is_denied = any("denied page-table" in note for note in seen.attacker.notes)
    if is_denied or (seen.attacker.fault and seen.attacker.lingered_cpu_ms > STILL_MS):
        return ""
    return f"it used {seen.attacker.lingered_cpu_ms:.0f} ms after its kill, and has no failure"


def _exit(kind: str, title: str, *words: str) -> Attack:
    return Attack(
        id=f"O9.{kind}", title=title, program="exits", words=(f"exit-{kind}", *words), danger=DELAYED, opponent=THINKS,
        policy={"limits": {"memory_bytes": MEMORY_BYTES}},
        expected=RAN_ON,
        control=Control(
            off="charging CPU time of stopped boxes", wire=UnchargedWire,
            expected=Expected(did={"helpers": 4}, proof=_is_uncharged),
        ),
    )  # fmt: skip


BY_EXITS = (
    _exit("maps", "ends processes with gigabytes of mapped zeros in its opponent's time", "3", "2", "20"),
    _exit("memory", "ends processes with much memory in its opponent's time", "300", "2", "20"),
    Attack(
        id="O11", title="keeps all its processes busy at the end of the game", program="exits",
        words=("burn-at-end", "60"), danger="an opponent could not save its data",
        policy={"clock": {"close_ms": CLOSE_MS}}, opponent=Opponent("save", SAVE_MS), is_tight=True,
        expected=Expected(proof=_has_saved),
        control=Control(
            off="closing one seat after the other", referee=hasty_referee, expected=Expected(proof=_has_not_saved)
        ),
    ),
    Attack(
        id="O13", title="ends one process in each turn of its opponent, each within the bound of a turn",
        program="exits", words=("exit-maps", "1", "1", "20"), danger=DELAYED, opponent=THINKS, seats=BOTH,
        expected=Expected(verdict=Verdict.TURN_TIME, because="did not stop when its turn", did={"helpers": 1}),
        control=Control(
            off="charging CPU time of stopped boxes", wire=UnchargedWire,
            expected=Expected(did={"helpers": 4}, proof=_is_often_uncharged),
        ),
    ),
    Attack(
        id="O14", title="has processes in long system calls at the end of the game, so that they cannot be killed",
        program="calls", words=("many-at-the-end", "page-table", "511", "16"),
        danger="an opponent could not save its data, and the slot would be closed at no cost to the agent",
        policy={"clock": {"close_ms": CLOSE_MS}}, opponent=Opponent("save", SAVE_MS), is_tight=True,
        expected=Expected(proof=_pays_for_its_calls, may_fail=True),
        control=Control(
            off="the ban on dumps of a process, and closing one seat after the other", shares_files=True,
            referee=hasty_referee, expected=Expected(proof=_has_not_saved),
        ),
    ),
)  # fmt: skip


PONDER = {"clock": {"ponder": True}}

LOST_SHARE = 0.15
"""An opponent on its own cores loses 0.01 to 0.07 of its time, on shared cores 0.2 to 0.5."""


def _lost_share(seen: Observed | None) -> float:
    if seen is None:
        return 0.0
    answers = list(zip(seen.measured("took_us"), seen.measured("lost_us"), strict=True))
    return median(lost / took for took, lost in answers) if answers else 0.0


def _loses_little(seen: Observed) -> str:
    if len(seen.measured("took_us")) < TURNS:
        return "the opponent has not measured its answers"
    lost = _lost_share(seen)
    return "" if lost < LOST_SHARE + _lost_share(seen.peace) else f"the opponent lost {lost:.0%} of its time"


def _loses_much(seen: Observed) -> str:
    lost = _lost_share(seen)
    return "" if lost > LOST_SHARE + _lost_share(seen.peace) else f"the opponent lost only {lost:.0%} of its time"


def _attack(variant: str, title: str, program: str, *words: str, got: tuple[str, ...] = ()) -> Attack:
    return Attack(
        id=f"O12.{variant}",
        title=f"{title}, while it ponders",
        program=program,
        words=words,
        danger=ROBBED,
        policy=PONDER,
        opponent=WORKER,
        expected=Expected(got=got, proof=_loses_little),
        control=Control(
            off="own cores for each seat",
            policy={"clock": {"ponder": False}, "box": {"freeze": "none"}},
            expected=Expected(got=got, proof=_loses_much),
        ),
    )


def _pondering(attacks: tuple[Attack, ...], name: str, title: str, mode: str = "") -> Attack:
    attack = next(each for each in attacks if each.id == name)
    policy = {**attack.policy, **PONDER}
    policy["box"] = {key: value for key, value in policy.get("box", {}).items() if key != "freeze"}
    control = f"as for {name}" if isinstance(attack.control, Control) else attack.control
    words = (mode or attack.words[0], *attack.words[1:])
    return replace(attack, id=f"{name}.ponder", title=title, words=words, policy=policy, control=control)


SPAN = "250ms"

WHILE_PONDERING = (
    _attack("burns", "burns in a process that has left its session", "cpu", "ponder-process", got=("pondering",)),
    _attack("vforks", "has eight processes vfork in a loop", "stalls", "later-vforks", SPAN),
    _attack("threads", "has eight processes make threads", "stalls", "later-threads", SPAN),
    _attack("faults", "has eight processes take memory and give it back", "stalls", "later-faults", SPAN),
    _attack("syncs", "has eight processes write files and sync them", "stalls", "later-syncs", SPAN),
    _attack("reads", "has eight processes read the disk, past the memory", "stalls", "later-reads", SPAN),
    _pondering(ON_MEMORY, "B1", "takes memory while it ponders", "eat-later"),
    _pondering(ON_STREAMS, "I5", "floods stdout while it ponders"),
    _pondering(AFTER_A_VOID, "V6", "dies while it ponders"),
)
