"""Contests whose games are told to a recorder, by their workers or by a test that has their records."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from judge.broadcast.log import LOG_FILE
from judge.contest.attempts import outcome_and_record
from judge.contest.event_log.recorder import Recorder
from judge.contest.plan import BroadcastPlan
from judge.contest_games import ScheduledGame
from judge.record.spec import RecordFile
from judge.record.transcript import Transcript, unseal
from judge.referee.replay import rejoined
from tests.publish.cups import STRONG_TO_WEAK, Cup, day_of, luck, referee

PAIR = {name: STRONG_TO_WEAK[name] for name in ("anna", "bert")}
"""Two agents that play a few dozen moves."""


@contextmanager
def recorder(cup: Cup, delay: BroadcastPlan | None = None) -> Iterator[Recorder]:
    with closing(Recorder(cup.contest, cup.folder / LOG_FILE, delay)) as found:
        yield found


def complete_log(cup: Cup) -> None:
    with recorder(cup) as log:
        log.finish()


def events(cup: Cup) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (cup.folder / LOG_FILE).read_bytes().splitlines()]


def of_games(found: Sequence[Mapping[str, Any]]) -> dict[tuple[int, int], list[str]]:
    """The events of each attempt as words: `playing`, `move 1`..., `ended`."""
    games: dict[tuple[int, int], list[str]] = defaultdict(list)
    for event in found:
        if "game" in event and event["type"] not in ("turn", "search"):
            word = event["type"] if "ply" not in event else f"move {event['ply']}"
            games[event["game"], event["attempt"]].append(word)
    return dict(games)


def whole(moves: int) -> list[str]:
    """The events of an attempt of so many moves, each of them once and in order."""
    return ["started", "playing", *(f"move {ply}" for ply in range(1, moves + 1)), "ended"]


def play_next(cup: Cup) -> tuple[ScheduledGame, RecordFile]:
    """Issue the next game, and play it without telling anybody."""
    game = cup.store.issue(cup.contest.name, "here")
    assert game is not None
    spec = cup.contest.job(game).spec()
    file = referee(spec, [cup.cast[seat.name](luck(spec)) for seat in spec.seats])
    began = f"{day_of(cup.store, cup.contest.name)}T18:00:00+00:00"
    record = file.record.model_copy(update={"attempt": game.attempt, "started_at": began})
    return game, RecordFile(record=record, transcript=file.transcript)


def accept(cup: Cup, game: ScheduledGame, file: RecordFile) -> None:
    outcome, data = outcome_and_record(file)
    cup.contest.files.put(data)
    cup.store.accept(game.id, game.attempt, outcome)


def shares(file: RecordFile, parts: int) -> list[bytes]:
    """The transcript of a game in so many parts, as the judge of the game packs them."""
    packed: list[bytes] = []
    transcript = Transcript(packed.append)
    entries = rejoined(unseal(file.transcript))
    for number, entry in enumerate(entries, 1):
        transcript.add(entry.ns + 1, entry.seat, entry.kind, entry.data)
        if number * parts // len(entries) > (number - 1) * parts // len(entries):
            transcript.tell()
    return packed
