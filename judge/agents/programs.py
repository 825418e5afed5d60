"""Recognises programs by their first bytes, reads their headers, and selects the program of a Gomocup archive.

ELF (System V ABI): the header has the machine; PT_INTERP in the program headers is the loader.

PE (Microsoft, "PE Format"): byte 60 has the offset of the PE header with machine and kind; the optional header has the
subsystem and the table of directories.

A Gomocup archive has one program per rule, board size and machine width. Gomoku AI protocol: names begin with
`pbrain-`, and 64-bit ones contain 64. The official manager also reads the purpose from the end of a name, before the
64: `_renju-15`, `_renju` or `_15`.

    pbrain-swine.exe             any rule, any size, 32 bits
    pbrain-swine64.exe           the same for 64 bits
    pbrain-swine_caro-15_64      caro on 15x15, 64 bits
"""

import platform
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from judge.base.errors import InputError
from judge.base.text import printable, sentence

_ELF = b"\x7fELF"
ELF_MACHINES = {
    0x03: "x86 of 32 bits",
    0x08: "MIPS",
    0x14: "PowerPC",
    0x15: "PowerPC of 64 bits",
    0x16: "s390x",
    0x28: "ARM of 32 bits",
    0x3E: "x86-64",
    0xB7: "ARM of 64 bits",
    0xF3: "RISC-V",
    0x102: "LoongArch",
}
"""Names by e_machine."""
_THIS = {"x86_64": 0x3E, "aarch64": 0xB7, "riscv64": 0xF3, "s390x": 0x16, "ppc64le": 0x15, "loongarch64": 0x102}
_RELOCATABLE, _CORE = 1, 4
_PT_INTERP = 3
_MAX_HEADERS = 64


@dataclass(frozen=True, slots=True)
class ElfProgram:
    """An ELF header. `loader` is the dynamic loader's path, or ""."""

    machine: str
    is_of_this_host: bool
    is_object: bool
    loader: str


def read_elf(path: Path) -> ElfProgram | None:
    """None for another or a damaged file."""
    try:
        with path.open("rb") as stream:
            head = stream.read(64)
            if head[:4] != _ELF:
                return None
            order = "<" if head[5] == 1 else ">"
            kind, machine = struct.unpack_from(f"{order}HH", head, 16)
            is_64 = head[4] == 2
            if is_64:
                (at,), (size, count) = (
                    struct.unpack_from(f"{order}Q", head, 32),
                    struct.unpack_from(f"{order}HH", head, 54),
                )
            else:
                (at,), (size, count) = (
                    struct.unpack_from(f"{order}I", head, 28),
                    struct.unpack_from(f"{order}HH", head, 42),
                )
            loader = ""
            for number in range(min(count, _MAX_HEADERS)):
                stream.seek(at + number * size)
                entry = stream.read(56 if is_64 else 32)
                (entry_kind,) = struct.unpack_from(f"{order}I", entry)
                if entry_kind == _PT_INTERP:
                    offset, length = (
                        struct.unpack_from(f"{order}Q16xQ", entry, 8)
                        if is_64
                        else struct.unpack_from(f"{order}I8xI", entry, 4)
                    )
                    stream.seek(offset)
                    loader = stream.read(min(length, 256)).rstrip(b"\0").decode("utf-8", "replace")
    except (OSError, struct.error, IndexError, ValueError, OverflowError):
        return None
    name = ELF_MACHINES.get(machine, f"the machine {machine}")
    is_object = kind in (_RELOCATABLE, _CORE)
    return ElfProgram(name, machine == _THIS.get(platform.machine()), is_object, printable(loader, 100))


PE_WIDTHS = {0x014C: 32, 0x8664: 64}
"""Bits by machine."""
_OTHERS = {0x01C4: "32-bit ARM", 0xAA64: "ARM64", 0x0200: "Itanium"}
_PE = b"PE\0\0"
_IS_DLL = 0x2000
_GUI, _CONSOLE = 2, 3
_RUNTIME_DIRECTORY = 14
"""Only .NET programs have it."""


def is_windows_program(path: Path) -> bool:
    """It has a DOS or Windows header."""
    with path.open("rb") as stream:
        return stream.read(2) == b"MZ"


