"""Issue, fix, roll back: every game has exactly one result, whatever comes late, twice or never."""

import hashlib
import json
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from judge.api.matches import CancelledError
from judge.base.errors import HostError, InputError
from judge.contest.executor import LocalExecutor
from judge.contest_games import AttemptState, GameState, Outcome, Pairing, ScheduledGame, SeatOutcome, schedule_digest
from judge.journal.events import Accepted, Announced, ImagesChanged, Paused, Resumed
from judge.play.venue import Slot
from judge.store.contests import Store
from judge.store.types import EntryRow
from tests.examples import examples

NAMES = ["a", "b", "c"]


def game(number: int, first: str = "a", second: str = "b", contest: str = "cup") -> ScheduledGame:
    return ScheduledGame(f"{contest}{number:018d}", number, 1, 1, number - 1, first, second, '{"spec": 1}')


def ended(verdict: str = "win", winner: int | None = 0, record: str = "0" * 64) -> Outcome:
    seats = (SeatOutcome(None, 5, 12.5), SeatOutcome("illegal" if winner == 0 else None, 4, 3.0))
    return Outcome(verdict, winner, "", "5 in a row", record, 1.5, seats)


def begin(store: Store, games: int = 3) -> None:
    """A contest of three agents whose schedule is a-b, a-b, ..."""
    store.create("cup", "{}", [EntryRow(name, place, "{}") for place, name in enumerate(NAMES)])
    store.schedule("cup", [game(number) for number in range(1, games + 1)])


def issued(store: Store, alone: frozenset[str] = frozenset()) -> ScheduledGame:
    found = store.issue("cup", "here", alone)
    assert found is not None
    return found


def test_a_game_is_issued_once_and_its_result_counts_once(store: Store) -> None:
    begin(store)
    first = issued(store)
    assert replace(game(1), state=GameState.RUNNING, attempt=1) == first
    assert replace(game(2), state=GameState.RUNNING, attempt=1) == issued(store)
    assert AttemptState.ACCEPTED is store.accept(first.id, 1, ended())
    (result,) = store.results("cup")
    assert ended().row(game(1), 1) == result
    assert [result] == store.results("cup", failed=True)
    drawn = replace(ended("draw", None), seats=ended().seats[:1] * 2)
    assert AttemptState.ACCEPTED is store.accept(game(2).id, 1, drawn)
    assert [result] == store.results("cup", failed=True)
    assert {"pending": 1, "running": 0, "done": 2, "held": 0, "cancelled": 0} == store.counts("cup")


def test_result_with_a_very_long_reason_is_accepted(store: Store) -> None:
    """The quote of an answer may have four characters for each byte."""
    begin(store)

    assert AttemptState.ACCEPTED is store.accept(issued(store).id, 1, replace(ended(), reason="x" * 4108))
    [line] = store.last_lines("cup", 1, Accepted)
    assert Accepted(game(1).id, 1, "x" * 4000, winner="a") == line.change


def test_a_long_contest_costs_no_more_per_game(tmp_path: Path) -> None:
    """Steps of the database for one more game of a ladder: drawn, issued, accepted."""
    steps = [0]

    def count() -> None:
        steps[0] += 1

    with closing(Store(f"sqlite:///{tmp_path / 'round.db'}")) as store:
        event.listen(store._engine, "checkout", lambda raw, *_: raw.set_progress_handler(count, 10))
        begin(store, 1)
        spent = {}
        for number in range(1, 161):
            steps[0] = 0
            pairing = Pairing("a", "b", 1, number)
            assert store.schedule("cup", [replace(game(number + 1), table=number)], [pairing])
            store.accept(issued(store).id, 1, ended())
            spent[number] = steps[0]

    assert spent[160] < 1.3 * spent[20]


