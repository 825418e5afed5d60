"""Agents that enter a ladder: disqualified ones do not return by themselves, and new versions are limited by day."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.cli.submit import open_intake
from judge.contest.admissions import enter_passed, joins_later, withdraw_agent
from judge.contest.contest import Contest
from judge.contest.folder_transfer import read_any
from judge.contest.late_entries import possible_entrants
from judge.contest.orders.contest_orders import Enter
from judge.contest.runner import Scheduler
from judge.contest_view.stored import StoredView
from judge.journal.events import Disqualified, NotEntered
from judge.record.spec import FolderRecord, GameSpec, RecordFile
from judge.sandbox.archive import pack_folder
from judge.sandbox.box import FolderKind
from judge.store.contests import Store
from judge.store.orders import OrganiserOrder
from judge.testing import Agent
from judge.web.authors.views import ladder_values
from tests.contest.giving import give, previewed
from tests.contests import SWISS, WITH_ZOE, submit
from tests.publish import cups
from tests.publish.cups import Cup, player, referee
from tests.verify.second_opinion import accepted
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
    return [line.text for line in cup.store.last_lines(cup.contest.name, 9, NotEntered)]


def is_valid(cup: Cup, folder: Path) -> None:
    cup.play()
    accepted(cup.export(folder))


WAITING = {
    "a new version": (
        ("zoe", "eve"),
        "zoe: zoe is disqualified: it cheats; only an organiser can enter a new version of it",
    ),
    "a copy": (("zap", "kim"), "zap: it has the files of zoe, which is disqualified; only an organiser can enter it"),
    "another agent of its author": (("yan", "eve"), "the author has zoe"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", WAITING)
def test_agent_related_to_a_disqualified_one_waits_for_an_organiser(case: str, tmp_path: Path) -> None:
    (name, author), why = WAITING[case]
    with begun(tmp_path / "cup", agents_per_author=int(case.startswith("another"))) as cup:
        give(cup.contest, order("disqualify", "zoe"))
        files = cup.contest.snapshot.by_name()["zoe"].seat.digest
        if case == "a copy":
            # The script's name is part of its files.
            cup.store_files = lambda name: files  # type: ignore[method-assign]
        submit(cup, name, author, "2")
        cup.play(2)
        assert cup.contest.snapshot.by_name().keys().isdisjoint(NAMES)
        assert (cup.planned.agents / files).exists()
        (refusal,) = refusals(cup)
        assert why in refusal
        if case == "a new version":
            give(cup.contest, order("enter", "zoe", "it was repaired"))
            submit(cup, "zoe", "eve", "3")
            cup.play(2)
            assert {"zoe.2", "zoe.3"} <= cup.contest.snapshot.by_name().keys()
            is_valid(cup, tmp_path)


@pytest.mark.slow
def test_agent_that_failed_too_often_returns_with_other_files(tmp_path: Path) -> None:
    with begun(tmp_path / "cup", agents_per_author=1) as cup:
        cup.store.disqualify(cup.contest.name, "zoe", "failed in 30 % of its games; 10 % are allowed")
        submit(cup, "zoe", "eve", "2")
        cup.play(2)
        assert "zoe.2" in cup.contest.snapshot.by_name()
        assert [] == refusals(cup)
        is_valid(cup, tmp_path)


@pytest.mark.slow
def test_author_who_leaves_a_single_agent_may_return(tmp_path: Path) -> None:
    with begun(tmp_path / "cup") as cup:
        for agent in [name for name in cup.contest.snapshot.by_name() if name not in ("zoe", "anna")]:
            give(cup.contest, order("withdraw-agent", agent, "it is ill"))
        cup.play(2)
        with closing(open_intake(cup.folder).register()) as register:
            withdraw_agent(register, "zoe", "eve")
            cup.play()
            assert joins_later(register)
        assert not cup.contest.view().is_over
        assert ["anna"] == [name for name in cup.contest.snapshot.by_name() if name not in cup.contest.view().absent]
        submit(cup, "zoe", "eve", "2")
        assert "zoe" in possible_entrants(cup.contest)
        cup.play(2)
        assert "zoe.2" in cup.contest.snapshot.by_name()
        is_valid(cup, tmp_path)
        assert cup.contest.view().is_over


def during_the_next_entry(cup: Cup, monkeypatch: pytest.MonkeyPatch, given: OrganiserOrder) -> None:
    """Let an organiser give an order between the reading of the entries and the next entry."""
    write_files, waiting = Enter.write_files, [given]

    def interrupted(entering: Enter) -> None:
        write_files(entering)
        if waiting:
            with closing(Store(cup.planned.store_url)) as store:
                give(Contest(store, cup.planned), waiting.pop())

    monkeypatch.setattr(Enter, "write_files", interrupted)


def test_agent_enters_although_another_one_enters_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with begun(tmp_path / "cup") as cup:
        submit(cup, "yan", "pat")
        submit(cup, "zap", "kim")
        during_the_next_entry(cup, monkeypatch, order("enter", "zap", "the organiser was faster"))
        cup.play(1)
        assert {"yan", "zap"} <= cup.contest.snapshot.by_name().keys()
        assert [] == refusals(cup)
        is_valid(cup, tmp_path)


def test_new_version_does_not_enter_if_its_agent_is_disqualified_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with begun(tmp_path / "cup") as cup:
        submit(cup, "zoe", "eve", "2")
        during_the_next_entry(cup, monkeypatch, order("disqualify", "zoe"))
        cup.play(1)
        assert "zoe.2" not in cup.contest.snapshot.by_name()
        assert [WAITING["a new version"][1]] == refusals(cup)


def test_agent_does_not_enter_if_the_season_ends_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with begun(tmp_path / "cup") as cup:
        submit(cup, "yan", "pat")
        during_the_next_entry(cup, monkeypatch, order("end-season", ""))
        cup.play(1)
        assert "yan" not in cup.contest.snapshot.by_name()
        is_valid(cup, tmp_path)


def test_agent_does_not_enter_a_swiss_while_a_round_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Cup(tmp_path / "cup", WITH_ZOE, SWISS, first=5) as cup:
        submit(cup, "zoe", "eve")
        cup.play(3)
        write_files = Enter.write_files

        def interrupted(entering: Enter) -> None:
            write_files(entering)
            cup.play(5)

        monkeypatch.setattr(Enter, "write_files", interrupted)
        with pytest.raises(InputError, match="a round was drawn in the meantime"):
            give(cup.contest, order("enter", "zoe", "the mail server was down"))
        assert "zoe" not in cup.contest.snapshot.by_name()


def test_agent_enters_in_the_place_of_one_that_failed_too_often(tmp_path: Path) -> None:
    with begun(tmp_path / "cup", agents_per_author=1) as cup:
        submit(cup, "yan", "eve")
        scheduler = Scheduler(cup.contest)
        scheduler.schedule_next()
        assert "yan" not in cup.contest.snapshot.by_name()
        cup.store.disqualify(cup.contest.name, "zoe", "failed in 30 % of its games; 10 % are allowed")
        scheduler.schedule_next()
        assert "yan" in cup.contest.snapshot.by_name()


def test_disqualification_names_a_newer_version_that_still_plays(tmp_path: Path) -> None:
    with begun(tmp_path / "cup") as cup:
        submit(cup, "zoe", "eve", "2")
        cup.play(1)
        assert previewed(cup.contest, "disqualify", "zoe").note == "Its newer version zoe.2 still takes part."
        done = give(cup.contest, order("disqualify", "zoe")).done
        assert done.endswith("; its newer version zoe.2 still takes part")


def test_agent_is_disqualified_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with begun(tmp_path / "cup") as cup:
        give(cup.contest, order("disqualify", "zoe"))
        with pytest.raises(InputError, match="or it is disqualified already"):
            give(cup.contest, order("disqualify", "zoe", "again"))
        # The judge may find the failures of an agent that was disqualified a moment ago.
        monkeypatch.setattr(StoredView, "out", {})
        monkeypatch.setattr(type(cup.contest.tournament), "failed", lambda *_: {"zoe": 0.5})
        cup.contest.disqualify_failed(())
        lines = cup.store.last_lines(cup.contest.name, 9, Disqualified)
        assert ["zoe: it cheats"] == [line.text for line in lines]


LIMIT = """
[intake]
versions_per_day = 2
"""


def entries(cup: Cup) -> list[str]:
    cup.contest.refresh()
    return [name for name in cup.contest.snapshot.by_name() if name.startswith(("zoe", "yan"))]


def with_versions(folder: Path, count: int) -> Cup:
    """A ladder with `zoe`, of which new versions have passed one after the other."""
    cup = joins(folder, LIMIT)
    assert not enter_passed(cup.contest)
    for number in range(count):
        submit(cup, "zoe", "eve", str(number))
        enter_passed(cup.contest)
    return cup


def test_version_above_the_limit_waits_with_a_reason_and_another_author_enters_at_once(tmp_path: Path) -> None:
    with with_versions(tmp_path / "cup", 3) as cup:
        assert enter_passed(cup.contest)
        assert ["zoe", "zoe.2", "zoe.3"] == entries(cup)
        assert ["zoe: its author entered 2 new versions in 24 hours: the newest one waits"] == refusals(cup)
        for version in ("1", "2"):
            submit(cup, "yan", "pat", version)
            enter_passed(cup.contest)
        assert ["yan", "yan.2"] == [name for name in entries(cup) if name.startswith("yan")]


@pytest.mark.parametrize(("versions", "hours"), [(5, 25), (3, -25)], ids=["a day later", "the clock is set back"])
def test_newest_version_enters_after_a_day(
    versions: int, hours: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with with_versions(tmp_path / "cup", versions) as cup:
        later = datetime.now(UTC) + timedelta(hours=hours)
        monkeypatch.setattr(cup.store, "_now", lambda: later)
        assert not enter_passed(cup.contest)
        assert ["zoe", "zoe.2", "zoe.3", f"zoe.{versions + 1}"] == entries(cup)


def test_authors_page_has_the_newest_version_only(tmp_path: Path) -> None:
    with with_versions(tmp_path / "cup", 2) as cup:
        with closing(open_intake(cup.folder).register()) as register:
            submissions = register.submissions("eve")
        values = ladder_values(cup.contest.read(), submissions, (), 0)
        assert values is not None
        assert ["zoe.3"] == [each["participant"].name for each in values["agents"]]


def test_other_contests_read_the_folders_of_agents_that_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learned = pack_folder({b"book": b"7,7"})

    def learn(spec: GameSpec, agents: Sequence[Agent]) -> RecordFile:
        file = referee(spec, agents)
        folders = {FolderKind.PERSISTENT: FolderRecord(digest=learned.digest)}
        seats = tuple(seat.model_copy(update={"folders": folders}) for seat in file.record.seats)
        return file.model_copy(update={"record": file.record.model_copy(update={"seats": seats})})

    with begun(tmp_path / "cup") as cup:
        cup.contest.files.put(learned.data)
        monkeypatch.setattr(cups, "referee", learn)
        cup.play(12)
        carried = read_any(cup.planned.folder, cup.planned)

    assert "zoe" in {each.name for each in carried}
    assert {learned} == {each.state for each in carried}
