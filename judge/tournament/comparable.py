"""Whether contests may be rated together: they need the same rules and clock."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from judge.games import new_game
from judge.record.policy import Policy

CLOCK = ("turn_ms", "match_ms")


class Terms(Protocol):
    """Rules and clocks of a contest, planned or locked in."""

    @property
    def policy(self) -> Policy: ...

    @property
    def clocks(self) -> Mapping[str, str]:
        """Of single agents."""


def terms_difference(one: Terms, other: Terms) -> str:
    """The difference, such as `clock.turn_ms is 200 and 1500`; empty if they may be rated together."""
    clocks = [", ".join(f"{name} {clock}" for name, clock in sorted(terms.clocks.items())) for terms in (one, other)]
    differs = [f"clocks is {clocks[0] or 'empty'} and {clocks[1] or 'empty'}"] if clocks[0] != clocks[1] else []
    return ", ".join([*_differences(one.policy, other.policy), *differs])


def _differences(one: Policy, other: Policy) -> Iterator[str]:
    if one.game.name != other.game.name:
        yield f"the game is {one.game.name} and {other.game.name}"
        return
    facts, others = (new_game(policy.game.name, policy.game.options).describe() for policy in (one, other))
    for key in sorted(facts.keys() | others.keys()):
        if facts.get(key) != others.get(key):
            yield f"game.options.{key} is {facts.get(key)} and {others.get(key)}"
    has_control = one.clock.control is not None or other.clock.control is not None
    if has_control and one.clock.notation != other.clock.notation:
        yield f"clock.control is {one.clock.notation} and {other.clock.notation}"
    for key in () if has_control else CLOCK:
        first, second = (getattr(policy.clock, key) for policy in (one, other))
        if first != second:
            yield f"clock.{key} is {first} and {second}"
    if one.limits.memory_bytes != other.limits.memory_bytes:
        yield f"limits.memory_bytes is {one.limits.memory_bytes} and {other.limits.memory_bytes}"
    if one.box.freeze != other.box.freeze:
        yield f"box.freeze is {one.box.freeze} and {other.box.freeze}"
