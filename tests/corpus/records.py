"""What is computed from a record: verification, pictures, other formats, answers of the API."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pydantic import BaseModel

from judge.api import show, verify
from judge.catalog import game_entry
from judge.formats.steps import ReplayStep
from judge.games.types import Verdict
from judge.protocols.time_control import TimeControl
from judge.record.policy import GameChoice, load_policy, policy_names, variants_of
from judge.record.spec import GameRecord, RecordFile, public_part, read_record
from judge.record.transcript import EntryKind
from judge.referee import blame
from judge.referee.blame import BlameRow, Cause
from judge.referee.verify import verify as verify_record
from judge.sandbox.evidence import Evidence
from tests.corpus.commands import printed

GAME = "game.json"


def record_texts(text: str) -> Iterator[tuple[str, str]]:
    """Each text that is computed from a record; the current folder is empty."""
    Path(GAME).write_text(text, encoding="utf-8")
    file = read_record(Path(GAME))
    yield "verify", printed("verify", GAME)
    yield "show", printed("show", GAME)
    yield "evidence", printed("show", GAME, "--evidence")
    yield "api verify", json.dumps(plain(verify(Path(GAME))))
    steps = show(Path(GAME))
    yield "api show", "\n".join(_step_lines(steps.steps, [steps.title, steps.names, steps.result, steps.problem]))
    for ply in sorted({len(steps.steps) // 2, len(steps.steps) - 1}):
        printed("show", GAME, "--ply", str(ply), "--svg", "game.svg")
        yield f"picture {ply}", Path("game.svg").read_text(encoding="utf-8")
    Path("public.json").write_bytes(public_part(file).to_json())
    yield "verify public", printed("verify", "public.json")
    formats = game_entry(file.record.spec.policy.game.name).formats()
    reached = features(file)
    for name, form in formats.by_name.items() if formats else ():
        converted = Path(f"converted{form.ending}")
        yield f"convert {name}", printed("convert", GAME, "--to", name, "-o", str(converted))
        if converted.exists():
            reached.add(f"format: {name}")
            yield f"converted {name}", converted.read_bytes().decode("latin-1")
            yield f"show {name}", printed("show", str(converted))
            yield f"verify {name}", printed("verify", str(converted))
            converted.unlink()
    yield "features", "\n".join(sorted(reached))


# --- what a record reaches -------------------------------------------------------------------------------------------

Of = Callable[[GameRecord], object]

CONDITIONS: Mapping[str, Of] = {
    "agents ponder": lambda record: record.spec.policy.clock.ponder,
    "boxes are reused": lambda record: record.spec.policy.box.reuse != "never",
    "an opening is given": lambda record: record.spec.opening,
    "the seed is secret": lambda record: isinstance(record.spec.seed, str),
    "folders are kept": lambda record: any(seat.folders for seat in record.spec.seats),
    "an agent has notes": lambda record: any(seat.notes for seat in record.seats),
    "a search is reported": lambda record: any(ply.search for ply in record.plies),
    "the memory of plies": lambda record: any(ply.memory_bytes for ply in record.plies),
    "the host failed after the game": lambda record: record.unclosed,
    "a box lingered": lambda record: any(seat.lingered_ms for seat in record.seats),
    "both seats at fault": lambda record: all(seat.fault for seat in record.seats),
    "no ply": lambda record: not record.plies,
    "a draw": lambda record: record.verdict is Verdict.DRAW,
}


def row_labels() -> dict[str, BlameRow]:
    """The rows of the blame table by what a record that reaches them has."""
    return {f"blame: {row.name}": row for row in blame.TABLE}


CONTROL_PARTS: Mapping[str, Callable[[TimeControl], object]] = {
    "main_ms": lambda control: control.main_ms,
    "moves": lambda control: any(each.answers for each in control.periods),
    "increment_ms": lambda control: any(each.increment_ms for each in control.periods),
    "delay_ms": lambda control: any(each.delay_ms for each in control.periods),
    "period_ms": lambda control: control.byo_yomi,
    "periods": lambda control: control.byo_yomi and control.byo_yomi.periods,
    "period_moves": lambda control: control.byo_yomi and control.byo_yomi.answers,
    "turn_ms": lambda control: control.turn_ms,
}


def features(file: RecordFile) -> set[str]:
    """What a record reaches in the judge."""
    spec, seats = file.record.spec, file.record.seats
    game, controls = spec.policy.game, spec.policy.clock.controls if spec.policy.clock.control else ()
    options = [(seat.protocol, seat.protocol_options) for seat in spec.seats] + [*spec.policy.protocol.items()]
    return {
        f"game: {game.name}",
        f"options: {game_options(game)}",
        f"policy: {spec.policy.name}",
        f"verdict: {file.record.verdict}",
        *(f"fault: {game.name}, {seat.fault}" for seat in seats if seat.fault),
        *(f"protocol: {seat.protocol}" for seat in spec.seats),
        f"protocols: {game.name}, {spec.seats[0].protocol}, {spec.seats[1].protocol}",
        *(f"dialect: {name}, {key} = {value}" for name, values in options for key, value in values.items()),
        *(f"control: {key}" for control in controls for key, is_used in CONTROL_PARTS.items() if is_used(control)),
        *(f"entry: {kind.name}" for block in file.transcript.blocks for _, _, kind, _ in block.entries),
        *(f"evidence: {key}" for seat in seats for key, value in seat.evidence or () if value not in (None, "")),
        *(f"condition: {name}" for name, holds in CONDITIONS.items() if holds(file.record)),
        *_blame(file),
    }


def game_options(game: GameChoice) -> str:
    return f"{game.name} {json.dumps(game.options, sort_keys=True)}"


def _blame(file: RecordFile) -> list[str]:
    """The causes and the rows of the blame table that a verification reaches."""
    reached: list[str] = []
    labels = row_labels()

    class Causes(frozenset[Cause]):
        """Of a first row that never applies."""

        def __contains__(self, cause: object) -> bool:
            reached.append(f"cause: {cause}")
            return False

    def noted(label: str, row: BlameRow) -> BlameRow:
        def because(evidence: Evidence) -> str:
            reached.append(label)
            return row.because(evidence)

        return replace(row, because=because)

    first = replace(blame.TABLE[0], causes=Causes())
    with patch.object(blame, "TABLE", (first, *(noted(*each) for each in labels.items()))):
        verify_record(file)
    if file.record.verdict is Verdict.VOID and not reached:
        cause = Cause.JUDGE if "this is a bug in judge" in file.record.reason else Cause.HOST
        reached += [f"cause: {cause}", *(label for label, row in labels.items() if row.causes == {cause})]
    return reached


NOT_REACHED = {"blame: kernel-memory-event", "evidence: detail"}
"""An earlier row applies to a reading above the kernel's limit. Only a void without a seat has a detail."""


