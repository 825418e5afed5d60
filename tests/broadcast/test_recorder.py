"""The log of a contest says what its store and its records say: each event once, in order, whatever was killed."""

import json
import os
import random
import signal
import socket
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

from judge.broadcast.events import read_event
from judge.broadcast.log import LOG_FILE
from judge.broadcast.pipe import BEGIN, END, TRANSCRIPT, Announced, Feed, Sender
from judge.broadcast.state import Live
from judge.contest.contest import Contest, open_store
from judge.contest.event_log.moves import Connection
from judge.contest.event_log.recorder import Recorder, RecorderProcess
from judge.contest.plan import BroadcastPlan
from judge.contest_games import ScheduledGame
from judge.journal.events import Paused
from judge.record.spec import RecordFile
from judge.record.transcript import EntryKind, seal, unseal
from judge.referee.replay import rejoined
from tests.broadcast.logs import PAIR, accept, complete_log, events, of_games, play_next, recorder, shares, whole
from tests.examples import sized
from tests.forked import ForkedProcess
from tests.patience import PATIENCE_S, until
from tests.publish.cups import STRONG_TO_WEAK, Cup

KILLS = sized(5, 100)


@pytest.fixture
def cup(tmp_path: Path) -> Iterator[Cup]:
    cup = Cup(tmp_path / "cup", PAIR)
    yield cup
    cup.close()


def frames_of(game: ScheduledGame, file: RecordFile, parts: int = 20, play: int = 1) -> Iterator[bytes]:
    """What the worker of a game sends, piece by piece."""
    reader, writer = socket.socketpair()
    with reader:
        feed = Feed(writer.detach())
        spec = file.record.spec
        announced = Announced(id=game.id, game=game.number, attempt=game.attempt, spec=spec, play=play)
        sender = Sender(Path(), announced)
        sender.attach(feed)
        for part in shares(file, parts):
            sender.follow(part)
            yield reader.recv(1 << 20)
        sender.close()


def tell(recorder: Recorder, game: ScheduledGame, file: RecordFile, share: float = 1.0, play: int = 1) -> None:
    connection = Connection()
    sent = list(frames_of(game, file, play=play))
    for data in sent[: round(len(sent) * share)]:
        recorder.moves.receive(connection, data)


def told_game(log: Recorder, cup: Cup) -> None:
    """The next game is sent, and counts."""
    game, file = play_next(cup)
    tell(log, game, file)
    accept(cup, game, file)
    log.read_store()


def test_contest_log_runs_from_entries_to_standings(cup: Cup) -> None:
    with recorder(cup) as log:
        log.read_store()
        for _ in range(2):
            told_game(log, cup)
        log.finish()
    event_log = events(cup)

    assert ["opened", "entered", "scheduled"] == [event["type"] for event in event_log[:3]]
    assert ["anna", "bert"] == [agent["name"] for agent in event_log[1]["agents"]]
    assert [1, 2] == [game["game"] for game in event_log[2]["games"]]
    assert list(range(1, len(event_log) + 1)) == [event["seq"] for event in event_log]
    moves = {event["game"]: event["moves"] for event in event_log if event["type"] == "ended"}
    assert {(game, 1): whole(count) for game, count in moves.items()} == of_games(event_log)
    tables = [event for event in event_log if event["type"] == "table"]
    # On a slow host there is one between them, after the first game.
    games = [table["lines"][0]["games"] for table in tables]
    assert (0, 2) == (games[0], games[-1])
    assert sorted(set(games)) == games


def test_games_and_standings_include_their_leagues(tmp_path: Path) -> None:
    leagues = 'name = "leagues"\ngames = 2\nsizes = [2]\npromoted = 1'
    with Cup(tmp_path, STRONG_TO_WEAK, leagues) as cup:
        complete_log(cup)
        event_log = events(cup)

    (games,) = (event["games"] for event in event_log if event["type"] == "scheduled")
    assert ["League 2"] * 6 == [game["stage"] for game in games]
    (lines,) = (event["lines"] for event in event_log if event["type"] == "table")
    assert ["League 1"] * 2 + ["League 2"] * 3 == [line["stage"] for line in lines]


