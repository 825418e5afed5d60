"""Lines of the journal, their events and sentences."""

import json

import pytest

from judge.journal.codec import MAX_DATA_BYTES, Event, Line, UnknownLine, decode, encode, event_names
from judge.journal.events import (
    MAX_TEXT_CHARACTERS,
    Accepted,
    Announced,
    GameReleased,
    GamesReleased,
    LateAllowed,
    Moment,
    Paused,
    ScheduleChanged,
    SettingChange,
    SettingsChanged,
    StartTimeReached,
    Stopped,
    SubmissionChanged,
    SubmissionState,
    WorkerNoted,
)
from judge.journal.sentences import text_of
from judge.journal.state import JournalLine, read_leaf
from tests.corpus import archive

GAME = "2043e054d7586f7ce4f7"

EVENTS: list[tuple[Event, str, str, str]] = [
    (
        Announced("spring: finals", "0f" * 32),
        "announced",
        f'{{"announcement":"{"0f" * 32}","cup":"spring: finals"}}',
        f"league of the cup spring: finals, announcement {'0f' * 32}",
    ),
    (
        SubmissionChanged(SubmissionState.REFUSED, 12, "a: b"),
        "refused",
        '{"name":"a: b","number":12}',
        "submission 12: a: b",
    ),
    (LateAllowed("team:7", "a: é"), "late", r'{"author":"team:7","why":"a: \u00e9"}', "team:7: a: é"),
    (
        Stopped("anna", "bert", 3, "a: b - c"),
        "stopped",
        '{"attempts":3,"first":"anna","second":"bert","why":"a: b - c"}',
        "anna - bert: void 3 times in a row: a: b - c",
    ),
    (
        Accepted(GAME, 1, "bert: {winner}", winner="anna"),
        "accepted",
        '{"reason":"bert: {winner}","winner":"anna"}',
        "anna won: bert: {winner}",
    ),
    (
        Accepted(GAME, 1, "x won: y", first="anna", second="bert"),
        "accepted",
        '{"first":"anna","reason":"x won: y","second":"bert"}',
        "anna - bert: no winner: x won: y",
    ),
    (GamesReleased(3, "a reason"), "all-released", '{"games":3,"why":"a reason"}', "3 games: a reason"),
    (GameReleased(GAME, "3 games: a reason"), "released", '{"why":"3 games: a reason"}', "3 games: a reason"),
    (WorkerNoted("worker a is lost"), "worker-noted", '{"words":"worker a is lost"}', "worker a is lost"),
    (
        StartTimeReached(Moment("2026-11-22T18:00:00+01:00", "Europe/Prague")),
        "begins",
        '{"at":{"at":"2026-11-22T18:00:00+01:00","zone":"Europe/Prague"}}',
        "2026-11-22 18:00:00 CET (Europe/Prague)",
    ),
    (
        StartTimeReached(Moment("2026-11-22T18:00:00+05:00", "Europe/Nowhere")),
        "begins",
        '{"at":{"at":"2026-11-22T18:00:00+05:00","zone":"Europe/Nowhere"}}',
        "2026-11-22 18:00:00 UTC+05:00",
    ),
    (
        ScheduleChanged(closes=Moment("2027-01-01T18:00:00+00:00"), starts=Moment("2027-01-01T19:00:00+00:00")),
        "window",
        '{"closes":{"at":"2027-01-01T18:00:00+00:00"},"starts":{"at":"2027-01-01T19:00:00+00:00"}}',
        "submissions close at 2027-01-01 18:00:00 UTC; the contest starts at 2027-01-01 19:00:00 UTC",
    ),
    (
        SettingsChanged((SettingChange("title", "", "A"), SettingChange("turn_ms", "30", "70")), "why"),
        "settings",
        '{"changes":[{"after":"A","before":"","name":"title"},{"after":"70","before":"30","name":"turn_ms"}],"why":"why"}',
        "title: none -> A; turn_ms: 30 -> 70: why",
    ),
]
"""Texts that could be taken for other parts of a line, and moments; tests/corpus has each event."""


@pytest.mark.parametrize(("event", "name", "data", "text"), EVENTS)
def test_an_event_is_converted_to_its_line_and_back(event: Event, name: str, data: str, text: str) -> None:
    line = encode(event)
    assert (name, data) == line[:2]
    assert decode(line) == event
    assert text == text_of(event)


