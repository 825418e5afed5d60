"""Turns an upload into a checked agent or a refusal. A host failure decides nothing.

    received    size, digest, name
    unpacked    a tree of files, read in a box
    built       a playable tree; sources are built in a box (`judge.submissions.trees`)
    staged      read-only, by the digest of its files (`judge.agents.store`)
    checked     examined under the contest's policy (`judge.submissions.check`)

Equal files are one agent.
"""

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from judge.agents.agents import Agent, nothing_plays, stage_agent
from judge.agents.builds import is_built
from judge.agents.manifest import INFO, MANIFEST, brains_of, derived_name, fit_name, is_name, manifest_text
from judge.agents.programs import PREFIX, brain_name, kind_of
from judge.agents.store import AgentStore
from judge.base.errors import HostError, InputError, NotReadyError, os_errors_as
from judge.base.owner import owned_directory
from judge.base.text import printable, sentence
from judge.base.toml_files import toml_value
from judge.play.venue import Slot
from judge.record.policy import Policy
from judge.record.spec import GameSpec
from judge.referee.setup import check_playable
from judge.sandbox.docker import images
from judge.sandbox.runtimes import image_that_builds
from judge.store.types import UploadStep
from judge.submissions import trees
from judge.submissions.check import CheckReport, Grade, OverlongError, examine
from judge.submissions.intake import IntakeLimits
from judge.submissions.limited_process import LimitedProcess
from judge.submissions.path_checks import RefusedError, shown
from judge.submissions.trees import TaskHost

REFUSAL_CHARACTERS = 600


class Stage(StrEnum):
    """An upload's stages, in order."""

    RECEIVED = "received"
    UNPACKED = "unpacked"
    BUILT = "built"
    STAGED = "staged"
    CHECKED = "checked"


@dataclass(frozen=True, slots=True)
class Origin:
    """Everything that determines the result. `recipe` is JSON.

    Digests are SHA-256 in hex: upload, and contents of the images that unpacked, built (empty if unused) and run it.
    """

    upload: str = ""
    filename: str = ""
    unpacker: str = ""
    toolchain: str = ""
    recipe: str = ""
    runtime: str = ""


@dataclass(frozen=True, slots=True)
class UploadJob:
    """`name` and `author` override those in the files."""

    upload: Path
    filename: str
    policy: Policy
    agents: Path
    name: str = ""
    author: str = ""
    why_not_named: Callable[[str], str] = lambda _name: ""
    """Why a name is refused, or empty."""


@dataclass(frozen=True, slots=True)
class UploadOutcome:
    """`agent` and `runtime_image` (its id) are set once staged, even if refused later. `log` is escaped and bounded.
    `refusal` is empty if the agent passed.
    """

    steps: tuple[UploadStep, ...] = ()
    agent: Agent | None = None
    runtime_image: str = ""
    log: str = ""
    report: CheckReport | None = None
    refusal: str = ""
    origin: Origin = field(default_factory=Origin)
    title: str = ""
    """Display name, if the file's name has other letters."""


class Workplace(Protocol):
    """Resources on a host that also plays games."""

    def aside(self) -> AbstractContextManager[tuple[int, ...]]:
        """Reserve processors for unpacking."""

    def slot(self) -> AbstractContextManager[Slot]:
        """Reserve a slot for programs of the author: in the build and in the examination."""

    def free_slot(self) -> AbstractContextManager[Slot | None]:
        """Reserve a slot for a practice game; None if none is free now."""

    def need(self, image: str) -> None:
        """Build a missing image or runtime before its use."""


OnStep = Callable[[UploadStep], None]
Processor = Callable[[UploadJob, OnStep], UploadOutcome]
"""Raises HostError if the host failed: retry."""


def process_upload(
    job: UploadJob, on_step: OnStep = lambda _step: None, *, limits: IntakeLimits, workplace: Workplace
) -> UploadOutcome:
    """Make an agent of an upload. Raises HostError if the host failed, NotReadyError if it lacks something."""
    with owned_directory() as room, closing(LimitedProcess(limits.read_s)) as reader:
        pipeline = _UploadPipeline(job, on_step, limits, workplace, room, reader)
        try:
            pipeline.run()
        except _RefusalError as refusal:
            return replace(pipeline.outcome, refusal=str(refusal))
        return pipeline.outcome


class _RefusalError(Exception):
    """The text is safe to show."""


