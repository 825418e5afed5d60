"""Attempts to earn a void by stalls of the agent's own (V11): images/attacks/stalls.c."""

from dataclasses import replace

from judge.attacks.attack import Attack
from judge.attacks.cpu import FARMED, LATE, SPAN, TURN, patient

SMALL = {**TURN, "limits": {"memory_bytes": 64 << 20}}
NEARLY = "89"
"""MiB, nearly what a small box may have with its writable directories."""
JUST_LATE = "{just_late}"
"""A span that is longer than the turn, too; the control plays a whole game of such turns."""


def _attack(mode: str, title: str, *words: str) -> Attack:
    return Attack(
        id=f"V11.{mode}",
        title=title,
        program="stalls",
        words=(mode, SPAN, *words),
        danger=FARMED,
        policy=SMALL if words else TURN,
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