@pytest.mark.parametrize("event", [event for event, *_ in EVENTS])
def test_a_leaf_is_the_canonical_json_of_its_line(event: Event) -> None:
    name, data, game, attempt = encode(event)
    line = JournalLine("2027-01-01T00:00:00.000+00:00", name, game, attempt, data, "d" * 64)
    assert json.dumps(json.loads(line.leaf), sort_keys=True, separators=(",", ":")).encode() == line.leaf
    assert line == read_leaf(line.leaf)
    changes = (b'"at":', b'"when":'), (b":", b": "), (b'"digest":"', b'"digest":["'), (b'"event":"', b'"event":["')
    for leaf in (line.leaf[:-1], *(line.leaf.replace(old, new, 1) for old, new in changes)):
        assert read_leaf(leaf) is None


NUMBERS = ('"6"', "06", "6.0", "6e0", "true", "null", "-1", "9" * 5000, str(1 << 53), "NaN", "[6]", " 6", "6,")
DATA = (
    *("", "6", "[]", "null", "{}", '{"entries":6} ', "[" * 10**5, '{"a":' * 10**5, '{"Entries":6}'),
    *('{"entries":6,"entries":6}', '{"entries":6,"more":1}', '{"entries":6,"game":"g"}'),
)
MOMENTS = (
    *("2027-01-01", "2027-02-30T18:00:00+00:00", "2027-01-01T18:00:00", "2027-01-01T18:00:00Z"),
    "9999-12-31T18:00:00+00:00",
)
TEXTS = ("é", r"\u00E9", r"a\/b", r"\ud800", "\ud800", "x" * (MAX_TEXT_CHARACTERS + 1), "x" * 10**6)


@pytest.mark.parametrize(
    "line",
    [
        Line("promoted", '{"agent":"anna"}'),
        Line("", "{}"),
        Line("announced", f'{{"announcement":"{"0f" * 32}","cup":"{"x" * 101}"}}'),
        Line("announced", f'{{"announcement":"{"0f" * 32}"}}'),
        Line("announced", f'{{"announcement":"{"0g" * 32}","cup":"c"}}'),
        Line("announced", f'{{"announcement":"{"0f" * 32}\\n","cup":"c"}}'),
        *(Line("created", f'{{"entries":{value}}}') for value in NUMBERS),
        *(Line("created", data) for data in DATA),
        Line("disqualified", '{"agent":"anna"}'),
        Line("disqualified", '{"agent":"","why":"cheated"}'),
        Line("disqualified", '{"why":"cheated","agent":"anna"}'),
        *(Line("paused", f'{{"why":"{text}"}}') for text in TEXTS),
        Line("rated", '{"agent":"anna","error":31,"rating":1e3}'),
        Line("started", '{"first":"anna","second":"bert"}'),
        Line("started", '{"first":"anna","second":"bert"}', GAME),
        Line("paused", '{"why":"a reason"}', GAME),
        Line("set-aside", '{"attempts":3,"why":"why"}', GAME, 1),
        Line("accepted", '{"reason":"why"}', GAME, 1),
        Line("accepted", '{"first":"anna","reason":"why","winner":"anna"}', GAME, 1),
        *(Line("opened", f'{{"at":{{"at":"{moment}"}}}}') for moment in MOMENTS),
        Line("opened", '{"at":{"at":"2027-01-01T18:00:00+00:00","zone":"../../etc/passwd"}}'),
        Line("received", '{"number":-1}'),
        Line("passed", '{"name":"","number":1}'),
        Line("settings", '{"changes":[],"why":""}'),
        Line("settings", '{"changes":[{"after":"c","before":"b","more":"d","name":"a"}],"why":""}'),
    ],
)
def test_a_line_that_no_judge_writes_stays_as_it_is(line: Line) -> None:
    assert decode(line) == UnknownLine(line)
    assert encode(decode(line)) == line
    assert line.data == text_of(decode(line))


def test_the_longest_texts_fit_into_a_leaf() -> None:
    smile = "\U0001f600"
    text = smile * MAX_TEXT_CHARACTERS
    for event in (Paused(text), Stopped(smile * 100, smile * 100, 3, text)):
        line = encode(event)
        assert decode(line) == event
        assert len(line.data) < MAX_DATA_BYTES
    assert isinstance(decode(encode(SettingsChanged((SettingChange("about", text, text),), text))), UnknownLine)


def test_all_lines_of_the_corpus_have_an_event() -> None:
    names = set()
    for part in archive.parts(archive.TEXT):
        for path, text in archive.read(part, archive.TEXT).items():
            if path.endswith("public/data/journal.json") and not path.startswith("forgery"):
                for row in json.loads(text):
                    line = Line(row["event"], row["data"], row["game"], row["attempt"])
                    event = decode(line)
                    assert not isinstance(event, UnknownLine), line
                    assert encode(event) == line
                    names.add(line.name)
    assert names <= event_names()
    assert len(names) > 30
