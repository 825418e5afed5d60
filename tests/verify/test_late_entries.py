"""Agents that enter a Swiss after the start, in the store, in the verifiers, on pages and in a killed process."""

import signal
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.cli.submit import open_intake
from judge.contest.contest import Contest
from judge.contest.order_previews import effect_of_enter
from judge.contest.orders import enter, late_agents
from judge.contest_games import GameState
from judge.store.orders import OrganiserOrder
from judge.store.tokens import TokenRole, Tokens
from judge.store.types import JournalLine
from judge.verify.export import verify_export
from tests.contests import LATE_AND_WITHDRAWN, LATE_ENTRY, SWISS, WITH_ZOE, submit
from tests.examples import EVIDENCE
from tests.publish.cups import STRONG_TO_WEAK, Cup
from tests.publish.public import Public, change, sign_again
from tests.publish.test_tables import check_columns
from tests.site.browser import Browser
from tests.verify import independent_reading
from tests.verify.log_forgeries import rewrite
from tests.verify.second_opinion import second_opinion
from tests.web.live.serving import serving_all

WHY = "the mail server was down"
LATE = "zoe"


def order(agent: str = LATE, key: str = "") -> OrganiserOrder:
    return OrganiserOrder("Olga", "enter", agent, WHY, key)


def begun(folder: Path, form: str = SWISS) -> Cup:
    """A contest of five agents, and a submission that passed after the start."""
    cup = Cup(folder, WITH_ZOE, form, first=len(STRONG_TO_WEAK))
    submit(cup, LATE, "eve")
    return cup


def exported(folder: Path, *, withdraws: bool = False) -> Public:
    return (LATE_AND_WITHDRAWN if withdraws else LATE_ENTRY).export(folder)


@pytest.mark.parametrize("name", ["entered", "withdrawn"])
def test_columns_of_changes_after_the_start_are_documented(name: str, tmp_path: Path) -> None:
    check_columns(exported(tmp_path, withdraws=True), name)


@pytest.mark.parametrize("withdraws", [False, True])
def test_both_verifiers_follow_a_late_entry(withdraws: bool, tmp_path: Path) -> None:
    public = exported(tmp_path, withdraws=withdraws)

    report = verify_export(public.directory, public.public_key)

    assert () == tuple(report.problems)
    assert report.is_over
    assert f"{LATE} entered after the start: {WHY}" in report.decisions
    assert [] == second_opinion(public.directory, public.public_key)


def test_late_agent_plays_from_the_next_round_without_points_for_missed_ones(tmp_path: Path) -> None:
    with begun(tmp_path) as cup:
        cup.play(1)
        assert (LATE,) == tuple(late_agents(cup.contest))
        effect = effect_of_enter(cup.contest, LATE)
        assert f"{LATE} is paired from round 2 on. Missed rounds, which give 0 points: 1." == effect.words
        enter(cup.contest, order())
        assert () == tuple(late_agents(cup.contest))
        cup.play()

        rounds = {each.round for each in cup.store.pairings(cup.contest.name) if LATE in each.agents}
        assert {2, 3, 4} == rounds
        line = next(line for line in cup.contest.standing().table.lines if line.agent == LATE)
        assert line.done.games + 2 * line.byes == 6


def test_another_process_pairs_the_late_agent(tmp_path: Path) -> None:
    """The process that plays learns of the order when it draws the next round."""
    with begun(tmp_path) as cup:
        enter(Contest(cup.store, cup.planned), order())
        cup.play()

        assert any(LATE in each.agents for each in cup.store.pairings(cup.contest.name))


@pytest.mark.parametrize(
    ("form", "games", "agent", "reason"),
    [
        ('name = "knockout"\ngames = 2', 1, LATE, "no agent can enter the format knockout after the start"),
        ('name = "round-robin"\ngames = 2', 1, LATE, "no agent can enter the format round-robin after the start"),
        (SWISS, 1, "nobody", f"no passed submission of 'nobody' is without an entry; there are: {LATE}"),
        (SWISS, 1, "anna", "no passed submission of 'anna' is without an entry|anna takes part already"),
        (SWISS, 99, LATE, "the last round is drawn"),
    ],
)
def test_late_entry_is_refused(form: str, games: int, agent: str, reason: str, tmp_path: Path) -> None:
    with begun(tmp_path, form) as cup:
        cup.play(games)
        for refused in (effect_of_enter, lambda contest, agent: enter(contest, order(agent))):
            with pytest.raises(InputError, match=reason):
                refused(cup.contest, agent)
        assert "entered" not in [line.event for line in cup.store.journal(cup.contest.name)]


