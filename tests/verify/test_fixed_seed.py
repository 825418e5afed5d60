"""Chance of a contest whose seed is fixed is computed again: exchanged ranks are found."""

from pathlib import Path

import pytest

from judge.verify.export import verify_export
from tests.contests import PAIR, nothing
from tests.publish.cups import Cup
from tests.publish.public import Public
from tests.verify.log_forgeries import in_document
from tests.verify.second_opinion import second_opinion

LISTED = "the agents' ranks do not follow from the list"


def exported(folder: Path, seed: int | None) -> Public:
    with Cup(folder / "cup", PAIR, seed=seed, drawn=nothing) as cup:
        cup.play()
        return cup.export(folder)


def exchange(document: dict[str, list[dict[str, int]]]) -> None:
    """The ranks of the two agents."""
    one, other = document["entries"]
    one["rank"], other["rank"] = other["rank"], one["rank"]


@pytest.mark.parametrize("seed", [5, 0, None])
def test_listed_ranks_are_those_of_the_list(seed: int | None, tmp_path: Path) -> None:
    public = exported(tmp_path, seed)
    assert [] == list(verify_export(public.directory, public.public_key).problems)
    assert [] == second_opinion(public.directory, public.public_key)
    in_document(public, exchange)

    assert LISTED in verify_export(public.directory, public.public_key).problems
    assert any(problem.startswith("ranks") for problem in second_opinion(public.directory, public.public_key))


@pytest.mark.parametrize("seed", [5, 0])
def test_drawn_ranks_follow_from_a_fixed_seed(seed: int, tmp_path: Path) -> None:
    """One of two orders is right, whatever the seed gives."""
    public = exported(tmp_path, seed)
    found = []
    for how in (lambda document: document.update(seeding="drawn"), exchange):
        in_document(public, how)
        problems = verify_export(public.directory, public.public_key).problems
        found.append("the agents' ranks do not follow from the contest's chance" in problems)
    assert [False, True] == sorted(found)
