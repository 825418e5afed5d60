"""`judge contest init`: create a folder with a commented contest.toml or cup.toml."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.durable_files import is_directory, is_file, write_durably
from judge.base.errors import HostError, InputError, os_errors_as
from judge.base.text import printable
from judge.cli.options import ClockOption, PolicyOption, SetOption, checked_address, refuse_given
from judge.contest.file_names import CUP_FILE, PLAN_FILE
from judge.terminal.output import is_interactive, note

if TYPE_CHECKING:
    from judge.cli.contest.init_options import InitOptions
    from judge.record.policy import Policy

EXAMPLES = """
judge contest init weekend --game gomoku --closes "Fri 18:00" --authors authors.txt
judge contest init cup-2026 --policy gomocup-freestyle
judge contest init friday --policy renju-15 --agent house-renju --agent ./my-brain --format swiss
judge contest init cup --game gomoku --title "Weekend Cup" --turn-ms 300 --zone UTC --closes "2027-03-31 18:00"
judge contest init cup --game gomoku --store postgresql+psycopg://judge@localhost/cup
judge contest init december --from november
judge contest init spring --cup

On a terminal, without --policy, --game and --from, it asks.
"""

DEFAULT_ADDRESS = "http://127.0.0.1:8000"
"""Where judge serve listens by default."""

_FORMATS = {
    "round-robin": "cycles = 1       # meetings of each two agents\n",
    "double-round-robin": "",
    "gauntlet": "challengers = 1  # number of top seeds that meet all other agents\n",
    "swiss": "rounds = 7\n",
    "knockout": "replays = 1      # number of replays of a tied pairing\n",
    "groups": "groups = 2\npromoted = 2     # number from each group that reach the final\n",
    "sprt": "rounds = 1000    # maximum number of pairings; after it the test is undecided\n"
    'test = { elo0 = 0, elo1 = 10, alpha = 0.05, beta = 0.05, model = "logistic" }   # or "normalized", "bayesian"\n',
    "ladder": "total_games = 1000   # the season ends after this number\n"
    "# ends = 2027-01-31T18:00:00+01:00   # or at this moment, if it is earlier\n"
    "matchmaking = { open_games = 2, author_weight = 1 }   # limits per agent and author\n",
    "leagues": "sizes = [6, 6, 6]\npromoted = 3     # number from each league that are promoted\n",
}

_TEMPLATE = Template("""\
# A contest. Paths are relative to this file's folder. The first run locks in this file and the agents' files; later
# changes have no effect.
name = $name
title = $title   # on the pages; empty: the name
about = ""   # one sentence for the pages
policy = $policy   # all enforced limits: judge policies
change = $changes   # changed values of the policy, such as "clock.turn_ms=1000"
$zone
$seed
seeding = "listed"   # the agents below, best first, then submitted ones by name; or "drawn" (random)
# seeds = ["strong", "less-strong"]   # names of listed or submitted agents, best first; all others follow
# agents_per_author = 1   # default: no limit
# order = "lowest"        # games of weak and uncertain agents first; default: in the order of the schedule
store = $store   # or postgresql+psycopg://...

[format]
name = $format   # $formats
games = $games        # of a pairing; each two in a row share an opening, with colours swapped
$options# skip = { rating_difference = 400, ratings = "ratings.csv" }   # pairs that do not meet
# ranking = ["points", "direct", "sonneborn-berger", "wins"]

# [duel]         # scores a pairing's games as one result
# win = 3
# draw = 1
# loss = 0

$openings

# [folders]      # initial content of the agents' persistent folders; default: empty
# from = "../last-cup"   # another contest, or a directory of folders: judge contest folders export

# [ratings]      # pages show the agents' rating histories over these contests and this one
# with = ["../last-cup"]           # other contests or exports, of the same game, rules and times
# anchors = { house-renju = 1600 }   # agents with fixed ratings, which anchor the scale

[failures]       # an agent that fails in a larger share of its games is disqualified
limit = 0.1      # 1: never
after = 20       # minimum number of its games before the limit applies
# check = "game" # after every game; default: after all games of a round or league

# Schedule: a running judge serve opens and closes submissions and starts the contest.
$schedule
# [intake]          # limits of submissions
# uploads_per_hour = 12   # of one author; 0: no limit
# practice_games = 3      # against house agents, after a passed check
# [intake.notices]  # e-mail to authors; see docs/contest-file.md

