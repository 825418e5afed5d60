"""Reads a GomocupJudge tournament file, with the openings and programs that it names.

    tournament/cup.txt      this file: a line per field, `key = value`; lists are separated by blanks or commas
    opening/NAME.txt        `opening = NAME`: one per line, offsets from the middle of the board
    engine/NAME             `engines = NAME ...`: archives or programs

The directories are looked up in the file's parent directory and in its own. Files are untrusted: names cannot leave the
directories, links are not followed, and sizes are limited.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from judge.base.durable_files import is_file, is_link, read_bounded
from judge.base.errors import InputError
from judge.base.text import quote, suggest
from judge.base.text_files import decode_file
from judge.catalog.managers import ImportedAgent, ImportedContest
from judge.games.gomoku import Rule
from judge.games.gomoku.positions import parse_opening
from judge.record.policy import load_policy

MAX_FILE_BYTES = 1 << 20

MAX_AGENTS, MOST_OPENINGS = 500, 1000

MAX_BOARD_SIZE = 26
"""GomocupJudge names columns by one letter."""

POLICIES: Mapping[int, tuple[str, Rule]] = {
    0: ("gomocup-freestyle", Rule.FREESTYLE),
    1: ("gomocup-standard", Rule.STANDARD),
    4: ("renju-15", Rule.RENJU),
    8: ("gomocup-caro:overline", Rule.CARO_OVERLINE),
    9: ("gomocup-caro", Rule.CARO),
}

MAX_FAILED_SHARE = 0.1

_NUMBERS = {
    "time_turn": ("clock.turn_ms", 1, 7 * 86_400_000, "milliseconds"),
    "time_match": ("clock.match_ms", 1, 7 * 86_400_000, "milliseconds"),
    "tolerance": ("clock.tolerance_ms", 0, 3_600_000, "milliseconds"),
    "memory": ("limits.memory_bytes", 16 << 20, 1 << 46, "bytes (367001600 are 350 MiB)"),
}

_REQUIRED = ("name", "board", "rule", "opening", "engines", "tournament", *_NUMBERS)

_OTHERS = {
    "engine_ratings": "",
    "rating_diff": "",
    "real_time_pos": "games are shown live by judge serve",
    "real_time_message": "messages are shown live by judge serve",
    "upload_ratio": "pages are written by judge contest export --unsigned, all of them",
    "upload_offline_result": "pages are written by judge contest export --unsigned, all of them",
    "remote": "nothing is uploaded; copy what judge contest export --unsigned writes",
}

_NAME = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}"


class _Field(NamedTuple):
    line: int
    value: str

    @property
    def words(self) -> Sequence[str]:
        return [word for word in re.split(r"[\s,]+", self.value) if word]


@dataclass(frozen=True, slots=True)
class _Tournament:
    path: Path
    fields: Mapping[str, _Field]
    remarks: list[str]

    def refused(self, key: str, why: str) -> InputError:
        return InputError(f"{self.path}, line {self.fields[key].line}: {key}: {why}")

    def remark(self, key: str, text: str) -> None:
        self.remarks.append(f"line {self.fields[key].line}: {key}: {text}")

    def number(self, key: str, least: int, most: int, unit: str) -> int:
        text = self.fields[key].value
        if not re.fullmatch(r"[0-9]{1,15}", text) or not least <= int(text) <= most:
            raise self.refused(key, f"{quote(text, 30)}: write a number of {unit} from {least} to {most}")
        return int(text)


def read_tournament(path: Path) -> ImportedContest:
    """Raises InputError."""
    file = _Tournament(path, _fields(path), [])
    for key in _REQUIRED:
        if key not in file.fields:
            raise InputError(f"{path}: {key} is missing; add a line such as {key} = {_EXAMPLES[key]}")
    for key in file.fields:
        if key not in _REQUIRED and key not in _OTHERS:
            file.remark(key, f"unknown to GomocupJudge; {suggest(key, (*_REQUIRED, *_OTHERS))}. It is not used")
        elif _OTHERS.get(key) and file.fields[key].value not in ("", "0"):
            file.remark(key, f"not imported: {_OTHERS[key]}")
    size = file.number("board", 5, MAX_BOARD_SIZE, "squares along a side")
    policy, rule = _policy(file)
    openings = _openings(file, size, rule)
    agents = _agents(file)
    games = 2 * max(1, len(openings))
    everybody = _is_round_robin(file)
    difference, ratings = _ratings(file, agents)
    if difference and not everybody:
        file.remark("rating_diff", "not imported: in a gauntlet all pairs meet")
        difference, ratings = 0, {}
    name = file.fields["name"].value
    if not re.fullmatch(_NAME, name):
        why = f"{quote(name, 40)}: a contest's name has only A-Z, a-z, 0-9, dash, underscore and dot"
        raise file.refused("name", why)
    return ImportedContest(
        name=name,
        policy=policy,
        changes=_changes(file, policy, size),
        format="round-robin" if everybody else "gauntlet",
        games=games,
        openings=openings,
        failure_limit=MAX_FAILED_SHARE,
        # An agent may have a single opponent if pairs are left out.
        failures_after=games * (len(agents) - 1 if everybody and not difference else 1),
        agents=agents,
        remarks=tuple(file.remarks),
        skip_difference=difference,
        ratings=ratings,
    )


_EXAMPLES = {
    "name": "cup-2026",
    "board": "20",
    "rule": "0",
    "opening": "openings_20",
    "engines": "FIVE.zip SIX.zip",
    "tournament": "1",
    "time_turn": "30000",
    "time_match": "180000",
    "tolerance": "1000",
    "memory": "367001600",
}


def _fields(path: Path) -> Mapping[str, _Field]:
    fields: dict[str, _Field] = {}
    for number, line in enumerate(_lines(path, "a tournament file of GomocupJudge"), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or "=" in value or not re.fullmatch(r"[A-Za-z_]{1,40}", key):
            raise InputError(
                f"{path}, line {number}: {quote(text, 40)} is not a field; write key = value, or # before it"
            )
        if key in fields:
            raise InputError(
                f"{path}, line {number}: {key}: it is already set in line {fields[key].line}; remove one of the two"
            )
        fields[key] = _Field(number, value)
    return fields


def _lines(path: Path, what: str) -> Sequence[str]:
    data = read_bounded(path, MAX_FILE_BYTES, f"give the path of {what}", links=True)
    return decode_file(data, str(path)).split("\n")


def _policy(file: _Tournament) -> tuple[str, Rule]:
    rule = file.number("rule", 0, 99, "INFO rule")
    if rule not in POLICIES:
        known = ", ".join(f"{value} {each.value}" for value, (_, each) in POLICIES.items())
        raise file.refused("rule", f"{rule} is not a rule of GomocupJudge; known are {known}")
    if rule == 8:
        file.remark(
            "rule", "8 lets six or more win, as GomocupJudge plays it; the text of Gomocup's caro league means 9"
        )
    return POLICIES[rule]


def _changes(file: _Tournament, policy: str, size: int) -> tuple[str, ...]:
    ours = load_policy(policy)
    plain = ours.model_dump()
    wanted = {key: file.number(field, least, most, unit) for field, (key, least, most, unit) in _NUMBERS.items()}
    found = [f"{key}={value}" for key, value in wanted.items() if _of(plain, key) != value]
    sides = [side for side in ("width", "height") if ours.game.options[side] != size]
    return (*found, *(f"game.options.{side}={size}" for side in sides))


def _of(plain: Mapping[str, Mapping[str, object]], key: str) -> object:
    section, _, name = key.partition(".")
    return plain[section][name]


def _is_round_robin(file: _Tournament) -> bool:
    kind = file.fields["tournament"].value
    if kind == "0":
        file.remark(
            "tournament",
            "GomocupJudge reads 0 as a round robin, so it is imported as one. If the first agent is to meet all "
            'others, write name = "gauntlet" below [format] in place of "round-robin"',
        )
    return bool(kind)


def _find(file: _Tournament, key: str, folder: str, name: str) -> Path:
    if name != Path(name).name or name in (".", "..") or "\\" in name or not name.isascii():
        raise file.refused(key, f"{quote(name, 40)}: name a file in the directory {folder}, without a path")
    directory = file.path.parent
    for place in (directory.parent / folder, directory / folder, directory):
        path = place / name
        if is_link(path):
            raise file.refused(key, f"{path} is a link, which is not followed; copy the file in its place")
        if is_file(path):
            return path
    raise file.refused(
        key, f"{quote(name, 40)} is missing; it should be in {directory.parent / folder}, or in {directory / folder}"
    )


def _openings(file: _Tournament, size: int, rule: Rule) -> tuple[str, ...]:
    name = file.fields["opening"].value
    path = _find(file, "opening", "opening", f"{name.removesuffix('.txt')}.txt")
    found: dict[tuple[tuple[int, int], ...], int] = {}
    for number, line in enumerate(_lines(path, "a file of openings"), 1):
        if not (text := line.partition("#")[0].strip()):
            continue
        try:
            opening = parse_opening(text, size, size, rule)
        except InputError as error:
            raise InputError(f"{path}, line {number}: {error}") from None
        first = found.setdefault(opening, number)
        if first != number:
            raise InputError(f"{path}, line {number}: the same opening as in line {first}; remove one of the two")
        if len(found) > MOST_OPENINGS:
            raise InputError(f"{path}, line {number}: more than {MOST_OPENINGS} openings")
    middle = size // 2
    return tuple(", ".join(f"{x - middle},{y - middle}" for x, y in opening) for opening in found)


def _agents(file: _Tournament) -> tuple[ImportedAgent, ...]:
    words = file.fields["engines"].words
    if not 2 <= len(words) <= MAX_AGENTS:
        raise file.refused("engines", f"{len(words)} programs; a tournament has from 2 to {MAX_AGENTS}")
    line = f"{file.path}, line {file.fields['engines'].line}"
    agents: dict[str, ImportedAgent] = {}
    for word in words:
        path = _find(file, "engines", "engine", word)
        name = agent_name(word)
        if name in agents:
            raise file.refused(
                "engines", f"{quote(word, 40)} would be called {name} in the tables, as another is; rename it"
            )
        if name != re.sub(r"\.[^.]*$", "", word):
            file.remark("engines", f"{quote(word, 40)} is called {name} here")
        agents[name] = ImportedAgent(name=name, path=path, named_in=f"{line}: engines")
    return tuple(agents.values())


def agent_name(file_name: str) -> str:
    """A file name without ending, with `_` for invalid characters."""
    stem = re.sub(r"(?<=.)\.[^.]*$", "", file_name)
    return re.sub(r"[^A-Za-z0-9._-]", "_", stem).lstrip(".")[:64] or "agent"


def _ratings(file: _Tournament, agents: Sequence[ImportedAgent]) -> tuple[int, Mapping[str, int]]:
    if file.fields.get("rating_diff", _Field(0, "0")).value in ("", "0"):
        return 0, {}
    difference = file.number("rating_diff", 0, 10_000, "Elo")
    words = file.fields.get("engine_ratings", _Field(0, "")).words
    if len(words) != len(agents) or not all(re.fullmatch(r"-?[0-9]{1,5}", word) for word in words):
        key = "engine_ratings" if "engine_ratings" in file.fields else "rating_diff"
        raise file.refused(
            key, f"{len(words)} ratings for {len(agents)} engines; write engine_ratings with one number each"
        )
    # GomocupJudge treats negative ratings as unknown.
    return difference, {agent.name: max(0, int(word)) for agent, word in zip(agents, words, strict=True)}
