"""A game of five in a row as a `.psq` file, the way Piskvork writes it; reads its relatives too.

    Piskvorky 15x15, 11:11, 0    width x height, the players' levels, which of them started
    8,8,0                        x,y,ms: squares from 1, ms of this one move; 0 for the opening's
    9,9,1520
    first.zip                    the two players
    second.zip
    0                            0: ended by the rules, 15: time, -2: other fault, -1: unknown

Lines end in CR LF. What is written is ASCII, which is the same in every code page that a Windows
program may open the file with; what is read is taken as Latin-1, in which no byte is an error. The
format has no escape, so a name is reduced to characters that mean nothing in it (`safe_name`).
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from judge.errors import InputError
from judge.games.stones import quote
from judge.games.types import Verdict

Move = tuple[int, int, int]
"""x and y from 0, and the milliseconds that this one move took (0 for an opening stone)."""

LONGEST_NAME = 100

_CODES = {
    Verdict.WIN: 0,
    Verdict.DRAW: 0,
    Verdict.FOUL: 0,
    Verdict.START_TIME: 15,
    Verdict.TURN_TIME: 15,
    Verdict.MATCH_TIME: 15,
    Verdict.ILLEGAL: -2,
    Verdict.UNREADABLE: -2,
    # Nobody can resign in Piskvork. Under 0 a reader would look for a five and find none; under -2
    # it is right that the side to move lost.
    Verdict.RESIGNED: -2,
    Verdict.MEMORY: -2,
    Verdict.OUTPUT: -2,
    Verdict.CRASH: -2,
    Verdict.REFUSED: -2,
    Verdict.VOID: -1,
}


@dataclass(frozen=True, slots=True)
class PsqRecord:
    """What a `.psq` file says.

    `names` are those of (black, white), black being the colour of the first stone; None where the
    file has none (a game of people). `code` is the one in the last line, None where there is none.
    `footer` is the line that GomocupJudge adds, `winner,tournament`, as it stands: who its 1 and 2
    are depends on the length of the opening, which the file does not tell.
    """

    width: int
    height: int
    moves: tuple[Move, ...]
    names: tuple[str, str] | None
    code: int | None
    footer: str = ""


def write_psq(
    width: int, height: int, moves: Iterable[Move], names: tuple[str, str], verdict: str
) -> bytes:
    """The file of a finished game.

    `moves` hold the opening too, `names` are (black, white), `verdict` is a word of `Verdict`;
    ValueError where it is none.
    """
    # 11:11 is what Gomocup's records say; to Piskvork it means that programs played, not people.
    lines = [f"Piskvorky {width}x{height}, 11:11, 0"]
    lines += [f"{x + 1},{y + 1},{ms}" for x, y, ms in moves]
    lines += [safe_name(name) for name in names]
    lines += [str(_CODES[Verdict(verdict)])]
    return "".join(f"{line}\r\n" for line in lines).encode("ascii")


def safe_name(name: str) -> str:
    """`name` as a line that means nothing else in a `.psq`.

    At most 100 characters: letters, digits, blanks and `_.+()#@-`; accents are taken off and
    everything else becomes `_`. The first is a letter or `_`, because Piskvork looks for another
    number where the moves end, and would eat it.
    """
    plain = unicodedata.normalize("NFKD", name[:LONGEST_NAME])
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    safe = re.sub(r"[^A-Za-z0-9 _.+()#@-]", "_", " ".join(letters.split()))
    return (safe if re.match(r"[A-Za-z_]", safe) else f"_{safe}")[:LONGEST_NAME].rstrip()


_Line = tuple[int, str]
"""A line's number in the file, from 1, and its text without blanks around it."""

_HEADER = re.compile(
    r"Piskvorky\s+([1-9][0-9]{0,2})\s*x\s*([1-9][0-9]{0,2})\s*,"  # board
    r"\s*[0-9]+\s*:\s*[0-9]+\s*,\s*([01])"  # levels, who started
)
_MOVE = re.compile(r"([0-9]{1,3})\s*,\s*([0-9]{1,3})(?:\s*,\s*(-?[0-9]{1,12}))?")
_MOVE_START = re.compile(r"[+-]?[0-9]+\s*,")
_CODE = re.compile(r"-?[0-9]{1,9}")


def read_psq(data: bytes, source: str = "psq") -> PsqRecord:
    """The record in `data`, written by this judge, by Piskvork, by GomocupJudge or by hand.

    Any line end, blank lines, moves of two numbers (0 ms) or three, with or without names, code
    and footer are fine. InputError names `source`, the line and the mend: no header, a square off
    the board or taken before, a line that is nothing of the format.
    """
    header, *lines = _split(data) or [(1, "")]
    width, height, started = _read_header(header, source)
    moves = _read_moves(lines)
    _check_moves(lines, moves, width, height, source)
    names, code, footer = _read_end(lines[len(moves) :], source)
    if names is not None and started == 1:
        names = (names[1], names[0])
    return PsqRecord(width, height, moves, names, code, footer)


def _split(data: bytes) -> list[_Line]:
    text = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    # Not str.splitlines: it would split at bytes that Windows code pages use for letters.
    numbered = enumerate(re.split(r"\r\n|\r|\n", text), 1)
    return [(number, line.strip(" \t")) for number, line in numbered if line.strip(" \t")]


def _read_header(line: _Line, source: str) -> tuple[int, int, int]:
    """Width, height, and which of the two players started."""
    number, text = line
    match = _HEADER.fullmatch(text)
    if match is None:
        raise InputError(
            f"{source}, line {number}: no header; write it such as Piskvorky 15x15, 11:11, 0"
        )
    return int(match[1]), int(match[2]), int(match[3])


def _read_moves(lines: Iterable[_Line]) -> tuple[Move, ...]:
    """The moves that `lines` begin with, one a line."""
    matches = takewhile(bool, (_MOVE.fullmatch(text) for _, text in lines))
    return tuple((int(m[1]) - 1, int(m[2]) - 1, int(m[3] or 0)) for m in matches if m)


def _check_moves(
    lines: Sequence[_Line], moves: Sequence[Move], width: int, height: int, source: str
) -> None:
    """Every move on the board, on a square of its own; `lines` are where they stand."""
    taken: dict[tuple[int, int], int] = {}
    for (number, text), (x, y, _) in zip(lines, moves, strict=False):
        if not (0 <= x < width and 0 <= y < height):
            raise InputError(
                f"{source}, line {number}: {text} is off the {width}x{height} board;"
                f" squares run from 1,1 to {width},{height}"
            )
        first = taken.setdefault((x, y), number)
        if first != number:
            raise InputError(
                f"{source}, line {number}: {text} is on the square of line {first};"
                " remove one of the two"
            )


def _read_end(
    lines: Sequence[_Line], source: str
) -> tuple[tuple[str, str] | None, int | None, str]:
    """Names, code and footer from what follows the moves; how many lines there are tells which.

    None; a code; two names; names and code; names, code and footer.
    """
    texts = [_printable(text) for _, text in lines]
    names = (texts[0], texts[1]) if len(texts) >= 2 else None
    code, footer = [*(texts[2:] if names else texts), "", ""][:2]
    broken_move = any(_MOVE_START.match(name) for name in names or ())
    if len(texts) > 4 or broken_move or not _CODE.fullmatch(code or "0"):
        raise InputError(
            f"{source}, line {lines[0][0]}: {quote(texts[0], 20)} is no move (x,y or x,y,ms),"
            " and what begins there is not the two names and the code that end a game"
        )
    return names, int(code) if code else None, footer


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)
