"""From a fault to what an author can do about it; above all, silence: thinking, asleep, or stuck in a buffer?

A process that used no CPU while it was waited for, and says its answer after all when it is told to end, has had the
answer in its output buffer. One that used the CPU all the time thinks too long. One that did neither waits for
something: most often for the rest of a line that it thinks is not over.
"""

from dataclasses import dataclass

from judge.games.types import Verdict
from judge.submissions.check.examinee import Examinee, Talk

BUSY_SHARE = 0.2
"""From this share of the waiting time on, used as CPU time, silence is work: a busy machine gives no more."""

FLUSH = (
    "flush stdout after every line: fflush(stdout) in C, std::cout << std::flush in C++, print(..., flush=True) in "
    "Python, System.out.flush() in Java; a pipe, unlike a terminal, is written only when the buffer is full"
)
_THINKS = "it thinks too long: read the limit that it is told, look at the clock often, and leave a reserve"
_WAITS = (
    "it used no CPU, so it waits for something: perhaps for another end of line (line_ending in agent.toml), for a "
    "command that the judge does not send, or in a sleep"
)

_MENDS = {
    Verdict.ILLEGAL: "see that every stone or piece that it is told of is on its board, and check an answer first",
    Verdict.FOUL: "the answer is forbidden by the policy's rule",
    Verdict.UNREADABLE: "write the answer as the protocol has it, on a line of its own, and nothing else on that line",
    Verdict.REFUSED: "answer it: the contest uses this command or this size, and who refuses has lost",
    Verdict.RESIGNED: "play on: who resigns here would lose a game that has just begun",
    Verdict.MEMORY: "use less memory: the cap holds for all that the process has, libraries and files in /tmp included",
    Verdict.OUTPUT: "print less: what a turn and a game may hold is limited (judge policies show)",
    Verdict.CRASH: "run it by hand with the lines of the record (judge match --box process), and mend the crash",
}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What happened, and how to mend it."""

    evidence: str
    mend: str


def diagnose(talk: Talk) -> Diagnosis:
    """Why the agent was at fault in `talk`; what it wrote to stderr last is quoted."""
    side = talk.side
    fault = side.fault
    if fault in (Verdict.START_TIME, Verdict.TURN_TIME, Verdict.MATCH_TIME):
        return _silence(talk)
    said = f"; its last line on stderr: {talk.complaint!r}" if talk.complaint else ""
    return Diagnosis(f"{side.why}{said}", "" if fault is None else mend_for(fault))


def mend_for(verdict: Verdict) -> str:
    """What helps against a verdict; empty where the table of checks knows better."""
    return _MENDS.get(verdict, "")


def look_again(examinee: Examinee, talk: Talk) -> Diagnosis:
    """The same, where a turn took too long: the question is put once more, alone, so that the CPU time is its own."""
    if talk.question is None or talk.side.fault is not Verdict.TURN_TIME:
        return diagnose(talk)
    again = examinee.asked([talk.question], talk.record.spec.policy)
    if again.side.fault is Verdict.TURN_TIME:
        return _silence(again)
    first = diagnose(talk)
    slowest = max(again.turns_ms, default=0.0)
    return Diagnosis(
        f"{first.evidence}; asked again in a new process it took {slowest:.0f} ms",
        f"{_THINKS}, in long conversations too",
    )


def _silence(talk: Talk) -> Diagnosis:
    evidence = talk.side.evidence
    why = talk.side.why
    if evidence is None or evidence.cpu_ms is None:
        return Diagnosis(f"{why}; this host cannot tell how much CPU it used", _THINKS)
    used = f"{why}; its CPU time was {evidence.cpu_ms} ms"
    if talk.last_asked:
        used += f"; the last line that it was sent was {talk.last_asked!r}"
    if talk.side.notes:
        used += f", and of what it said was {talk.side.notes[-1]}"
    if evidence.cpu_ms >= BUSY_SHARE * evidence.charged_ms:
        return Diagnosis(used, _THINKS)
    if talk.last_words.strip():
        late = talk.last_words[:60].decode("utf-8", "backslashreplace").strip()
        return Diagnosis(
            f"{used}, and when it was told to end it said {late!r}: it did not flush its output",
            FLUSH,
        )
    return Diagnosis(used, _WAITS)
