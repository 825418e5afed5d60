"""Of an agent's programs none can be read and executed, unless a loader of the images starts it."""

import struct
import subprocess
from pathlib import Path

import pytest

from judge.sandbox.docker.program_copy import ProgramCopy

SOURCE = "int main(void) { return 0; }\n"
LIBRARY = "int answer(void) { return 42; }\n"
LOADER = "/lib64/ld-linux-x86-64.so.2"


def compiled(folder: Path, name: str, *flags: str, source: str = SOURCE) -> Path:
    file = folder / name
    subprocess.run(["gcc", "-x", "c", "-o", file, *flags, "-"], input=source, text=True, check=True)
    file.chmod(0o755)
    return file


def rights(tmp_path: Path, name: str) -> str:
    """What the agent may do with the copy of a file: r, x, both or neither."""
    ProgramCopy(tmp_path / "source", tmp_path / "copy").make()
    mode = (tmp_path / "copy" / name).stat().st_mode
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
    compiled(source, "program", *flags)
    assert expected == rights(tmp_path, "program")


def test_a_header_that_names_another_machine_than_its_class_is_no_loader(tmp_path: Path, source: Path) -> None:
    file = compiled(source, "program")
    data = bytearray(file.read_bytes())
    data[4] = 1  # 32 bits
    file.write_bytes(data)
    assert "x" == rights(tmp_path, "program")


@pytest.mark.parametrize("size", [4, 5, 20, 63, 64, 100, 600])
def test_a_cut_program_cannot_be_read(tmp_path: Path, source: Path, size: int) -> None:
    file = compiled(source, "program")
    file.write_bytes(file.read_bytes()[:size])
    assert "x" == rights(tmp_path, "program")


@pytest.mark.parametrize("place", [1 << 62, (1 << 64) - 56])
def test_a_program_with_headers_beyond_any_file_cannot_be_read(tmp_path: Path, source: Path, place: int) -> None:
    file = compiled(source, "program")
    data = bytearray(file.read_bytes())
    struct.pack_into("<Q", data, 32, place)
    file.write_bytes(data)
    assert "x" == rights(tmp_path, "program")


def test_the_second_loader_in_a_header_does_not_count(tmp_path: Path, source: Path) -> None:
    file = compiled(source, "program")
    data = bytearray(file.read_bytes())
    start, (size, count) = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<HH", data, 54)
    places = [start + number * size for number in range(count)]
    first = next(place for place in places if struct.unpack_from("<I", data, place)[0] == 3)
    before = next(place for place in places if place < first)
    data[before : before + size] = data[first : first + size]
    struct.pack_into("<Q", data, before + 32, 5)  # a shorter name
    file.write_bytes(data)
    assert "x" == rights(tmp_path, "program")


@pytest.mark.parametrize("text", [b"#!/bin/sh\n", b"", b"\x7fEL"])
def test_scripts_and_data_stay_as_they_are(tmp_path: Path, source: Path, text: bytes) -> None:
    (source / "program").write_bytes(text)
    (source / "program").chmod(0o755)
    assert "rx" == rights(tmp_path, "program")


def test_a_library_that_cannot_be_executed_stays_as_it_is(tmp_path: Path, source: Path) -> None:
    compiled(source, "program", "-static").chmod(0o644)
    assert "r" == rights(tmp_path, "program")
