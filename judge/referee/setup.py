"""Builds a referee from a spec."""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from judge.base.errors import InputError
from judge.games import GAMES
from judge.games.types import SEATS, Chance, Drawn, Game, Reply, Request, decided
from judge.protocols import new_protocol, not_carried, protocol_entry
from judge.protocols.types import AgentProtocol, Open, SeatLimits
from judge.record.policy import Policy
from judge.record.seeds import Seed, numbers
from judge.record.spec import GameSpec, RecordFile, SeatSpec
from judge.record.transcript import unseal
from judge.referee.observer import Observer
from judge.referee.referee import Referee
from judge.referee.replay import Replay, rejoined
from judge.sandbox.box import persistent_path


def build_referee(
    spec: GameSpec,
    observer: Observer | None = None,
    game: Game | None = None,
    *,
    folders: Mapping[int, str] = MappingProxyType({}),
) -> Referee:
    """Raises InputError if a protocol does not support the game.

    `game` replaces the spec's. `folders` maps seats to paths of persistent folders.
    """
    game = game or _new_game(spec)
    return Referee(
        game,
        [_protocol(spec, seat, game) for seat in SEATS],
        [_opening(spec, seat, game, folders.get(seat)) for seat in SEATS],
        spec.policy.clock,
        spec.policy.bytes,
        chance_from_seed(spec.seed),
        observer,
        kernel_bytes=spec.policy.enforced().kernel_bytes,
    )


def replay_of(file: RecordFile, *, breaks_off: bool = False) -> Replay:
    """The replay of a record, not begun. Raises InputError for an invalid spec or transcript."""
    return Replay(build_referee(file.record.spec), rejoined(unseal(file.transcript)), breaks_off=breaks_off)


def check_playable(spec: GameSpec) -> None:
    """Raise InputError if the spec cannot be played."""
    game = _new_game(spec)
    for seat in SEATS:
        _protocol(spec, seat, game)


def in_contest(seat: SeatSpec, policy: Policy) -> SeatSpec:
    """Add the protocol's contest options; the policy and the agent take precedence."""
    given = protocol_entry(seat.protocol).in_contest
    chosen = policy.protocol.get(seat.protocol, {})
    options = {key: value for key, value in given.items() if key not in chosen}
    return seat.model_copy(update={"protocol_options": options | seat.protocol_options})


def chance_from_seed(seed: Seed) -> Callable[[Request], Reply]:
    """A function that answers chance requests."""
    generator = cache(numbers)  # few games have chance

    def answer(request: Request) -> Reply:
        if not isinstance(request, Chance):
            raise TypeError(f"nature cannot answer {request!r}")
        return decided(Drawn(generator(seed).randrange(request.outcomes)))

    return answer


def _new_game(spec: GameSpec) -> Game:
    return GAMES.entry(spec.policy.game.name).new(spec.game_options())


def _protocol(spec: GameSpec, seat: int, game: Game) -> AgentProtocol:
    choice, policy = spec.seats[seat], spec.policy

    def refusal(why: str) -> InputError:
        return InputError(f"{choice.name} speaks {choice.protocol}, which {why}; choose another policy or agent")

    rules = GAMES.entry(policy.game.name)
    if why := not_carried(choice.protocol, rules):
        raise refusal(f"{why} (policy {policy.name})")
    options = policy.protocol.get(choice.protocol, {}) | choice.protocol_options
    protocol = new_protocol(choice.protocol, options, rules)
    if unspoken := (game.requests | game.events) - protocol.speaks - {Chance}:
        names = ", ".join(sorted(kind.__name__ for kind in unspoken))
        raise refusal(f"has no commands for {names} of {policy.game.name}")
    if (objection := protocol_entry(choice.protocol).objection(game.describe())) is not None:
        raise refusal(f"{objection} ({policy.game.name}, policy {policy.name})")
    return protocol


def _opening(spec: GameSpec, seat: int, game: Game, path: str | None) -> Open:
    choice, policy, clock = spec.seats[seat], spec.policy, spec.policy.clock
    folder = (path or persistent_path(spec.box, choice.runtime)) if policy.folders.persistent else None
    ponders = clock.ponder and protocol_entry(choice.protocol).has_ponder_commands
    limits = SeatLimits(clock.controls[seat], policy.limits.memory_bytes, folder, ponders)
    return Open(seat, game.describe(), (spec.seats[0].name, spec.seats[1].name), limits)
