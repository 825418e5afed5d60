"""`judge cup`: several contests with one list of entries and one site."""

from judge.cli.lazy import lazy_group

app = lazy_group(
    {
        "init": ("judge.cli.cup.plan:init", "Create a folder NAME with a commented cup.toml."),
        "plan": (
            "judge.cli.cup.plan:plan",
            "Print the pairs and games of each league, the hours, and problems. Exits with 1 if any.",
        ),
        "announce": (
            "judge.cli.cup.plan:announce",
            "Fix the leagues of a cup, start the log of each, and print a text to publish. Can be repeated.",
        ),
        "submit": (
            "judge.cli.cup.submissions:submit_to_leagues",
            "Submit FILE to leagues of a cup: each league checks it under its own policy.",
        ),
        "tokens": (
            "judge.cli.cup.submissions:tokens",
            "Create a token for each author of FILE in each league, and print the links as CSV: author, league, link.",
        ),
        "run": (
            "judge.cli.cup.run:run",
            "Play all leagues of a cup, or continue it. Leagues share the slots game by game.",
        ),
        "status": ("judge.cli.cup.tables:status", "Show the progress of each league of a cup."),
        "standings": (
            "judge.cli.cup.tables:standings",
            "Print the standings of each league that has begun, the provisional leaders, and the medals.",
        ),
        "export": (
            "judge.cli.cup.publish:export",
            "Write one site for all leagues that have begun, with the export of each, and sign it.",
        ),
        "verify": (
            "judge.cli.cup.publish:verify",
            "Verify an exported cup: its manifest, every league as judge contest verify does, and the medals.",
        ),
    },
    help="Run a cup of several contests: init, plan, announce, run; then status, standings, export, verify.",
)
