"""The log of a game of Stratego: written as UCC's manager writes it, read back, and replayed by the rules.

    ./red RED SETUP                         the first word is the name; four rows, or INVALID!
    FB8sB479B8 ...
    ./blue BLUE SETUP
    967B669999 ...
    1 RED: 0 3 DOWN OK                      turn, RED or BLU, the reply and its outcome; nothing where none came
    1 BLU: 0 6 UP KILLS 9 9
    Game ends on RED's turn - REASON: Captured the flag
    ./red RED VICTORY 117 12 8              the result line

Lines end in LF. What an agent said stands in the file, so a reader may be fooled by what looks like a line end: unless
told otherwise, control characters are written as blanks (where a move may have blanks) or question marks.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from judge.errors import InputError
from judge.games.stones import quote
from judge.games.stratego import RULES, Stratego, StrategoOptions
from judge.games.stratego.notation import read_reply
from judge.games.stratego.types import BLUE, COLOURS, RED, SETUP_ROWS, Row, SetupRow, one_word
from judge.games.types import NATURE, SEATS, AgentFault, Drawn, Reply, ReplyKind, Verdict, decided
from judge.referee.seating import nature
from judge.referee.spec import MatchRecord

_SHORT = ("RED", "BLU")

# --- writing ---------------------------------------------------------------------------------------------------------


def write_log(
    game: Stratego, names: tuple[str, str], reply_s: float = 2.0, verbatim: bool = False
) -> bytes:
    """The log of a game; of one that has not ended, what there is of it.

    `names` are (RED, BLUE), `reply_s` is the limit of a reply, named where it was overrun. `verbatim` keeps control
    characters as an agent said them.
    """
    words = [one_word(name) for name in names]
    lines = [*_invalid_lines(game)]
    for seat in SEATS:
        lines += [f"{words[seat]} {COLOURS[seat]} SETUP", *_setup_lines(game, seat)]
    for turn, seat, text in game.half_moves:
        lines.append(f"{turn} {_SHORT[seat]}: {text if verbatim else safe_text(text)}")
    if game.end is not None:
        whose = f"on {COLOURS[game.seat]}'s turn" if game.turn else "in the SETUP phase"
        lines += [f"Game ends {whose} - REASON: {_reason(game, reply_s)}", game.result(names)]
    return "".join(f"{line}\n" for line in lines).encode("latin-1")


def safe_text(text: str) -> str:
    """`text` without control characters: white space becomes a blank, the rest a question mark."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", "?", re.sub(r"[\t\v\f\r]", " ", text))


def _invalid_lines(game: Stratego) -> list[str]:
    """What stands before the set-ups where one is bad."""
    bad = [seat for seat in SEATS if game.setup.faults[seat] is not None]
    if len(bad) == 2:
        return ["BOTH players give invalid setup!"]
    if bad and game.options.words == "2011":
        return [f"Player {COLOURS[bad[0]]} gave an invalid setup!"]
    return []


def _setup_lines(game: Stratego, seat: int) -> Sequence[str]:
    if game.setup.faults[seat] is not None and game.options.words != "2011":
        return ["INVALID!"]
    return game.setup.placed[seat] or ()


def _reason(game: Stratego, reply_s: float) -> str:
    """The reason as a log gives it: the game's own, or words for what the referee found."""
    if game.reason or not isinstance(game.end, AgentFault):
        return game.reason
    if game.options.words == "2011":
        return "Did not make a move (may have exited)"
    match game.end.verdict:
        case Verdict.TURN_TIME | Verdict.MATCH_TIME:
            return f"Response timeout after {reply_s:f} seconds."
        case Verdict.CRASH if game.options.words == "2012":
            return "Unintelligable response"
        case _:
            return safe_text(game.end.reason)


def log_of(record: MatchRecord) -> bytes:
    """The log of a played match."""
    names = (record.seats[0].name, record.seats[1].name)
    return write_log(game_of(record), names, record.spec.policy.clock.turn_ms / 1000)


def game_of(record: MatchRecord) -> Stratego:
    """The game of a record, played again from its answers; one that was void has no end."""
    game = Stratego.from_options(record.spec.game_options())
    chance = nature(record.spec.seed)
    plies = list(reversed(record.plies))
    while game.end is None:
        request = game.pending()
        seat = request.seat
        if seat == NATURE:
            game.apply(chance(request))
        elif plies and plies[-1].seat == seat:
            said = plies.pop().said
            is_row = isinstance(request, SetupRow)
            game.apply(decided(Row(said), said) if is_row else _reply(record, seat, said))
        elif (fault := record.seats[seat].fault) is not None:
            game.forfeit(AgentFault(fault, seat, record.reason))
        else:
            break
    return game


def _reply(record: MatchRecord, seat: int, said: str) -> Reply:
    options = (
        record.spec.policy.protocol.get("stratego", {}) | record.spec.seats[seat].protocol_options
    )
    return read_reply(said, options.get("line_bytes", 1024))