def test_a_late_result_or_void_of_an_attempt_that_was_given_up_does_not_count(store: Store) -> None:
    """A worker that was taken for dead comes back, before and after the replay has ended."""
    begin(store, 1)
    game = issued(store).id
    assert 1 == store.roll_back("cup", "the judge was killed")
    assert 2 == issued(store).attempt
    assert AttemptState.SUPERSEDED is store.accept(game, 1, ended(winner=1, record="1" * 64))
    assert None is store.void(game, 1, "late", None, allowed=1)
    assert [] == store.results("cup")
    assert AttemptState.ACCEPTED is store.accept(game, 2, ended())
    assert AttemptState.SUPERSEDED is store.accept(game, 1, ended(winner=1))
    assert None is store.void(game, 1, "later", None, allowed=1)
    # A worker that lost the answer sends its result again.
    assert AttemptState.ACCEPTED is store.accept(game, 2, ended(winner=1))
    assert [(2, "a")] == [(result.attempt, result.winner) for result in store.results("cup")]


def test_a_void_is_played_again_and_two_in_a_row_are_held_until_released(store: Store) -> None:
    begin(store, 1)
    game = issued(store).id
    assert GameState.PENDING is store.void(game, 1, "the Engine is gone", "2" * 64, allowed=2)
    assert 2 == issued(store).attempt
    assert GameState.HELD is store.void(game, 2, "the Engine is gone", None, allowed=2)
    # A judge that lost the answer sends it again.
    assert None is store.void(game, 2, "the Engine is gone", None, allowed=2)
    assert store.issue("cup", "here") is None
    (held_game,) = store.games("cup")
    assert (GameState.HELD, 2, "the Engine is gone") == (held_game.state, held_game.attempt, held_game.why)
    assert 1 == store.release("cup", "the Engine is back")
    assert 3 == issued(store).attempt
    # One more void holds it again.
    assert GameState.HELD is store.void(game, 3, "gone again", None, allowed=2)


def test_agents_with_a_folder_play_one_game_at_a_time(store: Store) -> None:
    begin(store, 1)
    store.schedule("cup", [game(2, "a", "c"), game(3, "c", "b")])
    assert replace(game(1), state=GameState.RUNNING, attempt=1) == issued(store)
    assert 3 == issued(store, frozenset({"a"})).number
    assert store.issue("cup", "here", alone=frozenset({"a"})) is None
    store.accept(game(1).id, 1, ended())
    assert 2 == issued(store, frozenset({"a"})).number


def test_a_schedule_is_read_as_it_was_made_and_may_be_added_again(store: Store) -> None:
    begin(store)
    store.accept(issued(store).id, 1, ended())
    assert [replace(game(number), spec="") for number in (1, 2, 3)] == store.schedule_of("cup")
    store.schedule("cup", [game(number) for number in range(1, 5)])
    assert [1, 2, 3, 4] == [each.number for each in store.games("cup")]
    assert 1 == len(store.results("cup"))


def test_slot_may_have_the_number_of_each_core_of_a_large_machine(store: Store) -> None:
    begin(store)
    executor = LocalExecutor([Slot(cores=tuple(range(1000, 1256)))])
    slot = executor.slot
    executor.close()
    assert slot.startswith("cores 1000, 1001, ")
    game = store.issue("cup", "here", slot=slot)
    assert game is not None
    assert [slot] == [attempt.slot for attempt in store.attempts("cup", game.id)]


def test_running_games_have_their_current_attempts(store: Store) -> None:
    begin(store)
    first = store.issue("cup", "here", slot="core 1")
    assert first is not None
    store.void(first.id, 1, "void", None, allowed=9)
    store.accept(issued(store).id, 2, ended())
    second = store.issue("cup", "there", slot="core 2")

    assert [second] == [each for each, _ in store.running("cup")]
    ((_, attempt),) = store.running("cup")
    assert (1, AttemptState.RUNNING, "there", "core 2") == (attempt.number, attempt.state, attempt.host, attempt.slot)
    assert attempt.started_at


