"""From a pairing to its games, and who sits where when two meet again."""

from hypothesis import given, settings
from hypothesis import strategies as st

from judge.contest.pairings import Fixture, Pairing, fixtures, set_tables


def test_two_games_share_an_opening_with_seats_changed() -> None:
    pairing = Pairing("a", "b", 3, 2)

    assert [
        Fixture("a", "b", 3, 2, 0, 0),
        Fixture("b", "a", 3, 2, 1, 0),
        Fixture("a", "b", 3, 2, 2, 1),
        Fixture("b", "a", 3, 2, 3, 1),
    ] == fixtures(pairing, 4)


def test_a_bye_is_no_game() -> None:
    assert [] == fixtures(Pairing("a", None, 1, 4), 2)


def test_openings_begin_where_the_caller_says() -> None:
    assert [5, 5, 6] == [each.opening for each in fixtures(Pairing("a", "b", 1, 1), 3, start=5)]


@settings(deadline=None)
@given(st.integers(1, 9), st.integers(1, 4))
def test_over_all_meetings_each_opening_is_played_from_both_sides(games: int, meetings: int) -> None:
    """With an odd number of games too, where an opening's second half comes in the next meeting."""
    earlier: list[Pairing] = []
    seats: dict[int, list[str]] = {}
    for number in range(1, meetings + 1):
        [pairing] = set_tables([("a", "b", "")], number, earlier)
        earlier.append(pairing)
        for fixture in fixtures(pairing, games):
            seats.setdefault(fixture.opening, []).append(fixture.first)

    whole, half = divmod(games * meetings, 2)
    assert list(range(whole + half)) == sorted(seats)
    # With an even number of games nobody need change seats between meetings, yet both halves are played.
    assert all(sorted(seats[opening]) == ["a", "b"] for opening in range(whole))


def test_who_meets_again_changes_seats() -> None:
    earlier = [Pairing("a", "b", 1, 1), Pairing("c", "d", 1, 2)]
    tables = set_tables([("a", "b", ""), ("d", "c", ""), ("e", None, "")], 2, earlier)

    assert [("b", "a", 1), ("d", "c", 1), ("e", None, 0)] == [
        (pairing.first, pairing.second, pairing.meeting) for pairing in tables
    ]
    assert [1, 2, 3] == [pairing.table for pairing in tables]
