"""`judge cup`: several contests with one list of entries and one site."""

from judge.cli.lazy import lazy_group

app = lazy_group(
    {
        "init": "judge.cli.cup.plan:init",
        "plan": "judge.cli.cup.plan:plan",
        "announce": "judge.cli.cup.plan:announce",
        "submit": "judge.cli.cup.submissions:submit_to_leagues",
        "run": "judge.cli.cup.run:run",
        "status": "judge.cli.cup.tables:status",
        "standings": "judge.cli.cup.tables:standings",
        "export": "judge.cli.cup.publish:export",
        "verify": "judge.cli.cup.publish:verify",
    },
    help="Run a cup of several contests: init, plan, announce, run; then status, standings, export, verify.",
)
