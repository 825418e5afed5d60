"""Which games a contest's first page shows, and why."""

from judge.games.types import Verdict
from judge.site.picks import picks
from judge.translations.language import ENGLISH
from tests.site.test_site import a_contest, a_game

STRONG, MIDDLE, WEAK = "strong", "middle", "weak"


def test_upset_and_longest_game_are_chosen_with_their_reasons() -> None:
    games = [a_game(number, STRONG, WEAK, Verdict.WIN, "5 in a row") for number in range(1, 9)]
    games += [a_game(number, STRONG, MIDDLE, Verdict.WIN, "5 in a row") for number in range(9, 13)]
    games.append(a_game(13, WEAK, STRONG, Verdict.WIN, "5 in a row"))
    games.append(a_game(14, STRONG, MIDDLE, Verdict.WIN, "5 in a row", replies=70))

    upset, longest = picks(a_contest([STRONG, MIDDLE, WEAK], games), ENGLISH)

    assert 13 == upset[1].number
    assert upset[0].startswith("biggest upset, by ")
    assert ("longest game, 140 moves", 14) == (longest[0], longest[1].number)


def test_game_lost_by_a_failure_is_not_chosen() -> None:
    games = [a_game(number, STRONG, WEAK, Verdict.WIN, "5 in a row") for number in range(1, 9)]
    games.append(a_game(9, WEAK, STRONG, Verdict.CRASH, "it ended", replies=90))

    assert 9 not in [game.number for _, game in picks(a_contest([STRONG, WEAK], games), ENGLISH)]


def test_small_contest_has_no_picks() -> None:
    games = [a_game(number, STRONG, WEAK, Verdict.WIN, "5 in a row") for number in range(1, 4)]

    assert [] == picks(a_contest([STRONG, WEAK], games), ENGLISH)
