"""The names that other packages use: entry points, and the modules from which a game or a protocol imports."""

import ast
import enum
import inspect
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Protocol, TypeVar

from judge.base.registry import GROUPS

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"

MODULES = (
    "judge.api",
    "judge.catalog",
    "judge.catalog.entry",
    "judge.base.errors",
    "judge.games",
    "judge.games.person",
    "judge.games.types",
    "judge.base.parsing",
    "judge.protocols",
    "judge.protocols.checks",
    "judge.protocols.entry",
    "judge.protocols.lines",
    "judge.protocols.time_control",
    "judge.protocols.types",
    "judge.records.formats",
    "judge.records.managers",
    "judge.records.replays",
    "judge.records.steps",
    "judge.records.views",
    "judge.testing",
    "judge.base.text",
)
"""The modules that docs/new-game.md and its example name, and those that the entries of our games import."""


def names_text() -> str:
    """The entry points, then each module with its public names, the parameters of functions and the members of classes.

    `name=` is a parameter with a default. Types are left out: the type checker compares them.
    """
    return "\n".join((*_entry_points(), *(line for name in MODULES for line in _module(name)))).rstrip() + "\n"


def _entry_points() -> Iterator[str]:
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    yield f"groups that other packages can register: {' '.join(GROUPS)}\n"
    for group, entries in {"console_scripts": project["scripts"], **project["entry-points"]}.items():
        yield f"[{group}]"
        yield from (f"{name} = {value}" for name, value in sorted(entries.items()))
        yield ""


def _module(name: str) -> Iterator[str]:
    module = import_module(name)
    yield f"[{name}]"
    for each in _public(module):
        yield from _described(each, getattr(module, each))
    yield ""


def _public(module: ModuleType) -> list[str]:
    """`__all__`, or the names that the module itself defines."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    names = set()
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    is_variable = {name for name in names if isinstance(getattr(module, name), TypeVar)}
    return sorted(name for name in names - is_variable if not name.startswith("_"))


def _described(name: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value):
        bases = [base.__name__ for base in value.__bases__ if base is not object]
        has_own = not issubclass(value, Exception | enum.Enum) and Protocol not in value.__bases__
        make = value.__new__ if issubclass(value, tuple) else value.__init__
        given = _parameters(make) if has_own and isinstance(make, FunctionType) else ""
        yield f"class {name}{given}{' : ' if bases else ''}{', '.join(bases)}"
        yield from _members(value)
    elif isinstance(value, FunctionType):
        yield f"def {name}{_parameters(value)}"
    else:
        yield name


def _members(found: type) -> Iterator[str]:
    if issubclass(found, enum.Enum):
        yield from (f"    {member.name} = {member.value!r}" for member in found)
        return
    for name in sorted({*vars(found), *inspect.get_annotations(found)}):
        if not name.startswith("_"):
            value = inspect.getattr_static(found, name, None)
            function = getattr(value, "__func__", value)
            yield f"    {name}{_parameters(function) if isinstance(function, FunctionType) else ''}"


def _parameters(function: Any) -> str:
    """The names of the parameters without `self`, in parentheses."""
    shown = []
    for each in inspect.signature(function).parameters.values():
        if each.kind is each.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        name = str(each.replace(default=each.empty, annotation=each.empty))
        shown.append(name if each.default is each.empty else f"{name}=")
    return f"({', '.join(name for name in shown if name not in ('self', '_cls'))})"
