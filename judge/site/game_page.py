"""The page of a game, made only from its public record."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Any, Self

from markupsafe import Markup
from markupsafe import escape as escape_markup

from judge.base.text import clock_text, count_text, duration, mib, number, plain_text
from judge.contest_games import PublishedGame
from judge.contest_view.values import Stream
from judge.contest_view.view import ContestView
from judge.formats.search_figures import SearchFigures, search_figures
from judge.formats.steps import Stepped
from judge.formats.views import BoardView, Surface, Token, numbered
from judge.games.types import SEATS
from judge.record.spec import GameRecord, score_text
from judge.referee.blame import fix_of
from judge.render.board import draw_card
from judge.render.svg_player import write_film
from judge.site.pages import HERE, PagePlace, picture, render, short_name
from judge.site.plots import plots_of
from judge.site.rules import time_words
from judge.translations.language import Language

SWATCHES = {Surface.LINES: ("dark", "light"), Surface.SQUARES: ("red", "blue"), Surface.CHEQUERED: ("light", "dark")}

TEMPLATE = "game.html"

NOTHING: Mapping[str, Any] = {}

MAX_NOTES = 20

MAX_NAME_CHARACTERS, MAX_MOVE_CHARACTERS = 20, 60
"""In the list of moves."""

MAX_MESSAGES_CHARACTERS = 160
"""Bytes of an agent's messages for one answer."""

ALL_MESSAGES, LEAST_MESSAGES = 12_000, 40
"""Bytes of all messages, and the minimum share of a move; below it messages are omitted."""


@dataclass(frozen=True, slots=True)
class GamePageContext:
    """Contest data on a game's page. `agents` are the stems of the agents' pages by seat, `before` and `after` those of
    the neighbouring games.

    With the site's `address`, such as `https://example.org/cup/`, links get a preview picture.
    """

    contest: str
    game: PublishedGame
    agents: tuple[str, str]
    before: str = ""
    after: str = ""
    address: str = ""
    stream: Stream | None = None
    languages: Sequence[str] = ("en",)
    stage: str = ""
    above: str = ""
    titles: tuple[str, str] = ("", "")
    """Display names."""
    has_rounds: bool = True
    excluded: str = ""
    """Display name of the agent because of which the game does not count."""
    is_withdrawn: bool = False
    event: str = ""
    """The contest's name, for files of games; `contest` is its title."""

    @classmethod
    def of(cls, contest: ContestView, game: PublishedGame, before: str, after: str) -> Self:
        agents = contest.by_name[game.first], contest.by_name[game.second]
        excluded = contest.exclusion(game)
        return cls(
            contest.snapshot.shown_name,
            game,
            (agents[0].stem, agents[1].stem),
            before,
            after,
            stream=contest.stream,
            stage=contest.stage_of(game),
            titles=(agents[0].title, agents[1].title),
            has_rounds=contest.has_rounds,
            excluded="" if excluded is None else excluded.title,
            is_withdrawn=excluded is not None and bool(excluded.withdrawn),
            event=contest.name,
        )


def game_picture(replay: Stepped, record: GameRecord, context: GamePageContext) -> bytes:
    """The last position as PNG. Raises InputError without Pillow."""
    from judge.render.gif import write_png

    scores = score_text(record.verdict, record.winner, "\n").split("\n")
    first, second = map(short_name, replay.titled(context.titles).names)
    card = draw_card(replay.steps[-1].view, (first, second), (scores[0], scores[-1]), short_name(context.contest))
    return write_png(card)


def large_record_page(place: PagePlace, context: GamePageContext, record_bytes: int, record: str = "") -> bytes:
    """Replaces the page of a large record; `record` is the address of the download."""
    values = {
        "here": "",
        "contest_name": context.contest,
        "has_rounds": context.has_rounds,
        "game": context.game,
        "size": mib(record_bytes, ""),
        "record": record or f"{place.top}{context.game.record_path}",
    }
    return render("large_record.html", place, values)


