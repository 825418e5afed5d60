"""Reads opening files, one opening per line."""

from pathlib import Path

from judge.base.errors import InputError
from judge.catalog.entry import Opening, Openings
from judge.records.text_files import decode_file


def read_openings(path: Path, openings: Openings) -> list[Opening]:
    """Read the openings in file order, without blank lines and `# comments`.

    Raises InputError with file, line, token and fix, also for a repeated opening, which would count twice.
    """
    openings.parse("")  # reports a wrong board size before line 1
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    lines: dict[Opening, int] = {}
    for number, line in enumerate(decode_file(data, str(path)).split("\n"), 1):
        text = line.partition("#")[0].strip()
        if text:
            try:
                opening = openings.parse(text)
            except InputError as error:
                raise InputError(f"{path}, line {number}: {error}") from error
            first = lines.setdefault(opening, number)
            if first != number:
                raise InputError(f"{path}, line {number}: the same opening as in line {first}; remove one of the two")
    if not lines:
        raise InputError(f"{path} contains no openings; write one per line, such as {openings.example}")
    return list(lines)
