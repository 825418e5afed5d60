"""Promotion and seats, against the leagues of Gomocup."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from judge.tournament.promotion import promoted_count, seated
from tests.tournament.test_skipped_pairs import results, rows_of


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


def order_of(records: Path, league: str) -> Sequence[str]:
    """The order of the names in a record is the official place. Empty for a league that was not played."""
    if not (records / f"{league}.txt").exists():
        return []
    text = (records / f"{league}.txt").read_text(encoding="utf-8-sig")
    names = [name for line in re.findall(r"^(.+?) - (.+?): *\d+ *: *\d+", text, re.MULTILINE) for name in line]
    return list(dict.fromkeys(names))


LEADING_NEW = {"2021_2": 2, "2021_t": 2, "2026_p": 4}
"""Number of new programs before the first old one, of leagues with more than one. So more than four never advanced."""


def test_promotions_and_seats_of_the_records() -> None:
    """A successor has the family of the former program, from the list of nicknames."""
    root = results().parent
    records = root / "records"
    nicknames = {row["name"]: row["family"] for row in rows_of(root / "names/nickname.csv")}

    def family(name: str) -> str:
        return nicknames.get(name) or re.split(r"[0-9]", name)[0]

    for row in rows_of(root / "expected/promotions.csv"):
        upper, lower = (order_of(records, row[key]) for key in ("upper", "lower"))
        year, suffix = row["upper"].split("_")
        before, before_lower = (f"{int(year) - 1}_{each}" for each in (suffix, row["lower"][-1]))
        previous = order_of(records, before)
        earlier = [*previous, *order_of(records, before_lower)]
        new = set(lower) - set(earlier) if earlier else set()
        risen = lower[: promoted_count(lower, int(row["upper_size"]) - int(row["seeded"]), new)]
        assert row["promoted"].split() == risen, row
        assert LEADING_NEW.get(row["lower"], 1) == promoted_count(lower, 1, new), row
        used = root / f"expected/ratings-used/{row['lower']}.csv"
        if previous and used.exists():
            assert new == {each["program"] for each in rows_of(used) if each["rating_used"] == "0"}, row
        if previous:  # Freestyle-15 was first played in 2024
            by_family = {family(name): name for name in upper if name not in risen}
            successors = {name: by_family[family(name)] for name in previous if family(name) in by_family}
            down = len(previous) - int(row["seeded"])
            assert set(upper) - set(risen) == set(seated(previous, down, upper, successors)), row
