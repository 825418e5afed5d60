"""`judge doctor` and `judge selftest`: protections that this host cannot enforce, and attacks that test them."""

from __future__ import annotations

import dataclasses
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge.base.errors import HostError, InputError
from judge.base.text import printable
from judge.cli.options import JsonOption, PolicyOption, SetOption, number
from judge.terminal.output import make_table, note, print_json, print_notice

if TYPE_CHECKING:
    from judge.attacks.attack import Attack
    from judge.attacks.runner import Trial
    from judge.host.findings import HostFinding
    from judge.host.host import Host

WIDTH = 80
NAME_WIDTH = 9
INDENT = len("yellow") + 1 + NAME_WIDTH + 1
COLOURS = {"green": "green", "yellow": "yellow", "red": "bold red"}
"""Of lights, in ascending severity."""

PLAIN_WIDTH = 160
"""Columns of a table of attacks that is not for a terminal."""

EXAMPLES = {"doctor": "Example: judge doctor --json | jq .worst"}


def doctor(
    as_json: JsonOption = False,
    all_: Annotated[bool, typer.Option("--all", help="Also print passed checks.")] = False,
) -> None:
    """List the protections that this host cannot enforce, with fixes.

    Exit codes: 0 all findings are green or yellow; 1 a finding is red: this host cannot enforce a guarantee of the
    judge, or cannot play games.
    """
    from judge.host.doctor import run_checks, worst_light
    from judge.host.findings import Light
    from judge.host.host import read_host
    from judge.host.kernel_checks import NAMES

    host = read_host(NAMES)
    findings = run_checks(host)
    if as_json:
        print_json(
            {
                "host": {"name": host.name, "system": host.system, "kernel": host.kernel, "cores": len(host.cores)},
                "worst": worst_light(findings),
                "findings": [dataclasses.asdict(finding) for finding in findings],
            }
        )
    else:
        _print_findings(host, findings, with_green=all_)
    if worst_light(findings) is Light.RED:
        raise SystemExit(1)


def _print_findings(host: Host, findings: Sequence[HostFinding], *, with_green: bool) -> None:
    from rich.console import Console
    from rich.text import Text

    from judge.host.findings import Light

    console = Console(highlight=False, soft_wrap=True, file=sys.stdout)
    title = f"judge doctor: {printable(host.name)}, {printable(host.system)}, kernel {printable(host.kernel)}"
    for line in textwrap.wrap(title, WIDTH):
        console.print(Text(line))
    console.print()
    severity, counts = list(Light), Counter(finding.light for finding in findings)
    for finding in sorted(findings, key=lambda finding: -severity.index(finding.light)):
        if finding.light is Light.GREEN and not with_green:
            continue
        for at, line in enumerate(page(finding)):
            text = Text(line)
            if at == 0:
                text.stylize(COLOURS[finding.light], 0, len(finding.light))
            console.print(text)
    if len(findings) > counts[Light.GREEN]:
        console.print()
    if counts[Light.GREEN] and not with_green:
        console.print(Text(f"{counts[Light.GREEN]} checks passed (judge doctor --all prints them)"))
    console.print(Text(", ".join(f"{counts[light]} {light}" for light in Light)))


def page(finding: HostFinding) -> Iterator[str]:
    """Yield the lines of a finding, at most `WIDTH` columns each."""
    head = f"{finding.light:<6} {finding.check:<{NAME_WIDTH}} "
    yield from _wrapped(finding.says, head)
    if finding.fix:
        yield from _wrapped(f"fix: {finding.fix}", " " * INDENT)


def _wrapped(text: str, head: str) -> list[str]:
    return textwrap.wrap(printable(text, 1000), WIDTH, initial_indent=head, subsequent_indent=" " * INDENT)


