"""The score of a series: who leads, by how much that can be trusted, and how long it takes."""

import pytest

from judge.terminal.screen import SeriesScore, clock_words, score_words, wilson_interval


@pytest.mark.parametrize(
    ("points", "games", "expected"),
    [
        # Wilson's interval at z = 1.96, as tables have it.
        (5, 10, (0.5, 0.237, 0.763)),
        (10, 10, (1.0, 0.722, 1.0)),
        (0, 10, (0.0, 0.0, 0.278)),
        (1, 1, (1.0, 0.207, 1.0)),
        (550, 1000, (0.55, 0.519, 0.581)),
    ],
)
def test_an_interval_of_95_percent(points: float, games: int, expected: tuple[float, float, float]) -> None:
    assert expected == tuple(round(number, 3) for number in wilson_interval(points, games))


def test_void_counts_for_no_agent() -> None:
    series = SeriesScore(("a", "b"), 10, (1.0, None, 0.5, 0.0), 8.0)

    assert ((1, 1), 1, 12.0) == (series.wins, series.draws, series.seconds_left)
    assert "50 % (13-87)  a 1 - 1 b, 1 drawn" == score_words(series)


def test_before_the_first_game_nothing_is_claimed() -> None:
    series = SeriesScore(("a", "b"), 10)

    assert (None, None) == (series.share(), series.seconds_left)
    assert "a 0 - 0 b, 0 drawn" == score_words(series)


@pytest.mark.parametrize(("seconds", "words"), [(7, "0:07"), (750, "12:30"), (3723, "1:02:03")])
def test_a_span_as_a_clock_shows_it(seconds: float, words: str) -> None:
    assert words == clock_words(seconds)
