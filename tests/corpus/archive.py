"""Archives of the corpus: JSON compressed by xz, which maps names to texts.

A source has what was played, and a text what is computed from it.
"""

import base64
import json
import lzma
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import zip_longest
from pathlib import Path

from judge.base.errors import InputError

DIRECTORY = Path(__file__).parent / "data"
SOURCE, TEXT = "source", "text"

_BINARY = "base64:"

Texts = Mapping[str, str]


def parts(kind: str = SOURCE) -> list[str]:
    """The names of the archives, those of contests first: they take longer."""
    return sorted(path.name.removesuffix(f".{kind}.json.xz") for path in DIRECTORY.glob(f"*.{kind}.json.xz"))


def path_of(part: str, kind: str) -> Path:
    return DIRECTORY / f"{part}.{kind}.json.xz"


def read(part: str, kind: str) -> dict[str, str]:
    """The texts of an archive; empty if it is missing. Raises InputError if it is damaged."""
    path = path_of(part, kind)
    try:
        found: dict[str, str] = json.loads(lzma.decompress(path.read_bytes())) if path.exists() else {}
    except (OSError, ValueError, lzma.LZMAError) as error:
        raise InputError(f"{path.name}: {error}") from error
    return found


def write(part: str, kind: str, texts: Texts) -> None:
    """Write an archive whose texts have changed."""
    DIRECTORY.mkdir(exist_ok=True)
    if read(part, kind) != texts:
        data = json.dumps(texts, ensure_ascii=False, sort_keys=True, indent=0)
        path_of(part, kind).write_bytes(lzma.compress(data.encode("utf-8", "surrogatepass"), preset=9))


def pack(folder: Path) -> dict[str, str]:
    """The files of a folder by their paths, with SQLite databases as SQL."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm")))
    return {
        path.relative_to(folder).as_posix(): _sql(path) if path.suffix == ".db" else text_of(path.read_bytes())
        for path in files
    }


def unpack(texts: Texts, folder: Path) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".db":
            with closing(sqlite3.connect(path)) as database:
                database.executescript(text)
        else:
            path.write_bytes(_bytes_of(text))
            path.chmod(0o600 if path.suffix == ".key" else 0o644)


def text_of(data: bytes) -> str:
    """UTF-8 as it is, anything else in base64."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _BINARY + base64.b64encode(data).decode()


def differences(stored: Texts, now: Texts) -> Iterator[str]:
    """One line for each text that differs, with the first line that does."""
    for name in sorted(stored.keys() | now.keys()):
        if name not in now:
            yield f"{name}: missing now"
        elif name not in stored:
            yield f"{name}: new"
        elif stored[name] != now[name]:
            pairs = zip_longest(stored[name].splitlines(), now[name].splitlines(), fillvalue="")
            number, (before, after) = next((n, pair) for n, pair in enumerate(pairs, 1) if pair[0] != pair[1])
            at = next((n for n, pair in enumerate(zip_longest(before, after)) if pair[0] != pair[1]), 0)
            begin = max(0, at - 30)
            yield f"{name}, line {number}: {before[begin : at + 60]!r} became {after[begin : at + 60]!r}"


def _sql(path: Path) -> str:
    with closing(sqlite3.connect(path)) as database:
        lines = list(database.iterdump())
    # SQLAlchemy creates the indexes of a table in any order.
    return "\n".join(
        sorted(lines, key=lambda line: (line == "COMMIT;", line if line.startswith("CREATE INDEX") else ""))
    )


def _bytes_of(text: str) -> bytes:
    return base64.b64decode(text.removeprefix(_BINARY)) if text.startswith(_BINARY) else text.encode()
