"""From an upload to an agent that passed the gate, or to one sentence that says why not; a failed host says nothing.

    received    its size, its digest, its name
    unpacked    a tree of files, read in a box (`judge.submissions.unpack`)
    built       a tree that can be played, built in a box where it is sources (`judge.submissions.build`)
    staged      read-only, by the digest of its files (`judge.agents.store`)
    checked     examined under the contest's policy (`judge.submissions.check`)

An agent is the image of its runtime and its files by digest, mounted read-only; it is no image of its own. So equal
files are one agent, no instruction of a stranger's is ever run to make an image, and an agent is shipped as files.
"""

import hashlib
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from judge.agents.agents import (
    INFO,
    MANIFEST,
    Agent,
    brains_of,
    fit_name,
    info_words,
    is_name,
    nothing_plays,
    read_manifest,
    stage_agent,
)
from judge.agents.gomocup_archives import PREFIX, brain_name
from judge.agents.programs import kind_of
from judge.agents.recipe import BuildRecipe, Sources, is_built, recipe_for
from judge.agents.store import AgentStore
from judge.errors import HostError, InputError, NotReadyError
from judge.referee.play import Slot
from judge.referee.policy import Policy
from judge.referee.setup import check_playable
from judge.referee.spec import MatchSpec
from judge.sandbox import images
from judge.sandbox.box import BoxPolicy
from judge.sandbox.owner import owned_directory
from judge.submissions import build, unpack
from judge.submissions.check import CheckReport, Grade, OverlongError, examine
from judge.submissions.limits import IntakeLimits
from judge.submissions.path_checks import RefusedError, shown
from judge.submissions.sandbox_task import Bench
from judge.text import printable

REFUSAL_CHARACTERS = 600
_PARTNERS = ("native",)
"""The runtimes of the house agents that sit opposite in the check."""


class Stage(StrEnum):
    """How far an upload has come."""

    RECEIVED = "received"
    UNPACKED = "unpacked"
    BUILT = "built"
    STAGED = "staged"
    CHECKED = "checked"


@dataclass(frozen=True, slots=True)
class UploadStep:
    """One stage: whether it went well, and a sentence about it, safe to show."""

    stage: Stage
    ok: bool
    text: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Origin:
    """All that decides what an upload becomes: the same origin, the same files.

    Digests are SHA-256 (hex): of the upload, of the contents of the images that unpacked and built it (empty where
    there was nothing to unpack or build) and of the one that it runs in; `recipe` has the commands, as JSON.
    """

    upload: str = ""
    filename: str = ""
    unpacker: str = ""
    toolchain: str = ""
    recipe: str = ""
    runtime: str = ""


@dataclass(frozen=True, slots=True)
class UploadOutcome:
    """What became of an upload.

    `agent`, staged by its digest, and `runtime_image`, the id of the image that it runs in, are there when it got that
    far, with a refusal too. `log` is the build's, escaped and bounded. `report` is the gate's. `refusal` is empty when
    the agent passed.
    """

    steps: tuple[UploadStep, ...]
    agent: Agent | None
    runtime_image: str
    log: str
    report: CheckReport | None
    refusal: str
    origin: Origin = field(default_factory=Origin)


class Workplace(Protocol):
    """Where uploads are processed, beside the games of a host."""

    def aside(self) -> AbstractContextManager[tuple[int, ...]]:
        """Processors on which no game is played meanwhile, for unpacking and building."""

    def slot(self) -> AbstractContextManager[Slot]:
        """A slot in which nothing else is played meanwhile, for the examination."""


class Anywhere:
    """A workplace without cores of its own."""

    def aside(self) -> AbstractContextManager[tuple[int, ...]]:
        """All processors."""
        return nullcontext(())

    def slot(self) -> AbstractContextManager[Slot]:
        """All processors."""
        return nullcontext(Slot())


def unheard(step: UploadStep) -> None:
    """A step that nobody wants to hear of at once."""


def unneeded(image: str) -> None:
    """An image that nobody builds only because it is needed."""


def process(
    upload: Path,
    filename: str,
    policy: Policy,
    agents: Path,
    name: str = "",
    author: str = "",
    tell: Callable[[UploadStep], None] = unheard,
    limits: IntakeLimits | None = None,
    workplace: Workplace | None = None,
    need: Callable[[str], None] = unneeded,
) -> UploadOutcome:
    """Make an agent of the file `upload`, which its sender calls `filename`, for a contest with this policy.

    Agents are staged below the directory `agents`. `name` and `author` are what the contest calls them, whatever the
    files say. `tell` hears of each step at once. Boxes are made at the `workplace`. `need` is called with the name of
    each image or runtime before it is used, and may build it.

    Raises HostError when the host failed (NotReadyError: it lacks something): then nothing is said about the upload,
    and it can be processed again. Nothing that an upload does raises anything.
    """
    with owned_directory() as room:
        desk = _Desk(upload, filename, policy, limits or IntakeLimits(), workplace or Anywhere(), room, tell, need)
        try:
            desk.receive(name)
            tree = desk.build(desk.unpack(name))
            desk.stage(tree, agents, name, author)
            desk.examine()
        except _RefusalError as refusal:
            desk.refusal = str(refusal)
        return desk.outcome()


