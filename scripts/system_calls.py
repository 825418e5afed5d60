#!/usr/bin/env python3
"""Make docs/system-calls.md from the profiles in policies/seccomp and the reasons in docs/system-calls.toml."""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judge.host.kernel_checks import KINDS, LIMITS
from judge.sandbox.docker import seccomp
from judge.sandbox.docker.hardening import MASKED_WHY
from judge.sandbox.docker.seccomp import CallRule, Profile

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, REASONS = DOCS / "system-calls.md", DOCS / "system-calls.toml"
BASE = "native"

HEAD = """\
# What an agent reaches of the kernel

`.venv/bin/python scripts/system_calls.py` makes this page from `policies/seccomp`, `docs/system-calls.toml` and the
code. It lists what the seccomp profiles admit, with the reason and the bound of the kernel's objects behind each call,
and what else of the kernel an agent reaches. Every other call is denied. `K1` and similar names are attacks of
`judge selftest`.
"""


def load_reasons() -> dict[str, Any]:
    """The reasons as docs/system-calls.toml has them."""
    return tomllib.loads(REASONS.read_text(encoding="utf-8"))


def page() -> str:
    """The text of docs/system-calls.md."""
    reasons = load_reasons()
    parts = [HEAD]
    for name in (BASE, *(other for other in seccomp.profile_names() if other != BASE)):
        profile, base = seccomp.load_profile(name), seccomp.load_profile(BASE) if name != BASE else Profile()
        title = f"## Profile `{name}`\n\n{profile.about}." + ("" if name == BASE else f" Beyond `{BASE}`:")
        parts.append(f"{title}\n\n" + _table(("calls", "arguments", "reason", "bound"), _calls(profile, base, reasons)))
        skipped = [
            (_code(rule.calls), _arguments(rule), reasons["skip"][part]["reason"])
            for part, rule in profile.skip.items()
            if rule != base.skip.get(part)
        ]
        parts.append("Answered with success, and not made:\n\n" + _table(("calls", "arguments", "reason"), skipped))
        missing = sorted(set(profile.missing) - set(base.missing))
        if missing:
            parts.append(f"Denied with ENOSYS, so that libraries fall back: {_code(missing)}.\n")
    rows: list[tuple[str, ...]]
    rows = [(one["object"], one["decision"], one["why"], _attacks(one)) for one in reasons["later"]]
    parts.append("## Objects with work that happens later\n\n" + _table(("object", "decision", "why", "attacks"), rows))
    rows = [(one["what"], one["charged"], one["bound"], _attacks(one)) for one in reasons["memory"]]
    parts.append("## Memory of the kernel\n\n" + _table(("what", "charged to the box", "bound", "attacks"), rows))
    rows = [(f"`{limit.name}`", KINDS[limit.kind], limit.why) for limit in LIMITS]
    parts.append(
        "## Limits of the whole host\n\n`judge doctor` shows their numbers.\n\n" + _table(("limit", "", "why"), rows)
    )
    rows = [(one["what"], one["moved_by"], one["rate"]) for one in reasons["numbers"]]
    parts.append(
        "## Numbers that differ between boxes\n\nWhere other boxes move a number, agents can send messages by it.\n\n"
        + _table(("what", "moved by", "rate"), rows)
    )
    rows = [
        (_code(one["calls"]), one["answer"].replace("0", "done"), one["by"], one["why"]) for one in reasons["first"]
    ]
    parts.append(
        "## Calls that name another process\n\n"
        "The answer when an agent names PID 1 of its box. A suffix is a variant.\n"
        "*User*: the kernel refuses it because PID 1 is another user with more rights. *Filter*: the profile.\n\n"
        + _table(("calls", "answer", "by", "why"), rows)
    )
    rows = [(one["path"], one["reason"]) for one in reasons["files"]]
    parts.append("## Files of the kernel\n\nReadable:\n\n" + _table(("path", "why"), rows))
    rows = [(_code(paths), why) for why, paths in MASKED_WHY.items()]
    rows.append(
        ("`/sys/devices/*` but `/sys/devices/system/cpu`", "show temperatures, and what disks and interfaces do")
    )
    parts.append("Masked; `/proc` is read-only:\n\n" + _table(("path", "why"), rows))
    return "\n".join(parts)


def _calls(profile: Profile, base: Profile, reasons: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for part, calls in profile.allow.items():
        entry = reasons["allow"][part]
        bounds = entry.get("calls", {})
        new = [call for call in calls if call not in base.allow.get(part, ())]
        if rest := [call for call in new if call not in bounds]:
            yield _code(rest), "any", entry["reason"], entry["bound"]
        for call in new:
            if call in bounds:
                yield _code([call]), "any", entry["reason"], bounds[call]
    for part, rule in profile.only.items():
        if rule != base.only.get(part):
            yield _code(rule.calls), _arguments(rule), reasons["only"][part]["reason"], reasons["only"][part]["bound"]


def _arguments(rule: CallRule) -> str:
    conditions = [f"argument {number} is {value:#x}" for number, value in rule.where.items()]
    if rule.without is not None:
        conditions.append(f"argument {rule.argument} without {rule.without:#x}")
    if rule.but is not None:
        conditions.append(f"argument {rule.argument} but with {rule.but.value:#x} in the bits {rule.but.mask:#x}")
    if rule.values:
        values = ", ".join(f"{name} ({value:#x})" for name, value in rule.values.items())
        conditions.append(f"argument {rule.argument}: {values}")
    return "; ".join(conditions) or "any"


def _code(names: Any) -> str:
    return " ".join(f"`{name}`" for name in names)


def _attacks(entry: dict[str, Any]) -> str:
    return _code(entry.get("attacks", ()))


def _table(head: tuple[str, ...], rows: Any) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
