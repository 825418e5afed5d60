"""A program of ours runs in a box with a stranger's file, and writes a tree of files.

It sees one directory, read-only at /agent: the program as `__main__.py`, the modules that it shares with us, its job,
and the input. Nothing of the judge's own directories is in it.
"""

import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from judge.base.errors import HostError
from judge.base.tree_tar import TreeError, TreeMember, unpack_stream
from judge.sandbox.box import BoxPolicy, Limits
from judge.sandbox.docker.run_in_box import Command, CommandResult, run_in_box
from judge.sandbox.layout import PROGRAM
from judge.submissions.limits import TreeLimits
from judge.submissions.path_checks import PathChecker, RefusedError

PYTHON = "/usr/bin/python3"
HERE = Path(__file__).parent
SHARED = (
    "base/bookkeeping.py",
    "base/text.py",
    "base/tree_tar.py",
    "submissions/path_checks.py",
    "submissions/python_syntax.py",
)
"""The modules of the package that programs in a box import."""
INPUT = "input"
"""What the program's input is called, a file or a directory, in the directory that it sees."""


@dataclass(frozen=True, slots=True)
class TaskHost:
    """Where programs of ours run: the policy of their boxes, the processors, and a directory for files."""

    policy: BoxPolicy
    cores: tuple[int, ...]
    room: Path


@dataclass(frozen=True, slots=True)
class SandboxTask:
    """A program of this directory, its job, its input, and what it may use."""

    name: str
    program: str
    image: str
    job: Mapping[str, Any]
    input: Path
    limits: Limits
    seconds: float
    stderr_bytes: int
    log_bytes: int
    environment: Mapping[str, str] = field(default_factory=dict)
    runs_scratch: bool = False
    """Whether what it writes to its scratch space may be run there."""


def run_task(task: SandboxTask, host: TaskHost, target: Path, tree: TreeLimits) -> tuple[CommandResult, str]:
    """Run a task; after a success the tree that it wrote is at `target`.

    Returns the result, and why the tree is refused although the program ended well; empty if it is not. Raises
    HostError if the host fails.
    """
    try:
        with (
            tempfile.TemporaryDirectory(prefix=f"{task.name}-", dir=host.room) as name,
            tempfile.TemporaryFile(dir=host.room) as stream,
        ):
            directory = Path(name)
            _prepare(task, directory)
            command = Command(
                name=task.name,
                directory=directory,
                command=(PYTHON, "-I", PROGRAM, f"{PROGRAM}/job.json"),
                image=task.image,
                limits=task.limits,
                seconds=task.seconds,
                output_bytes=tree.stream_bytes,
                stderr_bytes=task.stderr_bytes,
                log_bytes=task.log_bytes,
                environment=tuple(task.environment.items()),
                cores=host.cores,
                runs_scratch=task.runs_scratch,
            )
            result = run_in_box(command, host.policy, stream)
            if result.is_success:
                stream.seek(0)
                receive_tree(stream, target, tree)
    except RefusedError as error:
        return result, str(error)
    except OSError as error:
        raise HostError(f"{host.room}: {error.strerror}: make room, or set TMPDIR") from error
    return result, ""


def _prepare(task: SandboxTask, directory: Path) -> None:
    """Fill the directory that the program sees."""
    for name in SHARED:
        shared = directory / "judge" / name
        shared.parent.mkdir(parents=True, exist_ok=True)
        shared.write_bytes((HERE.parent / name).read_bytes())
    (directory / "__main__.py").write_bytes((HERE / task.program).read_bytes())
    job = {**task.job, "input": f"{PROGRAM}/{INPUT}"}
    (directory / "job.json").write_text(json.dumps(job), encoding="utf-8")
    if task.input.is_dir():
        shutil.copytree(task.input, directory / INPUT)
    else:
        shutil.copyfile(task.input, directory / INPUT)
    for path in (directory, *directory.rglob("*")):  # the judge may have any umask
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def receive_tree(stream: BinaryIO, target: Path, limits: TreeLimits) -> None:
    """Write the tree of a stream that came out of a box below the new directory `target`; raises RefusedError.

    The names were checked in the box, by the same rule; but the box may have been taken over by what it read.
    """
    checker = PathChecker(limits.bounds)

    def path_of(member: TreeMember) -> str:
        if member.is_directory:
            return checker.directory(member.name)
        return checker.file(member.name, member.size)

    try:
        unpack_stream(stream, target, path_of, limits.path_bytes)
    except TreeError as error:
        raise RefusedError(f"what came out of the box {error}") from None
