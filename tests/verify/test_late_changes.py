"""Agents that enter or withdraw after the start: in the store, in the verifiers, on pages and in a killed process."""

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.contest.contest import Contest, open_store
from judge.contest.late_entries import possible_entrants
from judge.contest_games import GameState
from judge.contest_view.stored import StoredView
from judge.journal.state import JournalLine
from judge.publish.verify.export import verify_export
from judge.store.contests import Store
from judge.store.orders import OrganiserOrder
from judge.tournament.formats.knockout import Knockout
from judge.tournament.formats.round_robin import RoundRobin
from tests.contest.cups import cup
from tests.contest.giving import give, previewed
from tests.contests import (
    LATE_AND_WITHDRAWN,
    LATE_ENTRY,
    SWISS,
    WITH_ZOE,
    WITHDRAWN,
    Recipe,
    nothing,
    steady_clock,
    submit,
)
from tests.examples import of_evidence
from tests.faults.test_backup_killed import in_a_fork
from tests.publish.cups import STRONG_TO_WEAK, Cup
from tests.publish.public import Public, change, sign_again
from tests.publish.test_tables import check_columns
from tests.verify import independent_reading
from tests.verify.log_forgeries import rewrite
from tests.verify.second_opinion import accepted

LATE, FIRST = "zoe", "anna"
ENTERED = f"{LATE} entered after the start: the mail server was down"
WITHDREW = f"{FIRST} withdrew: the author asked for it"


def order(action: str, agent: str, key: str = "") -> OrganiserOrder:
    why = "the mail server was down" if action == "enter" else "the author asked for it"
    return OrganiserOrder("Olga", action, agent, why, key)


def leave(contest: Contest, agent: str = "1", key: str = "") -> Any:
    return give(contest, order("withdraw-agent", agent, key))


def join(contest: Contest, agent: str = LATE, key: str = "") -> Any:
    return give(contest, order("enter", agent, key))


def begun(folder: Path, form: str = SWISS, drawn: Callable[[Store], object] | None = None) -> Cup:
    found = Cup(folder, WITH_ZOE, form, first=len(STRONG_TO_WEAK), drawn=drawn)
    submit(found, LATE, "eve")
    return found


@pytest.mark.parametrize(
    ("recipe", "decision", "tables"),
    [
        (LATE_ENTRY, ENTERED, ["entered"]),
        (LATE_AND_WITHDRAWN, ENTERED, ["entered", "withdrawn"]),
        *((WITHDRAWN[form], WITHDREW, ["withdrawn"]) for form in WITHDRAWN),
    ],
    ids=["entry", "entry and withdrawal", *WITHDRAWN],
)
def test_both_verifiers_follow_changes_after_the_start(
    recipe: Recipe, decision: str, tables: list[str], tmp_path: Path
) -> None:
    public = recipe.export(tmp_path)
    report = accepted(public)

    assert report.is_over
    assert decision in report.decisions
    for table in tables:
        check_columns(public, table)


def remove(table: str) -> Callable[[Public], None]:
    def forge(public: Public) -> None:
        for kind in ("json", "csv"):
            (public.directory / f"data/{table}.{kind}").unlink()

    return forge


def change_entry(old: str, new: str) -> Callable[[Public], None]:
    def forge(public: Public) -> None:
        path = public.directory / "data/entered.json"
        change(path, lambda rows: rows[0].update(entry=rows[0]["entry"].replace(old, new, 1)))

    return forge


def change_reason(public: Public) -> None:
    change(public.directory / "data/withdrawn.json", lambda rows: rows[0].update(why="it was too strong"))
    table = public.directory / "data/withdrawn.csv"
    table.write_bytes(table.read_bytes().replace(b"the author asked for it", b"it was too strong"))


NOT_IN_TABLES = "the tables do not contain this entry"
IN_ENTERED, IN_WITHDRAWN = (f"the log and the tables differ in {table}" for table in ("entered", "withdrawn"))

