"""The public names of modules, their parameters and members, as fields for `tests.compat.formats`.

`python tests/compat/names.py MODULE...` prints them as JSON, for the modules that the interpreter finds first. So those
of another checkout are read with its directory in PYTHONPATH. It imports nothing of this checkout.
"""

import ast
import enum
import inspect
import json
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any, Protocol, TypeVar


def module_fields(name: str) -> Iterator[tuple[str, str]]:
    """Return the names of a module; a parameter with a default is a separate field.

    Types are left out: the type checker compares them.
    """
    module = import_module(name)
    for each in public_names(module):
        yield from _described(f"{name} {each}", getattr(module, each))


def public_names(module: ModuleType) -> list[str]:
    """Return `__all__`, or the names that the module itself defines."""
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


def _described(place: str, value: Any) -> Iterator[tuple[str, str]]:
    if inspect.isclass(value):
        bases = ", ".join(base.__name__ for base in value.__bases__ if base is not object)
        has_own = not issubclass(value, Exception | enum.Enum) and Protocol not in value.__bases__
        make = value.__new__ if issubclass(value, tuple) else value.__init__
        given, defaults = _parameters(make if has_own else None)
        yield place, f"class{given} : {bases}" if bases else f"class{given}"
        yield from ((f"{place} {each}", "") for each in defaults)
        yield from _members(place, value)
    else:
        given, defaults = _parameters(value)
        yield place, f"def{given}" if given else ""
        yield from ((f"{place} {each}", "") for each in defaults)


def _members(place: str, found: type) -> Iterator[tuple[str, str]]:
    if issubclass(found, enum.Enum):
        yield from ((f"{place}.{member.name}", repr(member.value)) for member in found)
        return
    for name in sorted({*vars(found), *inspect.get_annotations(found)}):
        if not name.startswith("_"):
            value = inspect.getattr_static(found, name, None)
            given, defaults = _parameters(getattr(value, "__func__", value))
            yield f"{place}.{name}", given
            yield from ((f"{place}.{name} {each}", "") for each in defaults)


def _parameters(function: Any) -> tuple[str, list[str]]:
    """The parameters without defaults, in parentheses, and those with defaults; no parentheses if it is no function."""
    if not isinstance(function, FunctionType):
        return "", []
    needed, defaults = [], []
    for each in inspect.signature(function).parameters.values():
        name = str(each.replace(default=each.empty, annotation=each.empty))
        if each.default is not each.empty:
            defaults.append(f"{name}=")
        elif name not in ("self", "_cls"):
            if each.kind is each.KEYWORD_ONLY and "*" not in needed:
                needed.append("*")
            needed.append(name)
    return f"({', '.join(needed)})", defaults


def main(modules: Sequence[str]) -> None:
    """Print the fields of modules."""
    json.dump({place: value for name in modules for place, value in module_fields(name)}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
