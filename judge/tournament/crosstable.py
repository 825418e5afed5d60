"""The crosstable: each agent's score against each other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from judge.tournament.results import PlayedPairing, SideScore
from judge.tournament.standings import Record


@dataclass(frozen=True, slots=True)
class Cell:
    """The row agent's result against the column agent."""

    points: float
    done: SideScore


def crosstable(agents: Sequence[str], played: Iterable[PlayedPairing]) -> list[list[Cell | None]]:
    """The table in the order of `agents`; None for pairs that never met."""
    met: dict[frozenset[str], list[PlayedPairing]] = {}
    for each in played:
        if each.pairing.second is not None:
            met.setdefault(each.pairing.agents, []).append(each)
    return [[_cell(row, met.get(frozenset({row, column}))) for column in agents] for row in agents]


def _cell(row: str, met: list[PlayedPairing] | None) -> Cell | None:
    if met is None:
        return None
    record = Record(row, met)
    return Cell(record.points, record.done)
