"""Contests with real games, on both databases: the same table, folders in their order, and hostile words."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from judge.base.errors import HostError, InputError
from judge.contest.attempts import EndedAttempt
from judge.contest.contest import Contest, find_game, open_store
from judge.contest.executor import LocalExecutor
from judge.contest.plan import load_plan
from judge.contest.runner import ContestRunner, RunObserver, StopReason, StopRequest
from judge.contest_games import GameState, Outcome, ScheduledGame
from judge.host.house_agents import build_house_agents
from judge.play.venue import Slot
from judge.record.spec import RecordFile
from judge.record.transcript import EntryKind, unseal
from judge.referee.verify import verify
from judge.store.contests import Store
from tests.cli.test_folders import COUNTS, counted
from tests.contest.cups import enter, places, play, won_by
from tests.contest.racers import AT_ONCE, begin_in_processes, write_contest
from tests.store.test_lease import end_sessions

SWISS = f"""
name = "cup"
policy = "gomocup-freestyle"
change = [{AT_ONCE}]
store = "STORE"
[format]
name = "swiss"
games = 2
rounds = 3
"""

FOLDERS = """
name = "cup"
policy = "gomocup-fastgame"
change = ["game.options.width=10", "game.options.height=10"]
[format]
name = "round-robin"
games = 1
"""


@pytest.fixture
def slots(tmp_path: Path) -> Iterator[LocalExecutor]:
    made = LocalExecutor([Slot(), Slot()], log=tmp_path / "judge.log")
    yield made
    made.kill()
    made.close()


def opened(folder: Path) -> tuple[Store, Contest]:
    planned = load_plan(folder)
    store = open_store(planned)
    return store, begin_in_processes(store, planned)


def play_on(folder: Path, slots: LocalExecutor, games: int = 0) -> StopReason:
    """Go on with a contest, as a judge that knows nothing of it, to its end or until so many games have ended."""
    store, contest = opened(folder)
    with closing(store):
        stop = StopRequest()
        left = games

        class Counting(RunObserver):
            def report(self, ended: EndedAttempt) -> None:
                nonlocal left
                left -= 1
                if left == 0:
                    stop.drain.set()

        return ContestRunner(contest, slots, Counting(), stop).run()


def race(idle: Mapping[str, int]) -> Callable[[ScheduledGame], Outcome]:
    return lambda game: won_by(int(idle[game.first] > idle[game.second]))


@pytest.mark.slow
def test_a_contest_is_the_same_on_every_database(tmp_path: Path, url: str, slots: LocalExecutor) -> None:
    idle = (0, 0, 1, 2, 3)
    folder = write_contest(tmp_path / "cup", SWISS.replace("STORE", url), idle)

    assert StopReason.DRAINED is play_on(folder, slots, games=4)
    assert StopReason.FINISHED is play_on(folder, slots)

    store, contest = opened(folder)
    with closing(store), closing(Store("sqlite:///:memory:")) as other:
        assert 12 == len(contest.view().results)
        assert contest.view().is_over
        expected = enter(other, contest.snapshot, secret=contest.secret)
        play(expected, race({f"racer-{number}": each for number, each in enumerate(idle)}))
        assert [r.id for r in expected.view().results] == [r.id for r in contest.view().results]
        assert [r.winner for r in expected.view().results] == [r.winner for r in contest.view().results]
        assert contest.store.pairings("cup") == other.pairings("cup")
        assert places(expected) == places(contest)
        assert 12 == store.counts("cup")[GameState.DONE]


@pytest.mark.slow
@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_a_judge_ends_whose_contest_another_host_has_taken_over(tmp_path: Path, url: str, slots: LocalExecutor) -> None:
    """tests/faults/test_ladder_killed.py has hosts that go on for each other."""
    store, contest = opened(write_contest(tmp_path / "cup", SWISS.replace("STORE", url), (0, 0, 1, 2, 3)))
    with closing(store), closing(Store(url)) as other, ExitStack() as stack:
        stack.enter_context(store.lease("cup", "judge on one"))

        class Losing(RunObserver):
            def report(self, ended: EndedAttempt) -> None:
                if len(store.results("cup")) == 1:
                    end_sessions(url)
                    stack.enter_context(other.lease("cup", "judge on two"))

        with pytest.raises(HostError, match="judge on two has taken over cup: this judge ends"):
            ContestRunner(contest, slots, Losing()).run()
        assert 1 == len(other.results("cup"))


@pytest.mark.slow
@pytest.mark.parametrize(("change", "game_type"), [("", 2), ('"protocol.gomocup.game_type=3"', 3)])
def test_contest_is_a_tournament_by_default(tmp_path: Path, slots: LocalExecutor, change: str, game_type: int) -> None:
    """Its brains are told INFO game_type 2 (a game says 1: tests/protocols), and the replay tells them the same."""
    plan = SWISS.replace("STORE", "sqlite:///contest.db").replace("rounds = 3", "rounds = 1")
    folder = write_contest(tmp_path / "cup", plan.replace(f"[{AT_ONCE}]", f"[{AT_ONCE}, {change}]"), (0, 1))

    assert StopReason.FINISHED is play_on(folder, slots)

    store, contest = opened(folder)
    with closing(store):
        results = contest.view().results
        assert 2 == len(results)
        for result in results:
            file = RecordFile.model_validate_json(contest.files.get(result.record))
            written = b"".join(each.data for each in unseal(file.transcript) if each.kind is EntryKind.WROTE)
            assert 2 == written.count(b"INFO game_type") == written.count(b"INFO game_type %d" % game_type)
            assert [] == list(verify(file).problems)


RAW = """
import sys
sys.stdin.readline()
sys.stdout.buffer.write(b"ERROR \\0\\xff\\xed\\xa0\\x80\\x1b]0;owned\\x07\\r\\n")
sys.stdout.flush()
sys.stdin.read()
"""


@pytest.mark.slow
def test_text_invalid_in_databases_is_stored_escaped(tmp_path: Path, url: str, slots: LocalExecutor) -> None:
    """An agent refuses to start with a NUL, half a surrogate pair and an escape sequence; the contest goes on."""
    plan = SWISS.replace("STORE", url).replace("rounds = 3", "rounds = 1")
    folder = write_contest(tmp_path / "cup", plan, (0, 1))
    (folder / "racer-1" / "racer.py").write_text(RAW)

    assert StopReason.FINISHED is play_on(folder, slots)

    store, contest = opened(folder)
    with closing(store):
        assert {"racer-0": (1, 2.0), "racer-1": (2, 0.0)} == places(contest)
        reasons = {result.reason for result in contest.view().results}
        assert all("owned" in reason and reason.isprintable() for reason in reasons), reasons
        assert all(line.text.isprintable() for line in store.journal("cup"))


@pytest.mark.slow
def test_each_game_starts_from_the_state_left_by_its_predecessor(tmp_path: Path, slots: LocalExecutor) -> None:
    """Agents count their games in each of their two folders."""
    build_house_agents()
    folder, text = tmp_path / "cup", FOLDERS
    for name in "abcd":
        (folder / name).mkdir(parents=True)
        (folder / name / "brain.py").write_text(COUNTS.replace("PAUSE", "0"))
        (folder / name / "agent.toml").write_text(
            'name = "pbrain-count"\ncommand = ["python3", "brain.py"]\nruntime = "python"\n'
        )
        text += f'[[agents]]\npath = "{name}"\nname = "{name}"\n'
    (folder / "contest.toml").write_text(text)

    assert StopReason.DRAINED is play_on(folder, slots, games=3)
    assert StopReason.FINISHED is play_on(folder, slots)

    in_order = [f"{number} of the run, {number} ever" for number in range(3)]
    store, contest = opened(folder)
    with closing(store):
        assert dict.fromkeys("abcd", in_order) == counted(folder)

        # The replay starts from the game before it, and what was played after it stays as it was.
        store.annul(find_game(contest, "3").id, "the wrong opening")
        assert StopReason.FINISHED is play_on(folder, slots)
        assert 2 == contest.view().results[2].attempt
        assert dict.fromkeys("abcd", in_order) == counted(folder)


def test_a_game_is_meant_by_its_number_or_the_beginning_of_its_id(tmp_path: Path) -> None:
    store, contest = opened(write_contest(tmp_path / "cup", SWISS.replace("STORE", "sqlite:///cup.db"), (0, 1)))
    with closing(store):
        first, second = store.games("cup")

        assert first == find_game(contest, "1") == find_game(contest, first.id[:8])
        assert second == find_game(contest, second.id)
        for word in ("3", "", second.id[:3], "01", "%"):
            with pytest.raises(InputError, match="no game of cup"):
                find_game(contest, word)

        # Of ten thousand games some have an id that begins like another one's number.
        games = [
            ScheduledGame("1234" + "0" * 16, 3, 9, 1, 0, "racer-0", "racer-1", first.spec),
            ScheduledGame("abcd" + "0" * 16, 1234, 9, 1, 1, "racer-1", "racer-0", first.spec),
        ]
        store.schedule("cup", games)
        assert 1234 == find_game(contest, "1234").number
        assert 3 == find_game(contest, "12340").number
