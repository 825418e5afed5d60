"""`judge contest`: from a contest file to the final standings."""

from judge.cli.lazy import lazy_group

app = lazy_group(
    {
        "init": "judge.cli.contest.init:init",
        "import": "judge.cli.contest.exchange:import_contest",
        "plan": "judge.cli.contest.plan:plan",
        "announce": "judge.cli.contest.announce:announce",
        "cosign": "judge.cli.contest.announce:cosign",
        "run": "judge.cli.contest.run:run",
        "watch": "judge.cli.contest.watch:watch",
        "status": "judge.cli.contest.tables:status",
        "standings": "judge.cli.contest.tables:standings",
        "journal": "judge.cli.contest.tables:journal",
        "folders": "judge.cli.contest.folders:folders",
        "key": "judge.cli.contest.publish:key",
        "export": "judge.cli.contest.publish:export",
        "backup": "judge.cli.contest.backup:backup",
        "restore": "judge.cli.contest.backup:restore",
        "compare": "judge.cli.contest.exchange:compare",
        "verify": "judge.cli.contest.verify:verify",
    },
    orders="judge.contest.orders.contest_orders",
    rare=(
        *("import", "compare", "cosign", "folders", "key"),
        *("end-season", "freeze-admissions", "reopen-admissions"),
    ),
    help="Run a whole contest: init, plan, run; then status, standings, export.",
)
