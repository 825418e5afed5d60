"""A program of ours in a box with a stranger's file: what it needs is laid out, what it writes is a tree again.

Laid out is a directory that is mounted read-only: the program as `__main__.py`, the modules that it shares with us,
its job, and the upload. Nothing of the judge's own directories is in it.
"""

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from judge.errors import HostError
from judge.sandbox.box import BoxPolicy, Limits
from judge.sandbox.hardening import PROGRAM
from judge.sandbox.run_in_box import Command, Work, work
from judge.submissions.limits import TreeLimits
from judge.submissions.path_checks import Census, RefusedError
from judge.tree_tar import TreeError, TreeMember, unpack_stream

PYTHON = "/usr/bin/python3"
HERE = Path(__file__).parent
PACKAGE = HERE.parent
SHARED = ("text.py", "tree_tar.py", "submissions/path_checks.py")
"""The modules of the package that programs in a box import."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Where programs of ours work: the policy of their boxes, the processors, and room for files (a directory)."""

    policy: BoxPolicy
    cores: tuple[int, ...]
    room: Path


@dataclass(frozen=True, slots=True)
class Task:
    """A program of this directory, what it is told, and what it may use.

    `lay_out` puts into the directory that the program sees as /agent what `job` speaks of.
    """

    name: str
    program: str
    image: str
    job: Mapping[str, Any]
    lay_out: Callable[[Path], None]
    limits: Limits
    seconds: float
    talk_bytes: int
    kept_bytes: int
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Carried:
    """What came of a task: the work, and why there is no tree although that ended well; empty where there is one."""

    work: Work
    refusal: str = ""


def carry_out(task: Task, bench: Bench, target: Path, tree: TreeLimits) -> Carried:
    """Do a task; the tree that it writes is at `target`, where it ended well. Raises HostError where the host fails."""
    try:
        with (
            tempfile.TemporaryDirectory(prefix=f"{task.name}-", dir=bench.room) as name,
            tempfile.TemporaryFile(dir=bench.room) as stream,
        ):
            directory = Path(name)
            _lay_out(task, directory)
            done = work(_job(task, directory, bench, tree), bench.policy, stream)
            if done.is_done:
                stream.seek(0)
                receive(stream, target, tree)
    except RefusedError as error:
        return Carried(done, str(error))
    except OSError as error:
        raise HostError(f"{bench.room}: {error.strerror}: make room, or set TMPDIR") from error
    return Carried(done)


def receive(stream: BinaryIO, target: Path, limits: TreeLimits) -> None:
    """Write the tree of a stream that came out of a box below the new directory `target`; raises RefusedError.

    The names were checked in the box, by the same rule; but the box may have been taken over by what it read.
    """
    census = Census(limits.bounds)

    def path_of(member: TreeMember) -> str:
        if member.is_directory:
            return census.directory(member.name)
        return census.file(member.name, member.size)

    try:
        unpack_stream(stream, target, path_of, limits.path_bytes)
    except TreeError as error:
        raise RefusedError(f"what came out of the box {error}") from None


def _lay_out(task: Task, directory: Path) -> None:
    for name in SHARED:
        shared = directory / "judge" / name
        shared.parent.mkdir(parents=True, exist_ok=True)
        shared.write_bytes((PACKAGE / name).read_bytes())
    (directory / "__main__.py").write_bytes((HERE / task.program).read_bytes())
    (directory / "job.json").write_text(json.dumps(task.job), encoding="utf-8")
    task.lay_out(directory)
    for path in (directory, *directory.rglob("*")):  # whatever umask the judge has
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def _job(task: Task, directory: Path, bench: Bench, tree: TreeLimits) -> Command:
    return Command(
        name=task.name,
        directory=directory,
        command=(PYTHON, "-I", PROGRAM, f"{PROGRAM}/job.json"),
        image=task.image,
        limits=task.limits,
        seconds=task.seconds,
        output_bytes=tree.stream_bytes,
        talk_bytes=task.talk_bytes,
        kept_bytes=task.kept_bytes,
        environment=tuple(task.environment.items()),
        cores=bench.cores,
    )
