"""Windows programs are known by their headers, and only those that the runtime can run are taken."""

import re
import struct
from pathlib import Path

import pytest

from judge.agents.agents import stage_agent
from judge.agents.programs import read_pe, width_of
from judge.base.errors import InputError
from judge.referee.policy import load_policy


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


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    path = tmp_path / "staging"
    path.mkdir()
    return path


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "archive"
    path.mkdir()
    return path


@pytest.mark.parametrize(("machine", "bits"), [(0x014C, 32), (0x8664, 64)])
def test_header_contains_the_width(tmp_path: Path, machine: int, bits: int) -> None:
    path = tmp_path / "brain.exe"
    path.write_bytes(program(machine))

    assert width_of(path) == bits


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"MZ", "cut off or damaged"),
        (program()[:140], "cut off or damaged"),
        (program()[:200], "cut off or damaged"),
        (b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"NE" + bytes(64), "for DOS or for 16"),
        (b"MZ".ljust(60, b"\0") + struct.pack("<I", 0xFFFFFFFF) + bytes(64), "for DOS or for 16"),
        (program(machine=0xAA64), "for ARM64: compile it for x86 or x86-64"),
        (program(machine=0x1234), "for the machine 0x1234"),
        (program(kind=0x2022), "is a DLL: name the program that uses it"),
        (program(subsystem=10), "subsystem is 10"),
    ],
)
def test_program_unsupported_by_the_runtime_is_refused_with_the_reason(
    tmp_path: Path, staging: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "brain.exe"
    path.write_bytes(content)

    with pytest.raises(InputError) as error:
        stage_agent(str(path), staging)

    assert words in str(error.value)


def test_one_program_is_an_agent_of_the_wine_runtime(tmp_path: Path, staging: Path) -> None:
    path = tmp_path / "My Brain.exe"
    path.write_bytes(program())

    seat = stage_agent(str(path), staging).seat(load_policy("gomocup-fastgame"))

    assert (seat.name, seat.runtime, seat.command) == (
        "My_Brain",
        "wine",
        ("wine", "My Brain.exe"),
    )


def test_of_an_archive_the_programs_play_and_the_rest_is_their_data(archive: Path, staging: Path) -> None:
    (archive / "pbrain-swine.exe").write_bytes(program(0x014C))
    (archive / "pbrain-swine64.exe").write_bytes(program())
    (archive / "pbrain-swine.ini").write_text("[swine]")

    agent = stage_agent(str(archive), staging)
    seat = agent.seat(load_policy("gomocup-fastgame"))

    assert (seat.name, seat.runtime, seat.command) == (
        "swine",
        "wine",
        ("wine", "./pbrain-swine64.exe"),
    )
    assert not (agent.program / "pbrain-swine.ini").stat().st_mode & 0o111


def test_of_an_archive_every_program_is_looked_at(archive: Path, staging: Path) -> None:
    (archive / "pbrain-swine.exe").write_bytes(program())
    (archive / "pbrain-swine_caro.exe").write_bytes(program(machine=0xAA64))

    with pytest.raises(InputError, match=r"pbrain-swine_caro\.exe is a Windows program for ARM64"):
        stage_agent(str(archive), staging)


@pytest.mark.parametrize("machine", [0x014C, 0x8664])
def test_a_program_for_dotnet_is_an_agent_of_the_mono_runtime(archive: Path, staging: Path, machine: int) -> None:
    (archive / "brain.exe").write_bytes(program(machine, is_dotnet=True))

    manifest = stage_agent(str(archive / "brain.exe"), staging).manifest

    assert ("mono", ("mono", "brain.exe")) == (manifest.runtime, manifest.command)


@pytest.mark.parametrize(
    ("runtime", "fix"),
    [
        ("wine", 'the wine runtime has no .NET: set runtime = "mono"'),
        ("native", 'set runtime = "mono", command = ["mono", "brain.exe"]'),
    ],
)
def test_a_program_for_dotnet_is_not_one_for_another_runtime(
    archive: Path, staging: Path, runtime: str, fix: str
) -> None:
    (archive / "brain.exe").write_bytes(program(is_dotnet=True))
    (archive / "agent.toml").write_text(f'name = "b"\nruntime = "{runtime}"\ncommand = ["brain.exe"]\n')

    with pytest.raises(InputError, match=re.escape(fix)):
        stage_agent(str(archive), staging)


@pytest.mark.parametrize("command", ['["brain.exe", "-v"]', '["wine", "brain.exe", "-v"]'])
def test_manifest_names_the_program_or_its_launcher(archive: Path, staging: Path, command: str) -> None:
    (archive / "brain.exe").write_bytes(program())
    (archive / "agent.toml").write_text(f'name = "b"\nruntime = "wine"\ncommand = {command}\n')

    assert stage_agent(str(archive), staging).manifest.command == ("wine", "brain.exe", "-v")


@pytest.mark.parametrize(
    ("runtime", "command", "words"),
    [
        ("native", '["./brain.exe"]', 'brain.exe is a Windows program: set runtime = "wine"'),
        ("wine", '["wine"]', "name the Windows program"),
        ("wine", '["brian.exe"]', "name the Windows program"),
        ("wine", '["small.exe"]', "is cut off"),
    ],
)
def test_a_manifest_that_cannot_work_is_refused_with_the_fix(
    archive: Path, staging: Path, runtime: str, command: str, words: str
) -> None:
    (archive / "brain.exe").write_bytes(program())
    (archive / "small.exe").write_bytes(b"MZ")
    (archive / "agent.toml").write_text(f'name = "b"\nruntime = "{runtime}"\ncommand = {command}\n')

    with pytest.raises(InputError) as error:
        stage_agent(str(archive), staging)

    assert words in str(error.value)


@pytest.mark.parametrize(("subsystem", "expected"), [(2, True), (3, False)])
def test_a_program_with_a_window_is_taken_and_known(tmp_path: Path, subsystem: int, expected: bool) -> None:
    path = tmp_path / "brain.exe"
    path.write_bytes(program(subsystem=subsystem))

    assert width_of(path) == 64
    assert (found := read_pe(path)) is not None
    assert found.has_window is expected
