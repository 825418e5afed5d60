"""Who runs on which core, and how busy cores were."""

import os
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.sandbox.machine import cores
from judge.sandbox.machine.cores import (
    Core,
    available,
    group_cores,
    on_all_processors,
    parse_processors,
    place_slots,
    split_cores,
    whole_cores,
)


@pytest.mark.parametrize(
    ("cores", "sizes", "judge", "of_slots", "shared"),
    [
        ("0 1", (1, 1, 1), (0,), [(1,)], False),
        ("3", (1, 1, 1), (3,), [(3,)], True),
        ("0 1", (2, 1, 1), (0,), [(1,), (0,)], True),
        ("2 5 7 9", (2, 1, 1), (2,), [(9,), (7,)], False),
        ("0 1 2 3 4", (2, 2, 1), (0,), [(3, 4), (1, 2)], False),
        ("0 1 2 3", (2, 2, 1), (0,), [(2, 3), (0, 1)], True),
        # hyperthreads: 0 and 4 are one core
        ("0,4 1,5 2,6 3,7", (3, 1, 1), (0, 4), [(3, 7), (2, 6), (1, 5)], False),
        ("0,4 1,5 2,6 3,7", (1, 3, 1), (0, 4), [(1, 2, 3, 5, 6, 7)], False),
        ("0-1 2-3", (2, 1, 1), (0,), [(2, 3), (1,)], False),
        ("0-1", (1, 1, 1), (0,), [(1,)], False),
        # a judge that may use one hyperthread of its core, and all of another's
        ("1 2-3", (1, 1, 1), (1,), [(2, 3)], False),
        # slots that share cores
        ("0 1 2 3", (4, 1, 4), (0,), [(3,)] * 4, False),
        ("0 1 2 3", (4, 1, 3), (0,), [(3,), (2,), (3,), (2,)], False),
        ("0 1 2 3", (4, 1, 2), (0,), [(3,), (2,), (3,), (2,)], False),
    ],
)
def test_the_judge_gets_the_lowest_core_and_slots_the_highest(
    cores: str, sizes: tuple[int, int, int], judge: Core, of_slots: list[Core], shared: bool
) -> None:
    """`sizes` are the slots, the cores of a slot, and the slots that share cores."""
    placement = place_slots(parsed(cores), *sizes)
    assert (judge, shared) == (placement.judge, placement.shared)
    assert of_slots == list(placement.slots)


def parsed(cores: str) -> list[Core]:
    return [tuple(sorted(parse_processors(core))) for core in cores.split()]


@pytest.mark.parametrize(("slots", "width", "sharing"), [(3, 1, 1), (1, 3, 1), (0, 1, 1), (5, 1, 2), (2, 3, 64)])
def test_slots_that_do_not_fit_are_refused(slots: int, width: int, sharing: int) -> None:
    with pytest.raises(InputError):
        place_slots(parsed("0-1 2-3"), slots, width, sharing)


@pytest.mark.parametrize(
    ("available", "siblings", "cores"),
    [
        ({0, 1}, [{0}, {1}], "0 1"),
        ({0, 1, 2, 3}, [{0, 2}, {1, 3}, {0, 2}, {1, 3}], "0,2 1,3"),
        ({1, 2, 3}, [{0, 2}, {1, 3}], "1,3 2"),
        ({4, 5}, [set(), set()], "4 5"),
    ],
    ids=["no hyperthreads", "two a core", "not all may be used", "the kernel does not say"],
)
def test_processors_are_grouped_by_core(available: set[int], siblings: list[set[int]], cores: str) -> None:
    assert parsed(cores) == list(group_cores(available, siblings))


@pytest.mark.parametrize(("text", "processors"), [("0\n", {0}), ("0-2,8\n", {0, 1, 2, 8}), ("3,1", {1, 3})])
def test_a_list_of_processors_is_read(text: str, processors: set[int]) -> None:
    assert processors == parse_processors(text)


def test_every_processor_of_this_host_is_in_one_core_and_is_seen_from_any_of_them() -> None:
    given = available()
    assert sorted(given) == sorted(sum(whole_cores(), ()))
    os.sched_setaffinity(0, {min(given)})
    try:
        with on_all_processors():
            assert given == available()
        assert {min(given)} == available()
    finally:
        os.sched_setaffinity(0, given)


@pytest.mark.parametrize(
    ("threads", "processors", "seats"),
    [
        ("0 1 2 3", (1, 2), ((1,), (2,))),
        ("0 1 2 3 4", (4, 1, 3, 2), ((1, 2), (3, 4))),
        ("0,4 1,5 2,6 3,7", (1, 2, 5, 6), ((1, 5), (2, 6))),
        ("0,1 2,3", (0, 1), None),
        ("0 1 2 3", (1, 2, 3), None),
        ("0", (), None),
    ],
)
def test_pondering_seats_get_whole_cores(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    threads: str,
    processors: tuple[int, ...],
    seats: tuple[tuple[int, ...], ...] | None,
) -> None:
    for core in parsed(threads):
        for processor in core:
            listing = tmp_path / f"cpu{processor}" / "topology" / "thread_siblings_list"
            listing.parent.mkdir(parents=True)
            listing.write_text(",".join(map(str, core)), encoding="ascii")
    monkeypatch.setattr(cores, "SIBLINGS", tmp_path)

    if seats is None:
        with pytest.raises(InputError, match=r"clock\.ponder = true: each seat needs its own cores.*even number"):
            split_cores(processors)
    else:
        assert seats == split_cores(processors)
