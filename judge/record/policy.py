"""A policy is a TOML file with the game, the clocks and the limits of a contest format.

`policy:NAME` selects a `[variants.NAME]` table, which overrides the rest; `--set section.key=value` overrides single
keys.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, ValidationInfo, field_validator, model_validator

from judge.base.durable_files import is_file
from judge.base.errors import InputError
from judge.base.parsing import FailFastDict, FailFastTuple, FrozenModel, complaint
from judge.base.resources import POLICIES
from judge.base.text import quote, suggest
from judge.base.toml_files import line_of, parse, read_text, validated
from judge.games import GAMES, new_game
from judge.protocols import not_carried
from judge.protocols.time_control import UNLIMITED_MS, TimeControl, controls_text, parse_controls
from judge.record.bounds import MAX_RECORD_BYTES, RecordBounds, bounds
from judge.sandbox.box import NO_FREEZER, BoxPolicy, FolderKind, Limits

CEILING_BYTES = 1 << 30
"""Memory of an agent if `limits.memory_bytes` is 0."""


class GameChoice(FrozenModel):
    """The game and its options."""

    name: str
    options: dict[str, Any] = Field(default_factory=dict)
    protocol: str = Field(default="", validate_default=True)
    """Default protocol of agents; empty: the game's protocol."""

    @field_validator("protocol")
    @classmethod
    def _of_game(cls, value: str, info: ValidationInfo) -> str:
        if not value and "name" in info.data:
            with suppress(InputError):  # an unknown game is reported when it is built
                return GAMES.entry(info.data["name"]).protocol
        return value


def _of_one_seat(text: str) -> str:
    try:
        return str(TimeControl.parse(text))
    except InputError as error:
        raise ValueError(str(error)) from None


AgentClocks = Mapping[str, Annotated[str, AfterValidator(_of_one_seat)]]
"""Time controls by agent."""