def selftest(
    policy: PolicyOption = "gomocup-fastgame",
    quick: Annotated[bool, typer.Option("--quick", help="Skip slow attacks.")] = False,
    only: Annotated[str, typer.Option(help="Attacks to run: an id or group (A1, B), or a list such as A1,B,D16.")] = "",
    slower: Annotated[
        float, typer.Option(parser=number(1, 1000), help="Multiply all time limits by this factor, for a slow host.")
    ] = 1,
    set_: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Attack this host in games with the judge's own hostile programs, and report which defences worked.

    Exit codes: 0 every defence worked, 1 a defence or the host failed, 2 the command was wrong.
    """
    from judge.attacks.runner import BusyHostError, Suite
    from judge.contest.host_setup import make_ready, pair_alone
    from judge.record.policy import load_policy

    chosen = load_policy(policy, set_ or [])
    attacks = _chosen(only, quick)
    make_ready("docker", chosen, ["native"], print_notice)
    rows = []
    with pair_alone(print_notice) as (slot, pair), closing(Suite(chosen, slot, slower, pair)) as suite:
        for attack in attacks:
            if why := suite.obstacle(attack):
                note(f"skipped: {attack.id}: {why}")
                continue
            try:
                trial = suite.attack(attack)
            except BusyHostError as busy:
                rows.append(_row(attack, None, f"not tried: {busy}"))
                note(f"NOT OK: {attack.id}")
                continue
            rows.append(_row(attack, trial, trial.seen))
            note(f"{'ok' if trial.is_as_expected else 'NOT OK'}: {attack.id}, {trial.seconds:.1f} s")
    document = {
        "policy": chosen.name,
        "tried": sum("verdict" in row for row in rows),
        "held": sum(row["held"] for row in rows),
        "judge_late_ms": max((row["judge_late_ms"] for row in rows if "verdict" in row), default=0.0),
        "attacks": rows,
    }
    if as_json:
        print_json(document)
    else:
        _print_trials(document)
    broken = [row["id"] for row in rows if not row["held"]]
    if broken:
        raise HostError(f"{len(broken)} of {len(rows)} did not end as expected: {', '.join(broken)}")


def _chosen(only: str, quick: bool) -> Sequence[Attack]:
    from judge.attacks.table import ATTACKS

    wanted = [word.strip() for word in only.split(",") if word.strip()]
    for word in wanted:
        if not any(_is_meant(attack, word) for attack in ATTACKS):
            raise InputError(f"--only: there is no attack {word!r}; use an id such as A1 or a letter from A to V")
    return [
        attack
        for attack in ATTACKS
        if (attack.is_quick or not quick) and (not wanted or any(_is_meant(attack, word) for word in wanted))
    ]


def _is_meant(attack: Attack, word: str) -> bool:
    return word in (attack.id, attack.id.split(".")[0], attack.id[0])


def _row(attack: Attack, trial: Trial | None, seen: str) -> dict[str, Any]:
    is_as_expected = trial is not None and trial.is_as_expected
    row: dict[str, Any] = {
        "id": attack.id,
        "title": attack.title,
        "expected": str(attack.expected),
        "seen": seen,
        "held": is_as_expected,
        "meaning": "holds" if is_as_expected else attack.danger,
    }
    if trial is None:
        return row
    return row | {
        "verdict": trial.verdict,
        "reason": trial.reason,
        "seconds": round(trial.seconds, 3),
        "judge_late_ms": trial.late_ms,
        "judge_grown_bytes": trial.grown_bytes,
        "opponent_ms": trial.opponent_ms,
        "opponent_measured": trial.figures,
    }


def _print_trials(document: Mapping[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PLAIN_WIDTH)
    table = make_table(("attack", "what it does", "expected", "result", "late ms", "meaning"))
    for row in document["attacks"]:
        colour = "green" if row["held"] else "red"
        late = f"{row['judge_late_ms']:.1f}" if "verdict" in row else ""
        words = (row["id"], row["title"], row["expected"], printable(row["seen"], 400), late)
        table.add_row(*map(escape, words), f"[{colour}]{escape(row['meaning'])}[/]")
    console.print(table)
    ended, late_ms = f"{document['held']} of {len(document['attacks'])}", document["judge_late_ms"]
    console.print(f"{ended} ended as expected; the judge was at most {late_ms:.1f} ms late")
