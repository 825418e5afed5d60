"""`judge contest`: from a contest file to the final standings."""

from judge.cli.lazy import lazy_group

app = lazy_group(
    {
        "init": "judge.cli.contest.init:init",
        "import": "judge.cli.contest.exchange:import_contest",
        "plan": "judge.cli.contest.plan:plan",
        "announce": "judge.cli.contest.admin:announce",
        "cosign": "judge.cli.contest.cosign:cosign",
        "run": "judge.cli.contest.run:run",
        "watch": "judge.cli.contest.watch:watch",
        "status": "judge.cli.contest.tables:status",
        "standings": "judge.cli.contest.tables:standings",
        "crosstable": "judge.cli.contest.tables:crosstable",
        "game": "judge.cli.contest.game:game",
        "log": "judge.cli.contest.tables:log",
        "pause": "judge.cli.contest.admin:pause",
        "resume": "judge.cli.contest.admin:resume",
        "void": "judge.cli.contest.admin:void",
        "disqualify": "judge.cli.contest.admin:disqualify",
        "withdraw": "judge.cli.contest.admin:withdraw",
        "enter": "judge.cli.contest.admin:enter",
        "end-season": "judge.cli.contest.admin:end_season",
        "freeze-admissions": "judge.cli.contest.admin:freeze_admissions",
        "reopen-admissions": "judge.cli.contest.admin:reopen_admissions",
        "folders": "judge.cli.contest.folders:app",
        "key": "judge.cli.contest.publish:key",
        "export": "judge.cli.contest.publish:export",
        "backup": "judge.cli.contest.backup:backup",
        "restore": "judge.cli.contest.backup:restore",
        "compare": "judge.cli.contest.exchange:compare",
        "publish": "judge.cli.contest.follow:publish",
        "verify": "judge.cli.contest.verify:verify",
    },
    help="Run a whole contest: init, plan, run; then status, standings, export.",
)