def positions(cup: Cup) -> list[dict[str, Any]]:
    """The beginnings and moves in the log, without what exists only during a game."""
    live = ("seq", "at", "clock", "search", "messages")
    return [
        {key: value for key, value in event.items() if key not in live}
        for event in events(cup)
        if event["type"] in ("playing", "move")
    ]


@pytest.mark.parametrize("delay", [BroadcastPlan(), BroadcastPlan(delay_plies=3)], ids=["at once", "delayed"])
@pytest.mark.parametrize("is_new", [False, True], ids=["the same recorder", "the next one"])
def test_log_of_a_disturbed_game_equals_an_undisturbed_one(tmp_path: Path, is_new: bool, delay: BroadcastPlan) -> None:
    """The connection is lost three times. Each time the worker sends everything again, up to the next loss."""
    found = []
    for name, parts in (("undisturbed", [1.0]), ("disturbed", [0.4, 0.7, 0.5])):
        with Cup(tmp_path / name, PAIR) as cup, ExitStack() as stack:
            log = stack.enter_context(recorder(cup, delay))
            game, file = play_next(cup)
            for part in parts:
                if is_new:
                    stack.close()
                    log = stack.enter_context(recorder(cup, delay))
                tell(log, game, file, share=part)
            accept(cup, game, file)
            log.read_store()
            found.append(positions(cup))

    assert found[0] == found[1]
    assert len(file.record.plies) + 1 == len(found[0])


def since_it_began_again(words: Sequence[str]) -> list[str]:
    """What counts of the events of an attempt."""
    last = len(words) - 1 - words[::-1].index("playing")
    return ["started", *words[last:]]


@pytest.mark.parametrize("is_new", [False, True], ids=["the same recorder", "the next one"])
def test_attempt_replayed_by_another_machine_is_broadcast_from_its_beginning(cup: Cup, is_new: bool) -> None:
    game, file = play_next(cup)
    with recorder(cup) as log:
        tell(log, game, file, share=0.6)
        if not is_new:
            tell(log, game, file, play=2)
    with recorder(cup) as log:
        if is_new:
            tell(log, game, file, play=2)
        tell(log, game, file, share=0.8, play=2)  # the same play, by a connection that was made again
        accept(cup, game, file)
        log.read_store()
    event_log = events(cup)
    live = Live()
    states = list[tuple[int, int]]()
    for event in event_log:
        live.apply(read_event(json.dumps(event).encode()))
        if (live_game := live.games.get(1)) is not None:
            states.append((live_game.seq, len(live_game.moves)))

    words = of_games(event_log)[1, 1]
    assert [1, 2] == [event["play"] for event in event_log if event["type"] == "playing"]
    assert 2 == words.count("move 1")
    assert whole(len(file.record.plies)) == since_it_began_again(words)
    # Whoever looks at the game sees it begin again, too.
    assert len(file.record.plies) == states[-1][1]
    assert 2 == sum(moves == 0 for (begun, moves) in dict.fromkeys(states) if begun)


def test_moves_that_differ_from_the_record_are_sent_again_at_the_end(cup: Cup) -> None:
    """Only another machine tells them: its record is checked, and what it told before then is not."""
    game, file = play_next(cup)
    entries = [*rejoined(unseal(file.transcript))]
    first = next(each for each in entries if each.kind is EntryKind.READ and each.data[:1].isdigit())
    changed = [each._replace(data=b"0,0\n") if each is first else each for each in entries]
    other = RecordFile(record=file.record, transcript=seal(changed))
    with recorder(cup) as log:
        tell(log, game, other, share=0.9)
        accept(cup, game, file)
        log.read_store()
    words = of_games(events(cup))[1, 1]

    assert 2 == words.count("playing")
    assert whole(len(file.record.plies)) == since_it_began_again(words)
    said = [event["said"] for event in events(cup) if event["type"] == "move"]
    assert [ply.said for ply in file.record.plies] == said[-len(file.record.plies) :]


