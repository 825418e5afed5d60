"""`judge contest init --cup`: create a folder with a commented cup.toml."""

import re
from pathlib import Path
from string import Template

from judge.base.durable_files import write_durably
from judge.base.errors import HostError, InputError
from judge.base.os_errors import os_errors_as
from judge.base.toml_files import toml_quoted
from judge.contest.file_names import CUP_FILE
from judge.contest.plan import NAME

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


def init_cup(name: str) -> None:
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
