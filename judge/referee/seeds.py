"""Chance comes from a seed: it gives, for each purpose, random numbers that are the same whenever they are drawn.

A seed is a number that somebody chose, for games that can be repeated, or a key of 256 bits in hexadecimal, which
nobody can guess. What follows from a key can be computed by anybody who has it, with HMAC-SHA256 and nothing else:

- the key of a purpose is HMAC-SHA256(key, purpose as a JSON array without spaces, such as `["game",1,2,0,1]`);
- the bytes of a key are HMAC-SHA256(key, 0), HMAC-SHA256(key, 1), ..., each count in 8 bytes, the highest first;
- k random bits are the highest of the next ceil(k / 8) bytes; a number below n is taken of as many bits as n has, again
  and again until it is below n; a list is shuffled from its end, as Python's `random` does both.
"""

import hmac
import json
import random
from typing import Annotated, Any, NoReturn

from pydantic import Field

Key = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""256 bits in hexadecimal."""

Seed = int | Key
"""Where chance comes from."""


def derived(key: str, *purpose: str | int) -> str:
    """The key of one purpose; neither `key` nor the key of another purpose can be computed from it."""
    text = json.dumps(purpose, separators=(",", ":"))
    return hmac.digest(bytes.fromhex(key), text.encode(), "sha256").hex()


def numbers(seed: Seed, *purpose: str | int) -> random.Random:
    """Random numbers for one purpose, or of the seed itself; those of a number are of Python's own generator."""
    if isinstance(seed, int):
        return random.Random(" ".join(map(str, (seed, *purpose))) if purpose else seed)
    return _Keyed(derived(seed, *purpose) if purpose else seed)


class _Keyed(random.Random):
    """The numbers of a key. As `random.SystemRandom`, it gives the bits of which `random.Random` makes the rest."""

    def __init__(self, key: str) -> None:
        self._key = bytes.fromhex(key)
        self._count = 0
        self._bytes = b""
        super().__init__()

    def getrandbits(self, k: int, /) -> int:
        """A number of `k` bits."""
        count = (k + 7) // 8
        while len(self._bytes) < count:
            self._bytes += hmac.digest(self._key, self._count.to_bytes(8), "sha256")
            self._count += 1
        taken, self._bytes = self._bytes[:count], self._bytes[count:]
        return int.from_bytes(taken) >> (8 * count - k)

    def random(self) -> float:
        """From 0 to less than 1, in steps of 2**-53."""
        return self.getrandbits(53) * 2.0**-53

    def seed(self, *_: Any, **__: Any) -> None:
        """Nothing: the key is all there is."""

    def getstate(self) -> NoReturn:
        """There is none: the numbers are drawn again from their key."""
        raise NotImplementedError

    def setstate(self, _state: object) -> NoReturn:
        """As `getstate`."""
        raise NotImplementedError
