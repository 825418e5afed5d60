"""Recognises programs by their first bytes, reads their headers, and selects the program of a Gomocup archive.

ELF (System V ABI): the header has the machine; the loader's path follows the program headers.

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

from judge.agents.python_version import first_line
from judge.base.errors import InputError
from judge.base.text import sentence

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
_LOADER = re.compile(rb"/[!-~]{1,100}/ld[-.!-~]{1,60}(?=\0)")


@dataclass(frozen=True, slots=True)
class ElfProgram:
    """An ELF header. `loader` is the dynamic loader's path, or ""."""

    machine: str
    is_of_this_host: bool
    is_object: bool
    loader: str


def read_elf(path: Path) -> ElfProgram | None:
    """None for another file."""
    with path.open("rb") as stream:
        head = stream.read(4096)
    if head[:4] != _ELF or len(head) < 20:
        return None
    kind, machine = struct.unpack_from("<HH" if head[5] == 1 else ">HH", head, 16)
    loader = _LOADER.search(head)
    return ElfProgram(
        ELF_MACHINES.get(machine, f"the machine {machine}"),
        machine == _THIS.get(platform.machine()),
        kind in (_RELOCATABLE, _CORE),
        loader[0].decode() if loader else "",
    )


PE_WIDTHS = {0x014C: 32, 0x8664: 64}
"""Bits by machine."""
_OTHERS = {0x01C4: "32-bit ARM", 0xAA64: "ARM64", 0x0200: "Itanium"}
_PE = b"PE\0\0"
_IS_DLL = 0x2000
_GUI, _CONSOLE = 2, 3


@dataclass(frozen=True, slots=True)
class WindowsProgram:
    """A PE header. Without a machine the file is damaged, or of 16 bits."""

    machine: int = 0
    is_dll: bool = False
    is_dotnet: bool = False
    """It needs .NET (Mono)."""
    subsystem: int = 0

    @property
    def has_window(self) -> bool:
        """It is graphical, and may be unable to print."""
        return self.subsystem == _GUI


def read_pe(path: Path) -> WindowsProgram | None:
    """None for a file without a DOS or Windows header."""
    with path.open("rb") as stream:
        head = stream.read(64)
        if head[:2] != b"MZ":
            return None
        try:
            stream.seek(struct.unpack_from("<I", head, 60)[0])
            header = stream.read(512)
            signature, machine, kind, magic = struct.unpack_from("<4sH16xHH", header)
            (subsystem,) = struct.unpack_from("<H", header, 24 + 68)
            # The fifteenth directory is that of .NET; the optional header of 64 bits is 16 bytes longer.
            count, dotnet = struct.unpack_from("<I112xI", header, 24 + (108 if magic == 0x20B else 92))
        except (struct.error, OSError):
            return WindowsProgram()
    if signature != _PE:
        return WindowsProgram()
    return WindowsProgram(machine, bool(kind & _IS_DLL), count > 14 and dotnet != 0, subsystem)


def width_of(path: Path) -> int:
    """Bits of a Windows program. Raises InputError with the fix."""
    program = read_pe(path)
    if program is None or not program.machine:
        raise InputError(
            sentence(f"{path} is cut off or damaged, or for DOS or for 16-bit Windows: compile it for 32 or 64 bits")
        )
    if program.machine not in PE_WIDTHS:
        name = _OTHERS.get(program.machine, f"the machine 0x{program.machine:04x}")
        raise InputError(sentence(f"{path} is a Windows program for {name}: compile it for x86 or x86-64"))
    if program.is_dll:
        raise InputError(sentence(f"{path} is a DLL: name the program that uses it"))
    if program.is_dotnet:
        raise InputError(sentence(f'{path} is a .NET program, and the wine runtime has no .NET: set runtime = "mono"'))
    if program.subsystem not in (_GUI, _CONSOLE):
        raise InputError(sentence(f"{path} is not a console program: its Windows subsystem is {program.subsystem}"))
    return PE_WIDTHS[program.machine]


_NOT_RUN = (b"\x01\x00", b"\x00\x01", b"\x04\x00", b"\x00\x04")
"""Object files and core dumps, in both byte orders."""


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
        windows = read_pe(path)
    except OSError:
        return None
    if head[:4] == _ELF:
        is_library = path.suffix == ".so" or ".so." in path.name
        return None if is_library or head[16:18] in _NOT_RUN else ProgramKind.NATIVE
    if windows is not None:
        return None if windows.is_dll else ProgramKind.WINDOWS
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
