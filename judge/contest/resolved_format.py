"""Resolves the format of a contest: ratings of left-out pairs from a CSV file or earlier contests, seats, the end,
start ratings of a ladder.
"""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from judge.base.durable_files import is_file, read_lines_bounded
from judge.base.errors import InputError
from judge.base.moments import moment_text
from judge.base.text import printable, quote, sentence, suggest
from judge.base.text_files import decode_file
from judge.contest.plan import Planned
from judge.tournament.formats import AnyFormat
from judge.tournament.formats.base import Competitor, skip_of
from judge.tournament.formats.groups import Leagues, seated
from judge.tournament.formats.ladder import Ladder
from judge.tournament.skipped_pairs import MAX_RATING, SourcedRating, league_ratings

MAX_CSV_BYTES, MAX_CSV_LINES = 1 << 20, 50_000

Agents = Sequence[tuple[str, str]]
"""Names and digests of files; empty: unknown."""


def resolved_format(planned: Planned, agents: Agents) -> AnyFormat:
    """The plan's format with ratings and seats. Raises InputError."""
    chosen, names = planned.plan.format, [name for name, _ in agents]
    ends = planned.plan.season_end
    if ends is not None:
        if ends <= datetime.now(UTC):
            raise InputError(f"{planned.path}: format.ends, {moment_text(ends)}, has passed; write a later moment")
        chosen = chosen.model_copy(update={"ends": ends.astimezone(UTC)})
    if isinstance(chosen, Leagues):
        chosen = _with_seats(planned, chosen, names)
    if isinstance(chosen, Ladder) and planned.plan.ratings.from_:
        from judge.contest.earlier_contests import with_start_ratings

        chosen = with_start_ratings(planned, chosen, agents)
    else:
        chosen = with_ratings(planned, chosen, agents)
    if isinstance(chosen, Ladder):
        # An upload could have the name of a missing one.
        refuse_strangers(planned, "format.anchors", chosen.anchors, names)
        if len(names) > 1 and chosen.anchors.keys() >= set(names):
            raise InputError(
                f"{planned.path}: format.anchors: all agents are anchors, so no game is drawn; "
                "remove one of the anchors"
            )
    return chosen


def _with_seats(planned: Planned, chosen: Leagues, names: list[str]) -> Leagues:
    seats = chosen.seats
    if seats is None:
        return chosen
    for key, listed in (("agents", seats.agents), ("successors", seats.successors.values())):
        refuse_strangers(planned, f"format.seats.{key}", listed, names)
    found = list(seats.agents)
    if seats.previous:
        from judge.contest.earlier_contests import first_league, read_earlier

        former_league = first_league(read_earlier(planned, planned.folder / seats.previous, "format.seats"))
        for former in seats.successors:
            if former not in former_league:
                raise InputError(
                    f"{planned.path}: format.seats.successors: {quote(former, 64)} was not in the first league of "
                    f"{seats.previous}; {suggest(former, former_league)}"
                )
        down = chosen.promoted if seats.down is None else seats.down
        kept = seated(former_league, down, names, seats.successors)
        found += [agent for agent in kept if agent not in found]
    if not found:
        raise InputError(f"{planned.path}: format.seats: no agent of this contest has a seat in the first league")
    if len(found) == len(names):
        raise InputError(f"{planned.path}: format.seats: all agents have a seat, so there is no second league")
    return chosen.model_copy(update={"seats": seats.model_copy(update={"agents": tuple(found)})})


def with_ratings(planned: Planned, chosen: AnyFormat, agents: Agents) -> AnyFormat:
    """The format with each agent's rating. Raises InputError, also if no pair remains."""
    skip, names = skip_of(chosen), [name for name, _ in agents]
    if skip is None:
        return chosen
    refuse_strangers(planned, "format.skip.agents", skip.agents, names)
    ratings = {**_read_ratings(planned, skip.ratings, skip.above, agents), **skip.agents}
    used = {name: ratings[name] for name in names if name in ratings}
    rated = chosen.model_copy(update={"skip": skip.model_copy(update={"agents": used})})
    entries = [Competitor(name, number) for number, name in enumerate(names, 1)]
    if len(entries) > 1 and not rated.next(entries, [], 0):
        raise InputError(f"{planned.path}: format.skip leaves out all pairs; raise rating_difference")
    return rated


def refuse_strangers(planned: Planned, key: str, named: Iterable[str], names: Sequence[str]) -> None:
    """Raise InputError for a name in `key` of the contest's file that is not of an agent."""
    for name in named:
        if name not in names:
            raise InputError(f"{planned.path}: {key}: {quote(name, 64)} does not take part; {suggest(name, names)}")


