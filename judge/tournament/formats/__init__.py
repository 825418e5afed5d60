"""The table of formats: which one is meant by a name in a contest file, with its options."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from judge.tournament.formats.base import TournamentFormat, all_rounds
from judge.tournament.formats.gauntlet import Gauntlet
from judge.tournament.formats.groups import Groups, Leagues
from judge.tournament.formats.knockout import Knockout
from judge.tournament.formats.round_robin import DoubleRoundRobin, RoundRobin
from judge.tournament.formats.sequential import Sequential
from judge.tournament.formats.swiss import Swiss

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
