"""Agents that withdraw after the start, in the store, in the verifier, the independent reading and a killed process."""

import json
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.contest.order_previews import effect_of_withdraw
from judge.contest.orders import withdraw
from judge.contest_games import GameState, Pairing
from judge.store.contests import Store
from judge.store.orders import OrganiserOrder
from judge.tournament.formats.groups import Groups
from judge.tournament.formats.knockout import Knockout
from judge.tournament.formats.round_robin import RoundRobin
from judge.tournament.formats.swiss import Swiss
from judge.verify.export import verify_export
from tests.contest.cups import better_seed, cup, enter, snapshot
from tests.contests import WITHDRAWN, with_a_withdrawal
from tests.publish.cups import STRONG_TO_WEAK, Cup
from tests.publish.public import change, sign_again
from tests.verify import independent_reading
from tests.verify.second_opinion import second_opinion

WHY = "the author asked for it"


def order(agent: str, key: str = "") -> OrganiserOrder:
    return OrganiserOrder("Olga", "withdraw-agent", agent, WHY, key)


@pytest.mark.parametrize("form", WITHDRAWN)
def test_both_verifiers_follow_a_withdrawal(form: str, tmp_path: Path) -> None:
    agent, public = next(iter(STRONG_TO_WEAK)), WITHDRAWN[form].export(tmp_path)

    report = verify_export(public.directory, public.public_key)

    assert () == tuple(report.problems)
    assert report.is_over
    assert [f"{agent} withdrew: {WHY}"] == list(report.decisions)
    assert [] == second_opinion(public.directory, public.public_key)


@pytest.mark.parametrize("form", WITHDRAWN)
def test_a_removed_withdrawal_is_found_by_both(form: str, tmp_path: Path) -> None:
    public = WITHDRAWN[form].export(tmp_path)
    for kind in ("json", "csv"):
        (public.directory / f"data/withdrawn.{kind}").unlink()
    sign_again(public)

    by_judge, by_reading = (
        verify_export(public.directory, public.public_key).problems,
        independent_reading.problems(public.directory),
    )

    # In a Swiss tournament, nothing else depends on it.
    assert form != "swiss" or "the log and the tables have different withdrawals" in by_judge
    assert "the log and the tables differ in withdrawn" in by_reading


def test_another_reason_is_found_by_both(tmp_path: Path) -> None:
    public = WITHDRAWN["swiss"].export(tmp_path)

    def rewrite(rows: Any) -> None:
        rows[0]["why"] = "it was too strong"

    change(public.directory / "data/withdrawn.json", rewrite)
    table = public.directory / "data/withdrawn.csv"
    table.write_bytes(table.read_bytes().replace(WHY.encode(), b"it was too strong"))
    sign_again(public)

    assert any("withdraw" in each for each in verify_export(public.directory, public.public_key).problems)
    assert ["the log and the tables differ in withdrawn"] == independent_reading.problems(public.directory)


