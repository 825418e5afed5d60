"""`judge contest`: one file, one command, final standings; whatever is killed when, the same command goes on."""

from judge.cli.lazy import lazy_group

app = lazy_group(
    {
        "init": ("judge.cli.contest.init:init", "Make a folder NAME with a commented contest.toml."),
        "plan": (
            "judge.cli.contest.plan:plan",
            (
                "Say how many games a contest has, how long they can take here, and what is missing. Exit code 1: "
                "something is."
            ),
        ),
        "run": (
            "judge.cli.contest.run:run",
            "Play a contest to its end, or go on with it. It is frozen when it is run for the first time.",
        ),
        "status": ("judge.cli.contest.tables:status", "Say how far a contest is, who fails and what is void or held."),
        "standings": ("judge.cli.contest.tables:standings", "Print the table, with ratings and their 95 % intervals."),
        "crosstable": (
            "judge.cli.contest.tables:crosstable",
            "Print everybody against everybody: the points of the row's agent, and its wins, draws and losses.",
        ),
        "game": (
            "judge.cli.contest.game:game",
            "Show a game that has ended: its moves and board as judge show, its record, or its evidence.",
        ),
        "log": ("judge.cli.contest.tables:log", "Print the contest's log: who, when, and why something was void."),
        "pause": (
            "judge.cli.contest.admin:pause",
            "Start no more games; those that run are finished, and the judge that runs it ends.",
        ),
        "resume": (
            "judge.cli.contest.admin:resume",
            "Let a paused or stopped contest go on; games that are held for too many voids are played again.",
        ),
        "void": (
            "judge.cli.contest.admin:void",
            "Take a game's result back; it is played again when the contest is run.",
        ),
        "disqualify": (
            "judge.cli.contest.admin:disqualify",
            "Take an agent out: its games count for nobody, and those to come are not played.",
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
        "verify": (
            "judge.cli.contest.publish:verify",
            "Check an export: compare files and signature, replay every game, compute schedule and tables again.",
        ),
    },
    help="Run a whole contest: init, plan, run; then status, standings, export.",
)
