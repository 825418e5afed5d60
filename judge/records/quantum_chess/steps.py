"""The steps of a game of Quantum Chess in a log of UCC's manager."""

from judge.games.quantum_chess import QuantumChess
from judge.games.types import NATURE
from judge.records.quantum_chess.log import QchessLog
from judge.records.quantum_chess.replay import replay_qchess_log
from judge.records.quantum_chess.view import chess_view
from judge.records.steps import LogSteps, Stepped


def qchess_steps(log: QchessLog) -> Stepped:
    """The game, played again; InputError where the log contradicts the rules."""
    replayed = replay_qchess_log(log)
    game = QuantumChess(replayed.game.options)
    steps = LogSteps(chess_view)
    for answered in replayed.answers:
        if answered.seat == NATURE:
            game.apply(answered.reply)
            steps.see_effect(game)
            continue
        steps.begin(game)
        game.apply(answered.reply)
        steps.add(game, answered.seat, answered.reply.said)
    steps.begin(game)
    result = replayed.game.result(log.names) or "unfinished"
    return Stepped("quantum-chess", log.names, steps.steps, result)
