"""The crosstable: each agent's score against each other."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from judge.tournament.results import PlayedPairing, SideScore
from judge.tournament.standings import Record

MAX_CROSSTABLE_AGENTS = 500
"""With more agents an export has no crosstable; the table of pairs has the same numbers."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The row agent's result against the column agent."""

    points: float
    done: SideScore


Crosstable = Mapping[str, Mapping[str, Cell]]
"""Cells of the agents that met, by row and column, both in the order of the standings."""


def crosstable(agents: Iterable[str], played: Iterable[PlayedPairing]) -> Crosstable:
    """The table in the order of `agents`."""
    places = {agent: place for place, agent in enumerate(agents)}
    met: dict[str, dict[str, list[PlayedPairing]]] = {agent: {} for agent in places}
    for each in played:
        first, second = each.pairing.first, each.pairing.second
        if second is not None and first in met and second in met:
            met[first].setdefault(second, []).append(each)
            met[second].setdefault(first, []).append(each)
    return {
        row: {column: _cell(row, of_row[column]) for column in sorted(of_row, key=places.__getitem__)}
        for row, of_row in met.items()
    }


def _cell(row: str, met: list[PlayedPairing]) -> Cell:
    record = Record(row, met)
    return Cell(record.points, record.done)
