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
CURVE = -121665 * pow(121666, -1, FIELD) % FIELD

Point = tuple[int, int]


def added(one: Point, other: Point) -> Point:
    """The sum of two points of the curve."""
    (x1, y1), (x2, y2) = one, other
    product = CURVE * x1 * x2 * y1 * y2 % FIELD
    return (
        (x1 * y2 + x2 * y1) * pow(1 + product, -1, FIELD) % FIELD,
        (y1 * y2 + x1 * x2) * pow(1 - product, -1, FIELD) % FIELD,
    )


def point_of(y: int) -> Point | None:
    """A point with this y; None if the curve has none."""
    square = (y * y - 1) * pow(CURVE * y * y + 1, -1, FIELD) % FIELD
    x = pow(square, (FIELD + 3) // 8, FIELD)
    if x * x % FIELD != square:
        x = x * pow(2, (FIELD - 1) // 4, FIELD) % FIELD
    return (x, y) if x * x % FIELD == square else None


def is_small(y: int) -> bool:
    """Whether eight times a point with this y is the neutral element."""
    point = point_of(y % FIELD)
    if point is None:
        return False
    for _ in range(3):
        point = added(point, point)
    return point == (0, 1)


ORDER_8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
SMALL = [0, 1, ORDER_8, FIELD - ORDER_8, FIELD - 1, FIELD, FIELD + 1]


def keys() -> list[bytes]:
    return [(y | sign << 255).to_bytes(32, "little") for y in SMALL for sign in (0, 1)]


def test_all_encodings_of_the_eight_points_are_known() -> None:
    """By arithmetic: all with y from the field, and those that are not reduced."""
    assert all(is_small(y) for y in SMALL)
    # The four points of order 8 have two values of y, the others one each: 4 + 2 + 1 + 1.
    points = {(y % FIELD, sign) for y in SMALL for sign in ((0,) if y % FIELD in (1, FIELD - 1) else (0, 1))}
    assert 8 == len(points)
    assert SMALL[-2:] == [y for y in range(FIELD, 1 << 255) if is_small(y)]


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
