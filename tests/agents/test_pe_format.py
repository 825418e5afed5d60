"""Windows programs are known by their headers, and only those that the runtime can run are taken."""

import re
import struct
from pathlib import Path

import pytest

from judge.agents.agents import stage_agent
from judge.agents.programs import read_pe, width_of
from judge.base.errors import InputError
from judge.record.policy import load_policy


def program(machine: int = 0x8664, kind: int = 0x22, subsystem: int = 3, is_dotnet: bool = False) -> bytes:
    """The first bytes of a Windows program as linkers write them."""
    wide = machine != 0x014C
    size = 240 if wide else 224
    optional = bytearray(size)
    struct.pack_into("<H", optional, 0, 0x20B if wide else 0x10B)
    struct.pack_into("<H", optional, 68, subsystem)
    directories = 112 if wide else 96
    struct.pack_into("<I", optional, directories - 4, 16)
    struct.pack_into("<I", optional, directories + 14 * 8, 0x2000 * is_dotnet)
    header = b"PE\0\0" + struct.pack("<HHIIIHH", machine, 1, 0, 0, 0, size, kind) + optional
    return b"MZ".ljust(60, b"\0") + struct.pack("<I", 128) + bytes(64) + header


NET = program(is_dotnet=True)


def archive(tmp_path: Path, **files: bytes | str) -> Path:
    """A directory of files; `_` is for `.`, and a text is the rest of a manifest."""
    path = tmp_path / "archive"
    path.mkdir()
    for name, content in files.items():
        data = content if isinstance(content, bytes) else f'name = "b"\n{content}\n'.encode()
        (path / name.replace("_", ".")).write_bytes(data)
    return path


@pytest.mark.parametrize(("machine", "bits"), [(0x014C, 32), (0x8664, 64)])
@pytest.mark.parametrize(("subsystem", "window"), [(2, True), (3, False)])
def test_header_contains_the_width_and_the_window(
    tmp_path: Path, machine: int, bits: int, subsystem: int, window: bool
) -> None:
    path = tmp_path / "brain.exe"
    path.write_bytes(program(machine, subsystem=subsystem))

    assert (found := read_pe(path)) is not None
    assert (bits, window) == (width_of(path), found.has_window)


def dos(offset: int, rest: bytes = b"") -> bytes:
    return b"MZ".ljust(60, b"\0") + struct.pack("<I", offset) + rest + bytes(64)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"brain_exe": b"MZ"}, "cut off or damaged"),
        ({"brain_exe": program()[:140]}, "cut off or damaged"),
        ({"brain_exe": program()[:200]}, "cut off or damaged"),
        ({"brain_exe": dos(64, b"NE")}, "for DOS or for 16"),
        ({"brain_exe": dos(0xFFFFFFFF)}, "for DOS or for 16"),
        ({"brain_exe": program(machine=0xAA64)}, "for ARM64: compile it for x86 or x86-64"),
        ({"brain_exe": program(machine=0x1234)}, "for the machine 0x1234"),
        ({"brain_exe": program(kind=0x2022)}, "is a DLL: name the program that uses it"),
        ({"brain_exe": program(subsystem=10)}, "subsystem is 10"),
        # Every program of an archive is looked at.
        (
            {"pbrain-swine_exe": program(), "pbrain-swine-caro_exe": program(machine=0xAA64)},
            "pbrain-swine-caro.exe is a Windows program for ARM64",
        ),
        *(
            (
                {"brain_exe": data, "small_exe": b"MZ", "agent_toml": f'runtime = "{kind}"\ncommand = {command}'},
                words,
            )
            for data, kind, command, words in (
                (program(), "native", '["./brain.exe"]', 'brain.exe is a Windows program: set runtime = "wine"'),
                (program(), "wine", '["wine"]', "name the Windows program"),
                (program(), "wine", '["brian.exe"]', "name the Windows program"),
                (program(), "wine", '["/etc/hostname"]', "name the Windows program"),
                (program(), "wine", '["../agent/brain.exe", "../../etc/passwd"]', "name the Windows program"),
                (program(), "wine", '["small.exe"]', "is cut off"),
                (NET, "wine", '["brain.exe"]', 'the wine runtime has no .NET: set runtime = "mono"'),
                (NET, "native", '["brain.exe"]', 'set runtime = "mono", command = ["mono", "brain.exe"]'),
            )
        ),
    ],
)
def test_program_that_no_runtime_can_run_is_refused_with_the_fix(
    tmp_path: Path, staging: Path, files: dict[str, bytes | str], words: str
) -> None:
    path = archive(tmp_path, **files)
    named = path if len(files) > 1 else path / "brain.exe"

    with pytest.raises(InputError, match=re.escape(words)):
        stage_agent(str(named), staging)


@pytest.mark.parametrize(
    ("data", "runtime"),
    [(program(), "wine"), (NET, "mono"), (program(0x014C, is_dotnet=True), "mono")],
    ids=["Windows", ".NET", ".NET of 32 bits"],
)
def test_one_program_is_an_agent_of_its_runtime(tmp_path: Path, staging: Path, data: bytes, runtime: str) -> None:
    path = tmp_path / "My Brain.exe"
    path.write_bytes(data)

    seat = stage_agent(str(path), staging).seat(load_policy("gomocup-fastgame"))

    assert ("My_Brain", runtime, (runtime, "My Brain.exe")) == (seat.name, seat.runtime, seat.command)


def test_of_an_archive_the_programs_play_and_the_rest_is_their_data(tmp_path: Path, staging: Path) -> None:
    brains = {"pbrain-swine_exe": program(0x014C), "pbrain-swine64_exe": program(), "pbrain-swine_ini": b"[swine]"}

    agent = stage_agent(str(archive(tmp_path, **brains)), staging)
    seat = agent.seat(load_policy("gomocup-fastgame"))

    assert ("swine", "wine", ("wine", "./pbrain-swine64.exe")) == (seat.name, seat.runtime, seat.command)
    assert not (agent.program / "pbrain-swine.ini").stat().st_mode & 0o111


@pytest.mark.parametrize("command", ['["brain.exe", "-v"]', '["wine", "brain.exe", "-v"]'])
def test_manifest_names_the_program_or_its_launcher(tmp_path: Path, staging: Path, command: str) -> None:
    path = archive(tmp_path, brain_exe=program(), agent_toml=f'runtime = "wine"\ncommand = {command}')

    assert stage_agent(str(path), staging).manifest.command == ("wine", "brain.exe", "-v")
