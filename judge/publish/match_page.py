"""The page of one match, from its public record alone: nothing that is withheld can get onto it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge.catalog.steps import steps_of
from judge.games.types import SEATS
from judge.publish.charts import clock_chart
from judge.publish.model import PublishedMatch
from judge.publish.pages import picture, render, short_name
from judge.records.outcome import outcome_sentence, score_text
from judge.records.steps import Stepped
from judge.records.views import Surface
from judge.referee.spec import MatchRecord, RecordFile
from judge.render.svg_player import write_film
from judge.text import duration, mib

_SWATCHES = {Surface.LINES: ("dark", "light"), Surface.SQUARES: ("red", "blue"), Surface.CHEQUERED: ("light", "dark")}
"""The colours of sides 0 and 1 on a board."""

MOST_NOTES = 50


@dataclass(frozen=True, slots=True)
class MatchContext:
    """What the page of a match shows of the contest: its name, the schedule's row, and the pages to link to.

    `agents` are the stems of the agents' pages by seat; `before` and `after` are those of the neighbouring matches.
    """

    contest: str
    match: PublishedMatch
    agents: tuple[str, str]
    before: str = ""
    after: str = ""


def match_page(file: RecordFile, context: MatchContext) -> bytes:
    """The page; raises InputError if the record's transcript is broken."""
    record = file.record
    replay = steps_of(file)
    names = (short_name(record.seats[0].name), short_name(record.seats[1].name))
    values = {
        "here": "",
        "contest_name": context.contest,
        "match": context.match,
        "before": context.before,
        "after": context.after,
        "agents": context.agents,
        "names": names,
        "score": score_text(record.verdict, record.winner),
        "outcome": outcome_sentence(record.verdict, record.winner, names, record.reason),
        "problem": replay.problem,
        "sides": _sides(replay),
        "film": picture(write_film([step.view for step in replay.steps], " - ".join(names))),
        "last": len(replay.steps) - 1,
        "moves": _moves(replay),
        "has_left": any(left is not None for step in replay.steps for left in step.left_ms),
        "clocks": clock_chart(replay.steps),
        "facts": _facts(record, context.match),
        "seats": [_seat(record, seat) for seat in SEATS],
    }
    return render("match.html", "../", values)


def _sides(replay: Stepped) -> Sequence[Mapping[str, str]]:
    view = replay.steps[-1].view
    return [
        {"name": replay.names[view.seats[side]], "word": view.sides[side], "kind": _SWATCHES[view.surface][side]}
        for side in SEATS
    ]


def _moves(replay: Stepped) -> Sequence[Mapping[str, Any]]:
    moves = []
    for number, step in enumerate(replay.steps):
        if step.seat is None:
            continue
        left = step.left_ms[step.seat]
        search = " · ".join(f"{key} {value}" for key, value in step.search.items())
        moves.append(
            {
                "number": number,
                "seat": step.seat,
                "name": replay.names[step.seat],
                "said": step.said,
                "time": "" if step.ms is None else duration(step.ms),
                "left": "" if left is None else duration(left),
                "search": [words for words in (search, *step.messages[:3]) if words],
            }
        )
    return moves


def _facts(record: MatchRecord, match: PublishedMatch) -> Sequence[tuple[str, str]]:
    facts = [
        ("Round", f"{match.round}, table {match.table}"),
        ("Policy", record.spec.policy.name),
        ("Result line", record.result),
        ("Moves", str(len(record.plies))),
        ("Started", record.started_at[:19].replace("T", " ")),
        ("Duration", duration(record.seconds * 1000)),
        ("Seed", str(record.spec.seed)),
        ("Attempt", str(record.attempt)),
        ("Box", " and ".join(dict.fromkeys(record.placement.box))),
        ("Match", match.id),
        ("Transcript", record.transcript_sha256),
    ]
    return [(name, value) for name, value in facts if value]


def _seat(record: MatchRecord, number: int) -> Mapping[str, Any]:
    seat = record.seats[number]
    return {
        "name": seat.name,
        "replies": sum(ply.seat == number for ply in record.plies),
        "charged": duration(seat.charged_ms),
        "cpu": "" if seat.cpu_ms is None else duration(seat.cpu_ms),
        "memory": mib(seat.memory_peak_bytes, ""),
        "fault": "" if seat.fault is None else seat.fault.value,
        "why": seat.why,
        "notes": seat.notes[:MOST_NOTES],
    }
