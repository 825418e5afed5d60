"""`judge submit` to a cup: an author enters an agent in several leagues with one command."""

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.base.text import quote, suggest
from judge.cup.plan import load_cup
from judge.terminal.output import note

LEAGUE_COLUMNS = ("author", "league", "link")
"""Of a table of authors' links to the leagues of a cup, which `judge tokens make-all` prints."""

MAX_LINKS_BYTES = 1 << 20


def submit_to_leagues(
    cup: Path, leagues: Sequence[str], links: Path | None, submit: Callable[[Path | None, str], None]
) -> None:
    """Submit a file to leagues of a cup, each of which checks it under its own policy.

    `links`: instead of the cup, a file with the author's links to the leagues. `submit` submits the file to a contest,
    or else to a link.
    """
    known = _read_links(links) if links is not None else {}
    planned = None if links is not None else load_cup(cup)
    names = list(known) if planned is None else list(planned.cup.by_name)
    chosen = list(dict.fromkeys(leagues))
    if not chosen:
        raise InputError(f"--league is missing: name one or more of {', '.join(names)}")
    for each in chosen:
        if each not in names:
            raise InputError(f"--league {quote(each)}: no such league; {suggest(each, names)}")
    failed = []
    for each in chosen:
        print(f"{each}:", flush=True)
        try:
            if planned is None:
                submit(None, known[each])
            else:
                contest = planned.write(each, is_complete=not planned.cup.by_name[each].after)
                submit(contest.path, "")
        except SystemExit:
            failed.append(each)
        except InputError as error:
            if len(chosen) == 1:
                raise
            note(f"judge: {error}")
            failed.append(each)
    if failed:
        print(f"refused by {', '.join(failed)}")
        raise SystemExit(1)


def _read_links(path: Path) -> Mapping[str, str]:
    data = read_bounded(path, MAX_LINKS_BYTES, "give the lines of judge tokens make-all", links=True)
    rows = [*csv.reader(data.decode("utf-8", "replace").splitlines())]
    if not rows or tuple(rows[0]) != LEAGUE_COLUMNS:
        raise InputError(f"{path}, line 1: write {','.join(LEAGUE_COLUMNS)}, as judge tokens make-all prints it")
    found: dict[str, str] = {}
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(LEAGUE_COLUMNS):
            raise InputError(
                f"{path}, line {number}: {len(row)} values; the first line has {len(LEAGUE_COLUMNS)} columns"
            )
        if row[1] in found:
            raise InputError(f"{path}, line {number}: the league {quote(row[1])} is listed twice; leave one line out")
        found[row[1]] = row[2]
    return found
