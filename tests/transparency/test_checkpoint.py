"""Signed notes as the Go module database reads and writes them, and checkpoints in them."""

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.transparency.checkpoint import (
    COSIGNATURE,
    ED25519,
    Checkpoint,
    read_checkpoint,
    read_verifier_key,
    verifier_key,
)
from judge.transparency.merkle import EMPTY_ROOT
from tests.examples import examples
from tests.transparency.standard_witness import StandardWitness

PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
"""The key of the example of golang.org/x/mod/sumdb/note, with the signature of its note."""

SAYING = b"If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
SIGNED = "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
CHECKPOINT = Checkpoint("judge-contest/cup", 7, EMPTY_ROOT)
NOTE = CHECKPOINT.signed(KEY).note


def test_the_published_example_of_a_signed_note_is_understood() -> None:
    name, kind, key = read_verifier_key(PETER)

    assert ("PeterNeumann", ED25519) == (name, kind)
    assert PETER == verifier_key(name, kind, key)
    data = base64.b64decode(SIGNED)
    assert bytes.fromhex("c74f20a3") == data[:4]
    key.verify(data[4:], SAYING)


def test_checkpoint_is_accepted_only_from_its_signer() -> None:
    signed = CHECKPOINT.signed(KEY)
    read = read_checkpoint(signed.note, "it")

    assert signed == read
    assert read.is_signed(KEY.public_key())
    assert not read.is_signed(Ed25519PrivateKey.generate().public_key())
    assert not Checkpoint("judge-contest/cup", 8, EMPTY_ROOT, read.signatures).is_signed(KEY.public_key())
    assert b"judge-contest/cup\n7\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n" == signed.body


def test_signature_of_a_standard_witness_is_read() -> None:
    other = Ed25519PrivateKey.generate()
    witness = StandardWitness("w.example", other, now=lambda: 1679315147)
    read = read_checkpoint(witness.cosigned(CHECKPOINT.signed(KEY).note), "it")

    assert 2 == len(read.signatures)
    assert read.is_signed(KEY.public_key())
    assert 1679315147 == read.witnessed_at("w.example", other.public_key())
    assert None is read.witnessed_at("x.example", other.public_key())
    assert None is read.witnessed_at("w.example", KEY.public_key())
    # What C2SP's tlog-cosignature says is signed.
    other.public_key().verify(read.signatures[1].data[8:], b"cosignature/v1\ntime 1679315147\n" + CHECKPOINT.body)
    assert witness.line == verifier_key("w.example", COSIGNATURE, other.public_key())


@pytest.mark.parametrize(("old", "new"), [(b"\n7\n", b"\n-7\n"), (b"+5JCeu", b"+5JC")])
def test_checkpoint_with_a_negative_size_or_a_short_root_is_refused(old: bytes, new: bytes) -> None:
    with pytest.raises(InputError, match="it: not a checkpoint of a log"):
        read_checkpoint(NOTE.replace(old, new), "it")


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(0, len(NOTE) - 1), st.binary(max_size=4))
def test_a_note_that_is_changed_anywhere_is_refused_or_another_note(at: int, other: bytes) -> None:
    changed = NOTE[:at] + other + NOTE[at + 1 :]
    try:
        checkpoint = read_checkpoint(changed, "it")
    except InputError:
        return
    assert changed == checkpoint.note
    assert changed == NOTE or checkpoint.body != CHECKPOINT.body or not checkpoint.is_signed(KEY.public_key())


@pytest.mark.parametrize("text", ["", "a+b+c", PETER[:-4], PETER.replace("c7", "c8"), "a+00000000+"])
def test_invalid_key_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a key"):
        read_verifier_key(text)
