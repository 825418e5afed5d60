"""From a spec and a wire to a referee, live or in a replay; and from how a game ended to the words of a record."""

import random
from collections.abc import Callable

from judge.errors import InputError
from judge.games import new_game
from judge.games.types import (
    SEATS,
    AgentFault,
    BothAtFault,
    Chance,
    Drawn,
    End,
    Game,
    Reply,
    Request,
    RuleResult,
    Verdict,
    decided,
)
from judge.protocols import new_protocol
from judge.protocols.types import AgentProtocol, Limits, Open
from judge.referee.blame import Void
from judge.referee.match import Ply, Referee
from judge.referee.spec import MatchSpec, PlyRecord
from judge.referee.wire import Wire


def build_referee(
    spec: MatchSpec, wire: Wire, watch: Callable[[Ply], None] | None = None
) -> Referee:
    """The referee of a spec on any wire. InputError when a protocol cannot speak the game."""
    game = new_game(spec.policy.game.name, spec.game_options())
    protocols = [_protocol(spec, seat, game) for seat in SEATS]
    return Referee(
        game,
        protocols,
        [_opening(spec, seat, game) for seat in SEATS],
        wire,
        spec.policy.clock,
        spec.policy.bytes,
        nature(spec.seed),
        watch,
    )


def nature(seed: int) -> Callable[[Request], Reply]:
    """Answers chance from a seed: the same seed, the same answers."""
    generator = random.Random(seed)

    def answer(request: Request) -> Reply:
        if not isinstance(request, Chance):
            raise TypeError(f"nature cannot answer {request!r}")
        return decided(Drawn(generator.randrange(request.outcomes)))

    return answer


def verdict_of(end: End | Void) -> Verdict:
    """The one word for how a game ended."""
    return Verdict.VOID if isinstance(end, Void) else end.verdict


def winner_of(end: End | Void) -> int | None:
    """The seat that won, if one did."""
    match end:
        case Void() | BothAtFault():
            return None
        case AgentFault(seat=seat):
            return 1 - seat
        case RuleResult(winner=winner):
            return winner


def plies_of(referee: Referee) -> tuple[PlyRecord, ...]:
    """The answers of a game, as a record has them."""
    return tuple(
        PlyRecord(seat=ply.seat, said=ply.said, ms=round(ply.charged_ns / 1e6, 3))
        for ply in referee.plies
    )


def _protocol(spec: MatchSpec, seat: int, game: Game) -> AgentProtocol:
    choice = spec.seats[seat]
    options = spec.policy.protocol.get(choice.protocol, {}) | choice.protocol_options
    protocol = new_protocol(choice.protocol, options)
    unspoken = (game.requests | game.events) - protocol.speaks - {Chance}
    if unspoken:
        names = ", ".join(sorted(kind.__name__ for kind in unspoken))
        raise InputError(
            f"{choice.name} speaks {choice.protocol}, which has no words for {names} "
            f"of {spec.policy.game.name}; choose another policy or agent"
        )
    return protocol


def _opening(spec: MatchSpec, seat: int, game: Game) -> Open:
    clock = spec.policy.clock
    names = (spec.seats[0].name, spec.seats[1].name)
    limits = Limits(clock.turn_ms, clock.match_ms, spec.policy.limits.memory_bytes)
    return Open(seat, game.describe(), names, limits)
