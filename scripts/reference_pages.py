#!/usr/bin/env python3
"""Write docs/policies.md and docs/contest-file.md from the pydantic models and their attribute docstrings, and the
diagram of a seat's states in docs/architecture.md from its table.

Run `python scripts/reference_pages.py` after a change of a model, docstring, policy or table.
"""

import ast
import inspect
import json
import re
import textwrap
import types
import typing
from collections.abc import Iterator, Mapping
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from annotated_types import Ge, Gt, Le, Lt, MaxLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from judge.contest.plan import AgentPlan, Plan, WitnessPlan
from judge.games.gomoku.options import GomokuOptions
from judge.protocols.gomocup_words import GomocupOptions
from judge.record.policy import Policy, load_policy, policy_names, variants_of
from judge.referee.side import TRANSITIONS, SeatState
from judge.tournament.formats import FORMATS
from judge.tournament.standings import CRITERIA

DOCS = Path(__file__).resolve().parents[1] / "docs"

EXAMPLES: Mapping[str, str] = {
    "about": '"Autumn cup"',
    "admits": '["native", "python", "numpy"]',
    "agents.name": '"engine-one"',
    "agents.path": '"./one"',
    "change": '["clock.turn_ms=1000"]',
    "cup.announcement": f'"{"0" * 64}"',
    "cup.name": '"spring"',
    "clock.control": '"60+0.6"',
    "contest.resumes": "2027-03-03T14:00:00+01:00",
    "contest.starts": "2027-03-02T18:00:00+01:00",
    "freeze.at": "2027-03-02T21:00:00+01:00",
    "freeze.last_rounds": "2",
    "freeze.reveal_at": "2027-03-02T23:00:00+01:00",
    "folders.from": '"../last-cup"',
    "format.ends": "2027-01-31T18:00:00+01:00",
    "format.ratings.NAME.deviation": "60",
    "format.ratings.NAME.rating": "1850",
    "format.rounds": "7",
    "format.seats.down": "4",
    "format.seats.previous": '"../cup-2025"',
    "format.skip.above": '"../freestyle-1-2026"',
    "format.skip.agents.NAME.rating": "1850",
    "format.skip.agents.NAME.reason": '"new openings"',
    "format.skip.groups": '["2"]',
    "format.skip.ratings": '"ratings.csv"',
    "game.name": '"gomoku"',
    "game.options": '{ width = 15, height = 15, rule = "renju" }',
    "game.options.draw_at": "200",
    "game.options.geometry": '"renju"',
    "game.options.height": "15",
    "game.options.opening": "[[7, 7], [8, 6]]",
    "game.options.other_sizes": "[15, 20]",
    "game.options.width": "15",
    "game.protocol": '"gomocup"',
    "intake.notices.password_file": '"smtp.password"',
    "intake.notices.permit": '["10.1.2.0/24"]',
    "intake.notices.refuse": '["10.9.0.0/16"]',
    "intake.notices.site": '"https://example.org/cup/"',
    "intake.notices.smtp": '"mail.example.org:587"',
    "intake.notices.user": '"cup"',
    "name": '"cup"',
    "openings.file": '"openings.txt"',
    "points": "{ win = [1, 0], draw = [0.5, 0.5] }",
    "policy": '"gomocup-freestyle:fast"',
    "protocol.gomocup.info": "{ max_depth = 8 }",
    "ratings.anchors": "{ house-strong = 1500.0 }",
    "ratings.from": '"../last-season"',
    "ratings.with": '["../last-cup"]',
    "runtimes": '{ fortran = "local/fortran:1" }',
    "box.runtime": '"runsc"',
    "box.seccomp_of": '{ "local/wine:1" = "wine32" }',
    "seed": "7",
    "clocks": '{ engine-one = "40/600:20" }',
    "seeds": '["engine-one", "engine-two"]',
    "submissions.closes": "2027-03-01T18:00:00+01:00",
    "submissions.opens": "2027-02-01T18:00:00+01:00",
    "witnesses.key": '"NAME+ID+KEY"',
    "witnesses.url": '"https://witness.example.org"',
    "zone": '"Europe/Prague"',
}
"""Values for keys whose default shows nothing, by dotted key."""

CRITERION_NOTES: Mapping[str, str] = {
    "direct": "Applies only if all the tied agents have met each other.",
    "elo": "Almost the same as `rating`, but agents share a place only if they are exactly equal. Prefer `rating`.",
    "sonneborn-berger": "A bye counts as a win against an opponent with the agent's own points.",
    "buchholz": "A bye counts as an opponent with the agent's own points.",
    "rating": "See [ratings](organise/publish.md#ratings-by-bayeselo). Less than 0.01 apart is equal.",
    "ratio": "With wins and without losses an agent ranks above all that lost; with neither its ratio is 1.",
    "time": "The average of all answers; less time is better. Applies only if all the tied agents have answered.",
}
"""What a criterion's message leaves out."""

