"""`judge selftest`: attack this host, and report which defences worked."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge.base.errors import HostError, InputError
from judge.base.text import printable
from judge.cli.options import JsonOption, PolicyOption, SetOption, number
from judge.terminal.output import make_table, note, print_json, print_notice

if TYPE_CHECKING:
    from judge.attacks.attack import Attack
    from judge.attacks.runner import Trial

PLAIN_WIDTH = 160


@dataclass(frozen=True, slots=True)
class TrialLine:
    """The result of an attack. `trial` is None if it could not be played; `why_not` has the reason."""

    attack: Attack
    trial: Trial | None
    why_not: str = ""

    @property
    def held(self) -> bool:
        """Whether it was played and ended as expected."""
        return self.trial is not None and self.trial.held

    @property
    def seen(self) -> str:
        """The result in words."""
        return f"not tried: {self.why_not}" if self.trial is None else self.trial.seen

    @property
    def meaning(self) -> str:
        """The consequence for a contest."""
        return "holds" if self.held else self.attack.danger


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
    lines = []
    with pair_alone(print_notice) as (slot, pair), closing(Suite(chosen, slot, slower, pair)) as suite:
        for attack in attacks:
            if why := suite.obstacle(attack):
                note(f"skipped: {attack.id}: {why}")
                continue
            try:
                line = TrialLine(attack, suite.attack(attack))
            except BusyHostError as busy:
                line = TrialLine(attack, None, str(busy))
            lines.append(line)
            took = f", {line.trial.seconds:.1f} s" if line.trial else ""
            note(f"{'ok' if line.held else 'NOT OK'}: {attack.id}{took}")
    if as_json:
        print_json(_document(chosen.name, lines))
    else:
        _show(lines)
    broken = [line.attack.id for line in lines if not line.held]
    if broken:
        raise HostError(f"{len(broken)} of {len(lines)} did not end as expected: {', '.join(broken)}")


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


def _document(policy: str, lines: Sequence[TrialLine]) -> dict[str, Any]:
    return {
        "policy": policy,
        "tried": sum(line.trial is not None for line in lines),
        "held": sum(line.held for line in lines),
        "judge_late_ms": _latest(lines),
        "attacks": [
            {
                "id": line.attack.id,
                "title": line.attack.title,
                "expected": str(line.attack.expected),
                "seen": line.seen,
                "held": line.held,
                "meaning": line.meaning,
                **_figures(line.trial),
            }
            for line in lines
        ],
    }


def _latest(lines: Sequence[TrialLine]) -> float:
    return max((line.trial.late_ms for line in lines if line.trial), default=0.0)


def _figures(trial: Trial | None) -> dict[str, Any]:
    if trial is None:
        return {}
    return {
        "verdict": trial.verdict,
        "reason": trial.reason,
        "seconds": round(trial.seconds, 3),
        "judge_late_ms": trial.late_ms,
        "judge_grown_bytes": trial.grown_bytes,
        "opponent_ms": trial.opponent_ms,
        "opponent_measured": trial.figures,
    }


def _show(lines: Sequence[TrialLine]) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PLAIN_WIDTH)
    table = make_table(("attack", "what it does", "expected", "result", "late ms", "meaning"))
    for line in lines:
        colour = "green" if line.held else "red"
        late = f"{line.trial.late_ms:.1f}" if line.trial else ""
        words = (line.attack.id, line.attack.title, str(line.attack.expected), printable(line.seen, 400), late)
        table.add_row(*map(escape, words), f"[{colour}]{escape(line.meaning)}[/]")
    console.print(table)
    held = sum(line.held for line in lines)
    console.print(f"{held} of {len(lines)} ended as expected; the judge was at most {_latest(lines):.1f} ms late")