LIES: dict[str, tuple[Recipe, Callable[[Public], None], str, str]] = {
    "an entry removed": (LATE_ENTRY, remove("entered"), "", ""),
    "a key twice in an entry": (LATE_ENTRY, change_entry('{"name":', '{"rank":9,"name":'), "twice", "twice"),
    "other files": (LATE_ENTRY, change_entry('"description":""', '"description":"x"'), NOT_IN_TABLES, IN_ENTERED),
    "another reason": (WITHDRAWN["swiss"], change_reason, "withdraw", IN_WITHDRAWN),
    # In a Swiss tournament, nothing else depends on it.
    "a withdrawal removed, swiss": (
        WITHDRAWN["swiss"],
        remove("withdrawn"),
        "the log and the tables have different withdrawals",
        IN_WITHDRAWN,
    ),
    **{
        f"a withdrawal removed, {form}": (WITHDRAWN[form], remove("withdrawn"), "", IN_WITHDRAWN)
        for form in ("round-robin", "groups")
    },
}
"""The contest, the change, and parts of the problems that `judge contest verify` and the independent reading name."""


@pytest.mark.parametrize("lie", LIES)
def test_lie_about_a_change_after_the_start_is_found_by_both(lie: str, tmp_path: Path) -> None:
    recipe, forge, by_judge, by_reading = LIES[lie]
    public = recipe.export(tmp_path)
    forge(public)
    sign_again(public)

    assert any(by_judge in each for each in verify_export(public.directory, public.public_key).problems)
    assert any(by_reading in each for each in independent_reading.problems(public.directory))


