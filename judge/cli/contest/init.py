"""`judge contest init`: a folder with a contest.toml that shows everything an organiser may want to change."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from judge.agents.agents import no_agent, refuse_person
from judge.base.durable_files import is_directory, is_file, write_durably
from judge.base.errors import HostError, InputError
from judge.base.toml_files import toml_quoted
from judge.cli.options import PolicyOption, SetOption
from judge.contest.plan import NAME, PLAN_FILE, load_plan
from judge.host.house_agents import house_agent_names
from judge.referee.policy import load_policy

EXAMPLES = """
Examples:

judge contest init gomocup-2026 --policy gomocup-freestyle

judge contest init friday --policy renju-15 --agent house-renju --agent ./my-brain --format swiss
"""

_FORMATS = {
    "round-robin": "cycles = 1       # how often everybody meets everybody\n",
    "double-round-robin": "",
    "gauntlet": "challengers = 1  # so many first seeds meet all the others\n",
    "swiss": "rounds = 7\n",
    "knockout": "replays = 1      # how often a pairing that ends equal is played again\n",
    "groups": "groups = 2\npromoted = 2     # how many of a group go on to the final\n",
    "sprt": "rounds = 100     # after so many it ends undecided\n"
    'test = { elo0 = 0, elo1 = 10, alpha = 0.05, beta = 0.05, model = "logistic" }   # or "normalized", "bayesian"\n',
    "leagues": "sizes = [6, 6, 6]\npromoted = 3     # how many of a league join the one above\n",
}
"""For each format the lines of its own options."""

_TEMPLATE = Template("""\
# A contest. Paths are from this file's folder. When it is run for the first time, all that stands here is frozen
# together with the agents' files; what is changed later has no effect on it.
name = $name
about = ""
policy = $policy   # every number that is enforced: judge policies show
change = $changes   # single numbers of the policy, such as "clock.turn_ms=1000"
$seed
seeding = "listed"   # the agents below, best first, then submitted ones by name; or "drawn" by lot
# seeds = ["strong", "less-strong"]   # names of agents, listed or submitted, best first; all others come behind them
store = "sqlite:///contest.db"   # or postgresql+psycopg://...

[format]
name = $format   # $formats
games = $games        # of a pairing; two that follow each other share an opening, with colours changed
$options# ranking = ["points", "direct", "sonneborn-berger", "wins"]

# [duel]         # a pairing's games score together, as at Gomocup until 2016
# win = 3
# draw = 1
# loss = 0

# [openings]     # one a line, such as h8i9j7 or 0,0, 1,1
# file = "openings.txt"
# shuffle = true     # in an order that chance decides
# transform = true   # turned and mirrored when they come again

# [folders]      # where the agents' persistent folders begin: empty, or as these are
# from = "../last-cup"   # another contest, or a directory of folders: judge contest folders export

# [ratings]      # pages show how each agent's rating went through these contests and this one
# with = ["../last-cup"]           # other contests or exports, of the same game, rules and times
# anchors = { house-renju = 1600 }   # agents whose rating is given, which holds the scale

[failures]       # who fails by itself in more than this share of its games is disqualified
limit = 0.1      # 1: nobody is
after = 20       # games that it must have played before the share means something

# Moments at which a running judge serve opens and closes submissions and starts the contest. Times without an offset
# (+01:00) are in the zone that a line zone = "Europe/Prague" before the first table names.
# [submissions]
# opens = 2027-03-01T08:00:00+01:00
# closes = 2027-03-31T18:00:00+02:00
# [contest]
# starts = 2027-03-31T18:30:00+02:00

# Who signs the contest's log on other machines, and what its draw follows from too; see judge witness-server.
# [[witnesses]]
# key = "example.net/ada+1f2e3d4c+BPh4..."
# url = "https://witness.example.net/"

[slots]
cores = 1        # processors that a game has to itself; both agents share them, for one runs at a time

