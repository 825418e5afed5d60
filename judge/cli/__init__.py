"""The command line. Only this package prints. Each command is a module or shares one with related commands.

Exit codes: 0 done (whatever the result of a game), 1 the judge or its host failed, 2 the command was wrong.
"""

import platform
from collections.abc import Mapping

from judge import __version__
from judge.cli.entry import COMMANDS
from judge.cli.guard import guarded
from judge.cli.lazy import Places, lazy_group


def about() -> str:
    """The versions of the judge, Python, this system and the Engine, for a bug report."""
    from judge.sandbox.docker.engine import versions

    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"judge {__version__}\n{python}, {platform.platform()}\n{versions()}"


_PANELS: Mapping[str, Places] = {
    "Play": {
        "match": ("judge.cli.match:match", "Play games between agents A and B."),
        "show": (
            "judge.cli.show:show",
            "Show a game: step through it on a terminal (arrow keys, n, p, a number, q), otherwise list its moves.",
        ),
        "check": (
            "judge.cli.check:check",
            "Check that AGENT meets all requirements of a contest, and print how to fix each failure.",
        ),
        "verify": (
            "judge.cli.verify:verify_records",
            "Replay records: check the result by the rules, the verdict by the evidence, and the hash chain.",
        ),
        "convert": ("judge.cli.convert:convert", "Convert finished games to another format."),
        "evaluate": (
            "judge.cli.evaluate:evaluate",
            "Play CANDIDATE against a fixed pool until a test decides whether it is stronger, and sign the verdict.",
        ),
        "sprt": (
            "judge.cli.sprt:sprt",
            "Compute Elo, normalized Elo and a sequential test from counts of games or of pairs.",
        ),
    },
    "Contest": {
        "contest": ("judge.cli.contest:app", "Run a whole contest: init, plan, run; then status, standings, export."),
        "cup": (
            "judge.cli.cup:app",
            "Run a cup of several contests: init, plan, announce, run; then status, standings, export, verify.",
        ),
        "serve": (
            "judge.cli.serve:serve",
            "Serve the public pages of a contest, also while it runs, and process submissions.",
        ),
        "organisers": ("judge.cli.organisers:app", "Manage organisers' tokens for the pages of judge serve."),
        "stats": (
            "judge.cli.stats:stats",
            "Print the strength of agents over contests: ratings on one scale, histories, rings, candidates.",
        ),
    },
    "Submissions": {
        "submit": (
            "judge.cli.submit:submit",
            "Submit FILE to a contest: unpack it, build it, check it, and register the agent.",
        ),
        "challenge": (
            "judge.cli.challenge:challenge",
            "Let AGENT play an unrated game against OPPONENT of a ladder when a slot is free. Only you see it.",
        ),
        "submissions": ("judge.cli.submissions:app", "List and decide submissions, and manage authors' tokens."),
    },
    "Hosts and cluster": {
        "doctor": (
            "judge.cli.doctor:doctor",
            "List the protections that this host cannot enforce, with fixes.",
        ),
        "selftest": (
            "judge.cli.selftest:selftest",
            "Attack this host in games with the judge's own hostile programs, and report which defences worked.",
        ),
        "images": ("judge.cli.images:app", "Build, list and prune the images that agents run in."),
        "scheduler": (
            "judge.cli.cluster:scheduler",
            "Connect contests with their workers. It stores nothing and can be restarted at any time.",
        ),
        "worker": ("judge.cli.cluster:worker", "Play games of contests on this machine."),
        "cluster": ("judge.cli.cluster:app", "Create the keys for contests on several machines."),
    },
    "Reference": {
        "policies": ("judge.cli.reference:policies", "Show policies: files with the rules and limits of games."),
        "agents": ("judge.cli.reference:agents", "List the house agents and the starters."),
        "schema": ("judge.cli.reference:schema", "Print the JSON schema of a policy, spec, record or agent manifest."),
        "verdicts": (
            "judge.cli.reference:verdicts",
            "Explain every verdict: when it is given, by whom, and what an author can do.",
        ),
    },
}

app = lazy_group(
    {name: place for panel in _PANELS.values() for name, place in panel.items()},
    about=about,
    panels={name: panel for panel, places in _PANELS.items() for name in places},
    added=COMMANDS,
    name="judge",
    help="Judge games between untrusted programs, each in its own container with limited resources.",
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the `judge` command."""
    guarded(app)
