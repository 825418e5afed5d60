"""Twenty contest files with the same values in different forms of TOML. Each names the agents `brain` and `deep/er`."""

from collections.abc import Mapping

_TEMPLATE = """\
# The monthly cup of the club.
name = "cup"   # also the folder
title = "The cup"
about = ""   # nothing yet
policy = "policy.toml:fast"   # ours
change = ["clock.turn_ms=1000"]   # faster
store = "sqlite:///contest.db"

[format]   # everybody meets everybody
name = "round-robin"
games = 2        # both colours

[openings]
file = "openings.txt"   # balanced
# shuffle = true

[folders]
from = "kept"   # what they learned

[submissions]
opens = 2027-03-01T08:00:00+01:00   # Monday
closes = 2027-03-31T18:00:00+02:00
[contest]
starts = 2027-03-31T18:30:00+02:00   # half an hour later
# [intake]
# uploads_per_hour = 12

[slots]
cores = 1

[[agents]]   # best first
path = "brain"   # ours
[[agents]]
path = "deep/er"
name = "deeper"   # theirs
# the end
"""

_INLINE = """\
name = 'cup'
policy = 'policy.toml:fast' # single quotes
change = [ 'clock.turn_ms=1000', ] # trailing comma
format = { name = 'round-robin', games = 2 } # inline
openings = { file = 'openings.txt' }
folders = { from = 'kept' }
submissions = { opens = 2027-03-01T08:00:00+01:00, closes = 2027-03-31T18:00:00+02:00 }
contest = { starts = 2027-03-31T18:30:00+02:00 }
agents = [{ path = 'brain' }, { path = 'deep/er', name = 'deeper' }] # inline tables
"""

_DOTTED = """\
# dotted
name = "cup"
policy = "policy.toml:fast"
change = ["clock.turn_ms=1000"]
format.name = "round-robin"
format.games = 2 # two
openings.file = "openings.txt"
folders.from = "kept"
submissions.opens = 2027-03-01T08:00:00+01:00
submissions.closes = 2027-03-31T18:00:00+02:00
contest.starts = 2027-03-31T18:30:00+02:00
agents = [
    { path = "brain" }, # one
    # between
    { path = "deep/er", name = "deeper" },
]
"""

_TABLES_FIRST = """\
name = "cup"
change = [
  "clock.turn_ms=1000",  # a ] in a comment, and a "
]
policy = "policy.toml:fast"

[contest]
starts = 2027-03-31T18:30:00+02:00

# about the agents
[[agents]]
name = 'brain'
path = 'brain'

[submissions]
closes = 2027-03-31T18:00:00+02:00 # evening

[[agents]]
path = 'deep/er' # theirs

[openings]
file = 'openings.txt'

[format]
games = 2
name = "round-robin"

[folders]
from = 'kept'
"""

_QUOTED = _TEMPLATE.replace("name = ", '"name" = ').replace("path = ", "'path' = ").replace("[format]", '["format"]')

TEXTS: Mapping[str, str] = {
    "template": _TEMPLATE,
    "single quotes": _TEMPLATE.replace('"', "'"),
    "inline tables": _INLINE,
    "dotted keys": _DOTTED,
    "tables in another order": _TABLES_FIRST,
    "quoted keys": _QUOTED,
    "CR LF": _TEMPLATE.replace("\n", "\r\n"),
    "CR LF and inline tables": _INLINE.replace("\n", "\r\n"),
    "CR LF and dotted keys": _DOTTED.replace("\n", "\r\n"),
    "no line end at the end": _TEMPLATE.removesuffix("\n"),
    "no schedule": "\n".join(
        line for line in _TEMPLATE.splitlines() if not line.startswith(("opens", "closes", "starts", "[sub", "[con"))
    ),
    "indented": "\n".join(f"  {line}" for line in _TEMPLATE.splitlines()) + "\n",
    "without spaces": _TEMPLATE.replace(" = ", "="),
    "many spaces": _TEMPLATE.replace(" = ", "   =   "),
    "blank lines": _TEMPLATE.replace("\n", "\n\n"),
    "unicode": _TEMPLATE.replace("The cup", "Pohár 五子棋 \\u017d").replace("# the end", "# конец"),
    "strings of several lines": _TEMPLATE.replace('about = ""', 'about = """\na # no comment\n[contest]\n"""').replace(
        '"The cup"', "'''The\n'cup' '''"
    ),
    "arrays of several lines": _TEMPLATE.replace(
        '["clock.turn_ms=1000"]', '[   # begins\n  "clock.turn_ms=1000"   # one\n  ,\n# between\n]'
    ),
    "comments everywhere": "\n".join(f"# before\n{line}" for line in _TEMPLATE.splitlines()) + "\n# after\n",
    "subtables": _TEMPLATE.replace(
        "[slots]", "[intake]\npractice_games = 3\n[intake.notices]\n# later\n\n[failures]\nlimit = 0.1\n[slots]"
    ),
}
