"""A disqualified agent of a ladder does not return by itself, under its name or another."""

from dataclasses import replace
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.contest.order_previews import effect_of_disqualify
from judge.contest.orders import disqualify, enter
from judge.store.contests import Store
from judge.store.orders import OrganiserOrder
from judge.verify.export import verify_export
from tests.contests import submit
from tests.publish.cups import Cup, player
from tests.verify.second_opinion import second_opinion
from tests.verify.test_ladder import joins

NAMES = ("zoe.2", "zoe.3", "yan", "yan.2", "zap")


def begun(folder: Path, agents_per_author: int = 0) -> Cup:
    """A ladder in which zoe of eve takes part."""
    cup = joins(folder)
    cup.cast = {**cup.cast, **{name: player(name, 0.7) for name in NAMES}}
    plan = cup.planned.plan.model_copy(update={"agents_per_author": agents_per_author})
    cup.contest.planned = replace(cup.planned, plan=plan)
    cup.play(3)
    assert "zoe" in cup.contest.snapshot.by_name()
    return cup


def order(action: str, agent: str, why: str = "it cheats") -> OrganiserOrder:
    return OrganiserOrder("Olga", action, agent, why)


def refusals(cup: Cup) -> list[str]:
    return [line.text for line in cup.store.last_lines(cup.contest.name, 9, "not-entered")]


def is_valid(cup: Cup, folder: Path) -> None:
    cup.play()
    public = cup.export(folder)
    assert [] == list(verify_export(public.directory, public.public_key).problems)
    assert [] == second_opinion(public.directory, public.public_key)


@pytest.mark.slow
def test_new_version_of_a_disqualified_agent_waits_for_an_organiser(tmp_path: Path) -> None:
    with begun(tmp_path / "cup") as cup:
        disqualify(cup.contest, order("disqualify", "zoe"))
        submit(cup, "zoe", "eve", "2")
        cup.play(2)
        assert "zoe.2" not in cup.contest.snapshot.by_name()
        waits = "zoe: zoe is disqualified: it cheats; only an organiser can enter a new version of it"
        assert [waits] == refusals(cup)

        enter(cup.contest, order("enter", "zoe", "it was repaired"))
        submit(cup, "zoe", "eve", "3")
        cup.play(2)
        assert {"zoe.2", "zoe.3"} <= cup.contest.snapshot.by_name().keys()
        is_valid(cup, tmp_path)


def test_copy_of_a_disqualified_agent_waits_for_an_organiser(tmp_path: Path) -> None:
    with begun(tmp_path / "cup") as cup:
        disqualify(cup.contest, order("disqualify", "zoe"))
        files = cup.contest.snapshot.by_name()["zoe"].seat.digest
        folder = cup.planned.agents
        # The script's name is part of its files.
        cup.store_files = lambda name: files  # type: ignore[method-assign]
        submit(cup, "zap", "kim")
        cup.play(2)
        assert "zap" not in cup.contest.snapshot.by_name()
        assert (folder / files).exists()
        assert ["zap: it has the files of zoe, which is disqualified; only an organiser can enter it"] == refusals(cup)
        is_valid(cup, tmp_path)


def test_disqualified_agent_counts_for_the_limit_of_its_author(tmp_path: Path) -> None:
    with begun(tmp_path / "cup", agents_per_author=1) as cup:
        disqualify(cup.contest, order("disqualify", "zoe"))
        submit(cup, "yan", "eve")
        cup.play(2)
        assert "yan" not in cup.contest.snapshot.by_name()
        assert "the author has zoe" in refusals(cup)[0]


@pytest.mark.slow
def test_agent_that_failed_too_often_returns_with_other_files(tmp_path: Path) -> None:
    with begun(tmp_path / "cup", agents_per_author=1) as cup:
        cup.store.disqualify(cup.contest.name, "zoe", "failed in 30 % of its games; 10 % are allowed")
        submit(cup, "zoe", "eve", "2")
        cup.play(2)
        assert "zoe.2" in cup.contest.snapshot.by_name()
        assert [] == refusals(cup)
        is_valid(cup, tmp_path)


def test_disqualification_names_a_newer_version_that_still_plays(tmp_path: Path) -> None:
    with begun(tmp_path / "cup") as cup:
        submit(cup, "zoe", "eve", "2")
        cup.play(1)
        assert effect_of_disqualify(cup.contest, "zoe").note == "Its newer version zoe.2 still takes part."
        done = disqualify(cup.contest, order("disqualify", "zoe")).done
        assert done.endswith("; its newer version zoe.2 still takes part")


def test_agent_is_disqualified_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with begun(tmp_path / "cup") as cup:
        disqualify(cup.contest, order("disqualify", "zoe"))
        with pytest.raises(InputError, match="or it is disqualified already"):
            disqualify(cup.contest, order("disqualify", "zoe", "again"))
        # The judge may find the failures of an agent that was disqualified a moment ago.
        monkeypatch.setattr(cup.contest, "out", dict)
        monkeypatch.setattr(type(cup.contest.tournament), "failed", lambda *_: {"zoe": 0.5})
        cup.contest._disqualify_failed(())
        assert ["zoe: it cheats"] == [line.text for line in disqualified(cup.store, cup.contest.name)]
        monkeypatch.undo()
        is_valid(cup, tmp_path)


def disqualified(store: Store, contest: str) -> list:  # type: ignore[type-arg]
    return store.last_lines(contest, 9, "disqualified")
