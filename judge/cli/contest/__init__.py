"""`judge contest`: one file, one command, final standings; after any interruption the same command continues."""

from judge.cli.lazy import lazy_group

app = lazy_group(
    {
        "init": ("judge.cli.contest.init:init", "Create a folder NAME with a commented contest.toml."),
        "import": (
            "judge.cli.contest.exchange:import_contest",
            "Make a contest's folder of a tournament that was planned for another manager.",
        ),
        "plan": (
            "judge.cli.contest.plan:plan",
            "Print the number of games, how long they can take on this machine, and problems. Exits with 1 if any.",
        ),
        "announce": (
            "judge.cli.contest.admin:announce",
            "Begin the log of a contest with the commitment to its chance; print both. Twice is once.",
        ),
        "cosign": (
            "judge.cli.contest.cosign:cosign",
            "Have the witnesses of a contest sign its log as it is now, or take what one has signed by itself.",
        ),
        "run": ("judge.cli.contest.run:run", "Play a contest to its end, or continue it. The first run freezes it."),
        "watch": (
            "judge.cli.contest.watch:watch",
            "Show the running games of a contest, its standings and its last results, by the events of the live page.",
        ),
        "status": (
            "judge.cli.contest.tables:status",
            "Show the progress of a contest, its hosts, agents that fail, and games that are void or stopped.",
        ),
        "standings": (
            "judge.cli.contest.tables:standings",
            (
                "Print the standings, with ratings and their 95 % intervals. "
                "Before the start: the entries, and when it begins."
            ),
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
            "Print the contest's log: time, actor, event, and the reason of every void.",
        ),
        "pause": (
            "judge.cli.contest.admin:pause",
            "Pause a contest: no game is started any more, and `run` ends when its running games are finished.",
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
        "folders": (
            "judge.cli.contest.folders:app",
            "The agents' persistent folders: list them, take them out of a contest, bring them into the next.",
        ),
        "key": ("judge.cli.contest.publish:key", "Make a key pair to sign exports with."),
        "export": (
            "judge.cli.contest.publish:export",
            "Write the tables, records, pages and signed manifest of a contest for everybody to read and to check.",
        ),
        "compare": (
            "judge.cli.contest.exchange:compare",
            "Compare a tournament of another manager with a contest: each difference, and of which kind it is.",
        ),
        "publish": (
            "judge.cli.contest.follow:publish",
            "Write the live pages and events of a contest as files, for any file server; --follow keeps them current.",
        ),
        "verify": (
            "judge.cli.contest.publish:verify",
            "Check an export: compare files and signature, replay every game, compute schedule and tables again.",
        ),
    },
    help="Run a whole contest: init, plan, run; then status, standings, export.",
)
