"""Attacks by the end of processes and games (O9, O11): images/attacks/exits.c."""

from judge.attacks.attack import Attack, Control, Expected, Observed, Opponent
from judge.attacks.weak_judge import UnchargedWire, former_referee
from judge.games.types import Verdict
from judge.referee.transcript import EntryKind
from judge.referee.wire import StoppedCpu

RAN_ON = Expected(verdict=Verdict.TURN_TIME, because="did not stop when its turn was over", did={"helpers": 2})
THINKS = Opponent("think", 300)
UNCHARGED_MS = 60.0
MEMORY_BYTES = 800 << 20
"""Enough for an exit that takes longer than `UNCHARGED_MS` on a fast host."""
ROBBED = "the agent's processes would end in its opponent's time, without being charged"

SAVE_MS, CLOSE_MS = 800, 1200
"""Work of the opponent after the game, and less than twice that."""


def _is_uncharged(seen: Observed) -> str:
    entries = [entry for entry in seen.entries if (entry.kind, entry.seat) == (EntryKind.STOPPED_CPU, seen.seat)]
    used_ms = sum(StoppedCpu.decode(entry.data).ns for entry in entries) / 1e6
    return "" if used_ms > UNCHARGED_MS else f"it used only {used_ms:.0f} ms while it was stopped"


def _was_killed(seen: Observed) -> bool:
    return any(entry.kind is EntryKind.KILLED and entry.seat != seen.seat for entry in seen.entries)


def _has_saved(seen: Observed) -> str:
    return "the opponent was killed before it had saved its data" if _was_killed(seen) else ""


def _has_not_saved(seen: Observed) -> str:
    return "" if _was_killed(seen) else "the opponent has saved its data"


def _exit(kind: str, title: str, *words: str) -> Attack:
    return Attack(
        id=f"O9.{kind}", title=title, program="exits", words=(f"exit-{kind}", *words), danger=ROBBED, opponent=THINKS,
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
            off="closing one seat after the other", referee=former_referee, expected=Expected(proof=_has_not_saved)
        ),
    ),
)  # fmt: skip