def is_dll(path: Path) -> bool:
    """A library; False if damaged."""
    try:
        _, _, kind = _fields(_header(path))
    except (struct.error, OSError):
        return False
    return bool(kind & _IS_DLL)


def has_window(path: Path) -> bool:
    """It is graphical, and may be unable to print."""
    try:
        header = _header(path)
        return header[:4] == _PE and struct.unpack_from("<H", header, 24 + 68)[0] == _GUI
    except (struct.error, OSError):
        return False


def is_dotnet(path: Path) -> bool:
    """It needs .NET (Mono); False if damaged."""
    try:
        header = _header(path)
        return header[:4] == _PE and _has_runtime(header[24:])
    except (struct.error, OSError):
        return False


def width_of(path: Path) -> int:
    """Bits of a Windows program. Raises InputError with the fix."""
    try:
        return _width(path)
    except (struct.error, OSError):
        raise InputError(sentence(f"{path} is cut off or damaged: its header is not whole")) from None


def _header(path: Path) -> bytes:
    """Raises struct.error for a short file."""
    with path.open("rb") as stream:
        head = stream.read(64)
        stream.seek(struct.unpack_from("<I", head, 60)[0])
        return stream.read(4096)


def _fields(header: bytes) -> tuple[int, int, int]:
    """Machine, size of the optional header, and characteristics."""
    machine, size, kind = struct.unpack_from("<H14xHH", header, 4)
    return machine, size, kind


def _width(path: Path) -> int:
    header = _header(path)
    if header[:4] != _PE:
        raise InputError(sentence(f"{path} is a program for DOS or for 16-bit Windows: compile it for 32 or 64 bits"))
    machine, size, kind = _fields(header)
    if machine not in PE_WIDTHS:
        name = _OTHERS.get(machine, f"the machine 0x{machine:04x}")
        raise InputError(sentence(f"{path} is a Windows program for {name}: compile it for x86 or x86-64"))
    if kind & _IS_DLL:
        raise InputError(sentence(f"{path} is a DLL: name the program that uses it"))
    optional = header[24 : 24 + size]  # 16 bytes longer in 64-bit programs (magic 0x20b)
    if _has_runtime(optional):
        raise InputError(sentence(f'{path} is a .NET program, and the wine runtime has no .NET: set runtime = "mono"'))
    subsystem = struct.unpack_from("<H", optional, 68)[0]
    if subsystem not in (_GUI, _CONSOLE):
        raise InputError(sentence(f"{path} is not a console program: its Windows subsystem is {subsystem}"))
    return PE_WIDTHS[machine]


def _has_runtime(optional: bytes) -> bool:
    magic = struct.unpack_from("<H", optional)[0]
    count_at = 108 if magic == 0x20B else 92
    count = struct.unpack_from("<I", optional, count_at)[0]
    entry = count_at + 4 + 8 * _RUNTIME_DIRECTORY
    return count > _RUNTIME_DIRECTORY and bool(struct.unpack_from("<I", optional, entry)[0])


_NOT_RUN = (b"\x01\x00", b"\x00\x01", b"\x04\x00", b"\x00\x04")
"""Object files and core dumps, in both byte orders."""

LFS_POINTER = b"version https://git-lfs.github.com/spec/"
MAX_LFS_POINTER_BYTES = 1024

_MAX_READ_BYTES = 1 << 20
_MAX_FIRST_LINE_BYTES = 4096
"""The kernel takes 255 bytes."""
_VERSION = re.compile(r"python([23])")
_OPTION = re.compile(r"-[A-RT-Za-z]+")  # -S is an option of env
_ONLY_2 = re.compile(rb"(?m)^[ \t]*(?:print[ \t]+(?:[\"']|>>|[\w.]+\()|except[ \t]+[\w.]+[ \t]*,[ \t]*\w+[ \t]*:)")
"""`print "x"`, `print str(x)`, `except Error, error:`: statements of Python 2 only."""


class ProgramKind(IntEnum):
    """An archive's smallest one plays."""

    NATIVE = 1
    JAR = 2
    WINDOWS = 3
    PYTHON = 4
    """Last: usually a tool or a source of the other program."""


