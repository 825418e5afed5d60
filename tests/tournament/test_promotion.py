"""Promotion and seats, against the leagues of Gomocup."""

import pytest

from judge.tournament.formats.groups import promoted_count, seated


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
