"""Games of Go in SGF (FF[4], GM[1]).

A move has the time spent as the comment `[1520ms]` and the remaining time as BL or WL, in seconds. RE has the result,
GC the reason. RU is `Chinese`: area scoring, positional superko, no suicide.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from judge.base.errors import InputError
from judge.base.text import one_line
from judge.formats.sgf import SgfNode, escape, looks_like_sgf, read_collection, write_node
from judge.formats.steps import ReplayStep, Stepped
from judge.formats.views import BoardView
from judge.games.types import Verdict
from judge.protocols.time_control import Period, TimeControl
from judge_go.board import BLACK, COLOURS, MAX_SIZE, WHITE, Board, Point, vertex
from judge_go.positions import Moved, Position, position_of_sgf, sgf_point
from judge_go.rules import Go

_GO = re.compile(rb"GM\s*\[\s*1\s*\]")
_GAME = re.compile(rb"\bGM\s*\[")
_KOMI = re.compile(rb"\b(?:KM|HA)\s*\[")
_SIZE = re.compile(r"[0-9]{1,2}", re.ASCII)
_TIME = re.compile(r"([0-9]{1,9})ms", re.ASCII)
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", re.ASCII)
_NAMES = ("B", "W")

Numbers = Mapping[Point, int]
"""The number of the last move at a point."""


@dataclass(frozen=True, slots=True)
class SgfTime:
    """Times of a move in milliseconds, if known."""

    spent_ms: int | None = None
    left_ms: int | None = None


@dataclass(frozen=True, slots=True)
class GoSgf:
    """A game: root properties as text, the position and moves, and a time for each move."""

    tags: dict[str, str]
    size: int
    position: Position
    times: tuple[SgfTime, ...] = field(default=())


def sgf_of_record(replay: Stepped) -> GoSgf:
    """A record's game. Raises InputError for another game or a contradiction to the rules."""
    record, game = replay.record_and_game(Go, "Go")
    options, clock = game.options, record.spec.policy.clock
    tags = {
        "RU": "Chinese",
        "KM": f"{options.komi:g}",
        "HA": str(options.handicap) if options.handicap else "",
        **_times(clock.controls),
        "PB": record.seats[0].name,
        "PW": record.seats[1].name,
        "EV": record.spec.policy.name,
        "RO": str(record.spec.number + 1),
        "DT": record.started_at[:10],
        "PC": record.placement.host or "",
        "RE": "Void" if record.verdict is Verdict.VOID else game.result(("", "")),
        "GC": record.reason,
    }
    times = [SgfTime()] * game.opening_moves
    # The last answer of a game that ends by a fault has no move.
    played = game.moves[game.opening_moves :]
    for step, ms, _ in zip(replay.steps[1:], replay.charged_ms, played, strict=False):
        times.append(SgfTime(round(ms), step.clock_ms))
    to_move = game.moves[0][0] if game.moves else game.pending().seat
    return GoSgf(_filled(tags), game.size, Position(game.stones, to_move, tuple(game.moves)), tuple(times))


def _times(controls: tuple[TimeControl, TimeControl]) -> dict[str, str]:
    """The main time, and overtime in the words of other programs. SGF has one time for both players."""
    control = controls[0]
    if control != controls[1]:
        return {"OT": f"black {controls[0]}, white {controls[1]}"}
    if not control.periods:
        return {"TM": "", "OT": ""}
    first, byo_yomi, overtime = control.periods[0], control.overtime(0), ""
    bonus = first.increment_ms or first.delay_ms
    if byo_yomi is not None:
        overtime = f"{byo_yomi} {'Canadian' if byo_yomi.answers else 'byo-yomi'}"
    elif first.answers:
        overtime = f"{control} (moves/seconds)"
    elif bonus:
        overtime = f"{Period(bonus)} {'fischer' if first.increment_ms else 'delay'}"
    return {"TM": str(Period(first.time_ms)), "OT": overtime}


def _filled(tags: dict[str, str]) -> dict[str, str]:
    return {name: one_line(value) for name, value in tags.items() if value}


