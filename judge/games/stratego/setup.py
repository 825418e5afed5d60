"""The set-up phase: four rows of RED, then four of BLUE. Both sides are asked after a fault, so there can be two faults
(managers of 2011 and 2012).
"""

from judge.base.text import sentence
from judge.games.stratego.board import StrategoBoard
from judge.games.stratego.types import RED, SETUP_ROWS, SetUpRow, SetupRow, no_decision
from judge.games.types import SEATS, AgentFault, BothAtFault, Reply, ReplyKind, Verdict


class SetupPhase:
    """Requests rows and places them on `board`."""

    def __init__(self, board: StrategoBoard, partial: bool) -> None:
        self.seat = RED
        self.placed: list[tuple[str, ...] | None] = [None, None]
        """None until judged."""
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
        """The fourth row is judged."""
        row = reply.decision
        if reply.kind is not ReplyKind.DECIDED:
            self.fail(no_decision(self.seat, reply, "a row of a set-up"))
        elif not isinstance(row, SetUpRow):
            raise TypeError(f"stratego asked for a Row, not for a {type(row).__name__}")
        else:
            self._rows.append(row.pieces)
            if len(self._rows) == SETUP_ROWS:
                self._judge()

    def fail(self, fault: AgentFault) -> None:
        """A side's set-up is bad."""
        self.faults[fault.seat] = fault
        self._settle(fault.seat)

    def _judge(self) -> None:
        objection = self._board.set_up(self.seat, self._rows, self._partial)
        if objection is not None:
            self.fail(AgentFault(Verdict.ILLEGAL, self.seat, sentence(f"bad set-up: {objection}")))
        else:
            self._settle(self.seat)

    def _settle(self, seat: int) -> None:
        self.placed[seat] = self._board.rows_of(seat)
        if seat == self.seat:
            self._rows = []
            self.seat = next((other for other in SEATS if self.placed[other] is None), seat)
