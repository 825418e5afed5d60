"""A running game as a seated person sees it, and the person's answers."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace

from judge.base.errors import InputError
from judge.catalog import game_entry
from judge.games.person import RESIGN, UnclearError
from judge.games.types import SEATS, AgentFault, Game, Reply, ReplyKind, Request, RuleResult, Verdict
from judge.protocols import PERSON
from judge.protocols.person import PersonOptions
from judge.record.spec import GameSpec
from judge.terminal.live import MAX_STORED_MOVES, Follower
from judge.terminal.screen import MoveShown, Screen, SeatShown
from judge.terminal.series_score import SeriesScore


class Seated(Follower):
    """A game that a person plays. `send` sends a line of an answer."""

    def __init__(self, spec: GameSpec, judge_pid: int) -> None:
        self.seat = self.viewer = next(seat for seat in SEATS if spec.seats[seat].protocol == PERSON)
        self._answered = 0
        self._typed: list[Reply] = []
        """Typed answers to be judged together with later ones."""
        self._prepared: list[str] = []
        words = game_entry(spec.policy.game.name).person()
        if words is None:
            raise InputError(f"a person cannot play {spec.policy.game.name}")
        self.words = words
        options = spec.seats[self.seat].protocol_options
        self._has_clock = PersonOptions.model_validate(options).clock
        self.names = (spec.seats[0].name, spec.seats[1].name)
        super().__init__(spec, judge_pid)

    def told(self) -> list[tuple[int | None, str]]:
        """The seat's events with the causing seat. Callers must escape the texts."""
        events = list(self.seats[self.seat].events)
        return [(getattr(event, "seat", None), self.words.tell(event, self.names)) for event in events]

    def screen(self, title: str, series: SeriesScore | None) -> Screen:
        moves = [
            MoveShown(number, self.seat if seat is None else seat, said, None)
            for number, (seat, said) in enumerate(self.told(), 1)
        ]
        seats = (self._seat(0), self._seat(1))
        return Screen(title, self.view(), seats, tuple(moves[-MAX_STORED_MOVES:]), self.result, series)

    def _seat(self, seat: int) -> SeatShown:
        shown = replace(super()._seat(seat), said="", search={}, messages=())
        if seat != self.seat or self._has_clock:
            return shown
        return replace(shown, turn_limit_ms=None, left_ms=None, match_ms=None, control="")

    def asked(self) -> Request | None:
        seen = self.seats[self.seat]
        given = sum(ply.seat == self.seat for ply in self.referee.plies)
        is_open = seen.is_asked and given >= self._answered and not self.result
        return self.referee.game.pending() if is_open else None

    def prepared(self) -> str | None:
        """The answer to the current request, if typed in advance."""
        request = self.asked() if self._prepared else None
        if request is None or self.words.together(request) != len(self._prepared):
            return None
        self._answered += 1
        return self._prepared.pop(0)

    def question(self, request: Request) -> str:
        return self.words.question(request, len(self._typed))

    def tips(self, request: Request) -> Sequence[str]:
        return (*self.words.tips(request), f"{RESIGN} gives the game up")

    def answer(self, request: Request, typed: str) -> str | None:
        """The line to send; None if more input is needed.

        Raises UnclearError for text that is not an answer or that the rules would punish: typing errors never lose a
        game.
        """
        words = self.words
        replies = [words.answer(request, line) for line in words.lines(request, typed)]
        if replies[0].kind is not ReplyKind.RESIGNED:
            replies = replies if len(replies) > 1 else [*self._typed, *replies]
            if len(replies) < words.together(request):
                self._typed = replies
                return None
            self._typed = []
            self._try(replies)
        self._answered += 1
        self._prepared = [reply.said for reply in replies[1:]]
        return replies[0].said

    def _try(self, replies: Sequence[Reply]) -> None:
        game = self.words.strict(deepcopy(self.referee.game))
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
