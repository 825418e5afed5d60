"""What differs for a judge that is not root, in one list, and which policies need root."""

import os
from collections.abc import Sequence

from judge.sandbox.box import ENGINE_FREEZER, NO_FREEZER, BoxPolicy

ENGINE_FREEZE_MS = 10
"""A call of the Engine's freezer on an idle host."""

MIN_TURN_MS = 10 * ENGINE_FREEZE_MS
"""Shortest turn of a contest whose boxes the Engine freezes."""

ENGINE_FREEZES = f"the Engine freezes boxes (about {ENGINE_FREEZE_MS} ms of each turn)"

WITHOUT_ROOT = (
    "no box is reused",
    "no image is loaded into memory before a game",
    "the disk of the images is not watched for stalls",
    "notes on memory use the largest size of the agent's folders",
    "leftovers of other users' judges are not removed",
)
"""Other differences. docs/enforcement.md has their consequences."""


def differences(policy: BoxPolicy) -> Sequence[str]:
    """For games under this policy; empty as root."""
    if os.geteuid() == 0:
        return ()
    freezes = policy.freeze in ("auto", ENGINE_FREEZER)
    return (ENGINE_FREEZES, *WITHOUT_ROOT) if freezes else WITHOUT_ROOT


def notice(policy: BoxPolicy) -> str:
    """For the start of a command, with a place for details; empty as root."""
    found = differences(policy)
    return f"without root: {'; '.join(found[:3])}; docs/enforcement.md, Without root, lists all" if found else ""


def freezer_obstacle(policy: BoxPolicy) -> str:
    """Why only root can play under this policy, with an administrator's commands; else empty."""
    if os.geteuid() == 0 or policy.freeze in ("auto", ENGINE_FREEZER, NO_FREEZER):
        return ""
    why = f"box.freeze = {policy.freeze!r}, but only root may write the files of cgroups: set box.freeze to auto"
    return f"{why}, {_as_root()}"


def clock_obstacle(policy: BoxPolicy, turn_ms: int) -> str:
    """Why only root can play a contest with turns of `turn_ms` (0: without a limit), as `freezer_obstacle`."""
    if os.geteuid() == 0 or policy.freeze == NO_FREEZER or not 0 < turn_ms < MIN_TURN_MS:
        return ""
    return f"a turn has {turn_ms} ms, and without root {ENGINE_FREEZES}: allow {MIN_TURN_MS} ms, {_as_root()}"


def _as_root() -> str:
    return f"or ask an administrator to type, as root: judge contest run CONTEST; chown -R {os.geteuid()} CONTEST"
