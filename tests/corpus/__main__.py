"""Compare the corpus: python -m tests.corpus [--write | --record].

Prints a line for each text that differs. `--write` also stores the present texts; `--record` plays the games and
contests again before that.
"""

import logging
import sys
from unittest.mock import patch

from judge.base.errors import InputError
from judge.base.logs import set_level
from tests.corpus.archive import SOURCE, parts, path_of, write
from tests.corpus.corpus import VERSION, compare_all


def record() -> None:
    """Play all records and contests again, and replace their sources."""
    from tests.corpus.record import contest_parts, record_parts

    with patch("judge.__version__", VERSION):
        made = {**record_parts(), **contest_parts()}
    for part in set(parts()) - made.keys():
        path_of(part, SOURCE).unlink()
    for part, texts in made.items():
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
