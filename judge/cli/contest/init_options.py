"""The values that `judge contest init` takes as options or asks for on a terminal."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer

from judge.base.errors import InputError, naming
from judge.base.resources import DEFAULT_POLICY
from judge.base.text import printable, suggest
from judge.catalog import GAMES, game_entry
from judge.record.policy import load_policy, policy_names
from judge.submissions.windows import aware_moment

Value = TypeVar("Value")

GAMES_OF_AGENT = 40
"""With them, the standard error of a rating is about 55 Elo."""

MOST_GAMES = 20
"""Of a pairing: each of ten openings with both colours."""

EXPECTED_AGENTS = 8
"""Without a list of authors."""


def fair_games(agents: int) -> int:
    """Games of a pairing in a round robin, an even number, so that each agent plays about `GAMES_OF_AGENT`."""
    opponents = max(1, (agents or EXPECTED_AGENTS) - 1)
    return min(MOST_GAMES, 2 * -(-GAMES_OF_AGENT // (2 * opponents)))


@dataclass(frozen=True, slots=True)
class InitOptions:
    """Values of a new contest. Times are text such as `2027-03-31 18:00`; empty: not set."""

    title: str
    policy: str
    format_: str
    games: int
    turn_ms: int | None
    match_ms: int | None
    zone: str
    opens: str
    closes: str
    starts: str

    @property
    def changes(self) -> list[str]:
        """The changes of the policy's clock."""
        clocks = (("turn_ms", self.turn_ms), ("match_ms", self.match_ms))
        return [f"clock.{key}={value}" for key, value in clocks if value is not None]

    @property
    def moments(self) -> Mapping[tuple[str, str], datetime]:
        """The times of the schedule that are given, by table and key. Raises InputError for an invalid one."""
        keys = (("submissions", "opens"), ("submissions", "closes"), ("contest", "starts"))
        return {(table, key): read_moment(key, text, self.zone) for table, key in keys if (text := getattr(self, key))}

    @property
    def schedule(self) -> str:
        """The tables of the schedule, or "". Raises InputError for an invalid time."""
        lines: dict[str, str] = {}
        for (table, key), at in self.moments.items():
            lines[table] = f"{lines.get(table, '')}{key} = {at.isoformat()}\n"
        return "".join(f"[{table}]\n{text}" for table, text in lines.items())


_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKLY = re.compile(r"([A-Za-z]{3,9}) +([01]?[0-9]|2[0-3]):([0-5][0-9])")


def local_zone() -> str:
    """The name of this machine's time zone; UTC if it has none."""
    name = os.environ.get("TZ", "").lstrip(":") or str(Path("/etc/localtime").resolve())
    name = name.rpartition("/zoneinfo/")[2]
    return "UTC" if name == "Etc/UTC" or not _zone_of(name) else name


def _zone_of(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def next_weekday(text: str, now: datetime) -> str:
    """`Fri 18:00` as the next such time after `now`, a local time; any other text unchanged."""
    found = _WEEKLY.fullmatch(text.strip())
    days = [number for number, name in enumerate(_WEEKDAYS) if found and name.startswith(found[1].lower())]
    if not found or not days:
        return text
    moment = now.replace(hour=int(found[2]), minute=int(found[3]), second=0, microsecond=0)
    moment += timedelta(days=(days[0] - now.weekday()) % 7)
    return (moment if moment > now else moment + timedelta(days=7)).isoformat()


def read_moment(key: str, text: str, zone: str) -> datetime:
    """Raises InputError unless a text is a time in the future."""
    now = datetime.now(_zone_of(zone) or UTC).replace(tzinfo=None)
    try:
        moment = datetime.fromisoformat(next_weekday(text, now).strip())
        aware = aware_moment(key, moment, zone)
    except ValueError as error:
        why = "write such as '2027-03-31 18:00' or 'Fri 18:00'" if "isoformat" in str(error) else str(error)
        raise InputError(f"--{key} {printable(text, 60)}: {why}") from None
    if aware <= datetime.now(UTC):
        raise InputError(f"--{key} {printable(text, 60)}: it has passed; give a time in the future")
    return moment


def policy_of_game(game: str) -> str:
    """The policy that judge recommends for a game, or the first of another package's game. Raises InputError."""
    if game in GAMES.names() and (policy := game_entry(game).policy):
        return policy
    games: dict[str, str] = {}
    for name in policy_names():
        found = load_policy(name).game.name
        games.setdefault(found, game_entry(found).policy or name)
    if game not in games:
        with naming(f"--game {game}"):
            GAMES.refuse_missing_plugin(game)
        named = [f"--policy {each}" for each in policy_names() if game and game in each.split("-")]
        advice = f"use {' or '.join(named)}" if named else suggest(game, games)
        raise InputError(f"--game {printable(game, 40)}: no such game: {advice}")
    return games[game]


def ask_options(options: InitOptions, name: str, formats: tuple[str, ...]) -> InitOptions:
    """Ask for policy, title, clocks, format and schedule; options that are given are not asked for."""
    for each in policy_names():
        typer.echo(f"  {each:<24} {load_policy(each).about}")
    policy, loaded = _ask("Policy", DEFAULT_POLICY, lambda text: (text, load_policy(text)))
    clock = loaded.clock
    title = options.title or _ask("Title", name, str)
    turn_ms = options.turn_ms
    if turn_ms is None and clock.turn_ms:
        turn_ms = _ask("Milliseconds for a move", str(clock.turn_ms), _whole)
    match_ms = options.match_ms
    if match_ms is None and clock.match_ms:
        match_ms = _ask("Milliseconds for all moves of a game", str(clock.match_ms), _whole)
    format_ = _ask(f"Format ({', '.join(formats)})", options.format_, lambda text: _one_of(text, formats))
    games = _ask("Games of each pairing", str(options.games), _whole)
    zone = options.zone or _ask("Time zone", local_zone(), _zone)
    moments: dict[str, str] = {}
    for key, question in (
        ("opens", "Submissions open (2027-03-01 08:00, empty: at once)"),
        ("closes", "Submissions close (empty: at the start)"),
        ("starts", "Contest starts by itself (empty: by judge contest run)"),
    ):

        def checked(text: str, key: str = key) -> str:
            if text:
                read_moment(key, text, zone)
            return text

        moments[key] = getattr(options, key) or _ask(question, "", checked)
    return replace(
        options,
        policy=policy,
        title=title,
        format_=format_,
        games=max(1, games),
        turn_ms=options.turn_ms if turn_ms == clock.turn_ms else turn_ms,
        match_ms=options.match_ms if match_ms == clock.match_ms else match_ms,
        zone=zone if any(moments.values()) else "",
        **moments,
    )


def _ask(question: str, default: str, read: Callable[[str], Value]) -> Value:
    while True:
        text = str(typer.prompt(question, default=default, show_default=bool(default)))
        try:
            return read(text.strip())
        except InputError as error:
            typer.echo(f"  {error}")


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise InputError(f"{printable(text, 40)}: write a whole number")
    return int(text)


def _one_of(text: str, known: tuple[str, ...]) -> str:
    if text not in known:
        raise InputError(f"{printable(text, 40)}: {suggest(text, known)}")
    return text


def _zone(text: str) -> str:
    if not _zone_of(text):
        raise InputError(f"{printable(text, 60)}: write such as Europe/Prague, or UTC")
    return text
