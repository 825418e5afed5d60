"""No byte of one agent reaches the other agent or a file, unless a rule repeats it: each byte in each kind of line."""

import re
from collections.abc import Sequence

import pytest

from judge.base.text import is_printable
from judge.catalog import game_entry
from judge.catalog.files import steps_of
from judge.record.policy import load_policy
from judge.record.spec import GameSpec
from judge.record.transcript import EntryKind
from judge.testing import Act, Agent, Say, ScriptedGame, World, exits, scripted_seats
from tests.examples import EVIDENCE
from tests.referee.games import a_file

ALIKE = (
    ()
    if EVIDENCE
    else b"BCDFGHIJKLMNPRSTVWYZbcdefghijklmnopqrstuvwyz12345678" + bytes(range(0xA1, 0xC2)) + bytes(range(0xC3, 0xFF))
)
"""Letters, digits and bytes above the control characters, but some of each."""

PIECES = [bytes([byte]) for byte in range(256) if byte != 10 and byte not in ALIKE]
PIECES += [text.encode() for text in ("\x85", "\u2028", "\u2029", "\ufeff", "\x1b[2J", "\r\rQUIT\r", '"] [Result "1-0')]


TALK: dict[str, dict[str, bytes]] = {
    "gomocup": {
        "START": b"OK\r\n",
        "ABOUT": b'name="aODDb", version="ODD"\r\n',
        **dict.fromkeys(("BEGIN", "TURN"), b"MESSAGE ODD x\r\nDEBUG ODD\r\nODDx\r\nMOVE\r\n"),
    },
    "agi": {
        "AGI": b"ID NAME aODDb AUTHOR ODD\nAGIOK\n",
        "ISREADY": b"READYOK\n",
        "GO": b"INFO DEPTH ODD PV ODD SCORE 1ODD\nxODD\nBESTMOVE MOVE PONDER INLINE\n",
    },
    "qchess": dict.fromkeys(("SELECTION?", "MOVE?"), b"MOVE ODD 9\n"),
}
"""What an agent says to a line, by its first word: ODD is the piece, INLINE the piece without the end of a line."""

GAMES: dict[str, tuple[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "gomocup": ("gomocup-freestyle", (("0,0", "1,0", "2,0", "3,0", "4,0"), ("0,1", "1,1", "2,1", "3,1"))),
    "agi": ("gomocup-standard", (("01", "02", "03", "04", "05"), ("11", "12", "13", "14"))),
    "qchess": ("qchess-2013", (("4 6", "4 4"), ("4 1", "4 3"))),
}
"""By protocol, a policy and the moves of both."""


def talker(protocol: str, odd: bytes, moves: Sequence[str]) -> Agent:
    left = iter(moves)

    def hear(line: str) -> Sequence[Act]:
        word = line.split()[0]
        if word in ("END", "QUIT"):
            return exits()
        said = TALK[protocol].get(word, b"")
        if b"MOVE" in said:
            said = re.sub(rb"\bMOVE\b", next(left, "9 9").encode(), said)
        said = said.replace(b"INLINE", odd.strip(b"\r")).replace(b"ODD", odd)
        return [Say(said)] if said else []

    return hear


def played(name: str, odd: bytes, seat: int) -> tuple[ScriptedGame, GameSpec]:
    policy, moves = GAMES[name]
    game_spec = GameSpec(seats=scripted_seats(name), policy=load_policy(policy))
    agents = [talker(name, odd if number == seat else b"", theirs) for number, theirs in enumerate(moves)]
    return ScriptedGame(World(*agents), game_spec), game_spec


def sent_to(game: ScriptedGame, seat: int) -> bytes:
    entries = game.world.entries
    return b"".join(entry.data for entry in entries if (entry.kind, entry.seat) == (EntryKind.WROTE, seat))


@pytest.mark.slow
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("name", ["gomocup", "agi"])
def test_what_an_agent_prints_changes_no_line_for_its_opponent(name: str, seat: int) -> None:
    peace = sent_to(played(name, b"", seat)[0], 1 - seat)
    for odd in PIECES:
        assert peace == sent_to(played(name, odd, seat)[0], 1 - seat), odd


@pytest.mark.parametrize("seat", [0, 1])
def test_quantum_chess_sends_printable_lines_only(seat: int) -> None:
    for odd in PIECES:
        lines = sent_to(played("qchess", odd, seat)[0], 1 - seat).decode("ascii").split("\n")
        assert all(is_printable(line) for line in lines), odd


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_what_an_agent_prints_is_printable_in_every_format(name: str) -> None:
    for odd in PIECES:
        file = a_file(*played(name, odd, 0))
        formats = game_entry(file.record.spec.policy.game.name).formats()
        assert formats is not None
        game = formats.of_record(steps_of(file))
        for form_name, form in formats.by_name.items():
            if form_name == "rec":  # of another board
                continue
            lines = form.write(game).decode().split("\n")
            assert all(is_printable(line.removesuffix("\r")) for line in lines), (form_name, odd)
