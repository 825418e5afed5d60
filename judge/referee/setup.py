"""Builds a referee from a spec."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from judge.base.errors import InputError
from judge.games import GAMES, new_game
from judge.games.types import SEATS, Chance, Drawn, Game, Reply, Request, decided
from judge.protocols import new_protocol, not_carried, protocol_entry
from judge.protocols.types import AgentProtocol, Open, SeatLimits
from judge.record.policy import Policy
from judge.record.seeds import Seed, numbers
from judge.record.spec import GameSpec, RecordFile, SeatSpec
from judge.record.transcript import unseal
from judge.referee.referee import Referee
from judge.referee.replay import Replay, rejoined
from judge.referee.side import Observer
from judge.sandbox.layout import persistent_path


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
    game = game or new_game(spec.policy.game.name, spec.game_options())
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
    game = new_game(spec.policy.game.name, spec.game_options())
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
    generator = numbers(seed)

    def answer(request: Request) -> Reply:
        if not isinstance(request, Chance):
            raise TypeError(f"nature cannot answer {request!r}")
        return decided(Drawn(generator.randrange(request.outcomes)))

    return answer


def _protocol(spec: GameSpec, seat: int, game: Game) -> AgentProtocol:
    choice = spec.seats[seat]
    options = spec.policy.protocol.get(choice.protocol, {}) | choice.protocol_options
    rules = GAMES.entry(spec.policy.game.name)
    if why := not_carried(choice.protocol, rules):
        raise InputError(
            f"{choice.name} speaks {choice.protocol}, which {why} (policy {spec.policy.name}); "
            "choose another policy or agent"
        )
    protocol = new_protocol(choice.protocol, options, rules)
    unspoken = (game.requests | game.events) - protocol.speaks - {Chance}
    if unspoken:
        names = ", ".join(sorted(kind.__name__ for kind in unspoken))
        raise InputError(
            f"{choice.name} speaks {choice.protocol}, which has no commands for {names} "
            f"of {spec.policy.game.name}; choose another policy or agent"
        )
    objection = protocol_entry(choice.protocol).objection(game.describe())
    if objection is not None:
        raise InputError(
            f"{choice.name} speaks {choice.protocol}, which {objection} "
            f"({spec.policy.game.name}, policy {spec.policy.name}); choose another policy or agent"
        )
    return protocol


def _opening(spec: GameSpec, seat: int, game: Game, path: str | None) -> Open:
    clock = spec.policy.clock
    has_commands = protocol_entry(spec.seats[seat].protocol).has_ponder_commands
    names = (spec.seats[0].name, spec.seats[1].name)
    runtime = spec.seats[seat].runtime
    folder = (path or persistent_path(spec.box, runtime)) if spec.policy.folders.persistent else None
    memory_bytes = spec.policy.limits.memory_bytes
    limits = SeatLimits(clock.controls[seat], memory_bytes, folder, clock.ponder and has_commands)
    return Open(seat, game.describe(), names, limits)
