"""Phrases that readers stumbled over are in no message, help text or document."""

import re
from pathlib import Path

import pytest

from tests.golden.commands import all_commands

ROOT = Path(__file__).parents[2]

PHRASES = [
    *("Games that are played now", "The game is made ready", "it is played now", "Results come by themselves"),
    *("This contest is still played", "What the results tell", "Sitting first is worth", "Equals draw"),
    *("Ratings tell the results", "no upper end", "no lower end", "up and down from the middle", "Seed of chance"),
    *("An effect of the seat is the game's", "p of all", "Would be found", "Chance follows besides", "runs now"),
    *("waits for a slot that is free", "it failed the check of", "nothing else wants the slot", "your agent lost"),
    *("What is withheld from the public record", "your webhook; empty", "For e-mail ask the organiser", "67,108,864"),
    *("if it is not in the manifest", "No judge of this machine plays", "By its file", "running games are finished"),
    *("The same form sent again changes nothing", "is good for watching", "its own words say that it misses"),
    *("of what it said was ignored", "wins where one stone wins", "name the program that plays pbrain"),
    *("directories are parted by", "Twice is once", "All chance comes from it", "A person too has"),
    *("for each author what only", "What stands behind the"),
]


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    catalogue = (ROOT / "judge/translations/cs.po").read_text(encoding="utf-8")
    messages = re.findall(r'^msgid ((?:".*"\n)+)', catalogue, re.MULTILINE)
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    found = {str(path): path.read_text(encoding="utf-8") for path in pages}
    found["help"] = "\n".join(each.command.get_help(each) for each in all_commands())
    found["messages"] = "\n".join(re.sub(r'"\n"|"', "", message) for message in messages)
    return {name: " ".join(text.split()) for name, text in found.items()}


@pytest.mark.parametrize("phrase", PHRASES)
def test_phrase_is_replaced_everywhere(texts: dict[str, str], phrase: str) -> None:
    assert [] == [name for name, text in texts.items() if phrase in text]
