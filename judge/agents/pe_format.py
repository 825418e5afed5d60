"""What a Windows program says of itself in its first bytes: whether the `wine` runtime can run it at all.

The layout is that of Microsoft's "PE Format": at byte 60 the place of the PE header, in it the machine and what kind
of file it is, behind it the optional header with the subsystem and the table of directories.
"""

import struct
from pathlib import Path

from judge.base.errors import InputError

MACHINES = {0x014C: 32, 0x8664: 64}
"""The machines that the runtime has, and their width in bits."""
_OTHERS = {0x01C4: "32-bit ARM", 0xAA64: "ARM64", 0x0200: "Itanium"}
_PE = b"PE\0\0"
_IS_DLL = 0x2000
_GUI, _CONSOLE = 2, 3
_RUNTIME_DIRECTORY = 14
"""The entry of a table of directories that only a .NET program has."""


def is_windows_program(path: Path) -> bool:
    """Whether a file begins as programs for DOS and Windows do."""
    with path.open("rb") as stream:
        return stream.read(2) == b"MZ"


def is_dll(path: Path) -> bool:
    """Whether a file that begins as a Windows program is a library; False for a damaged one."""
    try:
        _, _, kind = _fields(_header(path))
    except (struct.error, OSError):
        return False
    return bool(kind & _IS_DLL)


def has_window(path: Path) -> bool:
    """Whether a program is linked as one with windows: it may have no console, so nothing that it can print to."""
    try:
        header = _header(path)
        return header[:4] == _PE and struct.unpack_from("<H", header, 24 + 68)[0] == _GUI
    except (struct.error, OSError):
        return False


def is_dotnet(path: Path) -> bool:
    """Whether a Windows program is one for .NET, which Mono runs; False for a damaged one."""
    try:
        header = _header(path)
        return header[:4] == _PE and _has_runtime(header[24:])
    except (struct.error, OSError):
        return False


def width_of(path: Path) -> int:
    """32 or 64, the bits of a Windows program; InputError with the fix for one that the runtime cannot run."""
    try:
        return _width(path)
    except (struct.error, OSError):
        raise InputError(f"{path} is cut off or damaged: its header is not whole") from None


def _header(path: Path) -> bytes:
    """The PE header and what follows it; raises struct.error for a file that is too short to have one."""
    with path.open("rb") as stream:
        head = stream.read(64)
        stream.seek(struct.unpack_from("<I", head, 60)[0])
        return stream.read(4096)


def _fields(header: bytes) -> tuple[int, int, int]:
    """The machine, the size of the optional header, and what kind of file it is."""
    machine, size, kind = struct.unpack_from("<H14xHH", header, 4)
    return machine, size, kind


def _width(path: Path) -> int:
    header = _header(path)
    if header[:4] != _PE:
        raise InputError(f"{path} is a program for DOS or for 16-bit Windows: compile it for 32 or 64 bits")
    machine, size, kind = _fields(header)
    if machine not in MACHINES:
        name = _OTHERS.get(machine, f"the machine 0x{machine:04x}")
        raise InputError(f"{path} is a Windows program for {name}: compile it for x86 or x86-64")
    if kind & _IS_DLL:
        raise InputError(f"{path} is a DLL: name the program that uses it")
    _refuse_unfit(path, header[24 : 24 + size])
    return MACHINES[machine]


def _refuse_unfit(path: Path, optional: bytes) -> None:
    """Refuse by the optional header, which is 16 bytes longer in programs of 64 bits (magic 0x20b)."""
    if _has_runtime(optional):
        raise InputError(f'{path} is a .NET program, and the wine runtime has no .NET: say runtime = "mono"')
    subsystem = struct.unpack_from("<H", optional, 68)[0]
    if subsystem not in (_GUI, _CONSOLE):
        raise InputError(f"{path} is no console program but for subsystem {subsystem} of Windows")


def _has_runtime(optional: bytes) -> bool:
    magic = struct.unpack_from("<H", optional)[0]
    count_at = 108 if magic == 0x20B else 92
    count = struct.unpack_from("<I", optional, count_at)[0]
    entry = count_at + 4 + 8 * _RUNTIME_DIRECTORY
    return count > _RUNTIME_DIRECTORY and bool(struct.unpack_from("<I", optional, entry)[0])
