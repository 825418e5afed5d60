"""The figures of a search, from what engines of the field print, and the decisive moves of games."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.formats.search_figures import EvaluatedGame, SearchFigures, evaluate_game, search_figures

SAID = [
    # As Pela and Yixin print it.
    ("depth 1-12 ev 34 n 5012 n/ms 450 tm 123 pv h8 i9", SearchFigures(34, 1, 5012)),
    ("DEPTH=10-16 EV=-3 N=345K", SearchFigures(-3, 10, 345_000)),
    # As Rapfi prints it.
    ("Depth 12-20 | Eval +M5 | Node 1.5M | Time 999ms", SearchFigures(math.inf, 12, 1_500_000)),
    ("Speed 870K | Depth 10 | Eval -12.5", SearchFigures(-12.5, 10, 1_740_000)),
    ("score cp -34 nodes 1,234,567 depth: 8", SearchFigures(-34, 8, 1_234_567)),
    ("eval #-3", SearchFigures(-math.inf)),
    ("I evaluated 12 nodes with a depth of 3", SearchFigures()),
    ("swindle 5, n/ms", SearchFigures()),
    *[
        (said, SearchFigures())
        for said in ("\u017fcore 5", "node\u017f 5", "np\u017f 5", "\u017fpeed 5", "nodes \u0665")
    ],
]


@pytest.mark.parametrize(("said", "figures"), SAID)
def test_a_line_for_people_is_read(said: str, figures: SearchFigures) -> None:
    assert figures == search_figures({}, [said], 2000)


def test_the_words_of_a_protocol_count_more_than_lines_for_people_and_the_last_line_more_than_the_first() -> None:
    said = search_figures({"DEPTH": "9", "NPS": "786000"}, ["depth 3 ev 1", "depth 5 ev 2"], 500)

    assert SearchFigures(2, 9, 393_000) == said


@given(
    st.dictionaries(st.text(max_size=8), st.text()),
    st.lists(st.text("depthvnos\u017fc0123456789.,+-#m= \n", max_size=600)),
)
def test_figures_can_be_drawn_for_any_output(search: dict[str, str], messages: list[str]) -> None:
    figures = search_figures(search, messages, 1.0)

    assert figures.evaluation is None or not math.isnan(figures.evaluation)
    for value in (figures.depth, figures.nodes):
        assert value is None or 0 <= value <= 1e18


def test_evaluation_without_a_search_is_not_used_for_the_course_of_a_game() -> None:
    static, searched = (search_figures({}, [f"depth {depth} ev -780"], None) for depth in (0, 4))
    assert (-780, None) == (static.evaluation, static.searched_evaluation)
    assert -780 == searched.searched_evaluation


def moves(*values: float | None) -> list[tuple[int, float | None]]:
    """Evaluations in turn, seat 0 first."""
    return [(number % 2, value) for number, value in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "winner", "evaluated"),
    [
        # Seat 0 counts in hundreds, seat 1 in ones; the lead changes at moves 5 and 6.
        ((100, -1, 100, -1, -100, 1, -100, 1), 1, EvaluatedGame(swing=2.0, turned_at=6, decided_at=6)),
        # A forced win is the edge of the scale.
        ((1, -10, -2, 5, math.inf, -math.inf), 0, EvaluatedGame(swing=1.5, turned_at=6, decided_at=6)),
        # A change that one agent saw is no swing.
        ((50, -5, 100, -5, -80, -5), 0, EvaluatedGame(swing=0.0, turned_at=0, decided_at=None)),
        # A draw is never decided.
        ((1, -1, 1, -1), None, EvaluatedGame(swing=0.0, turned_at=0, decided_at=None)),
    ],
)
def test_turn_that_both_agents_saw_is_a_swing(
    values: tuple[float, ...], winner: int | None, evaluated: EvaluatedGame
) -> None:
    assert evaluated == evaluate_game(moves(*values), winner=winner)


@pytest.mark.parametrize("values", [(), (1, None, 1), (None, 2, None, 3)])
def test_game_without_evaluations_of_both_is_not_evaluated(values: tuple[float | None, ...]) -> None:
    assert evaluate_game(moves(*values), winner=0) is None
