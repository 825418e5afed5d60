"""What a person at a seat may see of a game that is played, and what may be answered.

The game is followed as a live view follows it, but nothing is shown that the seat does not know: the board as the seat
sees it, what it was told, and of the opponent the clock and the memory.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace

from judge.cli.live_games import KEPT_MOVES, Follower
from judge.cli.screen import MoveShown, Screen, SeatShown
from judge.cli.series_score import SeriesScore
from judge.games.stratego.types import SETUP_ROWS, SetupRow
from judge.games.types import SEATS, AgentFault, Game, Reply, ReplyKind, Request, RuleResult, Verdict
from judge.protocols.person import NAME, PersonOptions
from judge.protocols.person_words import UnclearError, question, read_answer, told
from judge.records.views import BoardView
from judge.referee.side import Ply
from judge.referee.spec import MatchSpec

READY_SETUP = ("FB9B4596B9", "BB67859589", "7B48365978", "9612s79384")
"""A whole army, its flag in a corner of the last row; a side that owns the lower rows has it upside down."""


def seat_of(spec: MatchSpec) -> int:
    """Which seat is a person's."""
    return next(seat for seat in SEATS if spec.seats[seat].protocol == NAME)


class Seated(Follower):
    """A game that a person plays. Answers that are given are sent by `send`, a line each."""

    def __init__(self, spec: MatchSpec, judge_pid: int) -> None:
        self.seat = seat_of(spec)
        self._seen_before: BoardView | None = None
        self._answered = 0
        """How many answers of the person's were given."""
        self._prepared: list[str] = []
        """Rows of a set-up that are accepted and not yet asked for."""
        self._rows: list[str] = []
        """Rows of a set-up that are typed and not yet accepted."""
        options = spec.seats[self.seat].protocol_options
        self._has_clock = PersonOptions.model_validate(options).clock
        super().__init__(spec, judge_pid)

    @property
    def names(self) -> tuple[str, str]:
        """Who sits where."""
        return self.spec.seats[0].name, self.spec.seats[1].name

    # --- what is seen ------------------------------------------------------------------------------------------------

    def view(self) -> BoardView:
        """The board as the seat sees it."""
        with self._lock:
            return self._view()

    def told(self) -> list[tuple[int | None, str]]:
        """What the seat was told, and whose doing each was; it may hold an agent's words, so it is to be escaped."""
        with self._lock:
            events = list(self._onlooker.seats[self.seat].told)
        return [(getattr(event, "seat", None), told(event, self.names)) for event in events]

    def screen(self, title: str, tally: SeriesScore | None) -> Screen:
        """The game as it stands now, for this seat."""
        moves = [
            MoveShown(number, self.seat if seat is None else seat, said, None)
            for number, (seat, said) in enumerate(self.told(), 1)
        ]
        with self._lock:
            view = self._view()
            seats = (self._seat(0), self._seat(1))
        return Screen(title, view, seats, tuple(moves[-KEPT_MOVES:]), self.result, tally)

    def _view(self) -> BoardView:
        return self._entry.view(self._onlooker.game, self.seat).since(self._seen_before)

    def _seat(self, seat: int) -> SeatShown:
        shown = replace(super()._seat(seat), said="", search={}, messages=())
        if seat != self.seat or self._has_clock:
            return shown
        return replace(shown, turn_limit_ms=None, left_ms=None, match_ms=None)

    def _heed(self, ply: Ply) -> None:
        self._seen_before = self._entry.view(self._onlooker.game, self.seat)
        super()._heed(ply)

    # --- what is answered --------------------------------------------------------------------------------------------

    def asked(self) -> Request | None:
        """What the person must decide now; None while it is not asked."""
        with self._lock:
            seen = self._onlooker.seats[self.seat]
            given = sum(ply.seat == self.seat for ply in self._onlooker.referee.plies)
            is_open = seen.is_asked and given >= self._answered and not self.result
            return self._onlooker.game.pending() if is_open else None

    def prepared(self) -> str | None:
        """The answer to what is asked, if it was given already."""
        if self._prepared and isinstance(self.asked(), SetupRow):
            self._answered += 1
            return self._prepared.pop(0)
        return None

    def question(self, request: Request) -> str:
        """What is asked, of a set-up the row that is to be typed next."""
        if isinstance(request, SetupRow):
            request = SetupRow(request.seat, len(self._rows))
        return question(request)

    def answer(self, request: Request, typed: str) -> str | None:
        """The line to be sent, or None where more is to be typed first; UnclearError where it is no answer.

        It is one too where the rules forbid what was typed: nobody loses by a slip of the fingers.
        """
        if isinstance(request, SetupRow):
            return self._set_up(request, typed)
        reply = read_answer(request, typed)
        if reply.kind is not ReplyKind.RESIGNED:
            self._try([reply])
        self._answered += 1
        return reply.said

    def _set_up(self, request: SetupRow, typed: str) -> str | None:
        """All rows are typed, and tried, before the first is sent."""
        text = typed.strip().lower()
        if text == "auto":
            self._rows = list(READY_SETUP if self.seat == 0 else reversed(READY_SETUP))
        else:
            reply = read_answer(request, typed)
            if reply.kind is ReplyKind.RESIGNED:
                self._answered += 1
                return reply.said
            self._rows.append(reply.said)
        if len(self._rows) < SETUP_ROWS:
            return None
        rows, self._rows = self._rows, []
        self._try([read_answer(request, row) for row in rows])
        self._answered += 1
        self._prepared = rows[1:]
        return rows[0]

    def _try(self, replies: Sequence[Reply]) -> None:
        """Give answers to a copy of the game; UnclearError where the rules hold one against the seat."""
        with self._lock:
            game = deepcopy(self._onlooker.game)
        self._entry.be_strict(game)
        for reply in replies:
            if game.end is None:
                game.apply(reply)
        objection = _objection(game, self.seat)
        if objection:
            raise UnclearError(objection)


def _objection(game: Game, seat: int) -> str:
    match game.end:
        case AgentFault(seat=loser, reason=reason) if loser == seat:
            return reason
        case RuleResult(verdict=Verdict.FOUL, winner=winner, reason=reason) if winner != seat:
            return f"{reason}: whoever plays it loses"
        case _:
            return ""
