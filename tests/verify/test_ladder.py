"""Every pair of a ladder follows from the log before it, and an organiser who chooses other pairs is found."""

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import judge.contest.contest
import judge.contest.ladder
import judge.contest.late_entries
from judge.base.errors import InputError
from judge.contest.contest import Contest
from judge.contest.entries import current_intake, intake_directory
from judge.contest_games import Pairing
from judge.journal.events import Entered, ImagesChanged, Moment, NotEntered, SeasonEnded, Withdrawn
from judge.publish.verify.export import verify_export
from judge.publish.verify.sample import Sample
from judge.store.orders import OrganiserOrder
from judge.store.submissions import Register
from judge.tournament.ladder import LadderHistory, follow
from tests.contest.giving import give, previewed
from tests.contests import JOINING, LADDER, VERSIONS, nothing, steady_clock, submit
from tests.publish.cups import STRONG_TO_WEAK, Cup, player
from tests.publish.public import Public
from tests.verify.second_opinion import accepted

FAILURES = JOINING.more


def season(folder: Path, *, is_eventful: bool = False) -> Public:
    with steady_clock(), Cup(folder / "cup", STRONG_TO_WEAK, form=LADDER, more=FAILURES, drawn=nothing) as cup:
        if is_eventful:
            happens(cup)
        cup.play()
        assert cup.contest.view().is_over
        return cup.export(folder)


def happens(cup: Cup) -> None:
    """Voids, a note, results that are withdrawn, and an agent that leaves."""
    store, name = cup.store, cup.contest.name
    cup.play(7, [2, 5])
    store.remark(name, ImagesChanged("a power cut"))
    for number in (1, 4):
        store.annul(store.games(name)[number - 1].id, "a power cut")
        cup.play(3)
    # A judge that continues reads the results that were withdrawn from their records.
    cup.contest = Contest(store, cup.planned)
    cup.play(2)
    store.disqualify(name, "bert", "by the organiser")


def test_an_eventful_season_verifies_by_both_verifiers(tmp_path: Path) -> None:
    public = season(tmp_path, is_eventful=True)
    report = accepted(public)
    assert report.is_over
    assert report.uncounted >= 4
    assert [] == list(verify_export(public.directory, public.public_key, sample=Sample(5, "1")).problems)


