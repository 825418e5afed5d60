"""A policy is one TOML file a contest format: it has every number that the judge enforces.

Unknown keys are refused with their line. `[variants.NAME]` tables override the rest of the file: `NAME` is chosen with
`policy:NAME`; single keys by `--set section.key=value`.
"""

import json
import re
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from judge.base.durable_files import is_file
from judge.base.errors import InputError
from judge.base.parsing import complaint
from judge.base.resources import POLICIES
from judge.base.text import quote, suggest
from judge.base.toml_files import parse, read_text, validated
from judge.games import GAMES, new_game
from judge.protocols import not_carried
from judge.referee.bounds import LARGEST_RECORD, RecordBounds, bounds
from judge.sandbox.box import BoxPolicy, FolderKind, Limits


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GameChoice(_Section):
    """Which game, and its own options (checked by the game)."""

    name: str
    options: dict[str, Any] = Field(default_factory=dict)
    protocol: str = ""
    """What agents speak unless their manifest says otherwise; where it is left out, the game's own says it."""

    @model_validator(mode="after")
    def _speaks(self) -> Self:
        if not self.protocol:
            with suppress(InputError):  # a game that is none is named when it is made
                # Not a field that was given: the id of a spec is a digest of those.
                self.__dict__["protocol"] = GAMES.entry(self.name).protocol
        return self


class ClockPolicy(_Section):
    """Times in milliseconds."""

    turn_ms: int = Field(default=5000, ge=0)
    """Limit of a turn; 0: the agent must play as fast as possible and has `asap_ms`."""
    match_ms: int = Field(default=120000, ge=0)
    """Limit of all turns of a game and of the start-up together; 0: none."""
    tolerance_ms: int = Field(default=1000, ge=0)
    """How far a turn may overrun before it is lost; the overrun is charged to the game."""
    asap_ms: int = Field(default=1000, ge=1)
    start_ms: int = Field(default=10000, ge=1)
    """From the agent's first instruction to its being ready; charged to the game, not to a turn."""
    sync_ms: int = Field(default=10000, ge=1)
    """From the question whether it listens (AGI: ISREADY) to the answer; charged to the game, so that nobody gains by
    a late one, not to a turn."""
    courtesy_ms: int = Field(default=1000, ge=1)
    """How long the judge waits for an optional answer (ABOUT); free."""
    person_ms: int = Field(default=86_400_000, ge=1, le=2_000_000_000)
    """How long a person who plays without a clock may take for an answer: a day; after that the person loses."""
    close_ms: int = Field(default=1000, ge=0)
    """From the goodbye to the kill."""
    still_ms: int = Field(default=1000, ge=1)
    """How long an agent may take to stand still when its turn is over. It is waited for, before any clock of its
    opponent begins; the processor time that it uses is charged to its game, and one that needs longer loses."""
    ran_on_ms: int = Field(default=20, ge=0)
    """How much processor time an agent may use while it should stand still. With less it does not lose by `still_ms`,
    and what it uses is charged to its game; with more it loses."""
    starved_share: float = Field(default=0.1, gt=0, le=1)
    """A turn lost on time is void when others took more than this share of the slot's cores meanwhile, or the kernel
    stalled a process of the judge's own for more than this share of it..."""
    waited_share: float = Field(default=0.5, ge=0, le=1)
    """...and the agent wanted a core and had none for at least this share of what they took, or slept for this share of
    the stall; 0: whether or not."""


class BytesPolicy(_Section):
    """How much an agent may print, in bytes."""

    turn_bytes: int = Field(default=1 << 20, ge=1024)
    """Between two answers of its own; more loses the game."""
    game_bytes: int = Field(default=8 << 20, ge=1024)
    """In the whole game; more loses it."""
    stderr_bytes: int = Field(default=1 << 20, ge=0)
    """How much of stderr is kept; the rest is read and thrown away."""
    least_bytes: int = Field(default=128, ge=1)
    """What a line counts at least, and a piece of stderr: each costs the judge as much as so many bytes."""