class _RefusalError(Exception):
    """The upload goes no further; the text is the sentence, safe to show."""


class _Desk:
    """One upload on its way."""

    def __init__(
        self,
        upload: Path,
        filename: str,
        policy: Policy,
        limits: IntakeLimits,
        workplace: Workplace,
        room: Path,
        tell: Callable[[UploadStep], None],
        need: Callable[[str], None],
    ) -> None:
        self._upload = upload
        self._filename = filename
        self._policy = policy
        self._limits = limits
        self._workplace = workplace
        self._room = room
        self._tell = tell
        self._need = need
        self._steps: list[UploadStep] = []
        self._origin = Origin()
        self._agent: Agent | None = None
        self._runtime_image = ""
        self._log = ""
        self._report: CheckReport | None = None
        self.refusal = ""

    def outcome(self) -> UploadOutcome:
        """What there is to say by now."""
        return UploadOutcome(
            steps=tuple(self._steps),
            agent=self._agent,
            runtime_image=self._runtime_image,
            log=self._log,
            report=self._report,
            refusal=self.refusal,
            origin=self._origin,
        )

    # --- the stages ----------------------------------------------------------------------------------

    def receive(self, name: str) -> None:
        """Look at the upload from outside."""
        with self._stage(Stage.RECEIVED) as step:
            size = self._upload_bytes()
            if size > self._limits.upload_bytes:
                raise RefusedError(f"it has {size} bytes; an upload may have {self._limits.upload_bytes}")
            if name and not is_name(name):
                raise InputError(f"the name {name!r}: A-Z, a-z, 0-9, dash, underscore and dot, at most 64")
            with self._upload.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            self._origin = Origin(upload=digest, filename=printable(unpack.name_of(self._filename), 300))
            step.text = f"{shown(unpack.name_of(self._filename))}, {size} bytes, SHA-256 {digest[:16]}"

    def unpack(self, name: str) -> Path:
        """The tree of files that was sent; of several agents' folders the one called `name`, or like the upload."""
        with self._stage(Stage.UNPACKED) as step:
            target = self._room / "unpacked" / self._called
            target.parent.mkdir()
            if unpack.is_archive(self._filename):
                self._need(unpack.IMAGE)
                self._note(unpacker=images.image_content(unpack.IMAGE))
            with self._bench() as bench:
                step.text = unpack.unpack(self._upload, self._filename, target, self._limits, bench)
            return _where_it_begins(unpack.root_of(target), name or self._called)

    def build(self, tree: Path) -> Path:
        """The tree that is played: the one that was sent, where there is nothing to build."""
        with self._stage(Stage.BUILT, tree) as step:
            recipe = self._recipe(tree)
            if recipe is None:
                step.text = "there is nothing to build"
                return tree
            self._need(build.IMAGE)
            self._note(toolchain=images.image_content(build.IMAGE), recipe=str(recipe))
            target = self._room / "built" / tree.name
            target.parent.mkdir()
            with self._bench() as bench:
                built = build.build(tree, recipe, target, self._limits, bench)
            self._log = built.log
            if built.failure:
                raise RefusedError(built.failure)
            if not any((target / name).exists() for name in (MANIFEST, INFO)) and not brains_of(target):
                raise RefusedError(f"{recipe.kind} was done: {nothing_plays(target)}".replace(f"{target}/", ""))
            did = shlex.join(recipe.commands[0]) if recipe.commands else "nothing was to be done"
            step.text = f"built as {recipe.kind}: {printable(did, 120)}"
            return target

    def stage(self, tree: Path, agents: Path, name: str, author: str) -> None:
        """Make an agent of the tree and put it where it stays."""
        with self._stage(Stage.STAGED, tree) as step:
            staging = self._room / "staging"
            staging.mkdir()
            _make_executable(tree)
            agent = stage_agent(str(_what_plays(tree)), staging)
            given = {"name": name, "author": author}
            update = {key: value for key, value in given.items() if value}
            named = agent.manifest.model_copy(update=update)
            agent = replace(agent, manifest=named, own_name=agent.manifest.name)
            seat = agent.seat(self._policy)
            self._need(seat.runtime)
            self._runtime_image = _image(seat.runtime)
            self._note(runtime=images.image_content(seat.runtime))
            self._agent = replace(agent, program=AgentStore(agents).put(agent.program))
            step.text = f"{agent.manifest.name}, {seat.protocol}, {seat.runtime}, files {agent.digest[:16]}"

    def examine(self) -> None:
        """Let the gate look at the agent."""
        agent = self._agent
        if agent is None:
            return
        with self._stage(Stage.CHECKED) as step:
            for image in (*_PARTNERS, *(("keeper",) if self._policy.folders.kept else ())):
                self._need(image)
            seat = agent.seat(self._policy)
            check_playable(MatchSpec(seats=(seat, seat), policy=self._policy, box="docker"))
            try:
                room, seconds = self._room / "staging", self._limits.check_s
                with self._workplace.slot() as slot:
                    report = examine(agent, self._policy, slot, "docker", room, seconds)
            except OverlongError as error:
                raise RefusedError(str(error)) from None
            except InputError as error:
                # the agent can be seated: what is missing is the organiser's
                raise HostError(f"the check could not be made: {error}") from error
            self._report = report
            failed = [finding.check for finding in report.findings if finding.grade is Grade.FAIL]
            if failed:
                raise RefusedError(f"it failed the check of {', '.join(failed)}: see the report")
            step.text = f"it passed with {len(report.findings)} checks: {report.grade.value}"

    # --- what they share -----------------------------------------------------------------------------

    @contextmanager
    def _bench(self) -> Iterator[Bench]:
        """Where programs of ours work."""
        with self._workplace.aside() as cores:
            yield Bench(_box_policy(self._policy), cores, self._room)

    @contextmanager
    def _stage(self, stage: Stage, tree: Path | None = None) -> Iterator["_Said"]:
        """Run a stage, and tell what came of it; what is wrong with the upload ends it all."""
        began, said = time.monotonic(), _Said()
        try:
            yield said
        except (RefusedError, InputError) as error:
            text = _without(str(error), tree)
            self._add(UploadStep(stage, False, text, time.monotonic() - began))
            raise _RefusalError(text) from error
        except OSError as error:
            raise HostError(f"{self._room}: {error.strerror}: make room, or set TMPDIR") from error
        self._add(UploadStep(stage, True, said.text, time.monotonic() - began))

    def _add(self, step: UploadStep) -> None:
        self._steps.append(step)
        self._tell(step)

    def _note(self, **known: str) -> None:
        self._origin = replace(self._origin, **known)

    def _upload_bytes(self) -> int:
        try:
            return self._upload.stat().st_size
        except OSError as error:
            raise HostError(f"{self._upload}: {error.strerror}: the upload is not there") from error

    @property
    def _called(self) -> str:
        """What the agent is called where its files do not say it."""
        stem = unpack.stem_of(self._filename)
        return fit_name(brain_name(stem) if stem.startswith(PREFIX) else stem)

    def _recipe(self, tree: Path) -> BuildRecipe | None:
        """How the tree is built; None where it can be played as it is."""
        if (tree / MANIFEST).exists():
            manifest = read_manifest(tree / MANIFEST)
            return recipe_for(Sources(tree, manifest.name, manifest.command, manifest.build))
        if (tree / INFO).is_file():
            first, *words = info_words(tree / INFO)
            return recipe_for(Sources(tree, self._called, (f"./{first.removeprefix('./')}", *words)))
        if brains_of(tree):
            return None
        return recipe_for(Sources(tree, self._called))


