"""The crosstable: what every agent scored against every other one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from judge.tournament.results import PlayedPairing, SideScore
from judge.tournament.standings import Record


@dataclass(frozen=True, slots=True)
class Cell:
    """What the row's agent did against the column's, and the points of their pairings."""

    points: float
    done: SideScore


def crosstable(agents: Sequence[str], played: Iterable[PlayedPairing]) -> list[list[Cell | None]]:
    """Rows against columns in the order of `agents`; None for two that never met, and on the diagonal."""
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
