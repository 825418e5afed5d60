"""`play(spec, programs) -> record`: makes boxes, lets the referee play, turns a failure of the host into a void."""

import gc
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import (
    AbstractContextManager,
    ExitStack,
    closing,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import structlog

from judge.errors import HostError
from judge.games.types import SEATS, End, Game
from judge.protocols import protocol_entry
from judge.referee.blame import Void
from judge.referee.folders import Shelf, folders_of, shelved
from judge.referee.make_record import Played, record_of
from judge.referee.match import Referee
from judge.referee.setup import build_referee
from judge.referee.side import Ply
from judge.referee.spec import (
    MatchSpec,
    Placement,
    RecordFile,
)
from judge.referee.transcript import Transcript, mark_private, seal
from judge.referee.wire import LiveWire
from judge.sandbox import BoxKind, open_box, open_keeper
from judge.sandbox.box import Box, BoxPolicy, Limits, Tenant
from judge.sandbox.cores import use_of
from judge.sandbox.folders import Folder, Keeper

LOGGED_BYTES = 4096
"""How much of the input that the judge stumbled over is logged."""

SPIN_NS = 100_000
"""How long a judge with a core of its own looks again before it sleeps."""

BoxBuilder = Callable[[BoxKind, Tenant, Limits, BoxPolicy], Box]
"""What makes a box; attacks are tried in boxes with one defence less."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Slot:
    """The cores that one game owns, and those that its judge runs on."""

    cores: tuple[int, ...] = ()
    judge_cores: tuple[int, ...] = ()

    @property
    def is_apart(self) -> bool:
        """Whether the judge has a core that the agents have not."""
        return bool(self.cores) and not set(self.cores) & set(self.judge_cores)


@dataclass(frozen=True, slots=True)
class Venue:
    """Where games are played, and who looks on.

    `slot` has the cores. `turn` is entered when the boxes are ready, and left when nothing of the game uses the slot
    any more: what comes before and after it may go on beside another game of the slot. Folders start from states on
    the `shelf`, and those that they end with are put there; the record names them, and only who keeps the record
    makes them count.

    `watch` hears of each answer at once. `follow` is given the growing transcript, packed, whenever the judge waits
    anyway (`judge.referee.spectator` makes a game of it again); it must not block. `build` makes the boxes.
    """

    slot: Slot = field(default_factory=Slot)
    shelf: Shelf | None = None
    turn: Callable[[], AbstractContextManager[object]] = nullcontext
    watch: Callable[[Ply], None] | None = None
    follow: Callable[[bytes], None] | None = None
    build: BoxBuilder = open_box


ANYWHERE = Venue()
"""No cores of its own, no folders, nobody looks on."""


def play(
    spec: MatchSpec,
    programs: Mapping[str, Path],
    attempt: int = 1,
    venue: Venue = ANYWHERE,
    game: Game | None = None,
) -> RecordFile:
    """Play one attempt of a match. `programs` has the staged files of each agent by digest.

    `game` is played in place of the one that the spec names (an interview); such a record cannot be verified.

    Never raises HostError: a host that fails makes a void record. Raises InputError for a spec that cannot be played.
    """
    folders = folders_of(spec, venue.shelf)
    transcript = Transcript(venue.follow)
    played = _play(_Stage(spec, programs, venue, transcript, game), folders)
    transcript.tell()
    if isinstance(played.end, Void):
        log.warning("void", match=spec.id, attempt=attempt, why=played.end.reason)
    sealed = seal(mark_private(transcript, _privacy(spec)))
    transcript.close()
    slot = venue.slot
    record = record_of(
        spec,
        played,
        attempt=attempt,
        started_at=played.started_at.isoformat(timespec="seconds"),
        seconds=round(played.seconds, 3),
        judge_late_ms=round(played.late_ns / 1e6, 3),
        placement=Placement(box=played.boxes, judge_cores=slot.judge_cores, slot_cores=slot.cores),
        transcript_sha256=sealed.sha256,
    )
    return RecordFile(record=record, transcript=sealed)


@dataclass(frozen=True, slots=True)
class _Stage:
    """What a game is played with."""

    spec: MatchSpec
    programs: Mapping[str, Path]
    venue: Venue
    transcript: Transcript
    game: Game | None


def _play(stage: _Stage, folders: Sequence[Folder]) -> Played:
    """The game between its keeper's two duties; what a void game leaves in the folders is not even looked at."""
    spec, slot, shelf = stage.spec, stage.venue.slot, stage.venue.shelf
    played = Played()
    cores = slot.judge_cores or slot.cores
    keeper = open_keeper(spec.box, folders, spec.id, cores, spec.policy.box)
    with closing(keeper):
        try:
            keeper.make()
            _play_in_boxes(stage, keeper, played)
            if shelf is not None and not isinstance(played.end, Void):
                played.folders = shelved(folders, keeper.collect(), shelf)
        except HostError as error:
            played.end = Void(str(error))
    return played


def _play_in_boxes(stage: _Stage, keeper: Keeper, played: Played) -> None:
    """The game in its boxes, which are gone afterwards whatever happens; `played` has what came of it."""
    spec, venue = stage.spec, stage.venue

    def new_box(seat: int) -> Box:
        tenant = _tenant(stage, seat, keeper)
        return venue.build(spec.box, tenant, spec.policy.enforced(), spec.policy.box)

    boxes = [new_box(seat) for seat in SEATS]
    with ExitStack() as at_end:
        for box in boxes:
            at_end.callback(box.close)
        _do_at_once(keeper.load, *(box.prepare for box in boxes))
        played.boxes = (boxes[0].name, boxes[1].name)
        with venue.turn():
            _play_at_the_slot(stage, boxes, new_box, played, at_end)


def _play_at_the_slot(
    stage: _Stage,
    boxes: Sequence[Box],
    new_box: Callable[[int], Box],
    played: Played,
    at_end: ExitStack,
) -> None:
    """The game on the slot's cores, where nothing of it runs afterwards."""
    # What is there by now stays: a full collection in the middle of a turn would be charged to an agent.
    gc.freeze()
    with ExitStack() as at_slot, _timed(played):
        # Afterwards it may go: a worker plays thousands of games.
        at_slot.callback(gc.unfreeze)
        for box in boxes:
            at_slot.callback(box.leave)
            box.enter()
        wire = _wire(stage, boxes, new_box)
        at_end.callback(wire.close)
        at_end.callback(lambda: _do_at_once(*(box.close for box in wire.boxes)))
        at_slot.callback(lambda: played.note_lingering(wire.leave()))
        played.referee = build_referee(stage.spec, wire, stage.venue.watch, stage.game)
        played.end = _refereed(stage, played.referee)
        played.late_ns = wire.late_ns
        with suppress(HostError):  # the game is over: what cannot be read any more changes nothing
            played.readings = (wire.boxes[0].readings(), wire.boxes[1].readings())


def _refereed(stage: _Stage, referee: Referee) -> End | Void:
    """The end of the game; a mistake of the judge's own costs one attempt, never what was seen of it."""
    try:
        return referee.play()
    except (HostError, BrokenPipeError):
        raise  # the host failed, or whoever looked on has gone
    except Exception as error:  # noqa: BLE001 whatever it is, the transcript says what led to it
        return _failed(stage, error)


def _failed(stage: _Stage, error: Exception) -> Void:
    """The void of a game that the judge stumbled over. The log has the input and the error; the record says where both
    are, for a record is public and neither need be."""
    entry = stage.transcript.last_read()
    when = "before any agent said anything"
    if entry is not None:
        name = stage.spec.seats[entry.seat].name
        when = f"after {name} (seat {entry.seat}) said something at {entry.ns / 1e6:.3f} ms of the transcript"
    log.error(
        "the judge failed",
        match=stage.spec.id,
        when=when,
        input=repr(entry.data[-LOGGED_BYTES:]) if entry is not None else "",
        error=repr(error),
        traceback="".join(traceback.format_exception(error)),
    )
    return Void(
        f"the judge failed {when}: {type(error).__name__}; this is a mistake of the judge's: "
        "report it with the record and the judge's log"
    )


@contextmanager
def _timed(played: Played) -> Iterator[None]:
    """Take down when the game had its slot, and for how long."""
    played.started_at, began = datetime.now(UTC), monotonic()
    try:
        yield
    finally:
        played.seconds = monotonic() - began


def _wire(stage: _Stage, boxes: Sequence[Box], new_box: Callable[[int], Box]) -> LiveWire:
    spec, slot = stage.spec, stage.venue.slot
    is_alone = spec.policy.box.sharing == 1
    # Where the Engine carries the bytes, its work on the slot's cores is an agent's doing, and cannot be told apart.
    counts_cores = (
        is_alone and bool(slot.cores) and {box.name for box in boxes} <= {"docker-pipes", "person"}
    )
    return LiveWire(
        boxes,
        stage.transcript,
        new_box,
        (lambda: use_of(slot.cores)) if counts_cores else None,
        len(slot.cores),
        spec.policy.bytes.stderr_bytes,
        SPIN_NS if slot.is_apart and is_alone else 0,
        spec.policy.bytes.least_bytes,
    )


def _tenant(stage: _Stage, seat: int, keeper: Keeper) -> Tenant:
    spec, slot = stage.spec, stage.venue.slot
    choice = spec.seats[seat]
    return Tenant(
        name=choice.name,
        program=stage.programs[choice.digest],
        command=choice.command,
        runtime=choice.runtime,
        seat=seat,
        match_id=spec.id,
        cores=slot.cores,
        cradle=slot.judge_cores if slot.is_apart else (),
        uid=keeper.uids.get(seat),
        folders={kind: at for (whose, kind), at in keeper.places.items() if whose == seat},
    )


def _do_at_once(*steps: Callable[[], None]) -> None:
    """Take several steps together: most of each is waiting for the Engine."""
    with ThreadPoolExecutor(len(steps)) as pool:
        for done in [pool.submit(step) for step in steps]:
            done.result()


def _privacy(spec: MatchSpec) -> Callable[[int, bytes], bool]:
    tests = [protocol_entry(seat.protocol).is_private for seat in spec.seats]
    return lambda seat, line: tests[seat](line)
