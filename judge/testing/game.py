"""A game between scripted agents, refereed live in a world and again from its transcript."""

from judge.games.types import End, Verdict
from judge.referee.blame import Void
from judge.referee.make_record import plies_of, verdict_of, winner_of
from judge.referee.referee import Referee
from judge.referee.replay import ReplayWire
from judge.referee.setup import build_referee
from judge.referee.spec import RECORD_FORMAT, GameSpec, SeatSpec
from judge.referee.transcript import seal, unseal
from judge.testing.world import World


class ScriptedGame:
    """A finished game; `referee` has its game, sides and clocks, `faults` a verdict or None by seat."""

    def __init__(self, world: World, game_spec: GameSpec, *, record_format: int = RECORD_FORMAT) -> None:
        """Referee the game to its end, as the judge that wrote records of this format.

        Raises AssertionError if its transcript replays to a different game.
        """
        self.world = world
        self._format = record_format
        self.referee: Referee = build_referee(game_spec, world, record_format=record_format)
        self.end: End | Void = self.referee.play()
        self.verdict: Verdict = verdict_of(self.end)
        self.winner = winner_of(self.end)
        self.faults = [side.fault and side.fault.verdict for side in self.referee.sides]
        self._replay(game_spec)

    def _replay(self, game_spec: GameSpec) -> None:
        wire = ReplayWire(unseal(seal(self.world.entries)))
        again = build_referee(game_spec, wire, record_format=self._format)
        end = again.play()
        live, replayed = self.referee, again
        for what, expected, found in (
            ("end", self.end, end),
            ("answers", plies_of(live), plies_of(replayed)),
            ("evidence", [side.evidence for side in live.sides], [side.evidence for side in replayed.sides]),
        ):
            if expected != found:
                raise AssertionError(f"another {what} in the replay: {expected!r} became {found!r}")
        if not wire.is_finished:
            raise AssertionError("the replay ends before the transcript does")


def scripted_seats(protocol: str, names: tuple[str, str] = ("one", "two")) -> tuple[SeatSpec, SeatSpec]:
    """Return seats for a spec with scripted agents, which need no programs."""

    def seat(name: str) -> SeatSpec:
        return SeatSpec(name=name, digest="0" * 64, command=("./agent",), runtime="native", protocol=protocol)

    return seat(names[0]), seat(names[1])