@pytest.mark.parametrize("end", [SystemExit(143), KeyboardInterrupt(), CancelledError()], ids=repr)
@pytest.mark.parametrize("call", ["do_execute", "do_commit"])
def test_a_signal_in_a_transaction_ends_the_command(
    store: Store, monkeypatch: pytest.MonkeyPatch, call: str, end: BaseException
) -> None:
    store.create("cup", "{}", [EntryRow("a", 1, "{}")])

    def interrupted(*_: object) -> None:
        raise end

    with monkeypatch.context() as patch:
        patch.setattr(store._engine.dialect, call, interrupted)
        with pytest.raises(type(end)):
            store.remark("cup", ImagesChanged("not written"))

    store.remark("cup", ImagesChanged("written"))
    assert ["written"] == [line.text for line in store.journal("cup") if line.event == "images"]


def test_a_paused_contest_gives_out_no_game(store: Store) -> None:
    begin(store)
    store.set_state("cup", Paused("lunch"))
    assert store.issue("cup", "here") is None
    store.set_state("cup", Resumed(""))
    assert store.issue("cup", "here") is not None


def test_an_annulled_result_is_played_again_and_is_no_void_in_a_row(store: Store) -> None:
    begin(store, 1)
    game = issued(store).id
    store.accept(game, 1, ended())
    store.annul(game, "the board was dirty")
    assert [] == store.results("cup")
    assert 2 == issued(store).attempt
    assert AttemptState.SUPERSEDED is store.accept(game, 1, ended())
    assert GameState.PENDING is store.void(game, 2, "the Engine is gone", None, allowed=2)


def test_a_disqualified_agent_plays_no_more(store: Store) -> None:
    begin(store, 1)
    store.schedule("cup", [game(2, "b", "c")])
    store.disqualify("cup", "a", "more than 10 % failures")
    assert ["more than 10 % failures", None, None] == [e.disqualified for e in store.entries("cup")]
    assert 2 == issued(store).number
    assert 1 == store.counts("cup")[GameState.CANCELLED]
    with pytest.raises(InputError, match="no agent 'x'"):
        store.disqualify("cup", "x", "")


def test_missing_file_is_reported(store: Store) -> None:
    begin(store)
    with pytest.raises(InputError, match="no contest 'cip'"):
        store.document("cip")
    with pytest.raises(InputError, match="no game 'nowhere'"):
        store.accept("nowhere", 1, ended())
    with pytest.raises(InputError, match="no attempt 7"):
        store.accept(game(1).id, 7, ended())
    with pytest.raises(InputError, match="already"):
        store.create("cup", "", [])


def test_no_two_hosts_get_the_same_game(store: Store, url: str) -> None:
    begin(store, 40)
    got: list[str] = []

    def drain() -> None:
        with closing(Store(url)) as thread_store:
            while (found := thread_store.issue("cup", "host")) is not None:
                got.append(found.id)
                thread_store.accept(found.id, found.attempt, ended())

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: drain(), range(8)))
    assert sorted(game(n).id for n in range(1, 41)) == sorted(got)
    assert 40 == len(store.results("cup"))
    assert [*range(82)] == [line.number for line in store.journal("cup")]


def test_leaf_fixes_the_content_of_its_line(store: Store) -> None:
    begin(store)
    row = issued(store)
    store.accept(row.id, 1, replace(ended(), public="d" * 64))
    created, scheduled, started, accepted = store.journal("cup")

    assert hashlib.sha256(b"{}\n").hexdigest() == created.digest
    assert schedule_digest([game(1), game(2), game(3)]) == scheduled.digest
    assert (None, "d" * 64) == (started.digest, accepted.digest)
    assert {
        "at": accepted.at,
        "attempt": 1,
        "digest": "d" * 64,
        "event": "accepted",
        "game": row.id,
        "data": {"reason": "5 in a row", "winner": "a"},
    } == json.loads(accepted.leaf)
    changed: dict[str, Any] = {"at": "x", "event": "x", "game": "x", "attempt": 2, "data": "x", "digest": "x"}
    assert 7 == len({accepted.leaf, *(replace(accepted, **{name: value}).leaf for name, value in changed.items())})


