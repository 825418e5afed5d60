"""Readers of foreign bytes answer with a value or InputError, within a bound of memory and work for each byte."""

import ast
import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from pydantic import BaseModel, ValidationError

import judge
from judge.base.errors import InputError
from judge.base.parsing import parse_foreign, parse_json
from judge.contest_view.export import AttemptRow, GameRow, JournalRow, PairingRow, ReasonRow, Revealed, load_export
from judge.contest_view.joined import Joined
from judge.publish.manifest import ExportManifest
from judge.publish.verify.export import difference
from judge.record.spec import RecordFile
from judge.submissions.check import CheckReport
from judge.tournament.snapshot import Snapshot, read_snapshot
from judge.transparency.checkpoint import read_checkpoint, read_verifier_key
from judge.transparency.keys import read_public_key
from judge.transparency.merkle import read_leaves
from judge.transparency.receipt import read_receipt
from judge.web.schemas import Page
from tests.attacks.defences import built_schema, collecting_reader
from tests.examples import evidence, examples, sized
from tests.hostile import assert_bounded, byte_changes
from tests.publish.public import Public, change, sign_again
from tests.verify.by_node import problems as problems_by_node

SIZE = sized(20_000, 100_000)
"""Bytes of a hostile input."""

READERS: dict[str, Callable[[bytes], object]] = {
    "record": lambda data: parse_foreign(RecordFile, data, "it"),
    "record for show": lambda data: parse_json(RecordFile, data, "it"),
    "games": lambda data: parse_foreign(list[GameRow], data, "it"),
    "journal": lambda data: parse_foreign(list[JournalRow], data, "it"),
    "pairings": lambda data: parse_foreign(list[PairingRow], data, "it"),
    "attempts": lambda data: parse_foreign(list[AttemptRow], data, "it"),
    "disqualified": lambda data: parse_foreign(list[ReasonRow], data, "it"),
    "manifest": lambda data: parse_foreign(ExportManifest, data, "it"),
    "contest": lambda data: read_snapshot(data.decode("utf-8", "replace")),
    "joined": lambda data: parse_foreign(Joined, data, "it"),
    "chance": lambda data: parse_foreign(Revealed, data, "it"),
    "receipt": lambda data: read_receipt(data, "it"),
    "table as JSON": lambda data: difference("a.json", data, b"[]"),
    "table as CSV": lambda data: difference("a.csv", data, b"a\r\n"),
    "checkpoint": lambda data: read_checkpoint(data, "it"),
    "key": lambda data: read_public_key(data, "it"),
    "line of a key": lambda data: read_verifier_key(data.decode("latin-1")),
    "tile": lambda data: read_leaves(lambda _: data, 256),
}

