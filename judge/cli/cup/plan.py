"""`judge contest init --cup`, and `plan` and `announce` of a cup."""

import dataclasses
import re
from pathlib import Path
from string import Template

from judge.base.durable_files import write_durably
from judge.base.errors import HostError, InputError, os_errors_as
from judge.base.text import duration, printable
from judge.base.toml_files import toml_quoted
from judge.contest.file_names import CUP_FILE
from judge.contest.plan import NAME
from judge.contest.slots import slots_on_host
from judge.cup.plan import ANNOUNCEMENT, PlannedCup, load_cup
from judge.cup.run import LeagueEstimate, cup_hours, estimate_cup
from judge.terminal.output import make_table, note, print_json, print_table
from judge.transparency.keys import fingerprint
from judge.transparency.log import organiser_key

_TEMPLATE = Template("""\
# A cup: several contests with one list of entries. Paths are relative to this file's folder.
name = $name
about = ""
# zone = "Europe/Prague"     # of times without an offset such as +01:00
# store = "postgresql+psycopg://..."   # default: an SQLite file for each league
# leagues_at_once = 3        # default: all leagues share the slots from the start

# Schedule of all leagues. A league may have its own.
# [submissions]
# opens = 2027-03-01T08:00:00+01:00
# closes = 2027-03-31T18:00:00+02:00
# [contest]
# starts = 2027-03-31T18:30:00+02:00

# The machines, for estimates and pages. Default: this machine.
# [[machines]]
# name = "one"
# cores = 32

# Leagues, in the order in which they begin. Each has the keys of a contest.toml: docs/contest-file.md.
[[leagues]]
name = "freestyle-2"
about = "Freestyle, second league"
policy = "gomocup-freestyle"
format = { name = "round-robin", games = 24 }
openings = { file = "judge:freestyle-20" }
medals = false               # no medals for this league

[[leagues]]
name = "freestyle-1"
about = "Freestyle, first league"
policy = "gomocup-freestyle:finals"
format = { name = "round-robin", games = 24 }
openings = { file = "judge:freestyle-20" }
after = "freestyle-2"        # begins when that league is over ...
promoted = 4                 # ... with its best agents

# Entries: a house agent, an executable, a directory with an agent.toml, or an unpacked Gomocup archive.
# Authors can also submit archives: judge submit.
# [[entries]]
# path = "mybrain"
# name = "mybrain"
# leagues = ["freestyle-2"]
""")


def init(name: str) -> None:
    """Create a folder NAME with a commented cup.toml. Raises InputError."""
    folder = Path(name)
    path = folder / CUP_FILE
    if not re.fullmatch(NAME, folder.resolve().name):
        raise InputError(f"{name}: not a cup's name: use letters, digits, dashes, underscores and dots")
    if path.exists():
        raise InputError(f"{path} exists: edit it, or use another name")
    with os_errors_as(HostError, path):
        folder.mkdir(parents=True, exist_ok=True)
        write_durably(path, _TEMPLATE.substitute(name=toml_quoted(folder.resolve().name)).encode())
    print(f"{path}: edit it, then")
    print(f"  judge contest plan {path}       checks it: pairs, games, hours, missing items")
    print(f"  judge contest run {path}        plays it; after a stop the same command continues")


def plan(cup: Path, cores: int, *, as_json: bool) -> None:
    """Print the pairs and games of each league, the hours, and problems. Exits with 1 if any.

    `cores` are those for games; 0: those of the cup's machines, or of this one.
    """
    planned = load_cup(cup)
    found = estimate_cup(planned)
    cores = cores or sum(machine.cores for machine in planned.cup.machines) or len(slots_on_host(1))
    hours = cup_hours(planned, found, cores)
    missing = [sentence for each in found for sentence in each.missing]
    warnings = [f"{each.league.name}: {sentence}" for each in found for sentence in each.found.warnings]
    if as_json:
        leagues = [
            {
                "league": each.league.name,
                "agents": each.agents,
                "pairs": each.pairs,
                "left_out": len(each.found.left_out),
                "games": each.found.games,
            }
            for each in found
        ]
        known = None if hours is None else dataclasses.asdict(hours)
        print_json(
            {"leagues": leagues, "cores": cores, "hours": known, "missing": missing, "warnings": warnings}, indent=None
        )
    else:
        _show(planned, found)
        if hours is None:
            print("  time     unbounded: a policy's clock.match_ms is 0")
        else:
            longest, busy = (duration(each * 3_600_000) for each in (hours.most, hours.busy))
            print(f"  time     at most {longest} on {cores} core{'s' * (cores != 1)} if agents use all their time")
            print(f"           {busy} if no core is ever idle")
        for sentence in warnings:
            print(f"  warning  {printable(sentence, 2000)}")
        for sentence in missing:
            print(f"  missing  {printable(sentence, 2000)}")
        if not missing:
            print(f"nothing is missing; judge contest run {planned.path}")
    if missing:
        raise SystemExit(1)


def announce(cup: Path) -> None:
    """Fix the leagues of a cup, start the log of each, and print a text to publish. Can be repeated.

    `judge contest run` does the same before the first game.
    """
    planned = load_cup(cup)
    commitments = planned.announce()
    key = organiser_key(planned.folder)
    print(printable(planned.cup.about or planned.cup.name, 600))
    print()
    for league in planned.cup.leagues:
        policy = ", ".join((league.policy, *league.change))
        print(
            printable(f"league       {league.name}: {policy}; {league.format.name}, {league.format.games} games", 600)
        )
        print(f"commitment   {commitments[league.name] or 'none: the file fixes a seed'}")
    if key is not None:
        print(f"key          Ed25519, SHA-256 {fingerprint(key.public_key())}")
    print(f"announcement {planned.announcement.digest}")
    note(f"judge: publish these lines now where only you can write; the last is the SHA-256 of {ANNOUNCEMENT}")


def _show(planned: PlannedCup, found: list[LeagueEstimate]) -> None:
    columns = ("league", "policy", "agents", "pairs", "left out", "games", "begins")
    rows = [
        (
            each.league.name,
            each.plan.policy,
            str(each.agents),
            str(each.pairs),
            str(len(each.found.left_out)),
            f"{'' if each.found.is_exact else 'about '}{each.found.games}",
            f"after {each.league.after}"
            if each.league.after
            else planned.contest(each.league.name).plan.windows.words or "at once",
        )
        for each in found
    ]
    total = (sum(each.pairs for each in found), sum(len(each.found.left_out) for each in found))
    games = sum(each.found.games for each in found)
    print(f"{planned.cup.name}: {len(found)} leagues, {len(planned.cup.entries)} entries")
    table = make_table(columns, [*rows, ("all", "", "", *map(str, (*total, games)), "")], numbers=(2, 3, 4, 5))
    print_table(table)