POLICIES_HEAD = """\
# Policies

A policy is one TOML file. It contains the game, the clocks and the limits of a contest. `judge policies` prints
policies, and with `--diff` differences. Append a variant to the name: `gomocup-freestyle:finals`. Change single keys
with `--set section.key=value`. Unknown keys are errors. To make a policy, copy one with `--copy FILE` and pass
its path.

Agents of different protocols can play each other if both protocols support the game. A Gomocup brain plays an
[AGI](agi.md) engine under `renju-15`. [verdicts.md](verdicts.md) explains every verdict.

A policy lists the runtimes that it admits. `judge images build NAME --from runtime.toml` builds another runtime
from a list of packages and wheels. `[runtimes]` gives a name to a local image. The judge adds its PID 1 to a copy
of that image.
"""

CONTEST_HEAD = """\
# The contest file

`contest.toml` describes a contest. `judge contest init` writes a first one. `judge contest plan` reports mistakes
with their line. Paths are relative to the directory of the file. Unknown keys are errors.
"""

FOOT = """

For maintainers: `.venv/bin/python scripts/reference_pages.py` writes this page from the code.
"""

TIE_BREAKS = """\
## Places and tie-breaks

In `groups`, `leagues` and `knockout` an agent's place depends on the last group, league or stage that it reached,
and on its results there. The points in the table are of all games.

`ranking` in `[format]` lists criteria. Each criterion compares agents that are equal in all criteria before it.
Agents that are equal in all of them share a place. To change the order, remove the `#` of the line `ranking` and
edit it before the first `judge contest run`, which fixes it.

```toml
[format]
name = "round-robin"
ranking = ["points", "direct", "sonneborn-berger"]
```
"""


def main() -> None:
    """Write the pages."""
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """The pages by file name."""
    return {"policies.md": policies_page(), "contest-file.md": contest_page(), "architecture.md": architecture_page()}


def architecture_page() -> str:
    """The page with the present diagram of a seat's states."""
    rows = TRANSITIONS.items()
    arrows = [f"    {before} --> {after}: {event}" for before, row in rows for after, event in row.items()]
    diagram = "\n".join(["stateDiagram-v2", f"    [*] --> {SeatState.UNOPENED}", *arrows])
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    return re.sub(r"(?<=```mermaid\n)stateDiagram.*?(?=\n```)", diagram, text, flags=re.DOTALL)


def policies_page() -> str:
    """All policies and keys of a policy file."""
    parts = [POLICIES_HEAD, "## Policies of the judge\n", "| policy | description | variants |", "|---|---|---|"]
    for name in policy_names():
        variants = " ".join(f"`:{variant}`" for variant in variants_of(name))
        parts.append(f"| `{name}` | {_cell(load_policy(name).about)} | {variants} |")
    parts += ["", "## Keys", "", *_tables(Policy, "")]
    parts += ["### `[game.options]` for five in a row", "", *_table(GomokuOptions, "game.options")]
    parts += ["### `[protocol.gomocup]`", "", *_table(GomocupOptions, "protocol.gomocup")]
    return "\n".join(parts).rstrip() + FOOT


def contest_page() -> str:
    """Formats, tie-breaks and keys of a contest file."""
    parts = [CONTEST_HEAD, "## Formats\n", "`[format]` needs `name`; the other keys depend on the format.\n"]
    parts += ["| format | description |", "|---|---|"]
    parts += [f"| `{name}` | {_cell(inspect.getdoc(form) or '')} |" for name, form in FORMATS.items()]
    sections: dict[str, type[BaseModel]] = {}
    for name, form in FORMATS.items():
        format_sections = {
            _heading(f"format.{key}", field): section
            for key, field in form.model_fields.items()
            if (section := _section(field))
        }
        links = ", ".join(f"[`[{each}]`](#{each.replace('.', '').lower()})" for each in format_sections)
        parts += ["", f"### Keys of `{name}`", "", *_table(form, "format"), *([f"Also: {links}", ""] if links else [])]
        sections |= format_sections
    for heading, section in sections.items():
        parts += _tables(section, heading)
    parts += [TIE_BREAKS, "| criterion | meaning |", "|---|---|"]
    for name, criterion in CRITERIA.items():
        parts.append(
            f"| `{name}` | {' '.join((f'{_cell(criterion.meaning)}.', CRITERION_NOTES.get(name, ''))).strip()} |"
        )
    parts += ["", "## Keys", "", *_tables(Plan, "", without=("format",))]
    parts += ["### `[[agents]]`", "", *_table(AgentPlan, "agents")]
    parts += ["### `[[witnesses]]`", "", *_table(WitnessPlan, "witnesses")]
    return "\n".join(parts).rstrip() + FOOT


