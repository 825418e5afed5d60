"""Attacks by files: authors' archives and sources, and workers' records."""

import gzip
import io
import re
import subprocess
import tarfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from judge.sandbox.box import BoxPolicy
from judge.submissions.intake import IntakeLimits, UnpackLimits
from judge.submissions.limited_process import LimitedProcess
from judge.submissions.path_checks import RefusedError
from judge.submissions.trees import TaskHost, unpack_upload
from tests.attacks.defences import weak_command
from tests.attacks.serving import Result

MB = 1 << 20

LIMITS = IntakeLimits()
NO_RATIO = LIMITS.model_copy(update={"unpack": UnpackLimits(ratio=1_000_000)})

READ_S = 1

WRONG_VALUES = 300_000
READER_MB = 250


def search_by_squares(lines: int) -> float:
    """Search blank lines with a quadratic expression; return the CPU seconds."""
    began = time.process_time()
    re.search(r"(?im)^\s*program\s+\w+", "\n" * lines)
    return time.process_time() - began


def occupy_reader(_directory: Path, is_off: bool) -> Result:
    """Make the reader of sources search endlessly."""
    with closing(LimitedProcess(1000 if is_off else READ_S)) as reader:
        try:
            lines = 8000 if is_off else 1_000_000
            while (used := reader.run(search_by_squares, lines)) < 2 * READ_S:
                lines *= 2
        except RefusedError as error:
            return Result(False, f"refused: {error}")
    return Result(True, f"the reader has used {used:.1f} s of {READ_S} and continues")


def expand(directory: Path, is_off: bool) -> Result:
    """Send an archive that expands a thousandfold."""
    packed = gzip.compress(tarred(("zeros", bytes(32 * MB))))
    refusal = unpack(directory, packed, NO_RATIO if is_off else LIMITS)
    size = sum(path.stat().st_size for path in directory.rglob("zeros"))
    return Result(size > 0, f"refused: {refusal}" if refusal else f"{len(packed)} bytes became {size}")


def write_outside(directory: Path, is_off: bool) -> Result:
    """Send archives with a named pipe and a path outside."""
    pipe, outside = "pipe", directory / "outside"
    refusals = []
    for packed in (tarred(special(pipe, tarfile.FIFOTYPE)), tarred(("../outside", b"x"))):
        if is_off:
            unpack_all(packed, directory / "tree")
        else:
            refusals.append(unpack(directory, packed, LIMITS))
    made = [path.name for path in (directory / "tree" / pipe, outside) if path.exists()]
    is_success = bool(made) or not all(refusals)
    return Result(is_success, f"made: {', '.join(made)}" if is_success else f"refused: {'; '.join(refusals)}")


def unpack(directory: Path, packed: bytes, limits: IntakeLimits) -> str:
    """Unpack in a box to `tree`; return the reason for a refusal, or ""."""
    upload = directory / "upload"
    upload.write_bytes(packed)
    try:
        unpack_upload(upload, "a.tar.gz", directory / "tree", limits, TaskHost(BoxPolicy(freeze="none"), (), directory))
    except RefusedError as error:
        return str(error)
    return ""


def unpack_all(packed: bytes, target: Path) -> None:
    """Unpack an archive with Python's trusting reader."""
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extraction_filter = lambda member, _path: member
        archive.extractall(target)  # noqa: S202 - our own archive, in a directory that is removed


def tarred(*members: tuple[str, bytes] | tarfile.TarInfo, **fields: Any) -> bytes:
    """`fields` are set on members given by name and content."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=fields.pop("format", tarfile.PAX_FORMAT)) as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
                continue
            info = tarfile.TarInfo(member[0])
            info.size = len(member[1])
            for field, value in fields.items():
                setattr(info, field, value)
            archive.addfile(info, io.BytesIO(member[1]))
    return buffer.getvalue()


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    """A tar member that is a link, device or named pipe."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def read_wrong_values(directory: Path, is_off: bool) -> Result:
    """Read a record with a list of invalid values."""
    record = directory / "1-1.json"
    record.write_text('{"record": {}, "transcript": {"sha256": "", "blocks": [' + "0," * WRONG_VALUES + "0]}}")
    words = weak_command(["first error"] if is_off else [], "verify", str(record))
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    taken = int(done.stdout.splitlines()[-1]) >> 20
    return Result(taken > READER_MB, f"judge verify takes {taken} MiB")
