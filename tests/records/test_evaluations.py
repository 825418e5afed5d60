"""Decisive moves of games, from the evaluations of both agents."""

import math

import pytest

from judge.records.search_figures import EvaluatedGame, evaluate_game


def moves(*values: float | None) -> list[tuple[int, float | None]]:
    """Evaluations in turn, seat 0 first."""
    return [(number % 2, value) for number, value in enumerate(values)]


def test_turn_that_both_agents_saw_is_a_swing() -> None:
    """Seat 0 counts in hundreds, seat 1 in ones; the lead changes at moves 5 and 6."""
    found = evaluate_game(moves(100, -1, 100, -1, -100, 1, -100, 1), winner=1)

    assert EvaluatedGame(swing=2.0, turned_at=6, decided_at=6) == found


def test_change_that_one_agent_saw_is_no_swing() -> None:
    found = evaluate_game(moves(50, -5, 100, -5, -80, -5), winner=0)

    assert found is not None
    assert (0.0, None) == (found.swing, found.decided_at)


def test_forced_win_is_the_edge_of_the_scale() -> None:
    found = evaluate_game(moves(1, -10, -2, 5, math.inf, -math.inf), winner=0)

    assert EvaluatedGame(swing=1.5, turned_at=6, decided_at=6) == found


@pytest.mark.parametrize("values", [(), (1, None, 1), (None, 2, None, 3)])
def test_game_without_evaluations_of_both_is_not_evaluated(values: tuple[float | None, ...]) -> None:
    assert evaluate_game(moves(*values), winner=0) is None


def test_draw_is_never_decided() -> None:
    found = evaluate_game(moves(1, -1, 1, -1), winner=None)

    assert EvaluatedGame(swing=0.0, turned_at=0, decided_at=None) == found
