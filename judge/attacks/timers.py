"""Attacks on the opponent's time (O5 to O8) by timers: images/attacks/timers.c.

The opponent measures the share of its fixed CPU time taken by interrupts.
"""

from statistics import median

from judge.attacks.attack import BY_ITSELF, Attack, Control, Expected, Observed, Opponent, Proof
from judge.attacks.fixtures import many_watches
from judge.attacks.weak_box import allowing, both, with_ulimit
from judge.games.types import Verdict

WORK_MS = 300
WORKER = Opponent("work", WORK_MS)
BOTH = (0, 1)

HARMLESS_SHARE = 0.07
"""The normal share of interrupts is 0.01 to 0.03, on a busy host up to 0.08."""
HARMFUL_SHARE = 0.07

TURNS = 4

TIGHT = {"clock": {"turn_ms": round(1.15 * WORK_MS), "tolerance_ms": 0}}

ROBBED = "an honest agent would lose because of its opponent's timers"
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
            off="the denial of timerfds", weaken=allowing(*TIMERFD), expected=_robs(timers=40000, fired=30000)
        ),
    ),
    Attack(
        id="O5.tight", title="sets thousands of timerfds against an opponent that has little time to spare",
        program="timers", words=("timerfds", "60", "240", "10", "20", "0"), danger=ROBBED, opponent=WORKER, seats=BOTH,
        policy=TIGHT, is_tight=True,
        control=Control(
            off="the denial of timerfds", weaken=allowing(*TIMERFD),
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
