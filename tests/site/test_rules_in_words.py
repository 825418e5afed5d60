"""The first page of a contest explains how a game is won, and the limits of an agent."""

from typing import Any

import pytest

from judge.catalog import game_entry
from judge.catalog.entry import GameEntry
from judge.record.policy import load_policy, policy_names
from judge.site.rules import rules_in_words
from judge.translations.language import CODES, ENGLISH, language
from tests.site.test_site import a_contest
from tests.site.whole_site import texts


@pytest.mark.parametrize(
    ("game", "options", "words"),
    [
        ("gomoku", {"rule": "freestyle"}, "five or more stones without a gap, straight or diagonally, wins"),
        ("gomoku", {"rule": "standard"}, "exactly five stones without a gap, straight or diagonally, wins"),
        ("gomoku", {"rule": "renju"}, "Black may not make a line of six or more, two fours or two open threes"),
        ("gomoku", {"rule": "caro"}, "does not count if stones of the opponent block both its ends"),
        ("gomoku", {"rule": "caro-overline"}, "five or more stones"),
        ("gomoku", {"rule": 2}, "five or more stones without a gap, straight or diagonally, scores a point"),
        ("stratego", {"rules": "stratego-seed"}, "higher value of the remaining pieces wins"),
        ("stratego", {"rules": "stratego-2011"}, "only bombs and the flag left, the game is a draw"),
        ("stratego", {"rules": "stratego-2012"}, "is left with only bombs and the flag"),
        ("quantum-chess", {}, "captures the opponent's king wins; there is no check. A piece may be one of two types"),
        ("quantum-chess", {"variant": "classical"}, "captures the opponent's king wins"),
    ],
)
def test_goal_follows_the_options_and_is_translated(game: str, options: dict[str, Any], words: str) -> None:
    size = {"width": 15, "height": 15} if game == "gomoku" else {}
    found = game_entry(game).goal({**size, **options})

    assert words in " ".join(found)
    assert len(found) <= (1 if "variant" in options else 3)  # without pieces of two types
    for code in CODES[1:]:
        assert all(language(code).sentence(each) for each in found), code


@pytest.mark.parametrize("name", policy_names())
def test_every_policy_has_a_goal_and_limits(name: str) -> None:
    found = rules_in_words(load_policy(name), {}, ENGLISH)

    assert found.goal
    assert "Time of each agent: " in found.limits
    assert " 0 ms" not in found.limits


def test_fastest_play_has_the_time_that_is_allowed() -> None:
    policy = load_policy("gomocup-standard", ["clock.turn_ms=0", "clock.match_ms=0"])

    assert "Time of each agent: 1 s a move. " in rules_in_words(policy, {}, ENGLISH).limits


def test_game_without_a_goal_shows_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(game_entry("gomoku")), "goal", GameEntry.goal)
    policy = load_policy("gomocup-standard")

    found = rules_in_words(policy, {}, ENGLISH)

    assert () == found.goal
    assert found.limits.startswith("Time of each agent: 30 s a move, 3 min a game. Memory")


def test_goal_of_a_game_without_translation_is_marked_as_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(game_entry("gomoku")), "goal", lambda *_: ["Take the <last> match."])
    pages = texts(a_contest(("one", "two"), ()), *CODES)

    assert "<p>Take the &lt;last&gt; match. <" in pages["index.html"]
    assert '<p><span lang="en">Take the &lt;last&gt; match.</span> <' in pages["cs/index.html"]
