"""`judge verdicts`: the meaning of each verdict, from the blame table. docs/verdicts.md is its output."""

from collections.abc import Iterator, Mapping

from judge.games.types import Verdict
from judge.referee.blame import TABLE, BlameRow

RULED: Mapping[Verdict, tuple[str, str]] = {
    Verdict.WIN: ("A player has won by the rules.", ""),
    Verdict.DRAW: ("The game is drawn by the rules, or it is over and nobody has won.", ""),
    Verdict.FOUL: (
        "A player made a move that loses by the rules, such as a forbidden move of renju.",
        "Your program uses other rules than the contest.",
    ),
    Verdict.ILLEGAL: (
        "The answer is readable but not allowed: an occupied square, a wrong count, a piece that cannot go there.",
        "Compare the request and your reply in the record, and check your board after a restart or an opening.",
    ),
    Verdict.UNREADABLE: (
        "The answer cannot be parsed: `8,8,1`, half a move, words after a move.",
        "Print exactly what the protocol says, one answer a line, and nothing else on stdout.",
    ),
    Verdict.RESIGNED: ("The agent gave up, in a protocol that has a word for it.", ""),
    Verdict.REFUSED: (
        "The agent answered a mandatory command, such as the start, with ERROR or UNKNOWN.",
        "Support the board sizes, rules and commands of the contest; see its policy.",
    ),
}
"""Verdicts that the game or the protocol gives: what each means, and what an author can do."""

FAULTS: Mapping[Verdict, str] = {
    Verdict.START_TIME: "Answer the first command at once and load tables afterwards; see `clock.start_ms`.",
    Verdict.TURN_TIME: (
        "Leave a margin, check the clock more often, and flush your output after every line, because the judge cannot "
        "see an answer in a buffer. See `clock.turn_ms` and `clock.tolerance_ms`. You are frozen after your answer: "
        "start no long system call that cannot be interrupted (`clock.still_ms`)."
    ),
    Verdict.MATCH_TIME: "Divide your time: INFO time_left gives the remaining time before each move.",
    Verdict.MEMORY: (
        "All processes and threads, shared memory, and the files in the agent's folders count. Choose the size of "
        "tables by INFO max_memory and leave room. See `limits.memory_bytes`."
    ),
    Verdict.OUTPUT: "Print less, and print debug output on stderr. See `[bytes]`.",
    Verdict.CRASH: "The record's evidence has the exit code or signal, and stderr is stored for you.",
    Verdict.VOID: (
        "The judge or its host is at fault: the game is not scored and is played again. Organisers: the reason says "
        "what to fix."
    ),
}
"""Verdicts that the blame table gives: what an author can do."""


def verdicts() -> None:
    """Explain every verdict: when it is given, by whom, and what an author can do."""
    print("\n".join(reference()))


def reference() -> Iterator[str]:
    """The lines of docs/verdicts.md."""
    yield "# Verdicts"
    yield ""
    yield (
        "The verdict says in one word how a game ended. This page is generated from the table that decides: "
        "`judge verdicts > docs/verdicts.md`."
    )
    yield ""
    yield "## Decided by the game or the protocol"
    yield ""
    for verdict, (meaning, fix) in RULED.items():
        yield f"- **{verdict.value}**. {meaning} {fix}".rstrip()
    yield ""
    yield "## Decided by the blame table"
    yield ""
    yield (
        "The evidence comes from the kernel, the judge's own process in the container and the Engine, never from the "
        "agent. The first row that matches gives the verdict: memory takes precedence over output, output over time, "
        "time over a crash."
    )
    yield ""
    yield "| verdict | when | example of the reason in the record |"
    yield "|---|---|---|"
    for row in TABLE:
        yield f"| **{row.verdict.value}** | {row.when} | {_example(row)} |"
    yield ""
    for verdict, fix in FAULTS.items():
        yield f"- **{verdict.value}**. {fix}"


def _example(row: BlameRow) -> str:
    return row.because(row.example).replace("|", "\\|")
