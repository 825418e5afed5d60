"""Adds up the games of `judge match --json` documents: a table of standings, and where the records are.

Usage: standings.py FILE...    A win is one point, a draw half a point; a void game counts for nobody.
"""

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

VOID = "void"


def main(files: list[str]) -> None:
    games = [game for file in files for game in json.loads(Path(file).read_text())["games"]]
    rows = standings(games)
    width = max(len(name) for name, _ in rows)
    print(f"{'standings':<{width}}   points  games  wins  draws  losses")
    for name, score in rows:
        numbers = f"{points(score):6.1f}{score['games']:7}{score['win']:6}{score['draw']:7}"
        print(f"{name:<{width}}   {numbers}{score['loss']:8}")
    print("\nrecords")
    for game in games:
        print(f"  {describe(game)}\n    {game['record']}")


def standings(games: list[dict[str, Any]]) -> list[tuple[str, Counter[str]]]:
    """Each agent's counts of games, wins, draws and losses, best first."""
    scores: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for game in games:
        for seat, agent in enumerate(game["seats"]):
            scores[agent["name"]].update(outcome(game, seat))
    return sorted(scores.items(), key=lambda row: (-points(row[1]), row[0]))


def outcome(game: dict[str, Any], seat: int) -> list[str]:
    if game["verdict"] == VOID:
        return []
    if game["winner"] is None:
        return ["games", "draw"]
    return ["games", "win" if game["winner"] == seat else "loss"]


def points(score: Counter[str]) -> float:
    return score["win"] + score["draw"] / 2


def describe(game: dict[str, Any]) -> str:
    first, second = (seat["name"] for seat in game["seats"])
    if game["verdict"] == VOID:
        result = VOID
    elif game["winner"] is None:
        result = "drawn"
    else:
        result = f"{game['seats'][game['winner']]['name']} wins"
    text = f"{first} - {second}: {result} after {game['moves']} moves ({game['reason']})"
    return "".join(c if c.isprintable() else "?" for c in text)


if __name__ == "__main__":
    main(sys.argv[1:])
