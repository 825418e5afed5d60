"""The Python API. The commands use it. docs/python-api.md has examples.

Names that are not listed here are private. The functions raise `InputError` for invalid input and `HostError` if the
host or the judge fails; both are `JudgeError`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge.api.contests import ContestFolder, RunObserver, StopRequest, contest
    from judge.api.evaluations import NoVerdictError, SignedEvaluation, evaluate
    from judge.api.files import VerifiedFile, show, verify
    from judge.api.matches import CancelledError, check, match
    from judge.base.errors import HostError, InputError, JudgeError
    from judge.contest.matches import MatchGame, MatchObserver

_PLACES = {
    "CancelledError": "judge.api.matches",
    "ContestFolder": "judge.api.contests",
    "HostError": "judge.base.errors",
    "InputError": "judge.base.errors",
    "JudgeError": "judge.base.errors",
    "MatchGame": "judge.contest.matches",
    "MatchObserver": "judge.contest.matches",
    "NoVerdictError": "judge.api.evaluations",
    "RunObserver": "judge.api.contests",
    "SignedEvaluation": "judge.api.evaluations",
    "StopRequest": "judge.api.contests",
    "VerifiedFile": "judge.api.files",
    "check": "judge.api.matches",
    "contest": "judge.api.contests",
    "evaluate": "judge.api.evaluations",
    "match": "judge.api.matches",
    "show": "judge.api.files",
    "verify": "judge.api.files",
}

__all__ = [
    "CancelledError",
    "ContestFolder",
    "HostError",
    "InputError",
    "JudgeError",
    "MatchGame",
    "MatchObserver",
    "NoVerdictError",
    "RunObserver",
    "SignedEvaluation",
    "StopRequest",
    "VerifiedFile",
    "check",
    "contest",
    "evaluate",
    "match",
    "show",
    "verify",
]


def __getattr__(name: str) -> Any:
    # `verify` and `show` also work where modules of Unix, which `match` needs, are missing.
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
