"""Attacks by output (E, I5, V7, V8): images/attacks/streams.c."""

import tempfile
from pathlib import Path

from judge.attacks.attack import BY_ITSELF, Attack, Control, Expected, Observed, Opponent
from judge.attacks.cpu import FARMED, LATE, LONGER, PATIENT, SPAN, TURN, patient
from judge.attacks.weak_box import allowing
from judge.attacks.weak_judge import RestlessWire, with_constants
from judge.catalog.files import write_exports
from judge.games.types import Verdict
from judge.referee import play, side
from judge.referee.bounds import STDERR_BYTES
from judge.referee.transcript import EntryKind

GIBIBYTE = str(1 << 20)
"""KiB."""
SOME = "2048"
FEW = "512"
BOUNDS = {"bytes": {"game_bytes": 2 << 20}}
NARROW = {"bytes": {"game_bytes": 1 << 19}}
WIDE = Control(off="the bound of a turn: it is 512 MiB", policy={"bytes": {"game_bytes": 1 << 30}})
SIPS = "6000"
"""Writes of 128 bytes: three times a turn's limit under `NARROW`."""
MORE_SIPS = "30000"
"""Many entries although a busy judge reads several lines at once."""
MANY = 2100
"""Slightly more than the lines of such a turn."""
GROWTH_BYTES = 64 << 20
FLOOD_KIBIBYTES = 256 << 10
"""In a flood of a second, of which the judge reads 160 MiB at most."""
TOO_MUCH = "an agent could use up the judge's memory, disk or time"
MARKER = b'MESSAGE {"verdict":"win","winner":0}'
READ_WRONG = "an agent's text could be misinterpreted"


def _wide(*words: str) -> Control:
    return Control(off=WIDE.off, words=words, policy=WIDE.policy)


def _stays_flat(seen: Observed) -> str:
    grown = seen.grown_bytes
    return "" if grown < GROWTH_BYTES else f"the judge grew by {grown >> 20} MiB"


def _keeps_a_bound_of_stderr(seen: Observed) -> str:
    kept = len(seen.bytes_of(EntryKind.STDERR))
    return _stays_flat(seen) if kept == STDERR_BYTES else f"{kept} bytes of stderr were kept, not {STDERR_BYTES}"


def _is_slowed(seen: Observed) -> str:
    kibibytes = seen.done("kibibytes")
    return _stays_flat(seen) if kibibytes < FLOOD_KIBIBYTES else f"the judge read {kibibytes} KiB"


def _is_fast(seen: Observed) -> str:
    kibibytes = seen.done("kibibytes")
    return "" if kibibytes > FLOOD_KIBIBYTES else f"the judge read only {kibibytes} KiB"


def _keeps_all_of_stderr(seen: Observed) -> str:
    kept = len(seen.bytes_of(EntryKind.STDERR))
    return "" if kept > 1 << 20 else f"only {kept} bytes of stderr were kept"


def _stays_short(seen: Observed) -> str:
    entries = len(seen.entries)
    return _stays_flat(seen) if entries < MANY else f"the transcript has {entries} entries"


def _grows_long(seen: Observed) -> str:
    entries = len(seen.entries)
    return "" if entries > MANY else f"the transcript has only {entries} entries"


def _is_cut(seen: Observed) -> str:
    cut = any(note.startswith("cut: ") for note in seen.record.seats[0].notes)
    return "" if cut else "no line was cut"


def _is_whole(seen: Observed) -> str:
    whole = any(len(note) > 131000 for note in seen.record.seats[0].notes)
    return "" if whole else "the line is not in the notes"


def _keeps_a_bound_of_stdout(seen: Observed) -> str:
    read = len(seen.bytes_of(EntryKind.READ))
    bound = seen.record.spec.policy.bytes.game_bytes
    return _stays_flat(seen) if read <= bound + (1 << 20) else f"{read} bytes were kept of a game"


