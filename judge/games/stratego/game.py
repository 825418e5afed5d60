"""Stratego: RED sets up, then BLUE, then they alternate until a flag is captured, a side fails or the limit of turns.

Legal moves are in `judge.games.stratego.board`, differences between rule sets in `judge.games.stratego.options`. The
OUTCOME words (UCC's manual, EXIT/OUTPUT) and when `result` prints each:

    VICTORY         the named side captured the flag or the last movable piece, or has more value after two NO_MOVE
    DEFEAT          the named side, which ended the game by NO_MOVE, has less value
    SURRENDER       the named side resigned
    DRAW            neither side can win any more, or two NO_MOVE with equal value
    DRAW_DEFAULT    the turn limit
    ILLEGAL         the named side lost by its move, its reply, its silence or its death
    DEFAULT         the other side lost so out of turn: RED's bad set-up is settled after BLUE's
    BOTH_ILLEGAL    both set-ups are bad, `neither BOTH` (in 2011 also a single one, with the offender's name)
    BAD_SETUP       2012: a bad set-up, with the offender's name or `neither BOTH`
    INTERNAL_ERROR  2011: the turn limit after a combat; never printed otherwise, as a void has no result
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from judge.base.text import is_repeatable, quote, repeated, sentence
from judge.games.stratego.board import Clash, SetupPhase, StrategoBoard, clash_of
from judge.games.stratego.options import StrategoOptions, read_options
from judge.games.stratego.types import (
    BLUE,
    COLOURS,
    RED,
    SETUP_ROWS,
    SIZE,
    Confirmed,
    HalfMove,
    Move,
    NoMove,
    PlayedMove,
    SetupRow,
    Started,
    no_decision,
    one_word,
    read_reply,
    write_move,
)
from judge.games.types import (
    NATURE,
    AgentFault,
    BothAtFault,
    Chance,
    Decision,
    Drawn,
    End,
    Event,
    Reply,
    ReplyKind,
    Request,
    RuleResult,
    Verdict,
)

UNINTELLIGIBLE = "Unintelligable response"
SURRENDERED = "This player has surrendered!"
"""Reasons in a log, in the manager's spelling."""

CONFIRMED = re.compile(r"(.*) (OK|ILLEGAL|FLAG|VICTORY_FLAG|VICTORY_ATTRITION|(?:KILLS|DIES|BOTHDIE) \S \S)", re.DOTALL)
"""A reply and its outcome."""

_OF_THE_MANAGER = re.compile(r"\s*(QUIT|START)")
"""Begins a line at which an agent would exit or play."""


