"""Where games are played: cores, folders, observers, and the maker of boxes."""

from __future__ import annotations

import platform
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judge.sandbox.box import Box, BoxKind, BoxPolicy, Limits, Tenant
from judge.sandbox.machine.cores import count_cores, split_cores
from judge.sandbox.open_box import open_box

if TYPE_CHECKING:
    from judge.play.folders import Shelf
    from judge.record.policy import Policy
    from judge.record.spec import GameSpec
    from judge.referee.side import Ply

BoxBuilder = Callable[[BoxKind, Tenant, Limits, BoxPolicy], Box]


@dataclass(frozen=True, slots=True)
class Slot:
    """Cores of a game and of its judge, and the machine's name."""

    cores: tuple[int, ...] = ()
    judge_cores: tuple[int, ...] = ()
    host: str = field(default_factory=platform.node)

    @property
    def is_apart(self) -> bool:
        return bool(self.cores) and not set(self.cores) & set(self.judge_cores)

    def unfit_reason(self, policy: Policy) -> str:
        """Why a contest cannot use the slot; empty if it can."""
        count, needed = count_cores(self.cores), policy.slot_cores
        if self.cores and count < needed:
            return f"{policy.slot_reason} need {needed} cores for a game, and a slot has {count}"
        if policy.clock.ponder and not self.is_apart:
            return "clock.ponder = true needs a slot without the judge's core"
        return ""

    def seat_cores(self, spec: GameSpec) -> tuple[tuple[int, ...], ...]:
        """Empty if agents do not ponder. Raises InputError if the slot cannot be divided."""
        if not spec.policy.clock.ponder or (spec.box == "process" and not self.cores):
            return ()
        return split_cores(self.cores)


@dataclass(frozen=True, slots=True)
class Venue:
    """Where games are played, and their observers.

    `turn` is entered when the boxes are ready and left when the slot is free; steps outside it may overlap with another
    game. `watch` receives each answer. `follow` receives new packed parts of the transcript; it must not block.
    """

    slot: Slot = field(default_factory=Slot)
    shelf: Shelf | None = None
    turn: Callable[[], AbstractContextManager[object]] = nullcontext
    watch: Callable[[Ply], None] | None = None
    follow: Callable[[bytes], None] | None = None
    build: BoxBuilder = open_box


ANYWHERE = Venue()
