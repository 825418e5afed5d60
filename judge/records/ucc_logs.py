"""Logs of the UCC contests' own managers, known by their first line and replayed by our rules."""

import re
from pathlib import Path

from judge.errors import InputError
from judge.records.quantum_chess import log as qchess_log
from judge.records.quantum_chess import replay as qchess_replay
from judge.records.stratego import log as stratego_log
from judge.records.stratego import replay as stratego_replay

RULE_SETS = ("stratego-2012", "stratego-2011", "stratego-seed")

_QCHESS = re.compile(rb"# (Log starts|Short log)")
_STRATEGO = re.compile(rb"\S+ (RED|BLUE) SETUP|An illegal setup|Controller for Player")


def replayed_log(path: Path) -> str | None:
    """How the game of a log ended by our rules; None for a file that is no such log.

    InputError names the line where the log contradicts the rules.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    if _QCHESS.match(data):
        log = qchess_log.read_log(data, str(path))
        return f"quantum chess, {qchess_replay.replay(log).game.result(log.names) or 'unfinished'}"
    if _STRATEGO.match(data):
        return _replayed_stratego(stratego_log.read_log(data, str(path)))
    return None


def _replayed_stratego(log: stratego_log.StrategoLog) -> str:
    """The log does not say by which rules it was played: the first that it does not contradict, the contest's first."""
    objections = []
    for rules in RULE_SETS:
        try:
            game = stratego_replay.replay(log, stratego_replay.options_of(log, rules))
        except InputError as error:
            objections.append(error)
        else:
            return f"{rules}, {game.result(log.names) if game.end else 'unfinished'}"
    raise objections[0]
