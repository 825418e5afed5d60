"""The steps of a game of Stratego in a log of a UCC contest's manager, and the rules that it was played by."""

from judge.base.errors import InputError
from judge.games.stratego import Stratego
from judge.games.types import NATURE, AgentFault
from judge.records.steps import LogSteps, Stepped
from judge.records.stratego.log import StrategoLog
from judge.records.stratego.replay import log_answers, replay_stratego_log, stratego_options
from judge.records.stratego.view import stratego_view

RULE_SETS = ("stratego-2012", "stratego-2011", "stratego-seed")


def rules_of(log: StrategoLog) -> tuple[str, Stratego]:
    """The first rule set that does not contradict the log, which does not say by which it was played, and the game."""
    objections = []
    for rules in RULE_SETS:
        try:
            return rules, replay_stratego_log(log, stratego_options(log, rules))
        except InputError as error:
            objections.append(error)
    raise objections[0]


def stratego_steps(log: StrategoLog) -> Stepped:
    """The game, played again; InputError where the log contradicts every rule set."""
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
