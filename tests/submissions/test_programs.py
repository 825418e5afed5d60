"""What a file is: its first bytes tell, whatever it is called."""

import struct
from pathlib import Path

import pytest

from judge.errors import InputError
from judge.submissions.agents import brains_of, stage_agent
from judge.submissions.programs import Kind, kind_of
from tests.submissions.test_windows import program

ELF, OBJECT = (b"\x7fELF".ljust(16, b"\0") + struct.pack("<H", kind) for kind in (2, 1))
JAR = b"PK\x03\x04"

FILES = {
    "pbrain-x": (ELF, Kind.NATIVE),
    "pbrain-x.o": (OBJECT, None),
    "pbrain-x.so": (ELF, None),
    "pbrain-x.so.3": (ELF, None),
    "pbrain-x.exe": (program(), Kind.WINDOWS),
    "pbrain-x.dll": (program(kind=0x2022), None),
    "pbrain-x.jar": (JAR, Kind.JAR),
    "pbrain-x.zip": (JAR, None),
    "pbrain-x.py": (b"print()", Kind.PYTHON),
    "pbrain-y": (b"#!/usr/bin/env python3\n", Kind.PYTHON),
    "pbrain-x.cpp": (b"int main() {}", None),
    "pbrain-x.sln": (b"\xef\xbb\xbfMicrosoft Visual Studio Solution File", None),
    "pbrain-x.vcxproj": (b"<?xml", None),
    "pbrain-x.txt": (b"", None),
}


@pytest.mark.parametrize("name", FILES)
def test_the_first_bytes_tell_the_kind(tmp_path: Path, name: str) -> None:
    content, kind = FILES[name]
    (tmp_path / name).write_bytes(content)

    assert kind_of(tmp_path / name) is kind


def laid(directory: Path, *names: str) -> Path:
    for name in names:
        (directory / name).write_bytes(FILES[name][0])
    return directory


@pytest.mark.parametrize(
    ("names", "plays"),
    [
        (("pbrain-x.exe", "pbrain-x", "pbrain-x.py", "pbrain-x.jar"), "pbrain-x"),
        (("pbrain-x.exe", "pbrain-x.py", "pbrain-x.jar"), "pbrain-x.jar"),
        (("pbrain-x.exe", "pbrain-x.dll", "pbrain-x.py"), "pbrain-x.exe"),
        (("pbrain-x.py", "pbrain-x.txt"), "pbrain-x.py"),
    ],
)
def test_a_program_for_linux_goes_before_one_for_windows(
    tmp_path: Path, names: tuple[str, ...], plays: str
) -> None:
    assert brains_of(laid(tmp_path, *names)) == (plays,)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"Brain.cs": b""}, "C#: no source that is built here (c, c++, rust, java, python, make)"),
        ({"brain.dpr": b"", "readme": b""}, "Pascal: no source that is built here"),
        ({"bin/gomoku": ELF, "x.txt": b""}, 'command = ["./bin/gomoku"]'),
        ({"pbrain-x.txt": b"", "x": b""}, "no program called pbrain-"),
    ],
)
def test_what_does_not_play_is_refused_by_what_it_is(
    tmp_path: Path, files: dict[str, bytes], why: str
) -> None:
    source, staging = tmp_path / "source", tmp_path / "staging"
    staging.mkdir()
    for name, content in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(content)

    with pytest.raises(InputError) as error:
        stage_agent(str(source), staging)

    assert why in str(error.value)
