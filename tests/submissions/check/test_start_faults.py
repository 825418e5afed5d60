"""A program that the kernel does not start, or that ends for a well-known reason, gets the advice for that reason."""

import struct
import subprocess
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.agents.programs import read_elf
from judge.submissions.check import Grade, start_faults
from judge.submissions.check.start_faults import fault_of_file, pointers_of, processor_level, why_not_started
from tests.examples import of_lanes
from tests.submissions.building import laid
from tests.submissions.check.conftest import Examine

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 123\n"


def elf(machine: int, kind: int = 2, loader: bytes = b"", bits: int = 64) -> bytes:
    """An ELF file with nothing but headers, and the path of its loader."""
    count, ident = int(bool(loader)), b"\x7fELF" + bytes([bits // 32, 1, 1]) + bytes(9)
    if bits == 64:
        head = ident + struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, 0, 64, 0, 0, 64, 56, count, 0, 0, 0)
        entry = struct.pack("<IIQQQQQQ", 3, 4, 120, 0, 0, len(loader) + 1, len(loader) + 1, 1)
    else:
        head = ident + struct.pack("<HHIIIIIHHHHHH", kind, machine, 1, 0, 52, 0, 0, 52, 32, count, 0, 0, 0)
        entry = struct.pack("<IIIIIIII", 3, 84, 0, 0, len(loader) + 1, len(loader) + 1, 4, 1)
    return head + (entry + loader + b"\0" if loader else b"")


FILES: dict[str, tuple[str, bytes, str]] = {
    "ARM": ("mine", elf(0xB7), "mine is for ARM of 64 bits, and this host is x86-64"),
    "RISC-V": ("mine", elf(0xF3), "is for RISC-V"),
    "ARM of 32 bits": ("mine", elf(0x28, bits=32), "is for ARM of 32 bits"),
    "musl": ("mine", elf(0x3E, loader=b"/lib/ld-musl-x86_64.so.1"), "the loader of musl /lib/ld-musl-x86_64.so.1"),
    "Nix": (
        "mine",
        elf(0x3E, loader=b"/nix/store/x/ld-linux.so.2"),
        "/nix/store/x/ld-linux.so.2, which is missing here",
    ),
    "an object": ("mine.o", elf(0x3E, kind=1), "is an object file, not a program: link it"),
    "macOS": ("mine", b"\xcf\xfa\xed\xfe" + bytes(28), "is a program for macOS"),
    "macOS twice": ("mine", b"\xca\xfe\xba\xbe\0\0\0\2" + bytes(28), "is a program for macOS"),
    "Windows": ("mine.exe", b"MZ" + bytes(62), 'set runtime = "wine"'),
    "a jar": ("mine.jar", b"PK\x03\x04" + bytes(26), 'command = ["java", "-jar", "mine.jar"]'),
    "a pointer": ("mine", POINTER, "mine is a pointer of Git LFS, not the file itself: run git lfs pull"),
    "a page": ("mine", b"<!DOCTYPE html><html>", "is a page of HTML"),
    "empty": ("mine", b"", "mine is empty"),
    "CR LF": ("run.sh", b"#!/bin/sh\r\nexec x\r\n", "the first line of run.sh ends in CR LF: save it with LF alone"),
    "a mark": ("run.sh", b"\xef\xbb\xbf#!/bin/sh\n", "has a byte order mark before #!"),
    "UTF-16": ("run.sh", "#!/bin/sh\n".encode("utf-16"), "is UTF-16 text"),
    "Python": ("main.py", b"print(1)\n", 'set command = ["python3", "main.py"] and runtime = "python"'),
    "JavaScript": ("main.js", b"1;\n", 'command = ["node", "main.js"] and runtime = "node"'),
    "a text": ("mine", b"hello\n", "has no first line #!"),
    "python": ("mine", b"#!/usr/local/bin/python3.9\n", "python3.9 is called python3 here: use python3"),
    "env": ("mine", b"#!/usr/bin/env python\n", "python is called python3 here"),
}


@pytest.mark.parametrize("case", FILES)
def test_file_that_does_not_start_is_explained_by_its_first_bytes(case: str, tmp_path: Path) -> None:
    name, data, said = FILES[case]
    (tmp_path / name).write_bytes(data)

    assert said in fault_of_file(tmp_path / name)
    assert said in why_not_started(tmp_path, name)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (elf(0x3E, loader=b"/lib64/ld-linux-x86-64.so.2"), "mine is not executable: chmod +x mine"),
        (elf(0x3E), "mine is not executable: chmod +x mine"),
        (b"#!/bin/sh\n", "mine is not executable: chmod +x mine"),
        (elf(0xB7), "mine is for ARM of 64 bits"),
    ],
)
def test_denied_program_is_not_executable_and_its_loader_is_not_named(data: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(data)

    assert why_not_started(tmp_path, "./mine", is_denied=True).startswith(said)


def test_damaged_header_is_invalid(tmp_path: Path) -> None:
    whole = elf(0x3E, loader=b"/lib/ld-musl-x86_64.so.1")
    path = tmp_path / "mine"
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert (size < 20) is (read_elf(path) is None)
        fault_of_file(path)


def test_a_static_program_of_this_host_has_no_fault(tmp_path: Path) -> None:
    program = tmp_path / "mine"
    subprocess.run(["gcc", "-x", "c", "-static", "-o", program, "-"], input=b"int main(void) { return 0; }", check=True)

    assert "" == fault_of_file(program)


@pytest.mark.parametrize(
    ("files", "word", "said"),
    [
        ({"Makefile": ""}, "./starter", "starter is not built: run make first"),
        ({"starter.py": ""}, "./start.py", "there is no start.py in the agent: did you mean starter.py?"),
        ({"Brain": ""}, "./brain", "there is no brain in the agent, but Brain: names differ in case"),
        ({"x.c": ""}, "./mine", "there is no mine in the agent: build it first"),
        ({"data": ""}, "./mine", "there is no mine in the agent: send it"),
        ({}, "python", "python is called python3 here: use python3"),
        ({}, "nodejs", "nodejs is called node here"),
        ({}, "perl", ""),
        ({}, "../empty", "there is no ../empty in the agent: send it"),
    ],
)
def test_a_program_that_is_not_there_is_looked_for(files: dict[str, str], word: str, said: str, tmp_path: Path) -> None:
    """Only in the agent: other files are of this host."""
    (tmp_path / "empty").touch()
    agent = tmp_path / "agent"
    agent.mkdir()
    for name, text in files.items():
        (agent / name).write_text(text)

    assert said in why_not_started(agent, word)
    assert bool(said) == bool(why_not_started(agent, word))


def test_a_pointer_among_the_data_is_found(tmp_path: Path) -> None:
    (tmp_path / "net.bin").write_bytes(POINTER)

    assert "net.bin is a pointer of Git LFS" in pointers_of(tmp_path)


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("processor\t: 0\nflags\t\t: fpu sse2 avx2\n\nprocessor\t: 1\nflags\t\t: fpu avx2 bmi2\n", {"fpu", "avx2"}),
        ("Features\t: fp asimd sve\n", {"fp", "asimd", "sve"}),
        ("vmx flags\t: avx2\n", set()),
        ("model name\t: flags: avx2\nflags : sse2 \x1b[31m AVX2 " + "x" * 99 + "\n", {"sse2"}),
        ("", set()),
    ],
)
def test_flags_are_those_of_all_processors(text: str, flags: set[str]) -> None:
    assert flags == start_faults.parse_flags(text)


