"""Commands in this process, with all that they print."""

from unittest.mock import patch

from typer.testing import CliRunner

from judge.base.errors import JudgeError
from judge.cli import app


def printed(*words: str) -> str:
    """The output of a command and its exit code, if that is not 0."""
    with patch("judge.cli.to_console"):
        done = CliRunner().invoke(app, words, env={"COLUMNS": "100"})
    if done.exception is not None and not isinstance(done.exception, SystemExit | JudgeError):
        raise done.exception
    error = f"judge: {done.exception}\n" if isinstance(done.exception, JudgeError) else ""
    return f"{done.output}{error}" + (f"exit code {done.exit_code}\n" if done.exit_code else "")
