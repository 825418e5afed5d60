"""The page of one match, from its public record alone: nothing that is withheld can get onto it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from judge.games.types import SEATS
from judge.publish.model import PublishedMatch, Stream
from judge.publish.pages import picture, render, short_name
from judge.publish.plots import plots_of
from judge.records.outcome import outcome_sentence, score_text
from judge.records.search_figures import SearchFigures, search_figures
from judge.records.steps import ReplayStep, Stepped
from judge.records.views import BoardView, Surface, Token
from judge.referee.spec import MatchRecord
from judge.render.card import draw_card
from judge.render.svg_player import write_film
from judge.text import count_text, duration, mib, number, plain_text

_SWATCHES = {Surface.LINES: ("dark", "light"), Surface.SQUARES: ("red", "blue"), Surface.CHEQUERED: ("light", "dark")}
"""The colours of sides 0 and 1 on a board."""

MOST_NOTES = 20

LONGEST_MESSAGES = 160
"""Bytes of what an agent said beside an answer, as the page has them."""

ALL_MESSAGES = 12_000
"""Bytes of all of them: what the moves of a long game share."""


@dataclass(frozen=True, slots=True)
class MatchContext:
    """What the page of a match shows of the contest: its name, the schedule's row, and the pages to link to.

    `agents` are the stems of the agents' pages by seat; `before` and `after` are those of the neighbouring matches.
    `address` is that of the site, such as `https://example.org/cup/`, empty if it is not known. `has_picture`: there is
    a picture of the last position for links to the page.
    """

    contest: str
    match: PublishedMatch
    agents: tuple[str, str]
    before: str = ""
    after: str = ""
    address: str = ""
    has_picture: bool = False
    stream: Stream | None = None


def match_picture(replay: Stepped, record: MatchRecord, contest: str) -> bytes:
    """The picture of the last position as PNG; raises InputError without Pillow."""
    from judge.render.gif import write_png

    scores = score_text(record.verdict, record.winner, "\n").split("\n")
    names = (short_name(record.seats[0].name), short_name(record.seats[1].name))
    return write_png(draw_card(replay.steps[-1].view, names, (scores[0], scores[-1]), short_name(contest)))


def match_page(replay: Stepped, record: MatchRecord, context: MatchContext) -> bytes:
    """The page of a match that was replayed from its public record."""
    names = (short_name(record.seats[0].name), short_name(record.seats[1].name))
    figures = [search_figures(step.search, step.messages, step.ms) for step in replay.steps]
    film = write_film([step.view for step in replay.steps], " - ".join(names))
    view = replay.steps[-1].view
    values = {
        "here": "",
        "contest_name": context.contest,
        "match": context.match,
        "before": context.before,
        "after": context.after,
        "address": context.address or "../",
        "has_picture": context.has_picture,
        "agents": context.agents,
        "names": names,
        "score": score_text(record.verdict, record.winner),
        "outcome": outcome_sentence(record.verdict, record.winner, names, record.reason),
        "problem": replay.problem,
        "sides": _sides(replay),
        "film": picture(film.svg),
        "painted": {name: _token_words(token, view) for name, token in film.painted.items()},
        "board": _board(view),
        "columns_of_board": view.columns,
        "last": len(replay.steps) - 1,
        "moves": _moves(replay, figures),
        "columns": _columns(replay, figures),
        "plots": plots_of(replay.steps, figures),
        "facts": _facts(record, context.match),
        "seats": [_seat(record, seat) for seat in SEATS],
    }
    return render("match.html", "../", values, context.stream)


def _token_words(token: Token, view: BoardView) -> str:
    """What a piece is, without the number of a stone: `black`, `white queen or knight`."""
    faces = token.faces if token.shows is None else (token.faces[token.shows],)
    return " ".join([view.sides[token.side], " or ".join(face.name for face in faces)]).rstrip()


def _board(view: BoardView) -> Sequence[tuple[str, Sequence[str]]]:
    """The rows of a position in words: the name of each and its squares, empty where nothing stands."""
    words = {
        square: f"{_token_words(token, view)} {token.number or ''}".rstrip() for square, token in view.tokens.items()
    }
    return [(row, [words.get((x, y), "") for x in range(len(view.columns))]) for y, row in enumerate(view.rows)]


def _sides(replay: Stepped) -> Sequence[Mapping[str, str]]:
    view = replay.steps[-1].view
    return [
        {"name": replay.names[view.seats[side]], "word": view.sides[side], "kind": _SWATCHES[view.surface][side]}
        for side in SEATS
    ]


def _columns(replay: Stepped, figures: Sequence[SearchFigures]) -> Mapping[str, bool]:
    """Which columns the list of moves has."""
    return {
        "left": any(left is not None for step in replay.steps for left in step.left_ms),
        "evaluation": any(figure.evaluation is not None for figure in figures),
        "depth": any(figure.depth is not None for figure in figures),
        "nodes": any(figure.nodes is not None for figure in figures),
        "messages": any(step.search or step.messages for step in replay.steps),
    }


def _moves(replay: Stepped, figures: Sequence[SearchFigures]) -> Sequence[Mapping[str, Any]]:
    moves = []
    room = min(LONGEST_MESSAGES, ALL_MESSAGES // len(replay.steps))
    for at, (step, figure) in enumerate(zip(replay.steps, figures, strict=True)):
        if step.seat is None:
            continue
        left = step.left_ms[step.seat]
        search = " · ".join(f"{key} {value}" for key, value in step.search.items())
        moves.append(
            {
                "number": at,
                "seat": step.seat,
                "name": replay.names[step.seat],
                "said": _notation(step, replay.steps[at - 1]),
                "time": "" if step.ms is None else duration(step.ms),
                "left": "" if left is None else duration(left),
                "evaluation": _evaluation_text(figure.evaluation),
                "depth": "" if figure.depth is None else number(figure.depth, 0),
                "nodes": "" if figure.nodes is None else count_text(figure.nodes),
                "messages": _fitted(" · ".join(words for words in (search, *step.messages[:3]) if words), room),
            }
        )
    return moves


def _notation(step: ReplayStep, before: ReplayStep) -> str:
    """An answer in the game's own words where it has some, else as it was said."""
    caption = step.view.caption
    return caption if caption and caption != before.view.caption else step.said


def _evaluation_text(evaluation: float | None) -> str:
    if evaluation is None:
        return ""
    if math.isinf(evaluation):
        return "∞" if evaluation > 0 else "\N{MINUS SIGN}∞"
    return number(evaluation, 2)


def _fitted(text: str, room: int) -> str:
    """`text`, cut so that it takes at most about `room` bytes of a page."""
    shown = plain_text(text, room)
    while len(escape(shown).encode()) > room + 2:
        shown = plain_text(shown, len(shown) * 3 // 4)
    return shown


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
