"""Checks the syntax of a Python program and of the modules that it always imports.

    python3 python_syntax.py MAIN       MAIN is relative to the current directory

It prints the words that start the program, one a line. A program in Python 2 is not checked. Exit code 1:
`SyntaxError: FILE, line N: ...` on stderr. It runs in a box under the agents' Python.
"""

import ast
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from judge.agents.python_version import python_words


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
            folder = base.joinpath(*module.split("."))
            if os.path.isdir(folder):  # noqa: PTH112
                for alias in statement.names:
                    yield from _files_of(folder, alias.name)


def _files_of(base: Path, module: str) -> Iterator[Path]:
    # No longer path than a folder needs: a name may have a million parts.
    if not module:
        return
    *packages, last = module.split(".")
    folder = base
    for package in packages:
        folder /= package
        if not os.path.isdir(folder):  # noqa: PTH112
            return
        yield folder / "__init__.py"
    yield folder / last / "__init__.py"
    yield folder / f"{last}.py"


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
    words = python_words(first)
    left, seen = [first] if words[0] == "python3" else [], {first}
    while left:
        file = left.pop()
        tree, wrong = complaint(file)
        if tree is None:
            sys.stderr.write(f"SyntaxError: {wrong}\n")
            return 1
        # Path.is_file and is_dir raise OSError for names of more than 255 bytes.
        found = [path for path in imported(tree, file, first.parent) if path not in seen and os.path.isfile(path)]  # noqa: PTH113
        seen.update(found)
        left += found
    sys.stdout.write("".join(f"{word}\n" for word in words))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
