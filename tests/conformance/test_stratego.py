"""Every recorded game of UCC's Stratego managers, played again: the same bytes to both agents, the same log and result.

Where ours differs on purpose it does so by a rule (`check`), and nothing else may differ.
"""

import os
import random
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from judge.formats.stratego.log import read_log, replay_stratego_log, write_log
from judge.games.types import AgentFault, Verdict
from tests.conformance.others import program, sample
from tests.conformance.stratego_driver import DATA, Pieces, Recording, Replayed, drive, read_set
from tests.examples import RecordFigure, evidence

SETS = ("stratego-2011", "stratego-2012")


OLD_WORD = b"DEFAULT\n"
"""What the manager of 2011 told the other agent, in place of QUIT, when it died of writing to a dead one."""

RESULT = re.compile(r"\S+ (RED|BLUE|BOTH) [A-Z_]+ \d+ \d+ \d+")

STRAY = b"\xff"
"""What the manager of 2011 sent behind QUIT in every game: an EOF that it took for a character. We do not."""


def without_returns(data: bytes) -> bytes:
    r"""The managers repeated the `\r` of a line that ended with `\r\n`; ours belongs to the line end."""
    return data.replace(b"\r ", b" ")


def recordings() -> list[tuple[str, Recording]]:
    """Each with its set."""
    return [(rules, recording) for rules in SETS for recording in read_set(DATA / f"{rules}.json.gz")]


def case_id(case: object) -> str:
    return case.name if isinstance(case, Recording) else str(case)


@pytest.mark.parametrize("pieces", ["lines", "burst"])
@pytest.mark.parametrize(("rules", "recording"), recordings(), ids=case_id)
def test_a_recorded_game_is_played_again_to_the_byte(rules: str, recording: Recording, pieces: Pieces) -> None:
    check(rules, recording, drive(recording, rules, pieces))


def test_it_does_not_matter_how_the_bytes_of_an_agent_arrive() -> None:
    """A short game of each kind, byte by byte."""
    for rules, recording in recordings():
        if len(recording.log) < 1000:
            check(rules, recording, drive(recording, rules, "bytes"))


def check(rules: str, recording: Recording, played: Replayed) -> None:
    """To the byte, but for two rules of ours.

    A manager that crashed has no say: it wrote no result (it wrote to a dead agent, or logged a bad or partial set-up
    of BLUE). All that it had written until then stands; then ours goes on, has a result, and says QUIT with it to both.
    The end of a stream is a death: words without a line end are no reply, and who says no more is at fault.
    """
    name = f"{rules}/{recording.name}"
    wanted = tuple(without_returns(sent.removesuffix(STRAY)) for sent in recording.sent)
    log = write_log(played.game, recording.names, recording.reply_s, verbatim=True)
    if is_whole(recording):
        assert wanted == tuple(map(bytes, played.sent)), name
        assert without_returns(recording.log) == log, name
        assert recording.stdout.decode() == f"{played.result}\n", name
        return
    assert RESULT.fullmatch(played.result), name
    for sent, theirs in zip(played.sent, wanted, strict=True):
        assert sent.startswith(theirs.split(b"QUIT ")[0].removesuffix(OLD_WORD)), name
        assert sent.endswith(f"QUIT {played.result}\n".encode()), name
    # Its last line was cut off, or says that it crashed.
    assert log.startswith(b"".join(recording.log.splitlines(keepends=True)[:-1])), name
    if played.fell_silent:
        assert AgentFault is type(played.game.end), name
        assert played.game.end.seat == played.fell_silent[0], name


def is_whole(recording: Recording) -> bool:
    """Whether the manager brought the game to its end, and took no end of a stream for the end of a line."""
    unended = any(said and not said[-1].endswith(b"\n") for said in recording.said)
    return bool(recording.stdout) and (not unended or recording.silence is Verdict.TURN_TIME)


def test_both_kinds_of_recordings_are_there() -> None:
    whole = [is_whole(recording) for _, recording in recordings()]

    assert 4 <= whole.count(False) < 10 < whole.count(True)


WHOLE_LOGS = [case for case in recordings() if is_whole(case[1])]


@pytest.mark.parametrize(("rules", "recording"), WHOLE_LOGS, ids=case_id)
def test_the_log_of_a_recording_is_replayed_and_written_again(rules: str, recording: Recording) -> None:
    """A log replays by itself, without what the agents said."""
    log = read_log(recording.log, recording.name)
    game = replay_stratego_log(log, drive(recording, rules).game.options)

    assert recording.names == log.names
    assert recording.stdout.split()[2].decode() == game.outcome
    if None not in log.setups:
        # The log of a bad set-up does not say what was sent.
        assert without_returns(recording.log) == write_log(game, log.names, recording.reply_s, verbatim=True)


@evidence
@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("rules", SETS)
def test_new_games_under_an_original_manager_are_played_again_to_the_byte(
    rules: str, tmp_path: Path, record_property: RecordFigure
) -> None:
    """In every second game, one reply of a hundred is odd. Every third game tolerates illegal moves."""
    manager, games, turns, late = program(rules), sample(20), 0, 0
    for name in ("red", "blue"):
        shutil.copy(Path(__file__).with_name("stratego_agent.py"), tmp_path / name)
        (tmp_path / name).chmod(0o755)
    for game in range(games):
        limit = random.Random(game).choice((5, 50, 500))
        options = ["-o", "game.log", "-m", str(limit), *(["-i"] if game % 3 == 0 else [])]
        options += ["-T", "60"] if rules == "stratego-2012" else []  # seconds for a reply
        command = [str(manager), *options, "./red", "./blue"]
        environment = {**os.environ, "STRATEGO_SEED": str(game), "STRATEGO_ODDITY": str(game % 2 / 100)}
        ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
        files = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix in (".wire", ".log")}
        files |= {"command.txt": shlex.join(command).encode(), "manager.stdout": ended.stdout}
        recording = Recording.of_files(f"new game {game}", files)
        if recording.silence is Verdict.TURN_TIME:  # of a busy host: these agents always reply
            late += 1
            continue
        check(rules, recording, drive(recording, rules))
        turns += len(re.findall(rb"^\d+ (?:RED|BLU): ", recording.log, re.MULTILINE))
    assert late < games, "no game without a late reply; repeat it on a host with less load"
    record_property("figure", f"{rules}: {games - late} games, {turns} half-moves, 0 differences; late replies: {late}")
