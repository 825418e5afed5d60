"""Compare the corpus: python -m tests.corpus [--write | --record].

Prints a line for each text that differs. `--write` also stores the present texts. Before that, `--record` replaces
records that are no longer sound, adds those that reach what no other does, and plays contests without a source.
"""

import logging
import sys
from unittest.mock import patch

from judge.base.errors import InputError
from judge.base.logs import set_level
from tests.corpus.archive import SOURCE, write
from tests.corpus.corpus import VERSION, compare_all


def record() -> None:
    """Play what has no source."""
    from tests.corpus.record import contest_parts, record_parts

    with patch("judge.__version__", VERSION):
        for part, texts in (record_parts() | contest_parts()).items():
            write(part, SOURCE, texts)


def main(option: str = "") -> int:
    """Return 1 if something differs or a source cannot be read."""
    if option not in ("", "--write", "--record"):
        print(__doc__)  # noqa: T201
        return 2
    if option == "--record":
        record()
    count = 0
    try:
        for line in compare_all(is_renewed=bool(option)):
            count += 1
            print(line, flush=True)  # noqa: T201
    except InputError as error:
        print(error)  # noqa: T201
        return 1
    return 1 if count and not option else 0


if __name__ == "__main__":
    set_level(logging.ERROR)
    sys.exit(main(*sys.argv[1:2]))
