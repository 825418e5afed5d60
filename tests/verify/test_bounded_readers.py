"""Readers of foreign bytes answer with a value or InputError, within a bound of memory and time for each byte."""

import gc
import json
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from judge.base.errors import InputError
from judge.base.parsing import parse_foreign, parse_json
from judge.contest.backup_check import BackupManifest
from judge.contest.evaluation import Pool
from judge.cup.announcement import Announcement
from judge.cup.results import CupDocument
from judge.publish.joined import Joined
from judge.publish.load import Revealed, load_export
from judge.publish.manifest import ExportManifest
from judge.publish.tables import AttemptRow, DisqualifiedRow, GameRow, JournalRow, PairingRow
from judge.referee.spec import GameSpec, RecordFile
from judge.sandbox.runtimes import BuiltRuntime
from judge.submissions.check import CheckReport
from judge.tournament.snapshot import Snapshot, SnapshotEntry, read_snapshot
from judge.transparency.checkpoint import read_checkpoint, read_verifier_key
from judge.transparency.keys import read_public_key
from judge.transparency.receipt import Receipt, read_receipt
from judge.transparency.tiles import read_leaves
from judge.verify.export import difference
from tests.attacks.defences import collecting_reader
from tests.examples import sized
from tests.publish.public import Public

MEMORY = 100
"""Bytes for each byte that is read."""

SECONDS = 10e-6
"""For each byte: a hundred times what is needed."""

SIZE = sized(20_000, 100_000)
"""Bytes of a hostile input."""

LEAST_BYTES, LEAST_S = sized(13 << 20, 64 << 20), sized(1, 5)
"""What a small input may take."""

