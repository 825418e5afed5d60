"""Stratego: its entry among the games."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from judge.catalog.entry import GameEntry, Partner, ResultWord, ResultWords
from judge.games.person import PersonWords
from judge.games.stratego import Stratego
from judge.games.types import SEATS, Game
from judge.records.formats import FileFormat, FileFormats
from judge.records.steps import Stepped
from judge.records.views import BoardView

_LOG = re.compile(rb"\S+ (RED|BLUE) SETUP|An illegal setup|Controller for Player")


class StrategoEntry(GameEntry):
    """Stratego as UCC's contests played it."""

    name = "stratego"
    protocol = "stratego"
    partners = (Partner("house-stratego-instant"),)
    practice = (Partner("house-stratego"), Partner("house-stratego-instant"))

    def new(self, options: Mapping[str, Any]) -> Stratego:
        """A game with these options."""
        return Stratego.from_options(options)

    def view(self, game: Game, seat: int | None = None) -> BoardView:
        """Both armies by their letters."""
        from judge.records.stratego.view import stratego_view

        return stratego_view(_stratego(game), seat)

    def public(self, game: Game) -> BoardView:
        """Where the pieces of both armies are, but not which; during the set-up nothing."""
        views = [self.view(game, seat) for seat in SEATS]
        is_set_up = _stratego(game).turn > 0
        hidden = {
            square: token
            for seat, view in enumerate(views)
            for square, token in view.tokens.items()
            if token.side != seat and is_set_up
        }
        return replace(views[0], tokens=hidden)

    def formats(self) -> FileFormats[bytes]:
        """The log of UCC's managers; a game is the bytes of its log."""
        from judge.records.stratego.log import read_log
        from judge.records.stratego.replay import log_of_record

        def read(data: bytes, source: str) -> Sequence[bytes]:
            read_log(data, source)
            return (data,)

        log = FileFormat(".log", bytes, read, lambda data: _LOG.match(data) is not None, is_export=True)
        return FileFormats(lambda file: log_of_record(file.record), {"log": log})

    def read_log(self, data: bytes, source: str) -> Stepped:
        """The game by the first rule set that the log does not contradict."""
        from judge.records.stratego.log import read_log
        from judge.records.stratego.steps import stratego_steps

        return stratego_steps(read_log(data, source))

    def replay_log(self, data: bytes, source: str) -> str:
        """The rule set and the result line."""
        from judge.records.stratego.log import read_log
        from judge.records.stratego.steps import rules_of

        log = read_log(data, source)
        rules, game = rules_of(log)
        return f"{rules}, {game.result(log.names) if game.end else 'unfinished'}"

    def result_words(self, options: Mapping[str, Any]) -> ResultWords:
        """OUTCOME of the result line."""
        from judge.games.stratego.options import read_options

        rules = read_options(options)
        words = {"VICTORY", "SURRENDER", "DRAW", "DRAW_DEFAULT", "ILLEGAL", "BOTH_ILLEGAL"}
        if rules.no_move == "judged":
            words.add("DEFEAT")
        if rules.quiet_limit:
            words.add("INTERNAL_ERROR")
        words.add("DEFAULT" if rules.setup_word == "blame" else rules.setup_word)
        return ResultWords(frozenset(words), _read_result)

    def person(self) -> PersonWords:
        """All its requests and events."""
        from judge.catalog.stratego_person import StrategoWords

        return StrategoWords()


def _stratego(game: Game) -> Stratego:
    if not isinstance(game, Stratego):
        raise TypeError(f"not a game of Stratego: {game!r}")
    return game


def _read_result(text: str) -> ResultWord | None:
    from judge.records.stratego.log import read_result

    line = read_result(text)
    if line is None:
        return None
    return ResultWord(line.points_word, {"RED": 0, "BLUE": 1}.get(line.colour))


ENTRY = StrategoEntry()