def write_sgf(game: GoSgf) -> bytes:
    """Write one game; concatenated games form a collection."""
    position = game.position
    stones = [[sgf_point(point) for each, point in position.stones if each == colour] for colour in (BLACK, WHITE)]
    root = {
        "FF": "4",
        "GM": "1",
        "CA": "UTF-8",
        "AP": "judge",
        "SZ": str(game.size),
        **{name: escape(value) for name, value in game.tags.items()},
        "AB": stones[BLACK],
        "AW": stones[WHITE],
        "PL": "BW"[position.to_move] if position.stones else None,
    }
    nodes = [write_node(root)]
    times = [*game.times, *[SgfTime()] * (len(position.moves) - len(game.times))]
    for (colour, point), time in zip(position.moves, times, strict=True):
        left = None if time.left_ms is None else f"{time.left_ms / 1000:.3f}"
        spent = None if time.spent_ms is None else f"{time.spent_ms}ms"
        nodes.append(write_node({"BW"[colour]: sgf_point(point), f"{'BW'[colour]}L": left, "C": spent}))
    text = "\n".join(nodes)
    return f"({text})\n".encode()


def looks_like_go(data: bytes) -> bool:
    """Whether the text has a game of Go: one that names it, or that has a komi or a handicap and names no game."""
    names_go = _GO.search(data) or (_KOMI.search(data) and not _GAME.search(data))
    return looks_like_sgf(data) and names_go is not None


def read_sgf(data: bytes, source: str) -> Sequence[GoSgf]:
    """Read the main lines of a collection. Raises InputError with the line."""
    games = [_game(nodes, source) for nodes in read_collection(data, source)]
    if not games:
        raise InputError(f"{source}, line 1: no game; one begins such as (;GM[1]SZ[19]")
    return games


def _game(nodes: list[SgfNode], source: str) -> GoSgf:
    root = nodes[0]
    text = root.text("SZ") or "19"
    if not _SIZE.fullmatch(text) or not 1 <= int(text) <= MAX_SIZE:
        raise InputError(f"{source}, line {root.line('SZ')}: SZ[{text[:20]}] is no size; write 1 to {MAX_SIZE}")
    size = int(text)
    tags = {name: root.text(name) for name in root if name not in _OWN}
    times = [
        _time(node, name)
        for node in nodes
        for name in _NAMES
        if name in node
    ]  # fmt: skip
    return GoSgf(_filled(tags), size, position_of_sgf(nodes, size, source), tuple(times))


_OWN = {"FF", "GM", "CA", "AP", "SZ", "AB", "AW", "AE", "PL", "B", "W", "BL", "WL", "C"}


def _time(node: SgfNode, name: str) -> SgfTime:
    spent, left = _TIME.match(node.text("C")), node.text(f"{name}L")
    return SgfTime(int(spent[1]) if spent else None, round(float(left) * 1000) if _SECONDS.fullmatch(left) else None)


def steps_of_sgf(game: GoSgf, view: Callable[[Board, Numbers, int, Moved | None], BoardView]) -> Stepped:
    """Return a game for `judge show`. Raises InputError for a stone on another one."""
    board = Board(game.size)
    for colour, stone in game.position.stones:
        board.play(stone, colour)
    steps = [ReplayStep(view(board, {}, 0, None))]
    left: list[int | None] = [None, None]
    numbers: dict[Point, int] = {}
    times = [*game.times, *[SgfTime()] * (len(game.position.moves) - len(game.times))]
    for number, ((colour, point), time) in enumerate(zip(game.position.moves, times, strict=True), 1):
        name = vertex(point, game.size)
        if point is not None and not board.is_empty(point):
            raise InputError(f"move {number}, {COLOURS[colour]} {name}: there is a stone; correct the SGF")
        if point is not None:
            board.play(point, colour)
            numbers[point] = number
        left[colour] = time.left_ms if time.left_ms is not None else left[colour]
        steps.append(
            ReplayStep(
                view(board, numbers, number, (colour, point)), colour, name, time.spent_ms, left_ms=(left[0], left[1])
            )
        )
    names = (game.tags.get("PB", "?"), game.tags.get("PW", "?"))
    return Stepped(game.tags.get("EV", "Go"), names, steps, game.tags.get("RE", "?"))
