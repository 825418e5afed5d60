"""The Python API. The commands use it. docs/python-api.md has examples.

Names that are not listed here are private. The functions raise `InputError` for invalid input and `HostError` if the
host or the judge fails; both are `JudgeError`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge.api.checks import check
    from judge.api.contests import ContestFolder, contest
    from judge.api.evaluations import NoVerdictError, SignedEvaluation, evaluate
    from judge.api.files import VerifiedFile, show, verify
    from judge.api.matches import CancelledError, match
    from judge.base.errors import HostError, InputError, JudgeError
    from judge.contest.matches import MatchGame, MatchObserver
    from judge.contest.runner import RunObserver, StopRequest

_MODULES = {
    "judge.api.contests": ("ContestFolder", "contest"),
    "judge.api.evaluations": ("NoVerdictError", "SignedEvaluation", "evaluate"),
    "judge.api.files": ("VerifiedFile", "show", "verify"),
    "judge.api.checks": ("check",),
    "judge.api.matches": ("CancelledError", "match"),
    "judge.base.errors": ("HostError", "InputError", "JudgeError"),
    "judge.contest.matches": ("MatchGame", "MatchObserver"),
    "judge.contest.runner": ("RunObserver", "StopRequest"),
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
    module = next((module for module, names in _MODULES.items() if name in names), None)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(module), name)