# Who takes part, best first: a house agent, an executable, a directory with an agent.toml, or an unpacked Gomocup
# archive. name = is what the tables call it, where its own name will not do.
$agents""")

_FIXED = "   # fixes all chance: anybody who knows it can predict the games; without this line it is drawn"
_NO_SEED = (
    "# seed = 1     # would fix all chance, which anybody could then predict; it is drawn when the contest begins"
)

_NOBODY = """\
# [[agents]]
# path = "mybrain"
# name = "mybrain"
"""


def init(
    name: Annotated[str, typer.Argument(help="The name of the contest and of its new folder.")],
    policy: PolicyOption,
    agent: Annotated[
        list[str] | None, typer.Option(help="An agent that takes part: a house agent or a path. Repeatable.")
    ] = None,
    format_: Annotated[str, typer.Option("--format", help=", ".join(_FORMATS))] = "round-robin",
    games: Annotated[int, typer.Option(min=1, help="Games of each pairing.")] = 2,
    seed: Annotated[
        int | None, typer.Option(min=0, help="A fixed seed, which makes chance predictable. Default: chance is drawn.")
    ] = None,
    set_: SetOption = None,
) -> None:
    """Create a folder NAME with a commented contest.toml."""
    if format_ not in _FORMATS:
        raise InputError(f"--format {format_}: it is one of {', '.join(_FORMATS)}")
    load_policy(policy, set_ or [])
    folder = Path(name)
    own_name = folder.resolve().name
    if not re.fullmatch(NAME, own_name):
        raise InputError(
            f"{name}: a contest's name has only A-Z, a-z, 0-9, dash, underscore and dot, 1 to 64 of them, no dot first"
        )
    path = folder / PLAN_FILE
    if path.exists():
        raise InputError(f"{path} is there already: edit it, or take another name")
    for each in agent or []:
        refuse_person(each)
    agents = [_agent_from_folder(each, folder) for each in agent or []]
    # The path of a policy file is relative to the contest folder.
    file, colon, variant = policy.partition(":")
    named_policy = _from_folder(file, folder) + colon + variant if file.endswith(".toml") else policy
    text = _text(own_name, named_policy, agents, format_, games, seed, set_ or [])
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_durably(path, text.encode())
    except OSError as error:
        raise HostError(f"{path}: {error.strerror}") from None
    try:
        load_plan(path)
    except InputError:
        path.unlink()
        if is_new:
            folder.rmdir()
        raise
    print(f"{path}: edit it, then")
    print(f"  judge contest plan {path}       games, hours, and what is missing")
    print(f"  judge contest run {path}        play it; the same command goes on after a stop")


def _agent_from_folder(named: str, folder: Path) -> str:
    """An agent's path as it reads from the contest's folder, or a house agent's name as it is."""
    if named in house_agent_names():
        return named
    path = _from_folder(named, folder)
    if not is_file(Path(named)) and not is_directory(Path(named)):
        raise no_agent(named)
    return path


def _from_folder(path: str, folder: Path) -> str:
    found = os.path.relpath(Path(path).resolve(), folder.resolve())
    try:
        found.encode()
    except UnicodeEncodeError:
        raise InputError(f"{path}: its path is not UTF-8, which a contest file is: rename it") from None
    return found


def _text(
    name: str, policy: str, agents: Sequence[str], format_: str, games: int, seed: int | None, changes: Sequence[str]
) -> str:
    entered = "\n".join(f"[[agents]]\npath = {toml_quoted(agent)}\n" for agent in agents)
    return _TEMPLATE.substitute(
        name=toml_quoted(name),
        policy=toml_quoted(policy),
        changes=f"[{', '.join(map(toml_quoted, changes))}]",
        seed=_NO_SEED if seed is None else f"seed = {seed}{_FIXED}",
        format=toml_quoted(format_),
        formats=", ".join(_FORMATS),
        games=games,
        options=_FORMATS[format_],
        agents=entered or _NOBODY,
    )
