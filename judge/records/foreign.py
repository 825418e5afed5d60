"""Logs of the UCC contests' own managers, known by their first line and replayed by our rules."""

import re
from pathlib import Path

from judge.errors import InputError
from judge.records import qchess_log, qchess_replay, stratego_log, stratego_replay

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
        stratego = stratego_log.read_log(data, str(path))
        game = stratego_replay.replay(stratego)
        return f"stratego, {game.result(stratego.names) if game.end else 'unfinished'}"
    return None