@dataclass(slots=True)
class _Said:
    """What a stage has to say for itself."""

    text: str = ""


def _box_policy(policy: Policy) -> BoxPolicy:
    """The contest's own boxes, for our programs: no turn is ever over in them, and compilers have their own profile."""
    profiles = {build.IMAGE: build.PROFILE} | policy.box.seccomp_of
    return policy.box.model_copy(update={"freeze": "none", "seccomp_of": profiles})


def _where_it_begins(tree: Path, called: str) -> Path:
    """Of an archive of several agents' folders, which may share files by links, the one that is meant; RefusedError."""
    files = [path for path in tree.iterdir() if path.is_file()]
    if any(path.name in (MANIFEST, INFO) or is_built(path.name) or kind_of(path) for path in files):
        return tree
    folders = {
        path.name: path for path in sorted(tree.iterdir()) if any((path / name).is_file() for name in (MANIFEST, INFO))
    }
    if not folders:
        return tree
    if len(folders) > 1 and called not in folders:
        raise RefusedError(
            f"there are the agents {', '.join(map(shown, folders))}: call the archive, or the agent, like the one that "
            "plays"
        )
    return folders.get(called) or next(iter(folders.values()))


def _what_plays(tree: Path) -> Path:
    """The tree, or the one file in it that needs no manifest."""
    inner = list(tree.iterdir())
    return inner[0] if len(inner) == 1 and inner[0].is_file() else tree


def _make_executable(tree: Path) -> None:
    """Let what begins like a program be one: an archive made on Windows knows nothing of executable bits."""
    for path in tree.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                head = file.read(4)
            if head == b"\x7fELF" or head[:2] == b"#!":
                path.chmod(0o755)


def _image(runtime: str) -> str:
    try:
        return images.runtime_image(runtime)
    except InputError as error:
        raise NotReadyError(str(error)) from error  # a policy names it, not an agent


def _without(text: str, tree: Path | None) -> str:
    """A sentence without the places of this host."""
    if tree is not None:
        text = text.replace(f"{tree}/", "").replace(str(tree), tree.name)
    return printable(text, REFUSAL_CHARACTERS)
