"""The command line: the only room that prints. Each command is a module, or shares one with related commands.

Exit codes: 0 done (whatever the result of a game), 1 the judge or its host failed, 2 the command was wrong.
"""

import platform
import signal
from collections.abc import Callable
from types import FrameType

from judge import __version__
from judge.cli.lazy import lazy_group
from judge.cli.output import fail, safe_event
from judge.errors import HostError, InputError
from judge.logs import to_console


def about() -> str:
    """The versions of the judge, Python, this system and the Engine, for a bug report."""
    from judge.sandbox.engine import versions

    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"judge {__version__}\n{python}, {platform.platform()}\n{versions()}"


app = lazy_group(
    {
        "match": "judge.cli.match:match",
        "show": "judge.cli.show:show",
        "check": "judge.cli.check:check",
        "verify": "judge.cli.verify:verify_records",
        "convert": "judge.cli.convert:convert",
        "contest": "judge.cli.contest:app",
        "submit": "judge.cli.submit:submit",
        "submissions": "judge.cli.submissions:app",
        "serve-intake": "judge.cli.serve_intake:serve_intake",
        "scheduler": "judge.cli.cluster:scheduler",
        "worker": "judge.cli.cluster:worker",
        "cluster": "judge.cli.cluster:app",
        "policies": "judge.cli.reference:policies",
        "agents": "judge.cli.reference:agents",
        "images": "judge.cli.images:app",
        "doctor": "judge.cli.doctor:doctor",
        "selftest": "judge.cli.selftest:selftest",
        "schema": "judge.cli.reference:schema",
        "verdicts": "judge.cli.verdicts:verdicts",
    },
    about=about,
    name="judge",
    help="Judge games between untrusted programs, each in its own container with limited resources.",
    pretty_exceptions_enable=False,
)


def main() -> None:
    """The `judge` command."""
    guarded(app)


def guarded(command: Callable[[], None]) -> None:
    """Run a command; print errors of the person or the host as one sentence, without a traceback."""
    # SystemExit removes the containers, which SIGTERM alone would not.
    signal.signal(signal.SIGTERM, _terminate)
    to_console(safe_event)
    try:
        command()
    except InputError as error:
        fail(str(error), 2)
    except HostError as error:
        fail(str(error), 1)


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(143)
