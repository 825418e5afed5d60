"""Write all golden files again: python -m tests.golden."""

import logging
import tempfile
from pathlib import Path

from judge.base.logs import set_level
from tests.golden.files import DIRECTORY, SOURCES, stored


def main() -> None:
    """Replace the golden files, and remove those that are not made any more."""
    for patterns, make in SOURCES.items():
        with tempfile.TemporaryDirectory() as folder:
            made = make(Path(folder))
        for name in stored(patterns).keys() - made.keys():
            (DIRECTORY / name).unlink()
        for name, text in made.items():
            path = DIRECTORY / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    set_level(logging.ERROR)
    main()
