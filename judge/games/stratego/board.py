"""Pieces, set-up, views, legal moves and fights of Stratego.

RED sets up four rows, then BLUE. Both sides are asked after a fault, so there can be two faults (managers of 2011 and
2012).
"""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from judge.base.text import sentence
from judge.games.stratego.types import RED, SETUP_ROWS, SIZE, Direction, Move, SetUpRow, SetupRow, no_decision
from judge.games.types import SEATS, AgentFault, BothAtFault, Reply, ReplyKind, Verdict


class Rank(NamedTuple):
    """`value` is 11 - rank, 0 for bomb and flag (UCC's manual, EXIT/OUTPUT); the higher one wins."""

    letter: str
    number: int
    value: int


KINDS = {
    kind.letter: kind
    for kind in (
        Rank("1", 1, 10),
        Rank("2", 1, 9),
        Rank("3", 2, 8),
        Rank("4", 3, 7),
        Rank("5", 4, 6),
        Rank("6", 4, 5),
        Rank("7", 4, 4),
        Rank("8", 5, 3),
        Rank("9", 8, 2),
        Rank("s", 1, 1),
        Rank("B", 6, 0),
        Rank("F", 1, 0),
    )
}

OFF_BOARD = "Coords outside board"
NO_PIECE = "Move does not select a piece"
NOT_YOURS = "Selected piece belongs to other player"
IMMOBILE = "Selected piece is not mobile (FLAG or BOMB)"
CANNOT = "Selected unit cannot move that way"
BLOCKED = "Attempted move into square occupied by neutral or allied piece"


class Clash(Enum):
    """Outcome of a fight."""

    FLAG = "flag"
    KILLS = "kills"
    DIES = "dies"
    BOTH_DIE = "both die"
    EVEN = "even"


def clash_of(attacker: str, defender: str, bomb_survives: bool) -> Clash:
    """The attacker's outcome."""
    match attacker, defender:
        case _, "F":
            return Clash.FLAG
        case "8", "B":
            return Clash.KILLS
        case _, "B":
            return Clash.DIES if bomb_survives else Clash.BOTH_DIE
        case "s", "1":
            return Clash.KILLS
    difference = KINDS[attacker].value - KINDS[defender].value
    if difference == 0:
        return Clash.EVEN
    return Clash.KILLS if difference > 0 else Clash.DIES


_STRIDE = SIZE + 1
# A row's eleventh cell ends a line of a view and bounds steps.
_STEPS = {Direction.UP: -_STRIDE, Direction.DOWN: _STRIDE, Direction.LEFT: -1, Direction.RIGHT: 1}
_EMPTY, _LAKE, _EDGE = 0, 3, 4
_DOT, _HASH, _SCOUT = b".#9"
_IMMOBILE = frozenset(b"BF")
_MOBILE = frozenset(b"123456789s")
_VALUES = {ord(kind.letter): kind.value for kind in KINDS.values()}
_LAKES = [(x, y) for x in (2, 3, 6, 7) for y in (4, 5)]
_FIRST_ROW = (0, SIZE - SETUP_ROWS)


def _index(x: int, y: int) -> int:
    return (y + 1) * _STRIDE + x


