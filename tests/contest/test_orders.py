"""Orders of organisers, and their previews, which announce what an order does and change nothing."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.contest.contest import Contest
from judge.contest.entries import intake_directory
from judge.contest.orders.contest_orders import CONTEST_ORDERS
from judge.contest.orders.order import ContestOrder, Effect, Order
from judge.contest.orders.submission_orders import SUBMISSION_ORDERS, AuthorsOrder, RegisterOrder, SubmissionOrder
from judge.contest.runner import Scheduler
from judge.contest_games import GameState
from judge.journal.events import ImagesChanged, Paused, SetAside, Stopped, SubmissionState
from judge.store.contests import Store
from judge.store.orders import DoneOrder, OrganiserOrder
from judge.store.types import ProcessingResult, Upload
from judge.tournament.formats.round_robin import RoundRobin
from judge.tournament.schedule import Table, Tournament
from tests.contest.cups import better_seed, cup, enter, play, snapshot
from tests.contest.giving import give, previewed
from tests.contests import JOINING, LATE_ENTRY, ROUND_ROBIN, VERSIONS, Recipe, submit
from tests.golden.commands import all_commands
from tests.publish.cups import STRONG_TO_WEAK, Cup

Kind = type[ContestOrder | AuthorsOrder | RegisterOrder]

ORDERS: Mapping[str, Kind] = {**CONTEST_ORDERS, **SUBMISSION_ORDERS}

AGENTS = list(STRONG_TO_WEAK)


def add_submissions(cup: Cup) -> None:
    """Submissions in all states."""
    submit(cup, "zoe", "eve")
    with closing(intake_directory(cup.planned).register()) as register:
        for number, refusal in ((2, ""), (3, "it is slow"), (4, "it is slow")):
            taken = register.receive(Upload("eve", f"zoe{number}", "zoe.zip", f"{number}" * 64, 1), worker="w")
            agent = None if number == 4 else "{}"
            result = ProcessingResult(refusal, f"zoe{number}", f"{number}" * 64, agent, None, None)
            register.finish(taken.id, taken.attempt, result)
        register.withdraw(2, "eve", "a mistake")
        register.receive(Upload("eve", "zoe5", "zoe.zip", "5" * 64, 1))
        taken = register.receive(Upload("eve", "zoe6", "zoe.zip", "6" * 64, 1), worker="w")
        register.fail(taken.id, taken.attempt, "the Engine was gone", allowed=1)


def with_a_running_game(cup: Cup) -> None:
    """Three games are over."""
    cup.play(3)
    Scheduler(cup.contest).schedule_next()
    assert cup.store.issue(cup.contest.name, "here") is not None
    add_submissions(cup)


def with_all_games(cup: Cup) -> None:
    cup.play()
    add_submissions(cup)


CONTESTS: Mapping[str, Recipe] = {
    "round robin": replace(ROUND_ROBIN, name="orders", more="", happens=with_a_running_game),
    "swiss": replace(LATE_ENTRY, name="orders", happens=with_a_running_game),
    "knockout": replace(ROUND_ROBIN, name="orders", form='name = "knockout"\ngames = 2', happens=with_a_running_game),
    "ladder": replace(JOINING, name="orders", happens=with_a_running_game),
    "ladder with a new version": VERSIONS,
    "over": replace(ROUND_ROBIN, name="orders-over", more="", happens=with_all_games),
    "withheld": replace(ROUND_ROBIN, name="orders-withheld", more="[freeze]\nlast_rounds = 2", happens=with_all_games),
}


def stop(cup: Cup) -> None:
    """A game is held, another is set aside, and the contest is stopped in between."""
    store, name = cup.store, cup.contest.name
    for event in (lambda game: Stopped(game.first, game.second, 1, "void"), lambda game: SetAside(game.id, 1, "void")):
        if (issued := store.issue(name, "here")) is not None:
            store.void(issued.id, issued.attempt, "void", None, allowed=1)
            store.remark(name, event(issued))


def stopped(cup: Cup) -> None:
    stop(cup)
    cup.store.set_state(cup.contest.name, Stopped("anna", "bert", 1, "void"))


def paused(cup: Cup) -> None:
    stop(cup)
    cup.store.set_state(cup.contest.name, Paused("others measure"))


def ordered(action: str, target: str = "") -> Callable[[Cup], None]:
    def happens(cup: Cup) -> None:
        with suppress(InputError):
            give(cup.contest, OrganiserOrder("Olga", action, target, "why"))

    return happens


BEFORE: Mapping[str, Callable[[Cup], None]] = {
    "nothing": lambda _: None,
    "a stop": stopped,
    "a pause": paused,
    "a withdrawal": ordered("withdraw-agent", AGENTS[1]),
    "another's withdrawal": ordered("withdraw-agent", AGENTS[0]),
    "a disqualification": ordered("disqualify", AGENTS[1]),
    "another's disqualification": ordered("disqualify", AGENTS[0]),
}
OF_A_SEASON = {
    "an end of the season": ordered("end-season"),
    "frozen admissions": ordered("freeze-admissions"),
}

TARGETS: Mapping[str, Sequence[str]] = {
    "contest": [""],
    "season": [""],
    "authors": [""],
    "round": ["next", "all", "2", "x"],
    "game": ["1", "4", "5", "6", "99"],
    "agent": [AGENTS[1], "nobody"],
    "entrant": ["zoe", AGENTS[1], "nobody"],
    "submission": ["1", "2", "3", "4", "5", "6", "99", "x"],
    "author": ["eve", "nobody"],
}


CASES = [
    pytest.param(form, before, marks=[] if form in ("round robin", "ladder") else pytest.mark.slow)
    for form, before in [*product(CONTESTS, BEFORE), *product(("ladder", "ladder with a new version"), OF_A_SEASON)]
]


@pytest.mark.parametrize(("form", "before"), CASES)
def test_preview_announces_what_the_order_does(form: str, before: str, tmp_path: Path) -> None:
    with CONTESTS[form].contest(tmp_path) as cup, ExitStack() as stack:
        directory = intake_directory(cup.planned)
        register = stack.enter_context(closing(directory.register()))
        notices = stack.enter_context(closing(directory.notices()))
        {**BEFORE, **OF_A_SEASON}[before](cup)

        def made(kind: Kind, target: str) -> Order[Any]:
            given = OrganiserOrder("Olga", kind.action, target, "why")
            if issubclass(kind, ContestOrder):
                return kind(Contest(cup.store, cup.planned), given)
            return kind(notices, given) if issubclass(kind, AuthorsOrder) else kind(register, given)

        database = stack.enter_context(closing(sqlite3.connect(cup.folder / "contest.db")))
        kept = stack.enter_context(closing(sqlite3.connect(":memory:")))
        database.backup(kept)
        numbers_before = numbers(cup)
        for kind in ORDERS.values():
            for target in TARGETS[kind.target.name]:
                version = database.execute("PRAGMA data_version").fetchone()
                trial = made(kind, target)
                announced = result_of(trial.preview)
                assert version == database.execute("PRAGMA data_version").fetchone(), (kind, target)
                order = made(kind, target)
                done = result_of(order.carry_out)
                if isinstance(announced, InputError) or isinstance(done, InputError):
                    assert (type(announced), str(announced)) == (type(done), str(done)), (kind, target)
                    continue
                check_done(trial, announced, done, cup, numbers_before)
                kept.backup(database)


def test_orders_of_a_contest_have_their_commands() -> None:
    commands = {context.command_path for context in all_commands()}
    names = {kind.command_name() for kind in CONTEST_ORDERS.values()} - {""}
    assert {f"judge contest {name}" for name in names} <= commands


def result_of(do: Callable[[], Effect | DoneOrder]) -> Any:
    try:
        return do()
    except InputError as error:
        return error


def numbers(cup: Cup) -> tuple[int, dict[str, tuple[int, float]]]:
    contest = Contest(cup.store, cup.planned)
    lines = contest.view().table.lines
    return cup.store.counts(contest.name)[GameState.CANCELLED], {
        each.agent: (each.place, each.points) for each in lines
    }


def check_done(
    trial: Order[Any], announced: Effect, done: DoneOrder, cup: Cup, before: tuple[int, Mapping[str, tuple[int, float]]]
) -> None:
    words, (cancelled_before, places), (now, after) = announced.words, before, numbers(cup)
    assert announced.done == done.done
    changes = {each.agent: (*zip(each.places, each.points, strict=True),) for each in announced.changes}
    assert changes == {agent: (place, after[agent]) for agent, place in places.items() if place != after[agent]}
    match trial:
        case ContestOrder():
            assert trial.after == (cup.store.done_games(cup.contest.name), cup.store.entries(cup.contest.name))
            if "that are cancelled: " in words:
                cancelled = now - cancelled_before
                assert words.endswith(f"that are cancelled: {cancelled}.")
                assert "disqualified; " not in done.done or f"disqualified; {cancelled} games of" in done.done
        case SubmissionOrder(part=register, number=number):
            is_entry = number in {each.id for each in register.entries()}
            assert is_entry == ("becomes an entry" in words)
            assert "checked again" not in words or register.get(number).state == SubmissionState.RECEIVED


def test_other_writers_wait_for_no_table_of_a_preview(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of a large contest takes seconds."""
    with closing(Store(url)) as store, closing(Store(url)) as other:
        contest = enter(store, snapshot(RoundRobin(games=2), 4))
        play(contest, better_seed, 5)
        table, lines = Tournament.table, len(store.journal(contest.name))

        def slow(*given: Any) -> Table:
            other.remark(contest.name, ImagesChanged("meanwhile"))
            return table(*given)

        monkeypatch.setattr(Tournament, "table", slow)
        for action, target in (("pause", ""), ("resume", ""), ("void", "1"), ("withdraw-agent", "2")):
            previewed(contest, action, target)
        assert previewed(contest, "disqualify", "1").changes
        assert {"images"} == {line.event for line in store.journal(contest.name)[lines:]}


