"""The reason of a failed build is the line that its author needs."""

import unicodedata
from pathlib import Path

import pytest

from judge.base.errors import NotReadyError
from judge.submissions.complaints import GO_VERSION, advice, reason_of
from judge.submissions.trees import TaskHost
from tests.cpu_limit import run_limited
from tests.examples import of_lanes
from tests.submissions.build_failures import FAILURES, FOLDER, build
from tests.submissions.building import laid


def plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).replace("\u2018", "'").replace("\u2019", "'")


@pytest.mark.parametrize("name", FAILURES)
def test_recorded_failure_has_the_line_that_its_author_needs_and_its_fix(name: str, tmp_path: Path) -> None:
    failure, log = FAILURES[name], (FOLDER / f"{name}.log").read_text()
    laid(tmp_path, failure.files)

    assert failure.reason in plain(reason_of(log))
    assert failure.fix in advice(log, tmp_path)


def test_version_of_go_in_the_advice_is_that_of_the_image() -> None:
    assert f"/usr/lib/go-{GO_VERSION}/src/slices" in (FOLDER / "go-newer.log").read_text()


def read_hostile_logs() -> None:
    for line in (
        ":" * 400 + " (1) Error: skipping incompatible",
        "package " + "a.b/" * 100 + " is not in",
        "./a" * 130,
    ):
        reason_of(f"{line}\n" * 2000)


def test_time_for_a_log_grows_with_its_size() -> None:
    run_limited(read_hostile_logs, 10)


@pytest.mark.parametrize(
    "log", ["", "\n\n", "$ make\nmake ended with code 2", "$ mine\nmine was ended by SIGSEGV", "\0" * 9]
)
def test_log_without_a_message_has_no_reason(log: str) -> None:
    assert "" == reason_of(log).replace("\\x00", "")


@pytest.mark.parametrize(
    ("tool", "fix"),
    [
        ("clang-17", '[build] kind = "clang"'),
        ("clang++-14", '[build] kind = "clang"'),
        ("g++-13", "gcc and g++, called without a version"),
        ("gcc-12.2", "gcc and g++, called without a version"),
        ("sudo", "a Makefile cannot install anything here"),
        ("pip3", "a Makefile cannot install anything here"),
        ("brew", "a Makefile cannot install anything here"),
        ("nmake", "nmake belongs to Windows"),
        ("x86_64-w64-mingw32-g++", "belongs to Windows"),
        ("python", "use python3"),
        ("bison", "bison is missing: send the sources that make it"),
    ],
)
@pytest.mark.parametrize(
    "form",
    ["make: {}: No such file or directory", "/bin/sh: 1: {}: not found", "make[1]: {}: No such file or directory"],
)
def test_tool_that_make_lacks_has_its_fix(tool: str, fix: str, form: str, tmp_path: Path) -> None:
    assert fix in advice(form.format(tool), tmp_path)


@pytest.mark.parametrize("header", ["SDKDDKVer.h", "winsock2.h", "Windows.h", "conio.h", "stdafx.h", "intrin.h"])
def test_header_of_windows_is_called_that_also_after_another_one(header: str, tmp_path: Path) -> None:
    missing = "a.c:1:10: fatal error: {}: No such file or directory\n"

    assert "belongs to Windows" in advice(missing.format("board.h") + missing.format(header), tmp_path)


def test_header_in_another_case_is_named(tmp_path: Path) -> None:
    (tmp_path / "Board.h").touch()

    said = advice("a.c:1:10: fatal error: board.h: No such file or directory\n", tmp_path)

    assert "'board.h' is called 'Board.h' in the upload: names differ in case here" in said


BUILT = ("c-header", "make-library", "go-newer", "cs-two-mains", "pas-unit", "java-package", "rust-type", "python-2")
"""Failures that the full lane builds: one of each language."""


@pytest.mark.docker
@pytest.mark.parametrize("name", of_lanes(FAILURES, BUILT))
def test_real_failure_has_the_line_and_the_fix(name: str, task_host: TaskHost) -> None:
    try:
        built = build(name, task_host)
    except NotReadyError as error:
        pytest.skip(str(error))

    assert plain(built.failure).startswith("the build failed: ")
    assert FAILURES[name].reason in plain(built.failure)
    assert FAILURES[name].fix in built.failure
