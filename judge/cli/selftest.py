"""`judge selftest`: attack this host and its services, and report which defences worked."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from judge.attacks.attack import Attack, Control
from judge.attacks.runner import BusyHostError, Suite, Trial, kernel_release
from judge.attacks.services import SERVICE_ATTACKS, ServiceAttack, ServiceControl, ServiceTrial, try_service
from judge.attacks.table import ATTACKS
from judge.base.errors import HostError, InputError
from judge.base.text import printable
from judge.cli.options import JsonOption, PolicyOption, SetOption, number
from judge.contest.host_setup import make_ready, pair_alone
from judge.referee.policy import load_policy
from judge.terminal.output import make_table, note, print_json, print_notice

AnyAttack = Attack | ServiceAttack

PLAIN_WIDTH = 160


@dataclass(frozen=True, slots=True)
class TrialLine:
    """The result of one attack or its control. `trial` is None if it could not be played; `why_not` has the reason."""

    attack: AnyAttack
    control: Control | ServiceControl | None
    trial: Trial | ServiceTrial | None
    why_not: str = ""

    @property
    def held(self) -> bool:
        """Whether it was played and ended as expected."""
        return self.trial is not None and self.trial.held

    @property
    def expected(self) -> str:
        """The expected result in words."""
        return str(self.attack.expected if self.control is None else self.control.expected)

    @property
    def seen(self) -> str:
        """The result in words."""
        return f"not tried: {self.why_not}" if self.trial is None else self.trial.seen

    @property
    def meaning(self) -> str:
        """The consequence for a contest."""
        if self.control is not None:
            return "the attack works with the defence off" if self.held else "the attack proves nothing here"
        return "holds" if self.held else self.attack.danger


def selftest(
    policy: PolicyOption = "gomocup-fastgame",
    quick: Annotated[bool, typer.Option("--quick", help="Skip slow attacks.")] = False,
    only: Annotated[
        str,
        typer.Option(help="Attacks to run: an id or group (A1, B), a list such as A1,B,D16, agents, or services."),
    ] = "",
    controls: Annotated[
        bool, typer.Option("--controls", help="Also run each attack with its defence off; it must then succeed.")
    ] = False,
    slower: Annotated[
        float, typer.Option(parser=number(1, 1000), help="Multiply all time limits by this factor, for a slow host.")
    ] = 1,
    set_: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Attack this host with the judge's own hostile programs, and report which defences worked.

    Programs attack in games. Clients and workers attack a judge serve and a judge scheduler that are started on free
    ports of this machine.

    Exit codes: 0 every defence worked, 1 a defence or the host failed, 2 the command was wrong.
    """
    chosen = load_policy(policy, set_ or [])
    attacks = _chosen(only, quick)
    games = [attack for attack in attacks if isinstance(attack, Attack)]
    services = [attack for attack in attacks if isinstance(attack, ServiceAttack) and not _lacks(attack)]
    needed = {attack.image for attack in services if attack.image} | ({"native"} if games else set())
    if needed:
        make_ready("docker", chosen, sorted(needed), print_notice)
    lines = []
    with ExitStack() as stack:
        tried = []
        if games:
            slot, pair = stack.enter_context(pair_alone(print_notice))
            suite = stack.enter_context(closing(Suite(chosen, slot, slower, pair)))
            possible = [attack for attack in games if pair or not attack.ponders]
            for attack in games:
                if attack not in possible:
                    note(f"skipped: {attack.id}: pondering needs two cores")
            tried.append(_tried(suite, possible, controls))
        for line in chain(*tried, _tried_services(services, controls)):
            lines.append(line)
            kind = "control of " if line.control else ""
            took = f", {line.trial.seconds:.1f} s" if line.trial else ""
            note(f"{'ok' if line.held else 'NOT OK'}: {kind}{line.attack.id}{took}")
    if as_json:
        print_json(_document(chosen.name, lines))
    else:
        _show(lines)
    broken = [line.attack.id for line in lines if not line.held]
    if broken:
        raise HostError(f"{len(broken)} of {len(lines)} did not end as expected: {', '.join(broken)}")


def _chosen(only: str, quick: bool) -> Sequence[AnyAttack]:
    attacks: Sequence[AnyAttack] = (*ATTACKS, *SERVICE_ATTACKS)
    wanted = [word.strip() for word in only.split(",") if word.strip()]
    for word in wanted:
        if not any(_is_meant(attack, word) for attack in attacks):
            raise InputError(
                f"--only: there is no attack {word!r}; use an id such as A1, a letter from A to W, agents or services"
            )
    return [
        attack
        for attack in attacks
        if (attack.is_quick or not quick) and (not wanted or any(_is_meant(attack, word) for word in wanted))
    ]


def _is_meant(attack: AnyAttack, word: str) -> bool:
    kind = "agents" if isinstance(attack, Attack) else "services"
    return word in (attack.id, attack.id.split(".")[0], attack.id[0], kind)


def _lacks(attack: ServiceAttack) -> bool:
    if attack.lacks:
        note(f"skipped: {attack.id}: {attack.lacks} is not installed")
    return bool(attack.lacks)


def _tried(suite: Suite, attacks: Sequence[Attack], controls: bool) -> Iterator[TrialLine]:
    for attack in attacks:
        yield _line(attack, None, suite.attack)
        control = attack.control
        if not controls or isinstance(control, str):
            continue
        if kernel_release() < control.since_linux:
            major, minor = control.since_linux
            note(f"skipped: control of {attack.id}: the attack needs Linux {major}.{minor}")
            continue
        yield _line(attack, control, suite.control)


def _line(attack: Attack, control: Control | None, play: Callable[[Attack], Trial]) -> TrialLine:
    try:
        return TrialLine(attack, control, play(attack))
    except BusyHostError as busy:
        return TrialLine(attack, control, None, str(busy))


def _tried_services(attacks: Sequence[ServiceAttack], controls: bool) -> Iterator[TrialLine]:
    for attack in attacks:
        for control in (None, attack.control) if controls else (None,):
            try:
                yield TrialLine(attack, control, try_service(attack, control))
            except HostError as error:
                yield TrialLine(attack, control, None, str(error))


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
                "defence_off": None if line.control is None else line.control.off,
                "expected": line.expected,
                "seen": line.seen,
                "held": line.held,
                "meaning": line.meaning,
                **_figures(line.trial),
            }
            for line in lines
        ],
    }


def _latest(lines: Sequence[TrialLine]) -> float:
    return max((line.trial.late_ms for line in lines if isinstance(line.trial, Trial)), default=0.0)


def _figures(trial: Trial | ServiceTrial | None) -> dict[str, Any]:
    if trial is None:
        return {}
    if isinstance(trial, ServiceTrial):
        return {"seconds": round(trial.seconds, 3)}
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
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PLAIN_WIDTH)
    table = make_table(("attack", "what it does", "expected", "result", "late ms", "meaning"))
    for line in lines:
        colour = "green" if line.held else "red"
        name = line.attack.id + (" control" if line.control else "")
        title = f"{line.attack.title}; off: {line.control.off}" if line.control else line.attack.title
        late = f"{line.trial.late_ms:.1f}" if isinstance(line.trial, Trial) else ""
        words = (name, title, line.expected, printable(line.seen, 400), late)
        table.add_row(*map(escape, words), f"[{colour}]{escape(line.meaning)}[/]")
    console.print(table)
    held = sum(line.held for line in lines)
    console.print(f"{held} of {len(lines)} ended as expected; the judge was at most {_latest(lines):.1f} ms late")
