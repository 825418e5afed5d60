"""Turns an upload into a playable tree: archives are unpacked and sources built in a box.

The box's read-only /agent has a program as `__main__.py`, its modules, job and input.
"""

import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

from judge.agents.builds import AT, SCRIPTS, Build, Sources, build_for
from judge.agents.manifest import INFO, MANIFEST, brains_of, info_words, read_sent_manifest, refuse_misnamed_manifest
from judge.base.bookkeeping import is_bookkeeping
from judge.base.errors import HostError, os_errors_as
from judge.base.text import SENTENCE_CHARACTERS, decode, printable, sentence
from judge.base.tree_tar import TreeError, TreeMember, unpack_stream
from judge.sandbox.box import BoxPolicy
from judge.sandbox.docker.run_in_box import Command, CommandEnd, CommandResult, run_in_box
from judge.sandbox.evidence import ProcessReport
from judge.sandbox.layout import PROGRAM
from judge.sandbox.runtimes import image_that_builds, recipes
from judge.submissions.build_in_box import AGAIN, UNFIT
from judge.submissions.complaints import advice, reason_of
from judge.submissions.intake import BuildLimits, IntakeLimits, TreeLimits
from judge.submissions.path_checks import PathChecker, RefusedError, shown
from judge.submissions.unpack_in_box import REFUSED

IN_BOX = ("/usr/bin/python3", "-I", PROGRAM, f"{PROGRAM}/job.json")
HERE = Path(__file__).parent
SHARED = (
    "agents/python_version.py",
    "base/bookkeeping.py",
    "base/text.py",
    "base/tree_tar.py",
    "submissions/path_checks.py",
    "submissions/python_syntax.py",
)
INPUT = "input"
BUILD_ENVIRONMENT = (("SOURCE_DATE_EPOCH", "1700000000"), ("PYTHONHASHSEED", "0"), ("TZ", "UTC"))


@dataclass(frozen=True, slots=True)
class TaskHost:
    """Box policy, processors, and a directory for files."""

    policy: BoxPolicy
    cores: tuple[int, ...]
    room: Path


@contextmanager
def task_directory(program: str, job: Mapping[str, Any], source: Path, host: TaskHost) -> Iterator[Path]:
    """A directory for a box. Raises HostError if the disk fails, also inside the context."""
    disk_errors = os_errors_as(HostError, host.room, ": make room, or set TMPDIR")
    with disk_errors, tempfile.TemporaryDirectory(dir=host.room) as name:
        directory = Path(name)
        for shared_name in SHARED:
            shared = directory / "judge" / shared_name
            shared.parent.mkdir(parents=True, exist_ok=True)
            shared.write_bytes((HERE.parent / shared_name).read_bytes())
        (directory / "__main__.py").write_bytes((HERE / program).read_bytes())
        (directory / "job.json").write_text(json.dumps({**job, "input": f"{PROGRAM}/{INPUT}"}), encoding="utf-8")
        shutil.copytree(SCRIPTS, directory / SCRIPTS.name)
        if source.is_dir():
            shutil.copytree(source, directory / INPUT)
        else:
            shutil.copyfile(source, directory / INPUT)
        for path in (directory, *directory.rglob("*")):  # whatever the judge's umask
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        yield directory


def run_task(
    name: Literal["unpack", "build"],
    image: str,
    job: Mapping[str, Any],
    source: Path,
    target: Path,
    limits: IntakeLimits,
    host: TaskHost,
) -> tuple[CommandResult, str]:
    """Run `NAME_in_box.py` and store its tree at `target`. The text: why it is refused. Raises HostError."""
    part = limits.unpack if name == "unpack" else limits.build
    job = {**job, "bounds": limits.tree.model_dump()}
    with (
        task_directory(f"{name}_in_box.py", job, source, host) as directory,
        tempfile.TemporaryFile(dir=host.room) as stream,
    ):
        command = Command(
            name=name,
            directory=directory,
            command=IN_BOX,
            image=image,
            limits=part.box(),
            seconds=part.seconds,
            output_bytes=limits.tree.stream_bytes,
            stderr_bytes=part.log_bytes,
            log_bytes=part.kept_log_bytes,
            environment=BUILD_ENVIRONMENT if name == "build" else (),
            cores=host.cores,
            runs_scratch=recipes()[image].runs_built,
        )
        result = run_in_box(command, host.policy, stream)
        try:
            if result.is_success:
                stream.seek(0)
                receive_tree(stream, target, limits.tree)
        except RefusedError as error:
            return result, str(error)
    return result, ""


def receive_tree(stream: BinaryIO, target: Path, limits: TreeLimits) -> None:
    """Write a box's output to the new directory `target`. Raises RefusedError.

    Names are checked again: the input may have taken over the box.
    """
    checker = PathChecker(limits.bounds)

    def path_of(member: TreeMember) -> str:
        if member.is_directory:
            return checker.directory(member.name)
        return checker.file(member.name, member.size)

    try:
        unpack_stream(stream, target, path_of, limits.path_bytes)
    except TreeError as error:
        raise RefusedError(sentence(f"the output of the box {error}")) from None


IMAGE = "unpacker"

ARCHIVES = re.compile(r"(?i)\.(zip|tar|tar\.gz|tgz|tar\.xz|txz|tar\.zst|tzst)$")
OTHER_ARCHIVES = re.compile(r"(?i)\.(7z|rar|gz|bz2|xz|zst|tbz2?|lzh?|lzma|arj|cab|iso|deb|rpm)$")


def name_of(filename: str) -> str:
    """The name without directories."""
    return re.split(r"[/\\]", filename)[-1]


