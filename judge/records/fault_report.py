"""One page on why a seat lost, and how to check it."""

import json
from collections.abc import Iterator, Sequence

from judge.base.text import decode, mib, printable
from judge.games.types import Verdict
from judge.records.evidence import Case, Exchange, Heard
from judge.referee.blame import TABLE
from judge.referee.spec import ClockRecord, GameRecord
from judge.referee.transcript import EntryKind, decode_span
from judge.referee.verdict_help import RULED

HEX_BYTES = 16

MAX_LINES = 12


def case_lines(case: Case, record: GameRecord, path: str) -> Iterator[str]:
    """The page's lines."""
    verdict = "is void" if case.verdict is Verdict.VOID else f"lost: {case.verdict}"
    yield f"{printable(case.name, 60)} (seat {case.seat}) {verdict}"
    yield f"  {printable(case.why, 400)}"
    yield ""
    yield "The last request"
    if not case.exchange.request:
        yield "  nothing"
    yield from _indented(_shortened([f"> {line}" for line in _text_lines(case.exchange.request)]))
    yield ""
    yield from _reply_section(case.exchange)
    yield ""
    yield "The clock"
    yield from _indented(_clock_lines(case, record))
    yield ""
    yield "The measurements"
    yield from _indented(_reading_lines(case, record))
    yield ""
    yield f"The rule: policy {printable(record.spec.policy.name, 60)}"
    yield from _indented(_rule_lines(case))
    yield ""
    yield "To check it"
    yield f"  judge verify {printable(path, 200)}"
    yield f"  transcript {record.transcript_sha256}"


def hex_lines(data: bytes) -> Iterator[str]:
    """Offset, hex bytes, text."""
    for offset in range(0, len(data), HEX_BYTES):
        part = data[offset : offset + HEX_BYTES]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        yield f"{offset:6}  {part.hex(' '):<{3 * HEX_BYTES - 1}}  |{text}|"