@pytest.mark.parametrize(
    "packed",
    [
        b"abc",
        b"abcdefghijklmnopqrstuvwxyz",
        struct.pack("<QbcI", 1 << 63, 0, b"<", 2) + b"x\n",
        struct.pack("<QbcI", 5, 77, b"<", 2) + b"x\n",
        struct.pack("<QbcI", 5, -1, b"?", 1 << 30),
    ],
    ids=["short", "letters", "late", "another seat", "long"],
)
def test_nothing_that_a_worker_sends_ends_the_recorder(cup: Cup, packed: bytes) -> None:
    game, file = play_next(cup)
    frame = TRANSCRIPT + struct.pack("<I", 8 + len(packed)) + bytes(8) + packed
    with recorder(cup) as log:
        connection = Connection()
        for sent in list(frames_of(game, file))[:3]:
            log.moves.receive(connection, sent)
        for sent in (frame, frame, BEGIN + struct.pack("<I", 2) + b"{}"):
            log.moves.receive(connection, sent)
        connection.close()
        accept(cup, game, file)
        log.read_store()

    assert whole(len(file.record.plies)) == since_it_began_again(of_games(events(cup))[1, 1])


def test_uncounted_attempt_is_marked_and_the_next_is_broadcast_from_its_beginning(cup: Cup) -> None:
    with recorder(cup) as log:
        game, file = play_next(cup)
        tell(log, game, file, share=0.5)
        cup.store.roll_back(cup.contest.name, "the judge that played it was stopped")
        game, file = play_next(cup)
        tell(log, game, file)
        accept(cup, game, file)
        log.read_store()
        cup.store.annul(game.id, "the organiser saw a mistake")
        log.read_store()
    games = of_games(events(cup))

    assert ("started", "void") == (games[1, 1][0], games[1, 1][-1])
    assert [*whole(len(file.record.plies)), "void"] == games[1, 2]
    states = [event["state"] for event in events(cup) if event["type"] == "void"]
    assert ["abandoned", "annulled"] == states


def test_organiser_decisions_are_published(cup: Cup) -> None:
    with recorder(cup) as log:
        cup.store.set_state(cup.contest.name, Paused("lunch"))
        cup.store.disqualify(cup.contest.name, "bert", "<b>it</b>\n cheats")
        cup.store.withdraw(cup.contest.name, "anna", "it is ill", is_annulled=True)
        log.read_store()
    event_log = events(cup)

    (withdrawn,) = (event for event in event_log if event["type"] == "withdrawn")
    assert {"agent": "anna", "is_annulled": True, "reason": "anna: it is ill"}.items() <= withdrawn.items()
    assert [("paused", "lunch")] == [
        (event["state"], event["reason"]) for event in event_log if event["type"] == "state"
    ]
    assert ["bert: <b>it</b>  cheats"] == [event["reason"] for event in event_log if event["type"] == "disqualified"]


def test_a_log_that_was_removed_is_made_again_from_store_and_records(cup: Cup) -> None:
    with recorder(cup) as log:
        for _ in range(2):
            told_game(log, cup)
    before = of_games(events(cup))
    name = events(cup)[0]["log"]
    (cup.folder / LOG_FILE).unlink()
    with recorder(cup) as log:
        log.read_store()

    assert before == of_games(events(cup))
    # Readers of the old one must not go on with its numbers.
    assert name != events(cup)[0]["log"]


def test_with_a_delay_a_move_is_sent_after_later_moves_and_the_end_at_once(cup: Cup) -> None:
    with recorder(cup, BroadcastPlan(delay_plies=3)) as log:
        game, file = play_next(cup)
        moves = len(file.record.plies)
        connection = Connection()
        for data in frames_of(game, file, 10_000):
            log.moves.receive(connection, data)
            words = of_games(events(cup)).get((1, 1), [])
            heard = connection.running.plies if connection.running else 0
            assert len([word for word in words if word.startswith("move")]) == max(0, heard - 3)
        assert connection.running is not None
        accept(cup, game, file)
        log.read_store()

    assert {(1, 1): whole(moves)} == of_games(events(cup))
    assert not any("clock" in event for event in events(cup))


def test_with_a_delay_in_seconds_no_event_is_sent_early(cup: Cup) -> None:
    with recorder(cup, BroadcastPlan(delay_s=3600)) as log:
        game, file = play_next(cup)
        tell(log, game, file)
        log.moves.release()
        assert {(1, 1): ["started"]} == of_games(events(cup))
        accept(cup, game, file)
        log.read_store()

    assert {(1, 1): whole(len(file.record.plies))} == of_games(events(cup))


