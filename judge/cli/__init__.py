"""The command line: one module a command. The only place that prints.

Exit codes: 0 done (whatever the result of a game), 2 the person gave something wrong, 1 the judge or its host failed.
"""

import platform
import signal
from collections.abc import Callable
from types import FrameType

from judge import __version__
from judge.cli.lazy import group
from judge.cli.text import fail, safe_event
from judge.errors import HostError, InputError
from judge.logs import to_console


def about() -> str:
    """What a bug report needs: the versions of the judge, of what it runs on, and of the Engine that it asks."""
    from judge.sandbox.engine import versions

    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"judge {__version__}\n{python}, {platform.platform()}\n{versions()}"


app = group(
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
        "policies": "judge.cli.policies:app",
        "agents": "judge.cli.agents:app",
        "images": "judge.cli.images:app",
        "doctor": "judge.cli.doctor:doctor",
        "selftest": "judge.cli.selftest:selftest",
        "schema": "judge.cli.schema:schema",
        "verdicts": "judge.cli.verdicts:verdicts",
    },
    about=about,
    name="judge",
    help="Plays games between untrusted programs, each in its own capped container.",
    pretty_exceptions_enable=False,
)


def main() -> None:
    """The `judge` command."""
    guarded(app)


def guarded(command: Callable[[], None]) -> None:
    """Run a command line; a person's mistake is one sentence, never a traceback."""
    # Whoever ends the judge politely still gets its containers removed.
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