# [broadcast]       # delay of the live pages
# delay_plies = 0   # a move is shown after this number of further moves
# delay_s = 0       # ... and seconds

# Witnesses on other machines sign the contest's log: programs of C2SP's tlog-witness, asked by judge contest cosign.
# [[witnesses]]
# key = "example.net/ada+1f2e3d4c+BPh4..."
# url = "https://witness.example.net/"

[slots]
cores = 1        # processors reserved for a game; both agents share them, unless clock.ponder gives each one half

# Agents, best first: a house agent, an executable, a directory with an agent.toml, or an unpacked Gomocup archive.
# name = sets the name in the tables; default: the agent's own name.
$agents""")

_CUP_TEMPLATE = Template("""\
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

_FIXED = "   # makes all random choices predictable; without this line a secret seed is drawn"
_NO_SEED = "# seed = 1     # makes all random choices predictable; by default a secret seed is drawn at the start"

_NO_ZONE = '# zone = "Europe/Prague"   # of times without an offset such as +01:00'
_NO_SCHEDULE = """\
# [submissions]
# opens = 2027-03-01T08:00:00+01:00
# closes = 2027-03-31T18:00:00+02:00
# [contest]
# starts = 2027-03-31T18:30:00+02:00
"""

_OPENINGS = Template("""\
[openings]       # start positions of all pairings, each played with both colours
file = $file   # judge's own balanced ones; or a file with one per line, such as h8i9j7 or 0,0, 1,1
shuffle = true   # in random order
$transform = true   # repeats are rotated and mirrored""")

_NO_OPENINGS = """\
# [openings]     # one per line, such as h8i9j7 or 0,0, 1,1
# file = "openings.txt"
# shuffle = true     # in random order
# transform = true   # repeats are rotated and mirrored"""

_NOBODY = """\
# [[agents]]
# path = "mybrain"
# name = "mybrain"
"""


