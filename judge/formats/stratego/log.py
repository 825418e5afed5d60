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
from dataclasses import dataclass
from typing import NamedTuple

from judge.base.errors import InputError
from judge.base.text import quote, repeated
from judge.games.stratego import Stratego
from judge.games.stratego.game import UNINTELLIGIBLE
from judge.games.stratego.types import BLUE, COLOURS, RED, SETUP_ROWS, one_word
from judge.games.types import SEATS, AgentFault, Verdict

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
    if game.end is not None:
        whose = f"on {COLOURS[game.seat]}'s turn" if game.turn else "in the SETUP phase"
        lines += [f"Game ends {whose} - REASON: {_reason(game, reply_s)}", game.result(names)]
    return "".join(f"{line}\n" for line in lines).encode("latin-1")


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


class ResultLine(NamedTuple):
    """The last line of a log and of the manager's stdout. `colour` is RED, BLUE or BOTH."""

    name: str
    colour: str
    outcome: str
    turn: int
    red_value: int
    blue_value: int

    @property
    def points_word(self) -> str:
        """Row of the policy's points; BOTH_ILLEGAL only for two bad set-ups."""
        if self.colour == "BOTH":
            return "BOTH_ILLEGAL"
        # In 2011 also a single bad set-up, with the offender's name.
        return "ILLEGAL" if self.outcome == "BOTH_ILLEGAL" else self.outcome


@dataclass(frozen=True, slots=True)
class StrategoLog:
    """`setups` are four rows per side, None for a bad one."""

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
_RESULT = re.compile(r"(\S+) (RED|BLUE|BOTH) ([A-Z_]+) ([0-9]{1,9}) ([0-9]{1,9}) ([0-9]{1,9})")


def read_result(line: str) -> ResultLine | None:
    """None if `line` has another form."""
    match = _RESULT.fullmatch(line)
    if match is None:
        return None
    return ResultLine(match[1], match[2], match[3], int(match[4]), int(match[5]), int(match[6]))


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
