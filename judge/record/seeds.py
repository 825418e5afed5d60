"""Reproducible random numbers from a seed, independent per purpose.

A seed is a chosen number, or an unpredictable 256-bit key in hexadecimal. From a key, anyone can
compute with HMAC-SHA256:

- the key of a purpose: HMAC-SHA256(key, purpose as JSON array without spaces, such as `["game",1,2,0,1]`);
- the bytes of a key: HMAC-SHA256(key, 0), HMAC-SHA256(key, 1), ..., counters as 8 big-endian bytes;
- k random bits: the highest bits of the next ceil(k / 8) bytes; numbers below n: draw as many bits as n has,
  until the result is below n; lists: shuffle from the end; both as in Python's `random`.
"""

import hmac
import json
import random
from typing import Annotated, Any, NoReturn

from pydantic import Field

Key = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

Seed = int | Key


def derived(key: str, *purpose: str | int) -> str:
    """The key of a purpose. It reveals neither `key` nor other keys."""
    text = json.dumps(purpose, separators=(",", ":"))
    return hmac.digest(bytes.fromhex(key), text.encode(), "sha256").hex()


def numbers(seed: Seed, *purpose: str | int) -> random.Random:
    """Random numbers for a purpose, or of the seed itself. Integer seeds use Python's generator."""
    if isinstance(seed, int):
        return random.Random(" ".join(map(str, (seed, *purpose))) if purpose else seed)
    return _Keyed(derived(seed, *purpose) if purpose else seed)


class _Keyed(random.Random):
    def __init__(self, key: str) -> None:
        self._key = bytes.fromhex(key)
        self._count = 0
        self._bytes = b""
        super().__init__()

    def getrandbits(self, k: int, /) -> int:
        count = (k + 7) // 8
        while len(self._bytes) < count:
            self._bytes += hmac.digest(self._key, self._count.to_bytes(8), "sha256")
            self._count += 1
        taken, self._bytes = self._bytes[:count], self._bytes[count:]
        return int.from_bytes(taken) >> (8 * count - k)

    def random(self) -> float:
        return self.getrandbits(53) * 2.0**-53

    def seed(self, *_: Any, **__: Any) -> None: ...

    def getstate(self) -> NoReturn:
        raise NotImplementedError

    def setstate(self, _state: object) -> NoReturn:
        raise NotImplementedError