HOSTILE: dict[str, Callable[[int], bytes]] = {
    "zeros in a list": lambda size: b"[" + b"0," * (size // 2) + b"0]",
    "lists in a list": lambda size: b"[" + b"[]," * (size // 3) + b"0]",
    "objects in a list": lambda size: b"[" + b"{}," * (size // 3) + b"0]",
    "unknown keys": lambda size: json.dumps({f"{number:x}": 0 for number in range(size // 10)}).encode(),
    "one key again and again": lambda size: b"{" + b'"a":0,' * (size // 6) + b'"a":0}',
    "brackets": lambda size: b"[" * size,
    "deep objects": lambda size: b'{"a":' * (size // 5),
    "objects where folders are": lambda size: (
        b'{"record":{"seats":[{"folders":{'
        + b",".join(b'"%d":{"a":0,"b":0,"c":0}' % number for number in range(size // 30))
        + b"}}]}}"
    ),
    "escaped quotes": lambda size: b'{"a":"' + b'\\"' * (size // 2),
    "escaped backslashes": lambda size: b'{"a":"' + b"\\\\" * (size // 2),
    "an open text": lambda size: b'["' + b"a" * size,
    "escapes": lambda size: b'["' + b"\\u0041" * (size // 6) + b'"]',
    "a long number": lambda size: b"[" + b"9" * size + b"]",
    "a long float": lambda size: b"[0." + b"9" * size + b"]",
    "line ends": lambda size: b"\n" * size,
    "signatures": lambda size: b"a\n1\n" + b"A" * 43 + b"=\n\n" + "— a AAAAAAAA\n".encode() * (size // 16),
    "dashes of signatures": lambda size: b"a\n1\n" + "— ".encode() * (size // 4),
    "commas": lambda size: b"a\r\n" + b"," * size,
    "quotes": lambda size: b'"' * size,
    "colons": lambda size: b":" * size,
    "a PEM that does not end": lambda size: b"-----BEGIN PUBLIC KEY-----" * (size // 26),
    "bytes": lambda size: random.Random(1).randbytes(size),
}


def read_or_refuse(reader: str, data: bytes) -> None:
    with suppress(InputError):
        READERS[reader](data)


@pytest.mark.parametrize("reader", READERS)
def test_hostile_input_is_read_within_bounds(reader: str) -> None:
    for make in HOSTILE.values():
        data = make(SIZE)
        assert_bounded(lambda: read_or_refuse(reader, data), SIZE)  # noqa: B023 it is called at once


FILES = {
    "record": "records/00001.json",
    **{name: f"data/{name}.json" for name in ("games", "journal", "pairings", "attempts")},
    "manifest": "manifest.json",
    "contest": "contest.json",
    "chance": "chance.json",
    "checkpoint": "log/checkpoint",
    "table as CSV": "data/games.csv",
    "key": "organiser.pem",
}


@pytest.mark.parametrize("reader", FILES)
def test_mutated_files_are_read_or_refused(reader: str, logged: Public) -> None:
    pieces = (b"", b"0", b"null", b"NaN", b'"', b"[", b"}", b"\xff", b"\0", b"1e999", b"-1")

    @settings(max_examples=examples(60))
    @given(byte_changes((logged.directory / FILES[reader]).read_bytes(), pieces))
    def read(data: bytes) -> None:
        read_or_refuse(reader, data)

    read()


HOSTILE_TO_NODE = (
    *("escaped quotes", "escaped backslashes", "quotes", "colons", "brackets", "zeros in a list", "a long number"),
    *("one key again and again", "a PEM that does not end", "line ends", "dashes of signatures"),
)
READ_BY_NODE = ("manifest.json", "contest.json", "data/journal.json", "log/checkpoint")


@pytest.mark.parametrize(
    ("file", "name"),
    [
        pytest.param(file, name, marks=[evidence] * (number % len(READ_BY_NODE) != at))
        for number, name in enumerate(HOSTILE_TO_NODE)
        for at, file in enumerate(READ_BY_NODE)
    ],
)  # the full lane has each of them in one of the files
def test_hostile_file_is_refused_by_node(file: str, name: str, logged_copy: Public) -> None:
    """In linear time: where an expression was quadratic this test does not end within the time of the suite."""
    (logged_copy.directory / file).write_bytes(HOSTILE[name](2_000_000))
    if file != "manifest.json":
        sign_again(logged_copy)

    assert problems_by_node(logged_copy.directory, logged_copy.public_key)


def test_without_failing_fast_the_memory_is_not_bounded() -> None:
    """The control: pydantic collects all errors by default. It is native memory, which only the errors show."""
    data = b'{"files":[' + b"0," * 50_000 + b"0]}"

    with pytest.raises(ValueError, match=r"5\d\d\d\d validation errors"):
        collecting_reader(ExportManifest).validate_json(data)
    with pytest.raises(ValidationError) as found:
        ExportManifest.model_validate_json(data)
    assert found.value.error_count() <= 3


def foreign_models() -> Iterator[type[BaseModel]]:
    """What the judge parses JSON into, by the calls of `judge.base.parsing`."""
    for path in Path(judge.__path__[0]).rglob("*.py"):
        module = ".".join(("judge", *path.relative_to(judge.__path__[0]).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            if (getattr(node.func, "id", "") or getattr(node.func, "attr", "")) in PARSERS:
                found = getattr(import_module(module), ast.unparse(node.args[0]), None)
                if isinstance(found, type) and issubclass(found, BaseModel):
                    yield found


PARSERS = ("parse_json", "parse_foreign", "parse_answer")
ROWS = (GameRow, JournalRow, PairingRow, AttemptRow, ReasonRow)
FOREIGN = sorted({*foreign_models(), *ROWS}, key=lambda kind: kind.__name__)


def test_models_of_foreign_json_are_found() -> None:
    assert {RecordFile, ExportManifest, Snapshot, CheckReport, Page} <= {*FOREIGN}


@pytest.mark.parametrize("kind", FOREIGN)
def test_every_container_of_foreign_json_fails_at_its_first_wrong_element(kind: type[BaseModel]) -> None:
    assert [] == list(collecting_lists(built_schema(kind), ""))


ANYTHING = {"type": "any"}
OF_ONE_ERROR = ("any", "str", "int", "float", "bool", "function-after")
"""A dict with such values has two errors for each key at most, and few keys."""


def collecting_lists(schema: Any, field: str) -> Iterator[str]:
    """The fields whose lists or dicts collect all errors."""
    if isinstance(schema, dict):
        is_list = schema.get("type") in ("list", "set") or "variadic_item_index" in schema
        is_dict = schema.get("type") == "dict" and schema.get("values_schema", ANYTHING)["type"] not in OF_ONE_ERROR
        if (is_list or is_dict) and not schema.get("fail_fast"):
            yield field
        for key, inner in schema.items():
            if key != "metadata":
                yield from collecting_lists(inner, f"{field}.{key}")
    elif isinstance(schema, list | tuple):
        for inner in schema:
            yield from collecting_lists(inner, field)


@pytest.mark.parametrize(
    ("where", "value", "problem"),
    [
        ("format", {"games": 5000}, r"contest\.json and pairings\.json have 5000 games, games\.json has 2"),
        *(
            ("format", form, "more than 1000000 pairings; use fewer groups and cycles")
            for form in (
                {"name": "round-robin", "cycles": 10**9},
                {"name": "round-robin", "cycles": 10**400},
                {"name": "groups", "cycles": 10**9},
                {"name": "groups", "groups": 10**9},
                {"name": "leagues", "cycles": 10**9, "sizes": [10**9, 2]},
            )
        ),
        ("policy", {"about": "a" * 200_000}, "more than 16384 characters"),
        ("seat", {"author": "a" * 200_000}, "more than 16384 characters"),
    ],
)
def test_contest_of_too_much_is_refused(
    where: str, value: dict[str, object], problem: str, logged_copy: Public
) -> None:
    def enlarge(contest: Any) -> None:
        if where == "seat":
            contest["entries"][0]["seat"].update(value)
        elif "name" in value:
            contest[where] = value
        else:
            contest[where].update(value)

    change(logged_copy.directory / "contest.json", enlarge)
    with pytest.raises(InputError, match=problem):
        load_export(logged_copy.directory)


def test_contest_of_many_megabytes_is_not_read(logged_copy: Public) -> None:
    with (logged_copy.directory / "contest.json").open("ab") as file:
        file.truncate(5 << 20)
    with pytest.raises(InputError, match="larger than the limit of 4194304 bytes"):
        load_export(logged_copy.directory)