def init(
    name: Annotated[str, typer.Argument(help="The name of the contest and of its new folder.")],
    policy: PolicyOption = "",
    agent: Annotated[
        list[str] | None, typer.Option(help="A participating agent: a house agent or a path. Repeatable.")
    ] = None,
    format_: Annotated[str, typer.Option("--format", help=", ".join(_FORMATS), show_default="round-robin")] = "",
    games: Annotated[int | None, typer.Option(min=1, help="Games of each pairing.", show_default="2")] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, help="Fixed random seed, which makes the contest predictable. Default: a secret seed is drawn."
        ),
    ] = None,
    set_: SetOption = None,
    clock: ClockOption = "",
    title: Annotated[str, typer.Option(help="The title on the pages.")] = "",
    game: Annotated[str, typer.Option(help="Instead of --policy: a game, with its recommended policy.")] = "",
    turn_ms: Annotated[int | None, typer.Option(min=0, help="Milliseconds for a move.")] = None,
    match_ms: Annotated[int | None, typer.Option(min=0, help="Milliseconds for all moves of a game.")] = None,
    zone: Annotated[str, typer.Option(help="Time zone of the times, such as Europe/Prague.")] = "",
    opens: Annotated[str, typer.Option(help="Start of submissions, such as '2027-03-01 08:00'.")] = "",
    closes: Annotated[str, typer.Option(help="End of submissions.")] = "",
    starts: Annotated[str, typer.Option(help="Start of the contest, by a running judge serve.")] = "",
    last: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="LAST",
            help="Copy another contest: file, submitted agents with their checks, tokens, key, ratings.",
        ),
    ] = None,
    store: Annotated[
        str,
        typer.Option(
            metavar="URL", help="The contest's database, if its folder is to have none; with --from that of LAST."
        ),
    ] = "",
    authors: Annotated[
        str, typer.Option(metavar="FILE", help="A text file with an author's name on each line; each gets a link.")
    ] = "",
    url: Annotated[
        str, typer.Option(help="The public address of judge serve, for the links.", show_default=DEFAULT_ADDRESS)
    ] = "",
    cup: Annotated[bool, typer.Option("--cup", help="Instead create a cup.toml, of several contests.")] = False,
) -> None:
    """Create a folder NAME with a commented contest.toml.

    With --closes or --authors it also makes the key, the announcement and the sign-in links. A judge serve then
    receives agents, starts the contest when submissions close, plays it and exports it.
    """
    from judge.cli.contest.init_options import InitOptions, ask_options, fair_games, local_zone, policy_of_game
    from judge.contest.plan import NAME, load_plan
    from judge.record.policy import load_policy

    if cup:
        given = {"policy": policy, "agent": agent, "format": format_, "games": games, "game": game, "from": last}
        given |= {"title": title, "starts": starts, "opens": opens, "zone": zone, "store": store}
        given |= {"seed": seed is not None, "closes": closes, "authors": authors}
        refuse_given("is not for a cup: write it in cup.toml", **given)
        _init_cup(name)
        return
    if (opens or closes or starts) and not zone:
        zone = local_zone()
    options = InitOptions(
        title, policy, format_ or "round-robin", games or 2, turn_ms, match_ms, zone, opens, closes, starts or closes
    )
    if last is not None:
        if policy or game or agent or format_ or games or clock or authors or seed is not None:
            raise InputError(
                "--from copies policy, format, agents, authors and seed: leave out --policy, --game, --format, "
                "--games, --agent, --authors, --clock and --seed, and change the new file"
            )
        from judge.cli.contest.init_from import init_from  # a new contest has no database

        init_from(name, last, store, options, set_ or [])
        return
    address = checked_address(url or DEFAULT_ADDRESS)
    names: Sequence[str] = ()
    if authors:
        from judge.cli.tokens import authors_in

        names = authors_in(authors)
    if game:
        if policy:
            raise InputError("--game and --policy: give one of them")
        options = replace(options, policy=policy_of_game(game))
    elif not policy:
        if not is_interactive():
            raise InputError("--policy is missing: judge policies prints the names; or use --game or --from")
        options = ask_options(options, Path(name).name, tuple(_FORMATS))
    policy, format_ = options.policy, options.format_
    changes = [*(set_ or []), *options.changes]
    if format_ not in _FORMATS:
        raise InputError(f"--format {format_}: use one of {', '.join(_FORMATS)}")
    loaded = load_policy(policy, changes, clock=clock)
    changes += [f"clock.control={clock}"] if clock else []
    folder = Path(name)
    own_name = folder.resolve().name
    if not re.fullmatch(NAME, own_name):
        raise InputError(
            f"{name}: a contest's name has 1 to 64 letters A-Z and a-z, digits, dashes, "
            "underscores and dots, and does not begin with a dot"
        )
    path = folder / PLAN_FILE
    if path.exists():
        raise InputError(f"{path} exists: edit it, or use another name")
    if agent:
        from judge.agents.agents import refuse_person

        for each in agent:
            refuse_person(each)
    agents = [_agent_from_folder(each, folder) for each in agent or []]
    if names and not games and format_ == "round-robin":
        options = replace(options, games=fair_games(len(agents) + len(names)))
    # The path of a policy file is relative to the contest folder.
    file, colon, variant = policy.partition(":")
    named_policy = _from_folder(file, folder) + colon + variant if file.endswith(".toml") else policy
    text = _text(own_name, named_policy, loaded, agents, options, seed, changes, store)
    before = {*folder.rglob("*")}
    is_new = not folder.exists()
    with os_errors_as(HostError, path):
        folder.mkdir(parents=True, exist_ok=True)
        write_durably(path, text.encode())
    try:
        planned = load_plan(path)
        if is_open := bool(names or options.closes):
            from judge.cli.contest.open_contest import chosen_lines, make_ready_for_authors

            make_ready_for_authors(planned, names, address)
    except BaseException:  # also a signal
        for made in sorted({*folder.rglob("*")} - before, reverse=True):
            made.rmdir() if made.is_dir() else made.unlink()
        if is_new:
            folder.rmdir()
        raise
    if is_open:
        for line in chosen_lines(planned, len(agents), len(names)):
            print(printable(line, 600))
        if not url:
            note(
                f"judge: the links and the announcement are for this machine: before you send them, replace {address} "
                "in both files by the public address of judge serve, or begin again with --url ADDRESS"
            )
        _print_last_steps(folder, is_scheduled=bool(options.starts))
    else:
        _print_next_steps(path, is_scheduled=bool(options.starts))


