"""`judge show --game`: a game of a contest that runs, without an export."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.cli.show import show
from judge.record.spec import RecordFile, read_record
from judge.referee.verify import verify
from tests.publish.cups import SECRET, Cup, crasher, player

Told = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cup]:
    """Eight games of twelve; the second one was void once, the ninth is void and not played again yet."""
    cast = {"anna": player("anna", 0.95), "bert": player("bert", 0.8), "crash.test": crasher("crash.test", 2)}
    form, more = 'name = "round-robin"\ngames = 4', "[failures]\nafter = 1000"
    with Cup(tmp_path_factory.mktemp("cup"), cast, form, more) as cup:
        cup.play(10, void=[2, 9])
        yield cup


def test_a_game_is_shown_as_judge_show_shows_it(running: Cup, capsys: Told) -> None:
    show([running.folder], game="1")

    first, second, *rest = capsys.readouterr().out.splitlines()
    assert first.endswith(": bert - crash.test")
    assert second.split()[:2] == ["3.", "bert"]
    assert rest[-1].startswith("bert wins (crash): ")


def test_record_file_omits_private_data(running: Cup, tmp_path: Path) -> None:
    path, whole = tmp_path / "game.json", tmp_path / "whole.json"
    show([running.folder], game="1", record=str(path))
    show([running.folder], game="1", record=str(whole), private=True)

    file = read_record(path)
    assert ("bert", 1) == (file.record.seats[0].name, file.record.spec.number)
    assert [] == [*verify(file).problems, *verify(read_record(whole)).problems]
    assert (False, True) == (SECRET in path.read_text(), SECRET in whole.read_text())
    with pytest.raises(InputError, match="exists; give another name"):
        show([running.folder], game="1", record=str(path))


def test_its_record_goes_to_the_output(running: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, write_through=True))
    show([running.folder], game="1", record="-")

    assert [] == list(verify(RecordFile.model_validate_json(out.getvalue())).problems)


def test_evidence_states_why_a_seat_lost_and_how_to_check_it(running: Cup, capsys: Told) -> None:
    """The page names the record in the contest's own files, which verifies."""
    show([running.folder], game="1", evidence=True)

    page = capsys.readouterr().out
    assert "crash.test (seat 1) lost: crash" in page
    (checked,) = [line for line in page.splitlines() if "judge verify" in line]
    assert [] == list(verify(read_record(Path(checked.split("judge verify ")[1]))).problems)


def test_an_attempt_that_does_not_count_is_shown_when_it_is_asked_for(running: Cup, tmp_path: Path) -> None:
    for attempt in (1, 2, None):
        show([running.folder], game="2", attempt=attempt, record=str(tmp_path / f"{attempt}"))
    first, second, counted = (read_record(tmp_path / name).record for name in ("1", "2", "None"))

    assert (1, 2) == (first.attempt, second.attempt)
    assert counted == second


@pytest.mark.parametrize(
    ("word", "options", "why"),
    [
        ("12", {}, "game 12, .* has no result yet: it is pending$"),
        ("9", {}, r"game 9, .* has no result yet: it is pending; --attempt shows .*: 1 \(void\)$"),
        ("2", {"attempt": 3}, r"no record of an attempt 3: it is done; .*: 1 \(void\), 2 \(accepted\)"),
        ("13", {}, "'13' is no game of spring-cup: .* judge contest status --games lists them"),
        ("1", {"private": True}, "--private needs --record"),
        ("", {}, r"a contest: name one of its games, such as --game 1; .* --games lists them"),
    ],
)  # fmt: skip
def test_missing_game_or_attempt_is_named(running: Cup, word: str, options: dict[str, int], why: str) -> None:
    with pytest.raises(InputError, match=why):
        show([running.folder], game=word, **options)  # type: ignore[arg-type]


def test_contest_that_has_not_begun_reports_it(tmp_path: Path) -> None:
    plan = 'name = "cup"\npolicy = "gomocup-standard"\n[format]\nname = "round-robin"\n'
    (tmp_path / "contest.toml").write_text(plan)
    with pytest.raises(InputError, match="has not begun; judge contest run"):
        show([tmp_path], game="1")
