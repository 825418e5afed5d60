"""What attacks.toml requires of a game beyond its verdict, as `expected.proof`."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from judge.attacks.attack import Observed, Proof
from judge.attacks.scenes import CANARY_TEXT
from judge.catalog.files import write_exports
from judge.record.bounds import STDERR_BYTES
from judge.record.transcript import EntryKind
from judge.referee.referee import STILL_MS

# --- processor time and memory ----------------------------------------------------------------------------------------

CHILDREN_MS = 100
SPIKE_BYTES = 48 << 20


def children_counted(seen: Observed) -> str:
    """CPU time of children is in the evidence."""
    evidence = seen.record.seats[0].evidence
    used = 0 if evidence is None else evidence.cpu_ms or 0
    return "" if used > CHILDREN_MS else f"only {used} ms of the children's processor time were counted"


def peak_is_the_cap(seen: Observed) -> str:
    """The peak of memory is near the cap."""
    evidence = seen.record.seats[0].evidence
    peak, cap = (0, 0) if evidence is None else (evidence.memory_peak_bytes, evidence.memory_cap_bytes)
    if not peak or not cap:
        return "peak or cap are not in the evidence"
    return "" if 0.8 * cap < peak <= cap else f"the peak {peak} is not at the cap {cap}"


def spike_is_seen(seen: Observed) -> str:
    """The record has the peak of a moment."""
    peak = seen.record.seats[0].memory_peak_bytes or 0
    return "" if peak >= SPIKE_BYTES else f"the record has a peak of {peak} bytes only"


def kernel_use_is_seen(seen: Observed) -> str:
    """The kernel's memory was above its limit."""
    evidence = seen.record.seats[0].evidence
    peak, limit = (0, 0) if evidence is None else (evidence.kernel_peak_bytes, evidence.kernel_limit_bytes)
    return "" if peak and limit and peak > limit else f"the evidence has a peak of {peak} bytes for a limit of {limit}"


# --- files and kernel objects -----------------------------------------------------------------------------------------

MAX_CONNECTIONS = 256


def secret_is_not_recorded(seen: Observed) -> str:
    """No record contains the host's file."""
    is_recorded = any(CANARY_TEXT.strip() in file.model_dump_json() for file in seen.files)
    return "a host file is in the record" if is_recorded else ""


def made_no_locks(seen: Observed) -> str:
    """At most one record lock was made."""
    made = seen.done("locks")
    return "" if made <= 1 else f"{made} locks or more were made"


def made_few_connections(seen: Observed) -> str:
    """Few connections waited at a socket."""
    made = seen.done("connections")
    return "" if made <= MAX_CONNECTIONS else f"{made} connections waited"


# --- output -----------------------------------------------------------------------------------------------------------

GROWTH_BYTES = 64 << 20
FLOOD_KIBIBYTES = 256 << 10
"""In a flood of a second, of which the judge reads 160 MiB at most."""
MAX_ENTRIES = 2100
"""Slightly more than the lines of a turn of 256 KiB."""
IDLE_MS = 400.0
SPARE_BYTES = 4096
"""The answer, and a read in progress."""


def stays_flat(seen: Observed) -> str:
    """The judge's memory stays bounded."""
    grown = seen.grown_bytes
    return "" if grown < GROWTH_BYTES else f"the judge grew by {grown >> 20} MiB"


def keeps_a_bound_of_stderr(seen: Observed) -> str:
    """The transcript keeps stderr up to the bound."""
    kept = len(seen.bytes_of(EntryKind.STDERR))
    return stays_flat(seen) if kept == STDERR_BYTES else f"{kept} bytes of stderr were kept, not {STDERR_BYTES}"


def is_slowed(seen: Observed) -> str:
    """The judge reads surplus stderr slowly."""
    kibibytes = seen.done("kibibytes")
    return stays_flat(seen) if kibibytes < FLOOD_KIBIBYTES else f"the judge read {kibibytes} KiB"


def stays_short(seen: Observed) -> str:
    """The transcript has few entries."""
    entries = len(seen.entries)
    return stays_flat(seen) if entries < MAX_ENTRIES else f"the transcript has {entries} entries"


def is_cut(seen: Observed) -> str:
    """A long line is cut."""
    cut = any(note.startswith("cut: ") for note in seen.record.seats[0].notes)
    return "" if cut else "no line was cut"


def keeps_a_bound_of_stdout(seen: Observed) -> str:
    """The transcript keeps stdout up to the bound of a game."""
    read = len(seen.bytes_of(EntryKind.READ))
    bound = seen.record.spec.policy.bytes.game_bytes
    return stays_flat(seen) if read <= bound + (1 << 20) else f"{read} bytes were kept of a game"


def exports_are_plain(seen: Observed) -> str:
    """Exports are printable ASCII."""
    with tempfile.TemporaryDirectory() as directory:
        write_exports(seen.files[-1], Path(directory) / "game.json")
        texts = [path.read_bytes() for path in Path(directory).iterdir()]
    plain = all(b in b"\r\n" or 32 <= b < 127 for text in texts for b in text)
    return "" if texts and plain else "an export has bytes that control a terminal"


def is_word_for_word(seen: Observed) -> str:
    """Templates are recorded as text."""
    sent = "%s%s%n%x {0} {self.__class__} ${jndi:ldap://x} {{7*7}} $(id) `id` \\x41 [bold]x[/bold]"
    return "" if sent in seen.record.seats[0].notes else "the text was used as a template"


