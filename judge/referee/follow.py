"""A running game, as far as its transcript has arrived."""

from collections.abc import Sequence

from judge.base.errors import HostError, InputError
from judge.base.logs import get_logger
from judge.referee.observer import SeatViews
from judge.referee.replay import Replay
from judge.referee.setup import build_referee
from judge.referee.spec import GameSpec
from judge.referee.transcript import Entry

log = get_logger()


class FollowedGame(SeatViews):
    """Its referee takes the entries one by one."""

    def __init__(self, spec: GameSpec) -> None:
        """Raises InputError for an invalid spec."""
        super().__init__()
        self.spec = spec
        self.referee = build_referee(spec, self)
        self.replay = Replay(self.referee)
        self._is_broken = False

    @property
    def is_over(self) -> bool:
        """It has ended, or can be followed no further: voids end early, and `judge verify` reports other deviations."""
        return self._is_broken or self.replay.end is not None

    def follow(self, entries: Sequence[Entry]) -> bool:
        """Continue the game with these entries; returns whether others may follow. Never raises."""
        if self.is_over:
            return False
        try:
            self.replay.feed(entries)
        except (InputError, HostError):
            self._is_broken = True
        except Exception as error:  # noqa: BLE001 viewers lose this game only
            self._is_broken = True
            log.warning("a running game cannot be followed", game=self.spec.id, error=repr(error))
        return not self.is_over
