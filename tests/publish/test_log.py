"""The log of a contest: what an organiser rewrites is found by whoever has an old checkpoint, by both verifiers."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.errors import InputError
from judge.publish.export import PageOptions, publish
from judge.publish.keys import make_key
from judge.publish.log import ContestLog
from judge.publish.tables import JournalRow, write_csv, write_json
from judge.publish.verify_export import verify_export
from judge.store.types import JournalLine
from judge.transparency.checkpoint import Checkpoint, read_checkpoint
from judge.transparency.merkle import EMPTY_ROOT
from judge.transparency.tiles import read_leaves
from tests.publish.conftest import Public
from tests.publish.cups import Cast, Cup, player
from tests.publish.forgeries import sign_again
from tests.publish.test_second_verifier import problems as problems_by_node

PAIR: Cast = {"anna": player("anna", 0.9), "bert": player("bert", 0.6)}
OTHER: Cast = {"anna": player("anna", 0.1), "bert": player("bert", 0.9)}

OLD_SIZE = 5
"""Leaves at the old checkpoint: created, scheduled, started, void, a remark of the organiser."""


def held(folder: Path, key: Ed25519PrivateKey, cast: Cast, void: list[int], remark: str = "a power cut") -> Public:
    """A contest of one pairing from its beginning to its export."""
    public = Public(folder, key)
    with Cup(folder / "cup", cast) as cup:
        cup.play(1, void)
        if remark:
            cup.store.remark("spring-cup", "note", remark)
        cup.play()
        publish(cup.contest, public.directory, public.private, key, PageOptions(pictures=False, languages=("en",)))
    return public


@pytest.fixture(scope="module")
def true(tmp_path_factory: pytest.TempPathFactory) -> Public:
    folder = tmp_path_factory.mktemp("true")
    return held(folder, make_key(folder / "organiser.key"), PAIR, [1])


@pytest.fixture
def copy(true: Public, tmp_path: Path) -> Public:
    return true.copy_to(tmp_path)


def lines_of(directory: Path) -> list[JournalLine]:
    """The journal of an export, with the digests of its log."""
    rows = json.loads((directory / "data/journal.json").read_text())
    leaves = read_leaves(lambda path: (directory / "log" / path).read_bytes(), len(rows))
    return [
        JournalLine(**row, digest=json.loads(leaf)["digest"], number=number)
        for number, (row, leaf) in enumerate(zip(rows, leaves, strict=True))
    ]


def rewrite(public: Public, how: Callable[[list[JournalLine]], Any]) -> None:
    """Change the journal, and make tables, log, checkpoint and manifest fit, as only the organiser can."""
    lines = lines_of(public.directory)
    how(lines)
    rows = [{name: getattr(line, name) for name in JournalRow.__slots__} for line in lines]
    (public.directory / "data/journal.json").write_bytes(write_json(rows))
    (public.directory / "data/journal.csv").write_bytes(write_csv(list(JournalRow.__slots__), rows))
    log = ContestLog("spring-cup", [replace(line, number=number) for number, line in enumerate(lines)])
    for path in sorted((public.directory / "log").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    for name, data in log.files(public.key):
        (public.directory / name).parent.mkdir(parents=True, exist_ok=True)
        (public.directory / name).write_bytes(data)
    sign_again(public)


def old_checkpoint(public: Public, folder: Path, size: int = OLD_SIZE) -> Path:
    """What somebody kept while the contest was played."""
    log = ContestLog("spring-cup", lines_of(public.directory))
    path = folder / "kept-checkpoint"
    path.write_bytes(log.checkpoint(size).signed(public.key).note)
    return path


def found(public: Public, since: Path | None = None) -> tuple[list[str], list[str]]:
    """The problems that the two verifiers find."""
    words = [] if since is None else [Path("--since"), since]
    return (
        list(verify_export(public.directory, public.public_key, since).problems),
        problems_by_node(public.directory, public.public_key, *words),
    )


def test_the_log_of_an_export_has_what_happened_and_goes_on_from_every_checkpoint(true: Public, tmp_path: Path) -> None:
    lines = lines_of(true.directory)
    events = ["created", "scheduled", "started", "void", "note", "started", "accepted", "started", "accepted"]

    assert events == [line.event for line in lines]
    report = verify_export(true.directory, true.public_key, old_checkpoint(true, tmp_path))
    assert ([], 9) == (list(report.problems), report.log.size if report.log else None)
    for size in (0, 1, 9):
        assert ([], []) == found(true, old_checkpoint(true, tmp_path, size))


# --- histories that fit in themselves --------------------------------------------------------------------------------


def edit_time(lines: list[JournalLine]) -> None:
    lines[2] = replace(lines[2], at="2013-03-01T00:00:00.000+00:00")


REWRITTEN: dict[str, Callable[[list[JournalLine]], Any]] = {
    "a time edited": edit_time,
    "an action of the organiser dropped": lambda lines: lines.pop(4),
    "an action added": lambda lines: lines.insert(1, replace(lines[4], text="all agreed")),
    "two leaves swapped": lambda lines: lines.insert(1, lines.pop(4)),
    "words of an action changed": lambda lines: lines.__setitem__(4, replace(lines[4], text="nothing happened")),
}


@pytest.mark.parametrize("forgery", REWRITTEN)
def test_who_has_an_old_checkpoint_finds_what_was_rewritten_and_nobody_else(
    forgery: str, copy: Public, tmp_path: Path
) -> None:
    since = old_checkpoint(copy, tmp_path)
    rewrite(copy, REWRITTEN[forgery])

    assert ([], []) == found(copy)
    ours, second = found(copy, since)
    assert [
        "the first 5 leaves of the log are not those of the old checkpoint: one at least was dropped, added or changed"
    ] == ours
    assert ["the log does not begin with the 5 leaves of the old checkpoint: it was rewritten"] == second


@pytest.mark.parametrize(
    ("cast", "void"), [(PAIR, []), (OTHER, [1]), (PAIR, [2])], ids=["a void untold", "replayed until liked", "swapped"]
)
def test_a_contest_that_was_played_again_in_secret_is_found_by_a_checkpoint(
    cast: Cast, void: list[int], true: Public, tmp_path: Path
) -> None:
    """The organiser begins again with the same secret, and publishes the history that he likes better."""
    again = held(tmp_path, true.key, cast, void)

    assert [] == list(verify_export(again.directory, again.public_key).problems)
    (problem,) = verify_export(again.directory, again.public_key, old_checkpoint(true, tmp_path)).problems
    assert problem.startswith("the first 5 leaves of the log are not those of the old checkpoint")


def test_what_happened_after_the_last_checkpoint_is_found_by_nobody(copy: Public, tmp_path: Path) -> None:
    """The control; SECURITY.md says so."""
    since = old_checkpoint(copy, tmp_path)
    rewrite(copy, lambda lines: lines.insert(7, replace(lines[4], text="later")))

    assert ([], []) == found(copy, since)


# --- a log that does not fit -----------------------------------------------------------------------------------------


def other_digest(number: int) -> Callable[[list[JournalLine]], Any]:
    return lambda lines: lines.__setitem__(number, replace(lines[number], digest="d" * 64))


MISFITS: dict[str, Callable[[list[JournalLine]], Any]] = {
    "a result without its leaf": lambda lines: lines.pop(6),
    "the evidence of a void": other_digest(3),
    "the record of a result": other_digest(8),
    "a void that the tables lack": lambda lines: lines.insert(6, replace(lines[3], attempt=2)),
    "another contest.json": other_digest(0),
    "another schedule": other_digest(1),
    "a start dropped": lambda lines: lines.pop(5),
    "a disqualification that the tables lack": lambda lines: lines.append(
        replace(lines[4], event="disqualified", text="anna: too strong")
    ),
}
BY_NODE_TOO = {
    "a result without its leaf", "the evidence of a void", "the record of a result", "a void that the tables lack",
    "another contest.json",
}  # fmt: skip


@pytest.mark.parametrize("forgery", MISFITS)
def test_a_log_that_tells_another_story_than_the_tables_is_found(forgery: str, copy: Public) -> None:
    rewrite(copy, MISFITS[forgery])

    ours, second = found(copy)
    assert ours
    assert second or forgery not in BY_NODE_TOO


def equivocate(public: Public) -> None:
    """Sign another size and root than that of the leaves."""
    path = public.directory / "log/checkpoint"
    path.write_bytes(
        replace(read_checkpoint(path.read_bytes(), ""), root=EMPTY_ROOT, signatures=()).signed(public.key).note
    )


def damage(name: str) -> Callable[[Public], None]:
    def flip(public: Public) -> None:
        path = public.directory / name
        data = path.read_bytes()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))

    return flip


@pytest.mark.parametrize(
    "forge",
    [
        equivocate,
        damage("log/tile/entries/000.p/9"),
        damage("log/tile/0/000.p/9"),
        damage("log/checkpoint"),
        lambda public: (public.directory / "log/checkpoint").unlink(),
    ],
    ids=["equivocated", "entries", "hashes", "note", "missing"],
)
def test_a_log_that_is_damaged_is_found(forge: Callable[[Public], None], copy: Public) -> None:
    forge(copy)
    sign_again(copy)

    assert verify_export(copy.directory, copy.public_key).problems


def test_a_log_that_is_left_out_is_found_by_who_has_a_checkpoint(copy: Public, tmp_path: Path) -> None:
    since = old_checkpoint(copy, tmp_path)
    for path in sorted((copy.directory / "log").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (copy.directory / "log").rmdir()
    sign_again(copy)

    assert (["the export has no log"], ["the export has no log"]) == found(copy, since)


def test_a_checkpoint_that_the_organiser_did_not_sign_proves_nothing(true: Public, tmp_path: Path) -> None:
    since = tmp_path / "kept"
    since.write_bytes(Checkpoint("judge-contest/spring-cup", 3, EMPTY_ROOT).signed(make_key(tmp_path / "key")).note)
    ours, second = found(true, since)
    assert ["the old checkpoint is not signed by the organiser's key, so it proves nothing"] == ours
    assert ["the old checkpoint is not one of this log, signed by the organiser's key"] == second

    since.write_bytes(Checkpoint("judge-contest/other", 3, EMPTY_ROOT).signed(true.key).note)
    assert "the old checkpoint is of another log, 'judge-contest/other'" == found(true, since)[0][0]
    since.write_bytes(b"nothing")
    with pytest.raises(InputError, match="not a checkpoint of a log"):
        verify_export(true.directory, true.public_key, since)
