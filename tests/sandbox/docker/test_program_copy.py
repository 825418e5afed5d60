"""Of an agent's programs none can be read and executed, unless a loader of the images starts it."""

import struct
import subprocess
from pathlib import Path

import pytest

from judge.sandbox.docker.program_copy import ProgramCopy

SOURCE = "int main(void) { return 0; }\n"
LOADER = "/lib64/ld-linux-x86-64.so.2"


def compiled(folder: Path, *flags: str) -> Path:
    file = folder / "program"
    subprocess.run(["gcc", "-x", "c", "-o", file, *flags, "-"], input=SOURCE, text=True, check=True)
    file.chmod(0o755)
    return file


def rights(tmp_path: Path) -> str:
    """What the agent may do with the copy of the program: r, x, both or neither."""
    ProgramCopy(tmp_path / "source", tmp_path / "copy").make()
    mode = (tmp_path / "copy" / "program").stat().st_mode
    return ("r" if mode & 0o004 else "") + ("x" if mode & 0o001 else "")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        pytest.param((), "rx", id="dynamic"),
        pytest.param(("-no-pie",), "rx", id="dynamic-at-fixed-addresses"),
        pytest.param(("-static",), "x", id="static"),
        pytest.param(("-static-pie",), "x", id="static-pie"),
        pytest.param(("-Wl,--dynamic-linker=/agent/loader",), "x", id="own-loader"),
        pytest.param((f"-Wl,--dynamic-linker={LOADER}/../loader",), "x", id="loader-by-another-path"),
        pytest.param(("-shared", "-fPIC"), "r", id="library"),
    ],
)
def test_a_program_without_a_loader_of_the_images_cannot_be_read(
    tmp_path: Path, source: Path, flags: tuple[str, ...], expected: str
) -> None:
    compiled(source, *flags)
    assert expected == rights(tmp_path)


@pytest.mark.parametrize(
    ("at", "value"),
    [(32, struct.pack("<Q", 1 << 62)), (32, struct.pack("<Q", (1 << 64) - 56))],
    ids=["headers beyond any file", "headers at the end of all numbers"],
)
def test_a_program_with_a_false_header_cannot_be_read(tmp_path: Path, source: Path, at: int, value: bytes) -> None:
    file = compiled(source)
    data = file.read_bytes()
    file.write_bytes(data[:at] + value + data[at + len(value) :])
    assert "x" == rights(tmp_path)


@pytest.mark.parametrize(("machine", "expected"), [(3, "rx"), (62, "x")])
def test_a_loader_in_a_header_of_another_class_than_the_machine_does_not_count(
    tmp_path: Path, source: Path, machine: int, expected: str
) -> None:
    """The kernel reads the other class there, in which the program has no loader."""
    header = struct.pack("<4s12B2H5I6H", b"\x7fELF", 1, 1, 1, *bytes(9), 2, machine, 1, 0, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    segment = struct.pack("<8I", 3, 84, 0, 0, len(LOADER), len(LOADER), 4, 1)
    file = source / "program"
    file.write_bytes(header + segment + LOADER.encode())
    file.chmod(0o755)
    assert expected == rights(tmp_path)


@pytest.mark.parametrize("size", [4, 5, 20, 63, 64, 100, 600])
def test_a_cut_program_cannot_be_read(tmp_path: Path, source: Path, size: int) -> None:
    file = compiled(source)
    file.write_bytes(file.read_bytes()[:size])
    assert "x" == rights(tmp_path)


def test_the_second_loader_in_a_header_does_not_count(tmp_path: Path, source: Path) -> None:
    file = compiled(source)
    data = bytearray(file.read_bytes())
    start, (size, count) = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<HH", data, 54)
    places = [start + number * size for number in range(count)]
    first = next(place for place in places if struct.unpack_from("<I", data, place)[0] == 3)
    before = next(place for place in places if place < first)
    data[before : before + size] = data[first : first + size]
    struct.pack_into("<Q", data, before + 32, 5)  # a shorter name
    file.write_bytes(data)
    assert "x" == rights(tmp_path)


@pytest.mark.parametrize("text", [b"#!/bin/sh\n", b"", b"\x7fEL"])
def test_scripts_and_data_stay_as_they_are(tmp_path: Path, source: Path, text: bytes) -> None:
    (source / "program").write_bytes(text)
    (source / "program").chmod(0o755)
    assert "rx" == rights(tmp_path)


def test_a_library_that_cannot_be_executed_stays_as_it_is(tmp_path: Path, source: Path) -> None:
    compiled(source, "-static").chmod(0o644)
    assert "r" == rights(tmp_path)