def _indented(lines: Iterator[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def _shortened(lines: Sequence[str]) -> Iterator[str]:
    if len(lines) <= MAX_LINES:
        yield from lines
        return
    yield from lines[: MAX_LINES // 2]
    yield f"... {len(lines) - MAX_LINES} lines ..."
    yield from lines[-MAX_LINES // 2 :]


def _text_lines(data: bytes) -> list[str]:
    lines = decode(data).split("\n")
    if lines[-1] == "":
        lines.pop()
    return [printable(line, 160) for line in lines]


def _reply_section(exchange: Exchange) -> Iterator[str]:
    reply = exchange.reply
    yield f"The reply: {len(reply)} bytes"
    if reply:
        yield from _indented(_shortened([f"< {line}" for line in _text_lines(reply)]))
        yield "  in hex"
        yield from _indented(_shortened(list(hex_lines(reply))))
    yield "  events, in ms since its clock started"
    yield from _indented(_shortened([_heard_line(heard) for heard in exchange.heard]))
    if exchange.stderr:
        yield "  the end of its stderr"
        yield from _indented(_shortened([f"! {line}" for line in _text_lines(exchange.stderr)]))


def _heard_line(heard: Heard) -> str:
    match heard.kind:
        case EntryKind.READ if heard.data:
            what = f"{len(heard.data)} bytes on stdout"
        case EntryKind.READ:
            what = "the end of its stdout"
        case EntryKind.STDERR if not heard.data:
            what = "the end of its stderr"
        case EntryKind.STDERR:
            what = f"{len(heard.data)} bytes on stderr"
        case EntryKind.REPORT:
            what = f"PID 1 reports: {printable(heard.data.decode('ascii', 'replace'), 60)}"
        case EntryKind.PAUSED:
            what = f"the judge did not run for {decode_span(heard.data) / 1e6:.0f} ms before"
        case EntryKind.OVERSLEPT:
            what = f"the judge woke up {decode_span(heard.data) / 1e6:.0f} ms late"
        case EntryKind.OOM:
            what = "the kernel killed a process for memory"
        case _:
            what = "the judge looked: no data"
    return f"{heard.ms:12.3f}  {what}"


def _clock_lines(case: Case, record: GameRecord) -> Iterator[str]:
    if case.charged_ms is None or not case.allowed_ms:
        yield "turn      not measured: the event was before its clock started"
    else:
        yield f"charged   {case.charged_ms:.3f} ms"
        yield f"allowed   {case.allowed_ms} ms, tolerance included"
    match_ms, seat = record.spec.policy.clock.told_match_ms(case.seat), record.seats[case.seat]
    limit = f"of {match_ms} ms" if match_ms else "(no limit)"
    if seat.clock is not None and match_ms:
        limit += f" + {seat.clock.added_ms:.3f} ms added by {seat.clock.answers} answers"
    yield f"game      {seat.charged_ms:.3f} ms charged {limit}"
    if seat.clock is not None:
        yield from _control_lines(record.spec.policy.clock.controls[case.seat].words, seat.clock)
    boxes = record.placement.box
    box = boxes[case.seat] if case.seat < len(boxes) else "no box"
    sharing = record.spec.policy.box.sharing
    shared = f", shared by up to {sharing} games" if sharing > 1 else ""
    own = record.placement.seat_cores
    cores = own[case.seat] if case.seat < len(own) else record.placement.slot_cores
    ponders = ", also in the opponent's time" if record.spec.policy.clock.ponder else ""
    yield f"box       {box}, cores {list(cores)}{shared}{ponders}"


def _control_lines(words: str, clock: ClockRecord) -> Iterator[str]:
    yield f"control   {printable(clock.control, 60)}: {words}"
    if clock.left_ms is not None:
        yield f"left      {clock.left_ms:.3f} ms until the flag falls, without tolerance"
    if clock.moves_to_go is not None:
        yield f"period    {clock.moves_to_go} answers to go"
    if clock.periods_left:
        yield f"period    {clock.periods_left} left"


def _reading_lines(case: Case, record: GameRecord) -> Iterator[str]:
    evidence, seat = case.evidence, record.seats[case.seat]
    if evidence is None:
        yield f"memory peak {mib(seat.memory_peak_bytes, '-')}, CPU {_or_dash(seat.cpu_ms)} ms in the game"
        yield "no other evidence: its answer alone decided"
        return
    cap = mib(evidence.memory_cap_bytes, "-")
    yield f"PID 1         {printable(evidence.report or 'no report of its end', 60)}"
    yield f"memory        peak {mib(evidence.memory_peak_bytes, '-')}, cap {cap}, kills {_or_dash(evidence.oom_kills)}"
    if evidence.reached_cap is False:
        yield "below cap     its box was never at its cap; counts in verdicts of memory"
    yield f"CPU           {_or_dash(evidence.cpu_ms)} ms so far"
    yield f"others took   {_percent(evidence.others_share)} of its cores during its turn; counts in verdicts of time"
    if evidence.stalled_share is not None:
        game = "" if evidence.game_stalled_share is None else f", {_percent(evidence.game_stalled_share)} in the game"
        yield f"host stalled  {_percent(evidence.stalled_share)} of its turn{game}; counts in verdicts of time"
        yield f"slept         {_percent(evidence.slept_share)} of its turn, or waited for memory or a disk"
        host = _percent(evidence.host_pressure_share)
        yield f"pressure      its box {_percent(evidence.pressure_share)}, the host {host} (memory and disks, full)"
    if evidence.judge_paused_ms is not None:
        yield f"judge paused  {evidence.judge_paused_ms:.0f} ms of its turn, not charged; counts in verdicts of time"
    if evidence.interrupt_share is not None:
        yield f"interrupts    {_percent(evidence.interrupt_share)} of its cores during its turn"
    if evidence.held_by_others:
        yield "held          its container was frozen or paused from outside; counts in verdicts of time"
    yield f"output        {evidence.bytes_read} bytes"
    if evidence.detail:
        yield f"host          {printable(evidence.detail, 200)}"


def _rule_lines(case: Case) -> Iterator[str]:
    for rule in case.rules:
        yield f"{rule.key} = {printable(json.dumps(rule.value), 200)}"
    if not case.rules:
        yield "no key: an agent must answer until the game is over"
    if case.row is None:
        said, _ = RULED.get(case.verdict, ("", ""))
        yield f"{case.verdict}: {said}"
    else:
        yield f"row {case.row} of the blame table's {len(TABLE)} (judge verdicts): {case.verdict},"
        yield f"when {case.when}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _or_dash(number: int | None) -> str:
    return "-" if number is None else str(number)
