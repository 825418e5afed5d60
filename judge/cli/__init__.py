"""The command line: the only room that prints. Each command is a module, or shares one with related commands.

Exit codes: 0 done (whatever the result of a game), 1 the judge or its host failed, 2 the command was wrong.
"""

import platform

from judge import __version__
from judge.cli.guard import guarded
from judge.cli.lazy import lazy_group


def about() -> str:
    """The versions of the judge, Python, this system and the Engine, for a bug report."""
    from judge.sandbox.docker.engine import versions

    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"judge {__version__}\n{python}, {platform.platform()}\n{versions()}"


app = lazy_group(
    {
        "match": ("judge.cli.match:match", "Play games between agents A and B."),
        "show": (
            "judge.cli.show:show",
            "Show a game: step through it on a terminal (arrow keys, n, p, a number, q), or list it elsewhere.",
        ),
        "check": (
            "judge.cli.check:check",
            "Test AGENT in all that a contest will ask of it, and print how to fix what fails.",
        ),
        "verify": (
            "judge.cli.verify:verify_records",
            "Replay records: same result from the rules, same verdict from the evidence, chain intact.",
        ),
        "convert": ("judge.cli.convert:convert", "Write finished games in another format."),
        "contest": ("judge.cli.contest:app", "Run a whole contest: init, plan, run; then status, standings, export."),
        "witness": (
            "judge.cli.witness:witness",
            "Sign the checkpoint of a contest's log if it continues the last one, or refuse with the reason.",
        ),
        "witness-server": (
            "judge.cli.witness_server:witness_server",
            (
                "Sign the checkpoints of contests' logs that their organiser sends (C2SP tlog-witness), until a signal "
                "ends it."
            ),
        ),
        "stats": (
            "judge.cli.stats:stats",
            "Print what contests say of strength: ratings on one scale, their histories, rings, candidates.",
        ),
        "evaluate": (
            "judge.cli.evaluate:evaluate",
            "Play CANDIDATE against a frozen pool until it is known whether it is stronger, and sign the verdict.",
        ),
        "sprt": (
            "judge.cli.sprt:sprt",
            "Compute Elo, normalized Elo and a sequential test from counts of games or of pairs.",
        ),
        "submit": (
            "judge.cli.submit:submit",
            "Submit FILE to a contest: unpack it, build it, check it, and register the agent.",
        ),
        "submissions": (
            "judge.cli.submissions:app",
            "Show and decide the submissions of a contest, and give authors tokens.",
        ),
        "organisers": ("judge.cli.organisers:app", "Give organisers tokens for the pages of judge serve."),
        "serve": (
            "judge.cli.serve:serve",
            "Show a contest to everybody, also while it is played, and process submissions of its authors.",
        ),
        "serve-intake": ("judge.cli.serve:serve_intake", "Former name of judge serve --intake-only."),
        "scheduler": (
            "judge.cli.cluster:scheduler",
            "Connect a contest with its workers. It stores nothing and can be stopped and started again at any time.",
        ),
        "worker": ("judge.cli.cluster:worker", "Play games of contests on this machine."),
        "cluster": ("judge.cli.cluster:app", "Make the keys of a contest on several machines."),
        "policies": (
            "judge.cli.reference:policies",
            "Show policies: the rules and limits of a contest, one file each.",
        ),
        "agents": ("judge.cli.reference:agents", "List the house agents: opponents to play against, and examples."),
        "images": ("judge.cli.images:app", "Build, list and prune the images that agents run in."),
        "doctor": ("judge.cli.doctor:doctor", "List what this host can and cannot enforce, with the fixes."),
        "selftest": (
            "judge.cli.selftest:selftest",
            "Attack this host with the judge's own hostile programs, and report which defences hold.",
        ),
        "schema": ("judge.cli.reference:schema", "Print the JSON schema of a policy, spec, record or agent manifest."),
        "verdicts": (
            "judge.cli.verdicts:verdicts",
            "Explain every verdict: when it is given, by whom, and what an author can do.",
        ),
    },
    about=about,
    name="judge",
    help="Judge games between untrusted programs, each in its own container with limited resources.",
    pretty_exceptions_enable=False,
)


def main() -> None:
    """The `judge` command."""
    guarded(app)
