"""Keys of small order, whose signatures anyone can make, are refused wherever a public key is read."""

import base64
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from judge.base.errors import InputError
from judge.transparency.checkpoint import COSIGNATURE, has_small_order, is_signed, read_verifier_key, verifier_key
from judge.transparency.keys import load_public_key, make_key, public_pem
from tests.verify.by_node import verify

FIELD = (1 << 255) - 19

ORDER_8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
SMALL = [0, 1, ORDER_8, FIELD - ORDER_8, FIELD - 1, FIELD, FIELD + 1]
"""The second coordinates of the eight points, also those that are not reduced."""


def keys() -> list[bytes]:
    return [(y | sign << 255).to_bytes(32, "little") for y in SMALL for sign in (0, 1)]


@pytest.mark.parametrize("raw", keys())
def test_keys_of_small_order_are_refused(raw: bytes, tmp_path: Path) -> None:
    key = Ed25519PublicKey.from_public_bytes(raw)
    assert has_small_order(key)
    with pytest.raises(InputError, match="small order"):
        read_verifier_key(verifier_key("w", COSIGNATURE, key))
    (tmp_path / "key.pem").write_bytes(public_pem(key))
    with pytest.raises(InputError, match="small order"):
        load_public_key(tmp_path / "key.pem")


def test_anyone_can_sign_with_such_a_key() -> None:
    """The control: the neutral element as key and as signature."""
    neutral = bytes([1, *bytes(31)])
    assert is_signed(Ed25519PublicKey.from_public_bytes(neutral), neutral + bytes(32), b"anything")


def test_ordinary_keys_are_accepted(tmp_path: Path) -> None:
    assert not any(has_small_order(make_key(tmp_path / str(number)).public_key()) for number in range(20))


def test_verify_mjs_refuses_them(tmp_path: Path) -> None:
    der = bytes.fromhex("302a300506032b6570032100")
    for raw in keys():
        pem = base64.b64encode(der + raw).decode()
        (tmp_path / "organiser.pem").write_text(f"-----BEGIN PUBLIC KEY-----\n{pem}\n-----END PUBLIC KEY-----\n")
        assert any("small order" in line for line in verify(tmp_path)[1])