def skip_words(planned: Planned) -> str:
    """Describe which pairs do not meet; empty if all meet."""
    skip = skip_of(planned.plan.format)
    if skip is None:
        return ""
    words = [sentence(f"pairs with ratings that differ by {skip.rating_difference:g} or more do not meet")]
    if skip.ratings:
        words.append(sentence(f"ratings of {skip.ratings}"))
    words += [f"{agent} {rated.rating:g}: {rated.reason}" for agent, rated in skip.agents.items()]
    return printable("; ".join(words), 4000)


def _read_ratings(planned: Planned, source: str, above: str, agents: Agents) -> Mapping[str, SourcedRating]:
    names = [name for name, _ in agents]
    if not source:
        reason = "no rating in format.skip.agents"
        return {name: SourcedRating(rating=0, reason=reason) for name in names}
    path = planned.folder / source
    if is_file(path) and path.suffix != ".toml":
        if above:
            raise InputError(
                f"{planned.path}: format.skip: above needs an earlier contest in ratings; {source} is a file of ratings"
            )
        return read_ratings_csv(path, names)
    from judge.contest.earlier_contests import final_ratings, read_earlier

    paths = [path, planned.folder / above] if above else [path]
    earlier = [(read_earlier(planned, each, "format.skip"), each) for each in paths]
    programs = {name: digest for view, _ in reversed(earlier) for name, digest in view.programs.items()}
    updated = {name for name, digest in agents if digest and programs.get(name, digest) != digest}
    return league_ratings(names, [table for each in earlier for table in final_ratings(*each)], updated)


# --- a CSV file ------------------------------------------------------------------------------------------------------


def read_ratings_csv(path: Path, agents: Sequence[str]) -> Mapping[str, SourcedRating]:
    """Read the columns agent and rating, separated by commas, semicolons or tabs. Agents without a line have 0.

    Raises InputError with the line.
    """
    fix = "give a CSV file with the columns agent,rating"
    data = read_lines_bounded(path, MAX_CSV_BYTES, MAX_CSV_LINES, "a file of ratings", fix)
    lines = decode_file(data, str(path)).split("\n")
    start, separator = _separator(lines)
    header = [column.strip().lower() for column in _cells(path, start + 1, lines[start], separator)]
    for column in ("agent", "rating"):
        if header.count(column) != 1:
            raise InputError(f"{path}, line {start + 1}: no column {column!r}; write agent,rating in the first line")
    found: dict[str, SourcedRating] = {}
    first: dict[str, int] = {}
    for number, line in enumerate(lines[start + 1 :], start + 2):
        if number > MAX_CSV_LINES:
            raise InputError(f"{path}, line {number}: a file of ratings has at most {MAX_CSV_LINES} lines")
        if not line.strip(f"{separator} \t"):
            continue
        cells = [cell.strip() for cell in _cells(path, number, line, separator)]
        if len(cells) != len(header):
            raise InputError(f"{path}, line {number}: {len(cells)} values; the first line has {len(header)} columns")
        name, text = cells[header.index("agent")], cells[header.index("rating")]
        where = f"{path}, line {number}"
        if name not in agents:
            raise InputError(
                f"{where}: agent {quote(name, 64)} does not take part; {suggest(name, agents)}, or remove the line"
            )
        if name in found:
            raise InputError(f"{where}: agent {name} is already in line {first[name]}; remove one of the two")
        text = text.replace(",", ".") if separator != "," else text
        if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,9})?", text) or float(text) > MAX_RATING:
            raise InputError(
                f"{where}: rating {quote(text, 30)}: write a number from 0 to {MAX_RATING}, 0 for an agent without a "
                "rating"
            )
        found[name] = SourcedRating(rating=float(text), reason=f"{path.name}, line {number}")
        first[name] = number
    missing = SourcedRating(rating=0, reason=f"not in {path.name}")
    return {name: found.get(name, missing) for name in agents}


def _separator(lines: Sequence[str]) -> tuple[int, str]:
    """Number of lines before the header, and its separator. Where decimals have a comma, Excel writes semicolons."""
    if (named := re.fullmatch(r"sep=([,;\t])", lines[0].strip("\r "))) is not None and len(lines) > 1:
        return 1, named[1]
    return 0, next((each for each in ";\t" if each in lines[0] and "," not in lines[0]), ",")


def _cells(path: Path, number: int, line: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], strict=True, delimiter=separator), [])
    except csv.Error as error:
        raise InputError(f"{path}, line {number}: not CSV: {error}") from None
