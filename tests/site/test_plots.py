"""Plots of a game show nothing of what an agent says but numbers in the picture; the corpus has whole plots."""

import re

import pytest

from judge.formats.search_figures import search_figures
from judge.formats.steps import ReplayStep
from judge.formats.views import BoardView, Surface
from judge.site.plots import HEIGHT, plots_of

VIEW = BoardView(Surface.LINES, ("a",), ("1",), {}, ("black", "white"))


def points(path: str) -> list[tuple[int, int]]:
    numbers = [int(number) for number in re.findall(r"-?\d+", path)]
    found = [(numbers[0], numbers[1])]
    for dx, dy in zip(numbers[2::2], numbers[3::2], strict=True):
        found.append((found[-1][0] + dx, found[-1][1] + dy))
    return found


@pytest.mark.parametrize("said", ["ev 99999999999999999999 n 99999999999999999999 depth 0", "ev -M1", "ev 0 depth 0"])
def test_a_value_however_large_stays_in_the_picture(said: str) -> None:
    texts = ("ev 1 depth 1 n 1", said, said)
    steps = [ReplayStep(VIEW), *(ReplayStep(VIEW, at % 2, "h8", messages=(text,)) for at, text in enumerate(texts))]
    found = plots_of(steps, [search_figures(step.search, step.messages, step.ms) for step in steps])
    curves = [points(path) for plot in found if plot.name != "time" for path in plot.paths if path]

    assert curves
    assert all(0 <= y <= HEIGHT and 1 <= x <= 3 for curve in curves for x, y in curve)