def stale_move_is_not_played(seen: Observed) -> str:
    """Output before a request is no answer."""
    said = [ply.said for ply in seen.record.plies if ply.seat == 0]
    return "10,10 was used as an answer" if "10,10" in said else ""


def judge_rests(seen: Observed) -> str:
    """The judge uses little CPU time."""
    return "" if seen.judge_cpu_ms < IDLE_MS else f"the judge used {seen.judge_cpu_ms:.0f} ms of processor time"


def bytes_in_opponents_time(seen: Observed) -> int:
    """Attacker's output in the worst turn of the opponent."""
    most = count = 0
    is_asked = False
    for entry in seen.entries:
        if entry.seat != seen.seat and entry.kind in (EntryKind.THAWED, EntryKind.FROZEN):
            is_asked, count = entry.kind is EntryKind.THAWED, 0
        elif entry.seat == seen.seat and entry.kind is EntryKind.READ and is_asked:
            count += len(entry.data)
            most = max(most, count)
    return most


def was_read_before(seen: Observed) -> str:
    """Output was read before the opponent's turn."""
    read = bytes_in_opponents_time(seen)
    return "" if read <= SPARE_BYTES else f"{read} bytes were read in the opponent's time"


# --- the opponent's time ----------------------------------------------------------------------------------------------

MAX_INTERRUPTS_SHARE = 0.07
"""Beyond the same opponent's in peace: 0.01 to 0.03, on a busy host up to 0.08."""
MAX_LOST_SHARE = 0.15
"""An opponent on its own cores loses 0.01 to 0.07 of its time, on shared cores 0.2 to 0.5."""
TURNS = 4


def interrupts_shares(seen: Observed | None) -> list[float]:
    """Of the opponent's work, for each answer, sorted."""
    if seen is None:
        return []
    answers = zip(*(seen.measured(what) for what in ("irq_us", "took_us", "lost_us")), strict=True)
    return sorted(interrupted / (took - lost) for interrupted, took, lost in answers)


def interrupts_limit(seen: Observed) -> float:
    """The largest permitted share of interrupts."""
    return MAX_INTERRUPTS_SHARE + median(interrupts_shares(seen.peace) or [0.0])


def takes_little(seen: Observed) -> str:
    """Attacks disturb nearly every answer."""
    shares = interrupts_shares(seen)
    if len(shares) < TURNS:
        return "the opponent has not measured its answers"
    return "" if shares[1] < interrupts_limit(seen) else f"interrupts took {percent(shares)} of its work"


def percent(shares: list[float]) -> str:
    """Shares as text."""
    return " ".join(f"{share:.0%}" for share in shares)


def lost_share(seen: Observed | None) -> float:
    """Median share of the opponent's time in which its core did not run it."""
    if seen is None:
        return 0.0
    answers = list(zip(seen.measured("took_us"), seen.measured("lost_us"), strict=True))
    return median(lost / took for took, lost in answers) if answers else 0.0


def loses_little(seen: Observed) -> str:
    """The opponent's core ran the opponent."""
    if len(seen.measured("took_us")) < TURNS:
        return "the opponent has not measured its answers"
    lost = lost_share(seen)
    return "" if lost < MAX_LOST_SHARE + lost_share(seen.peace) else f"the opponent lost {lost:.0%} of its time"


def has_saved(seen: Observed) -> str:
    """The opponent ended by itself."""
    was_killed = any(entry.kind is EntryKind.KILLED and entry.seat != seen.seat for entry in seen.entries)
    return "the opponent was killed before it had saved its data" if was_killed else ""


def pays_for_its_calls(seen: Observed) -> str:
    """Its calls may be denied on some hosts."""
    if wrong := has_saved(seen):
        return wrong
    is_denied = any("denied page-table" in note for note in seen.attacker.notes)
    if is_denied or (seen.attacker.fault and seen.attacker.lingered_cpu_ms > STILL_MS):
        return ""
    return f"it used {seen.attacker.lingered_cpu_ms:.0f} ms after its kill, and has no failure"


# --- reused boxes -----------------------------------------------------------------------------------------------------

GROWTH_FACTOR = 2
"""Above it the previous game was also charged."""


def was_kept(seen: Observed) -> str:
    """The game had a reused box."""
    return "" if seen.record.placement.box[0].endswith("reused") else "its box was not reused"


def is_counted_anew(seen: Observed) -> str:
    """CPU time and memory of the previous game are not charged."""
    first, second = (file.record.seats[0] for file in seen.files[-2:])
    used = ((first.cpu_ms, second.cpu_ms), (first.memory_peak_bytes, second.memory_peak_bytes))
    for before, now in used:
        if before is not None and now is not None and now > GROWTH_FACTOR * before:
            return f"the first game used {before}, but the second one was charged {now}"
    return was_kept(seen)


PROOFS: Mapping[str, Proof] = {
    proof.__name__: proof
    for proof in (
        children_counted, peak_is_the_cap, spike_is_seen, kernel_use_is_seen, secret_is_not_recorded, made_no_locks,
        made_few_connections, stays_flat, keeps_a_bound_of_stderr, is_slowed, stays_short, is_cut,
        keeps_a_bound_of_stdout, exports_are_plain, is_word_for_word, stale_move_is_not_played, judge_rests,
        was_read_before, takes_little, loses_little, has_saved, pays_for_its_calls, was_kept, is_counted_anew,
    )
}  # fmt: skip
