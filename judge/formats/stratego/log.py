"""Stratego logs in the format of UCC's manager.

    ./red RED SETUP                         the first word is the name; four rows, or INVALID!
    FB8sB479B8 ...
    ./blue BLUE SETUP
    967B669999 ...
    1 RED: 0 3 DOWN OK                      turn, RED or BLU, reply and outcome; empty if there was no reply
    1 BLU: 0 6 UP KILLS 9 9
    Game ends on RED's turn - REASON: Captured the flag
    ./red RED VICTORY 117 12 8              the result line

Agents' text could imitate line ends, so by default `one_printable_line` replaces control characters.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from judge.base.errors import InputError
from judge.base.text import quote, repeated
from judge.formats.steps import Stepped, play_steps
from judge.formats.views import BoardView, Face, Square, Surface, Token
from judge.games.stratego import RULES, Stratego, StrategoOptions
from judge.games.stratego.game import CONFIRMED, SURRENDERED, UNINTELLIGIBLE
from judge.games.stratego.types import (
    BLUE,
    COLOURS,
    RED,
    SETUP_ROWS,
    SIZE,
    Move,
    NoMove,
    ResultLine,
    SetUpRow,
    SetupRow,
    one_word,
    read_reply,
    read_result,
)
from judge.games.types import NATURE, SEATS, AgentFault, Drawn, Reply, ReplyKind, Verdict, decided

SHORT = ("RED", "BLU")


def write_log(game: Stratego, names: tuple[str, str], reply_s: float = 2.0, verbatim: bool = False) -> bytes:
    """The game may be unfinished.

    `reply_s` is the time limit, named after a timeout. `verbatim` keeps control characters.
    """
    words = [one_word(name) for name in names]
    is_2011 = game.options.words == "2011"
    bad = [seat for seat in SEATS if game.setup.faults[seat] is not None]
    lines = []
    if len(bad) == 2:
        lines.append("BOTH players give invalid setup!")
    elif bad and is_2011:
        lines.append(f"Player {COLOURS[bad[0]]} gave an invalid setup!")
    for seat in SEATS:
        rows = ("INVALID!",) if seat in bad and not is_2011 else game.setup.placed[seat] or ()
        lines += [f"{words[seat]} {COLOURS[seat]} SETUP", *rows]
    for turn, seat, text in game.half_moves:
        lines.append(f"{turn} {SHORT[seat]}: {text if verbatim else one_printable_line(text)}")
    if game.end is None:
        lines[-1:] = [_without_end(line) for line in lines[-1:]]
    else:
        whose = f"on {COLOURS[game.seat]}'s turn" if game.turn else "in the SETUP phase"
        lines += [f"Game ends {whose} - REASON: {_reason(game, reply_s)}", game.result(names)]
    return "".join(f"{line}\n" for line in lines).encode("latin-1")


def _without_end(line: str) -> str:
    """The last line of an unfinished game, which must not look like one that a dead agent broke off."""
    match = _HALF_MOVE.fullmatch(line)
    if match is None or _END.fullmatch(match[3]) is None:
        return line
    return f"{line[: match.start(3)]}?{match[3]}"


def one_printable_line(text: str) -> str:
    """White space becomes blanks, other characters that cannot be repeated question marks."""
    return repeated(re.sub(r"[\t\v\f\r]", " ", text), "?")


def _reason(game: Stratego, reply_s: float) -> str:
    if game.reason or not isinstance(game.end, AgentFault):
        return game.reason
    if game.options.words == "2011":
        return "Did not make a move (may have exited)"
    match game.end.verdict:
        case Verdict.TURN_TIME | Verdict.MATCH_TIME:
            return f"Response timeout after {reply_s:f} seconds."
        case Verdict.CRASH if game.options.words == "2012":
            return UNINTELLIGIBLE
        case _:
            return one_printable_line(game.end.reason)


class HalfMoveLine(NamedTuple):
    """`number` is the line, from 1; `text` follows the colon."""

    number: int
    turn: int
    seat: int
    text: str


@dataclass(frozen=True, slots=True)
class StrategoLog:
    """`setups` are four rows per side, or none if the log breaks off before; None for a bad one."""

    source: str
    names: tuple[str, str]
    setups: tuple[tuple[str, ...] | None, tuple[str, ...] | None]
    half_moves: tuple[HalfMoveLine, ...]
    reason: str
    result: ResultLine | None
    last_line: int


_SETUP = re.compile(r"(\S+) (?:.* )?(RED|BLUE) SETUP")
_PRELUDE = re.compile(
    r"Player (RED|BLUE) gave an invalid setup!|(BOTH) players give invalid setup!"
    r"|Controller for Player \S+ is invalid!|Check that executable .*"
)
_HALF_MOVE = re.compile(r"([0-9]{1,9}) (RED|BLU): (.*)", re.DOTALL)
_END = re.compile(r"Game ends (?:on \w+'s turn|in the SETUP phase) - REASON: (.*)", re.DOTALL)
_AFTERMATH = re.compile(r"\t.*|SIGPIPE.*|(RED|BLUE) is invalid\..*|Game ends .*")


def read_log(data: bytes, source: str = "log") -> StrategoLog:
    """A log by this judge or by UCC's managers of 2011 and 2012. Raises InputError.

    It may break off during play, and may have traces of a dead agent after its end.
    """
    return _Reader(data, source).read()


class _Reader:
    def __init__(self, data: bytes, source: str) -> None:
        text = data.decode("latin-1").removeprefix("ï»¿")
        if "\r" in text and text.count("\r\n") == text.count("\n"):
            text = text.replace("\r\n", "\n")  # copied by another system; other carriage returns are an agent's
        self._lines = text.removesuffix("\n").split("\n")
        self._source = source
        self._next = 0
        self._bad: set[int] = set()

    def read(self) -> StrategoLog:
        while match := _PRELUDE.fullmatch(self._peek()):
            self._next += 1
            if match[2]:
                self._bad = set(SEATS)
            elif match[1]:
                self._bad.add(COLOURS.index(match[1]))
        red_name, red = self._read_setup(RED)
        blue_name, blue = self._read_setup(BLUE)
        half_moves, reason = self._read_half_moves()
        result = self._read_end() if reason else None
        return StrategoLog(self._source, (red_name, blue_name), (red, blue), half_moves, reason, result, self._next)

    def _read_setup(self, seat: int) -> tuple[str, tuple[str, ...] | None]:
        match = _SETUP.fullmatch(self._take(f"a line such as: name {COLOURS[seat]} SETUP"))
        if match is None or match[2] != COLOURS[seat]:
            raise self._error(f"write: name {COLOURS[seat]} SETUP")
        if self._peek() == "INVALID!":
            self._next += 1
            return match[1], None
        if self._next >= len(self._lines) or (seat == RED and _SETUP.fullmatch(self._peek())):
            return match[1], ()
        rows = tuple(self._take("a row of the set-up") for _ in range(SETUP_ROWS))
        return match[1], None if seat in self._bad else rows

    def _read_half_moves(self) -> tuple[tuple[HalfMoveLine, ...], str]:
        half_moves: list[HalfMoveLine] = []
        while self._next < len(self._lines):
            line = self._take("a half-move")
            end = _END.fullmatch(line)
            if end is not None:
                return tuple(half_moves), end[1]
            match = _HALF_MOVE.fullmatch(line)
            if match is None:
                raise self._error("a half-move is written such as 1 RED: 0 3 DOWN OK")
            # A manager that notices a dead agent ends within its last line. After an agent's own such words more lines
            # follow.
            end = _END.fullmatch(match[3]) if self._next >= len(self._lines) else None
            text = match[3] if end is None else ""
            half_moves.append(HalfMoveLine(self._next, int(match[1]), SHORT.index(match[2]), text))
            if end is not None:
                return tuple(half_moves), end[1]
        return tuple(half_moves), ""

    def _read_end(self) -> ResultLine | None:
        result = None
        while self._next < len(self._lines):
            line = self._take("the result line")
            result = read_result(line) or result
            if result is None and not _AFTERMATH.fullmatch(line):
                raise self._error("the result is written such as name RED VICTORY 117 12 8")
        return result

    def _peek(self) -> str:
        return self._lines[self._next] if self._next < len(self._lines) else ""

    def _take(self, wanted: str) -> str:
        if self._next >= len(self._lines):
            raise InputError(f"{self._source}: the file ends; expected {wanted}")
        self._next += 1
        return self._lines[self._next - 1]

    def _error(self, fix: str) -> InputError:
        said = quote(self._lines[self._next - 1])
        return InputError(f"{self._source}, line {self._next}: {said} cannot be read; {fix}")


def stratego_options(log: StrategoLog, rules: str = "stratego-2012") -> StrategoOptions:
    """A named rule set with the log's limit and tolerance."""
    base = RULES[rules]
    last = log.result.outcome if log.result else ""
    reached_limit = log.result is not None and last in ("DRAW_DEFAULT", "INTERNAL_ERROR")
    forgiven = log.half_moves[:-1] if last in ("ILLEGAL", "DEFAULT", "") else log.half_moves
    replies = [(line.text, _reply_of(log, line, base)) for line in forgiven]
    unread = base.no_move != "judged" and any(reply.kind is ReplyKind.UNREADABLE for _, reply in replies)
    illegal = any(text.endswith(" ILLEGAL") and reply.kind is ReplyKind.DECIDED for text, reply in replies)
    changes = {
        "turn_limit": log.result.turn if log.result and reached_limit else None,
        "tolerate_illegal": illegal or unread,
        "tolerate_unreadable": unread and base.echo == "verbatim",
    }
    return StrategoOptions.model_validate(base.model_dump() | changes)


