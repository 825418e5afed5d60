"""`judge verdicts`: what each verdict means, from the blame table itself; docs/verdicts.md is what it prints."""

from collections.abc import Iterator, Mapping

from judge.games.types import Verdict
from judge.referee.blame import TABLE, BlameRow

RULED: Mapping[Verdict, tuple[str, str]] = {
    Verdict.WIN: ("The rules: a seat has won.", ""),
    Verdict.DRAW: ("The rules: nobody has won, and nobody can or the game is over.", ""),
    Verdict.FOUL: (
        "The rules: a seat did what the rules forbid and count as a loss, such as a forbidden move of renju.",
        "Your program plays a move that it may not play; its rules differ from the contest's.",
    ),
    Verdict.ILLEGAL: (
        "The answer could be read and is not allowed: an occupied square, a wrong count, a piece that cannot go there.",
        "Look at the request and your reply in the record, and at what you do after a restart or an opening.",
    ),
    Verdict.UNREADABLE: (
        "The answer was meant as one and cannot be read: `8,8,1`, half a move, words behind it.",
        "Print exactly what the protocol says, one answer a line, and nothing else on stdout.",
    ),
    Verdict.RESIGNED: ("The agent gave up, where its protocol has a word for it.", ""),
    Verdict.REFUSED: (
        "The agent said that it cannot do what a mandatory command asks (ERROR or UNKNOWN), also to start.",
        "Support the board sizes, rules and commands of the contest; see its policy.",
    ),
}
"""Verdicts that the game or the protocol gives: what each means, and what an author can do."""

FAULTS: Mapping[Verdict, str] = {
    Verdict.START_TIME: "Answer the first command at once and load tables afterwards; see `clock.start_ms`.",
    Verdict.TURN_TIME: (
        "Leave a margin, look at the clock more often, and flush your output after every line: an answer in a "
        "buffer is no answer. See `clock.turn_ms` and `clock.tolerance_ms`. When you have answered you are stopped: "
        "leave no call behind your answer that takes long and cannot be interrupted (`clock.still_ms`)."
    ),
    Verdict.MATCH_TIME: "Spread your time: INFO time_left says before each move what is left.",
    Verdict.MEMORY: (
        "Everything counts: all processes and threads, shared memory, and the files in the agent's folders. Size "
        "tables by INFO max_memory and leave room. See `limits.memory_bytes`."
    ),
    Verdict.OUTPUT: "Print less; what is meant for you alone belongs on stderr. See `[bytes]`.",
    Verdict.CRASH: "The record's evidence has the exit code or signal, and stderr is kept for you.",
    Verdict.VOID: (
        "Nobody's fault but the judge's or its host's: nothing is scored, and the game is played again. "
        "Organisers: the reason says what to fix."
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
        "One word says how a game ended. This page is made from the table that decides: `judge verdicts "
        "> docs/verdicts.md`."
    )
    yield ""
    yield "## By the rules of the game and the words of the protocol"
    yield ""
    for verdict, (meaning, fix) in RULED.items():
        yield f"- **{verdict.value}**. {meaning} {fix}".rstrip()
    yield ""
    yield "## By the blame table"
    yield ""
    yield (
        "What the kernel, the judge's own process in the container and the Engine say decides, never the agent. The "
        "rows are tried from the top, and the first that fits gives the verdict: memory goes before output, output "
        "before time, time before a crash."
    )
    yield ""
    yield "| verdict | when | the record then says, for example |"
    yield "|---|---|---|"
    for row in TABLE:
        yield f"| **{row.verdict.value}** | {row.when} | {_example(row)} |"
    yield ""
    for verdict, fix in FAULTS.items():
        yield f"- **{verdict.value}**. {fix}"


def _example(row: BlameRow) -> str:
    return row.because(row.example).replace("|", "\\|")
