"""Board views, steps and rules of Stratego games."""

from functools import lru_cache

from judge.base.errors import InputError
from judge.games.stratego import Stratego
from judge.games.stratego.types import COLOURS, SIZE
from judge.games.types import NATURE, SEATS, AgentFault
from judge.records.steps import LogSteps, Stepped
from judge.records.stratego.log import StrategoLog
from judge.records.stratego.replay import log_answers, replay_stratego_log, stratego_options
from judge.records.views import BoardView, Face, Square, Surface, Token

_EMPTY, _LAKE, _ENEMY = ".", "+", "#"


def stratego_view(game: Stratego, seat: int | None = None) -> BoardView:
    """For a `seat` the other side's hidden pieces are `#`."""
    tokens: dict[Square, Token] = {}
    lakes = set()
    for looks in SEATS if seat is None else (seat,):
        for y, row in enumerate(game.seen_by(looks).splitlines()):
            for x, letter in enumerate(row):
                if letter == _LAKE:
                    lakes.add((x, y))
                elif letter == _ENEMY and seat is not None:
                    tokens[x, y] = _soldier(1 - looks, letter)
                elif letter not in (_EMPTY, _ENEMY):
                    tokens[x, y] = _soldier(looks, letter)
    last = game.half_moves[-1] if game.half_moves else None
    names = tuple(map(str, range(SIZE)))
    return BoardView(
        Surface.SQUARES,
        names,
        names,
        tokens,
        (COLOURS[0], COLOURS[1]),
        blocked=frozenset(lakes),
        caption=f"turn {last.turn}, {COLOURS[last.seat]}: {last.text}" if last else "",
    )


@lru_cache(maxsize=256)
def _soldier(seat: int, letter: str) -> Token:
    return Token(seat, faces=(Face(letter, is_hidden=True),), shows=0)


RULE_SETS = ("stratego-2012", "stratego-2011", "stratego-seed")


def rules_of(log: StrategoLog) -> tuple[str, Stratego]:
    """First rule set that fits the log, and the game."""
    objections = []
    for rules in RULE_SETS:
        try:
            return rules, replay_stratego_log(log, stratego_options(log, rules))
        except InputError as error:
            objections.append(error)
    raise objections[0]


def stratego_steps(log: StrategoLog) -> Stepped:
    """Raises InputError if the log contradicts every rule set."""
    rules, _ = rules_of(log)
    game = Stratego(stratego_options(log, rules))
    steps = LogSteps(stratego_view)
    steps.begin(game)
    for answer in log_answers(log, game):
        seat = game.pending().seat
        if isinstance(answer, AgentFault):
            game.forfeit(answer)
        elif seat == NATURE:
            game.apply(answer)
            steps.see_effect(game)
        else:
            game.apply(answer)
            steps.add(game, seat, answer.said)
    result = game.result(log.names) if game.end else "unfinished"
    return Stepped(rules, log.names, steps.steps, result)