def replay_stratego_log(log: StrategoLog, options: StrategoOptions | None = None) -> Stratego:
    """Raises InputError where the rules differ."""
    game = Stratego(options or stratego_options(log))
    for answer in log_answers(log, game):
        if isinstance(answer, AgentFault):
            game.forfeit(answer)
        else:
            game.apply(answer)
        _check_half_move(log, game)
    _check_end(log, game)
    return game


def log_answers(log: StrategoLog, game: Stratego) -> Iterator[Reply | AgentFault]:
    """What to apply to `game` until it ends. Raises InputError if the log ends first."""
    while game.end is None:
        request = game.pending()
        if isinstance(request, SetupRow):
            rows = log.setups[request.seat]
            if rows == ():
                raise _ends_early(log)
            if rows is None:
                yield AgentFault(Verdict.ILLEGAL, request.seat, "the log calls the set-up invalid")
            else:
                yield decided(SetUpRow(rows[request.row]), rows[request.row])
            continue
        at = len(game.half_moves)
        if at >= len(log.half_moves):
            raise _ends_early(log)
        line = log.half_moves[at]
        if request.seat == NATURE:
            yield decided(Drawn(_toss_of(log, line)))
        elif (line.turn, line.seat) != (game.turn, request.seat):
            wanted = f"{game.turn} {SHORT[request.seat]}"
            raise InputError(f"{log.source}, line {line.number}: {wanted} is to move")
        else:
            yield _answer_of(log, line, game.options)