def _exports_are_plain(seen: Observed) -> str:
    with tempfile.TemporaryDirectory() as directory:
        write_exports(seen.files[-1], Path(directory) / "game.json")
        texts = [path.read_bytes() for path in Path(directory).iterdir()]
    plain = all(b in b"\r\n" or 32 <= b < 127 for text in texts for b in text)
    return "" if texts and plain else "an export has bytes that control a terminal"


def _is_word_for_word(seen: Observed) -> str:
    sent = "%s%s%n%x {0} {self.__class__} ${jndi:ldap://x} {{7*7}} $(id) `id` \\x41 [bold]x[/bold]"
    return "" if sent in seen.record.seats[0].notes else "the text was used as a template"


def _stale_move_is_not_played(seen: Observed) -> str:
    said = [ply.said for ply in seen.record.plies if ply.seat == 0]
    return "10,10 was used as an answer" if "10,10" in said else ""


OUTPUT = Expected(verdict=Verdict.OUTPUT, because="the bound of a turn", proof=_stays_flat)
MANY_LINES = Expected(verdict=Verdict.OUTPUT, because="the bound of a", proof=_stays_flat)
"""One read of short lines can exceed both bounds."""
CRASH = Expected(verdict=Verdict.CRASH)
GONE = Expected(verdict=Verdict.CRASH, because="exited with code 0")

