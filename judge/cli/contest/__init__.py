"""`judge contest`: one file, one command, final standings; whatever is killed when, the same command goes on."""

from judge.cli.lazy import lazy_group

app = lazy_group(
    {
        "init": "judge.cli.contest.init:init",
        "plan": "judge.cli.contest.plan:plan",
        "run": "judge.cli.contest.run:run",
        "status": "judge.cli.contest.tables:status",
        "standings": "judge.cli.contest.tables:standings",
        "crosstable": "judge.cli.contest.tables:crosstable",
        "game": "judge.cli.contest.game:game",
        "log": "judge.cli.contest.tables:log",
        "pause": "judge.cli.contest.admin:pause",
        "resume": "judge.cli.contest.admin:resume",
        "void": "judge.cli.contest.admin:void",
        "disqualify": "judge.cli.contest.admin:disqualify",
        "folders": "judge.cli.contest.folders:app",
        "key": "judge.cli.contest.publish:key",
        "export": "judge.cli.contest.publish:export",
        "verify": "judge.cli.contest.publish:verify",
    },
    help="Run a whole contest: init, plan, run; then status, standings, export.",
)