def wanted() -> set[str]:
    """What the records and their texts have to reach, by the lists of the code."""
    formats = [
        form for name in _own_names("judge.games") if (found := game_entry(name).formats()) for form in found.by_name
    ]
    return wanted_features() | {f"format: {name}" for name in formats}


def wanted_features() -> set[str]:
    """What the records have to reach."""
    policies = [
        name + variant for name in policy_names() for variant in ("", *(f":{each}" for each in variants_of(name)))
    ]
    return {
        *row_labels(),
        *(f"cause: {cause}" for cause in Cause),
        *(f"game: {name}" for name in _own_names("judge.games")),
        *(f"protocol: {name}" for name in _own_names("judge.protocols")),
        *(f"policy: {name}" for name in policy_names()),
        *(f"options: {game_options(load_policy(name).game)}" for name in policies),
        *(f"verdict: {verdict}" for verdict in Verdict),
        *(f"control: {name}" for name in CONTROL_PARTS),
        *(f"entry: {kind.name}" for kind in EntryKind),
        *(f"evidence: {name}" for name, field in Evidence.model_fields.items() if not field.exclude),
        *(f"condition: {name}" for name in CONDITIONS),
    } - NOT_REACHED


# --- answers of the API as JSON --------------------------------------------------------------------------------------


def _step_lines(steps: Sequence[ReplayStep], head: object) -> Iterator[str]:
    """The first and the last step whole; the others with the tokens that changed."""
    yield json.dumps(head)
    for number, step in enumerate(steps):
        line = plain(step)
        if 0 < number < len(steps) - 1:
            before = plain(steps[number - 1].view.tokens)
            tokens = line["view"]["tokens"]
            line["view"] = {
                "caption": step.view.caption,
                "marks": line["view"]["marks"],
                "gone": [at for at in before if at not in tokens],
                "tokens": {at: token for at, token in tokens.items() if before.get(at) != token},
            }
        yield json.dumps(line)


def plain(value: Any) -> Any:
    """A value of the API as JSON has it."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value) if each.repr}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, frozenset):
        return sorted(map(plain, value))
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def _own_names(group: str) -> list[str]:
    return [point.name for point in entry_points(group=group) if point.value.startswith("judge.")]
