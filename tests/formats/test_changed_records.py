"""Every value of a record is replaced, removed or repeated: `verify` refuses the change and names the field."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from judge.api.files import show, verify
from judge.base.errors import InputError
from judge.games.types import Verdict
from judge.protocols.gomocup_words import is_private
from judge.record.spec import RecordFile, SeatRecord, public_part
from judge.record.transcript import EntryKind, SealedTranscript, _private_digest, mark_private, unseal, withhold
from judge.testing import Act, Say, exits
from tests.formats.recorded import gomoku, named, recorded, talker
from tests.referee.games import BLACK_ROW, WHITE_ROW, brain, resealed, spec
from tests.verify.forger import _digest_of

Path_ = tuple[str | int, ...]

REMOVED = object()

MEASURED = {
    "record.judge": str,
    "record.attempt": int,
    "record.judge_late_ms": float,
    "record.placement.box": str,
    "record.placement.freezer": str,
    "record.placement.host": str,
    "record.placement.thaw_ms": float,
    "record.seats.cpu_ms": int,
    "record.seats.lingered_ms": float,
    "record.seats.memory_peak_bytes": int,
}
"""Values that no replay repeats; only their types and possible ranges are checked. A new measurement is added here."""


def crashed() -> RecordFile:
    """White has a DEBUG line, and exits in its second turn; each seat has a time control."""
    white, turns = brain(*WHITE_ROW), iter(range(9))

    def hear(line: str) -> list[Act]:
        if line.startswith("TURN") and next(turns) == 1:
            return [Say(b"DEBUG secret\r\n"), *exits(3)]
        return [*white(line)]

    game_spec = named(spec(clock={"control": "5000/10+100"}), "anna", "bert")
    file = recorded(talker(*BLACK_ROW, messages=("depth 3",)), hear, game_spec)
    return resealed(file, mark_private(unseal(file.transcript), lambda _, line: is_private(line)))


def places(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(inner, (*path, number))


def at(document: Any, path: Path_) -> Any:
    for key in path:
        document = document[key]
    return document


def others(value: Any) -> list[Any]:
    """Wrong types, neighbours and hostile values."""
    match value:
        case bool():
            return [not value, int(value), None, REMOVED]
        case int():
            return [value + 1, -value - 1, float(value), str(value), value == 1, None, 10**30, [value], REMOVED]
        case float():
            return [value + 0.001, -value - 1, str(value), None, 1e300, REMOVED]
        case str():
            return [value + "x", value[:-1], "\x1b[31m", 0, None, [value], REMOVED]
        case None:
            return [0, "x", False, [], {}, REMOVED]
        case list():
            return [value[:-1], [*value, *value[-1:]], value[::-1], [], [*value, None], {}, "x", REMOVED]
    return [{}, {**value, "zz": 1}, [], None, REMOVED]


def changed(text: str, path: Path_, value: Any) -> Any:
    document = json.loads(text)
    parent = at(document, path[:-1])
    if value is REMOVED:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return document


def field(path: Path_) -> str:
    return ".".join(key for key in path if isinstance(key, str))


def digest_of(document: Any) -> str:
    """Raises ValueError."""
    return _digest_of(withhold(SealedTranscript.model_validate_json(json.dumps(document["transcript"]))))


def found(path: Path) -> list[str]:
    try:
        return list(verify(path).problems)
    except InputError as error:
        return [str(error)]


def is_same(text: str, document: Any) -> bool:
    """Only defaults were removed, or whole numbers written without a point."""
    try:
        file = RecordFile.model_validate_json(json.dumps(document), strict=True)
    except ValueError:
        return False
    return RecordFile.model_validate_json(text) == file


def is_measured(path: Path_, value: Any) -> bool:
    kind = MEASURED.get(field(path))
    if kind is str or kind is None or isinstance(value, bool):
        return isinstance(value, str) and kind is str
    if not isinstance(value, int | float) or (kind is int and isinstance(value, float)):
        return False
    return 0 < value < 1 << 53 or (value == 0 and "attempt" not in path)


@pytest.mark.slow
def test_change_of_any_value_is_refused_and_its_field_named(tmp_path: Path) -> None:
    text, file = crashed().to_json().decode(), tmp_path / "game.json"
    file.write_text(text)
    assert [] == found(file)
    for path in places(json.loads(text)["record"], ("record",)):
        for value in others(at(json.loads(text), path)):
            document = changed(text, path, value)
            file.write_text(json.dumps(document))
            problems = found(file)
            if not problems:
                missed = f"verify accepts {value!r} for {field(path)}, which is not MEASURED"
                assert is_same(text, document) or is_measured(path, value), missed
                continue
            assert not any("Error" in problem for problem in problems), (path, value, problems)
            about = problems if "spec" not in path else [*problems, path[-1], "spec"]
            keys = [key for key in path if isinstance(key, str)]
            assert any(str(key) in str(problem) for key in keys[1:] or keys for problem in about), (path, problems)


def test_change_in_a_sealed_transcript_never_reaches_python(tmp_path: Path) -> None:
    """The digests fit. Neither command ends with an error of Python."""
    text, file = crashed().to_json().decode(), tmp_path / "game.json"
    for path in list(places(json.loads(text)["transcript"], ("transcript",)))[::3]:
        for value in others(at(json.loads(text), path))[: None if path[1:] else -1]:
            document = changed(text, path, value)
            try:
                digest = digest_of(document)
            except (ValueError, KeyError):
                digest = "0" * 64
            if isinstance(document["transcript"], dict):
                document["transcript"]["sha256"] = document["record"]["transcript_sha256"] = digest
            file.write_text(json.dumps(document))
            problems = found(file)
            try:
                problems.append(show(file).problem)
            except InputError as error:
                problems.append(str(error))
            assert not any("Error" in problem for problem in problems), (path, value, problems)


def saved(file: RecordFile, path: Path, **changes: Any) -> Path:
    path.write_bytes(RecordFile(record=file.record.model_copy(update=changes), transcript=file.transcript).to_json())
    return path


def test_void_of_a_game_that_was_won_is_refused(tmp_path: Path) -> None:
    seats = tuple(
        SeatRecord.model_validate(seat.model_dump() | {"fault": None, "why": "", "evidence": None})
        for seat in crashed().record.seats
    )
    void = {"verdict": Verdict.VOID, "winner": None, "result": "", "seats": seats}
    for game in (crashed(), gomoku()):
        assert any("void, but " in each for each in found(saved(game, tmp_path / "game.json", **void)))


def test_message_that_the_agent_did_not_send_is_refused(tmp_path: Path) -> None:
    file = crashed()
    for each in (file, public_part(file)):
        for seat in (0, 1):
            seats = list(file.record.seats)
            seats[seat] = seats[seat].model_copy(update={"notes": (*seats[seat].notes, "I resign")})
            (problem,) = found(saved(each, tmp_path / "game.json", seats=tuple(seats)))
            assert f"seats.{seat}.notes" in problem


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (('"verdict":"crash"', '"verdict":"win","verdict":"crash"'), "the key 'verdict' occurs twice"),
        (('"judge_late_ms":0.0', '"judge_late_ms":NaN'), "NaN is not JSON"),
        (('"winner":0', '"winner":"0"'), "record.winner: Input should be a valid integer"),
        (('"attempt":1', '"attempt":-1'), "attempt is -1"),
    ],
    ids=["twice", "NaN", "text", "attempt"],
)
def test_ambiguous_or_impossible_value_is_refused(change: tuple[str, str], problem: str, tmp_path: Path) -> None:
    text = crashed().to_json().decode()
    assert change[0] in text
    (tmp_path / "game.json").write_text(text.replace(*change, 1))
    assert any(problem in each for each in found(tmp_path / "game.json"))


@pytest.mark.parametrize("kind", [EntryKind.READ, EntryKind.REPORT])
@pytest.mark.parametrize("seat", [-1, -2, 2, 127])
def test_entry_of_a_missing_seat_is_refused(seat: int, kind: EntryKind, tmp_path: Path) -> None:
    """Python's negative indices would find a seat."""
    file = gomoku()
    entries = [entry._replace(seat=seat) if entry.kind is kind else entry for entry in unseal(file.transcript)]
    forged = resealed(file, entries)
    (tmp_path / "game.json").write_bytes(forged.to_json())
    assert any(f"{kind.name} of seat {seat}" in each for each in found(tmp_path / "game.json"))


PRIVATE_CHANGES: dict[str, Callable[[Any], object]] = {
    "missing": lambda block: block["private"].pop(),
    "more": lambda block: block["private"].append("x"),
    "longer": lambda block: block["private"].append(block["private"].pop() + "x"),
    "other line ends": lambda block: block["private"].append("7,7\n".ljust(len(block["private"].pop()), "\n")),
}


@pytest.mark.parametrize("change", PRIVATE_CHANGES)
def test_private_text_that_does_not_fit_its_entry_is_refused(change: str, tmp_path: Path) -> None:
    """The digests fit, so that the public part alone would verify."""
    document, path = json.loads(crashed().to_json()), tmp_path / "game.json"
    block = document["transcript"]["blocks"][0]
    assert block["private"]
    PRIVATE_CHANGES[change](block)
    block["private_sha256"] = _private_digest(block["private"])
    digest = digest_of(document)
    document["transcript"]["sha256"] = document["record"]["transcript_sha256"] = digest
    path.write_text(json.dumps(document))
    assert any("private" in each and "Error" not in each for each in found(path))
    with pytest.raises(InputError, match="private"):
        show(path)