def test_a_pair_that_the_organiser_chose_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an export; test_ladder_forgeries.py has the other choices."""

    class Forged(LadderHistory):
        def next(self) -> Pairing | None:
            right = super().next()
            return None if right is None else replace(right, first=right.second or "", second=right.first)

    monkeypatch.setattr(judge.contest.ladder, "LadderHistory", Forged)
    assert has_found("the matchmaker chooses", season(tmp_path))


def has_found(words: str, public: Public) -> bool:
    return any(words in problem for problem in verify_export(public.directory, public.public_key).problems)


def joins(folder: Path, more: str = "") -> Cup:
    cup = replace(JOINING, form=LADDER + more).contest(folder)
    assert "zoe takes part from now on" == previewed(cup.contest, "enter", "zoe").words
    return cup


def test_a_submission_that_passes_joins_by_itself_and_both_verifiers_follow(tmp_path: Path) -> None:
    with joins(tmp_path / "cup") as cup:
        cup.play(8)
        assert "It is not paired any more." == previewed(cup.contest, "withdraw-agent", "anna").note
        done = give(cup.contest, OrganiserOrder("Olga", "withdraw-agent", "anna", "it is ill")).done
        assert "anna no longer takes part: it is ill" == done
        cup.play()
        games = cup.store.games(cup.contest.name)
        assert sum("zoe" in (game.first, game.second) for game in games) > 3
        assert not [game for game in games[14:] if "anna" in (game.first, game.second)]
        public = cup.export(tmp_path)
    assert accepted(public).is_over


def test_an_author_has_no_more_agents_than_allowed_and_the_log_has_once_why(tmp_path: Path) -> None:
    with joins(tmp_path / "cup") as cup:
        cup.contest.planned = replace(cup.planned, plan=cup.planned.plan.model_copy(update={"agents_per_author": 1}))
        submit(cup, "zz", "eve")
        submit(cup, "zz2", "eve")
        cup.play()
        lines = cup.store.last_lines(cup.contest.name, 9, NotEntered)
        assert all("agents_per_author = 1" in line.text for line in lines)
        assert 2 == len(lines) == len({line.text for line in lines})
        assert len(cup.contest.snapshot.entries) == 5


def test_submissions_of_a_running_ladder_have_the_runtimes_that_it_locked_in(tmp_path: Path) -> None:
    with joins(tmp_path / "cup") as cup:
        directory = intake_directory(cup.planned)
        with closing(directory.register()) as register:
            assert {"native", "python"} < set(directory.runtimes)
            assert sorted(cup.contest.snapshot.images) == current_intake(directory, register).runtimes


def order(action: str, why: str, target: str = "") -> OrganiserOrder:
    return OrganiserOrder("Olga", action, target, why)


def test_both_verifiers_follow_frozen_admissions_and_an_early_end(tmp_path: Path) -> None:
    with joins(tmp_path / "cup") as cup:
        give(cup.contest, order("freeze-admissions", "the last week"))
        cup.play(4)
        assert "zoe" not in cup.contest.snapshot.by_name()
        with pytest.raises(InputError, match="admissions are frozen: the last week"):
            give(cup.contest, order("enter", "a friend", "zoe"))
        give(cup.contest, order("reopen-admissions", "an error"))
        cup.play(6)
        assert "zoe" in cup.contest.snapshot.by_name()
        give(cup.contest, order("end-season", "the term is over"))
        cup.play()
        assert cup.contest.view().is_over
        public = cup.export(tmp_path)
    report = accepted(public)
    assert report.is_over
    for note in (
        "the organiser ended the season: the term is over",
        "admissions frozen: the last week",
        "admissions reopened: an error",
    ):
        assert note in report.decisions


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("drawn after the moment", "a game was drawn after the end of the season"),
        ("ended before the moment", "it is earlier than the end of the season"),
        ("ended at another moment", "the season does not end at this moment"),
    ],
)
def test_what_the_end_and_the_frozen_admissions_forbid_is_found(
    kind: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """test_ladder_forgeries.py has what a changed judge does; here it is in an export."""
    with joins(tmp_path / "cup", "\nends = 2099-01-01T00:00:00Z") as cup:
        store, name = cup.store, cup.contest.name
        match kind:
            case "drawn after the moment":
                monkeypatch.setattr(store, "_now", lambda: datetime(2099, 1, 1, tzinfo=UTC))
                schedule = store.schedule
                monkeypatch.setattr(store, "schedule", lambda *given: schedule(*given[:-1]))
            case "ended before the moment":
                store.remark(name, SeasonEnded(ends=Moment("2099-01-01T00:00:00+00:00")))
            case _:
                store.remark(name, SeasonEnded(ends=Moment("2013-01-01T00:00:00+00:00")))
        cup.play()
        public = cup.export(tmp_path)
    monkeypatch.undo()
    assert has_found(problem, public)


def versions(folder: Path, more: str = "") -> Cup:
    return replace(VERSIONS, form=LADDER + more).contest(folder)


def test_a_new_version_replaces_its_parent_and_both_verifiers_follow(tmp_path: Path) -> None:
    with versions(tmp_path / "cup") as cup:
        assert "zoe.2 takes part from now on, and zoe no longer" == previewed(cup.contest, "enter", "zoe").words
        cup.play(5)
        entry = cup.contest.snapshot.by_name()["zoe.2"]
        assert (entry.parent, entry.submission) == ("zoe", 2)
        entered, left = list(reversed(cup.store.last_lines(cup.contest.name, 2, Entered, Withdrawn)))
        assert ("zoe.2: new version of zoe: its check passed", "zoe: zoe.2 replaces it") == (entered.text, left.text)
        assert left.number == (entered.number or 0) + 1
        cup.contest = Contest(cup.store, cup.planned)
        cup.play()
        games = cup.store.games(cup.contest.name)
        assert not [game for game in games[13:] if "zoe" in (game.first, game.second)]
        assert sum("zoe.2" in (game.first, game.second) for game in games) > 2
        public = cup.export(tmp_path)
    assert accepted(public).is_over


def test_a_new_version_begins_at_the_rating_of_its_parent(tmp_path: Path) -> None:
    with versions(tmp_path / "cup", "\nversion_deviation = 30") as cup:
        parent = history_of(cup).ratings.rating("zoe")
        give(cup.contest, order("enter", "its check passed", "zoe"))
        rating = history_of(cup).ratings.rating("zoe.2")
        assert rating.elo == pytest.approx(parent.elo)
        assert rating.deviation == pytest.approx((parent.deviation**2 + 30**2) ** 0.5)


def history_of(cup: Cup) -> LadderHistory:
    contest = cup.contest
    contest.refresh()
    results = {result.id: result for result in contest.view().results}
    history = LadderHistory(
        contest.first,
        contest.tournament.seed or 0,
        lambda game, _: results[game],
        contest.snapshot.by_name().__getitem__,
    )
    name = contest.name
    follow(history, (line.change for line in cup.store.journal(name)), cup.store.pairings(name), cup.store.games(name))
    return history


def test_the_same_files_again_are_no_new_version(tmp_path: Path) -> None:
    with joins(tmp_path / "cup") as cup:
        cup.play(3)
        submit(cup, "zoe", "eve")
        cup.play()
        assert len(cup.contest.snapshot.entries) == 5
        with pytest.raises(InputError, match="zoe takes part already"):
            give(cup.contest, order("enter", "again", "zoe"))


def test_a_new_version_is_not_one_more_agent_of_its_author(tmp_path: Path) -> None:
    with versions(tmp_path / "cup") as cup:
        cup.contest.planned = replace(cup.planned, plan=cup.planned.plan.model_copy(update={"agents_per_author": 1}))
        cup.play(3)
        assert "zoe.2" in cup.contest.snapshot.by_name()
        assert not cup.store.last_lines(cup.contest.name, 1, NotEntered)


def test_an_agent_that_has_the_name_of_a_version_does_not_block_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A store may have such names.
    monkeypatch.setattr(Register, "_version_of", lambda *_: "")
    with joins(tmp_path / "cup") as cup:
        cup.cast = {**cup.cast, "zoe.2": player("zoe.2", 0.9), "zoe.2-3": player("zoe.2-3", 0.9)}
        cup.play(1)
        submit(cup, "zoe.2", "mallory")
        cup.play(1)
        submit(cup, "zoe", "eve", "2")
        cup.play(3)
        assert "zoe.2-3" in cup.contest.snapshot.by_name()