# --- reading ---------------------------------------------------------------------------------------------------------


class HalfMoveLine(NamedTuple):
    """`number` is the line in the file, from 1; `text` what follows the colon."""

    number: int
    turn: int
    seat: int
    text: str


class ResultLine(NamedTuple):
    """The last line of a log and of the manager's stdout; `colour` is RED, BLUE or BOTH."""

    name: str
    colour: str
    outcome: str
    turn: int
    red_value: int
    blue_value: int

    @property
    def points_word(self) -> str:
        """Which row of a policy's points counts: two bad set-ups are BOTH_ILLEGAL, and nothing else is."""
        if self.colour == "BOTH":
            return "BOTH_ILLEGAL"
        # In 2011 one bad set-up was called BOTH_ILLEGAL too, with the offender's name.
        return "ILLEGAL" if self.outcome == "BOTH_ILLEGAL" else self.outcome


@dataclass(frozen=True, slots=True)
class StrategoLog:
    """What a log says. `setups` are four rows a side, None where the set-up was bad."""

    source: str
    names: tuple[str, str]
    setups: tuple[tuple[str, ...] | None, tuple[str, ...] | None]
    half_moves: tuple[HalfMoveLine, ...]
    reason: str
    """Why the game ended; empty where the log breaks off."""
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
_RESULT = re.compile(r"(\S+) (RED|BLUE|BOTH) ([A-Z_]+) ([0-9]{1,9}) ([0-9]{1,9}) ([0-9]{1,9})")
_OUTCOME = re.compile(
    r"(.*) (OK|ILLEGAL|FLAG|VICTORY_FLAG|VICTORY_ATTRITION|(?:KILLS|DIES|BOTHDIE) \S \S)", re.DOTALL
)


def read_result(line: str) -> ResultLine | None:
    """A result line; None where `line` is none."""
    match = _RESULT.fullmatch(line)
    if match is None:
        return None
    return ResultLine(match[1], match[2], match[3], int(match[4]), int(match[5]), int(match[6]))


def read_log(data: bytes, source: str = "log") -> StrategoLog:
    """The log in `data`, written by this judge or by a manager of 2011 or 2012.

    A log may break off in play, and may have the traces of a dead agent behind its end. InputError names `source`, the
    line and the mend.
    """
    return _Reader(data, source).read()


class _Reader:
    """Goes through the lines of a log once."""

    def __init__(self, data: bytes, source: str) -> None:
        text = data.decode("latin-1")
        self._lines = text.removesuffix("\n").split("\n")
        self._source = source
        self._next = 0
        self._bad: set[int] = set()

    def read(self) -> StrategoLog:
        """Set-ups, half-moves, end."""
        self._read_prelude()
        red_name, red = self._read_setup(RED)
        blue_name, blue = self._read_setup(BLUE)
        half_moves, reason = self._read_half_moves()
        result = self._read_end() if reason else None
        return StrategoLog(
            self._source, (red_name, blue_name), (red, blue), half_moves, reason, result, self._next
        )

    def _read_prelude(self) -> None:
        while match := _PRELUDE.fullmatch(self._peek()):
            self._next += 1
            if match[2]:
                self._bad = set(SEATS)
            elif match[1]:
                self._bad.add(COLOURS.index(match[1]))

    def _read_setup(self, seat: int) -> tuple[str, tuple[str, ...] | None]:
        match = _SETUP.fullmatch(self._take(f"a line such as: name {COLOURS[seat]} SETUP"))
        if match is None or match[2] != COLOURS[seat]:
            raise self._error(f"write: name {COLOURS[seat]} SETUP")
        if self._peek() == "INVALID!":
            self._next += 1
            return match[1], None
        rows = tuple(self._take("a row of the set-up") for _ in range(SETUP_ROWS))
        return match[1], None if seat in self._bad else rows

    def _read_half_moves(self) -> tuple[tuple[HalfMoveLine, ...], str]:
        """The half-moves, and the reason of the end; empty where the log breaks off."""
        half_moves: list[HalfMoveLine] = []
        while self._next < len(self._lines):
            line = self._take("a half-move")
            end = _END.fullmatch(line)
            if end is not None:
                return tuple(half_moves), end[1]
            match = _HALF_MOVE.fullmatch(line)
            if match is None:
                raise self._error("a half-move is written such as 1 RED: 0 3 DOWN OK")
            # A manager that was told of a dead agent while it waited ends in the middle of the line.
            end = _END.fullmatch(match[3])
            text = match[3] if end is None else ""
            half_moves.append(HalfMoveLine(self._next, int(match[1]), _SHORT.index(match[2]), text))
            if end is not None:
                return tuple(half_moves), end[1]
        return tuple(half_moves), ""

    def _read_end(self) -> ResultLine | None:
        """The result line behind the end, if there is one."""
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
            raise InputError(f"{self._source}: ends where {wanted} is to come")
        self._next += 1
        return self._lines[self._next - 1]

    def _error(self, mend: str) -> InputError:
        said = quote(self._lines[self._next - 1])
        return InputError(f"{self._source}, line {self._next}: {said} cannot be read; {mend}")