def is_archive(filename: str) -> bool:
    """Whether an upload is unpacked."""
    return ARCHIVES.search(name_of(filename)) is not None


def stem_of(filename: str) -> str:
    """Name without directories and ending."""
    name = name_of(filename)
    return ARCHIVES.sub("", name) if is_archive(name) else Path(name).stem


def unpack_upload(upload: Path, filename: str, target: Path, limits: IntakeLimits, host: TaskHost) -> str:
    """Unpack into the new directory `target`; return a description. Raises RefusedError, HostError."""
    name = name_of(filename)
    if is_archive(name):
        return _unpack_archive(upload, target, limits, host)
    if OTHER_ARCHIVES.search(name):
        raise RefusedError(sentence(f"{shown(name)}: archives are .zip, .tar, .tar.gz, .tar.xz or .tar.zst"))
    PathChecker(limits.tree.bounds).file(name, upload.stat().st_size)
    target.mkdir(mode=0o755)
    shutil.copyfile(upload, target / name)
    return sentence(f"one file, {shown(name)}")


def root_of(tree: Path) -> Path:
    """Skip single outer directories."""
    inner = [path for path in tree.iterdir() if not is_bookkeeping(path.name)]
    return root_of(inner[0]) if len(inner) == 1 and inner[0].is_dir() else tree


def _unpack_archive(upload: Path, target: Path, limits: IntakeLimits, host: TaskHost) -> str:
    job = {"ratio": limits.unpack.ratio, "ratio_from_bytes": limits.unpack.ratio_from_bytes}
    result, refusal = run_task("unpack", IMAGE, job, upload, target, limits, host)
    if not result.is_success:
        refusal = _unpack_failure(result, limits)
    if refusal:
        raise RefusedError(refusal)
    files = [path for path in target.rglob("*") if path.is_file()]
    if not files:
        raise RefusedError(sentence("it holds no files"))
    total = sum(path.stat().st_size for path in files)
    note = printable(decode(result.stderr.first).strip(), SENTENCE_CHARACTERS)
    contents = sentence(f"1 file, {total} bytes") if len(files) == 1 else sentence(f"{len(files)} files, {total} bytes")
    return f"{contents}; {note}" if note else contents


def _unpack_failure(result: CommandResult, limits: IntakeLimits) -> str:
    match result.end:
        case CommandEnd.TIME:
            return sentence(f"it takes more than {limits.unpack.seconds:g} s to unpack")
        case CommandEnd.MEMORY:
            return sentence(f"it takes more than {limits.unpack.memory_bytes} bytes of memory to unpack")
        case CommandEnd.OUTPUT:
            return sentence(f"it becomes more than {limits.tree.total_bytes} bytes")
        case CommandEnd.LOST:
            return sentence("the box that unpacked it was ended from inside")
    refusal = decode(result.stderr.first).strip()
    if result.report.number == REFUSED and result.report.kind == "exited" and refusal:
        return printable(refusal, SENTENCE_CHARACTERS)
    return sentence(f"it cannot be read as an archive: the reader {result.report.kind} {result.report.number}")


@dataclass(frozen=True, slots=True)
class Built:
    """`failure` is empty after success."""

    log: str
    failure: str = ""


def build_of(tree: Path, upload_name: str) -> Build | None:
    """How to build a tree; None if it is playable. `upload_name` is the default name. Raises InputError."""
    refuse_misnamed_manifest(tree)
    if (tree / MANIFEST).exists():
        sent = read_sent_manifest(tree / MANIFEST)
        name = sent.name or upload_name
        return build_for(Sources(tree, name, sent.command, sent.build, frozenset(sent.model_fields_set)))
    if (tree / INFO).is_file():
        first, *words = info_words(tree / INFO)
        return build_for(Sources(tree, upload_name, (f"./{first.removeprefix('./')}", *words)))
    if brains_of(tree):
        return None
    return build_for(Sources(tree, upload_name))


def build_tree(tree: Path, build: Build, target: Path, limits: IntakeLimits, host: TaskHost) -> Built:
    """Build `tree` into the new directory `target`. Raises HostError."""
    script = f"{PROGRAM}/{SCRIPTS.name}/{build.kind}"
    job = {
        "command": ["/bin/bash", script, build.program, build.main, *build.flags],
        "at": AT,
        "name": build.name,
        "missing": build.missing,
    }
    result, refusal = run_task("build", image_that_builds(build.kind), job, tree, target, limits, host)
    log = str(result.stderr)
    if not result.is_success:
        return Built(log, _build_failure(result, log, limits.build, tree))
    if refusal:
        return Built(log, sentence(f"the build result is refused: {refusal}"))
    return Built(log)


def _build_failure(result: CommandResult, log: str, limits: BuildLimits, tree: Path) -> str:
    match result.end:
        case CommandEnd.TIME:
            return sentence(f"the build took more than {limits.seconds:g} s")
        case CommandEnd.MEMORY:
            return sentence(
                f"the build took more memory than it may: {limits.box().cap_bytes} bytes, its files included"
            )
        case CommandEnd.OUTPUT:
            return sentence("the build left more than an agent may have")
        case CommandEnd.STDERR:
            return sentence(f"the build printed more than {limits.log_bytes} bytes")
        case CommandEnd.LOST:
            return sentence("the build ended its box")
    report = result.report
    log = log.rpartition(AGAIN)[2]
    last = printable(log.rpartition("\n")[2], SENTENCE_CHARACTERS) or f"{report.kind} {report.number}"
    if report == ProcessReport("exited", UNFIT):
        return last
    reason = reason_of(log) or last
    return "; ".join(part for part in (sentence(f"the build failed: {reason}"), advice(log, tree)) if part)
