"""The page of a running game, without a service: what it weighs, and that it is the game's."""

import pytest

from judge.broadcast.events import GameStarted, Playing
from judge.broadcast.running import events_of_record
from judge.broadcast.state import Live
from judge.live.paint import Painter
from judge.live.running_pages import NEW_EVENTS, RunningPages
from judge.publish.pages import STYLE, PagePlace, asset
from judge.publish.site import LARGEST_PAGE
from judge.translations.language import CODES, languages
from tests.records import recorded

FIXED = sum(len(asset(name)) for name in (STYLE, "live.js"))


@pytest.mark.parametrize("family", ["board", "chess", "stratego"])
def test_the_page_of_a_long_game_weighs_no_more_than_any_other(family: str) -> None:
    """A full board of 20x20, and both agents say much of each search; also boards with pieces."""
    file = {"board": lambda: recorded.full_board(20), "chess": recorded.chess, "stratego": recorded.stratego_game}[
        family
    ]()
    live, seats = Live(), file.record.seats
    live.apply(GameStarted(game=1, attempt=1, at=file.record.started_at, first=seats[0].name, second=seats[1].name))
    for event in events_of_record(file, 1):
        live.apply(event)
    pages = RunningPages("cup", Painter(file.record.spec.policy))
    for language in languages(CODES):
        page = pages.one(live.games[1], live, 0, PagePlace("games/00001.html", language, languages(CODES)))

        assert len(page.data) <= LARGEST_PAGE - FIXED, language.code
        assert len(file.record.plies) == page.data.count(b'<tr id="')
        assert len(live.games[1].tokens) == page.data.count(b"data-at=")


def test_a_script_that_has_the_boards_is_sent_those_of_new_games_alone() -> None:
    file = recorded.gomoku()
    live, seats = Live(), file.record.seats
    began = next(event for event in events_of_record(file, 1) if isinstance(event, Playing))
    for game, seq in ((1, 5), (2, 6 + NEW_EVENTS)):
        started = GameStarted(game=game, attempt=1, at=began.at, first=seats[0].name, second=seats[1].name)
        live.apply(started.model_copy(update={"seq": seq - 1}))
        live.apply(began.model_copy(update={"seq": seq, "game": game}))
    pages, place = RunningPages("cup", Painter(file.record.spec.policy)), PagePlace("live.html")
    whole, new = (pages.all(live, 0, 2, place, only_new=only_new).data for only_new in (False, True))

    assert (2, 2) == (whole.count(b"<article"), whole.count(b"</svg>"))
    assert (2, 1) == (new.count(b"<article"), new.count(b"</svg>"))
    assert b'data-game="1" data-attempt="1" hidden></article>' in new