def _print_last_steps(folder: Path, *, is_scheduled: bool) -> None:
    starts = "starts it, plays it and exports it" if is_scheduled else "shows the contest"
    print("then")
    print(f"  judge serve {folder}            receives agents, {starts}")
    if not is_scheduled:
        print(f"  judge contest run {folder}      plays it; after a stop the same command continues")
        print(f"  judge contest export DIR {folder}   writes the signed results")
    else:
        print(f"  judge contest verify {folder}   verifies the newest export")


def _print_next_steps(path: Path, *, is_scheduled: bool) -> None:
    starts = ", and starts it at its time" if is_scheduled else ""
    steps = [
        (f"contest plan {path}", "checks it: games, duration, missing items"),
        (f"contest key {path.parent / 'organiser.key'}", "makes the key that signs log and results"),
        (f"contest announce {path}", "commits to the draw and prints an announcement"),
        (f"serve {path.parent}", f"receives agents and shows the contest{starts}"),
    ]
    if not is_scheduled:
        steps.append((f"contest run {path}", "plays it; after a stop the same command continues"))
    print(f"{path}: edit it, then")
    width = max(len(command) for command, _ in steps)
    for command, effect in steps:
        print(f"  judge {command:<{width}}  {effect}")


def _agent_from_folder(named: str, folder: Path) -> str:
    from judge.agents.agents import agent_not_found
    from judge.base.resources import house_agent_names

    if named in house_agent_names():
        return named
    path = _from_folder(named, folder)
    if not is_file(Path(named)) and not is_directory(Path(named)):
        raise agent_not_found(named)
    return path


def _from_folder(path: str, folder: Path) -> str:
    found = os.path.relpath(Path(path).resolve(), folder.resolve())
    try:
        found.encode()
    except UnicodeEncodeError:
        raise InputError(f"{path}: its path is not UTF-8, but a contest file must be: rename it") from None
    return found


def _text(
    name: str,
    policy: str,
    loaded: Policy,
    agents: Sequence[str],
    options: InitOptions,
    seed: int | None,
    changes: Sequence[str],
    store: str,
) -> str:
    from judge.base.toml_files import toml_quoted
    from judge.contest.opening_files import shipped_openings

    openings = _NO_OPENINGS
    if file := shipped_openings(loaded):
        # A test and a ladder play more games than there are openings.
        transform = "transform" if options.format_ in ("sprt", "ladder") else "# transform"
        openings = _OPENINGS.substitute(file=toml_quoted(file), transform=transform)
    entered = "\n".join(f"[[agents]]\npath = {toml_quoted(agent)}\n" for agent in agents)
    return _TEMPLATE.substitute(
        name=toml_quoted(name),
        policy=toml_quoted(policy),
        changes=f"[{', '.join(map(toml_quoted, changes))}]",
        seed=_NO_SEED if seed is None else f"seed = {seed}{_FIXED}",
        title=toml_quoted(options.title),
        store=toml_quoted(store or "sqlite:///contest.db"),
        zone=f"zone = {toml_quoted(options.zone)}" if options.zone else _NO_ZONE,
        schedule=options.schedule or _NO_SCHEDULE,
        format=toml_quoted(options.format_),
        formats=", ".join(_FORMATS),
        games=1 if options.format_ == "ladder" else options.games,
        options=_FORMATS[options.format_],
        openings=openings,
        agents=entered or _NOBODY,
    )


def _init_cup(name: str) -> None:
    from judge.base.toml_files import toml_quoted
    from judge.contest.plan import NAME

    folder = Path(name)
    path = folder / CUP_FILE
    if not re.fullmatch(NAME, folder.resolve().name):
        raise InputError(f"{name}: not a cup's name: use letters, digits, dashes, underscores and dots")
    if path.exists():
        raise InputError(f"{path} exists: edit it, or use another name")
    with os_errors_as(HostError, path):
        folder.mkdir(parents=True, exist_ok=True)
        write_durably(path, _CUP_TEMPLATE.substitute(name=toml_quoted(folder.resolve().name)).encode())
    print(f"{path}: edit it, then")
    print(f"  judge contest plan {path}       checks it: pairs, games, hours, missing items")
    print(f"  judge contest run {path}        plays it; after a stop the same command continues")
