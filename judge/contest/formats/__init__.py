"""The table of formats: which one is meant by a name in a contest file, with its options."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from judge.contest.formats.base import TournamentFormat, all_rounds
from judge.contest.formats.gauntlet import Gauntlet
from judge.contest.formats.groups import Groups, Leagues
from judge.contest.formats.knockout import Knockout
from judge.contest.formats.round_robin import DoubleRoundRobin, RoundRobin
from judge.contest.formats.sequential import Sequential
from judge.contest.formats.swiss import Swiss

AnyFormat = Annotated[
    RoundRobin | DoubleRoundRobin | Gauntlet | Swiss | Knockout | Groups | Leagues | Sequential,
    Field(discriminator="name"),
]
"""A format as a contest file gives it: a table with its `name` and its options."""

FORMATS: Mapping[str, type[TournamentFormat]] = {
    "round-robin": RoundRobin,
    "double-round-robin": DoubleRoundRobin,
    "gauntlet": Gauntlet,
    "swiss": Swiss,
    "knockout": Knockout,
    "groups": Groups,
    "leagues": Leagues,
    "sprt": Sequential,
}
"""From a format's name to its options."""

__all__ = ["FORMATS", "AnyFormat", "TournamentFormat", "all_rounds"]
