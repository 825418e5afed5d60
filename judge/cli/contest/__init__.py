"""`judge contest`: from a contest file to the final standings."""

from judge.cli.lazy import lazy_group

_ORDERS = "judge.contest.orders.contest_orders"

app = lazy_group(
    {
        "init": "judge.cli.contest.init:init",
        "import": "judge.cli.contest.exchange:import_contest",
        "plan": "judge.cli.contest.plan:plan",
        "announce": "judge.cli.contest.announce:announce",
        "cosign": "judge.cli.contest.cosign:cosign",
        "run": "judge.cli.contest.run:run",
        "watch": "judge.cli.contest.watch:watch",
        "status": "judge.cli.contest.tables:status",
        "standings": "judge.cli.contest.tables:standings",
        "journal": "judge.cli.contest.tables:journal",
        "pause": f"{_ORDERS}:Pause",
        "resume": f"{_ORDERS}:Resume",
        "void": f"{_ORDERS}:Void",
        "disqualify": f"{_ORDERS}:Disqualify",
        "withdraw": f"{_ORDERS}:Withdraw",
        "enter": f"{_ORDERS}:Enter",
        "reveal": f"{_ORDERS}:Reveal",
        "end-season": f"{_ORDERS}:EndSeason",
        "freeze-admissions": f"{_ORDERS}:FreezeAdmissions",
        "reopen-admissions": f"{_ORDERS}:ReopenAdmissions",
        "folders": "judge.cli.contest.folders:folders",
        "key": "judge.cli.contest.publish:key",
        "export": "judge.cli.contest.publish:export",
        "backup": "judge.cli.contest.backup:backup",
        "restore": "judge.cli.contest.backup:restore",
        "compare": "judge.cli.contest.exchange:compare",
        "verify": "judge.cli.contest.verify:verify",
    },
    rare=(
        *("import", "compare", "cosign", "folders", "key"),
        *("end-season", "freeze-admissions", "reopen-admissions"),
    ),
    help="Run a whole contest: init, plan, run; then status, standings, export.",
)