def game_pages(
    replay: Stepped,
    record: GameRecord,
    context: GamePageContext,
    places: Sequence[PagePlace],
    template: str = TEMPLATE,
    more: Mapping[str, Any] = NOTHING,
    package: str = HERE,
) -> Iterator[bytes]:
    """The page for each place; parts without text are computed once.

    `template` of `package` extends the page's template and shows the values `more`.
    """
    replay = replay.titled(context.titles)
    names = (short_name(replay.names[0]), short_name(replay.names[1]))
    figures = [search_figures(step.search, step.messages, step.ms) for step in replay.steps]
    film = write_film([step.view for step in replay.steps], " - ".join(names))
    view = replay.steps[-1].view
    columns = _columns(replay, figures)
    rows = _MoveRows(replay, figures, columns)
    values = {
        "here": "",
        "contest_name": context.contest,
        "game": context.game,
        "record_path": context.game.record_path,
        "stage": context.stage,
        "has_rounds": context.has_rounds,
        "excluded": context.excluded,
        "is_withdrawn": context.is_withdrawn,
        "before": context.before,
        "after": context.after,
        "agents": context.agents,
        "names": names,
        "score": score_text(record.verdict, record.winner),
        "outcome": record.outcome(names),
        "problem": replay.problem,
        "sides": [
            {"name": replay.names[view.seats[side]], "word": view.sides[side], "kind": SWATCHES[view.surface][side]}
            for side in SEATS
        ],
        "film": picture(film.svg),
        "columns_of_board": view.columns,
        "last": len(replay.steps) - 1,
        "columns": columns,
        "plots": plots_of(replay.steps, figures),
    }
    for place in places:
        language = place.language
        in_language = {
            "address": context.address,
            "above": context.above,
            "painted": {name: _token_words(token, view, language) for name, token in film.painted.items()},
            "board": _board(view, language),
            "moves": rows.written(language),
            "facts": _facts(record, context.game, language, has_rounds=context.has_rounds),
            "technical": _technical(record, context.game, language),
            "seats": [{**_seat(record, seat, language), "name": replay.names[seat]} for seat in SEATS],
        }
        yield render(template, place, {**values, **in_language, **more}, context.stream, package)


def _token_words(token: Token, view: BoardView, language: Language) -> str:
    faces = token.faces if token.shows is None else (token.faces[token.shows],)
    between = language.gettext(" or ")
    words = [view.sides[token.side], *(face.name for face in faces)]
    side, *names = map(language.word, words)
    return f"{side} {between.join(names)}".rstrip()


@lru_cache(maxsize=8192)
def _html(text: str) -> str:
    return str(escape_markup(plain_text(text)))


def _board(view: BoardView, language: Language) -> Markup:
    known: dict[object, str] = {}
    cells = {}
    for square, token in view.tokens.items():
        kind = token.side, token.faces, token.shows
        words = known.get(kind)
        if words is None:
            words = known[kind] = _token_words(token, view, language)
        cells[square] = _html(f"{words} {token.number or ''}".rstrip())
    rows = []
    for y, name in enumerate(view.rows):
        row = "".join(f"<td>{cells.get((x, y), '')}" for x in range(len(view.columns)))
        rows.append(f'<tr><th scope="row">{_html(name)}</th>{row}</tr>\n')
    return picture("".join(rows))


def _columns(replay: Stepped, figures: Sequence[SearchFigures]) -> Mapping[str, bool]:
    return {
        "left": any(left is not None for step in replay.steps for left in step.left_ms),
        "memory": any(step.memory_bytes is not None for step in replay.steps),
        "evaluation": any(figure.evaluation is not None for figure in figures),
        "depth": any(figure.depth is not None for figure in figures),
        "nodes": any(figure.nodes is not None for figure in figures),
        "messages": bool(room_for_messages(len(replay.steps)))
        and any(step.search or step.messages for step in replay.steps),
    }


