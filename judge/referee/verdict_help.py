"""Meaning of each verdict, and advice for authors and organisers."""

from collections.abc import Mapping

from judge.base.text import sentence
from judge.games.types import Verdict

RULED: Mapping[Verdict, tuple[str, str]] = {
    Verdict.WIN: ("A player has won by the rules.", ""),
    Verdict.DRAW: ("The game is drawn by the rules, or it is over without a winner.", ""),
    Verdict.FOUL: (
        "A player made a move that loses by the rules, such as a forbidden move of renju.",
        sentence("Your program uses other rules than the contest."),
    ),
    Verdict.ILLEGAL: (
        "The answer is readable but not allowed: an occupied square, a wrong count, a piece that cannot go there.",
        sentence(
            "Compare the request and your reply in the record, and check your board after a restart or an opening."
        ),
    ),
    Verdict.UNREADABLE: (
        "The answer cannot be parsed: `8,8,1`, half a move, words after a move.",
        sentence("Print exactly the answers of the protocol, one per line, and nothing else on stdout."),
    ),
    Verdict.RESIGNED: ("The agent gave up with the protocol's word for it.", ""),
    Verdict.REFUSED: (
        "The agent answered a mandatory command, such as the start, with ERROR or UNKNOWN.",
        sentence("Support the board sizes, rules and commands of the contest; see its policy."),
    ),
}
"""(meaning, advice) of verdicts of the game or the protocol."""

FAULTS: Mapping[Verdict, str] = {
    Verdict.START_TIME: sentence("Answer the first command at once and load tables afterwards; see `clock.start_ms`."),
    Verdict.TURN_TIME: sentence(
        "Leave a margin, check the clock more often, and flush your output after every line, because the judge cannot "
        "see an answer in a buffer. See `clock.turn_ms` and `clock.tolerance_ms`. You are frozen after your answer: "
        "start no long system call that cannot be interrupted."
    ),
    Verdict.MATCH_TIME: sentence("Divide your time: INFO time_left gives the remaining time before each move."),
    Verdict.MEMORY: sentence(
        "All processes and threads, shared memory, and the files in the agent's folders count. Choose the size of "
        "tables by INFO max_memory and leave room. See `limits.memory_bytes`."
    ),
    Verdict.OUTPUT: sentence("Print less, and print debug output on stderr. See `[bytes]`."),
    Verdict.CRASH: sentence("The record's evidence has the exit code or signal, and stderr is stored for you."),
    Verdict.VOID: sentence(
        "The judge or its host is at fault: the game is not scored and is played again. Organisers: the reason "
        "includes the fix."
    ),
}


def fix_of(verdict: Verdict) -> str:
    """Return advice on a verdict, or ""."""
    return FAULTS.get(verdict) or RULED.get(verdict, ("", ""))[1]
