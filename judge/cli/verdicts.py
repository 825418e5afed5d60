"""`judge verdicts`: the meaning of each verdict, from the blame table. Generates docs/verdicts.md."""

from collections.abc import Iterator

from judge.referee.blame import TABLE
from judge.referee.verdict_help import FAULTS, RULED


def verdicts() -> None:
    """Explain every verdict: when it is given, by whom, and what an author can do."""
    print("\n".join(reference()))


def reference() -> Iterator[str]:
    """Yield the lines of docs/verdicts.md."""
    yield "# Verdicts"
    yield ""
    yield (
        "The verdict states in one word how a game ended. *Box* means the container of an agent. An organiser can also "
        "void a game: `judge contest void`. `judge contest log` prints the reason of each void game. `judge show "
        "RECORD --evidence` prints the evidence for the end of a game."
    )
    yield ""
    yield "## Decided by the game or the protocol"
    yield ""
    for verdict, (meaning, fix) in RULED.items():
        yield f"- **{verdict.value}**. {meaning} {fix}".rstrip()
    yield ""
    yield "## Failures and their causes"
    yield ""
    yield (
        "The evidence comes from the kernel, the judge's own process in the container and the Engine, never from the "
        "agent. The first row that matches gives the verdict. A failure of the Engine, the host or the judge takes "
        "precedence over memory, memory over output, output over time, and time over a crash. A late agent does not "
        "lose if a row above its time verdict shows that the host delayed it: the game is void."
    )
    yield ""
    yield "| verdict | when | example of the reason in the record |"
    yield "|---|---|---|"
    for row in TABLE:
        example = row.because(row.example).replace("|", "\\|")
        yield f"| **{row.verdict.value}** | {row.when} | {example} |"
    yield ""
    for verdict, fix in FAULTS.items():
        yield f"- **{verdict.value}**. {fix}"
    yield ""
    yield "For maintainers: `judge verdicts > docs/verdicts.md` writes this page from the table that decides."
