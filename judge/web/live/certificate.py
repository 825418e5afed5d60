"""The fairness certificate of a running contest: by the export's code, of the games so far, and again now and then.

Where and when a game was played is in its record. Each record is read once, for a bounded time whenever somebody asks;
the tests are computed again when there is a share of new games, so all of it costs little however long a contest is.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from judge.matches import GameConditions
from judge.publish.load import conditions_of
from judge.publish.model import PublishedContest, PublishedMatch
from judge.site.match_files import read_stored
from judge.statistics.fairness import FairnessTest

NEW_SHARE = 0.05
"""It is computed again when so many more games were played; and when the contest is over."""

READ_S = 0.25
"""For how long records are read at once; the rest is read when it is asked for again."""


class Certificate:
    """Remembers the conditions of games, and the contest as it was when its machines were tested last."""

    def __init__(self, files: Path) -> None:
        """`files` has the records of the store."""
        self._files = files
        self._conditions: dict[str, GameConditions] = {}
        self._tested: PublishedContest | None = None
        self._of = 0

    def tested(self, contest: PublishedContest) -> PublishedContest:
        """The contest with the conditions of its games, or as it was a few games ago, so that its tests are known.

        Raises InputError if a record is missing or was changed.
        """
        played = [match.result.record for match in contest.matches if match.result is not None]
        enough = len(played) if contest.is_over else (1 + NEW_SHARE) * self._of
        if self._tested is not None and (len(played) == self._of or len(played) < enough):
            return self._tested
        known = self._read(played)
        self._tested = replace(contest, matches=[self._placed(match) for match in contest.matches])
        # What could not be read yet is read when it is asked for again.
        self._of = known
        return self._tested

    @property
    def tests(self) -> Sequence[FairnessTest]:
        """Those that were made last; none if nobody has asked for them."""
        return () if self._tested is None else self._tested.fairness

    def _read(self, records: Sequence[str]) -> int:
        """Read records for a while; how many of them are known then."""
        until = time.monotonic() + READ_S
        for known, record in enumerate(records):
            if record not in self._conditions:
                if time.monotonic() > until:
                    return known
                self._conditions[record] = conditions_of(read_stored(self._files, record).record)
        return len(records)

    def _placed(self, match: PublishedMatch) -> PublishedMatch:
        return match if match.result is None else replace(match, conditions=self._conditions.get(match.result.record))
