"""Chooses the build of an agent that the host's processors can run."""

from collections.abc import Iterator, Sequence

from judge.base.instruction_sets import processor_flags
from judge.games.types import Verdict
from judge.referee.spec import Build, GameRecord, PlayedBuild, SeatSpec


def choose_builds(seats: Sequence[SeatSpec]) -> tuple[PlayedBuild, ...]:
    """Return the build of each seat that has builds."""
    flags = processor_flags() if any(seat.builds for seat in seats) else frozenset()
    return tuple(_chosen(seat, number, flags) for number, seat in enumerate(seats) if seat.builds)


def command_of(seat: SeatSpec, number: int, played: Sequence[PlayedBuild]) -> tuple[str, ...]:
    """Return the command of seat `number`: that of its build, if it has builds."""
    return next((seat.builds[each.number - 1].command for each in played if each.seat == number), seat.command)


def build_problems(record: GameRecord) -> Iterator[str]:
    """Yield contradictions between the builds that played and the instruction sets in the record."""
    played = record.placement.builds
    if not played and record.verdict is Verdict.VOID:
        return  # the host failed before the boxes were made
    seats = record.spec.seats
    if [each.seat for each in played] != [number for number, seat in enumerate(seats) if seat.builds]:
        yield "its builds are not those of its agents"
        return
    for each in played:
        seat = seats[each.seat]
        if each.number != _first(seat.builds, frozenset(each.instruction_sets)):
            yield f"{seat.name} played with build {each.number}, which its instruction sets do not give"


def _chosen(seat: SeatSpec, number: int, flags: frozenset[str]) -> PlayedBuild:
    named = {name for build in seat.builds for name in build.needs}
    first = _first(seat.builds, flags)
    return PlayedBuild(seat=number, number=first, instruction_sets=tuple(sorted(named & flags)))


def _first(builds: Sequence[Build], flags: frozenset[str]) -> int:
    return next(number for number, build in enumerate(builds, 1) if flags.issuperset(build.needs))