def _tables(model: type[BaseModel], prefix: str, without: tuple[str, ...] = ()) -> Iterator[str]:
    """The table of a model, then those of its sections."""
    yield f"### `[{prefix}]`" if prefix else "### Top level"
    yield ""
    if prefix:
        yield f"{_cell(inspect.getdoc(model) or '')}\n"
    yield from _table(model, prefix, without)
    for key, field in model.model_fields.items():
        section = _section(field)
        if section and key not in without:
            yield from _tables(section, _heading(f"{prefix}.{_name(key, field)}".lstrip("."), field))


def _heading(dotted: str, field: FieldInfo) -> str:
    """The name of a table; a table for each agent ends with NAME."""
    return f"{dotted}.NAME" if typing.get_origin(field.annotation) is Mapping else dotted


def _table(model: type[BaseModel], prefix: str, without: tuple[str, ...] = ()) -> Iterator[str]:
    descriptions = attribute_docstrings(model)
    yield "| key | type | default | description | example |"
    yield "|---|---|---|---|---|"
    for key, field in model.model_fields.items():
        if key in without or _section(field) or _has_tables(field):
            continue
        name = _name(key, field)
        dotted = f"{prefix}.{name}".lstrip(".")
        default = "required" if field.is_required() else f"`{_toml(_default(field))}`"
        if default == "`None`":
            default = "none"
        about = _cell(field.description or descriptions.get(key, ""))
        yield f"| `{name}` | {_type(field)} | {default} | {about} | `{name} = {_example(dotted, field)}` |"
    yield ""


def attribute_docstrings(model: type[BaseModel]) -> dict[str, str]:
    """The string after each annotated attribute of a model and its bases, by attribute."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if not (issubclass(base, BaseModel) and base is not BaseModel):
            continue
        tree = ast.parse(textwrap.dedent(inspect.getsource(base)))
        body = [line for each in tree.body if isinstance(each, ast.ClassDef) for line in each.body]
        for pair in pairwise(body):
            match pair:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    found[name] = text
    return found


def _example(dotted: str, field: FieldInfo) -> str:
    if dotted in EXAMPLES:
        return EXAMPLES[dotted].replace("|", "\\|")
    values = typing.get_args(field.annotation) if typing.get_origin(field.annotation) is Literal else ()
    default = None if field.is_required() else _default(field)
    if default is None and not values:
        raise KeyError(f"EXAMPLES needs a value for {dotted}")
    if isinstance(default, bool):
        return _toml(not default)
    return _toml(values[-1] if values else default)


def _section(field: FieldInfo) -> type[BaseModel] | None:
    """The model of a field that is a table."""
    for each in (field.annotation, *typing.get_args(field.annotation)):
        if inspect.isclass(each) and not typing.get_origin(each) and issubclass(each, BaseModel):
            return None if typing.get_origin(field.annotation) is tuple else each
    return None


def _has_tables(field: FieldInfo) -> bool:
    """Whether a field is an array of tables."""
    return any(inspect.isclass(each) and issubclass(each, BaseModel) for each in typing.get_args(field.annotation)[:1])


def _name(key: str, field: FieldInfo) -> str:
    return field.alias or key


def _default(field: FieldInfo) -> Any:
    return field.get_default(call_default_factory=True, validated_data={})


def _type(field: FieldInfo) -> str:
    bounds = [
        f"{sign} {value}"
        for each in field.metadata
        for kind, name, sign in ((Ge, "ge", "≥"), (Gt, "gt", ">"), (Le, "le", "≤"), (Lt, "lt", "<"))
        if isinstance(each, kind)
        for value in [getattr(each, name)]
    ]
    unit = "characters" if field.annotation is str else "items"
    bounds += [f"at most {each.max_length} {unit}" for each in field.metadata if isinstance(each, MaxLen)]
    return ", ".join([_type_name(field.annotation), *bounds])


def _type_name(kind: Any) -> str:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return ", ".join(f"`{_toml(each)}`" for each in arguments)
    if origin is typing.Annotated:
        return _type_name(arguments[0])
    if origin in (types.UnionType, typing.Union):
        return " or ".join(_type_name(each) for each in arguments if each is not type(None))
    if origin is tuple:
        return f"array of {_type_name(arguments[0])}"
    if origin is not None:
        return "table"
    names = {str: "string", int: "integer", float: "number", bool: "boolean"}
    if kind in names:
        return names[kind]
    if inspect.isclass(kind) and issubclass(kind, Enum):
        return ", ".join(f"`{_toml(each.value)}`" for each in kind)
    name: str = kind.__name__
    return {"datetime": "date and time"}.get(name, name)


def _toml(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "[" + ", ".join(_toml(each) for each in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(str(value)) if isinstance(value, str) else str(value)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    main()
