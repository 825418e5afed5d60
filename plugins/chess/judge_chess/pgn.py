"""Games in PGN: tags, and moves in algebraic notation.

Comments have the remaining time `[%clk]`, the time spent `[%emt]` and the score and depth `[%eval]`.
"""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import chess
import chess.engine
import chess.pgn

from judge.base.errors import InputError
from judge.base.text import one_line, quote
from judge.formats.steps import ReplayStep, Stepped
from judge.formats.views import BoardView
from judge.games.types import Verdict
from judge.protocols.time_control import TimeControl
from judge_chess.positions import read_game
from judge_chess.rules import Chess

MAX_GAMES = 100_000
MAX_DEPTH_DIGITS = 5
"""Of `[%eval]` in python-chess."""
_QUOTED = re.compile(r'["\\]')
_ESCAPED = re.compile(r'\\(["\\])')
_TERMINATIONS = {
    Verdict.TURN_TIME: "time forfeit",
    Verdict.MATCH_TIME: "time forfeit",
    Verdict.START_TIME: "time forfeit",
    Verdict.ILLEGAL: "rules infraction",
    Verdict.UNREADABLE: "rules infraction",
    Verdict.VOID: "unterminated",
    Verdict.WIN: "normal",
    Verdict.DRAW: "normal",
    Verdict.RESIGNED: "normal",
}


@dataclass(frozen=True, slots=True)
class PgnMove:
    """A move; times in milliseconds, the score in centipawns for white or as `#N`."""

    move: chess.Move
    spent_ms: float | None = None
    left_ms: int | None = None
    score: str = ""
    depth: int | None = None


@dataclass(frozen=True, slots=True)
class PgnGame:
    """A game: its tags and its moves from `board`."""

    tags: dict[str, str]
    board: chess.Board
    moves: tuple[PgnMove, ...] = field(default=())


def pgn_of_record(replay: Stepped, event: str = "", round_name: str = "") -> PgnGame:
    """A record's game. Raises InputError for another game or a contradiction to the rules."""
    record, game = replay.record_and_game(Chess, "chess")
    opening, played = game.board.move_stack[: game.opening_moves], game.board.move_stack[game.opening_moves :]
    moves = [PgnMove(move) for move in opening]
    # The last answer of a game that ends by a fault has no move.
    for step, ms, move in zip(replay.steps[1:], replay.charged_ms, played, strict=False):
        moves.append(PgnMove(move, ms, step.clock_ms, *_figures(step.search, is_white=step.seat == 0)))
    is_counted = record.verdict is not Verdict.VOID
    tags = {
        "Event": event or record.spec.policy.name,
        "Site": record.placement.host or "?",
        "Date": record.started_at[:10].replace("-", "."),
        "Round": round_name or str(record.spec.number + 1),
        "White": record.seats[0].name,
        "Black": record.seats[1].name,
        "Result": game.result(("", "")) if is_counted else "*",
    }
    if game.is_chess960:
        tags["Variant"] = "Chess960"
    white, black = map(_control_text, record.spec.policy.clock.controls)
    tags |= {"TimeControl": white} if white == black else {"WhiteTimeControl": white, "BlackTimeControl": black}
    tags["Termination"] = _TERMINATIONS.get(record.verdict, "abandoned")
    tags["Reason"] = record.reason
    return PgnGame(tags, game.board.root(), tuple(moves))


def _control_text(control: TimeControl) -> str:
    return str(replace(control, turn_ms=None)) or f"1/{TimeControl.of_game(control.turn_limit_ms, None)}"


def _figures(search: Mapping[str, str], *, is_white: bool) -> tuple[str, int | None]:
    score, depth = search.get("score", ""), search.get("depth", "")
    sign = 1 if is_white else -1
    if score[1:2] == "M":
        text = f"#{sign * int(score[0] + score[2:])}"
    else:
        text = str(round(sign * float(score) * 100)) if score else ""
    return text, int(depth) if depth.isdecimal() and len(depth) <= MAX_DEPTH_DIGITS else None


