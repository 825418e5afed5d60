"""Formats by their names in contest files."""

from collections.abc import Mapping
from typing import Annotated, get_args

from pydantic import Field

from judge.tournament.formats.base import TournamentFormat
from judge.tournament.formats.groups import Groups, Leagues
from judge.tournament.formats.knockout import Knockout
from judge.tournament.formats.ladder import Ladder
from judge.tournament.formats.round_robin import DoubleRoundRobin, Gauntlet, RoundRobin
from judge.tournament.formats.sequential import Sequential
from judge.tournament.formats.swiss import Swiss

AnyFormat = Annotated[
    RoundRobin | DoubleRoundRobin | Gauntlet | Swiss | Knockout | Groups | Leagues | Sequential | Ladder,
    Field(discriminator="name"),
]

FORMATS: Mapping[str, type[TournamentFormat]] = {
    form.model_fields["name"].default: form for form in get_args(get_args(AnyFormat)[0])
}

__all__ = ["FORMATS", "AnyFormat", "TournamentFormat"]
