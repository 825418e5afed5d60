"""Plots of a game: every value on its place, for both seats, and nothing of what an agent says."""

import re

import pytest

from judge.records.search_figures import search_figures
from judge.records.steps import ReplayStep
from judge.records.views import BoardView, Surface
from judge.site.plots import HEIGHT, plots_of

VIEW = BoardView(Surface.LINES, ("a",), ("1",), {}, ("black", "white"))


def points(path: str) -> list[tuple[int, int]]:
    """The points of a curve."""
    numbers = [int(number) for number in re.findall(r"-?\d+", path)]
    found = [(numbers[0], numbers[1])]
    for dx, dy in zip(numbers[2::2], numbers[3::2], strict=True):
        found.append((found[-1][0] + dx, found[-1][1] + dy))
    return found


def plots(*said: str | None) -> dict[str, tuple[list[list[tuple[int, int]]], str, str]]:
    """The curves of a game in which the seats say this in turn, with their ranges."""
    steps = [ReplayStep(VIEW)]
    steps += [
        ReplayStep(VIEW, at % 2, "h8", 10.0 * (at + 1), messages=(text,) if text else ())
        for at, text in enumerate(said)
    ]
    figures = [search_figures(step.search, step.messages, step.ms) for step in steps]
    return {
        plot.name: ([points(path) for path in plot.paths if path], plot.low, plot.high)
        for plot in plots_of(steps, figures)
        if plot.name != "time"
    }


def test_each_seat_has_a_curve_of_its_evaluations() -> None:
    found = plots("depth 2 ev -50", "depth 4 ev 50", None, "depth 8 ev +M3")

    assert {"evaluation", "depth"} == found.keys()
    (first, second), low, high = found["depth"]
    assert ([(1, 76)], [(2, 52), (4, 4)]) == (first[:1], second)
    assert ("0", "8") == (low, high)
    (first, second), low, high = found["evaluation"]
    assert [(1, 96)] == first[:1]
    assert [(2, 4), (4, 0)] == second
    assert ("\N{MINUS SIGN}50", "50") == (low, high)


@pytest.mark.parametrize("said", ["ev 99999999999999999999 n 99999999999999999999 depth 0", "ev -M1", "ev 0 depth 0"])
def test_a_value_however_large_stays_in_the_picture(said: str) -> None:
    for curves, *_ in plots("ev 1 depth 1 n 1", said, said).values():
        assert all(0 <= y <= HEIGHT and 1 <= x <= 3 for curve in curves for x, y in curve)


def test_time_is_a_bar_for_each_answer() -> None:
    steps = [ReplayStep(VIEW), ReplayStep(VIEW, 0, "h8", 500.0), ReplayStep(VIEW, 1, "h9", 1000.0)]
    (time,) = plots_of(steps, [search_figures({}, [], None)] * 3)

    assert ("M1 50v-23", "M2 50v46") == time.paths
    assert "1 s" == time.high


def test_memory_is_a_curve_from_nothing_to_the_most() -> None:
    used = [8 << 20, 4 << 20, 16 << 20, None]
    steps = [ReplayStep(VIEW), *(ReplayStep(VIEW, at % 2, "h8", memory_bytes=each) for at, each in enumerate(used))]
    (memory,) = plots_of(steps, [search_figures({}, [], None)] * 5)

    assert ("memory", "0.0 MiB", "16.0 MiB", None) == (memory.name, memory.low, memory.high, memory.middle)
    assert [[(1, 52), (3, 4)], [(2, 76)]] == [
        points(path)[:2] if at == 0 else points(path)[:1] for at, path in enumerate(memory.paths)
    ]
