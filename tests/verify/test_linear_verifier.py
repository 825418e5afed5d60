"""verify.mjs reads hostile files in linear time: twenty times the size that once took a minute ends at once."""

import pytest

from tests.publish.public import Public, sign_again
from tests.verify.by_node import problems

SIZE = 2_000_000

HOSTILE = {
    "escaped quotes": b'{"a":"' + b'\\"' * (SIZE // 2),
    "escaped backslashes": b'{"a":"' + b"\\\\" * (SIZE // 2),
    "quotes": b'"' * SIZE,
    "colons": b":" * SIZE,
    "brackets": b"[" * SIZE,
    "numbers": b"[" + b"1," * (SIZE // 2) + b"1]",
    "one number": b"9" * SIZE,
    "keys": b"{" + b'"a":1,' * (SIZE // 6) + b'"a":1}',
    "a PEM that does not end": b"-----BEGIN PUBLIC KEY-----" * (SIZE // 26),
    "line ends": b"\n" * SIZE,
    "dashes of signatures": b"a\n1\n" + "\u2014 ".encode() * (SIZE // 4),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("file", ["manifest.json", "contest.json", "data/journal.json", "log/checkpoint"])
def test_hostile_file_is_refused(file: str, name: str, logged_copy: Public) -> None:
    """Where an expression was quadratic this test does not end within the time of the suite."""
    (logged_copy.directory / file).write_bytes(HOSTILE[name])
    if file != "manifest.json":
        sign_again(logged_copy)

    assert problems(logged_copy.directory, logged_copy.public_key)
