"""Readers of files that others append to skip what is damaged, and continue."""

import json
from pathlib import Path
from typing import Any

import pytest

from judge.broadcast.appended_file import AppendedFile

GOOD = b'{"number": 1}\n'

DAMAGE = {
    "NUL bytes before the next line": b"\0" * 4096,
    "a line of NUL bytes": b"\0" * 512 + b"\n",
    "half a line": b'{"numb\n',
    "a half line that the next one joins": b'{"numb',
    "invalid UTF-8": b'{"number": "\xff\xfe"}\n',
    "another kind of value": b"[1]\n",
    "an empty line": b"\n",
    "a long line": b"x" * 5000 + b"\n",
    "deep nesting": b"[" * 4000 + b"\n",
    "a carriage return": b'{"number": 1\r}{\n',
}


def parse(line: bytes) -> int:
    value: Any = json.loads(line)
    if not isinstance(value, dict):
        raise ValueError("no object")  # noqa: TRY004 - it is damage
    return int(value["number"])


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def read_all(reader: AppendedFile[int], most_bytes: int) -> list[int]:
    found = []
    while (news := reader.news(most_bytes)) is not None:
        found += [line.value for line in news]
    return found


@pytest.mark.parametrize("piece", [1, 7, 4096, 1 << 20])
@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_line_is_skipped_and_the_rest_is_read(name: str, piece: int, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(GOOD * 2 + DAMAGE[name] + GOOD * 3)
    reader = AppendedFile(path, parse, 4500)
    found = read_all(reader, piece)

    joins = name == "a half line that the next one joins"
    assert [1] * (4 if joins else 5) == found
    is_kept = name == "NUL bytes before the next line"
    assert (0 if is_kept else 1) == reader.damaged
    assert reader.damaged_at == (None if is_kept else 2 * len(GOOD))
    append(path, GOOD)
    assert [1] == read_all(reader, piece)
    reader.close()


def test_line_without_an_end_needs_bounded_memory_and_ends_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(GOOD + b"x" * 100_000)
    reader = AppendedFile(path, parse, 1000)
    assert [1] == read_all(reader, 512)
    assert len(reader._rest) <= 1000
    append(path, b"\n" + GOOD)
    assert [1] == read_all(reader, 512)
    assert 1 == reader.damaged
    assert len(GOOD) == reader.damaged_at
    reader.close()


def test_line_counts_as_read_when_its_end_arrives(tmp_path: Path) -> None:
    path = tmp_path / "log"
    reader = AppendedFile(path, parse)
    assert reader.news() is None
    with path.open("ab", buffering=0) as file:
        file.write(GOOD[:5])
        assert [] == read_all(reader, 100)
        file.write(GOOD[5:])
    assert [1] == read_all(reader, 100)
    assert 0 == reader.damaged
    reader.close()


def test_file_that_was_replaced_or_cut_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(GOOD * 3)
    reader = AppendedFile(path, parse)
    assert [1] * 3 == read_all(reader, 100)
    assert not reader.is_replaced()
    path.write_bytes(GOOD)
    assert reader.is_replaced()
    reader.restart()
    assert [1] == read_all(reader, 100)
    (tmp_path / "other").write_bytes(GOOD * 2)
    (tmp_path / "other").replace(path)
    assert reader.is_replaced()
    reader.close()
