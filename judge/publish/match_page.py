"""The page of one game, from its public record alone: what is withheld from everybody cannot stand on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge.catalog.steps import steps_of
from judge.games.types import SEATS
from judge.publish.charts import clock_chart
from judge.publish.formatting import LONGEST_NAME, plain
from judge.publish.pages import picture, render
from judge.publish.publication import Uncounted
from judge.records.outcome import score_text
from judge.records.steps import ReplayStep, Stepped
from judge.records.views import Surface
from judge.referee.spec import MatchRecord, RecordFile
from judge.render.svg_player import write_film
from judge.text import duration, mib

_SWATCHES = {Surface.LINES: ("dark", "light"), Surface.SQUARES: ("red", "blue"), Surface.CHEQUERED: ("light", "dark")}
"""How the board's painter colours side 0 and side 1."""

MOST_NOTES = 50


@dataclass(frozen=True, slots=True)
class Frame:
    """What a game's page has to know of the contest: how it is named there, and its neighbours' pages."""

    contest: str
    number: int
    stem: str
    match: str
    round: int
    table: int
    pages: tuple[str, str]
    """The pages of the agents in seat 0 and seat 1, without ending."""
    before: str = ""
    after: str = ""
    uncounted: tuple[Uncounted, ...] = ()


def game_page(file: RecordFile, frame: Frame) -> bytes:
    """The page; InputError where the record's transcript is broken."""
    record = file.record
    game = steps_of(file)
    names = (record.seats[0].name, record.seats[1].name)
    title = " - ".join(plain(name, LONGEST_NAME) for name in names)
    has_left = any(left is not None for step in game.steps for left in step.left_ms)
    return render(
        "game.html",
        "../",
        {
            "here": "",
            "contest": frame.contest,
            "number": frame.number,
            "stem": frame.stem,
            "before": frame.before,
            "after": frame.after,
            "pages": frame.pages,
            "uncounted": frame.uncounted,
            "names": names,
            "outcome": score_text(record.verdict, record.winner),
            "verdict": record.verdict.value,
            "result": _result(record),
            "problem": game.problem,
            "sides": _sides(game),
            "film": picture(write_film([step.view for step in game.steps], title)),
            "last": len(game.steps) - 1,
            "moves": _moves(game),
            "has_left": has_left,
            "clocks": clock_chart(game.steps),
            "facts": _facts(record, frame),
            "seats": [_seat(record, seat) for seat in SEATS],
        },
    )


def _result(record: MatchRecord) -> str:
    if record.winner is None:
        return record.reason
    return f"{plain(record.seats[record.winner].name, LONGEST_NAME)} wins: {record.reason}"


def _sides(game: Stepped) -> Sequence[Mapping[str, str]]:
    view = game.steps[-1].view
    return [
        {"name": game.names[view.seats[side]], "word": view.sides[side], "kind": _SWATCHES[view.surface][side]}
        for side in SEATS
    ]


def _moves(game: Stepped) -> Sequence[Mapping[str, Any]]:
    return [_move(game, number, step, step.seat) for number, step in enumerate(game.steps) if step.seat is not None]


def _move(game: Stepped, number: int, step: ReplayStep, seat: int) -> Mapping[str, Any]:
    left = step.left_ms[seat]
    search = " · ".join(f"{key} {value}" for key, value in step.search.items())
    return {
        "number": number,
        "seat": seat,
        "name": game.names[seat],
        "said": step.said,
        "time": "" if step.ms is None else duration(step.ms),
        "left": "" if left is None else duration(left),
        "search": [words for words in (search, *step.messages[:3]) if words],
    }


def _facts(record: MatchRecord, frame: Frame) -> Sequence[tuple[str, str]]:
    facts = [
        ("Round", f"{frame.round}, table {frame.table}"),
        ("Policy", record.spec.policy.name),
        ("Result line", record.result),
        ("Moves", str(len(record.plies))),
        ("Started", record.started_at[:19].replace("T", " ")),
        ("Took", duration(record.seconds * 1000)),
        ("Seed", str(record.spec.seed)),
        ("Attempt", str(record.attempt)),
        ("Box", " and ".join(dict.fromkeys(record.placement.box))),
        ("Match", frame.match),
        ("Transcript", record.transcript_sha256),
    ]
    return [(name, value) for name, value in facts if value]


def _seat(record: MatchRecord, seat: int) -> Mapping[str, Any]:
    sat = record.seats[seat]
    peak = sat.memory_peak_bytes
    return {
        "name": sat.name,
        "replies": sum(ply.seat == seat for ply in record.plies),
        "charged": duration(sat.charged_ms),
        "cpu": "" if sat.cpu_ms is None else duration(sat.cpu_ms),
        "memory": mib(peak, ""),
        "fault": "" if sat.fault is None else sat.fault.value,
        "why": sat.why,
        "notes": sat.notes[:MOST_NOTES],
    }