BY_PRINTING = (
    Attack(
        id="E1", title="floods stdout with up to 1 GiB", program="streams", words=("flood", GIBIBYTE), danger=TOO_MUCH,
        policy=BOUNDS, expected=OUTPUT, control=_wide("flood", SOME),
    ),
    Attack(
        id="E2", title="floods stderr", program="streams", words=("stderr", "8192"), danger=TOO_MUCH, policy=BOUNDS,
        expected=Expected(proof=_keeps_a_bound_of_stderr),
        control=Control(
            off="the bound of stderr: it is 16 MiB", scene=with_constants(play, STDERR_BYTES=16 << 20),
            expected=Expected(proof=_keeps_all_of_stderr),
        ),
    ),
    Attack(
        id="E2.gigabyte", title="floods stderr with 1 GiB", program="streams", words=("stderr", GIBIBYTE),
        danger=TOO_MUCH, policy={**BOUNDS, "clock": {"turn_ms": 60000}},
        expected=Expected(proof=_keeps_a_bound_of_stderr), control="as for E2", is_quick=False,
    ),
    Attack(
        id="E2.endless", title="floods stderr for as long as it thinks", program="streams",
        words=("busy-stderr", "1000"), danger=TOO_MUCH, expected=Expected(proof=_is_slowed),
        control=Control(
            off="the pause after each read of stderr beyond its bound", wire=RestlessWire,
            expected=Expected(proof=_is_fast),
        ),
    ),
    Attack(
        id="E3", title="floods stdout without ever ending a line", program="streams", words=("endless", GIBIBYTE),
        danger=TOO_MUCH, policy=BOUNDS, expected=OUTPUT, control=_wide("endless", SOME),
    ),
    Attack(
        id="E4", title="prints a line of 131,070 characters", program="streams", words=("long-line",), danger=TOO_MUCH,
        policy=BOUNDS, expected=Expected(proof=_is_cut),
        control=Control(
            off="the limit of a line: it is 256 KiB", policy={"protocol": {"gomocup": {"line_bytes": 1 << 18}}},
            expected=Expected(proof=_is_whole),
        ),
    ),
    Attack(
        id="E5.empty", title="prints millions of empty lines", program="streams", words=("empty-lines", GIBIBYTE),
        danger=TOO_MUCH, policy=NARROW, expected=MANY_LINES, control=_wide("empty-lines", FEW),
    ),
    Attack(
        id="E5.debug", title="prints millions of DEBUG lines", program="streams", words=("lines", GIBIBYTE),
        danger=TOO_MUCH, policy=NARROW, expected=OUTPUT, control=_wide("lines", FEW),
    ),
    Attack(
        id="E5.words", title="prints millions of words", program="streams", words=("words", GIBIBYTE),
        danger=TOO_MUCH, policy=NARROW, expected=MANY_LINES, control=_wide("words", FEW),
    ),
    Attack(
        id="E18", title="prints empty lines, each in a separate write", program="streams", words=("sip-lines", SIPS),
        danger=TOO_MUCH, policy=NARROW,
        expected=Expected(verdict=Verdict.OUTPUT, because="the bound of a turn", proof=_stays_short),
        control=Control(
            off="the minimum count of a line: it is 1 byte", words=("sip-lines", MORE_SIPS),
            scene=with_constants(side, MIN_COUNT_BYTES=1),
            expected=Expected(proof=_grows_long),
        ),
    ),
    Attack(
        id="E18.letters", title="prints a long line letter by letter", program="streams", words=("sip-letters", SIPS),
        danger=TOO_MUCH, policy=NARROW, expected=Expected(sent=b"DEBUG xxxxxxxx", proof=_stays_short),
        control=BY_ITSELF + "a transcript stores whole lines",
    ),
    Attack(
        id="E6", title="prints NUL, invalid UTF-8, UTF-16 and lone returns", program="streams", words=("bytes",),
        danger=READ_WRONG, expected=Expected(sent=b"MESSAGE \xff\xfe\xc0\x80", proof=_exports_are_plain),
        control=BY_ITSELF + "bytes become text only when parsed",
    ),
    Attack(
        id="E7", title="prints control sequences of terminals, pages and game records",
        program="streams", words=("escapes",),
        danger="an agent could change what viewers see",
        expected=Expected(sent=b"MESSAGE \x1b[2J\x1b[31mred", proof=_exports_are_plain),
        control=BY_ITSELF + "text is escaped wherever it is shown",
    ),
    Attack(
        id="E8", title="prints the judge's messages", program="streams", words=("markers",), danger=READ_WRONG,
        policy={"box": {"transport": "auto"}}, expected=Expected(sent=MARKER),
        control=BY_ITSELF + "verdicts do not depend on an agent's output",
    ),
    Attack(
        id="E8.attach", title="prints PID 1's messages into the Engine's stream", program="streams",
        words=("markers",), danger=READ_WRONG, policy={"box": {"transport": "attach"}}, expected=Expected(sent=MARKER),
        control=BY_ITSELF + "PID 1 has a separate channel",
    ),
    Attack(
        id="E9", title="prints templates", program="streams", words=("templates",), danger=READ_WRONG,
        expected=Expected(proof=_is_word_for_word), control=BY_ITSELF + "output is never used as a template",
    ),
    Attack(
        id="E17", title="prints numbers in forms that some parsers accept", program="streams", words=("odd-numbers",),
        danger=READ_WRONG, expected=Expected(sent=b"1_0,1\r\n1e1,1\r\n"), control=BY_ITSELF + "a move has one form",
    ),
    Attack(
        id="E17.huge", title="prints a number of 20 digits", program="streams", words=("huge-number",),
        danger=READ_WRONG, expected=Expected(verdict=Verdict.ILLEGAL, because="(huge)"),
        control=BY_ITSELF + "the board has edges",
    ),
    Attack(
        id="E17.negative", title="moves to -1,-1", program="streams", words=("negative-number",), danger=READ_WRONG,
        expected=Expected(verdict=Verdict.ILLEGAL, because="-1,-1"), control=BY_ITSELF + "the board has edges",
    ),
)  # fmt: skip

