"""Which games a contest's first page shows, and why."""

from dataclasses import replace

from judge.games.types import Verdict
from judge.site.picks import no_upset, picks
from judge.translations.language import ENGLISH
from tests.site.test_site import a_contest, a_game

STRONG, MIDDLE, WEAK = "strong", "middle", "weak"
EIGHT = [a_game(number, STRONG, WEAK, Verdict.WIN, "5 in a row") for number in range(1, 9)]


def test_upset_and_longest_game_are_chosen_with_their_reasons() -> None:
    games = [*EIGHT, *(a_game(number, STRONG, MIDDLE, Verdict.WIN, "5 in a row") for number in range(9, 13))]
    games.append(a_game(13, WEAK, STRONG, Verdict.WIN, "5 in a row"))
    games.append(a_game(14, STRONG, MIDDLE, Verdict.WIN, "5 in a row", replies=70))

    upset, longest = picks(a_contest([STRONG, MIDDLE, WEAK], games), ENGLISH)

    assert 13 == upset[1].number
    assert upset[0].startswith("biggest upset, by ")
    assert ("longest game, 140 moves", 14) == (longest[0], longest[1].number)


def test_game_lost_by_a_failure_is_neither_chosen_nor_called_a_win_of_the_higher_rated_agent() -> None:
    contest = a_contest([STRONG, WEAK], [*EIGHT, a_game(9, WEAK, STRONG, Verdict.CRASH, "it ended", replies=90)])

    assert 9 not in [game.number for _, game in picks(contest, ENGLISH)]
    expected = "No upset: apart from failures, no agent won against one rated 50 Elo or more above it."
    assert expected == no_upset(contest, ENGLISH)


def test_small_contest_has_no_picks() -> None:
    assert [] == picks(a_contest([STRONG, WEAK], EIGHT[:3]), ENGLISH)


def test_games_without_evaluations_are_not_chosen_for_them() -> None:
    contest = replace(a_contest([STRONG, WEAK], EIGHT), evaluated=dict.fromkeys(range(1, 9)))

    assert ["longest game"] == [reason.partition(",")[0] for reason, _ in picks(contest, ENGLISH)]


def test_game_that_is_longest_and_closest_on_the_clock_has_both_reasons() -> None:
    last = a_game(9, STRONG, WEAK, Verdict.WIN, "5 in a row", replies=70)
    assert last.result is not None
    last = replace(last, result=last.result._replace(charged_ms=(1000.0, 179_500.0)))

    ((reasons, game),) = picks(a_contest([STRONG, WEAK], [*EIGHT, last]), ENGLISH)

    assert ("longest game, 140 moves; closest on the clock, 0.5 s left", 9) == (reasons, game.number)
