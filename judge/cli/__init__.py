"""The command line. Only this package prints. Each command is a module or shares one with related commands.

Every failure ends in one sentence and an exit code: 0 done (whatever the result of a game), 1 the judge or its host
failed, 2 the command was wrong.
"""

import errno
import io
import os
import platform
import signal
import sys
import traceback
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from types import FrameType
from typing import Any

from judge import __version__
from judge.base.errors import FULL_DISK, HostError, InputError
from judge.base.garbage import importing
from judge.base.logs import to_console
from judge.base.text import printable
from judge.cli.entry import COMMANDS
from judge.cli.lazy import Places, lazy_group
from judge.terminal.output import fail, note


def about() -> str:
    """The versions of the judge, Python, this system and the Engine, for a bug report."""
    from judge.sandbox.docker.engine import versions

    with importing():
        engine = versions()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"judge {__version__}\n{python}, {platform.platform()}\n{engine}"


_PANELS: Mapping[str, Places] = {
    "Play": {
        "quickstart": "judge.cli.quickstart:quickstart",
        "match": "judge.cli.match:match",
        "show": "judge.cli.show:show",
        "check": "judge.cli.check:check",
        "verify": "judge.cli.verify:verify_files",
        "convert": "judge.cli.convert:convert",
        "evaluate": "judge.cli.evaluate:evaluate",
        "sprt": "judge.cli.evaluate:sprt",
    },
    "Contest": {
        "contest": "judge.cli.contest:app",
        "serve": "judge.cli.serve:serve",
        "stats": "judge.cli.stats:stats",
    },
    "Submissions": {
        "submit": "judge.cli.submit:submit",
        "challenge": "judge.cli.challenge:challenge",
        "submissions": "judge.cli.submissions:app",
        "tokens": "judge.cli.tokens:app",
    },
    "Hosts and cluster": {
        "doctor": "judge.cli.doctor:doctor",
        "selftest": "judge.cli.doctor:selftest",
        "images": "judge.cli.images:app",
        "scheduler": "judge.cli.cluster:scheduler",
        "worker": "judge.cli.cluster:worker",
        "cluster": "judge.cli.cluster:cluster",
    },
    "Reference": {
        "policies": "judge.cli.reference:policies",
        "agents": "judge.cli.reference:agents",
        "schema": "judge.cli.reference:schema",
        "verdicts": "judge.cli.reference:verdicts",
        "help": "judge.cli.reference:help_",
    },
}

