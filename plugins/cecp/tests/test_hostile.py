"""Hostile CECP engines: the opponent, the record and the judge's time are unharmed."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_cecp.cecp import MAX_FEATURES, Cecp
from judge_chess.engine import MAX_OPTIONS, MAX_SAID_CHARACTERS, EngineOptions
from judge_chess.rules import ChooseMove
from test_cecp import BLITZ, engine, spec

from judge.games.types import Verdict
from judge.protocols.time_control import TimeControl
from judge.protocols.types import Answer, Ask, Bytes, Note, Open, SeatLimits, Write
from judge.record.spec import Placement, RecordFile
from judge.record.transcript import seal
from judge.referee.verify import record_of, verify
from judge.testing import Act, Agent, Say, ScriptedGame, World

LINES = (
    *(
        b"Illegal move: e2e4",
        b"Illegal move (no king): \x1b[2J",
        b"Error (unknown command): go",
        b"pong 1",
        b"pong 9999",
    ),
    *(b"offer draw\n" * 200, b"resign", b"1-0 {I win}", b"0-1 {I lose}", b"1/2-1/2 {agreed}", b"1-0\x00", b"* {?}"),
    *(b"feature done=1", b"feature usermove=1 san=1", b'feature myname="\x1b[2J\x00"', b"feature ping=0 setboard=0"),
    *(b"feature " + b"a" * 4000, b"feature " + b'a="' * 1300, b"feature " + b"a=1 " * 1000, b"feature done=0"),
    *(
        b'feature option="Hash -spin 1 1 1"',
        b'feature option=" - -a"',
        b'feature memory="1" smp=1',
        b"feature variants=x",
    ),
    *(b"move", b"move --", b"move @@@@", b"move Z0", b"move e2e4\nmove d2d4", b"move O-O", b"move 0-0", b"move e1g1"),
    *(b"move e7e8", b"move e7e8k", b"move e8=Q", b"move Nf3", b"move e7e5", b"move " + b"N" * 9000, b"move \x00\xff"),
    *(
        b"999 999999999 1 1 e4",
        b"1 -999999999 1 1 e4",
        b"1 100000 1 1",
        b"1 100500 1 1",
        b"1 0 0 0\t0 0 0\t\x1b[2J",
        b"0",
    ),
    *(b"tellusererror Illegal position", b"telluser \x1b]0;x\x07", b"tellall x", b"askuser a b", b"hint", b"\n" * 3000),
)


def noisy(agent: Agent, random: Random) -> Agent:
    """An agent that also prints hostile lines, and sometimes does not answer."""

    def hear(line: str) -> Sequence[Act]:
        acts = list(agent(line))
        for _ in range(random.choice((0, 0, 0, 1, 2))):
            acts.insert(random.randint(0, len(acts)), Say(random.choice(LINES) + b"\n"))
        return acts[:-1] if random.random() < 0.05 else acts

    return hear


@settings(deadline=None)
@given(
    st.integers(0, 1 << 32),
    st.sampled_from(["5", "5+0.1", "5d1", "10/5", "5|3x1", "5|10/3", "@1"]),
    st.integers(0, 1),
    st.booleans(),
)
def test_no_output_of_an_engine_harms_its_opponent_or_the_record(
    seed: int, control: str, seat: int, adjudicates: bool
) -> None:
    scores = {"draw_by_score": {"after": 1, "moves": 2}, "win_by_score": {"moves": 2, "score_cp": 100}}
    played = spec(control=control, options=scores if adjudicates else {})
    agents = [engine(), engine()]
    agents[seat] = noisy(engine(), Random(seed))
    game = ScriptedGame(World(*agents), played)

    assert game.faults[1 - seat] is None
    assert game.verdict is not Verdict.VOID
    assert game.verdict in (Verdict.WIN, Verdict.DRAW) or 1 - seat == game.winner
    sealed = seal(game.world.entries)
    placement = Placement(box=("world", "world"), judge_cores=(), slot_cores=())
    at = "2026-01-01T00:00:00+00:00"
    made = record_of(played, game.end, game.referee, attempt=1, started_at=at, placement=placement, transcript=sealed)
    file = RecordFile.model_validate_json(RecordFile(record=made, transcript=sealed).to_json())
    assert [] == list(verify(file).problems)
    texts = [file.record.reason, *(text for each in file.record.seats for text in (each.why, *each.notes))]
    assert all(text.isprintable() and len(text) < 1000 for text in texts)


def opened(*features: bytes) -> Cecp:
    protocol = Cecp(EngineOptions())
    protocol.feed(Open(0, {}, ("one", "two"), SeatLimits(TimeControl.of_game(1, 1), 0)))
    for feature in features:
        protocol.feed(Bytes(b"feature " + feature + b"\n", BLITZ))
    return protocol


def test_features_above_the_limit_get_no_answer() -> None:
    protocol = opened()
    answers = 0
    for _ in range(100):
        effects = protocol.feed(Bytes(b"feature " + b"a=1 " * 1000 + b"\n", BLITZ))
        answers += sum(effect.data.count(b"\n") for effect in effects if isinstance(effect, Write))
    assert MAX_FEATURES + MAX_OPTIONS == answers


def test_name_of_a_feature_is_short() -> None:
    """Otherwise each letter of a long line is tried as the beginning of a name."""
    assert [] == list(opened().feed(Bytes(b"feature " + b"a" * 33 + b"=1\n", BLITZ)))


@pytest.mark.parametrize(
    ("feature", "sent"), [(b"memory=1", b"memory 16\n"), (b'option="Hash -spin 64 1 1024"', b"option Hash=16\n")]
)
def test_size_of_the_hash_is_sent_by_the_command_that_the_engine_has(feature: bytes, sent: bytes) -> None:
    effects = opened(feature).feed(Bytes(b"feature done=1\n", BLITZ))
    assert any(isinstance(effect, Write) and sent in effect.data for effect in effects)


@pytest.mark.parametrize("line", [b"Illegal move: ", b"1-0 ", b"move "])
def test_long_answer_is_cut(line: bytes) -> None:
    protocol = opened(b"done=1")
    protocol.feed(Ask(ChooseMove(0, is_white=False), BLITZ))
    (answer,) = protocol.feed(Bytes(line + b"{" * 4000 + b"\n", BLITZ))
    assert isinstance(answer, Answer)
    assert len(answer.reply.said) <= MAX_SAID_CHARACTERS


def test_offers_of_a_draw_are_notes_of_a_bounded_number() -> None:
    protocol = opened(b"done=1")
    protocol.feed(Ask(ChooseMove(0), BLITZ))
    effects = protocol.feed(Bytes(b"offer draw\n" * 5000, BLITZ))
    assert 100 == len(effects)
    assert all(isinstance(effect, Note) for effect in effects)