def test_groups_that_an_earlier_version_drew_round_by_round_verify(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later rounds are without the agent that withdrew."""
    drawn = Groups.next

    def first_round(*words: Any) -> list[Pairing]:
        found = drawn(*words)
        return [pairing for pairing in found if pairing.round == found[0].round]

    with monkeypatch.context() as earlier:
        earlier.setattr(Groups, "next", first_round)
        with Cup(tmp_path / "cup", STRONG_TO_WEAK, WITHDRAWN["groups"].form) as played:
            with_a_withdrawal(played)
            public = played.export(tmp_path)
    pairings = json.loads((public.directory / "data/pairings.json").read_text())
    assert next(iter(STRONG_TO_WEAK)) not in {pairing[seat] for pairing in pairings for seat in ("first", "second")}

    report = verify_export(public.directory, public.public_key)

    assert () == tuple(report.problems)
    assert report.is_over


def test_round_robin_results_of_a_withdrawn_agent_do_not_count() -> None:
    with cup(RoundRobin(games=2), 4) as contest:
        _play(contest, 5)
        withdraw(contest, order("1"))
        _play(contest)

        assert {"1": WHY} == contest.out()
        assert contest.is_over()
        table = contest.standing().table
        assert ["2", "3", "4", "1"] == [line.agent for line in table.lines]
        assert {4, 0} == {line.done.games for line in table.lines}
        cancelled = [game.why for game in contest.store.games(contest.name) if game.state is GameState.CANCELLED]
        assert cancelled
        assert {f"1 withdrew: {WHY}"} == set(cancelled)


def test_swiss_round_is_finished_and_its_results_count() -> None:
    with cup(Swiss(rounds=3, games=2), 6) as contest:
        _play(contest, 1)
        withdraw(contest, order("1"))
        _play(contest)

        assert {} == contest.out()
        assert {GameState.DONE} == {game.state for game in contest.store.games(contest.name)}
        assert {1} == {each.round for each in contest.store.pairings(contest.name) if "1" in each.agents}
        line = next(line for line in contest.standing().table.lines if line.agent == "1")
        assert (2.0, 2) == (line.points, line.done.games)


def test_games_of_a_group_final_follow_without_the_withdrawn_agent() -> None:
    with cup(Groups(games=2, groups=2, promoted=1), 6) as contest:
        _play(contest, 4)
        withdraw(contest, order("1"))
        _play(contest)

        final = [each for each in contest.store.pairings(contest.name) if each.group == "final"]
        assert final
        assert all("1" not in each.agents for each in final)


def test_withdrawal_is_refused_in_a_knockout() -> None:
    refused = pytest.raises(InputError, match=r"cannot withdraw from the format knockout .* disqualify it instead")
    with cup(Knockout(games=2), 4) as contest:
        with refused:
            effect_of_withdraw(contest, "1")
        with refused:
            withdraw(contest, order("1"))


@pytest.mark.parametrize("agent", ["9", "1"])
def test_unknown_or_withdrawn_agents_are_refused(agent: str) -> None:
    with cup(RoundRobin(games=2), 4) as contest:
        withdraw(contest, order("1"))
        for refused in (effect_of_withdraw, lambda contest, agent: withdraw(contest, order(agent))):
            with pytest.raises(InputError, match=r"takes? part"):
                refused(contest, agent)


def test_a_repeated_order_has_one_effect() -> None:
    with cup(RoundRobin(games=2), 4) as contest:
        first, again = (withdraw(contest, order("1", "a-key-of-the-form")) for _ in range(2))

        assert first.done == again.done
        assert ["agent-withdrawn"] == [line.event for line in contest.store.journal(contest.name) if "1: " in line.text]


def test_preview_shows_counts_and_changed_places() -> None:
    with cup(RoundRobin(games=2), 4) as contest:
        _play(contest, 5)
        effect = effect_of_withdraw(contest, "1")

        assert effect.words.startswith("Played games of 1 that no longer count: ")
        assert any(change.agent == "1" and change.places[1] == 4 for change in effect.changes)


KILLED = """
import os, signal, sys
from judge.store.contests import Store
from judge.store.contests import Store
from judge.store.orders import OrganiserOrder

store = Store(sys.argv[1])
order = OrganiserOrder("Olga", "withdraw-agent", "1", "the author asked for it", "the-form")


def do(inner):
    inner.withdraw("cup", "1", order.why, is_annulled=True)
    if sys.argv[2] == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    return "1 is withdrawn"


store.carry_out("cup", order, do)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(("moment", "withdrawn"), [("before", False), ("after", True)])
def test_a_killed_process_leaves_all_of_the_order_or_nothing(moment: str, withdrawn: bool, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    with closing(Store(url)) as store:
        contest = enter(store, snapshot(RoundRobin(games=2), 4))
        done = subprocess.run([sys.executable, "-c", KILLED, url, moment], check=False)
        assert -signal.SIGKILL == done.returncode

        events = [line.event for line in contest.store.journal(contest.name)]
        assert (withdrawn, withdrawn) == ("agent-withdrawn" in events, "1" in contest.withdrawn())
        again = withdraw(contest, order("1", "the-form"))
        assert withdrawn == again.is_repeated
        assert 1 == [line.event for line in contest.store.journal(contest.name)].count("agent-withdrawn")
        assert 6 == contest.store.counts(contest.name)[GameState.CANCELLED]


def _play(contest: Any, games: int = 1000) -> None:
    for _ in range(games):
        issued = contest.store.issue(contest.name, "here")
        if issued is None:
            if not contest.schedule_next():
                return
            continue
        contest.store.accept(issued.id, issued.attempt, better_seed(issued))
