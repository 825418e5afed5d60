"""Records and names of files that somebody else has written do not hang, crash or control the terminal."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.catalog.files import MAX_TEXT_BYTES, read_bytes, read_games
from judge.cli.convert import convert
from judge.cli.show import show
from judge.cli.verify import verify_files
from tests.formats.test_changed_records import crashed

HUGE = 10**400


def in_seat(**values: Any) -> Callable[[Any], object]:
    return lambda file: next(seat for seat in file["record"]["seats"] if seat["evidence"]).update(values)


def in_evidence(**values: Any) -> Callable[[Any], object]:
    return lambda file: [seat["evidence"].update(values) for seat in file["record"]["seats"] if seat["evidence"]]


CHANGES: dict[str, Callable[[Any], object]] = {
    "a winner that is no seat": lambda file: file["record"].update(winner=3),
    "a winner before the first seat": lambda file: file["record"].update(winner=-1),
    "a ply of no seat": lambda file: file["record"]["plies"][0].update(seat=9),
    "a report of nothing": in_evidence(report=""),
    "a report of a large number": in_evidence(report=f"exec-failed {10**12}"),
    "a report in colour": in_evidence(report="\x1b[31m"),
    "memory beyond a double": in_evidence(memory_peak_bytes=HUGE, memory_cap_bytes=HUGE),
    "a seat's memory beyond a double": in_seat(memory_peak_bytes=HUGE, evidence=None),
    "a start that is no time": lambda file: file["record"].update(started_at="x"),
    "a start before all times": lambda file: file["record"].update(started_at="0001-01-01"),
    "a duration without end": lambda file: file["record"].update(seconds=1e300),
    "a box in colour": lambda file: file["record"]["placement"].update(box=["\x1b[31m", "\x1b[31m"]),
}


@pytest.fixture(scope="module")
def crash() -> bytes:
    """A record with evidence."""
    return crashed().to_json()


def said_by(command: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> str:
    """The output of a command, or its refusal."""
    capsys.readouterr()
    try:
        command()
    except InputError as error:
        return str(error)
    except SystemExit:
        pass
    return "".join(capsys.readouterr())


@pytest.mark.parametrize("change", CHANGES)
def test_any_record_is_shown_verified_and_converted_or_refused(
    change: str, crash: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, path = json.loads(crash), tmp_path / "game.json"
    CHANGES[change](file)
    path.write_text(json.dumps(file))

    for command in (
        lambda: verify_files([path]),
        lambda: show([path]),
        lambda: show([path], evidence=True),
        lambda: convert([path], "psq", str(tmp_path / "out.psq")),
    ):
        assert "\x1b" not in said_by(command, capsys)


def test_name_of_a_file_does_not_control_the_terminal(
    crash: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "\x1b]0;a\x07.json", tmp_path / "\x1b]0;b\x07.json"
    good.write_bytes(crash)
    bad.write_bytes(b"{}")

    said = said_by(lambda: verify_files([good, bad]), capsys)
    assert r"\x1b]0;a\x07.json: ok" in said
    assert r"\x1b]0;b\x07.json: FAILED" in said
    said += said_by(lambda: show([good], svg=tmp_path / "\x1b.svg"), capsys)
    assert "\x1b" not in said
    assert "\x07" not in said


def test_pipe_in_place_of_a_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "game.json"
    os.mkfifo(path)

    assert "a special file" in said_by(lambda: verify_files([path]), capsys)
    for command in (lambda: show([path]), lambda: convert([path], "psq")):
        assert "a special file" in said_by(command, capsys)


@pytest.mark.slow
def test_file_without_an_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    path.touch()
    os.truncate(path, 3 << 40)
    with pytest.raises(InputError, match="larger than the limit of 469762048 bytes"):
        read_bytes(path)
    path.write_bytes(b"\n" * (MAX_TEXT_BYTES + 1))
    with pytest.raises(InputError, match="larger than the limit of 67108864 bytes for files of games"):
        read_games(path)
