"""The copy of an agent's files for one box. See decision 0016."""

import os
import shutil
import struct
import tempfile
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path

from judge.base.errors import HostError
from judge.base.owner import remove_directory

LOADERS = (b"/lib64/ld-linux-x86-64.so.2", b"/lib/ld-linux.so.2", b"/lib/ld-linux-aarch64.so.1")
"""Unreadable in the images."""

EXECUTE, READ_BY_OTHERS = 0o111, 0o044

ELF, LITTLE, CLASS_32, CLASS_64 = b"\x7fELF", 1, 1, 2
IS_LIBRARY_OR_PIE = 3
DYNAMIC, INTERPRETER = 2, 3
FLAGS_1, IS_PIE = 0x6FFFFFFB, 0x08000000
CLASSES = {3: CLASS_32, 40: CLASS_32, 62: CLASS_64, 183: CLASS_64}
"""By machine: x86, ARM, x86-64, AArch64."""
MAX_SEGMENTS = 1024
MAX_NAME_BYTES = 4096
MAX_DYNAMIC_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class ProgramCopy:
    """Copy of `source` at `path`."""

    source: Path
    path: Path

    def make(self) -> None:
        """Raises HostError."""
        remove_directory(self.path)
        try:
            shutil.copytree(self.source, self.path, symlinks=True)  # resolved in the box
            for folder, _, names in os.walk(self.path):
                for name in names:
                    close_program(Path(folder) / name)
        except OSError as error:
            reason = error.args[0][0][-1] if isinstance(error, shutil.Error) else error.strerror
            raise HostError(
                f"The files in {self.source} could not be copied for a box: {reason}: make room in "
                f"{tempfile.gettempdir()}, or set TMPDIR"
            ) from error


def close_program(path: Path) -> None:
    """Let the agent either read or execute an ELF file that none of `LOADERS` starts. Raises OSError."""
    mode = path.lstat().st_mode
    if path.is_symlink() or not path.is_file() or not mode & EXECUTE:
        return
    with path.open("rb") as file:
        if file.read(len(ELF)) != ELF:
            return
        with mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            image = _Image(data)
    if image.loader not in LOADERS:
        path.chmod(mode & ~(EXECUTE if image.is_library else READ_BY_OTHERS))


class _Image:
    """Header of a hostile ELF file. If unclear: a program without a loader."""

    def __init__(self, data: mmap) -> None:
        self.loader = b""
        self.is_library = False
        self._data = data
        try:
            self._read()
        except (struct.error, OverflowError):  # a place beyond the file, or beyond its longest size
            self.loader = b""
            self.is_library = False

    def _read(self) -> None:
        data = self._data
        kind, machine = struct.unpack_from("<HH", data, 16)
        if data[5] != LITTLE or data[4] != CLASSES.get(machine):
            return  # the kernel looks at the machine only
        is_64 = data[4] == CLASS_64
        start = struct.unpack_from("<Q", data, 32)[0] if is_64 else struct.unpack_from("<I", data, 28)[0]
        size, count = struct.unpack_from("<HH", data, 54 if is_64 else 42)
        if size != (56 if is_64 else 32) or not 0 < count <= MAX_SEGMENTS:
            return
        form = "<IIQQQQQQ" if is_64 else "<IIIIIIII"
        dynamic = b""
        has_loader = False
        for number in range(count):
            fields = struct.unpack_from(form, data, start + number * size)
            offset, length = (fields[2], fields[5]) if is_64 else (fields[1], fields[4])
            if fields[0] == INTERPRETER and not has_loader:  # the kernel uses the first
                has_loader = True
                self.loader = data[offset : offset + min(length, MAX_NAME_BYTES)].rstrip(b"\0")
            elif fields[0] == DYNAMIC:
                dynamic = data[offset : offset + min(length, MAX_DYNAMIC_BYTES)]
        self.is_library = kind == IS_LIBRARY_OR_PIE and not has_loader and not _is_pie(dynamic, is_64=is_64)


def _is_pie(dynamic: bytes, *, is_64: bool) -> bool:
    form = "<QQ" if is_64 else "<II"
    whole = dynamic[: len(dynamic) // struct.calcsize(form) * struct.calcsize(form)]
    return any(tag == FLAGS_1 and value & IS_PIE for tag, value in struct.iter_unpack(form, whole))
