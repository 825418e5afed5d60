"""The command line. Only this package prints. Each command is a module or shares one with related commands.

Exit codes: 0 done (whatever the result of a game), 1 the judge or its host failed, 2 the command was wrong.
"""

import platform
from collections.abc import Mapping

from judge import __version__
from judge.base.garbage import importing
from judge.cli.entry import COMMANDS
from judge.cli.guard import guarded
from judge.cli.lazy import Places, lazy_group


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