def test_a_contest_is_announced_frozen_and_created_once(store: Store) -> None:
    for secret in ("5c" * 32, "6d" * 32):
        store.announce("cup", secret, "c" * 64, Announced())
    assert [] == store.contest_names()
    assert "5c" * 32 == store.announced_secret("cup")
    with pytest.raises(InputError, match="there is no contest"):
        store.document("cup")
    assert [2, 2] == [store.freeze("cup", "e" * 64, []) for _ in range(2)]
    with pytest.raises(InputError, match="are locked in"):
        store.freeze("cup", "f" * 64, [])
    store.create("cup", "{}", [], "5c" * 32)
    store.announce("cup", "6d" * 32, "d" * 64, Announced())

    assert ["cup"] == store.contest_names()
    assert "5c" * 32 == store.secret("cup")
    assert [("announced", "c" * 64), ("frozen", "e" * 64)] == [
        (line.event, line.digest) for line in store.journal("cup")[:2]
    ]


def test_a_moment_of_a_store_does_not_change_while_others_write(store: Store) -> None:
    begin(store)
    with store.moment() as then:
        before = then.counts("cup")
        game = issued(store)
        store.accept(game.id, 1, ended())
        assert before == then.counts("cup")
        assert [] == then.results("cup")
        assert 2 == len(then.journal("cup"))
    assert 1 == len(store.results("cup"))


def test_a_store_with_its_secret_is_no_business_of_other_users(tmp_path: Path) -> None:
    """A new one is its owner's alone; one that is there already is taken from all but its group."""
    path = tmp_path / "round.db"
    store = Store(f"sqlite:///{path}")
    store.create("cup", "{}", [], "5c" * 32)
    assert "5c" * 32 == store.secret("cup")
    beside = [path, *tmp_path.glob("round.db-*")]
    assert {0o600} == {stat.S_IMODE(file.stat().st_mode) for file in beside}
    store.close()

    path.chmod(0o664)
    Store(f"sqlite:///{path}").close()
    assert 0o660 == stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("mysql://x/y", InputError),
        ("round.db", InputError),
        ("sqlite:/x", InputError),
        ("sqlite:////none/x.db", HostError),
    ],
)
def test_a_url_of_another_kind_or_a_missing_folder_is_refused(url: str, error: type[Exception]) -> None:
    with pytest.raises(error, match=f"^store {url}: "):
        Store(url)


@settings(deadline=None, max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=st.lists(st.tuples(st.sampled_from("iavr"), st.integers(1, 4), st.integers(1, 3))))
def test_whatever_comes_in_whatever_order_no_game_has_two_results(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, int, int]]
) -> None:
    """Issues, results, voids and crashes in any order, for attempts that are current, past or never were."""
    store = Store(f"sqlite:///{tmp_path_factory.mktemp('s') / 'round.db'}")
    begin(store, 4)
    accepted: dict[str, int] = {}
    for move, number, attempt in moves:
        game_id = game(number).id
        try:
            if move == "i":
                store.issue("cup", "here")
            elif move == "r":
                store.roll_back("cup", "crash")
            elif move == "v":
                store.void(game_id, attempt, "void", None, allowed=3)
            elif store.accept(game_id, attempt, ended(winner=attempt % 2)) is AttemptState.ACCEPTED:
                assert attempt == accepted.setdefault(game_id, attempt)
        except InputError:
            # No such attempt.
            continue
    assert accepted == {result.id: result.attempt for result in store.results("cup")}
    assert 4 == sum(store.counts("cup").values())
    lines = store.journal("cup")
    assert [*range(len(lines))] == [line.number for line in lines]
    assert accepted == {line.game: line.attempt for line in lines if line.event == "accepted"}
    store.close()
