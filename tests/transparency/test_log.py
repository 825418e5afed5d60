"""The log of a contest: what an organiser rewrites is found by whoever has an old checkpoint, by both verifiers."""

import random
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.store.types import JournalLine
from judge.transparency.checkpoint import Checkpoint
from judge.transparency.keys import make_key
from judge.transparency.log import ContestLog
from judge.transparency.merkle import EMPTY_ROOT, Tree
from judge.verify.export import verify_export
from judge.verify.log import ReadLog, since_problems
from tests.publish.public import Public, sign_again
from tests.verify.log_forgeries import (
    NOTE,
    found,
    lines_of,
    old_checkpoint,
    rewrite,
)

pytestmark = pytest.mark.slow


def test_log_of_an_export_has_all_events_and_extends_every_checkpoint(logged: Public, tmp_path: Path) -> None:
    lines = lines_of(logged.directory)
    before, after = ["announced", "frozen", "created", "scheduled"], ["started", "accepted"] * 2

    assert [*before, "started", "void", "images", *after] == [line.event for line in lines]
    report = verify_export(logged.directory, logged.public_key, old_checkpoint(logged, tmp_path))
    assert ([], 11) == (list(report.problems), report.log.size if report.log else None)
    for size in (0, 1, 11):
        assert ([], []) == found(logged, old_checkpoint(logged, tmp_path, size))


def test_a_game_that_was_set_aside_and_tried_again_is_in_the_log(logged_copy: Public) -> None:
    def tell(lines: list[JournalLine]) -> None:
        void = lines[NOTE - 1]
        assert "void" == void.event
        texts = {"set-aside": f"void 3 times in a row: {void.text}", "released": "the organiser"}
        lines[NOTE:NOTE] = [
            replace(void, event=event, attempt=None, digest=None, text=text) for event, text in texts.items()
        ]

    rewrite(logged_copy, tell)
    assert ([], []) == found(logged_copy)


# --- histories that fit in themselves --------------------------------------------------------------------------------


def test_old_checkpoint_reveals_a_rewritten_log(logged_copy: Public, tmp_path: Path) -> None:
    since = old_checkpoint(logged_copy, tmp_path)
    rewrite(logged_copy, lambda lines: lines.pop(NOTE))

    assert ([], []) == found(logged_copy)
    ours, second = found(logged_copy, since)
    assert [
        "the first 7 leaves of the log differ from those of the old checkpoint: leaves were removed, added or changed"
    ] == ours
    assert ["the log does not begin with the 7 leaves of the old checkpoint: it was rewritten"] == second


def change(lines: list[JournalLine], chance: random.Random) -> None:
    """Rewrite a journal somewhere."""
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    line = lines[at]
    match chance.choice(["drop", "repeat", "swap", "time", "event", "text", "digest", "attempt", "match"]):
        case "drop":
            lines.pop(at)
        case "repeat":
            lines.insert(at, line)
        case "swap":
            lines[at], lines[other] = lines[other], lines[at]
        case "time":
            lines[at] = replace(line, at=f"2{line.at}")
        case "event":
            lines[at] = replace(line, event=chance.choice(lines).event)
        case "text":
            lines[at] = replace(line, text=line.text[:-1])
        case "digest":
            lines[at] = replace(line, digest=None if line.digest else "d" * 64)
        case "attempt":
            lines[at] = replace(line, attempt=(line.attempt or 0) + 1)
        case "match":
            lines[at] = replace(line, game=chance.choice(lines).game)


def test_thousand_rewritten_logs_are_found_with_any_later_checkpoint(logged: Public) -> None:
    """And only by them: each old checkpoint, of every size, against logs in which one thing was rewritten."""
    chance, lines = random.Random(815), lines_of(logged.directory)
    log, key = ContestLog.of("spring-cup", lines), logged.key.public_key()
    kept = [log.checkpoint(size).signed(logged.key) for size in range(log.size + 1)]
    for _ in range(1000):
        forged = list(lines)
        change(forged, chance)
        forged = [replace(line, number=number) for number, line in enumerate(forged)]
        other = ContestLog.of("spring-cup", forged)
        same = [one.leaf == two.leaf for one, two in zip(lines, forged, strict=False)]
        # A log that is as it was, or longer, is the same log.
        first = same.index(False) if False in same else len(same)
        read = ReadLog(other.checkpoint().signed(logged.key), other.tree, forged)
        for old in kept:
            assert (old.size > first) == bool(list(since_problems(read, old, key)))


# --- a log that is left out, and what is no checkpoint ---------------------------------------------------------------


def test_omitted_log_is_found_with_a_checkpoint(logged_copy: Public, tmp_path: Path) -> None:
    since = old_checkpoint(logged_copy, tmp_path)
    for path in sorted((logged_copy.directory / "log").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (logged_copy.directory / "log").rmdir()
    sign_again(logged_copy)

    for problems in found(logged_copy, since):
        assert "the export has no log" in problems
    for problems in found(logged_copy):
        assert "the export has no log, but its draw depends on one" in problems


def test_a_checkpoint_that_the_organiser_did_not_sign_proves_nothing(logged: Public, tmp_path: Path) -> None:
    since = tmp_path / "kept"
    since.write_bytes(Checkpoint("judge-contest/spring-cup", 3, EMPTY_ROOT).signed(make_key(tmp_path / "key")).note)
    ours, second = found(logged, since)
    assert ["the old checkpoint is not signed by the organiser's key, so it proves nothing"] == ours
    assert ["the old checkpoint: not a checkpoint of this log signed with the organiser's key"] == second

    since.write_bytes(Checkpoint("judge-contest/other", 3, EMPTY_ROOT).signed(logged.key).note)
    assert "the old checkpoint is of another log, 'judge-contest/other'" == found(logged, since)[0][0]
    since.write_bytes(b"nothing")
    with pytest.raises(InputError, match="not a checkpoint of a log"):
        verify_export(logged.directory, logged.public_key, since)


def test_a_long_log_stays_where_it_is_stored() -> None:
    """Of 256 leaves one hash is in memory; the tiles and proofs are those of the leaves all the same."""

    def read(start: int, end: int) -> list[JournalLine]:
        numbers = range(start, min(end, 30_000))
        return [JournalLine("now", "note", None, None, str(number), number=number) for number in numbers]

    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    log = ContestLog("cup", read)
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()

    assert held < 200_000
    whole = Tree(line.leaf for line in read(0, 30_000))
    assert whole.root() == log.checkpoint().root
    assert whole.consistency(777, 30_000) == log.tree.consistency(777, 30_000)