class StrategoBoard:
    """Ten by ten squares with eight lakes. `values` and `mobile` are (RED's, BLUE's)."""

    def __init__(self) -> None:
        edge_row, row = bytes([_EDGE] * _STRIDE), bytes(SIZE) + bytes([_EDGE])
        # 0 empty, 1 RED, 2 BLUE, 3 lake, 4 edge.
        self._owners = bytearray(edge_row + row * SIZE + edge_row)
        empty = bytearray((b"." * SIZE + b"\n") * (SIZE + 2))
        for x, y in _LAKES:
            self._owners[_index(x, y)] = _LAKE
            empty[_index(x, y)] = ord("+")
        self._views = (bytearray(empty), bytearray(empty))
        self.values = [0, 0]
        self.mobile = [0, 0]

    def seen_by(self, seat: int) -> str:
        return self._views[seat][_STRIDE:-_STRIDE].decode("ascii")

    def letter_at(self, seat: int, at: int) -> str:
        return chr(self._views[seat][at])

    def set_up(self, seat: int, rows: Sequence[str], partial: bool) -> str | None:
        """Places pieces up to the first error, which is returned."""
        left = {letter: kind.number for letter, kind in KINDS.items()}
        for y, row in enumerate(rows, _FIRST_ROW[seat]):
            if len(row) != SIZE:
                return sentence(f"row {y - _FIRST_ROW[seat] + 1} has {len(row)} characters, not {SIZE}")
            for x, letter in enumerate(row):
                if letter == ".":
                    continue
                if left.get(letter, 0) == 0:
                    what = (
                        sentence(f"too many pieces {letter}") if letter in left else sentence(f"{letter!a} is no piece")
                    )
                    return sentence(f"row {y - _FIRST_ROW[seat] + 1}: {what}")
                left[letter] -= 1
                self._place(seat, _index(x, y), ord(letter))
        if left["F"]:
            return sentence("there is no flag")
        missing = "".join(letter for letter, count in left.items() if count)
        return sentence(f"pieces are missing: {missing}") if missing and not partial else None

    def rows_of(self, seat: int) -> tuple[str, ...]:
        view, owners = self._views[seat], self._owners
        starts = [_index(0, _FIRST_ROW[seat] + row) for row in range(SETUP_ROWS)]
        return tuple(
            "".join(chr(view[at]) if owners[at] == seat + 1 else "." for at in range(start, start + SIZE))
            for start in starts
        )

    def aim(self, seat: int, move: Move, own_square: bool) -> tuple[int, int] | str:
        """Start and target, or why the move is illegal, in the manager's words."""
        if not (0 <= move.x < SIZE and 0 <= move.y < SIZE):
            return OFF_BOARD
        owners = self._owners
        start = at = (move.y + 1) * _STRIDE + move.x
        if owners[start] != seat + 1:
            return NO_PIECE if owners[start] == _EMPTY else NOT_YOURS
        letter = self._views[seat][start]
        if letter in _IMMOBILE:
            return IMMOBILE
        steps = move.steps
        if steps != 1:
            if steps < 1:
                return BLOCKED if own_square else CANNOT
            if letter != _SCOUT:
                return CANNOT
        step = _STEPS[move.direction]
        for _ in range(steps - 1):
            at += step
            if owners[at] != _EMPTY:
                return CANNOT if owners[at] == _EDGE else BLOCKED
        at += step
        owner = owners[at]
        if owner == _EMPTY or owner == 2 - seat:
            return start, at
        return CANNOT if owner == _EDGE else BLOCKED

    def is_free(self, at: int) -> bool:
        return self._owners[at] == _EMPTY

    def advance(self, seat: int, start: int, at: int) -> None:
        own_view, other_view = self._views[seat], self._views[1 - seat]
        own_view[at] = own_view[start]
        other_view[at] = _HASH
        own_view[start] = other_view[start] = _DOT
        self._owners[at] = seat + 1
        self._owners[start] = _EMPTY

    def remove(self, seat: int, at: int) -> None:
        letter = self._views[seat][at]
        self.values[seat] -= _VALUES[letter]
        self.mobile[seat] -= letter in _MOBILE
        self._views[0][at] = self._views[1][at] = _DOT
        self._owners[at] = _EMPTY

    def can_move(self, seat: int) -> bool:
        owners, view = self._owners, self._views[seat]
        targets = (_EMPTY, 2 - seat)
        return any(
            owners[at + step] in targets
            for at, owner in enumerate(owners)
            if owner == seat + 1 and view[at] in _MOBILE
            for step in _STEPS.values()
        )

    def _place(self, seat: int, at: int, letter: int) -> None:
        self._owners[at] = seat + 1
        self._views[seat][at] = letter
        self._views[1 - seat][at] = _HASH
        self.values[seat] += _VALUES[letter]
        self.mobile[seat] += letter in _MOBILE


class SetupPhase:
    """Requests rows and places them on `board`."""

    def __init__(self, board: StrategoBoard, partial: bool) -> None:
        self.seat = RED
        self.placed: list[tuple[str, ...] | None] = [None, None]
        self.faults: list[AgentFault | None] = [None, None]
        self._board = board
        self._partial = partial
        self._rows: list[str] = []

    @property
    def is_over(self) -> bool:
        return None not in self.placed

    @property
    def fault(self) -> AgentFault | BothAtFault | None:
        red, blue = self.faults
        return BothAtFault((red, blue)) if red is not None and blue is not None else red or blue

    def pending(self) -> SetupRow:
        return SetupRow(self.seat, len(self._rows))

    def take(self, reply: Reply) -> None:
        row = reply.decision
        if reply.kind is not ReplyKind.DECIDED:
            self.fail(no_decision(self.seat, reply, "a row of a set-up"))
        elif not isinstance(row, SetUpRow):
            raise TypeError(f"stratego asked for a Row, not for a {type(row).__name__}")
        else:
            self._rows.append(row.pieces)
            if len(self._rows) < SETUP_ROWS:
                return
            objection = self._board.set_up(self.seat, self._rows, self._partial)
            if objection is not None:
                self.fail(AgentFault(Verdict.ILLEGAL, self.seat, sentence(f"bad set-up: {objection}")))
            else:
                self._settle(self.seat)

    def fail(self, fault: AgentFault) -> None:
        self.faults[fault.seat] = fault
        self._settle(fault.seat)

    def _settle(self, seat: int) -> None:
        self.placed[seat] = self._board.rows_of(seat)
        if seat == self.seat:
            self._rows = []
            self.seat = next((other for other in SEATS if self.placed[other] is None), seat)
