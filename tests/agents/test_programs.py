"""What a file is: its first bytes tell, whatever it is called."""

import struct
from pathlib import Path

import pytest

from judge.agents.agents import stage_agent
from judge.agents.manifest import brains_of
from judge.agents.programs import ProgramKind, kind_of
from judge.agents.python_version import python_words
from judge.base.errors import InputError
from judge.record.policy import load_policy
from tests.agents.test_pe_format import program

ELF, OBJECT = (b"\x7fELF".ljust(16, b"\0") + struct.pack("<H", kind) for kind in (2, 1))
JAR = b"PK\x03\x04"

FILES = {
    "pbrain-x": (ELF, ProgramKind.NATIVE),
    "pbrain-x.o": (OBJECT, None),
    "pbrain-x.so": (ELF, None),
    "pbrain-x.so.3": (ELF, None),
    "pbrain-x.exe": (program(), ProgramKind.WINDOWS),
    "pbrain-x.dll": (program(kind=0x2022), None),
    "pbrain-x.jar": (JAR, ProgramKind.JAR),
    "pbrain-x.zip": (JAR, None),
    "pbrain-x.py": (b"print()", ProgramKind.PYTHON),
    "pbrain-y": (b"#!/usr/bin/env python3\n", ProgramKind.PYTHON),
    "pbrain-x.cpp": (b"int main() {}", None),
    "pbrain-x.sln": (b"\xef\xbb\xbfMicrosoft Visual Studio Solution File", None),
    "pbrain-x.vcxproj": (b"<?xml", None),
    "pbrain-x.txt": (b"", None),
}


@pytest.mark.parametrize("name", FILES)
def test_first_bytes_determine_the_kind(tmp_path: Path, name: str) -> None:
    content, kind = FILES[name]
    (tmp_path / name).write_bytes(content)

    assert kind_of(tmp_path / name) is kind


@pytest.mark.parametrize(
    ("names", "plays"),
    [
        (("pbrain-x.exe", "pbrain-x", "pbrain-x.py", "pbrain-x.jar"), "pbrain-x"),
        (("pbrain-x.exe", "pbrain-x.py", "pbrain-x.jar"), "pbrain-x.jar"),
        (("pbrain-x.exe", "pbrain-x.dll", "pbrain-x.py"), "pbrain-x.exe"),
        (("pbrain-x.py", "pbrain-x.txt"), "pbrain-x.py"),
    ],
)
def test_a_program_for_linux_goes_before_one_for_windows(tmp_path: Path, names: tuple[str, ...], plays: str) -> None:
    for name in names:
        (tmp_path / name).write_bytes(FILES[name][0])

    assert brains_of(tmp_path) == (plays,)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"Brain.kt": b""}, "Kotlin: no source that is built here (c, c++, clang, rust, java, python, make, cmake, "),
        ({"brain.f90": b"", "readme": b""}, "Fortran: no source that is built here"),
        ({"bin/gomoku": ELF, "x.txt": b""}, "programs in it: bin/gomoku"),
        ({"pbrain-x.txt": b"", "x": b""}, "no program called pbrain-"),
    ],
)
def test_unplayable_file_is_refused_by_its_kind(
    tmp_path: Path, staging: Path, files: dict[str, bytes], why: str
) -> None:
    source = tmp_path / "source"
    for name, content in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(content)

    with pytest.raises(InputError) as error:
        stage_agent(str(source), staging)

    assert why in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"#!/usr/bin/python2 -u\nprint('x')\n", ("python2", "-u")),
        (b"#!/usr/bin/env python2.7\n", ("python2",)),
        (b"#!/usr/bin/python -u\nprint 'x'\n", ("python2", "-u")),
        (b"#!/usr/bin/python -u\n\tprint str(x) + ' '\n", ("python2", "-u")),
        (b"try:\n  f()\nexcept IOError, error:\n  pass\n", ("python2",)),
        (b"#!/usr/bin/python -u\nprint('x')\n", ("python3", "-u")),
        (b"#!/usr/bin/env -S python3 -u\nprint 'x'\n", ("python3", "-u")),
        (b'"""\nprint the board\n"""\n', ("python3",)),
        (b"", ("python3",)),
    ],
)
def test_shebang_and_statements_determine_the_python_version(
    tmp_path: Path, text: bytes, words: tuple[str, ...]
) -> None:
    path = tmp_path / "agent.py"
    path.write_bytes(text)

    assert python_words(path) == words


def test_python_2_plays_where_the_policy_admits_it(tmp_path: Path, staging: Path) -> None:
    source = tmp_path / "vixen"
    source.mkdir()
    (source / "vixen.py").write_text("#!/usr/bin/python -u\nprint 'NO_MOVE'\n")
    (source / "info").write_text("vixen.py --fast\nAnn\npython\n")
    agent = stage_agent(str(source), staging)
    policy = load_policy("stratego-2012", ["admits=['python']"])

    with pytest.raises(InputError, match=r"vixen: runtime 'python2': policy stratego-2012 admits python; ask for one"):
        agent.seat(policy)

    command = ("python2", "-u", "vixen.py", "--fast")
    seat = agent.seat(load_policy("stratego-2012"))
    assert (seat.runtime, seat.command) == ("python2", command)
    seat = agent.seat(policy.model_copy(update={"runtimes": {"python2": "local/python2:1"}}))
    assert (seat.runtime, seat.command) == ("local/python2:1", command)
