"""`judge doctor`: protections that this host can and cannot enforce."""

from __future__ import annotations

import dataclasses
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.text import printable
from judge.cli.options import JsonOption
from judge.terminal.output import print_json

if TYPE_CHECKING:
    from judge.host.findings import HostFinding
    from judge.host.host import Host

WIDTH = 80
NAME_WIDTH = 9
INDENT = len("yellow") + 1 + NAME_WIDTH + 1
COLOURS = {"green": "green", "yellow": "yellow", "red": "bold red"}
"""Of lights, in ascending severity."""

EXAMPLES = "Example: judge doctor --json | jq .worst"


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
        _print(host, findings, with_green=all_)
    if worst_light(findings) is Light.RED:
        raise SystemExit(1)


def _print(host: Host, findings: Sequence[HostFinding], *, with_green: bool) -> None:
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
        for number, line in enumerate(page(finding)):
            text = Text(line)
            if number == 0:
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
