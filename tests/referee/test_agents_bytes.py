"""No byte of one agent reaches the other agent or a file, unless a rule repeats it: each byte in each kind of line."""

from collections.abc import Callable, Sequence

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


def brain(odd: bytes, *moves: str) -> Agent:
    left = iter(moves)

    def hear(line: str) -> Sequence[Act]:
        match line.split()[0]:
            case "START":
                return [Say(b"OK\r\n")]
            case "ABOUT":
                return [Say(b'name="a' + odd + b'b", version="' + odd + b'"\r\n')]
            case "BEGIN" | "TURN" | "DONE":
                said = b"MESSAGE " + odd + b" x\r\nDEBUG " + odd + b"\r\n" + odd + b"x\r\n"
                return [Say(said), Say(f"{next(left)}\r\n".encode())]
            case "END":
                return exits()
        return []

    return hear


def engine(odd: bytes, *moves: str) -> Agent:
    left = iter(moves)

    def hear(line: str) -> Sequence[Act]:
        match line.split()[0]:
            case "AGI":
                return [Say(b"ID NAME a" + odd + b"b AUTHOR " + odd + b"\nAGIOK\n")]
            case "ISREADY":
                return [Say(b"READYOK\n")]
            case "GO":
                said = b"INFO DEPTH " + odd + b" PV " + odd + b" SCORE 1" + odd + b"\nx" + odd + b"\n"
                return [Say(said), Say(f"BESTMOVE {next(left)} PONDER ".encode() + odd.strip(b"\r") + b"\n")]
            case "QUIT":
                return exits()
        return []

    return hear


def player(odd: bytes, *squares: str) -> Agent:
    left = iter(squares)

    def hear(line: str) -> Sequence[Act]:
        if line in ("SELECTION?", "MOVE?"):
            return [Say(next(left, "9 9").encode() + b" " + odd + b" 9\n")]
        return exits() if line.startswith("QUIT") else []

    return hear


GAMES: dict[str, tuple[str, str, Callable[..., Agent], tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "gomocup": (
        "gomocup-freestyle",
        "gomocup",
        brain,
        (("0,0", "1,0", "2,0", "3,0", "4,0"), ("0,1", "1,1", "2,1", "3,1")),
    ),
    "agi": ("gomocup-standard", "agi", engine, (("01", "02", "03", "04", "05"), ("11", "12", "13", "14"))),
    "qchess": ("qchess-2013", "qchess", player, (("4 6", "4 4"), ("4 1", "4 3"))),
}


def played(name: str, odd: bytes, seat: int) -> tuple[ScriptedGame, GameSpec]:
    policy, protocol, agent, moves = GAMES[name]
    game_spec = GameSpec(seats=scripted_seats(protocol), policy=load_policy(policy))
    odds = [b"", b""]
    odds[seat] = odd
    agents = [agent(each, *own) for each, own in zip(odds, moves, strict=True)]
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