READERS: dict[str, Callable[[bytes], object]] = {
    "record": lambda data: parse_foreign(RecordFile, data, "it"),
    "record for show": lambda data: parse_json(RecordFile, data, "it"),
    "games": lambda data: parse_foreign(list[GameRow], data, "it"),
    "journal": lambda data: parse_foreign(list[JournalRow], data, "it"),
    "pairings": lambda data: parse_foreign(list[PairingRow], data, "it"),
    "attempts": lambda data: parse_foreign(list[AttemptRow], data, "it"),
    "disqualified": lambda data: parse_foreign(list[DisqualifiedRow], data, "it"),
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
    "deep lists": lambda size: b"[" * size,
    "deep objects": lambda size: b'{"a":' * (size // 5),
    "zeros where a record has blocks": lambda size: b'{"transcript":{"blocks":[' + b"0," * (size // 2) + b"0]}}",
    "zeros where a record has entries": lambda size: (
        b'{"transcript":{"blocks":[{"entries":[' + b"0," * (size // 2) + b"0]}]}}"
    ),
    "zeros where a manifest has files": lambda size: b'{"files":[' + b"0," * (size // 2) + b"0]}",
    "zeros where a contest has entries": lambda size: b'{"entries":[' + b"0," * (size // 2) + b"0]}",
    "zeros where former contests are": lambda size: b'{"contests":[' + b"0," * (size // 2) + b"0]}",
    "objects where folders are": lambda size: (
        b'{"record":{"seats":[{"folders":{'
        + b",".join(b'"%d":{"a":0,"b":0,"c":0}' % number for number in range(size // 30))
        + b"}}]}}"
    ),
    "quotes that are escaped": lambda size: b'{"a":"' + b'\\"' * (size // 2),
    "an open text": lambda size: b'["' + b"a" * size,
    "escapes": lambda size: b'["' + b"\\u0041" * (size // 6) + b'"]',
    "a long number": lambda size: b"[" + b"9" * size + b"]",
    "a long float": lambda size: b"[0." + b"9" * size + b"]",
    "line ends": lambda size: b"\n" * size,
    "signatures": lambda size: b"a\n1\n" + b"A" * 43 + b"=\n\n" + "— a AAAAAAAA\n".encode() * (size // 16),
    "commas": lambda size: b"a\r\n" + b"," * size,
    "quotes": lambda size: b'"' * size,
    "bytes": lambda size: random.Random(1).randbytes(size),
}


def is_within_bounds(read: Callable[[bytes], object], data: bytes) -> bool:
    """Whether a reader answers within the bounds."""
    gc.disable()  # it would look at everything that other tests have imported
    tracemalloc.start()
    began = time.process_time()
    try:
        read(data)
    except InputError:
        pass
    finally:
        seconds = time.process_time() - began
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        gc.enable()
    return peak <= LEAST_BYTES + MEMORY * len(data) and seconds <= LEAST_S + SECONDS * len(data)


@pytest.mark.parametrize("reader", READERS)
def test_hostile_input_is_read_within_bounds(reader: str) -> None:
    wrong = [name for name, make in HOSTILE.items() if not is_within_bounds(READERS[reader], make(SIZE))]
    assert [] == wrong


def mutated(chance: random.Random, data: bytes) -> bytes:
    """A file with a few changes: bytes, pieces doubled or left out, values exchanged."""
    changed = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        at, length = chance.randrange(len(changed) + 1), chance.randrange(1, 40)
        piece = chance.choice(
            [
                b"",
                b"0",
                b"null",
                b"NaN",
                b'"',
                b"[",
                b"}",
                b"\xff",
                b"\x00",
                b"1e999",
                b"-1",
                changed[at : at + length] * 2,
            ]
        )
        changed[at : at + chance.choice([0, 1, length])] = piece
    return bytes(changed)


FILES = {
    "record": "records/00001.json",
    "games": "data/games.json",
    "journal": "data/journal.json",
    "pairings": "data/pairings.json",
    "attempts": "data/attempts.json",
    "manifest": "manifest.json",
    "contest": "contest.json",
    "chance": "chance.json",
    "checkpoint": "log/checkpoint",
    "table as CSV": "data/games.csv",
    "key": "organiser.pem",
}


@pytest.mark.parametrize("reader", FILES)
def test_mutated_files_are_read_or_refused(reader: str, logged: Public) -> None:
    data = (logged.directory / FILES[reader]).read_bytes()
    chance = random.Random(reader)
    for _ in range(60):
        with suppress(InputError):
            READERS[reader](mutated(chance, data))


# --- without the defence ---------------------------------------------------------------------------------------------


def test_without_failing_fast_the_memory_is_not_bounded() -> None:
    """The control: pydantic collects all errors by default. It is native memory, which only the errors show."""
    data = HOSTILE["zeros where a manifest has files"](100_000)

    with pytest.raises(ValueError, match=r"5\d\d\d\d validation errors"):
        collecting_reader(ExportManifest).validate_json(data)
    with pytest.raises(ValidationError) as found:
        ExportManifest.model_validate_json(data)
    assert found.value.error_count() <= 3


FOREIGN = (
    *(RecordFile, GameSpec, ExportManifest, Joined, Revealed, Snapshot, SnapshotEntry, Receipt, Announcement),
    *(CupDocument, BackupManifest, Pool, CheckReport, BuiltRuntime),
    *(GameRow, JournalRow, PairingRow, AttemptRow, DisqualifiedRow),
)


@pytest.mark.parametrize("kind", FOREIGN)
def test_every_list_of_foreign_json_fails_at_its_first_wrong_element(kind: type[BaseModel]) -> None:
    assert [] == list(collecting_lists(TypeAdapter(kind).core_schema, ""))


def collecting_lists(schema: Any, field: str) -> Iterator[str]:
    """The fields whose lists collect all errors."""
    if isinstance(schema, dict):
        is_list = schema.get("type") in ("list", "set") or "variadic_item_index" in schema
        if is_list and not schema.get("fail_fast"):
            yield field
        for key, inner in schema.items():
            if key != "metadata":
                yield from collecting_lists(inner, f"{field}.{key}")
    elif isinstance(schema, list | tuple):
        for inner in schema:
            yield from collecting_lists(inner, field)


# --- contest.json ----------------------------------------------------------------------------------------------------


def test_contest_with_more_games_than_the_table_is_refused_before_its_schedule(logged_copy: Public) -> None:
    path = logged_copy.directory / "contest.json"
    document = json.loads(path.read_bytes())
    document["format"]["games"] = 5000
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"contest\.json and pairings\.json have 5000 games, games\.json has 2"):
        load_export(logged_copy.directory)


@pytest.mark.parametrize(
    "form",
    [
        {"name": "round-robin", "cycles": 10**9},
        {"name": "round-robin", "cycles": 10**400},
        {"name": "groups", "cycles": 10**9},
        {"name": "groups", "groups": 10**9},
        {"name": "leagues", "cycles": 10**9, "sizes": [10**9, 2]},
    ],
)
def test_contest_of_countless_pairings_is_refused(form: dict[str, object], logged_copy: Public) -> None:
    path = logged_copy.directory / "contest.json"
    document = json.loads(path.read_bytes()) | {"format": form}
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match="more than 1000000 pairings; use fewer groups and cycles"):
        load_export(logged_copy.directory)


@pytest.mark.parametrize("where", ["policy", "seat"])
def test_contest_with_a_long_policy_or_seat_is_refused(where: str, logged_copy: Public) -> None:
    path = logged_copy.directory / "contest.json"
    document = json.loads(path.read_bytes())
    part = document["policy"] if where == "policy" else document["entries"][0]["seat"]
    part["about" if where == "policy" else "author"] = "a" * 200_000
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match="more than 16384 characters"):
        load_export(logged_copy.directory)


def test_contest_of_many_megabytes_is_not_read(logged_copy: Public, tmp_path: Path) -> None:
    with (logged_copy.directory / "contest.json").open("ab") as file:
        file.truncate(5 << 20)
    with pytest.raises(InputError, match="larger than the limit of 4194304 bytes"):
        load_export(logged_copy.directory)
