"""The plan of the real Gomocup of 2026: 70 programs in nine leagues, 57 of them in Fastgame."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judge.base.toml_files import toml_value
from judge.cli import app
from judge.host.house_agents import build_house_agents
from judge.tournament.skipped_pairs import PreviousTable, league_ratings
from tests.statistics.cup_records import data, rows
from tests.tournament.test_skipped_pairs import rated, record_of

pytestmark = pytest.mark.docker  # an estimate checks for images

LOST = {"f": ["SWINE17", "DEEPFIRE19"], "r": ["SKYZERO", "MONAS"]}
"""Programs that the records of Fastgame and Renju lack."""

FOLDERS = "folders.round=first"
"""Games do not wait for folders of earlier games, so all cores are used."""

LEAGUES = {
    "2": ("gomocup-freestyle", ""),
    "1": ("gomocup-freestyle:finals", 'after = "2"\npromotes_new = true'),
    "p": ("gomocup-freestyle-15", ""),
    "o": ("gomocup-freestyle-15:finals", 'after = "p"\npromotes_new = true'),
    "f": ("gomocup-fastgame", ""),
    "t": ("gomocup-standard", ""),
    "s": ("gomocup-standard:finals", 'after = "t"\npromotes_new = true'),
    "r": ("renju-15:finals", ""),
    "c": ("gomocup-caro:finals", ""),
}
"""Policy and predecessor of each league."""

EXPECTED = {
    "2": (45, 529, 461), "1": (16, 120, 0), "p": (36, 475, 155), "o": (12, 66, 0), "f": (57, 802, 794),
    "t": (14, 86, 5), "s": (12, 66, 0), "r": (17, 136, 0), "c": (7, 21, 0),
}  # fmt: skip
"""Programs, pairs that met and pairs that were left out, with the programs that the records lack."""


def programs(root: Path, league: str) -> list[str]:
    lines = record_of(root, f"2026_{league}")
    return [*dict.fromkeys(name for pair in lines for name in pair[:2]), *LOST.get(league, ())]


def ratings(root: Path, league: str, agents: list[str]) -> Mapping[str, float]:
    """The ratings that decided which pairs met: as published, or by the rule from the games of 2025."""
    used = root / f"expected/ratings-used/2026_{league}.csv"
    if used.exists():
        known = {row["program"]: float(row["rating_used"]) for row in rows(used) if row["rating_used"]}
        if set(agents) <= known.keys():
            return known
    disqualified = {(row["name"], row["league"]) for row in rows(root / "names/blacklist.csv")}
    tables = [
        PreviousTable(before, rated(root, f"2025_{before}", disqualified)) for before in {"2": "21"}.get(league, league)
    ]
    return {agent: each.rating for agent, each in league_ratings(agents, tables).items()}


def write_cup(root: Path, folder: Path) -> Path:
    """The cup as it was held. A first league lists the programs with a seat, without the four promoted ones."""
    entered: dict[str, list[str]] = {}
    text = 'name = "gomocup-2026"\n'
    first = {"1": "2", "o": "p", "s": "t"}  # the first four of II by place, which is the order in a record
    for league, (policy, after) in LEAGUES.items():
        agents = programs(root, league)
        risen = programs(root, first[league])[:4] if league in first else ()
        for agent in agents:
            if agent not in risen:
                entered.setdefault(agent, []).append(league)
        skip = {}
        if EXPECTED[league][2]:
            with (folder / f"{league}.csv").open("w", newline="") as file:
                found = ratings(root, league, agents)
                csv.writer(file).writerows([("agent", "rating"), *((name, f"{found[name]:g}") for name in agents)])
            skip = {"skip": {"ratings": f"{league}.csv"}}
        form = {"name": "round-robin", "games": 24, "ranking": ["rating"], **skip}
        text += f'[[leagues]]\nname = "{league}"\npolicy = "{policy}"\n{after}\n'
        text += f"format = {toml_value(form)}\nchange = {toml_value([FOLDERS])}\n"
    text += "".join(f'[[machines]]\nname = "cloud-{number}"\ncores = 32\n' for number in range(1, 5))
    for agent, leagues in entered.items():
        text += f'[[entries]]\npath = "house-instant"\nname = "{agent}"\nleagues = {toml_value(leagues)}\n'
    (folder / "cup.toml").write_text(text)
    return folder


def test_gomocup_2026_has_the_published_pairs_and_games(tmp_path: Path) -> None:
    cup = write_cup(data(), tmp_path)
    build_house_agents()

    ran = CliRunner().invoke(app, ["cup", "plan", str(cup), "--json"])

    document = json.loads(ran.stdout)
    assert (0, []) == (ran.exit_code, document["missing"])
    found = {each["league"]: (each["agents"], each["pairs"], each["left_out"]) for each in document["leagues"]}
    assert found == EXPECTED
    assert 55_224 == sum(each["games"] for each in document["leagues"])
    assert (128, 73) == (document["cores"], int(document["hours"]["busy"]))
    assert document["hours"]["most"] < 75
    shown = CliRunner().invoke(app, ["cup", "plan", str(cup)]).stdout
    assert "gomocup-2026: 9 leagues, 70 entries" in shown