# --- replaying -------------------------------------------------------------------------------------------------------


def options_of(log: StrategoLog, rules: str = "stratego-2012") -> StrategoOptions:
    """The options that a log was played with: those of a named set, and the limit and the tolerance that it shows."""
    base = RULES[rules]
    last = log.result.outcome if log.result else ""
    reached_limit = log.result is not None and last in ("DRAW_DEFAULT", "INTERNAL_ERROR")
    forgiven = log.half_moves[:-1] if last in ("ILLEGAL", "") else log.half_moves
    outcomes = [_OUTCOME.fullmatch(line.text) for line in forgiven]
    unread = any(match is None for match in outcomes) and base.no_move != "judged"
    illegal = any(match is not None and match[2] == "ILLEGAL" for match in outcomes)
    changes = {
        "turn_limit": log.result.turn if log.result and reached_limit else None,
        "tolerate_illegal": illegal or unread,
        "tolerate_unreadable": unread and base.echo == "verbatim",
    }
    return StrategoOptions.model_validate(base.model_dump() | changes)


def replay(log: StrategoLog, options: StrategoOptions | None = None) -> Stratego:
    """The game of a log, played by the rules; InputError where they give something else than the log has."""
    game = Stratego(options or options_of(log))
    for step in answers(log, game):
        if isinstance(step, AgentFault):
            game.forfeit(step)
        else:
            game.apply(step)
        _check_half_move(log, game)
    _check_end(log, game)
    return game


def answers(log: StrategoLog, game: Stratego) -> Iterator[Reply | AgentFault]:
    """What `game` is to be fed, one after the other, until it ends: replies, tosses, and the faults that a log shows.

    A toss is answered from the outcome that the log has. InputError where the log ends and the game goes on.
    """
    while game.end is None:
        request = game.pending()
        if isinstance(request, SetupRow):
            rows = log.setups[request.seat]
            if rows is None:
                yield AgentFault(Verdict.ILLEGAL, request.seat, "the log calls the set-up invalid")
            else:
                yield decided(Row(rows[request.row]), rows[request.row])
            continue
        at = len(game.half_moves)
        if at >= len(log.half_moves):
            raise InputError(
                f"{log.source}, line {log.last_line}: the log ends where the game goes on"
            )
        line = log.half_moves[at]
        if request.seat == NATURE:
            yield decided(Drawn(_toss_of(log, line)))
        elif (line.turn, line.seat) != (game.turn, request.seat):
            wanted = f"{game.turn} {_SHORT[request.seat]}"
            raise InputError(f"{log.source}, line {line.number}: {wanted} is to move")
        else:
            yield _answer_of(log, line)


def _answer_of(log: StrategoLog, line: HalfMoveLine) -> Reply | AgentFault:
    if not line.text and line is log.half_moves[-1] and log.reason != "Unintelligable response":
        died = log.reason.startswith("SIGPIPE")
        verdict = Verdict.CRASH if died else Verdict.TURN_TIME
        return AgentFault(verdict, line.seat, f"the log has no reply: {quote(log.reason, 200)}")
    match = _OUTCOME.fullmatch(line.text)
    reply = read_reply(line.text if match is None else match[1])
    # What could not be read stands there without an outcome, whatever it ends in.
    return read_reply(line.text) if reply.kind is ReplyKind.UNREADABLE else reply


def _toss_of(log: StrategoLog, line: HalfMoveLine) -> int:
    for outcome, word in enumerate(("KILLS", "DIES")):
        if f" {word} " in line.text:
            return outcome
    raise InputError(
        f"{log.source}, line {line.number}: equal ranks fight here: KILLS or DIES must follow"
    )


def _check_half_move(log: StrategoLog, game: Stratego) -> None:
    if not game.half_moves:
        return
    line, played = log.half_moves[len(game.half_moves) - 1], game.half_moves[-1]
    if safe_text(played.text) != safe_text(line.text):
        raise InputError(
            f"{log.source}, line {line.number}: the log has {quote(line.text)}, the rules give {quote(played.text)}"
        )


def _check_end(log: StrategoLog, game: Stratego) -> None:
    if len(game.half_moves) < len(log.half_moves):
        line = log.half_moves[len(game.half_moves)]
        raise InputError(
            f"{log.source}, line {line.number}: the log goes on where the game is over"
        )
    if log.result is None:
        return
    stated, found = log.result, read_result(game.result(log.names))
    if game.turn == 0 and found is not None:
        # What was placed before an invalid set-up broke off is not in the log.
        found = found._replace(red_value=stated.red_value, blue_value=stated.blue_value)
    if found != stated:
        raise InputError(
            f"{log.source}, line {log.last_line}: the log has {stated}, the rules give {game.result(log.names)}"
        )
