"""What a Linux program says of itself in its first bytes: the machine that it is for, and the loader that starts it.

The layout is that of the System V ABI: the ELF header, and in the table of program headers the entry PT_INTERP.
"""

import platform
import struct
from dataclasses import dataclass
from pathlib import Path

from judge.base.text import printable

MAGIC = b"\x7fELF"
MACHINES = {
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
"""Values of e_machine."""
_THIS = {"x86_64": 0x3E, "aarch64": 0xB7, "riscv64": 0xF3, "s390x": 0x16, "ppc64le": 0x15, "loongarch64": 0x102}
_RELOCATABLE, _CORE = 1, 4
_PT_INTERP = 3
_MAX_HEADERS = 64


@dataclass(frozen=True, slots=True)
class ElfProgram:
    """The header of a program. `loader` is the path of its dynamic loader; empty for a static program."""

    machine: str
    is_of_this_host: bool
    is_object: bool
    loader: str


def read_elf(path: Path) -> ElfProgram | None:
    """The header of an ELF file; None for another file or a damaged one."""
    try:
        with path.open("rb") as stream:
            head = stream.read(64)
            if head[:4] != MAGIC:
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
    name = MACHINES.get(machine, f"the machine {machine}")
    is_object = kind in (_RELOCATABLE, _CORE)
    return ElfProgram(name, machine == _THIS.get(platform.machine()), is_object, printable(loader, 100))