@dataclass
class _UploadPipeline:
    job: UploadJob
    on_step: OnStep
    limits: IntakeLimits
    workplace: Workplace
    room: Path
    reader: LimitedProcess
    outcome: UploadOutcome = field(default_factory=UploadOutcome)

    def run(self) -> None:
        self._receive()
        tree = self._build(self._unpack())
        self._examine(self._stage(tree), tree)

    def _receive(self) -> None:
        job = self.job
        with self._step(Stage.RECEIVED) as words:
            with os_errors_as(HostError, job.upload, ": the upload is not there"):
                size = job.upload.stat().st_size
            if size > self.limits.upload_bytes:
                raise RefusedError(sentence(f"it has {size} bytes; an upload may have {self.limits.upload_bytes}"))
            if job.name and not is_name(job.name):
                raise InputError(
                    sentence(f"the name {job.name!r}: A-Z, a-z, 0-9, dash, underscore and dot, at most 64")
                )
            with job.upload.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            filename = trees.name_of(job.filename)
            self._note_origin(upload=digest, filename=printable(filename, 300))
            words.append(sentence(f"{shown(filename)}, {size} bytes, SHA-256 {digest[:16]}"))

    def _unpack(self) -> Path:
        with self._step(Stage.UNPACKED) as words:
            target = self.room / "unpacked" / self._upload_name
            target.parent.mkdir()
            if trees.is_archive(self.job.filename):
                self.workplace.need(trees.IMAGE)
                self._note_origin(unpacker=images.find_runtime(trees.IMAGE).content)
            with self.workplace.aside() as cores:
                host = self._task_host(cores)
                words.append(trees.unpack_upload(self.job.upload, self.job.filename, target, self.limits, host))
            tree = self.reader.run(_agent_folder, trees.root_of(target), self.job.name or self._upload_name)
            if not (self.job.name or derived_name(self._stem) or (tree / MANIFEST).exists() or brains_of(tree)):
                raise RefusedError(
                    sentence(
                        f"no agent name follows from {shown(trees.name_of(self.job.filename))}: give one, by --name or "
                        'by name = "..." in agent.toml'
                    )
                )
            return tree

    def _build(self, tree: Path) -> Path:
        with self._step(Stage.BUILT, tree) as words:
            build = self.reader.run(trees.build_of, tree, self._upload_name)
            if build is None:
                words.append(sentence("there is nothing to build"))
                return tree
            image = image_that_builds(build.kind)
            self.workplace.need(image)
            self._note_origin(toolchain=images.find_runtime(image).content, recipe=str(build))
            target = self.room / "built" / tree.name
            target.parent.mkdir()
            with self.workplace.slot() as slot:
                built = trees.build_tree(tree, build, target, self.limits, self._task_host(slot.cores))
            self.outcome = replace(self.outcome, log=built.log)
            if built.failure:
                raise RefusedError(built.failure)
            if not any((target / name).exists() for name in (MANIFEST, INFO)) and not brains_of(target):
                missing = self.reader.run(nothing_plays, target)
                raise RefusedError(sentence(f"{build.kind} was done: {missing}").replace(f"{target}/", ""))
            command = built.log.partition("\n")[0].removeprefix("$ ")
            if build.kind == "python":
                words.append(sentence("the syntax of Python was checked"))
            elif command:
                words.append(sentence(f"built as {build.kind}: {printable(command, 120)}"))
            else:
                words.append(sentence(f"built as {build.kind}: there was nothing to do"))
            return target

    def _stage(self, tree: Path) -> Agent:
        job = self.job
        with self._step(Stage.STAGED, tree) as words:
            agent = self._copy(tree, "staging")
            if why := job.why_not_named(agent.manifest.name):
                raise RefusedError(why)
            seat = agent.seat(job.policy)
            self.workplace.need(seat.runtime)
            try:
                image = images.find_runtime(seat.runtime).id
            except InputError as error:
                raise NotReadyError(str(error)) from error  # named by a policy
            self.outcome = replace(self.outcome, runtime_image=image)
            self._note_origin(runtime=images.find_runtime(seat.runtime).content)
            agent = self._put(agent)
            words.append(sentence(f"{agent.manifest.name}, {seat.protocol}, {seat.runtime}, files {agent.digest[:16]}"))
            return agent

    def _copy(self, tree: Path, staging: str) -> Agent:
        inner = list(tree.iterdir())
        single = len(inner) == 1 and inner[0].is_file()  # A program without a manifest.
        (self.room / staging).mkdir()
        agent = self.reader.run(stage_agent, str(inner[0] if single else tree), self.room / staging)
        given = {key: value for key, value in (("name", self.job.name), ("author", self.job.author)) if value}
        named = agent.manifest.model_copy(update=given)
        return replace(agent, manifest=named, own_name=agent.manifest.name)

    def _put(self, agent: Agent) -> Agent:
        agent = replace(agent, program=AgentStore(self.job.agents).put(agent.program))
        is_of_file = not self.job.name and agent.manifest.name == self._upload_name and not self._stem.isascii()
        self.outcome = replace(self.outcome, agent=agent, title=self._stem if is_of_file else "")
        return agent

    def _examine(self, agent: Agent, tree: Path) -> None:
        policy = self.job.policy
        with self._step(Stage.CHECKED) as words:
            for image in ("native", *(("keeper",) if policy.folders.kept else ())):
                self.workplace.need(image)
            seat = agent.seat(policy)
            check_playable(GameSpec(seats=(seat, seat), policy=policy, box="docker"))
            try:
                with self.workplace.slot() as slot:
                    report = examine(agent, policy, slot, "docker", self.room / "staging", self.limits.check_s)
            except OverlongError as error:
                raise RefusedError(str(error)) from None
            except InputError as error:
                # The host lacks something.
                raise NotReadyError(f"the check could not be made: {error}") from error
            if report.line_ending and agent.manifest.line_ending is None:
                report = self._end_lines_so(report, report.line_ending, agent, tree)
            self.outcome = replace(self.outcome, report=report)
            failed = [finding for finding in report.findings if finding.grade is Grade.FAIL]
            if failed:
                names = ", ".join(finding.check for finding in failed)
                what = sentence(f"failed checks: {names} (see the report)")
                first = failed[0]
                raise RefusedError("; ".join(filter(None, (what, first.evidence.split("; ")[0], first.fix))))
            warned = sum(finding.grade is Grade.WARNING for finding in report.findings)
            count = len(report.findings)
            words.append(
                sentence(f"it passed {count} checks, {warned} with a warning")
                if warned
                else sentence(f"it passed {count} checks")
            )

    def _end_lines_so(self, report: CheckReport, ending: str, agent: Agent, tree: Path) -> CheckReport:
        file = tree / MANIFEST
        if file.exists():
            rest = manifest_text(file)
        else:
            seat = agent.seat(self.job.policy)
            values = {"name": agent.own_name, "command": seat.command, "runtime": agent.manifest.runtime}
            rest = "".join(f"{key} = {toml_value(value)}\n" for key, value in values.items())
        line = f'line_ending = "{ending}"'
        file.write_text(f"{line}\n{rest}", encoding="utf-8")
        said = {
            "grade": Grade.WARNING,
            "fix": sentence(f"none is needed: it takes part with {line}; keep that line in your agent.toml"),
        }
        findings = tuple(
            finding.model_copy(update=said) if finding.check == "line-ending" else finding
            for finding in report.findings
        )
        ended = self._put(self._copy(tree, "ended"))
        return report.model_copy(update={"findings": findings, "digest": ended.digest})

    def _task_host(self, cores: tuple[int, ...]) -> TaskHost:
        return TaskHost(self.job.policy.box.model_copy(update={"freeze": "none"}), cores, self.room)

    @contextmanager
    def _step(self, stage: Stage, tree: Path | None = None) -> Iterator[list[str]]:
        began, words = time.monotonic(), list[str]()
        try:
            yield words
        except (RefusedError, InputError) as error:
            text = str(error)
            if tree is not None:
                text = text.replace(f"{tree}/", "").replace(str(tree), tree.name)
            text = printable(text, REFUSAL_CHARACTERS)
            self._report_step(UploadStep(stage, False, text, time.monotonic() - began))
            raise _RefusalError(text) from error
        except OSError as error:
            raise HostError(f"{self.room}: {error.strerror}: make room, or set TMPDIR") from error
        self._report_step(UploadStep(stage, True, "".join(words), time.monotonic() - began))

    def _report_step(self, step: UploadStep) -> None:
        self.outcome = replace(self.outcome, steps=(*self.outcome.steps, step))
        self.on_step(step)

    def _note_origin(self, **known: str) -> None:
        self.outcome = replace(self.outcome, origin=replace(self.outcome.origin, **known))

    @property
    def _stem(self) -> str:
        stem = trees.stem_of(self.job.filename)
        return brain_name(stem) if stem.startswith(PREFIX) else stem

    @property
    def _upload_name(self) -> str:
        return fit_name(self._stem)


def _agent_folder(tree: Path, name: str) -> Path:
    files = [path for path in tree.iterdir() if path.is_file()]
    if any(path.name in (MANIFEST, INFO) or is_built(path.name) or kind_of(path) for path in files):
        return tree
    folders = {
        path.name: path for path in sorted(tree.iterdir()) if any((path / file).is_file() for file in (MANIFEST, INFO))
    }
    if not folders:
        return tree
    if len(folders) > 1 and name not in folders:
        raise RefusedError(
            sentence(
                f"there are the agents {', '.join(map(shown, folders))}: call the archive, or the agent, like the one "
                "that plays"
            )
        )
    return folders.get(name) or next(iter(folders.values()))