@given(st.text())
def test_any_text_gives_short_words(text: str) -> None:
    assert all(len(flag) <= 32 and flag.isascii() for flag in start_faults.parse_flags(f"flags: {text}\n"))


@pytest.mark.parametrize("size", [None, start_faults.MAX_CPUINFO_BYTES])
def test_missing_or_huge_file_gives_no_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int | None) -> None:
    path = tmp_path / "cpuinfo"
    if size is not None:
        path.write_bytes(b"flags : avx2\n" + b"\n" * size)
    monkeypatch.setattr(start_faults, "CPUINFO", path)
    assert frozenset() == start_faults.processor_flags()


QUICK = ("clock.turn_ms=1000", "clock.start_ms=3000", "clock.close_ms=500")


ILL = "int main(void) { __builtin_trap(); }"
AGENTS = tomllib.loads(Path(__file__).with_name("start_faults.toml").read_text(encoding="utf-8"))
OF_FULL_LANE = ("python", "no line end", "data", "sockets", "module in another case")
"""One of each source of the advice: the command, what it wrote, its files, its last words, and names in them."""


@pytest.mark.docker
@pytest.mark.usefixtures("runtimes")
@pytest.mark.parametrize("case", of_lanes(AGENTS, OF_FULL_LANE))
def test_agent_failing_for_a_known_reason_gets_a_hint(case: str, examined: Examine, tmp_path: Path) -> None:
    agent = AGENTS[case]
    for path in laid(tmp_path, agent["files"]).iterdir():
        path.chmod(0o755)
    command = agent.get("command", ["python3", "main.py"])
    (tmp_path / "agent.toml").write_text(f'name = "mine"\ncommand = {command}\nruntime = "python"\n')

    report = examined(tmp_path, "gomocup-standard", *QUICK)

    assert Grade.FAIL is report.grade
    assert agent["fix"] in report.findings[0].fix
    if case == "no line end":
        assert "it wrote 'OK' without a line end" in report.findings[0].evidence


@pytest.mark.docker  # for the list of runtimes that have the module
def test_module_whose_name_is_a_path_of_this_host_is_not_in_the_archive(examined: Examine, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("raise SystemExit(\"ModuleNotFoundError: No module named '/etc'\")")
    (tmp_path / "agent.toml").write_text('name = "mine"\ncommand = ["python3", "main.py"]\nruntime = "python"\n')

    fix = examined(tmp_path, "gomocup-standard", *QUICK, box="process").findings[0].fix

    assert "only Python's standard library is installed" in fix


@pytest.mark.docker
@pytest.mark.usefixtures("runtimes")
def test_an_instruction_of_another_processor_is_named(examined: Examine, tmp_path: Path) -> None:
    program = tmp_path / "ill"
    subprocess.run(["gcc", "-x", "c", "-static", "-o", program, "-"], input=ILL.encode(), check=True)

    fix = examined(program, "gomocup-standard", *QUICK).findings[0].fix

    assert "compile it without -march=native" in fix
    assert processor_level() in fix
