"""Stores a ladder's ratings for live pages between processes. Damaged files, and those of other code, are ignored."""

from __future__ import annotations

import hashlib
import io
import json
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.base.durable_files import read_bounded, write_durably
from judge.base.errors import InputError
from judge.base.logs import get_logger

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    Arrays = Mapping[str, np.ndarray[Any, Any]]

FILE = "ladder.ratings"
MAX_BYTES = 1 << 28
_MAGIC = b"judge-ladder-ratings-1\n"
_CODE = ("judge.contest_view.ladder", "judge.statistics.online_ratings", "judge.statistics.portable_math")

log = get_logger()


def save(path: Path, header: Mapping[str, Any], arrays: Arrays) -> None:
    """Logs errors."""
    import numpy as np

    buffer = io.BytesIO()
    text = np.frombuffer(json.dumps({**header, "code": _code()}).encode(), dtype=np.uint8)
    np.savez(buffer, allow_pickle=False, **{**arrays, "header": text})
    data = buffer.getvalue()
    if len(data) > MAX_BYTES:
        return
    try:
        write_durably(path, _MAGIC + hashlib.sha256(data).digest() + data)
    except OSError as error:
        log.warning("the ratings of the ladder cannot be stored", why=str(error))


def load(path: Path) -> tuple[Mapping[str, Any], Arrays] | None:
    """None without a valid file."""
    import numpy as np

    start = len(_MAGIC) + 32
    with suppress(OSError, InputError, ValueError, KeyError, EOFError):
        data = read_bounded(path, MAX_BYTES + start)
        if data[:start] != _MAGIC + hashlib.sha256(data[start:]).digest():
            return None
        with np.load(io.BytesIO(data[start:]), allow_pickle=False) as found:
            arrays = dict(found)
        header = json.loads(arrays.pop("header").tobytes())
        return (header, arrays) if header["code"] == _code() else None
    return None


@cache
def _code() -> str:
    found = hashlib.sha256()
    for name in _CODE:
        found.update(Path(str(import_module(name).__file__)).read_bytes())
    return found.hexdigest()
