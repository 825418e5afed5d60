"""Groups and leagues: who is drawn where, who goes up, and how the whole field is ranked."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from judge.contest_games import GameResult, Pairing
from judge.games.types import Verdict
from judge.tournament.formats.base import Competitor
from judge.tournament.formats.groups import Groups, Leagues, deal_into_groups, promoted_count, seated
from judge.tournament.results import PlayedPairing
from tests.contest.rounds import better_seed_wins, entries, everything_is_drawn, of_round, play_out


def members(played: list[PlayedPairing], group: str) -> set[str]:
    return {a for each in played if each.pairing.group == group for a in each.pairing.agents}


def test_entries_are_dealt_there_and_back() -> None:
    seeds = [[entry.seed for entry in hand] for hand in deal_into_groups(entries(10), 3)]

    assert [[1, 6, 7], [2, 5, 8], [3, 4, 9, 10]] == seeds


def test_the_best_of_each_group_play_the_final() -> None:
    """Three groups of six and a final, as in 2005."""
    played = play_out(Groups(groups=3, promoted=2), entries(18))

    assert {"1", "6", "7", "12", "13", "18"} == members(played, "A")
    assert {"1", "6", "2", "5", "3", "4"} == members(played, "final")
    assert 3 * 15 + 15 == len(played)
    # Groups play at the same time: five rounds of nine pairings, then five of three.
    assert [9] * 5 + [3] * 5 == [len(of_round(played, number)) for number in range(1, 11)]
    order = Groups(groups=3, promoted=2).rank(entries(18), played)[0]
    assert ["1", "2", "3", "4", "5", "6"] == [agent for tier in order[:6] for agent in tier]
    assert [["7", "8", "9"], ["10", "11", "12"], ["13", "14", "15"], ["16", "17", "18"]] == order[6:]


def test_group_opponents_who_meet_again_in_the_final_change_seats() -> None:
    played = play_out(Groups(groups=2, promoted=2), entries(8))
    meetings = [each.pairing for each in played if each.pairing.agents == {"1", "4"}]

    assert [("A", 0), ("final", 1)] == [(each.group, each.meeting) for each in meetings]
    assert meetings[0].first == meetings[1].second


def test_the_lowest_league_plays_first_and_its_best_move_up() -> None:
    """Four leagues, of 3, 3, 3 and the rest; the best two go up, which did not count above."""
    leagues = Leagues(sizes=(3, 3, 3), promoted=2)
    played = play_out(leagues, entries(12))

    assert ["4", "3", "2", "1"] == list(dict.fromkeys(each.pairing.group for each in played))
    assert {"10", "11", "12"} == members(played, "4")
    assert {"7", "8", "9", "10", "11"} == members(played, "3")
    assert {"4", "5", "6", "7", "8"} == members(played, "2")
    assert {"1", "2", "3", "4", "5"} == members(played, "1")
    assert [[str(seed)] for seed in range(1, 13)] == leagues.rank(entries(12), played)[0]


def test_agents_are_compared_by_results_in_place_and_below_those_seeded_higher() -> None:
    """10 has 2 * 2 points of the last league, and 2 of the third, for it beat 11, which came from below too."""
    leagues = Leagues(sizes=(3, 3, 3), promoted=2, ranking=("points", "direct"))
    whole = play_out(leagues, entries(12))
    values = leagues.rank(entries(12), [each for each in whole if each.pairing.group in "34"])[1]

    assert {"9": 4, "10": 2, "11": 0, "12": 0} == {agent: values[agent][0] for agent in ("9", "10", "11", "12")}
    assert [0, 0] == list(values["1"])
    # While the last league plays, whose first has more points than any other agent.
    leagues = Leagues(sizes=(3, 3, 3), promoted=2)
    last = [each for each in whole if each.pairing.group == "4"]
    order = leagues.rank(entries(12), last[:1])[0]
    assert [["1", "2", "3"], ["4", "5", "6"], ["7", "8", "9"]] == order[:3]
    assert {"10", "11", "12"} == {agent for tier in order[3:] for agent in tier}
    assert [["10", "11", "7", "8", "9"], ["12"]] == leagues.rank(entries(12), last)[0][2:]


@settings(deadline=None)
@given(st.integers(2, 14), st.integers(1, 3), st.randoms(use_true_random=False))
def test_only_the_group_winner_is_promoted(count: int, promoted: int, chance: random.Random) -> None:
    """Whatever is played: the final's members are the first of each group's order."""
    chosen = Groups(groups=2, promoted=promoted)
    agents = entries(count)
    played = play_out(chosen, agents, lambda _: chance.choice([(2, 0), (1, 1), (0, 2)]))
    first, final = chosen.stages(agents, played)

    for group in first:
        rising = {entry.id for entry in final[0].members if entry in group.members}
        staying = {entry.id for entry in group.members} - rising
        place = {agent: number for number, tier in enumerate(group.rank(played, chosen.ranking)[0]) for agent in tier}
        assert min(promoted, len(group.members)) == len(rising)
        assert all(place[up] <= place[down] for up in rising for down in staying)
    assert sorted(entry.id for entry in agents) == sorted(
        agent for tier in chosen.rank(agents, played)[0] for agent in tier
    )


def test_a_place_that_is_shared_at_the_border_goes_to_the_better_seed() -> None:
    played = play_out(Groups(groups=2, promoted=1), entries(6), everything_is_drawn)

    assert {"1", "2"} == members(played, "final")


def test_agents_with_the_same_place_in_their_groups_are_equal() -> None:
    """1 and 4 are equal in group A (1, 4, 5), which has no second place; in group B (2, 3, 6) 3 is second."""

    def play(pairing: Pairing) -> tuple[float, float]:
        return (1, 1) if pairing.agents == {"1", "4"} else better_seed_wins(pairing)

    chosen, agents = Groups(groups=2, promoted=1), entries(6)
    played = play_out(chosen, agents, play)

    assert [["1"], ["2"], ["4"], ["3"], ["5", "6"]] == chosen.rank(agents, played)[0]


def test_withdrawal_before_the_final_is_replaced_and_a_later_one_is_not() -> None:
    chosen = Groups(groups=2, promoted=2)
    played = play_out(chosen, entries(8))
    before_final = [each for each in played if each.pairing.group != "final"]
    gone = entries(8, out=[1])

    # 1 led group A (1, 4, 5, 8): now 4 and 5 go on.
    replaced = chosen.stages(gone, before_final)[1][0]
    assert {"2", "3", "4", "5"} == {entry.id for entry in replaced.members}
    in_final = [each for each in played if each.pairing.round <= 4]
    kept = chosen.stages(gone, in_final)[1][0]
    assert {"1", "2", "3", "4"} == {entry.id for entry in kept.members}
    left: list[PlayedPairing] = []
    while pairings := chosen.next(gone, [*in_final, *left], 0):
        left += [PlayedPairing(pairing, (), (2, 0)) for pairing in pairings]
    assert all("1" not in each.pairing.agents for each in left)
    assert 2 == len(left)


def test_losses_of_a_disqualified_agent_promote_no_other() -> None:
    """Group A is 1, 4, 5, 8. 8 loses to 5 alone, 5 loses to 4, 4 to 1 and 1 to 5: with 8's games 5 and 8 lead, without
    them 1, 4 and 5 are equal and the best seed goes on.
    """
    wins = {("1", "4"), ("4", "5"), ("5", "1"), ("5", "8"), ("8", "1"), ("8", "4")}

    def play(pairing: Pairing) -> tuple[float, float]:
        if pairing.group != "A":
            return (1, 1)
        return (2, 0) if (pairing.first, pairing.second) in wins else (0, 2)

    chosen = Groups(groups=2, promoted=1)
    whole = play_out(chosen, entries(8), play)
    played = [each for each in whole if each.pairing.group != "final"]
    without_8 = [*entries(7), Competitor("8", 8, active=False)]
    group_a, with_all = (chosen.stages(agents, played)[0][0] for agents in (without_8, entries(8)))

    assert [["5", "8"], ["1", "4"]] == with_all.rank(played, ("points",))[0]
    assert [["1", "4", "5"], ["8"]] == group_a.rank(played, ("points",))[0]
    assert ["1"] == [entry.id for entry in group_a.best(played, ("points",), 1, "final")]
    # 5 was promoted and has played there: it stays.
    assert ["5"] == [entry.id for entry in group_a.best(whole, ("points",), 1, "final")]


def test_gomocup_promotes_by_elo() -> None:
    """The worse seed wins the game, and the points are said to be the better one's: the ranking asks the games."""
    chosen = Groups(groups=2, promoted=1, ranking=("elo",))
    pairings = chosen.next(entries(4), [], 0)
    played = [
        PlayedPairing(
            pairing, (GameResult(pairing.first, pairing.second or "", max(pairing.agents), Verdict.WIN),), (2, 0)
        )
        for pairing in pairings
    ]

    assert {"A": {"1", "4"}, "B": {"2", "3"}} == {each.group: set(each.agents) for each in pairings}
    [final] = chosen.next(entries(4), played, 0)
    assert (frozenset({"3", "4"}), "final") == (final.agents, final.group)


def test_leagues_need_sizes() -> None:
    with pytest.raises(ValidationError, match="give at least one league"):
        Leagues(sizes=())


@pytest.mark.parametrize(
    ("order", "new", "expected"),
    [
        ("ABCDEFG", "", 4),
        ("ABCDEFG", "ABC", 4),
        ("ABCDEFG", "ABCD", 4),
        ("ABCDEFG", "ABCDE", 5),
        ("ABCDEFG", "BCDEFG", 4),
        ("ABCDEFG", "ABCDEFG", 7),
        ("ABC", "AB", 4),
        ("", "", 4),
    ],
)
def test_more_agents_advance_if_the_first_are_all_new(order: str, new: str, expected: int) -> None:
    assert expected == promoted_count(order, 4, new)


def test_seats_of_the_last_places_are_free_and_successors_keep_theirs() -> None:
    assert ["A26", "C"] == seated(["A", "B", "C", "D", "E"], 2, {"A26", "C", "D", "X"}, {"A": "A26", "D": "D26"})
    assert [] == seated(["A"], 2, {"A"}, {})
