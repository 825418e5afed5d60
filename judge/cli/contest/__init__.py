"""`judge contest`: from a contest file to the final standings."""

from judge.cli.lazy import lazy_group

app = lazy_group(
    {
        "init": ("judge.cli.contest.init:init", "Create a folder NAME with a commented contest.toml."),
        "import": (
            "judge.cli.contest.exchange:import_contest",
            "Create a contest's folder from a tournament planned for another manager.",
        ),
        "plan": (
            "judge.cli.contest.plan:plan",
            "Print the number of games, how long they can take on this machine, and problems. Exits with 1 if any.",
        ),
        "announce": (
            "judge.cli.contest.admin:announce",
            "Commit to the random draw, start the transparency log, and print a text to publish. Can be repeated.",
        ),
        "cosign": (
            "judge.cli.contest.cosign:cosign",
            "Ask the witnesses of a contest to sign its current log, or import a signature with --from.",
        ),
        "run": (
            "judge.cli.contest.run:run",
            "Play a contest to its end, or continue it. The first run locks in its entries and terms.",
        ),
        "watch": (
            "judge.cli.contest.watch:watch",
            "Show the running games of a contest, its standings and its last results, from the live page's events.",
        ),
        "status": (
            "judge.cli.contest.tables:status",
            "Show the progress of a contest, its hosts, agents that fail, and games that are void or stopped.",
        ),
        "standings": (
            "judge.cli.contest.tables:standings",
            ("Print the standings, with ratings and their 95 % intervals. Before the start: entries and start time."),
        ),
        "crosstable": (
            "judge.cli.contest.tables:crosstable",
            "Print the crosstable: the points of the row's agent, and its wins, draws and losses.",
        ),
        "game": (
            "judge.cli.contest.game:game",
            "Show a finished game as judge show does, write its record, or print its evidence.",
        ),
        "log": (
            "judge.cli.contest.tables:log",
            "Print the contest's journal: time, actor, event, and the reason of every void.",
        ),
        "pause": (
            "judge.cli.contest.admin:pause",
            "Pause a contest: no more games are started, and `run` ends after the running games.",
        ),
        "resume": (
            "judge.cli.contest.admin:resume",
            "Resume a paused or stopped contest. Games that were stopped after too many voids are played again.",
        ),
        "void": (
            "judge.cli.contest.admin:void",
            "Withdraw the result of a game; it is played again when the contest runs.",
        ),
        "disqualify": (
            "judge.cli.contest.admin:disqualify",
            "Disqualify an agent: its games do not count, and its future games are not played.",
        ),
        "withdraw": (
            "judge.cli.contest.admin:withdraw",
            "Withdraw an agent after the start. Swiss, ladder: its games count; round robins and groups: they do not.",
        ),
        "enter": (
            "judge.cli.contest.admin:enter",
            "Enter an agent in a ladder, or in a Swiss from its next round on with 0 points for missed rounds.",
        ),
        "end-season": (
            "judge.cli.contest.admin:end_season",
            "End the season of a ladder: no game is drawn any more, and games that already run count.",
        ),
        "freeze-admissions": (
            "judge.cli.contest.admin:freeze_admissions",
            "Let no agent enter a ladder. Submissions that pass wait until admissions are open again.",
        ),
        "reopen-admissions": (
            "judge.cli.contest.admin:reopen_admissions",
            "Open the admissions of a ladder again. Submissions that passed join.",
        ),
        "folders": (
            "judge.cli.contest.folders:app",
            "List, export and import the agents' persistent folders.",
        ),
        "key": ("judge.cli.contest.publish:key", "Create a key pair to sign exports with."),
        "export": (
            "judge.cli.contest.publish:export",
            "Write the signed results, which everybody can verify: tables, records, pages. Live pages: publish.",
        ),
        "backup": (
            "judge.cli.contest.backup:backup",
            "Copy a contest with its store, records, agents and folders, also while it runs.",
        ),
        "restore": (
            "judge.cli.contest.backup:restore",
            "Restore a contest from a backup, and check its files, its log and a sample of its games.",
        ),
        "compare": (
            "judge.cli.contest.exchange:compare",
            "Compare a tournament of another manager with a contest: list each difference and its kind.",
        ),
        "publish": (
            "judge.cli.contest.follow:publish",
            "Write the live pages as files, unsigned; after the end the final pages. For verifiable results: export.",
        ),
        "verify": (
            "judge.cli.contest.verify:verify",
            "Verify an export: check files and signature, replay every game, recompute schedule and tables.",
        ),
    },
    help="Run a whole contest: init, plan, run; then status, standings, export.",
)
