"""Whatever an author's files hold: an agent or a refusal that names the file, within a bound of work for each byte."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.agents.agents import stage_agent
from judge.agents.manifest import MANIFEST, read_info, read_manifest, read_sent_manifest
from judge.sandbox.runtimes import load_runtime
from judge.submissions.check.start_faults import fault_of_file
from tests.agents.test_pe_format import program as windows_program
from tests.examples import examples, sized
from tests.hostile import byte_changes, one_change_each, read_or_refuse, refused, toml_files

AGENT = """name = "mine"
command = ["./mine", "--level", "9"]
runtime = "native"
protocol = "gomocup"
line_ending = "crlf"
author = "me"
language = "C"
description = "a"
[build]
kind = "c++"
main = "main.cpp"
flags = ["-std=c++20"]
"""
SENT = AGENT.replace('command = ["./mine", "--level", "9"]\n', "")
RUNTIME = """about = "mine"
extends = "python"
release = ""
packages = ["python3-numpy"]
wheels = ["numpy==1.26.4 --hash=sha256:HASH"]
programs = ["mine.sh"]
provides = ["numpy"]
[environment]
A = "1"
""".replace("HASH", "0" * 64)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("agent")
    shutil.copy("/bin/true", found / "mine")
    (found / "main.cpp").write_text("int main() {}\n")
    (found / "mine.sh").write_text("")
    return found


def stage(path: Path) -> None:
    with tempfile.TemporaryDirectory() as staging:
        assert (stage_agent(str(path.parent), Path(staging)).program / "mine").is_file()


READERS: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "manifest": (read_manifest, MANIFEST, AGENT),
    "agent": (stage, MANIFEST, AGENT),
    "manifest of sources": (read_sent_manifest, MANIFEST, SENT),
    "runtime": (lambda path: load_runtime("mine", path), "runtime.toml", RUNTIME),
}


@pytest.mark.parametrize("reader", READERS)
def test_every_value_of_every_key_is_read_or_refused(folder: Path, reader: str) -> None:
    read, name, text = READERS[reader]
    assert not refused(read, folder / name, text.encode())

    assert {True, False} == {refused(read, folder / name, data) for data in one_change_each(text)}


@pytest.mark.parametrize("reader", ["manifest", "manifest of sources", "runtime"])
@given(st.data())
@settings(max_examples=examples(sized(40, 80)))
def test_any_file_is_read_or_refused_within_bounds(folder: Path, reader: str, data: st.DataObject) -> None:
    read, name, text = READERS[reader]

    read_or_refuse(read, folder / name, data.draw(toml_files(text)))


@given(byte_changes(b"mine --level 9\nme\nC\nplays\n", (b"\n", b"'", b'"', b"\0", b"\\", b"n/", b"n", b" ")))
@settings(max_examples=examples(sized(50, 100)))
def test_any_info_file_is_read_or_refused(folder: Path, data: bytes) -> None:
    read_or_refuse(read_info, folder / "info", data)


PROGRAMS = {
    "mine": Path("/bin/true").read_bytes()[:2000],
    "mine.exe": windows_program(),
    "mine.py": b"#!/usr/bin/python3 -u -O\nprint('a')\n",
    "mine.jar": b"PK\3\4" + bytes(200),
}


@pytest.mark.parametrize("name", PROGRAMS)
@given(st.data())
@settings(max_examples=examples(sized(40, 80)))
def test_any_program_is_an_agent_or_refused(folder: Path, name: str, data: st.DataObject) -> None:
    def use(path: Path) -> None:
        fault_of_file(path)
        with tempfile.TemporaryDirectory() as staging:
            stage_agent(str(path), Path(staging))

    read_or_refuse(use, folder / name, data.draw(byte_changes(PROGRAMS[name])))
