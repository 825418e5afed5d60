"""The plots of a running game, drawn as those of a finished one."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from judge.broadcast.state import LiveGame
from judge.records.search_figures import SearchFigures
from judge.site.plots import NAMES, Plot, empty_plot, plots_of


class _Step(NamedTuple):
    seat: int | None
    ms: float | None
    memory_bytes: int | None = None


def plots_of_game(game: LiveGame) -> Sequence[Plot]:
    """All plots of a game so far; one that has no value yet is empty."""
    steps = [_Step(None, None), *(_Step(move.seat, move.charged_ms, move.memory_bytes) for move in game.moves)]
    drawn = {plot.name: plot for plot in plots_of(steps, [SearchFigures(), *game.figures()])}
    return [drawn.get(name) or empty_plot(name) for name in NAMES]


def as_sent(game: LiveGame) -> Mapping[str, Any]:
    """What a page's script needs to draw them: our own numbers, and nothing that an agent wrote."""
    plots = [
        {"name": plot.name, "width": plot.width, "paths": plot.paths, "low": plot.low, "high": plot.high}
        for plot in plots_of_game(game)
        if any(plot.paths)
    ]
    return {"game": game.game, "attempt": game.attempt, "moves": len(game.moves), "plots": plots}


def plots_path(game: LiveGame) -> str:
    """Where they are for those who do not get them with the events, from the top of the site."""
    return f"plots/{game.stem}.json"