def write_pgn(game: PgnGame) -> bytes:
    """Write one game; concatenated games form a file."""
    root = chess.pgn.Game()
    root.setup(game.board)
    for name, value in game.tags.items():
        root.headers[name] = _QUOTED.sub(r"\\\g<0>", one_line(value)) or "?"
    node: chess.pgn.GameNode = root
    for played in game.moves:
        node = node.add_variation(played.move)
        turn = chess.WHITE
        if played.score.startswith("#"):
            node.set_eval(chess.engine.PovScore(chess.engine.Mate(int(played.score[1:])), turn), played.depth)
        elif played.score:
            node.set_eval(chess.engine.PovScore(chess.engine.Cp(int(played.score)), turn), played.depth)
        if played.left_ms is not None:
            node.set_clock(played.left_ms / 1000)
        if played.spent_ms is not None:
            node.set_emt(round(played.spent_ms) / 1000)
    return f"{root}\n\n".encode()


def looks_like_pgn(data: bytes) -> bool:
    """Whether the text begins with a game of legal moves.

    GomocupJudge writes `1. d4 d5` in games of five in a row.
    """
    head = _decode(data)
    if not head.lstrip().startswith("["):
        return False
    try:
        game = read_game(io.StringIO(head), "")
    except InputError:
        return False
    return game is not None and not game.errors and "Board" not in game.headers and game.end().ply() - game.ply() > 2


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        # The encoding of the PGN standard; a head of a file may also end within a character.
        return data.decode("latin-1")


def read_pgn(data: bytes, source: str) -> Sequence[PgnGame]:
    """Read the games of a file. Raises InputError naming the game and the illegal move."""
    stream = io.StringIO(_decode(data))
    games: list[PgnGame] = []
    while (game := read_game(stream, f"{source}, game {len(games) + 1}")) is not None:
        if game.errors:
            raise InputError(f"{source}, game {len(games) + 1}: {quote(str(game.errors[0]), 200)}")
        if len(games) == MAX_GAMES:
            raise InputError(f"{source}: more than {MAX_GAMES} games; split it")
        tags = {name: _ESCAPED.sub(r"\1", value) for name, value in game.headers.items()}
        try:
            games.append(PgnGame(tags, game.board(), tuple(map(_read_move, game.mainline()))))
        except ValueError as error:
            raise InputError(f"{source}, game {len(games) + 1}: {quote(str(error), 150)}; correct its times") from error
    if not games:
        raise InputError(f"{source}: no PGN game")
    return games


def _read_move(node: chess.pgn.ChildNode) -> PgnMove:
    left, spent = node.clock(), node.emt()
    # `node.eval()` walks to the first move for the colour, which the score does not need.
    root = chess.pgn.Game()
    root.comment = node.comment
    score = root.eval()
    text = ""
    if score is not None:
        white = score.white()
        text = f"#{white.mate()}" if white.is_mate() else str(white.score())
    return PgnMove(
        node.move,
        None if spent is None else spent * 1000,
        None if left is None else round(left * 1000),
        text,
        node.eval_depth(),
    )


def steps_of_pgn(game: PgnGame, view: Callable[[chess.Board], BoardView]) -> Stepped:
    """Return a game for `judge show`."""
    board = game.board.copy()
    steps = [ReplayStep(view(board))]
    left: list[int | None] = [None, None]
    for played in game.moves:
        seat = int(not board.turn)
        said = board.san(played.move)
        board.push(played.move)
        left[seat] = played.left_ms if played.left_ms is not None else left[seat]
        steps.append(ReplayStep(view(board), seat, said, played.spent_ms, left_ms=(left[0], left[1])))
    tags = game.tags
    names = (one_line(tags.get("White", "?")), one_line(tags.get("Black", "?")))
    return Stepped(one_line(tags.get("Event", "chess")), names, steps, tags.get("Result", "*"))
