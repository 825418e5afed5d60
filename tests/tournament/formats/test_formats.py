"""Formats as a contest file gives them: a name, options, and what is refused."""

import tomllib
from collections.abc import Sequence
from dataclasses import replace

import pytest
from pydantic import TypeAdapter, ValidationError

from judge.tournament.formats import FORMATS, AnyFormat, TournamentFormat
from judge.tournament.results import PlayedPairing
from tests.contest.rounds import better_seed_wins, entries, everything_is_drawn, play_out

READER: TypeAdapter[AnyFormat] = TypeAdapter(AnyFormat)

SHORTEST = {name: {"swiss": {"rounds": 2}, "sprt": {"rounds": 30}}.get(name, {}) for name in FORMATS}
"""Options that a format cannot do without, or that shorten its tests."""

WITH_ROUNDS = [name for name in FORMATS if FORMATS[name].has_rounds]


def read(text: str) -> TournamentFormat:
    return READER.validate_python(tomllib.loads(text))


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_read_by_its_name(name: str) -> None:
    chosen = READER.validate_python({"name": name, **SHORTEST[name]})

    assert FORMATS[name] is type(chosen)
    assert chosen == READER.validate_json(chosen.model_dump_json())


@pytest.mark.parametrize("name", WITH_ROUNDS)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7])
def test_every_format_ends_and_ranks_every_agent_once(name: str, count: int) -> None:
    """Also where nobody, or one alone, has entered."""
    chosen = READER.validate_python({"name": name, **SHORTEST[name]})
    agents = entries(count)
    played = play_out(chosen, agents, everything_is_drawn)

    least, most = chosen.agents
    assert (least <= count <= most) == bool(played)
    tables = [(each.pairing.round, each.pairing.table) for each in played]
    assert len(tables) == len(set(tables))
    listed = [agent for tier in chosen.rank(agents, played)[0] for agent in tier]
    assert sorted(entry.id for entry in agents) == sorted(listed)


@pytest.mark.parametrize("name", ["round-robin", "double-round-robin", "gauntlet"])
def test_all_rounds_are_drawn_at_once_if_results_do_not_change_them(name: str) -> None:
    chosen = READER.validate_python({"name": name})
    known = chosen.next(entries(7), [], 0)

    for play in (everything_is_drawn, lambda pairing: (2, 0)):
        assert known == [each.pairing for each in play_out(chosen, entries(7), play)]


@pytest.mark.parametrize("name", WITH_ROUNDS)
def test_after_a_part_of_the_rounds_that_are_drawn_at_once_the_others_follow(name: str) -> None:
    chosen = READER.validate_python({"name": name, **SHORTEST[name]})
    agents = entries(2 if name == "sprt" else 13)
    played: list[PlayedPairing] = []
    while pairings := chosen.next(agents, played, 0):
        drawn = [PlayedPairing(pairing, (), better_seed_wins(pairing)) for pairing in pairings]
        for number in {pairing.round for pairing in pairings[:-1]}:
            later = [pairing for pairing in pairings if pairing.round > number]
            part = [*played, *(each for each in drawn if each.pairing.round <= number)]
            assert not later or later == chosen.next(agents, part, 0)
        played += drawn


@pytest.mark.parametrize("name", WITH_ROUNDS)
@pytest.mark.parametrize("count", [0, 1, 2, 6, 13])
def test_remaining_draws_are_known_or_bounded_below(name: str, count: int) -> None:
    """Before and after the results of each draw; also when somebody is disqualified after the first one."""
    chosen = READER.validate_python({"name": name, **SHORTEST[name]})
    agents = entries(2 if name == "sprt" and count > 2 else count)
    played: list[PlayedPairing] = []
    said: list[int] = []

    def all_of(pairings: Sequence[PlayedPairing]) -> int:
        return sum(each.pairing.second is not None for each in pairings) + chosen.to_come(agents, pairings)

    while drawn := chosen.next(agents, played, 0):
        said.append(all_of([*played, *(PlayedPairing(pairing, (), (0, 0)) for pairing in drawn)]))
        if not played:
            agents, said = [replace(agent, active=agent.seed != 3) for agent in agents], []
        played += [PlayedPairing(pairing, (), everything_is_drawn(pairing)) for pairing in drawn]
        said.append(all_of(played))

    assert 0 == chosen.to_come(agents, played)
    assert all(each == all_of(played) if chosen.counts_games else each <= all_of(played) for each in said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = 'pyramid'", "does not match any of the expected tags"),
        ("name = 'swiss'", "rounds\n  Field required"),
        ("name = 'knockout'\nrounds = 3", "Extra inputs are not permitted"),
        ("name = 'gauntlet'\ngames = 0", "greater than or equal to 1"),
    ],
)
def test_errors_are_named(text: str, said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        read(text)

    assert said in str(refused.value)
