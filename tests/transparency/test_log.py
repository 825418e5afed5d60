"""The log of a contest: an old checkpoint or a receipt reveals what an organiser rewrites, to both verifiers."""

import json
import shutil
import tracemalloc
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.base.errors import InputError
from judge.cli.contest.verify import verify
from judge.journal.events import GameReleased, SetAside
from judge.journal.state import JournalLine
from judge.publish.verify.export import verify_export
from judge.store.contests import Store
from judge.store.submissions import Register
from judge.store.types import Upload
from judge.transparency.checkpoint import Checkpoint
from judge.transparency.keys import make_key
from judge.transparency.log import ContestLog, SignedLog
from judge.transparency.merkle import EMPTY_ROOT, Tree
from judge.transparency.receipt import MAX_RECEIPT_BYTES, Receipt
from tests.publish.public import Public, sign_again
from tests.verify.log_forgeries import NOTE, export_contest, found, lines_of, old_checkpoint, rewrite, with_event

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
        game = void.game or ""
        events = (SetAside(game, 3, void.text), GameReleased(game, "the organiser"))
        lines[NOTE:NOTE] = [replace(with_event(void, event), digest=None) for event in events]

    rewrite(logged_copy, tell)
    assert ([], []) == found(logged_copy)


def test_old_checkpoint_reveals_a_rewritten_log(logged_copy: Public, tmp_path: Path) -> None:
    since = old_checkpoint(logged_copy, tmp_path)
    rewrite(logged_copy, lambda lines: lines.pop(NOTE))

    assert ([], []) == found(logged_copy)
    ours, second = found(logged_copy, since)
    assert [
        "the first 7 leaves of the log differ from those of the old checkpoint: leaves were removed, added or changed"
    ] == ours
    assert ["the log does not begin with the 7 leaves of the old checkpoint: it was rewritten"] == second


def test_omitted_log_is_found_with_a_checkpoint(logged_copy: Public, tmp_path: Path) -> None:
    since = old_checkpoint(logged_copy, tmp_path)
    shutil.rmtree(logged_copy.directory / "log")
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
        numbers = range(start, min(end, 8_000))
        return [
            JournalLine("now", "images", None, None, f'{{"images":"{number}"}}', number=number) for number in numbers
        ]

    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    log = ContestLog("cup", read)
    log_bytes = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()

    assert log_bytes < 200_000
    whole = Tree(line.leaf for line in read(0, 8_000))
    assert whole.root() == log.checkpoint().root
    assert whole.consistency(777, 8_000) == log.tree.consistency(777, 8_000)


def test_a_receipt_proves_that_an_upload_is_in_the_log_or_was_dropped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, answers = make_key(tmp_path / "organiser.key"), list[Receipt | None]()

    def submit(_store: Store) -> None:
        url = f"sqlite:///{tmp_path}/cup/contest.db"
        with closing(Register(url, "spring-cup")) as register:
            number = register.receive(Upload("ada", "carl", "a.zip", "a" * 64, 100)).id
            register.withdraw(number, "ada", "changed my mind")
        with closing(SignedLog(url, "spring-cup", tmp_path)) as log:
            answers.extend((log.receipt(number), log.receipt(number + 1)))

    public = export_contest(tmp_path, key, between=submit)
    receipt, missing = answers
    assert receipt is not None
    assert None is missing
    answer = tmp_path / "answer.json"
    answer.write_text(json.dumps({"id": 1, "receipt": receipt.model_dump()}))

    def problems() -> list[str]:
        return list(verify_export(public.directory, public.public_key, receipt=answer).problems)

    assert ("submission 1", "a" * 64) == (receipt.text, json.loads(receipt.leaf)["digest"])
    assert [] == problems()
    assert len(answer.read_bytes()) <= MAX_RECEIPT_BYTES
    verify(public.directory, public.public_key, receipt=answer)
    assert f"receipt  submission 1, SHA-256 {'a' * 16}: is leaf 1 of the log\n" in capsys.readouterr().out

    # A receipt of an organiser with another key, for another text, for other bytes, or with another proof.
    forged = receipt.model_copy(update={"leaf": receipt.leaf.replace("aaaa", "bbbb", 1)})
    others = [
        receipt.model_copy(update={"leaf": "{}"}),
        forged,
        receipt.model_copy(update={"proof": (*receipt.proof, receipt.proof[0])}),
        receipt.model_copy(update={"proof": ("?",)}),
        receipt.model_copy(update={"checkpoint": receipt.checkpoint.replace("3\n", "4\n", 1)}),
    ]
    for other in others:
        answer.write_text(other.model_dump_json())
        (problem,) = problems()
        assert problem.startswith("the receipt proves nothing: ")
    answer.write_text("{}")
    with pytest.raises(InputError, match="not a receipt"):
        problems()

    # The organiser begins again without the upload.
    again = export_contest(tmp_path / "again", key)
    answer.write_text(receipt.model_dump_json())
    found = verify_export(again.directory, again.public_key, receipt=answer).problems
    assert 2 == len(found)
    assert "leaf 1 of the log differs from the receipt: submission 1 was removed or changed" == found[1]
    assert [] == list(verify_export(again.directory, again.public_key).problems)


def test_a_receipt_of_a_log_of_a_million_leaves_has_2_kb() -> None:
    tree = Tree()
    tree.levels = [[bytes(32)] * (1 << 20 >> level) for level in range(21)]
    line = JournalLine("2026-11-22T18:00:00.000+00:00", "received", None, None, '{"number":123456}', "a" * 64, 0)
    checkpoint = Checkpoint(f"judge-contest/{'c' * 64}", (1 << 20) - 1, bytes(32)).signed(
        Ed25519PrivateKey.from_private_bytes(bytes(32))
    )
    receipt = Receipt.of(tree, 123456, line.leaf, checkpoint)

    assert 20 == len(receipt.proof)
    assert len(json.dumps(receipt.model_dump(), separators=(",", ":"))) <= MAX_RECEIPT_BYTES