def test_contest_without_running_games_is_paused_and_resumed_unless_it_is_over(tmp_path: Path) -> None:
    with Cup(tmp_path, STRONG_TO_WEAK) as cup:
        pause, resume = (OrganiserOrder("Olga", action, "", "why") for action in ("pause", "resume"))
        lines = cup.store.journal(cup.contest.name)
        assert give(cup.contest, resume).done.endswith(" is open")
        assert lines == cup.store.journal(cup.contest.name)
        assert give(cup.contest, pause).done.endswith("is paused; no game is running")
        give(cup.contest, resume)
        cup.play()
        with pytest.raises(InputError, match="is over: there is nothing to pause"):
            give(cup.contest, pause)
        assert "open" == cup.store.state(cup.contest.name)


STOP, PAUSE = Stopped("anna", "bert", 2, "starved"), Paused("others measure")
REPLAYED = "cup is open, 1 held games are played again"


@pytest.mark.parametrize(
    ("changes", "words", "done", "is_left"),
    [
        # Its last try would come at once otherwise, on the host on which it was void, and stop the contest.
        ([PAUSE], "Stopped games that are played again: 0.", "cup is open", True),
        ([STOP], "Stopped games that are played again: 1.", REPLAYED, False),
        ([STOP, PAUSE], "Stopped games that are played again: 1.", REPLAYED, False),
        ([], "", REPLAYED, False),
    ],
    ids=["a pause", "a stop", "a pause after a stop", "open"],
)
def test_resume_replays_a_game_that_was_set_aside_unless_the_contest_was_only_paused(
    changes: Sequence[Paused | Stopped], words: str, done: str, is_left: bool
) -> None:
    with cup(RoundRobin(games=2), 3) as contest:
        store, name = contest.store, contest.name
        issued = store.issue(name, "here")
        assert issued is not None
        assert GameState.HELD is store.void(issued.id, issued.attempt, "starved", None, allowed=1)
        store.remark(name, SetAside(issued.id, 1, "starved"))
        for change in changes:
            store.set_state(name, change)

        announced = previewed(contest, "resume")
        assert words in announced.words
        assert is_left == ("set aside and are tried after all others: 1." in announced.note)
        assert done == give(contest, OrganiserOrder("Olga", "resume", "", "it is quiet again")).done
        assert int(is_left) == store.counts(name)[GameState.HELD]
        assert is_left != any(line.event == "all-released" for line in store.journal(name))