class Stratego:
    """Seat 0 is RED."""

    requests: ClassVar[frozenset[type[Request]]] = frozenset({SetupRow, HalfMove, Chance})
    events: ClassVar[frozenset[type[Event]]] = frozenset({Started, Confirmed})

    def __init__(self, options: StrategoOptions) -> None:
        self.options = options
        self.turn = 0
        self.half_moves: list[PlayedMove] = []
        self.outcome = ""
        self.named: int | None = None
        self.reason = ""
        self._board = StrategoBoard()
        self.setup = SetupPhase(self._board, options.partial_setup)
        self._end: End | None = None
        self.seat = RED
        self._even: tuple[str, str, int, int] | None = None
        self._no_moves = 0
        self._clash: Clash | None = None

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Raises as `read_options`."""
        return cls(read_options(options))

    @property
    def longest(self) -> int | None:
        limit = self.options.turn_limit
        return None if limit is None else 2 * (SETUP_ROWS + limit)

    def describe(self) -> dict[str, Any]:
        return {"width": SIZE, "height": SIZE}

    @property
    def end(self) -> End | None:
        return self._end

    @property
    def values(self) -> tuple[int, int]:
        return self._board.values[RED], self._board.values[BLUE]

    def seen_by(self, seat: int) -> str:
        return self._board.seen_by(seat)

    def renegotiate(self) -> bool:
        return False

    def pending(self) -> Request:
        if self._even is not None:
            return Chance(NATURE, 2)
        if self.turn == 0:
            return self.setup.pending()
        return HalfMove(self.seat, self.turn, self._board.seen_by(self.seat))

    def apply(self, reply: Reply) -> Sequence[Event]:
        if self._end is not None:
            raise RuntimeError("the game is over: nothing is pending")
        if self._even is not None:
            return self._toss(reply.decision)
        if self.turn == 0:
            self.setup.take(reply)
            return self._after_setup()
        return self._take_half_move(reply)

    def forfeit(self, fault: AgentFault) -> Sequence[Event]:
        if self._end is not None:
            return ()
        if self.turn == 0:
            self.setup.fail(fault)
            return self._after_setup()
        confirmed = self._note_half_move("")
        if self.options.setup_word == "blame":
            self._finish_on_turn(fault, fault.seat)
        else:
            self._finish(fault, "ILLEGAL", fault.seat)
        return (confirmed,) if self.options.confirm_silence else ()

    def result(self, names: tuple[str, str]) -> str:
        """`NAME COLOUR OUTCOME TURN RED_VALUE BLUE_VALUE`.

        UCC's manual, EXIT/OUTPUT, repeats OUTCOME by mistake. TURN is the last turn; at the turn limit, the turn that
        is not played.
        """
        who = "neither BOTH" if self.named is None else f"{one_word(names[self.named])} {COLOURS[self.named]}"
        red, blue = self.values
        return f"{who} {self.outcome} {self.turn} {red} {blue}"

    def _after_setup(self) -> Sequence[Event]:
        if not self.setup.is_over:
            return ()
        fault = self.setup.fault
        if fault is None:
            self.turn, self.seat = 1, RED
            self._begin_half_move()
            return (Started(RED),)
        self.seat = self.setup.seat
        offender = None if isinstance(fault, BothAtFault) else fault.seat
        whose = "BOTH players" if offender is None else COLOURS[offender]
        self.reason = f"An illegal setup was made by {whose}"
        if self.options.setup_word != "blame":
            self._finish(fault, self.options.setup_word, offender)
        elif offender is None:
            self._finish(fault, "BOTH_ILLEGAL", None)
        else:
            self._finish_on_turn(fault, offender)
        return ()

    def _take_half_move(self, reply: Reply) -> Sequence[Event]:
        decision, said = reply.decision, reply.said
        if reply.kind is ReplyKind.RESIGNED:
            self.reason = SURRENDERED
            fault = no_decision(self.seat, reply, "a move")
            return self._end_by_move("SURRENDER OK", fault, "SURRENDER", is_move=False)
        if reply.kind is not ReplyKind.DECIDED:
            return self._take_unreadable(reply)
        if isinstance(decision, Move):
            is_verbatim = self.options.echo == "verbatim"
            if is_verbatim and not is_repeatable(said):
                return self._take_unreadable(Reply(ReplyKind.UNREADABLE, said))
            text = repeated(said) if is_verbatim else write_move(decision)
            aimed = self._board.aim(self.seat, decision, self.options.own_square)
            if isinstance(aimed, str):
                return self._refuse(text, aimed)
            return self._move(text, *aimed)
        if isinstance(decision, NoMove):
            return self._take_no_move(reply)
        raise TypeError(f"stratego asked for a Move, not for a {type(decision).__name__}")

    def _move(self, text: str, start: int, at: int) -> Sequence[Event]:
        board, seat = self._board, self.seat
        self._no_moves = 0
        if board.is_free(at):
            board.advance(seat, start, at)
            return self._go_on(f"{text} OK")
        attacker, defender = board.letter_at(seat, start), board.letter_at(1 - seat, at)
        clash = clash_of(attacker, defender, self.options.bomb_survives)
        if clash is Clash.EVEN:
            if self.options.equal_ranks == "chance":
                self._even = (text, attacker, start, at)
                return ()
            clash = Clash.BOTH_DIE
        return self._fight(text, clash, attacker, defender, start, at)

    def _toss(self, decision: Decision | None) -> Sequence[Event]:
        """At 0 the attacker wins."""
        if self._even is None or not isinstance(decision, Drawn):
            raise TypeError(f"stratego asked for a toss, not for {decision!r}")
        text, rank, start, at = self._even
        self._even = None
        clash = Clash.KILLS if decision.outcome == 0 else Clash.DIES
        return self._fight(text, clash, rank, rank, start, at)

    def _fight(self, text: str, clash: Clash, attacker: str, defender: str, start: int, at: int) -> Sequence[Event]:
        board, seat = self._board, self.seat
        if clash is Clash.FLAG:
            self.reason = "Captured the flag"
            won = RuleResult(Verdict.WIN, seat, sentence(f"{COLOURS[seat]} captured the flag"))
            ranks = f" {attacker} F" if self.options.flag_word == "KILLS" else ""
            return self._end_by_move(f"{text} {self.options.flag_word}{ranks}", won, "VICTORY")
        if clash is not Clash.DIES:
            board.remove(1 - seat, at)
        if clash is Clash.KILLS:
            board.advance(seat, start, at)
        else:
            board.remove(seat, start)
        is_bomb = clash is Clash.BOTH_DIE and defender == "B"
        word = self.options.bomb_word if is_bomb else _WORDS[clash]
        return self._go_on(f"{text} {word} {attacker} {defender}", clash)

    def _take_no_move(self, reply: Reply) -> Sequence[Event]:
        rule = self.options.no_move
        if rule == "unreadable":
            return self._take_unreadable(reply)
        if rule == "always":
            return self._go_on("NO_MOVE OK")
        if self._board.can_move(self.seat):
            return self._refuse("NO_MOVE", sentence("A piece could have moved"))
        self._no_moves += 1
        return self._go_on("NO_MOVE") if self._no_moves < 2 else self._settle_by_value()

    def _settle_by_value(self) -> Sequence[Event]:
        seat = self.seat
        difference = self.values[seat] - self.values[1 - seat]
        red, blue = self.values
        if difference == 0:
            self.reason = "Game declared a draw because neither player moved"
            drawn = RuleResult(Verdict.DRAW, None, sentence(f"neither side can move, with {red} points each"))
            return self._end_by_move("NO_MOVE", drawn, "DRAW")
        winner = seat if difference > 0 else 1 - seat
        self.reason = f"Neither player moved and {COLOURS[winner]} has the higher piece value"
        won = RuleResult(Verdict.WIN, winner, sentence(f"neither side can move; pieces are worth {red} to {blue}"))
        return self._end_by_move("NO_MOVE", won, "VICTORY" if winner == seat else "DEFEAT")

    def _refuse(self, text: str, objection: str) -> Sequence[Event]:
        text = f"{text} ILLEGAL"
        self._no_moves = 0
        if self.options.tolerate_illegal:
            return self._go_on(text)
        self.reason = objection
        fault = AgentFault(Verdict.ILLEGAL, self.seat, sentence(f"{objection}: {quote(text)}"))
        return self._end_by_move(text, fault, "ILLEGAL")

    def _take_unreadable(self, reply: Reply) -> Sequence[Event]:
        self._no_moves = 0
        text = _without_imitation(repeated(reply.said, "?"))
        if self.options.tolerate_unreadable:
            return self._go_on(text)
        self.reason = UNINTELLIGIBLE
        return self._end_by_move(text, no_decision(self.seat, reply, "a move"), "ILLEGAL", is_move=False)

    def _go_on(self, text: str, clash: Clash | None = None) -> Sequence[Event]:
        confirmed = self._note_half_move(text)
        self._clash = clash
        self._look_for_attrition()
        if self._end is None:
            if self.seat == RED:
                self.seat = BLUE
            elif not self._is_dead_at_turn_end():
                self.seat = RED
                self.turn += 1
            if self._end is None:
                self._begin_half_move()
        elif not self.options.confirm_last:
            return ()
        return (confirmed,)

    def _note_half_move(self, text: str) -> Confirmed:
        self.half_moves.append(PlayedMove(self.turn, self.seat, text))
        return Confirmed(None, self.seat, self.turn, text)

    def _begin_half_move(self) -> None:
        limit = self.options.turn_limit
        if self.seat == RED and limit is not None and self.turn >= limit:
            self._reach_limit()
        else:
            self._look_for_attrition()

    def _reach_limit(self) -> None:
        # The last mover, or RED without moves (managers of 2011 and 2012).
        self.seat = BLUE if self.half_moves else RED
        drawn = RuleResult(Verdict.DRAW, None, sentence(f"the limit of {self.options.turn_limit} turns"))
        if self.options.quiet_limit and self._clash is not None:
            self.reason = f"Status returned {self._clash.name}, unsure why game halted..."
            self._finish(drawn, "INTERNAL_ERROR", self.seat)
        else:
            self.reason = f"Game declared a draw after {self.turn} turns"
            self._finish(drawn, "DRAW_DEFAULT", self.seat)

    def _look_for_attrition(self) -> None:
        """The side to move has won or neither side can win (2012)."""
        seat, mobile = self.seat, self._board.mobile
        if self.options.attrition != "win" or mobile[1 - seat]:
            return
        if mobile[seat]:
            self.reason = "Destroyed all mobile enemy pieces"
            reason = sentence(f"{COLOURS[1 - seat]} has no movable piece left")
            self._finish(RuleResult(Verdict.WIN, seat, reason), "VICTORY", seat)
        else:
            self._draw_by_attrition()

    def _is_dead_at_turn_end(self) -> bool:
        """Neither side can win after BLUE's half-move (2011)."""
        if self.options.attrition != "draw" or any(self._board.mobile):
            return False
        self.turn += 1
        self._draw_by_attrition()
        return True

    def _draw_by_attrition(self) -> None:
        self.reason = "Game declared a draw because neither player has mobile pieces"
        self._finish(RuleResult(Verdict.DRAW, None, sentence("neither side has a movable piece")), "DRAW", self.seat)

    def _end_by_move(self, text: str, end: End, outcome: str, is_move: bool = True) -> Sequence[Event]:
        confirmed = self._note_half_move(text)
        self._finish(end, outcome, self.seat)
        is_confirmed = self.options.confirm_last and (is_move or self.options.echo == "verbatim")
        return (confirmed,) if is_confirmed else ()

    def _finish_on_turn(self, fault: AgentFault | BothAtFault, offender: int) -> None:
        self._finish(fault, "ILLEGAL" if offender == self.seat else "DEFAULT", self.seat)

    def _finish(self, end: End, outcome: str, named: int | None) -> None:
        self._end, self.outcome, self.named = end, outcome, named


def _without_imitation(text: str) -> str:
    """An unreadable reply must not look like a line of the manager, or a half-move that it confirms."""
    confirmed = CONFIRMED.fullmatch(text)
    is_move = confirmed is not None and read_reply(confirmed[1], len(text)).kind is not ReplyKind.UNREADABLE
    if not is_move and _OF_THE_MANAGER.match(text) is None:
        return text
    blanks = len(text) - len(text.lstrip())
    return f"{text[:blanks]}?{text[blanks:]}"


_WORDS = {Clash.KILLS: "KILLS", Clash.DIES: "DIES", Clash.BOTH_DIE: "BOTHDIE"}
