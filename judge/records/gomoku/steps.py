"""The steps of a game of five in a row in a format of the field."""

from judge.base.errors import InputError
from judge.records.gomoku.formats import GOMOKU_FORMATS
from judge.records.gomoku.record import FiveRecord
from judge.records.gomoku.view import bare_stones_view
from judge.records.steps import ReplayStep, Stepped


def first_game(data: bytes, source: str) -> Stepped:
    """Of a file that holds many games the first one; InputError names `source` and the line."""
    game = GOMOKU_FORMATS.read(data, source)[0]
    if not game.has_board:
        raise InputError(f"{source}: it holds results alone, no moves")
    return _steps_of(game)


def _steps_of(game: FiveRecord) -> Stepped:
    stones = [(x, y, number & 1) for number, (x, y, _) in enumerate(game.moves)]
    steps = [ReplayStep(bare_stones_view(game.width, game.height, []))]
    for number, (x, y, ms) in enumerate(game.moves, 1):
        view = bare_stones_view(game.width, game.height, stones[:number])
        steps.append(ReplayStep(view.since(steps[-1].view), (number - 1) & 1, f"{x},{y}", float(ms)))
    names = game.names or ("black", "white")
    won = {"black": f"{names[0]} wins", "white": f"{names[1]} wins", "draw": "drawn"}
    result = won.get(game.outcome, "no result")
    said = f"{result} ({game.verdict})" if game.verdict else result
    return Stepped(f"{game.width}x{game.height}", names, steps, said)
