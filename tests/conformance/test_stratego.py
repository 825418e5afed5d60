"""Every recorded game of UCC's Stratego managers, played again: the same bytes to both agents, the same log and result.

Where ours differs on purpose it stands in DEVIATIONS with its reason, and nothing else may differ.
"""

from pathlib import Path
from typing import NamedTuple

import pytest

from judge.games.types import Verdict
from judge.records.stratego_log import read_log, write_log
from judge.records.stratego_replay import replay
from tests.conformance.stratego_driver import (
    DATA,
    Pieces,
    Recording,
    Replayed,
    drive,
    outside_data,
    read_set,
)

SETS = ("stratego-2011", "stratego-2012")


class Deviation(NamedTuple):
    """The result line that ours ends with, what the manager wrote to BLUE alone, and why."""

    ours: str
    to_blue: bytes
    why: str


DEVIATIONS = {
    "stratego-2011/edge_exit_before_move_red": Deviation(
        "./red RED ILLEGAL 1 148 148",
        b"DEFAULT\n",
        "writing to a dead agent ended the manager without a result; the other agent was told a word of an older "
        "protocol. A judge always has a result and always says QUIT.",
    ),
    "stratego-2011/edge_partial_setup_flag_and_few": Deviation(
        "./red RED ILLEGAL 1 15 11",
        b"",
        "the manager crashed while it logged a BLUE set-up with empty squares. Here the game goes on.",
    ),
    "stratego-2011/edge_setup_missing_flag_blue": Deviation(
        "./blue BLUE BOTH_ILLEGAL 0 148 148",
        b"",
        "the manager crashed while it logged a bad set-up of BLUE. Here it ends as RED's does.",
    ),
    "stratego-2011/edge_setup_both_bad": Deviation(
        "neither BOTH BOTH_ILLEGAL 0 0 0",
        b"",
        "the manager crashed while it logged a bad set-up of BLUE.",
    ),
}

STRAY = b"\xff"
"""What the manager of 2011 sent behind QUIT in every game: an EOF that it took for a character. We do not."""


def recordings(root: Path | None) -> list[tuple[str, Recording]]:
    """Each with its set, from a directory of sets or from those that are kept here."""
    paths = [(rules, root / rules if root else DATA / f"{rules}.json.gz") for rules in SETS]
    return [(rules, recording) for rules, path in paths for recording in read_set(path)]


def outside_recordings() -> list[tuple[str, Recording]]:
    first = outside_data(SETS[0])
    return [] if first is None or outside_data(SETS[1]) is None else recordings(first.parent)


def case_id(case: object) -> str:
    return case.name if isinstance(case, Recording) else str(case)


@pytest.mark.parametrize("pieces", ["lines", "burst"])
@pytest.mark.parametrize(("rules", "recording"), recordings(None), ids=case_id)
def test_a_recorded_game_is_played_again_to_the_byte(
    rules: str, recording: Recording, pieces: Pieces
) -> None:
    check(rules, recording, drive(recording, rules, pieces))


def test_it_does_not_matter_how_the_bytes_of_an_agent_arrive() -> None:
    """A short game of each kind, byte by byte."""
    for rules, recording in recordings(None):
        if len(recording.log) < 1000:
            check(rules, recording, drive(recording, rules, "bytes"))


def test_every_recorded_game_outside_the_repository_is_played_again_to_the_byte() -> None:
    cases = outside_recordings()
    if not cases:
        pytest.skip("set JUDGE_DATA to a directory that has stratego-2011 and stratego-2012")
    for rules, recording in cases:
        check(rules, recording, drive(recording, rules))


def check(rules: str, recording: Recording, played: Replayed) -> None:
    """The recording, or the listed deviation from it."""
    name = f"{rules}/{recording.name}"
    wanted = tuple(sent.removesuffix(STRAY) for sent in recording.sent)
    log = write_log(played.game, recording.names, recording.reply_s, verbatim=True)
    deviation = DEVIATIONS.get(name)
    if deviation is None:
        assert wanted == tuple(map(bytes, played.sent)), name
        assert recording.log == log, name
        assert recording.stdout.decode() == f"{played.result}\n", name
    else:
        # The manager broke off: all that it had written until then stands.
        assert b"" == recording.stdout
        assert played.result == deviation.ours
        assert played.sent[0].startswith(wanted[0])
        assert played.sent[1].startswith(wanted[1].removesuffix(deviation.to_blue))


def test_every_deviation_is_of_a_recording() -> None:
    assert DEVIATIONS.keys() <= {
        f"{rules}/{recording.name}" for rules, recording in recordings(None)
    }


WHOLE_LOGS = [case for case in recordings(None) if f"{case[0]}/{case[1].name}" not in DEVIATIONS]


@pytest.mark.parametrize(("rules", "recording"), WHOLE_LOGS, ids=case_id)
def test_the_log_of_a_recording_is_replayed_and_written_again(
    rules: str, recording: Recording
) -> None:
    """A log replays by itself, without what the agents said."""
    log = read_log(recording.log, recording.name)
    game = replay(log, drive(recording, rules).game.options)

    assert recording.names == log.names
    if None not in log.setups:
        # The log of a bad set-up does not say what was sent.
        assert recording.log == write_log(game, log.names, recording.reply_s, verbatim=True)


BROKEN_OFF = {
    "round4/peternlewis.vs.ramen.4.45": (Verdict.CRASH, 1),
    "round5/peternlewis.vs.ramen.5.12": (Verdict.CRASH, 1),
    "round6/peternlewis.vs.ramen.6.9": (Verdict.CRASH, 1),
    "round6/peternlewis.vs.celsius.6.8": (Verdict.CRASH, 0),
    # The flag was captured; the manager then died of a dead agent instead of writing the result.
    "round5/basic_cpp.vs.basic_python.5.49": (Verdict.WIN, None),
}
"""The contest's logs that have no result line, with what ours makes of them: the verdict and whose fault it is."""


def test_every_log_of_the_contest_of_2012_replays_to_the_same_end() -> None:
    root = outside_data("stratego-2012-contest")
    if root is None:
        pytest.skip("set JUDGE_DATA to a directory that has stratego-2012-contest")
    paths = [path for path in sorted(root.glob("round*/*")) if path.suffix != ".stderr"]
    assert paths
    for path in paths:
        name = str(path.relative_to(root))
        data = path.read_bytes()
        game = replay(log := read_log(data, name))
        assert game.end is not None
        if name in BROKEN_OFF:
            assert log.result is None
            assert BROKEN_OFF[name] == (game.end.verdict, getattr(game.end, "seat", None))
        else:
            assert data == write_log(game, log.names), name