app = lazy_group(
    {name: place for panel in _PANELS.values() for name, place in panel.items()},
    about=about,
    panels={name: panel for panel, places in _PANELS.items() for name in places},
    added=COMMANDS,
    rare=("evaluate", "sprt", "challenge", "selftest", "scheduler", "worker", "cluster", "schema"),
    name="judge",
    help="Judge games between untrusted programs, each in its own container with limited resources.",
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the `judge` command."""
    guarded(app)


# --- failures ------------------------------------------------------------------------------------------------------

TRACEBACK_VARIABLE = "JUDGE_TRACEBACK"
"""Makes an unexpected error print its traceback."""

MAX_WHY = 400

LOG_CHARACTERS = 2000

AGAIN = "free some space, and run the command again"


class OutputLostError(Exception):
    """Standard output cannot be written: it is closed, its reader has gone, or its disk is full."""


class ReaderGoneError(OutputLostError):
    """The reader of a pipe has ended, such as `head`, and needs no message."""


class _Output(io.TextIOWrapper):
    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError as error:
            raise _lost(error) from None

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            raise _lost(error) from None


class _Messages(io.TextIOWrapper):
    """Standard error. Failed writes are dropped, because they cannot be reported."""

    def write(self, text: str, /) -> int:
        with suppress(OSError):
            return super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()


def guarded(command: Callable[[], None]) -> None:
    """Run a command. Errors of input, host and output, and unexpected errors, print one sentence and no traceback."""
    # SystemExit removes the containers; the default signal handler would leave them.
    signal.signal(signal.SIGTERM, lambda _signal, _frame: sys.exit(143))
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup ignores it
        signal.signal(signal.SIGHUP, _hang_up)
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    _guard_streams()
    to_console(_safe_event)
    try:
        try:
            command()
        except SystemExit:
            sys.stdout.flush()
            raise
        sys.stdout.flush()
    except ReaderGoneError:
        _drop_output()
        raise SystemExit(128 + signal.SIGPIPE) from None
    except InputError as error:
        _fail(str(error), 2)
    except (OutputLostError, HostError) as error:
        _fail(str(error), 1)
    except Exception as error:  # noqa: BLE001 - the last resort
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            _fail(f"{printable(str(error.filename), MAX_WHY)}: the name is too long; use a shorter path", 2)
        _fail(unexpected(error), 1)


def _safe_event(_logger: Any, _level: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Processor for structlog: puts each text on one line without control characters."""
    return {key: printable(value, LOG_CHARACTERS) if isinstance(value, str) else value for key, value in event.items()}


def unexpected(error: Exception) -> str:
    """The sentence for an unexpected error. Its traceback is written to a file, or printed on request."""
    store = sys.modules.get("judge.store.database")  # slow to import
    # Damaged values lead to errors anywhere.
    if store is not None and (damage := store.damage_of_opened()):
        return str(damage)
    text = printable(str(error) or "no message", MAX_WHY)
    if isinstance(error, OSError) and error.strerror:
        where = f"{printable(str(error.filename), MAX_WHY)}: " if error.filename else ""
        text = f"{where}{error.strerror}"
        if error.errno in FULL_DISK:
            return f"{text}: {AGAIN}"
    if "database or disk is full" in text:
        return f"the disk of the store is full: {AGAIN}"
    if "readonly database" in text:
        return "the contest's store is read-only here: run the command where its folder is writable"
    said = f"unexpected error: {type(error).__name__}: {text}"
    if os.environ.get(TRACEBACK_VARIABLE):
        traceback.print_exception(error)
        return said
    import tempfile

    try:
        descriptor, path = tempfile.mkstemp(prefix="judge-error-", suffix=".txt")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            traceback.print_exception(error, file=file)
    except OSError:
        return f"{said}; set {TRACEBACK_VARIABLE}=1 for the traceback"
    return f"{said}; the details for a bug report are in {path}"


def _guard_streams() -> None:
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # Opened in the wrong direction, so that output to a closed stream fails.
            place = os.open(os.devnull, os.O_RDONLY if number < 2 else os.O_WRONLY)
            if place != number:
                os.dup2(place, number)
                os.close(place)
    sys.stdin = sys.stdin or open(0, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stdout = _over(_Output, sys.stdout, 1)
    sys.stderr = _over(_Messages, sys.stderr, 2)


def _over(kind: type[io.TextIOWrapper], stream: Any, number: int) -> io.TextIOWrapper:
    if stream is None:
        return kind(open(number, "wb", closefd=False), encoding="utf-8", errors="replace")
    if isinstance(stream, kind) or not isinstance(stream, io.TextIOWrapper):
        return stream
    encoding, errors, is_lines = stream.encoding, stream.errors, stream.line_buffering
    return kind(stream.detach(), encoding=encoding, errors=errors, line_buffering=is_lines)


def _fail(text: str, code: int) -> None:
    _drop_output()
    fail(text, code)


def _drop_output() -> None:
    """Drop what cannot be written; otherwise Python would complain at exit."""
    try:
        sys.stdout.flush()
    except (OutputLostError, OSError, ValueError):
        with suppress(OSError):
            place = os.open(os.devnull, os.O_WRONLY)
            os.dup2(place, 1)
            os.close(place)


def _lost(error: OSError) -> OutputLostError:
    if error.errno == errno.EBADF:
        return OutputLostError("standard output is closed")
    if error.errno == errno.EPIPE:
        return ReaderGoneError(error.strerror)
    return OutputLostError(f"standard output cannot be written: {error.strerror}")


def _hang_up(_signal: int, _frame: FrameType | None) -> None:
    note("judge: the terminal was closed; the command ends")
    signal.raise_signal(signal.SIGTERM)
