"""From an upload to a tree of files: archives are read in a box by `judge.submissions.unpack_in_box`, never here."""

import re
import shutil
from pathlib import Path

from judge.base.bookkeeping import is_bookkeeping
from judge.base.text import SENTENCE_CHARACTERS, decode, printable
from judge.sandbox.docker.run_in_box import CommandEnd, CommandResult
from judge.submissions.limits import IntakeLimits
from judge.submissions.path_checks import PathChecker, RefusedError, shown
from judge.submissions.sandbox_task import SandboxTask, TaskHost, run_task
from judge.submissions.unpack_in_box import REFUSED

IMAGE = "unpacker"
"""The image in which archives are read."""

ARCHIVES = re.compile(r"(?i)\.(zip|tar|tar\.gz|tgz|tar\.xz|txz|tar\.zst|tzst)$")
OTHER_ARCHIVES = re.compile(r"(?i)\.(7z|rar|gz|bz2|xz|zst|tbz2?|lzh?|lzma|arj|cab|iso|deb|rpm)$")


def name_of(filename: str) -> str:
    """What an upload is called, without the directories that some browsers send along; may be hostile still."""
    return re.split(r"[/\\]", filename)[-1]


def is_archive(filename: str) -> bool:
    """Whether an upload of this name is unpacked."""
    return ARCHIVES.search(name_of(filename)) is not None


def stem_of(filename: str) -> str:
    """An upload's name without its ending."""
    name = name_of(filename)
    return ARCHIVES.sub("", name) if is_archive(name) else Path(name).stem


def unpack_upload(upload: Path, filename: str, target: Path, limits: IntakeLimits, host: TaskHost) -> str:
    """Make the new directory `target` of an upload; returns a sentence of what it holds.

    Raises RefusedError with a sentence that names the member, HostError where the host fails.
    """
    name = name_of(filename)
    if is_archive(name):
        return _unpack_archive(upload, target, limits, host)
    if OTHER_ARCHIVES.search(name):
        raise RefusedError(f"{shown(name)}: archives are .zip, .tar, .tar.gz, .tar.xz or .tar.zst")
    PathChecker(limits.tree.bounds).file(name, upload.stat().st_size)
    target.mkdir(mode=0o755)
    shutil.copyfile(upload, target / name)
    return f"one file, {shown(name)}"


def root_of(tree: Path) -> Path:
    """Where an agent begins in what was unpacked: inside of a directory that everything is in."""
    inner = [path for path in tree.iterdir() if not is_bookkeeping(path.name)]
    return root_of(inner[0]) if len(inner) == 1 and inner[0].is_dir() else tree


def _unpack_archive(upload: Path, target: Path, limits: IntakeLimits, host: TaskHost) -> str:
    task = SandboxTask(
        name="unpack",
        program="unpack_in_box.py",
        image=IMAGE,
        job={
            "bounds": limits.tree.model_dump(),
            "ratio": limits.unpack.ratio,
            "ratio_from_bytes": limits.unpack.ratio_from_bytes,
        },
        input=upload,
        limits=limits.unpack.box(),
        seconds=limits.unpack.seconds,
        stderr_bytes=64 << 10,
        log_bytes=4 << 10,
    )
    result, refusal = run_task(task, host, target, limits.tree)
    if not result.is_success:
        refusal = _failure(result, limits)
    if refusal:
        raise RefusedError(refusal)
    files = [path for path in target.rglob("*") if path.is_file()]
    if not files:
        raise RefusedError("it holds no files")
    total = sum(path.stat().st_size for path in files)
    note = printable(decode(result.stderr.first).strip(), SENTENCE_CHARACTERS)
    return f"{len(files)} {'file' if len(files) == 1 else 'files'}, {total} bytes" + (f"; {note}" if note else "")


def _failure(result: CommandResult, limits: IntakeLimits) -> str:
    """One sentence on an archive that was not unpacked."""
    match result.end:
        case CommandEnd.TIME:
            return f"it takes more than {limits.unpack.seconds:g} s to unpack"
        case CommandEnd.MEMORY:
            return f"it takes more than {limits.unpack.memory_bytes} bytes of memory to unpack"
        case CommandEnd.OUTPUT:
            return f"it becomes more than {limits.tree.total_bytes} bytes"
    refusal = decode(result.stderr.first).strip()
    if result.report.number == REFUSED and result.report.kind == "exited" and refusal:
        return printable(refusal, SENTENCE_CHARACTERS)
    return f"it cannot be read as an archive: what reads it {result.report.kind} {result.report.number}"