def kind_of(path: Path) -> ProgramKind | None:
    """None for sources, libraries, data and missing files."""
    try:
        with path.open("rb") as stream:
            head = stream.read(128)
    except OSError:
        return None
    if head[:4] == _ELF:
        is_library = path.suffix == ".so" or ".so." in path.name
        return None if is_library or head[16:18] in _NOT_RUN else ProgramKind.NATIVE
    if is_windows_program(path):
        return None if is_dll(path) else ProgramKind.WINDOWS
    if path.suffix == ".jar" and head[:4] == b"PK\x03\x04":
        return ProgramKind.JAR
    if path.suffix == ".py" or b"python" in first_line(head):
        return ProgramKind.PYTHON
    return None


def needs_executable_bit(path: Path) -> bool:
    """Whether it is an ELF file or begins with `#!`."""
    with path.open("rb") as stream:
        head = stream.read(4)
    return head == _ELF or head[:2] == b"#!"


def is_lfs_pointer(path: Path) -> bool:
    """Whether a file is a Git LFS pointer."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(LFS_POINTER)) == LFS_POINTER
    except OSError:
        return False


def first_line(head: bytes) -> bytes:
    """The interpreter line (`#!…`), or b""."""
    return head.split(b"\n")[0] if head[:2] == b"#!" else b""


def python_words(path: Path) -> tuple[str, ...]:
    """`python2` or `python3` and the first line's options. Without a version, statements of Python 2 only decide."""
    with path.open("rb") as stream:
        text = stream.read(_MAX_READ_BYTES)
    words = first_line(text)[:_MAX_FIRST_LINE_BYTES].decode("utf-8", "replace").split()
    named = _VERSION.search(" ".join(words))
    is_2 = named[1] == "2" if named else _ONLY_2.search(text) is not None
    options = [word for word in words[1:] if _OPTION.fullmatch(word)]
    return ("python2" if is_2 else "python3", *options)


def playable(paths: Sequence[Path]) -> list[Path]:
    """Programs of the preferred kind, ordered by name."""
    kinds = {path: kind for path in sorted(paths) if (kind := kind_of(path)) is not None}
    best = min(kinds.values(), default=None)
    return [path for path, kind in kinds.items() if kind is best]


PREFIX = "pbrain-"

_ENDING = re.compile(r"\.(?:exe|py|jar)$", re.IGNORECASE)

_RULES = ("freestyle", "standard", "renju", "caro")
_PURPOSE = re.compile(rf"_({'|'.join(_RULES)})(?:-([0-9]{{1,2}}))?$|_()([0-9]{{1,2}})$", re.IGNORECASE)
"""A rule, a rule and a size, or a size."""


def brain_name(executable: str) -> str:
    """A file name without `pbrain-`, ending, purpose and width."""
    return _PURPOSE.sub("", _stem(executable)).removeprefix(PREFIX)


def own_name(command: Sequence[str]) -> str:
    """The name of a brain's temporary folder (Gomoku AI protocol): the `pbrain-` file name without ending, or ""."""
    files = (word.replace("\\", "/").rpartition("/")[2] for word in command)
    brain = next((file for file in files if file.startswith(PREFIX)), "")
    return _ENDING.sub("", brain)


def choose_executable(names: Sequence[str], rule: str, size: int) -> str:
    """The best name for `rule` (a word of the game's options) and size on a 64-bit machine.

    A program for another rule or size is a last resort. Ties are resolved by name.
    """
    wanted = "caro" if rule.startswith("caro") else rule
    return min(sorted(names), key=lambda name: _unfitness(name, wanted, str(size)))


def _unfitness(name: str, rule: str, size: str) -> tuple[int, bool]:
    """Smaller is better: purpose, then width."""
    made = _PURPOSE.search(_stem(name))
    made_rule, made_size = "", ""
    if made is not None:
        made_rule, made_size = (made[1] or "").lower(), made[2] or made[4] or ""
    if made_rule not in ("", rule) or made_size not in ("", size):
        return 4, "64" not in name
    return 3 - 2 * bool(made_rule) - bool(made_size), "64" not in name


def _stem(name: str) -> str:
    return re.sub(r"[-_]?64$", "", re.sub(r"\.exe$", "", name, flags=re.IGNORECASE))