def _ends_early(log: StrategoLog) -> InputError:
    return InputError(f"{log.source}, line {log.last_line}: the log ends before the game is over")


def _answer_of(log: StrategoLog, line: HalfMoveLine, options: StrategoOptions) -> Reply | AgentFault:
    is_tolerated = options.tolerate_unreadable or log.reason != UNINTELLIGIBLE
    if line is log.half_moves[-1] and not line.text and is_tolerated and (seat := _offender(log, line)) is not None:
        verdict = Verdict.CRASH if log.reason.startswith("SIGPIPE") else Verdict.TURN_TIME
        return AgentFault(verdict, seat, f"the log has no reply: {quote(log.reason, 200)}")
    return _reply_of(log, line, options)


def _offender(log: StrategoLog, line: HalfMoveLine) -> int | None:
    """The seat whose fault ended the game, without its answer."""
    if log.result is None:
        return line.seat if log.reason else None
    named = COLOURS.index(log.result.colour)
    return {"ILLEGAL": named, "DEFAULT": 1 - named}.get(log.result.outcome)


def _reply_of(log: StrategoLog, line: HalfMoveLine, options: StrategoOptions) -> Reply:
    """A reply without an outcome was not read, except for NO_MOVE and SURRENDER."""
    is_last = line is log.half_moves[-1]
    confirmed = CONFIRMED.fullmatch(line.text)
    said = line.text if confirmed is None else confirmed[1]
    reply = read_reply(said, len(said))
    match reply:
        case _ if is_last and log.reason == UNINTELLIGIBLE:
            is_read = False
        case Reply(decision=Move()):
            is_read = confirmed is not None
        case Reply(decision=NoMove()):
            is_read = options.no_move == "judged" or (options.no_move == "always" and confirmed is not None)
        case _:
            is_end = is_last and log.reason in ("", SURRENDERED)
            is_read = reply.kind is ReplyKind.RESIGNED and (is_end or confirmed is not None)
    return reply if is_read else Reply(ReplyKind.UNREADABLE, line.text)


