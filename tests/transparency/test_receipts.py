"""Receipts: an author proves that the organiser got his upload."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.base.errors import InputError
from judge.cli.contest.verify import verify
from judge.store.contests import Store
from judge.store.submissions import Register
from judge.store.types import JournalLine, Upload
from judge.transparency.checkpoint import Checkpoint
from judge.transparency.keys import make_key
from judge.transparency.log import SignedLog
from judge.transparency.merkle import Tree
from judge.transparency.receipt import MAX_RECEIPT_BYTES, Receipt
from judge.verify.export import verify_export
from tests.verify.log_forgeries import held

pytestmark = pytest.mark.slow


def submit_one(folder: Path, answers: list[Receipt]) -> Callable[[Store], None]:
    """An author sends an agent, which is withdrawn, and gets a receipt."""

    def submit(_store: Store) -> None:
        url = f"sqlite:///{folder}/cup/contest.db"
        with closing(Register(url, "spring-cup")) as register:
            number = register.receive(Upload("ada", "carl", "a.zip", "a" * 64, 100)).id
            register.withdraw(number, "ada", "changed my mind")
        with closing(SignedLog(url, "spring-cup", folder)) as log:
            given = log.receipt(number)
            assert given is not None
            answers.append(given)
            assert None is log.receipt(number + 1)

    return submit


def test_a_receipt_proves_that_an_upload_is_in_the_log_or_was_dropped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, answers = make_key(tmp_path / "organiser.key"), list[Receipt]()
    public = held(tmp_path, key, between=submit_one(tmp_path, answers))
    (receipt,) = answers
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
        receipt.model_copy(update={"text": "submission 2"}),
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
    again = held(tmp_path / "again", key)
    answer.write_text(receipt.model_dump_json())
    found = verify_export(again.directory, again.public_key, receipt=answer).problems
    assert 2 == len(found)
    assert "leaf 1 of the log differs from the receipt: submission 1 was removed or changed" == found[1]
    assert [] == list(verify_export(again.directory, again.public_key).problems)


def test_a_receipt_of_a_log_of_a_million_leaves_has_2_kb() -> None:
    tree = Tree()
    tree.levels = [[bytes(32)] * (1 << 20 >> level) for level in range(21)]
    line = JournalLine("2026-11-22T18:00:00.000+00:00", "received", None, None, "submission 123456", "a" * 64, 0)
    checkpoint = Checkpoint(f"judge-contest/{'c' * 64}", (1 << 20) - 1, bytes(32)).signed(
        Ed25519PrivateKey.from_private_bytes(bytes(32))
    )
    receipt = Receipt.of(tree, 123456, line.leaf, line.text, checkpoint)

    assert 20 == len(receipt.proof)
    assert len(json.dumps(receipt.model_dump(), separators=(",", ":"))) <= MAX_RECEIPT_BYTES
