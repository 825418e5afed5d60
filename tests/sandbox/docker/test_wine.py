"""Windows programs of both widths live in the same box as all others, with the same quotas, freezer and reports."""

from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from judge.host.build_images import build_images
from judge.sandbox.box import Channel, Limits, path_for, persistent_path
from judge.sandbox.evidence import ProcessReport
from tests import examples
from tests.sandbox.conftest import ATTACH, PIPES, Lodge, of
from tests.sandbox.guest import Guest, work_for
from tests.sandbox.mingw import HERE, NEEDS_WINE, WIDTHS, compile_windows

ACCESS_VIOLATION = 0xC0000005
SMALL = Limits(memory_bytes=96 << 20)
STILL_NS = 2_000_000
WINE_BYTES = 32 << 20
"""More than what Wine itself takes, its server and its services."""

Windows = Callable[..., Guest]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A staged agent: the puppet for Windows in both widths, and a book."""
    build_images(["native", "wine"])
    staged = tmp_path_factory.mktemp("windows")
    staged.chmod(0o755)
    for width in WIDTHS:
        compile_windows([HERE / "puppet.c"], staged / f"puppet {width}.exe", width)
    (staged / "book.txt").write_text("h8", encoding="ascii")
    return staged


@pytest.fixture
def windows(lodge: Lodge, folder: Path) -> Windows:
    """Start the puppet for Windows, of 64 bits or as many as are asked for."""

    def start(*words: str, width: int = 64, **options: object) -> Guest:
        command = ("wine", f"puppet {width}.exe", *words)
        return lodge(*command, staged=folder, runtime="wine", **options).move_in()

    return start


def said(guest: Guest, line: str) -> str:
    """The answer of a program that ends its lines as Windows does."""
    return guest.ask(line).removesuffix("\r")


def of_width(*widths: int, evidence: Collection[int] = ()) -> pytest.MarkDecorator:
    """Run a test with programs of these widths, and of some more for the evidence."""
    each = [pytest.param(width, marks=NEEDS_WINE, id=f"{width}-bit") for width in widths]
    each += [pytest.param(width, marks=[*NEEDS_WINE, examples.evidence], id=f"{width}-bit") for width in evidence]
    return pytest.mark.parametrize("width", each)


def test_a_path_is_written_as_the_programs_of_a_runtime_write_it() -> None:
    assert path_for("wine", "/agent/book 1.txt") == "Z:\\agent\\book 1.txt"
    assert path_for("wine", "../persistent") == "..\\persistent"
    assert path_for("local/wine:1", "/agent/book.txt") == "/agent/book.txt"
    assert persistent_path("docker", "wine") == "Z:\\persistent"
    assert persistent_path("docker", "java") == "/persistent"


@of(PIPES, evidence=[ATTACH])
@of_width(*WIDTHS)
def test_windows_program_gets_windows_paths_and_lines_end_as_the_judge_ends_them(windows: Windows, width: int) -> None:
    guest = windows("book.txt", "-v", width=width)

    assert said(guest, "argv") == f"Z:\\agent\\puppet {width}.exe|Z:\\agent\\book.txt|-v"
    assert said(guest, "read Z:\\agent\\book.txt") == "h8"
    assert said(guest, "cwd") == "Z:\\home\\agent"
    assert said(guest, "temp") == "Z:\\tmp\\"
    assert said(guest, "hello\r") == "hello"


@of_width(64, evidence=[32])
def test_a_program_writes_to_its_folders_and_nowhere_else(windows: Windows, width: int) -> None:
    guest = windows(width=width, limits=Limits(persistent_bytes=1 << 20))

    for path in ("book.txt", "Z:\\persistent\\book.txt", "Z:\\tmp\\book.txt"):
        assert said(guest, f"write {path}") == "written"
        assert said(guest, f"read {path}") == "hello"
    for path in ("C:\\book.txt", "C:\\users\\agent\\book.txt", "Z:\\agent\\book.txt", "Z:\\book.txt"):
        assert said(guest, f"write {path}") != "written"


@of_width(64, evidence=[32])
def test_the_cap_holds_for_the_program_and_wine_together(windows: Windows, width: int) -> None:
    guest = windows(width=width, limits=SMALL)
    said(guest, "hello")
    assert (guest.box.meter.readings().memory_peak_bytes or 0) < WINE_BYTES

    assert said(guest, f"fill {(SMALL.memory_bytes - WINE_BYTES) >> 20}") == "filled"
    guest.tell(f"fill {SMALL.cap_bytes >> 20}")

    assert guest.end() != ProcessReport("exited", 0)
    readings = guest.box.meter.readings()
    assert readings.oom_kills
    assert readings.memory_cap_bytes == SMALL.cap_bytes


@of_width(64)
def test_the_other_processes_are_left_to_the_program(windows: Windows, width: int) -> None:
    """Wine has five of them: the server and the services, with their threads."""
    guest = windows(width=width)

    assert int(said(guest, "threads 1000")) >= Limits().processes - 6


@of_width(64, evidence=[32])
def test_a_frozen_program_uses_no_time_nor_does_wine_and_both_can_be_killed(windows: Windows, width: int) -> None:
    guest = windows(width=width)
    assert said(guest, "burn") == "burning"

    guest.until_busy()
    guest.freeze()
    before = guest.cpu_ns()
    work_for(0.05)
    assert guest.cpu_ns() - before < STILL_NS
    guest.box.thaw()
    guest.until_busy()
    guest.box.kill()
    assert guest.end() == ProcessReport("signalled", 9)


ENDS = {"exit 256": 1, "null": ACCESS_VIOLATION & 0xFF}
"""What ends a program, and the code with which it exits: any but 0 where it is None."""
MORE_ENDS = {"exit 0": 0, "exit 3": 3, "abort": None, "overflow": None}


@of_width(64, evidence=[32])
@pytest.mark.parametrize("act", [*ENDS, *examples.of_evidence(*MORE_ENDS)])
def test_an_exit_code_arrives_and_none_of_them_turns_into_success(windows: Windows, width: int, act: str) -> None:
    guest = windows(width=width)
    guest.tell(act)

    report, code = guest.end(), (ENDS | MORE_ENDS)[act]
    assert "exited" == report.kind
    assert report.number == code if code is not None else report.number != 0
    lines = guest.heard[Channel.ERR].splitlines()
    if act.startswith("exit"):
        assert [] == lines
    if act == "null":
        assert [b"wine: Unhandled page fault on write access to 0000"] == [line[:50] for line in lines]


@of_width(64)
def test_leftovers_of_a_program_do_not_block_the_box(windows: Windows, width: int) -> None:
    """A program of its own that still runs, and Wine's server: the output ends with the agent's first process."""
    guest = windows(width=width)
    assert said(guest, "window") != "1"  # one that cannot be opened keeps no caller waiting
    assert said(guest, "start") == "started"
    guest.tell("exit 0")

    assert guest.end() == ProcessReport("exited", 0)


@of_width(64)
def test_missing_scratch_space_is_reported(windows: Windows, width: int) -> None:
    guest = windows(width=width, limits=Limits(scratch_bytes=0))

    assert guest.end() == ProcessReport("exited", 1)
    assert b"/tmp/wine" in guest.heard[Channel.ERR]
