"""Lines of the journal and their events."""

import json

import pytest

from judge.journal.codec import Event, Line, UnknownLine, decode, encode, event_names
from judge.journal.events import (
    Accepted,
    Announced,
    GameReleased,
    GamesReleased,
    LateAllowed,
    Rated,
    Started,
    Stopped,
    SubmissionChanged,
    SubmissionState,
    WorkerBarred,
    WorkerJoined,
    WorkerLost,
    WorkerNoted,
)
from tests.corpus import archive

GAME = "2043e054d7586f7ce4f7"

EVENTS = [
    (Line("announced", ""), Announced()),
    (
        Line("announced", f"league of the cup spring: finals, announcement {'0f' * 32}"),
        Announced("spring: finals", "0f" * 32),
    ),
    (Line("received", "submission 12"), SubmissionChanged(SubmissionState.RECEIVED, 12)),
    (Line("refused", "submission 12: a: b"), SubmissionChanged(SubmissionState.REFUSED, 12, "a: b")),
    (Line("late", "team:7: a: reason"), LateAllowed("team:7", "a: reason")),
    (Line("rated", "anna: -40 Elo, standard error 31"), Rated("anna", -40, 31)),
    (Line("stopped", "anna - bert: void 3 times in a row: a: b - c"), Stopped("anna", "bert", 3, "a: b - c")),
    (Line("started", "anna - bert", GAME, 2), Started(GAME, 2, "anna", "bert")),
    (Line("accepted", "anna won: bert: gave up", GAME, 1), Accepted(GAME, 1, "bert: gave up", winner="anna")),
    (
        Line("accepted", "anna - bert: no winner: x won: y", GAME, 1),
        Accepted(GAME, 1, "x won: y", first="anna", second="bert"),
    ),
    (Line("released", "3 games: a reason"), GamesReleased(3, "a reason")),
    (Line("released", "3 games: a reason", GAME), GameReleased(GAME, "3 games: a reason")),
    (Line("worker", "worker a b plays: 2 slots"), WorkerJoined("a b", 2)),
    (Line("worker", "worker a is lost"), WorkerLost("a")),
    (Line("worker", "worker a is given no games: it is lost"), WorkerBarred("a", "it is lost")),
    (Line("worker", "attempt 1, of worker a starts again"), WorkerNoted("attempt 1, of worker a starts again")),
]


@pytest.mark.parametrize(("line", "event"), EVENTS)
def test_a_line_is_converted_to_its_event_and_back(line: Line, event: Event) -> None:
    assert decode(line) == event
    assert encode(event) == line


@pytest.mark.parametrize(
    "line",
    [
        Line("promoted", "anna"),
        Line("", ""),
        Line("announced", f"league of the cup {'x' * 101}, announcement {'0f' * 32}"),
        Line("announced", f"league of the cup , announcement {'0f' * 32}"),
        Line("created", "06 entries"),
        Line("created", "6 entries\n"),
        Line("created", "٣ entries"),
        Line("created", f"{10**18} entries"),
        Line("disqualified", "anna"),
        Line("disqualified", ": cheated"),
        Line("rated", "anna: 1e3 Elo, standard error 31"),
        Line("started", "anna - bert"),
        Line("started", "anna - bert", GAME),
        Line("paused", "a reason", GAME),
        Line("set-aside", "void 3 times in a row: why", GAME, 1),
        Line("opened", "2027-01-01"),
        Line("received", "submission -1"),
        Line("passed", "submission 1: "),
        # In a time that grows with their length.
        Line("accepted", " - " * 10**5, GAME, 1),
        Line("stopped", " - " * 10**5),
        Line("settings", f"title: {' -> ' * 10**5}"),
    ],
)
def test_a_line_that_no_judge_writes_stays_as_it_is(line: Line) -> None:
    assert decode(line) == UnknownLine(line)
    assert encode(decode(line)) == line


def test_an_event_without_its_text_cannot_be_written() -> None:
    with pytest.raises(TypeError, match="has no text"):
        encode(Accepted(GAME, 1, "why", first="anna"))


def test_all_lines_of_the_corpus_have_an_event() -> None:
    names = set()
    for part in archive.parts(archive.TEXT):
        for path, text in archive.read(part, archive.TEXT).items():
            if path.endswith("public/data/journal.json") and not path.startswith("forgery"):
                for row in json.loads(text):
                    line = Line(row["event"], row["text"], row["game"], row["attempt"])
                    event = decode(line)
                    assert not isinstance(event, UnknownLine), line
                    assert encode(event) == line
                    names.add(line.name)
    assert names <= event_names()
    assert len(names) > 30