class _MoveRows:
    def __init__(self, replay: Stepped, figures: Sequence[SearchFigures], columns: Mapping[str, bool]) -> None:
        self._parts: list[str] = []
        """Alternates HTML and measures to translate."""
        self._html: list[str] = []
        room = room_for_messages(len(replay.steps))
        names = [_html(plain_text(name, MAX_NAME_CHARACTERS)) for name in replay.names]
        for at, (step, figure) in enumerate(zip(replay.steps, figures, strict=True)):
            if step.seat is None:
                continue
            caption = step.view.caption
            said = caption if caption and caption != replay.steps[at - 1].view.caption else step.said
            _, said = numbered(said)
            # Optional HTML tags are omitted: a game has up to hundreds of rows.
            self._html.append(
                f'<tr id="{at}" class=s{step.seat}><td><a href="#{at}">{replay.number_of(at)}</a>'
                f"<td>{names[step.seat]}<td>{_html(plain_text(said, MAX_MOVE_CHARACTERS))}"
            )
            self._measure("" if step.ms is None else duration(step.ms))
            if columns["left"]:
                left = step.left_ms[step.seat]
                self._measure("" if left is None else clock_text(left))
            if columns["memory"]:
                self._measure(mib(step.memory_bytes, ""))
            if columns["evaluation"]:
                self._measure(_evaluation(figure))
            if columns["depth"]:
                self._html.append(f"<td>{'' if figure.depth is None else number(figure.depth, 0)}")
            if columns["nodes"]:
                self._measure("" if figure.nodes is None else count_text(figure.nodes))
            if columns["messages"]:
                search = " · ".join(f"{key} {value}" for key, value in step.search.items())
                message = fitted(" · ".join(words for words in (search, *step.messages[:3]) if words), room)
                self._html.append(f"<td>{_html(message)}")
            self._html.append("\n")
        self._parts.append("".join(self._html))

    def _measure(self, text: str) -> None:
        """Add a cell."""
        self._parts += ["".join([*self._html, "<td>"]), text]
        self._html = []

    def written(self, language: Language) -> Markup:
        parts = self._parts.copy()
        parts[1::2] = [_html(language.measure(text)) for text in parts[1::2]]
        return picture("".join(parts))


def _evaluation(figure: SearchFigures) -> str:
    if figure.evaluation is None:
        return ""
    if math.isinf(figure.evaluation):
        return "∞" if figure.evaluation > 0 else "\N{MINUS SIGN}∞"
    return number(figure.evaluation, 2)


def room_for_messages(steps: int) -> int:
    """Maximum bytes of a move's messages in a game of `steps` moves."""
    share = ALL_MESSAGES // max(1, steps)
    return min(MAX_MESSAGES_CHARACTERS, share) if share >= LEAST_MESSAGES else 0


def fitted(text: str, room: int) -> str:
    """`text`, cut to about `room` bytes of HTML."""
    if not room:
        return ""
    shown = plain_text(text, room)
    while len(escape(shown).encode()) > room + 2:
        shown = plain_text(shown, len(shown) * 3 // 4)
    return shown


def _facts(
    record: GameRecord, game: PublishedGame, language: Language, *, has_rounds: bool
) -> Sequence[tuple[str, str]]:
    _ = language.gettext
    has_round, clock = has_rounds and game.round, record.spec.policy.clock
    round_and_table = _("{round}, table {table}").format(round=game.round, table=game.table) if has_round else ""
    moves, set_moves = len(record.plies), record.spec.opening_moves
    moves_text = _("{moves} after an opening of {opening}").format(moves=moves, opening=set_moves)
    facts = [
        (_("Round"), round_and_table),
        (_("Policy"), record.spec.policy.name),
        (_("Moves"), moves_text if set_moves else str(moves)),
        (_("Time"), time_words(clock, {}, language) if len({*clock.controls}) > 1 else ""),
        (_("Started"), f"{record.started_at[:19].replace('T', ' ')} UTC"),
        (_("Duration"), language.measure(duration(record.seconds * 1000))),
    ]
    return [fact for fact in facts if fact[1]]


def _technical(record: GameRecord, game: PublishedGame, language: Language) -> Sequence[tuple[str, str, bool]]:
    _ = language.gettext
    facts = [
        (_("Result line"), record.result, False),
        (_("Attempt"), str(record.attempt), False),
        (_("Box"), _(" and ").join(dict.fromkeys(record.placement.box)), False),
        (_("Random seed"), str(record.spec.seed), True),
        (_("Game ID"), game.id, True),
        (_("Transcript"), record.transcript_sha256, True),
    ]
    return [fact for fact in facts if fact[1]]


def _seat(record: GameRecord, number: int, language: Language) -> Mapping[str, Any]:
    seat = record.seats[number]
    return {
        "replies": sum(ply.seat == number for ply in record.plies),
        "charged": language.measure(clock_text(seat.charged_ms)),
        "cpu": "" if seat.cpu_ms is None else language.measure(duration(seat.cpu_ms)),
        "memory": language.measure(mib(seat.memory_peak_bytes, "")),
        "fault": "" if seat.fault is None else seat.fault.value,
        "why": seat.why,
        "fix": "" if seat.fault is None else fix_of(seat.fault),
        "notes": seat.notes[:MAX_NOTES],
    }
