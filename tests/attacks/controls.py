"""Controls: the attacks of the table with one defence off. Parts of the judge are replaced only here."""

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal
from unittest.mock import patch

from pydantic import TypeAdapter

from judge.attacks import proofs, runner
from judge.attacks.attack import KNOWN_FIELDS, Attack, Changes, Expected, Observed, Scene
from judge.attacks.runner import ACCOMPLICE, ATTACKER, Suite, Trial
from judge.attacks.table import ATTACKS, read_rows
from judge.base.errors import HostError
from judge.play.venue import Slot
from judge.record.policy import Policy
from judge.record.transcript import EntryKind
from judge.referee.requests import RanOn, StoppedCpu
from judge.sandbox.box import Box, BoxKind, BoxPolicy, Limits, Tenant
from judge.sandbox.docker.hardening import INIT_USER
from judge.sandbox.docker.kept import KEPT
from judge.sandbox.open_box import open_box
from tests.attacks import weak_box
from tests.attacks.defences import without
from tests.attacks.weak_box import allowing, weak_boxes, with_ulimits

ROWS = Path(__file__).with_name("controls.toml")
WEAK = (ATTACKER, ACCOMPLICE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """The same program without one defence. It must succeed, so the defence is what stops the attack."""

    __pydantic_config__: ClassVar = KNOWN_FIELDS

    id: str
    off: str
    run: str = ""
    shell: str = ""
    expected: Expected = field(default_factory=Expected)
    policy: Changes = field(default_factory=dict)
    weaken: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    """System calls."""
    ulimits: Mapping[str, int] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    shares_files: bool = False
    user: Literal["", "of PID 1", "of the hoarder"] = ""
    """The agent and the owner of its folders."""
    raises_watches: bool = False
    robs: bool = False
    """The innocent opponent gets the verdict."""
    harm: str = ""
    """Part of the scene's harm."""
    since_linux: tuple[int, int] = (0, 0)
    """First kernel on which the control succeeds."""

    @property
    def is_possible(self) -> bool:
        major, minor = os.uname().release.split(".")[:2]
        return (int(major), int(re.match(r"\d+", minor)[0])) >= self.since_linux  # type: ignore[index]

    def weakened(self, attack: Attack) -> Attack:
        sections = attack.policy.keys() | self.policy.keys()
        policy = {name: {**attack.policy.get(name, {}), **self.policy.get(name, {})} for name in sections}
        program, *words = (self.run or f"{attack.program} {' '.join(attack.words)}").split()
        if self.shell:
            program, words = "sh", ["-c", self.shell]
        return replace(
            attack,
            program=program,
            words=tuple(words),
            expected=self.expected,
            policy=policy,
            scene=self._scene_of(attack.scene),
            earns_void=False,  # a control is void only by a share that its policy sets
        )

    def _scene_of(self, scene: Scene) -> Scene:
        weakenings = [getattr(weak_box, name) for name in self.weaken]
        weakenings += [allowing(self.allow)] * bool(self.allow) + [with_ulimits(self.ulimits)] * bool(self.ulimits)

        @contextmanager
        def weak_scene(directory: Path) -> Iterator[Mapping[str, str]]:
            with ExitStack() as stack:
                if self.raises_watches:
                    stack.enter_context(many_watches())
                names = stack.enter_context(scene(directory))
                stack.enter_context(weak_boxes(weakenings, names, WEAK))
                stack.enter_context(without(self.without))
                stack.enter_context(patch.object(runner, "open_box", self._opener(names)))
                yield names

        return weak_scene

    def _opener(self, names: Mapping[str, str]) -> Callable[[BoxKind, Tenant, Limits, BoxPolicy], Box]:
        changes: dict[str, Any] = (
            {"digest": ""} if self.shares_files else {}
        )  # only agents with a digest get separate files
        if self.user:
            changes["uid"] = INIT_USER if self.user == "of PID 1" else int(names["hoarder"])

        def open_weak(kind: BoxKind, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> Box:
            return open_box(kind, replace(tenant, **changes) if tenant.name in WEAK else tenant, limits, policy)

        return open_weak


class ControlSuite(Suite):
    def __init__(self, policy: Policy, slot: Slot, slower: float = 1, pair: Slot | None = None) -> None:
        super().__init__(policy, slot, slower, pair)
        self._has_engine_profile = True  # the kernel affects how far a control succeeds
        self._control = CONTROLS["A1"]

    def control(self, control: Control) -> Trial:
        self._control = control
        try:
            return self.attack(control.weakened(BY_ID[control.id]))
        finally:
            KEPT.close()  # boxes without proof

    def _unexpected(self, attack: Attack, seen: Observed, names: Mapping[str, str]) -> Iterator[str]:
        if not self._control.robs:
            yield from super()._unexpected(attack, seen, names)
            return
        ended = replace(attack, expected=replace(attack.expected, got=()))
        yield from super()._unexpected(ended, replace(seen, seat=1 - seen.seat), names)
        yield from self._reported_otherwise(attack, seen.attacker.notes, names)

    def _harm(self, attack: Attack, seen: Observed) -> Iterator[str]:
        if self._control.harm and not any(self._control.harm in harm for harm in seen.found):
            yield f"nothing was harmed: {'; '.join(seen.found) or 'the scene found nothing'}"


WATCHES = Path("/proc/sys/fs/epoll/max_user_watches")
MANY_WATCHES = 1 << 22


@contextmanager
def many_watches() -> Iterator[None]:
    """Raise the host's epoll watch limit per user. Raises HostError without root rights."""
    before = WATCHES.read_text(encoding="ascii")
    try:
        WATCHES.write_text(str(max(MANY_WATCHES, int(before))), encoding="ascii")
    except OSError as error:
        raise HostError(f"{WATCHES} cannot be written: {error}: play this control as root") from error
    try:
        yield
    finally:
        WATCHES.write_text(before, encoding="ascii")


BUSY_MS = 800.0
CHUNK_BYTES = 16384
LONG_CALL_MS = 50
"""Shorter than such a call, even on a fast host."""
UNCHARGED_MS = 60.0
OFTEN_MS = 25.0
"""More than a game's sum, in which one helper a turn uses about 10 ms."""


def more(measure: Callable[[Observed], float], least: float, text: str) -> Callable[[Observed], str]:

    def proof(seen: Observed) -> str:
        found = measure(seen)
        return "" if found > least else text.format(found)

    return proof


def _spans(seen: Observed, kind: EntryKind, seat: int) -> Sequence[bytes]:
    return [entry.data for entry in seen.entries if (entry.kind, entry.seat) == (kind, seat)]


def stopped_ms(seen: Observed) -> float:
    return sum(StoppedCpu.decode(data).ns for data in _spans(seen, EntryKind.STOPPED_CPU, seen.seat)) / 1e6


is_fast = more(lambda seen: seen.done("kibibytes"), proofs.FLOOD_KIBIBYTES, "the judge read only {} KiB")
keeps_all_of_stderr = more(
    lambda seen: len(seen.bytes_of(EntryKind.STDERR)), 1 << 20, "only {} bytes of stderr were kept"
)
grows_long = more(lambda seen: len(seen.entries), proofs.MAX_ENTRIES, "the transcript has only {} entries")
judge_spins = more(lambda seen: seen.judge_cpu_ms, BUSY_MS, "the judge used only {:.0f} ms of processor time")
was_read_then = more(proofs.bytes_in_opponents_time, CHUNK_BYTES, "only {} bytes were read in the opponent's time")
is_uncharged = more(stopped_ms, UNCHARGED_MS, "it used only {:.0f} ms while it was stopped")
is_often_uncharged = more(stopped_ms, OFTEN_MS, "it used only {:.0f} ms while it was stopped")
box_outlived_the_game = more(lambda seen: seen.record.seats[0].lingered_ms, 0, "its box was gone before it was left")


def is_whole(seen: Observed) -> str:
    whole = any(len(note) > 131000 for note in seen.record.seats[0].notes)
    return "" if whole else "the line is not in the notes"


def takes_much(seen: Observed) -> str:
    """One disturbed answer may be due to the host."""
    shares = proofs.interrupts_shares(seen)
    is_much = len(shares) > 1 and shares[-2] > proofs.interrupts_limit(seen)
    return "" if is_much else f"interrupts took only {proofs.percent(shares)} of the opponent's work"


def loses_much(seen: Observed) -> str:
    lost = proofs.lost_share(seen)
    is_much = lost > proofs.MAX_LOST_SHARE + proofs.lost_share(seen.peace)
    return "" if is_much else f"the opponent lost only {lost:.0%} of its time"


def has_not_saved(seen: Observed) -> str:
    return "" if proofs.has_saved(seen) else "the opponent has saved its data"


def is_charged(seen: Observed) -> str:
    attacker, opponent = (
        sum(RanOn.decode(data).cpu_ns or 0 for data in _spans(seen, EntryKind.RAN_ON, seat)) / 1e6 for seat in (0, 1)
    )
    if attacker < LONG_CALL_MS or opponent > attacker / 2:
        return f"it ran on for {attacker:.0f} ms, and its opponent for {opponent:.0f} ms"
    charged = seen.record.seats[0].charged_ms
    return "" if charged >= attacker else f"it was charged {charged:.0f} of {attacker:.0f} ms"


BY_ID: Mapping[str, Attack] = {attack.id: attack for attack in ATTACKS}
CONTROLS: Mapping[str, Control] = {
    row["id"]: TypeAdapter(Control).validate_python(row) for row in read_rows(ROWS, globals())
}
REASONS: Mapping[str, Sequence[str]] = tomllib.loads(ROWS.read_text(encoding="utf-8"))["reasons"]
"""For missing controls, the attacks."""