def end_recorder(address: Path) -> bool:
    """Ask a recorder to end, if it listens."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(address))
    except OSError:
        connection.close()
        return False
    feed = Feed(connection.detach())
    feed.send(END, b"")
    feed.close()
    return True


class Recording:
    def __init__(self, cup: Cup, address: Path) -> None:
        self.address = address
        self._words = [sys.executable, "-m", "tests.broadcast.recording", str(cup.folder), str(address)]
        self.start()

    def start(self) -> None:
        self.process: ForkedProcess[bytes] = ForkedProcess(self._words)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    close = kill

    def finish(self) -> None:
        until(lambda: end_recorder(self.address), "the recorder does not listen")
        assert 0 == self.process.wait(PATIENCE_S)


@pytest.mark.slow
def test_killed_at_any_moment_a_recorder_leaves_no_gap_no_repeat_and_no_half_line(tmp_path: Path) -> None:
    """Games are played and told by their senders, which go on when the recorder is killed and started again."""
    kills, chance = 0, random.Random(7)
    games = max(2, KILLS // 4)
    with Cup(tmp_path / "cup", PAIR, form=f'name = "round-robin"\ngames = {games + games % 2}') as cup:
        played: dict[tuple[int, int], int] = {}
        with closing(Recording(cup, tmp_path / "address")) as found:
            for _ in range(games):
                game, file = play_next(cup)
                announced = Announced(id=game.id, game=game.number, attempt=game.attempt, spec=file.record.spec)
                sender = Sender(found.address, announced, retry_s=0)
                for part in shares(file, 60):
                    sender.follow(part)
                    if kills < KILLS and chance.random() < 0.1:
                        # In the middle of what it was just told, or of reading its log again.
                        time.sleep(chance.random() * 0.03)
                        found.kill()
                        found.start()
                        kills += 1
                        if chance.random() < 0.7:
                            until(found.address.exists, "the recorder does not listen")
                sender.close()
                played[game.number, game.attempt] = len(file.record.plies)
                accept(cup, game, file)
            found.finish()
        event_log = events(cup)

    assert KILLS <= kills + 3
    assert list(range(1, len(event_log) + 1)) == [event["seq"] for event in event_log]
    assert {key: whole(moves) for key, moves in played.items()} == of_games(event_log)
    lines = [event["journal"] for event in event_log if "journal" in event]
    assert sorted(set(lines)) == lines


def test_recorder_that_dies_is_started_again_and_its_log_is_complete(tmp_path: Path) -> None:
    with Cup(tmp_path / "cup", PAIR) as cup:
        cup.store.close()
        with closing(RecorderProcess(cup.planned)) as process:
            cup.store = open_store(cup.planned)
            cup.contest = Contest(cup.store, cup.planned)
            process.start()
            until(process.address.exists, "the recorder does not listen")
            for is_last in (False, True):
                (pid,) = (child.pid for child in active_children() if child.pid)
                os.kill(pid, signal.SIGKILL)
                if not is_last:
                    until(lambda: not active_children(), "the recorder lives")
                    process.restart_if_ended()
                game, file = play_next(cup)
                accept(cup, game, file)
            process.finish()
        found = of_games(events(cup))

    assert [] == active_children()
    assert not process.address.parent.exists()
    assert [(1, 1), (2, 1)] == list(found)
    assert whole(len(file.record.plies)) == found[2, 1]


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_log_with_a_damaged_line_is_completed_from_the_store(cup: Cup, share: float) -> None:
    """Each kind of damage is in test_log.py."""
    with recorder(cup) as log:
        log.read_store()
        for _ in range(2):
            told_game(log, cup)
        log.finish()
    path, before = cup.folder / LOG_FILE, events(cup)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[round(share * (len(lines) - 1))] = b'{"seq": 99999999, "type":\n\xff\n'
    path.write_bytes(b"".join(lines))

    complete_log(cup)
    after = events(cup)
    assert list(range(1, len(after) + 1)) == [event["seq"] for event in after]
    assert of_games(before) == of_games(after)
    assert before[0]["log"] != after[0]["log"]
    tables = [[event["lines"] for event in found if event["type"] == "table"] for found in (before, after)]
    assert tables[0][-1] == tables[1][-1]