class LimitsPolicy(_Section):
    """What the kernel enforces, in bytes and counts; see `judge.sandbox.box.Limits`."""

    memory_bytes: int = Field(default=367001600, ge=0)
    """Sent to the agent, and its cap before the writable directories are added. 0: the agent is sent no limit."""
    ceiling_bytes: int = Field(default=1 << 30, ge=16 << 20)
    """The cap where `memory_bytes` is 0."""
    scratch_bytes: int = Limits.model_fields["scratch_bytes"].default
    scratch_inodes: int = Limits.model_fields["scratch_inodes"].default
    shm_bytes: int = Limits.model_fields["shm_bytes"].default
    """Size of /dev/shm, for POSIX semaphores and shared memory; 0: there is none."""
    processes: int = Limits.model_fields["processes"].default
    open_files: int = Limits.model_fields["open_files"].default
    file_bytes: int = Limits.model_fields["file_bytes"].default
    stack_bytes: int = Limits.model_fields["stack_bytes"].default
    address_bytes: int = Limits.model_fields["address_bytes"].default

    @model_validator(mode="after")
    def _can_be_enforced(self) -> Self:
        try:
            self.enforced()
        except ValidationError as error:
            raise ValueError(complaint(error)) from None
        return self

    def enforced(self, **folders: int) -> Limits:
        """What a box is built with, with the sizes of its `folders`."""
        own = self.model_dump(exclude={"memory_bytes", "ceiling_bytes"})
        return Limits(memory_bytes=self.memory_bytes or self.ceiling_bytes, **own, **folders)


class FoldersPolicy(_Section):
    """The two directories of the Gomoku AI protocol; the file system enforces both limits; pages are memory."""

    temporary: bool = False
    """Whether the temporary folder is kept through a contest; else every game begins without one."""
    temporary_bytes: int = Field(default=20971520, ge=0)
    """Size of the working directory, which the temporary folder is in; 0: it cannot be written."""
    temporary_inodes: int = Field(default=2048, ge=16)
    persistent: bool = False
    """Whether there is a persistent folder; then INFO folder is sent."""
    persistent_bytes: int = Field(default=20971520, ge=4096)
    persistent_inodes: int = Field(default=2048, ge=16)
    round: Literal["each", "first"] = "each"
    """How several games of one agent in a round relate. `each` starts from what the one before it left: they are
    played one at a time. `first`: all start from what was there at first, and the last of the schedule is kept."""

    @property
    def kept(self) -> tuple[FolderKind, ...]:
        """The folders that outlive a game."""
        is_kept = {
            FolderKind.TEMPORARY: self.temporary and self.temporary_bytes > 0,
            FolderKind.PERSISTENT: self.persistent,
        }
        return tuple(kind for kind in FolderKind if is_kept[kind])


class Policy(_Section):
    """A whole contest format."""

    name: str
    about: str = ""
    game: GameChoice
    protocol: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Options a protocol: `[protocol.gomocup]`."""
    clock: ClockPolicy = ClockPolicy()
    bytes: BytesPolicy = BytesPolicy()
    limits: LimitsPolicy = LimitsPolicy()
    folders: FoldersPolicy = FoldersPolicy()
    box: BoxPolicy = BoxPolicy()
    admits: tuple[str, ...] = ("native", "python", "java")
    """The runtimes that agents may ask for: the judge's own, and those built by `judge images build NAME --from`."""
    runtimes: dict[str, str] = Field(default_factory=dict)
    """More of them, each with its local image (tag or digest) that was made in another way."""
    points: dict[str, tuple[float, float]] = Field(default_factory=dict)
    """What a game scores, by the outcome word of its result line: (the named seat's points, the other seat's)."""
    attempts: int = Field(default=3, ge=1)
    """How often a void game is played before it is left to the organiser."""

    def bounds(self) -> RecordBounds:
        """How large a record of a game can become, and the judge with it; InputError for a game that is none."""
        longest = new_game(self.game.name, self.game.options).longest
        limits = self.bytes
        return bounds(longest, limits.game_bytes, limits.stderr_bytes, limits.least_bytes)

    def enforced(self) -> Limits:
        """What a box is built with; its cap of memory is the agent's own plus all that it can write to."""
        folders = self.folders
        return self.limits.enforced(
            temporary_bytes=folders.temporary_bytes,
            temporary_inodes=folders.temporary_inodes,
            persistent_bytes=folders.persistent_bytes if folders.persistent else 0,
            persistent_inodes=folders.persistent_inodes,
        )