@pytest.mark.parametrize("rounds", [0, 1, *of_evidence(2)])
def test_draw_without_an_agent_that_had_entered_is_found(
    rounds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The organiser pairs it some rounds later than the log says."""

    def forged(view: StoredView) -> frozenset[str]:
        return frozenset(view.withdrawn) | ({LATE} if len(view.pairings) < 3 * (rounds + 1) else frozenset())

    with steady_clock(), begun(tmp_path / "cup", drawn=nothing) as contest:
        contest.play(1)
        join(contest.contest)
        monkeypatch.setattr(StoredView, "absent", property(forged))
        contest.play()
        public = contest.export(tmp_path)

    found = list(verify_export(public.directory, public.public_key).problems)
    assert (["round 2 does not follow from the entries and the earlier results"] if rounds else []) == found[:1]


def test_disqualification_after_the_draw_that_depends_on_it_is_found(tmp_path: Path) -> None:
    with steady_clock(), Cup(tmp_path / "cup", STRONG_TO_WEAK, SWISS, drawn=nothing) as contest:
        contest.play(4)
        contest.store.disqualify(contest.contest.name, FIRST, "by the organiser")
        contest.play()
        public = contest.export(tmp_path)
    assert not verify_export(public.directory, public.public_key).problems

    def move(lines: list[JournalLine]) -> None:
        at = next(number for number, line in enumerate(lines) if line.event == "disqualified")
        line = lines.pop(at)
        drawn = next(number for number, each in enumerate(lines) if number >= at and each.event == "scheduled")
        lines.insert(drawn + 1, replace(line, at=lines[drawn].at))

    rewrite(public, move)
    (problem,) = verify_export(public.directory, public.public_key).problems
    assert "round 2 does not follow from the entries and the earlier results" == problem


def test_games_of_an_agent_that_withdrew_are_no_fault_if_it_is_disqualified_later(tmp_path: Path) -> None:
    with steady_clock(), Cup(tmp_path / "cup", STRONG_TO_WEAK, SWISS, drawn=nothing) as contest:
        leave(contest.contest, FIRST)
        contest.play(4)
        contest.store.disqualify(contest.contest.name, FIRST, "by the organiser")
        contest.play()
        public = contest.export(tmp_path)
    accepted(public)


def test_late_agent_plays_from_the_next_round_without_points_for_missed_ones(tmp_path: Path) -> None:
    with begun(tmp_path) as contest:
        contest.play(1)
        assert (LATE,) == tuple(possible_entrants(contest.contest))
        effect = previewed(contest.contest, "enter", LATE)
        assert f"{LATE} is paired from round 2 on. Missed rounds, which give 0 points: 1." == effect.words
        join(contest.contest)
        assert () == tuple(possible_entrants(contest.contest))
        contest.play()

        rounds = {each.round for each in contest.store.pairings(contest.contest.name) if LATE in each.agents}
        assert {2, 3, 4} == rounds
        line = next(line for line in contest.contest.view().table.lines if line.agent == LATE)
        assert line.done.games + 2 * line.byes == 6


def test_another_process_pairs_the_late_agent(tmp_path: Path) -> None:
    with begun(tmp_path) as contest:
        join(Contest(contest.store, contest.planned))
        contest.play(5)

        assert any(LATE in each.agents for each in contest.store.pairings(contest.contest.name))


@pytest.mark.parametrize(
    ("form", "games", "agent", "reason"),
    [
        ('name = "knockout"\ngames = 2', 1, LATE, "no agent can enter the format knockout after the start"),
        ('name = "round-robin"\ngames = 2', 1, LATE, "no agent can enter the format round-robin after the start"),
        (SWISS, 1, "nobody", f"no passed submission of 'nobody' is without an entry; there are: {LATE}"),
        (SWISS, 1, FIRST, "anna takes part already"),
        (SWISS, 99, LATE, "the last round is drawn"),
    ],
)
def test_late_entry_is_refused(form: str, games: int, agent: str, reason: str, tmp_path: Path) -> None:
    with begun(tmp_path, form) as contest:
        contest.play(games)
        with pytest.raises(InputError, match=reason) as first:
            previewed(contest.contest, "enter", agent)
        with pytest.raises(InputError) as second:
            join(contest.contest, agent)
        assert str(first.value) == str(second.value)
        assert "entered" not in [line.event for line in contest.store.journal(contest.contest.name)]


def test_withdrawal_is_refused_in_a_knockout_and_of_agents_that_do_not_take_part() -> None:
    with cup(Knockout(games=2), 4) as knockout, cup(RoundRobin(games=2), 4) as contest:
        leave(contest)
        for refused in (lambda *given: previewed(given[0], "withdraw-agent", given[1]), leave):
            with pytest.raises(InputError, match=r"from the format knockout .* disqualify it instead"):
                refused(knockout, "1")
            for agent in ("9", "1"):
                with pytest.raises(InputError, match=r"takes? part"):
                    refused(contest, agent)


def test_a_repeated_order_has_one_effect() -> None:
    with cup(RoundRobin(games=2), 4) as contest:
        first, again = (leave(contest, key="a-key-of-the-form") for _ in range(2))

        assert first.done == again.done
        assert ["agent-withdrawn"] == [line.event for line in contest.store.journal(contest.name) if "1: " in line.text]


@pytest.mark.parametrize(("moment", "is_done"), [("before", False), ("after", True)])
def test_a_killed_process_leaves_all_of_an_entry_or_nothing(
    moment: str, is_done: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with begun(tmp_path) as contest:

        def enter_and_die() -> None:
            enter = Store.enter

            def die_before_commit(*given: Any) -> None:
                enter(*given)
                os.kill(os.getpid(), signal.SIGKILL)

            if moment == "before":
                monkeypatch.setattr(Store, "enter", die_before_commit)
            join(Contest(open_store(contest.planned), contest.planned), key="the-form")
            os.kill(os.getpid(), signal.SIGKILL)

        assert -signal.SIGKILL == in_a_fork(enter_and_die, 0)

        assert is_done == (LATE in {entry.name for entry in contest.store.entries(contest.contest.name)})
        assert is_done == join(contest.contest, key="the-form").is_repeated
        contest.play()
        assert 1 == [line.event for line in contest.store.journal(contest.contest.name)].count("entered")
        assert {GameState.DONE} == {game.state for game in contest.store.games(contest.contest.name)}
