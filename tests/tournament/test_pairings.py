"""From a pairing to its games, and who sits where when two meet again."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.contest_games import Pairing
from judge.tournament.formats.base import Rounds
from judge.tournament.schedule import opening_number, seats


def games_of(pairing: Pairing, games: int) -> list[tuple[str, str, int]]:
    """Who sits where, and the number of the opening, for each game of a pairing."""
    return [(*seats(pairing, game), opening_number(pairing, game, games)) for game in range(games)]


def test_two_games_share_an_opening_with_seats_changed() -> None:
    pairing = Pairing("a", "b", 3, 2)

    assert [("a", "b", 0), ("b", "a", 0), ("a", "b", 1), ("b", "a", 1)] == games_of(pairing, 4)


def test_a_bye_is_no_game() -> None:
    with pytest.raises(ValueError, match="a bye has no games"):
        seats(Pairing("a", None, 1, 4), 0)


@settings(deadline=None)
@given(st.integers(1, 9), st.integers(1, 4))
def test_over_all_meetings_each_opening_is_played_from_both_sides(games: int, meetings: int) -> None:
    """With an odd number of games too, where an opening's second half comes in the next meeting."""
    rounds = Rounds([])
    seated: dict[int, list[str]] = {}
    for _ in range(meetings):
        [pairing] = rounds.add([("a", "b", "")])
        for first, _, opening in games_of(pairing, games):
            seated.setdefault(opening, []).append(first)

    whole, half = divmod(games * meetings, 2)
    assert list(range(whole + half)) == sorted(seated)
    # With an even number of games nobody need change seats between meetings, yet both halves are played.
    assert all(sorted(seated[opening]) == ["a", "b"] for opening in range(whole))


def test_repeated_pairing_changes_seats() -> None:
    earlier = [Pairing("a", "b", 1, 1), Pairing("c", "d", 1, 2)]
    tables = Rounds(earlier).add([("a", "b", ""), ("d", "c", ""), ("e", None, "")])

    assert [("b", "a", 1), ("d", "c", 1), ("e", None, 0)] == [
        (pairing.first, pairing.second, pairing.meeting) for pairing in tables
    ]
    assert [1, 2, 3] == [pairing.table for pairing in tables]
