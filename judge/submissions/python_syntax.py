"""Checks the syntax of a Python program and of the modules that it always imports.

    python3 -I python_syntax.py MAIN       MAIN is relative to the current directory

Exit code 1: `SyntaxError: FILE, line N: ...` on stderr. It runs in a box under the agents' Python.
"""

import ast
import os
import sys
from collections.abc import Iterator
from pathlib import Path


def imported(tree: ast.Module, file: Path, top: Path) -> Iterator[Path]:
    """Possible files of modules imported at top level, outside `try` and `if`."""
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                yield from _files_of(top, alias.name)
        elif isinstance(statement, ast.ImportFrom):
            base = top
            if statement.level:
                base = file.parents[min(statement.level, len(file.parents)) - 1]
            module = statement.module or ""
            yield from _files_of(base, module)
            for alias in statement.names:
                yield from _files_of(base, f"{module}.{alias.name}".strip("."))


def _files_of(base: Path, module: str) -> Iterator[Path]:
    parts = [part for part in module.split(".") if part]
    for end in range(1, len(parts) + 1):
        yield base.joinpath(*parts[:end], "__init__.py")
    if parts:
        yield base.joinpath(*parts[:-1], f"{parts[-1]}.py")


def complaint(file: Path) -> tuple[ast.Module | None, str]:
    """Syntax tree, or the error."""
    try:
        source = file.read_bytes()
        compile(source, str(file), "exec", dont_inherit=True)
        return ast.parse(source), ""
    except SyntaxError as error:
        place = f"{file}, line {error.lineno}" if error.lineno else str(file)
        return None, f"{place}: {error.msg}"
    except (ValueError, OverflowError, RecursionError, MemoryError, OSError) as error:
        return None, f"{file}: {str(error) or type(error).__name__}"


def main() -> int:
    """Stop at the first error."""
    first = Path(sys.argv[1])
    left, seen = [first], {first}
    while left:
        file = left.pop()
        tree, wrong = complaint(file)
        if tree is None:
            sys.stderr.write(f"SyntaxError: {wrong}\n")
            return 1
        # Path.is_file raises OSError for names of more than 255 bytes.
        found = [path for path in imported(tree, file, first.parent) if path not in seen and os.path.isfile(path)]  # noqa: PTH113
        seen.update(found)
        left += found
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