def runtime_of(policy: Policy, name: str) -> str:
    """The image, or the name of ours, that a manifest's runtime means under this policy; InputError if it is none.

    Agents cannot name images: an organiser admits a runtime, or brings an image and gives it a name in `[runtimes]`.
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


def load_policy(name: str, overrides: Sequence[str] = (), option: str = "--set") -> Policy:
    """The policy called `name`: a name of policies/, or a file ending in .toml; `:variant` behind it chooses one.

    `overrides` are `section.key=value` texts, which came by an `option`. Raises InputError that names the override, or
    file, line or key, and the fix.
    """
    path, variant = _locate(name)
    text = read_text(path, "a policy file")
    document = parse(path, text)
    variants = document.pop("variants", {})
    if variant:
        if variant not in variants:
            raise InputError(f"{path} has no variant {variant!r}; {suggest(variant, variants)}")
        _merge(document, variants[variant])
    changes = {_override(document, override, option): f"{option} {override!r}" for override in overrides}
    policy = validated(Policy, document, path, text, changes)
    _check_protocol(policy, path)
    _check_bounds(policy, path)
    return policy


def _check_protocol(policy: Policy, path: Path) -> None:
    """The protocol of the policy carries its game."""
    choice = policy.game
    try:
        game = GAMES.entry(choice.name)
    except InputError:
        return  # named when the game is made
    try:
        why = not_carried(choice.protocol, game) if choice.protocol else ""
    except InputError as error:
        raise InputError(f"{path}, game.protocol: {error}") from None
    if why:
        fix = f"{game.name} is played in {game.protocol}" if game.protocol else "choose another protocol"
        raise InputError(f"{path}, game.protocol: the protocol {choice.protocol} {why}; {fix}")


def _check_bounds(policy: Policy, path: Path) -> None:
    """Every record that the judge writes is one that it reads."""
    try:
        largest = policy.bounds().record_bytes
    except InputError:
        return  # the game's own options are at fault, and named when it is made
    if largest > LARGEST_RECORD:
        raise InputError(
            f"{path}: a record of such a game could have {largest >> 20} MiB, and none is read of more than "
            f"{LARGEST_RECORD >> 20}: lower bytes.game_bytes ({policy.bytes.game_bytes}) or bytes.stderr_bytes, "
            "raise bytes.least_bytes, or give the game a limit"
        )


def policy_names() -> list[str]:
    """The names of the policies that come with the judge, sorted."""
    return sorted(path.stem for path in POLICIES.glob("*.toml"))


def variants_of(name: str) -> list[str]:
    """The variants that the policy called `name` has, in the order of its file; InputError as `load_policy`."""
    path, _ = _locate(name)
    return list(parse(path, read_text(path, "a policy file")).get("variants", {}))


def _locate(name: str) -> tuple[Path, str]:
    base, _, variant = name.partition(":")
    if base.endswith(".toml"):
        return Path(base), variant
    path = POLICIES / f"{base}.toml"
    if not re.fullmatch(r"[A-Za-z0-9._-]+", base) or not is_file(path):
        raise InputError(f"there is no policy {quote(base, 80)}; {suggest(base, policy_names())}")
    return path, variant


def _merge(document: dict[str, Any], over: dict[str, Any]) -> None:
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(document.get(key), dict):
            _merge(document[key], value)
        else:
            document[key] = value


def _override(document: dict[str, Any], override: str, option: str) -> str:
    """Change the document; the dotted key that was changed."""
    path, separator, text = override.partition("=")
    keys = path.strip().split(".")
    if not separator or not all(keys):
        raise InputError(f"{option} {override!r}: write section.key=value, such as clock.turn_ms=1000")
    table = document
    for key in keys[:-1]:
        table = table.setdefault(key, {})
        if not isinstance(table, dict):
            raise InputError(f"{option} {override!r}: {key!r} is not a section")
    try:
        table[keys[-1]] = tomllib.loads(f"value = {text.strip()}")["value"]
    except (ValueError, RecursionError):
        table[keys[-1]] = text.strip()  # so that `box.freeze=none` needs no quotes
    return path.strip()