def _toss_of(log: StrategoLog, line: HalfMoveLine) -> int:
    confirmed = CONFIRMED.fullmatch(line.text)
    for outcome, word in enumerate(("KILLS", "DIES")):
        if confirmed is not None and confirmed[2].startswith(f"{word} "):
            return outcome
    raise InputError(f"{log.source}, line {line.number}: equal ranks fight here: KILLS or DIES must follow")


def _check_half_move(log: StrategoLog, game: Stratego) -> None:
    if not game.half_moves:
        return
    line, played = log.half_moves[len(game.half_moves) - 1], game.half_moves[-1]
    if one_printable_line(played.text) != one_printable_line(_without_line_end(line.text)):
        raise InputError(
            f"{log.source}, line {line.number}: the log has {quote(line.text)}, the rules give {quote(played.text)}"
        )


def _without_line_end(text: str) -> str:
    """A manager repeated the CR of a reply before the outcome."""
    outcome = CONFIRMED.fullmatch(text)
    reply, after = (text, "") if outcome is None else (outcome[1], f" {outcome[2]}")
    return reply.removesuffix("\r") + after


def _check_end(log: StrategoLog, game: Stratego) -> None:
    if len(game.half_moves) < len(log.half_moves):
        line = log.half_moves[len(game.half_moves)]
        raise InputError(f"{log.source}, line {line.number}: the log continues after the end of the game")
    if log.result is None:
        return
    stated, found = log.result, read_result(game.result(log.names))
    if game.turn == 0 and found is not None:
        # The log omits pieces of an invalid set-up.
        found = found._replace(red_value=stated.red_value, blue_value=stated.blue_value)
    if found != stated:
        raise InputError(
            f"{log.source}, line {log.last_line}: the log has {stated}, the rules give {game.result(log.names)}"
        )


def log_of_record(replay: Stepped) -> bytes:
    """A record's log. A void game has no end. Raises InputError if the record contradicts the rules."""
    record, game = replay.record_and_game(Stratego, "Stratego")
    return write_log(game, replay.names, record.spec.policy.clock.announced_answer_ms / 1000)


_EMPTY, _LAKE, _ENEMY = ".", "+", "#"


def stratego_view(game: Stratego, seat: int | None = None) -> BoardView:
    """For a `seat` the other side's hidden pieces are `#`."""
    tokens: dict[Square, Token] = {}
    lakes = set()
    for looks in SEATS if seat is None else (seat,):
        for y, row in enumerate(game.seen_by(looks).splitlines()):
            for x, letter in enumerate(row):
                if letter == _LAKE:
                    lakes.add((x, y))
                elif letter == _ENEMY and seat is not None:
                    tokens[x, y] = _soldier(1 - looks, letter)
                elif letter not in (_EMPTY, _ENEMY):
                    tokens[x, y] = _soldier(looks, letter)
    last = game.half_moves[-1] if game.half_moves else None
    names = tuple(map(str, range(SIZE)))
    return BoardView(
        Surface.SQUARES,
        names,
        names,
        tokens,
        (COLOURS[0], COLOURS[1]),
        blocked=frozenset(lakes),
        caption=f"turn {last.turn}, {COLOURS[last.seat]}: {last.text}" if last else "",
    )


@lru_cache(maxsize=256)
def _soldier(seat: int, letter: str) -> Token:
    return Token(seat, faces=(Face(letter, is_hidden=True),), shows=0)


RULE_SETS = ("stratego-2012", "stratego-2011", "stratego-seed")


def rules_of(log: StrategoLog) -> tuple[str, Stratego]:
    """First rule set that fits the log, and the game."""
    objections = []
    for rules in RULE_SETS:
        try:
            return rules, replay_stratego_log(log, stratego_options(log, rules))
        except InputError as error:
            objections.append(error)
    raise objections[0]


def stratego_steps(log: StrategoLog) -> Stepped:
    """Raises InputError if the log contradicts every rule set."""
    rules, game = rules_of(log)
    again = Stratego(game.options)
    steps = play_steps(again, log_answers(log, again), stratego_view)
    return Stepped(rules, log.names, steps, game.result(log.names) if game.end else "unfinished")