class ClockPolicy(FrozenModel):
    """Times in milliseconds."""

    turn_ms: int = Field(default=5000, ge=0, le=UNLIMITED_MS)
    """Limit of a turn. 0: play as fast as possible, within 1 s."""
    match_ms: int = Field(default=120000, ge=0, le=UNLIMITED_MS)
    """Limit of start-up and turns together. 0: no limit."""
    control: str | None = Field(default=None, exclude_if=lambda control: control is None)
    """Time control in place of `turn_ms` and `match_ms`, such as `60+0.6` or `600|3x30` (organise/time-controls.md)."""
    tolerance_ms: int = Field(default=1000, ge=0, le=UNLIMITED_MS)
    """Maximum overrun of a turn; it is charged to the game."""
    start_ms: int = Field(default=10000, ge=1, le=UNLIMITED_MS)
    """From the first instruction until ready; charged to the game, not to a turn."""
    close_ms: int = Field(default=1000, ge=0, le=UNLIMITED_MS)
    """Time from the goodbye to the kill."""
    ponder: bool = Field(default=False, exclude_if=lambda ponder: not ponder)
    """Agents also run in the opponent's time. Each seat has half of the slot's cores."""
    starved_share: float = Field(default=0.1, gt=0, le=1)
    """A turn lost on time is void if other processes took more than this share of the slot's cores, or the
    kernel stalled the judge's probe process for more than this share of the turn, and the agent waited for a
    core, or slept, for at least half of that.
    """

    @field_validator("control")
    @classmethod
    def _is_control(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                parse_controls(value)
            except InputError as error:
                raise ValueError(str(error)) from None
        return value

    @model_validator(mode="before")
    @classmethod
    def _follow_control(cls, keys: object) -> object:
        """`turn_ms` and `match_ms` are the limits of the seat with more time."""
        if isinstance(keys, dict) and isinstance(control := keys.get("control"), str):
            with suppress(InputError):  # `_is_control` reports it
                return keys | _limits_of(parse_controls(control))
        return keys

    @property
    def controls(self) -> tuple[TimeControl, TimeControl]:
        """The time control of each seat."""
        if self.control is not None:
            return parse_controls(self.control)
        control = TimeControl.of_game(self.match_ms or None, self.turn_ms, charges_start=True)
        return control, control

    def with_controls(self, change: Callable[[TimeControl], TimeControl]) -> Self:
        """The clock with a changed time control of each seat, in the same keys."""
        return self._with(*map(change, self.controls))

    def with_clocks(self, first: str, second: str) -> Self:
        """The clock with another time control of each seat; empty: unchanged."""
        chosen = zip((first, second), self.controls, strict=True)
        return self._with(*(TimeControl.parse(text) if text else control for text, control in chosen))

    def _with(self, first: TimeControl, second: TimeControl) -> Self:
        update: dict[str, object] = {**_limits_of((first, second))}
        if self.control is not None:
            update["control"] = controls_text((first, second))
        return self.model_copy(update=update)

    @property
    def words(self) -> str:
        """The limits as text."""
        first, second = (each.summary for each in self.controls)
        text = first if first == second else f"first seat {first}, second seat {second}"
        return f"{text}, agents ponder" if self.ponder else text

    @property
    def notation(self) -> str:
        return controls_text(self.controls)

    @property
    def answer_ms(self) -> int:
        """Maximum of a first answer."""
        return max(each.answer_ms or 0 for each in self.controls)

    @property
    def shortest_ms(self) -> int:
        """Maximum of a first answer, of the seat with less time. 0: no limit."""
        return min((each.answer_ms for each in self.controls if each.answer_ms is not None), default=0)

    @property
    def announced_answer_ms(self) -> int:
        """Maximum of a first answer. 0: as fast as possible."""
        return self.answer_ms if self.turn_ms else 0

    def with_turn(self, turn_ms: int, tolerance_ms: int) -> Self:
        """With another limit of an answer."""
        changed = self.with_controls(lambda each: each.with_turn(turn_ms))
        return changed.model_copy(update={"tolerance_ms": tolerance_ms})


def _limits_of(controls: tuple[TimeControl, TimeControl]) -> dict[str, int]:
    totals = [each.total_ms or 0 for each in controls]
    return {
        "turn_ms": max(each.announced_turn_ms for each in controls),
        "match_ms": max(totals) if all(totals) else 0,
    }


class BytesPolicy(FrozenModel):
    """Output limit in bytes."""

    game_bytes: int = Field(default=1 << 20, ge=2048)
    """In the whole game, and half of it between two answers; exceeding either loses the game."""

    @property
    def turn_bytes(self) -> int:
        """Between two answers."""
        return self.game_bytes // 2


class LimitsPolicy(FrozenModel):
    """Kernel limits in bytes and counts; see `judge.sandbox.box.Limits`."""

    memory_bytes: int = Field(default=367001600, ge=0)
    """Memory limit sent to the agent; its cap without writable directories. 0: 0 is sent, which
    means no limit, and the cap is 1 GiB."""
    threads: int = Field(default=1, ge=1, le=1024, exclude_if=lambda threads: threads == 1)
    """Maximum number of threads in an agent's `[options]`; at most the cores of a seat."""
    processes: int = Limits.model_fields["processes"].default
    """Processes and threads of an agent."""
    open_files: int = Limits.model_fields["open_files"].default
    """Of each process; twice as many with Wine."""

    @model_validator(mode="after")
    def _can_be_enforced(self) -> Self:
        try:
            self.enforced()
        except ValidationError as error:
            raise ValueError(complaint(error)) from None
        return self

    def enforced(self, **folders: int) -> Limits:
        """`folders` are sizes by the fields of `Limits`."""
        return Limits(memory_bytes=self.cap_bytes, processes=self.processes, open_files=self.open_files, **folders)

    @property
    def cap_bytes(self) -> int:
        """Memory of the agent without its writable directories."""
        return self.memory_bytes or CEILING_BYTES


class FoldersPolicy(FrozenModel):
    """The two directories of the Gomoku AI protocol. The file system enforces the sizes; pages count as
    memory.
    """

    temporary: bool = False
    """Keep the temporary folder during a contest."""
    temporary_bytes: int = Field(default=20971520, ge=0)
    """Size of the working directory including the temporary folder. 0: read-only."""
    temporary_inodes: int = Field(default=2048, ge=16)
    persistent: bool = False
    """Provide a persistent folder and send INFO folder."""
    persistent_bytes: int = Field(default=20971520, ge=4096)
    persistent_inodes: int = Field(default=2048, ge=16)
    round: Literal["each", "first"] = "each"
    """Games of an agent in a round. `each`: one at a time, each from the previous game's state. `first`: all
    from the same state; the schedule's last game is kept.
    """

    @property
    def kept(self) -> tuple[FolderKind, ...]:
        is_kept = {
            FolderKind.TEMPORARY: self.temporary and self.temporary_bytes > 0,
            FolderKind.PERSISTENT: self.persistent,
        }
        return tuple(kind for kind in FolderKind if is_kept[kind])


class Policy(FrozenModel):
    """A complete contest format."""

    name: str
    about: str = ""
    game: GameChoice
    protocol: FailFastDict[str, dict[str, Any]] = Field(default_factory=dict)
    """Options per protocol, such as `[protocol.gomocup]`."""
    clock: ClockPolicy = ClockPolicy()
    bytes: BytesPolicy = BytesPolicy()
    limits: LimitsPolicy = LimitsPolicy()
    folders: FoldersPolicy = FoldersPolicy()
    box: BoxPolicy = BoxPolicy()
    admits: FailFastTuple[str] = ("native", "python", "java")
    """Runtimes that agents may request: built-in ones, and those of `judge images build NAME --from`."""
    runtimes: dict[str, str] = Field(default_factory=dict)
    """Additional runtimes with a local image (tag or digest)."""
    points: FailFastDict[str, tuple[float, float]] = Field(default_factory=dict)
    """Scores by the outcome word of the result line: (named seat, other seat)."""
    attempts: int = Field(default=3, ge=1)
    """Maximum attempts of a void game before the organiser decides."""

    @model_validator(mode="after")
    def _ponders_alone(self) -> Self:
        if self.clock.ponder and self.box.sharing > 1:
            raise ValueError(
                f"clock.ponder = true needs cores for each seat, and box.sharing = {self.box.sharing} puts several "
                "games on the same cores: write box.sharing = 1, or remove clock.ponder"
            )
        return self

    @property
    def slot_cores(self) -> int:
        """Whole cores that a game needs."""
        return self.limits.threads * (2 if self.clock.ponder else 1)

    @property
    def slot_reason(self) -> str:
        threads = f"limits.threads = {self.limits.threads}"
        return f"clock.ponder = true and {threads}" if self.clock.ponder else threads

    @property
    def game_box(self) -> BoxPolicy:
        """Without a freezer if agents may ponder."""
        return self.box.model_copy(update={"freeze": NO_FREEZER}) if self.clock.ponder else self.box

    def with_clocks(self, first: str, second: str) -> Self:
        """As `ClockPolicy.with_clocks`."""
        return self.model_copy(update={"clock": self.clock.with_clocks(first, second)})

    def bounds(self) -> RecordBounds:
        """Raises InputError if the game is unknown."""
        game = new_game(self.game.name, self.game.options)
        longest, refusals = game.longest, 0
        while game.renegotiate():
            refusals += 1
        return bounds(longest, self.bytes.game_bytes, refusals * self.bytes.turn_bytes)

    def enforced(self) -> Limits:
        """The limits of a box, including its folders."""
        folders = self.folders
        return self.limits.enforced(
            temporary_bytes=folders.temporary_bytes,
            temporary_inodes=folders.temporary_inodes,
            persistent_bytes=folders.persistent_bytes if folders.persistent else 0,
            persistent_inodes=folders.persistent_inodes,
        )


def shortest_turn_ms(policy: Policy, clocks: Mapping[str, str]) -> int:
    """Maximum of a first answer, of the agent with least time. 0: no limit."""
    found = (policy.clock.with_clocks(text, text).shortest_ms for text in {"", *clocks.values()})
    return min((ms for ms in found if ms), default=0)


def runtime_of(policy: Policy, name: str) -> str:
    """The image or built-in runtime of a manifest's runtime. Raises InputError if it is not admitted.

    Agents cannot name images; organisers map names to images in `[runtimes]`.
    """
    if name in policy.runtimes:
        return policy.runtimes[name]
    if name in policy.admits:
        return name
    admitted = ", ".join([*policy.admits, *policy.runtimes])
    raise InputError(
        f"runtime {name!r}: policy {policy.name} admits {admitted}; ask for one of these, or ask the organiser to "
        f"admit it in the policy's file: admits = {json.dumps([*policy.admits, name])}"
    )


def load_policy(name: str, overrides: Sequence[str] = (), option: str = "--set", clock: str = "") -> Policy:
    """The policy `name`: in policies/, or a path ending in .toml; optionally with `:variant`.

    `overrides` are `section.key=value` texts, given with `option`; `clock` is the time control of `--clock`.
    Raises InputError with the place and the fix.
    """
    path, variant = _locate(name)
    text = read_text(path, "a policy file")
    document = parse(path, text)
    variants = _variants(document, path)
    document.pop("variants", None)
    changes = _use_control(document, path, text)
    if variant:
        if variant not in variants:
            raise InputError(f"{path} has no variant {variant!r}; {suggest(variant, variants)}")
        changes |= _use_control(variants[variant], path, text)
        _merge(document, variants[variant])
    changes |= {_override(document, override, option): f"{option} {override!r}" for override in overrides}
    if clock:
        _merge(document, {"clock": {"control": clock}})
        changes["clock.control"] = f"--clock {quote(clock)}"
    policy = validated(Policy, document, path, text, changes)
    _check_protocol(policy, path)
    _check_bounds(policy, path)
    return policy


def _check_protocol(policy: Policy, path: Path) -> None:
    choice = policy.game
    try:
        game = GAMES.entry(choice.name)
    except InputError:
        return  # reported when the game is built
    try:
        why = not_carried(choice.protocol, game) if choice.protocol else ""
    except InputError as error:
        raise InputError(f"{path}, game.protocol: {error}") from None
    if why:
        fix = f"{game.name} is played in {game.protocol}" if game.protocol else "choose another protocol"
        raise InputError(f"{path}, game.protocol: the protocol {choice.protocol} {why}; {fix}")


def _check_bounds(policy: Policy, path: Path) -> None:
    try:
        largest = policy.bounds().record_bytes
    except InputError:
        return  # invalid game options are reported when the game is built
    if largest > MAX_RECORD_BYTES:
        raise InputError(
            f"{path}: a record of this game could have {largest >> 20} MiB, more than the maximum of "
            f"{MAX_RECORD_BYTES >> 20}: lower bytes.game_bytes ({policy.bytes.game_bytes}), or give the game a limit"
        )


def policy_names() -> list[str]:
    """Built-in policies, sorted."""
    return sorted(path.stem for path in POLICIES.glob("*.toml"))


def variants_of(name: str) -> list[str]:
    """Variants in file order. Raises InputError."""
    path, _ = _locate(name)
    return list(_variants(parse(path, read_text(path, "a policy file")), path))


def _variants(document: Mapping[str, Any], path: Path) -> Mapping[str, dict[str, Any]]:
    """Raises InputError unless each is a section."""
    variants = document.get("variants", {})
    if not isinstance(variants, dict):
        raise InputError(f"{path}: variants is not a section: write [variants.NAME]")
    for name, variant in variants.items():
        if not isinstance(variant, dict):
            raise InputError(f"{path}: variants.{quote(name)} is not a section: write [variants.NAME]")
    return variants


def _locate(name: str) -> tuple[Path, str]:
    base, _, variant = name.partition(":")
    if base.endswith(".toml"):
        return Path(base), variant
    path = POLICIES / f"{base}.toml"
    if not re.fullmatch(r"[A-Za-z0-9._-]+", base) or not is_file(path):
        GAMES.refuse_missing_plugin(base)
        raise InputError(f"unknown policy {quote(base, 80)}; {suggest(base, policy_names())}")
    return path, variant


_LIMITS = ("turn_ms", "match_ms")


def _use_control(document: Any, path: Path, text: str) -> dict[str, str]:
    if not isinstance(document, dict):
        return {}
    clock = document.get("clock")
    if isinstance(clock, str):
        document["clock"] = {"control": clock}
        return {"clock.control": f"{path}, line {line_of(['clock'], text)}"}
    if isinstance(clock, dict) and "control" in clock:
        for key in _LIMITS:
            if key in clock:
                raise _two_limits(f"{path}, line {line_of(['clock', key], text)}", key, clock["control"])
    return {}


def _two_limits(place: str, key: str, control: object) -> InputError:
    fix = "append @SECONDS to it for a limit of each answer" if key == "turn_ms" else "write the time there"
    return InputError(f"{place}: clock.{key}: clock.control {control!r:.60} sets the limits; {fix}, or remove one key")


def _merge(document: dict[str, Any], over: dict[str, Any]) -> None:
    if isinstance(clock := document.get("clock"), dict) and isinstance(newer := over.get("clock"), dict):
        if "control" in newer:
            for key in _LIMITS:
                clock.pop(key, None)
        elif any(key in newer for key in _LIMITS):
            clock.pop("control", None)
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(document.get(key), dict):
            _merge(document[key], value)
        else:
            document[key] = value


def _override(document: dict[str, Any], override: str, option: str) -> str:
    path, separator, text = override.partition("=")
    keys = path.strip().split(".")
    if not separator or not all(keys):
        raise InputError(f"{option} {override!r}: write section.key=value, such as clock.turn_ms=1000")
    if keys == ["clock", "control"] or (keys == ["clock"] and not re.fullmatch(r"[\s\d.]+|\{.*\}", text)):
        _merge(document, {"clock": {"control": text.strip().strip("\"'")}})
        return "clock.control"
    clock = document.get("clock")
    if keys[0] == "clock" and keys[-1] in _LIMITS and isinstance(clock, dict) and "control" in clock:
        raise _two_limits(f"{option} {override!r}", keys[-1], clock["control"])
    table = document
    for key in keys[:-1]:
        table = table.setdefault(key, {})
        if not isinstance(table, dict):
            raise InputError(f"{option} {override!r}: {key!r} is not a section")
    try:
        table[keys[-1]] = parse(Path(option), f"value = {text.strip()}")["value"]
    except InputError:
        table[keys[-1]] = text.strip()
    return path.strip()