ON_STREAMS = (
    Attack(
        id="E10", title="closes its stdout and continues", program="streams", words=("close-stdout",), danger=LONGER,
        policy=TURN,
        expected=Expected(verdict=Verdict.CRASH, because="closed its stdout", also=(Verdict.TURN_TIME,)),
        control=Control(off="it keeps a copy", words=("close-stdout", "keep")),
    ),
    Attack(
        id="E11", title="closes its stdin and does not answer", program="streams", words=("close-stdin", SPAN),
        danger="the judge would crash when writing to a closed pipe", policy=TURN, expected=LATE,
        control=BY_ITSELF + "a missing reader is no error before the deadline",
    ),
    Attack(
        id="E12", title="does not read a request larger than its stdin", program="streams", words=("deaf", SPAN),
        danger="the judge would wait for pipe space forever", policy=TURN, opening=True, expected=LATE,
        control=Control(
            off="the limit of a turn, and the size of pipes", policy=PATIENT.policy, weaken=allowing("fcntl"),
            expected=Expected(did={"unread": 4096}),
        ),
    ),
    Attack(
        id="E12.sip", title="takes 100 bytes of a large request and thinks before the rest", program="streams",
        words=("deaf", SPAN, "100"), danger="an agent could think without its clock", policy=TURN, opening=True,
        expected=LATE, control=PATIENT,
    ),
    Attack(
        id="E13.start", title="ends at once", program="streams", words=("leave-at-once",), danger=LONGER,
        expected=GONE, control=BY_ITSELF + "every exit ends the game",
    ),
    Attack(
        id="E13.turn", title="ends in its turn with code 0", program="streams", words=("leave-in-turn",),
        danger=LONGER, expected=GONE, control=BY_ITSELF + "every exit ends the game",
    ),
    Attack(
        id="E13.after", title="ends after its answer", program="streams", words=("leave-after-turn",), danger=LONGER,
        expected=GONE,
        control=Control(off="the game is over before", words=("leave-at-end",)),
    ),
    Attack(
        id="E14", title="forgets to flush", program="streams", words=("no-flush", SPAN), danger=LONGER, policy=TURN,
        expected=LATE, control=PATIENT,
    ),
    Attack(
        id="E15", title="answers the next request as well", program="streams", words=("twice",),
        danger="an agent could answer before it is asked",
        expected=Expected(sent=b"10,10", proof=_stale_move_is_not_played),
        control=BY_ITSELF + "unrequested output is ignored",
    ),
    Attack(
        id="I5", title="floods stdout in its opponent's time, where agents may ponder", program="streams",
        words=("out-of-turn", GIBIBYTE), danger=TOO_MUCH, policy={**BOUNDS, "box": {"freeze": "none"}},
        opponent=Opponent("think", 400), expected=Expected(verdict=Verdict.OUTPUT, proof=_keeps_a_bound_of_stdout),
        control=Control(
            off=WIDE.off, words=("out-of-turn", SOME), policy=WIDE.policy,
            expected=Expected(),
        ),
    ),
    Attack(
        id="I5.attach", title="floods in its opponent's time through the Engine's stream", program="streams",
        words=("out-of-turn", GIBIBYTE), danger=TOO_MUCH,
        policy={**BOUNDS, "box": {"freeze": "none", "transport": "attach"}}, opponent=Opponent("think", 400),
        expected=Expected(verdict=Verdict.OUTPUT, proof=_keeps_a_bound_of_stdout), control="as for I5",
    ),
)  # fmt: skip

AFTER_A_VOID = (
    Attack(
        id="V7", title="keeps the carriers of its stderr busy, and is late", program="streams",
        words=("busy-stderr", SPAN), danger=FARMED, policy=TURN, earns_void=True, expected=LATE,
        control=patient(kibibytes=256),
    ),
    Attack(
        id="V7.attach", title="keeps the Engine busy with its stderr, and is late", program="streams",
        words=("busy-stderr", SPAN), danger=FARMED, policy={**TURN, "box": {"transport": "attach"}}, earns_void=True,
        expected=LATE, control=patient(kibibytes=256),
    ),
    Attack(
        id="V8.attach", title="keeps the Engine busy with its stdout, and is late", program="streams",
        words=("busy-stdout", SPAN), danger=FARMED,
        policy={**TURN, **WIDE.policy, "box": {"transport": "attach"}},
        earns_void=True, expected=LATE, control=patient(lines=100),
    ),
)  # fmt: skip
