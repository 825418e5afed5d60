"""The command line: one module a command. The only place that prints.

Exit codes: 0 done (whatever the result of a game), 2 the person gave something wrong, 1 the judge or its host failed.
"""

import signal
import sys
from collections.abc import Callable
from types import FrameType

import structlog
import typer

from judge.cli import (
    agents,
    check,
    contest,
    convert,
    doctor,
    images,
    match,
    policies,
    schema,
    selftest,
    show,
    verdicts,
    verify,
)
from judge.cli.text import fail, safe_event
from judge.errors import HostError, InputError

app = typer.Typer(
    name="judge",
    help="Plays games between untrusted programs, each in its own capped container.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(images.app, name="images")
app.add_typer(agents.app, name="agents")
app.add_typer(policies.app, name="policies")
app.add_typer(contest.app, name="contest")
app.command("match", epilog=match.EXAMPLES)(match.match)
app.command("show", epilog=show.EXAMPLES)(show.show)
app.command("check", epilog=check.EXAMPLES)(check.check)
app.command("verify", epilog="Example: judge verify records/*.json")(verify.verify_records)
app.command("convert", epilog=convert.EXAMPLES)(convert.convert)
app.command("doctor", epilog="Example: judge doctor --json | jq .worst")(doctor.doctor)
app.command("schema", epilog="Example: judge schema record > record.schema.json")(schema.schema)
app.command("verdicts")(verdicts.verdicts)
app.command("selftest")(selftest.selftest)


def main() -> None:
    """The `judge` command."""
    guarded(app)


def guarded(command: Callable[[], None]) -> None:
    """Run a command line; a person's mistake is one sentence, never a traceback."""
    # Whoever ends the judge politely still gets its containers removed.
    signal.signal(signal.SIGTERM, _terminate)
    structlog.configure(
        processors=[safe_event, *structlog.get_config()["processors"]],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    try:
        command()
    except InputError as error:
        fail(str(error), 2)
    except HostError as error:
        fail(str(error), 1)


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(143)