@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_draw_without_an_agent_that_had_entered_is_found(
    rounds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The organiser pairs it some rounds later than the log says."""
    absent = Contest.absent

    def forged(contest: Contest) -> frozenset[str]:
        is_early = len(contest.store.pairings(contest.name)) < 3 * (rounds + 1)
        return absent(contest) | ({LATE} if is_early else frozenset())

    with begun(tmp_path / "cup") as cup:
        cup.play(1)
        enter(cup.contest, order())
        monkeypatch.setattr(Contest, "absent", forged)
        cup.play()
        public = cup.export(tmp_path)

    found = list(verify_export(public.directory, public.public_key).problems)
    assert (["round 2 does not follow from the entries and the earlier results"] if rounds else []) == found[:1]


def test_disqualification_after_the_draw_that_depends_on_it_is_found(tmp_path: Path) -> None:
    with Cup(tmp_path / "cup", STRONG_TO_WEAK, SWISS) as cup:
        cup.play(4)
        cup.store.disqualify(cup.contest.name, "anna", "by the organiser")
        cup.play()
        public = cup.export(tmp_path)
    assert not verify_export(public.directory, public.public_key).problems

    def move(lines: list[JournalLine]) -> None:
        at = next(number for number, line in enumerate(lines) if line.event == "disqualified")
        line = lines.pop(at)
        drawn = next(number for number, each in enumerate(lines) if number >= at and each.event == "scheduled")
        lines.insert(drawn + 1, replace(line, at=lines[drawn].at))

    rewrite(public, move)
    (problem,) = verify_export(public.directory, public.public_key).problems
    assert "round 2 does not follow from the entries and the earlier results" == problem


def test_entry_with_a_key_twice_is_refused_by_both(tmp_path: Path) -> None:
    public = exported(tmp_path)
    path = public.directory / "data/entered.json"
    change(path, lambda rows: rows[0].update(entry=rows[0]["entry"].replace('{"name":', '{"rank":9,"name":', 1)))
    sign_again(public)

    assert "twice" in str(verify_export(public.directory, public.public_key).problems)
    assert "twice" in str(independent_reading.problems(public.directory))


def test_a_removed_entry_is_found_by_both(tmp_path: Path) -> None:
    public = exported(tmp_path)
    for kind in ("json", "csv"):
        (public.directory / f"data/entered.{kind}").unlink()
    sign_again(public)

    assert verify_export(public.directory, public.public_key).problems
    assert independent_reading.problems(public.directory)


def test_other_files_of_the_late_agent_are_found_by_both(tmp_path: Path) -> None:
    public = exported(tmp_path)

    def rewrite(rows: Any) -> None:
        rows[0]["entry"] = rows[0]["entry"].replace('"description":""', '"description":"x"')

    change(public.directory / "data/entered.json", rewrite)
    sign_again(public)

    expected = "the tables do not contain this entry"
    assert any(expected in each for each in verify_export(public.directory, public.public_key).problems)
    assert "the log and the tables differ in entered" in independent_reading.problems(public.directory)


KILLED = """
import os, signal, sys
from pathlib import Path
from judge.contest import orders
from judge.contest.contest import Contest, open_store
from judge.contest.plan import load_plan
from judge.store.contests import Store
from judge.store.orders import OrganiserOrder

planned = load_plan(Path(sys.argv[1]))
if sys.argv[2] == "before":
    stored = Store.enter

    def enter(*given):
        stored(*given)
        os.kill(os.getpid(), signal.SIGKILL)

    Store.enter = enter
order = OrganiserOrder("Olga", "enter", "zoe", "the mail server was down", "the-form")
orders.enter(Contest(open_store(planned), planned), order)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(("moment", "is_entered"), [("before", False), ("after", True)])
def test_a_killed_process_leaves_all_of_the_order_or_nothing(moment: str, is_entered: bool, tmp_path: Path) -> None:
    with begun(tmp_path) as cup:
        done = subprocess.run([sys.executable, "-c", KILLED, str(cup.planned.path), moment], check=False)
        assert -signal.SIGKILL == done.returncode

        assert is_entered == (LATE in {entry.name for entry in cup.store.entries(cup.contest.name)})
        again = enter(cup.contest, order(key="the-form"))
        assert is_entered == again.is_repeated
        cup.play()
        assert 1 == [line.event for line in cup.store.journal(cup.contest.name)].count("entered")
        assert {GameState.DONE} == {game.state for game in cup.store.games(cup.contest.name)}


def test_agent_is_entered_by_keyboard_and_pages_show_it(browser: Browser, tmp_path: Path) -> None:
    with begun(tmp_path) as cup:
        cup.play(1)
        tokens = Tokens(open_intake(cup.folder).store_url, open_intake(cup.folder).contest)
        with closing(tokens), serving_all(cup.folder) as service:
            browser.leave()
            browser.visit(f"{service.url}/organiser/index.html#{tokens.make('Olga', 'test', TokenRole.ACT)}")
            browser.wait_for("document.getElementById('state')?.textContent === 'open'")
            form = f"organiser/order.html?action=enter&target={LATE}"
            for page in ("organiser/index.html", form):
                for language in ("", "cs/", "zh/") if EVIDENCE else ("cs/",):
                    browser.visit(f"{service.url}/{language}{page}")
                    for width in (390, 1280):
                        browser.look(width)
                        assert browser.ask("document.documentElement.scrollWidth") <= width, page
                        assert [] == browser.violations(), (language, page)
            browser.visit(f"{service.url}/organiser/index.html")
            browser.ask(f"[...document.links].find(a => a.href.includes('action=enter&target={LATE}')).focus()")
            browser.press("Enter")
            browser.wait_for("document.querySelector('input[name=why]') !== null")
            browser.ask(f"document.querySelector('input[name=why]').value = '{WHY}'")
            browser.ask("document.querySelector('input[name=why]').focus()")
            browser.press("Enter")
            browser.wait_for("document.querySelector('h1')?.textContent === 'Done'")
            browser.visit(f"{service.url}/agents/006.html")
            assert LATE == browser.ask("document.querySelector('h1').textContent")
            browser.visit(f"{service.url}/journal.html")
            assert f"Entered after the start: {LATE}: {WHY}" in browser.ask("document.body.innerText")
            assert [] == browser.errors
            browser.look(1000)
