"""The certificate of fairness of a running contest."""

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from judge.base.errors import InputError
from judge.contest_games import GameConditions
from judge.contest_view.values import conditions_of
from judge.contest_view.view import ContestView
from judge.site.game_files import read_stored_record
from judge.statistics.fairness import FairnessTest

NEW_SHARE = 0.05

READ_SHARE = 0.2
"""Of the time, for requests of the certificate."""

READ_S, READ_BEFORE_S = 0.25, 0.05
"""Time for reading records for the certificate of fairness, and with each new state of the contest."""


class Certificate:
    """The fairness certificate of the games so far. Each record is read once, until the end in bounded time."""

    def __init__(self, files: Path, *, is_static: bool) -> None:
        self._files = files
        self._is_static = is_static
        self._conditions: dict[str, GameConditions] = {}
        self._tested: ContestView | None = None
        self._shown: ContestView | None = None
        """The contest of `_tested`, without the games' conditions."""
        self._of = 0
        self._read_at = 0.0

    def tested(self, contest: ContestView) -> ContestView:
        """The contest with its games' conditions, maybe outdated. Raises InputError for a missing or changed record."""
        played = _records(contest)
        began = time.monotonic()
        if contest.is_over:  # also its end, which needs no new result, is shown
            is_enough = len(played) == self._of and contest is self._shown
        else:
            is_enough = len(played) == self._of or len(played) < (1 + NEW_SHARE) * self._of
        if self._tested is not None and (is_enough or (began < self._read_at and not self._is_static)):
            return self._tested
        known = self._read(played, math.inf if self._is_static and contest.is_over else READ_S)
        self._read_at = time.monotonic() + (time.monotonic() - began) / READ_SHARE
        games = [
            game if game.result is None else replace(game, conditions=self._conditions.get(game.result.record))
            for game in contest.games
        ]
        self._tested, self._shown = replace(contest, games=games), contest
        self._of = known
        return self._tested

    def read(self, contest: ContestView) -> None:
        with suppress(InputError):  # `tested` names the record
            self._read(_records(contest), READ_BEFORE_S)

    @property
    def tests(self) -> Sequence[FairnessTest]:
        """The latest tests; initially empty."""
        return () if self._tested is None else self._tested.fairness

    def _read(self, records: Sequence[str], limit_s: float) -> int:
        until = time.monotonic() + limit_s
        for known, record in enumerate(records):
            if record not in self._conditions:
                if time.monotonic() > until:
                    return known
                self._conditions[record] = conditions_of(read_stored_record(self._files, record))
        return len(records)


def _records(contest: ContestView) -> Sequence[str]:
    return [game.result.record for game in contest.games if game.result is not None]
