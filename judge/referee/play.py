"""`play(spec, programs) -> record`: makes the boxes, runs the referee, turns a failure of the host into a void."""

import platform
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from judge.base.errors import HostError
from judge.base.garbage import exempt
from judge.base.logs import get_logger
from judge.base.scheduling import woken_at_once
from judge.games.types import SEATS, End, Game, Verdict
from judge.protocols import protocol_entry
from judge.referee.blame import Cause, Void, judge_failure
from judge.referee.folder_shelf import Shelf, folders_of, shelved
from judge.referee.live_wire import LiveWire
from judge.referee.make_record import NOTHING_READ, Circumstances, RefereedGame, record_of
from judge.referee.pulse import Pulse, pulse
from judge.referee.referee import Referee
from judge.referee.setup import build_referee
from judge.referee.side import Ply
from judge.referee.spec import FolderRecord, GameSpec, Placement, RecordFile
from judge.referee.transcript import Transcript, mark_private, seal
from judge.sandbox import BoxKind, open_box, open_keeper
from judge.sandbox.box import Box, BoxPolicy, FolderKind, Limits, Tenant
from judge.sandbox.folders import FolderKey, Keeper
from judge.sandbox.host_activity.core_use import CoreUse
from judge.sandbox.host_activity.stalls import StallWatch, watch_stalls
from judge.sandbox.runtimes import path_for

LOGGED_BYTES = 4096
"""How much of the input that caused an error in the judge is logged."""

SPIN_NS = 100_000
"""How long a judge with a core of its own looks again before it sleeps."""

BoxBuilder = Callable[[BoxKind, Tenant, Limits, BoxPolicy], Box]
"""Makes a box; attacks are also tried in boxes that lack one defence."""

log = get_logger()


@dataclass(frozen=True, slots=True)
class Slot:
    """The cores that one game owns, those that its judge runs on, and what records call the machine of both."""

    cores: tuple[int, ...] = ()
    judge_cores: tuple[int, ...] = ()
    host: str = field(default_factory=platform.node)

    @property
    def is_apart(self) -> bool:
        """Whether the judge has cores of its own."""
        return bool(self.cores) and not set(self.cores) & set(self.judge_cores)


@dataclass(frozen=True, slots=True)
class Venue:
    """Where games are played, and what observes them.

    `slot` has the cores. `turn` is entered when the boxes are ready, and left when the game no longer uses the slot:
    the steps before and after may run beside another game of the slot. Folders start from states on the `shelf`, and
    their new states are put there. The record names them; they count when the record is stored.

    `watch` is called with each answer at once. `follow` is called with the new part of the transcript, packed, while
    the judge waits anyway (`judge.referee.spectator` replays it); it must not block. `build` makes the boxes, `wire`
    the wire to them, and `referee` the referee; attacks are also tried with ones that lack a defence.
    """

    slot: Slot = field(default_factory=Slot)
    shelf: Shelf | None = None
    turn: Callable[[], AbstractContextManager[object]] = nullcontext
    watch: Callable[[Ply], None] | None = None
    follow: Callable[[bytes], None] | None = None
    build: BoxBuilder = open_box
    wire: type[LiveWire] = LiveWire
    referee: Callable[..., Referee] = build_referee
    """Called as `build_referee` is."""


ANYWHERE = Venue()
"""No cores of its own, no folders, no observers."""


def play(
    spec: GameSpec, programs: Mapping[str, Path], attempt: int = 1, venue: Venue = ANYWHERE, game: Game | None = None
) -> RecordFile:
    """Play one attempt of a game. `programs` has the staged files of each agent by digest.

    `game` is played in place of the one that the spec names (an interview); such a record cannot be verified.

    Never raises HostError: if the host fails, the record is void. Raises InputError for a spec that cannot be played.
    """
    slot, shelf = venue.slot, venue.shelf
    folders = folders_of(spec, shelf)
    transcript = Transcript(venue.follow)
    time_at_slot = _Timer()
    end: End | Void
    referee, readings, late_ns = None, NOTHING_READ, 0
    lingered_s: list[float] = []
    names: tuple[str, ...] = ()
    kept: Mapping[FolderKey, FolderRecord] = {}
    cores = slot.judge_cores or slot.cores
    with closing(open_keeper(spec.box, folders, spec.id, cores, spec.policy.box)) as keeper:

        def new_box(seat: int, policy: BoxPolicy = spec.policy.box.once) -> Box:
            tenant = _tenant(spec, seat, programs, slot, keeper)
            return venue.build(spec.box, tenant, spec.policy.enforced(), policy)

        try:
            keeper.make()
            with ExitStack() as at_end:
                boxes = [new_box(seat, spec.policy.box) for seat in SEATS]
                for box in boxes:
                    at_end.callback(box.close)
                _do_at_once(keeper.load, *(box.prepare for box in boxes))
                names = (_kind_of(boxes[0], spec), _kind_of(boxes[1], spec))
                stalls = _stall_watch(boxes, at_end)
                # A full collection in a turn would be charged to an agent.
                with venue.turn(), exempt(), woken_at_once(), ExitStack() as at_slot, time_at_slot, pulse() as beats:
                    for box in boxes:
                        at_slot.callback(box.leave)
                        box.enter()
                    wire = _wire(venue.wire, spec, slot, boxes, transcript, new_box, stalls, beats)
                    at_end.callback(wire.close)
                    at_end.callback(lambda: _do_at_once(*(box.close for box in wire.boxes)))
                    at_slot.callback(lambda: lingered_s.extend(wire.leave()))
                    referee = venue.referee(spec, wire, venue.watch, game, folders=_paths_of_folders(spec, keeper))
                    end = _end_of(referee, spec, transcript)
                    late_ns = wire.late_ns
                    # The game is over: readings that fail change nothing.
                    with suppress(HostError):
                        readings = (wire.boxes[0].meter.readings(), wire.boxes[1].meter.readings())
            # The folders of a void game are not read.
            if shelf is not None and not isinstance(end, Void):
                kept = shelved(folders, keeper.collect(), shelf)
        except HostError as error:
            end = judge_failure(Cause.HOST, str(error))
    transcript.tell()
    if isinstance(end, Void):
        log.warning("void", game=spec.id, attempt=attempt, why=end.reason)
    is_private = [protocol_entry(seat.protocol).is_private for seat in spec.seats]
    sealed = seal(mark_private(transcript, lambda seat, line: is_private[seat](line)))
    transcript.close()
    record = record_of(
        spec,
        RefereedGame(end, referee, readings, lingered_s or (0.0, 0.0), kept),
        Circumstances(
            attempt=attempt,
            started_at=time_at_slot.started_at.isoformat(timespec="seconds"),
            seconds=round(time_at_slot.seconds, 3),
            judge_late_ms=round(late_ns / 1e6, 3),
            placement=Placement(box=names, judge_cores=slot.judge_cores, slot_cores=slot.cores, host=slot.host),
            transcript_sha256=sealed.sha256,
        ),
    )
    return RecordFile(record=record, transcript=sealed)


def play_until_scored(
    spec: GameSpec,
    programs: Mapping[str, Path],
    venue: Venue = ANYWHERE,
    *,
    new_game: Callable[[], Game] | None = None,
    before: Callable[[int], None] | None = None,
    after: Callable[[RecordFile], None] | None = None,
) -> RecordFile:
    """Play a game again while it is void, as often as the policy says; the record of the last attempt.

    `before` is called with the number of each attempt, from 1, and `after` with its record. `new_game` makes the game
    of each attempt in place of the one that the spec names. Raises as `play` and the callbacks do.
    """
    for attempt in range(1, spec.policy.attempts + 1):
        if before is not None:
            before(attempt)
        file = play(spec, programs, attempt, venue, None if new_game is None else new_game())
        if after is not None:
            after(file)
        if file.record.verdict is not Verdict.VOID:
            break
    return file


def _end_of(referee: Referee, spec: GameSpec, transcript: Transcript) -> End | Void:
    """Play the game to its end; an error in the judge costs one attempt, but not its transcript."""
    try:
        return referee.play()
    except (HostError, BrokenPipeError):
        raise  # the host failed, or an observer has gone
    except Exception as error:  # noqa: BLE001 whatever it is, the transcript says what led to it
        return _failed(spec, transcript, error)


def _failed(spec: GameSpec, transcript: Transcript, error: Exception) -> Void:
    """The void of a game in which the judge raised an error. The log has the input and the error; the record, which is
    public, says only after which entry it happened."""
    entry = transcript.last_read()
    when = "before any agent said anything"
    if entry is not None:
        name = spec.seats[entry.seat].name
        when = f"after {name} (seat {entry.seat}) said something at {entry.ns / 1e6:.3f} ms of the transcript"
    log.error(
        "the judge failed",
        game=spec.id,
        when=when,
        input=repr(entry.data[-LOGGED_BYTES:]) if entry is not None else "",
        error=repr(error),
        traceback="".join(traceback.format_exception(error)),
    )
    return judge_failure(Cause.JUDGE, f"{when}: {type(error).__name__}")


class _Timer:
    """Measures a `with` block: when it began, and how many seconds it took."""

    def __init__(self) -> None:
        self.started_at, self.seconds = datetime.now(UTC), 0.0

    def __enter__(self) -> None:
        self.started_at, self._began = datetime.now(UTC), monotonic()

    def __exit__(self, *_error: object) -> None:
        self.seconds = monotonic() - self._began


BESIDE_US = frozenset({"docker-pipes", "person"})
"""The kinds of boxes that are on the judge's own kernel, and whose agents cannot reach the judge's processes."""


def _stall_watch(boxes: Sequence[Box], at_end: ExitStack) -> StallWatch | None:
    """What tells of stalls of the host, where the agents are on it."""
    if not {box.name for box in boxes} <= BESIDE_US:
        return None
    try:
        return at_end.enter_context(watch_stalls([box.nearby() for box in boxes]))
    except OSError as error:
        raise HostError(f"No process that tells of stalls could be started: {error}") from error


def _wire(
    kind: type[LiveWire],
    spec: GameSpec,
    slot: Slot,
    boxes: Sequence[Box],
    transcript: Transcript,
    new_box: Callable[[int], Box],
    stalls: StallWatch | None,
    beats: Pulse,
) -> LiveWire:
    is_alone = spec.policy.box.sharing == 1
    # If the Engine carries the bytes, its CPU time on the slot's cores is caused by an agent and cannot be separated.
    counts_cores = is_alone and bool(slot.cores) and {box.name for box in boxes} <= BESIDE_US
    return kind(
        boxes,
        transcript,
        new_box,
        CoreUse(slot.cores) if counts_cores else None,
        len(slot.cores),
        spec.policy.bytes.stderr_bytes,
        SPIN_NS if slot.is_apart and is_alone else 0,
        spec.policy.bytes.least_bytes,
        stalls,
        beats,
        is_elsewhere=not {box.name for box in boxes} <= BESIDE_US | {"process"},
    )


def _kind_of(box: Box, spec: GameSpec) -> str:
    """The kind of a seat's box for the record; where boxes may be reused, whether this one was."""
    if spec.box != "docker" or spec.policy.box.reuse == "never" or box.name == "person":
        return box.name
    return f"{box.name}, {'reused' if box.is_reused else 'fresh'}"


def _tenant(spec: GameSpec, seat: int, programs: Mapping[str, Path], slot: Slot, keeper: Keeper) -> Tenant:
    choice = spec.seats[seat]
    return Tenant(
        name=choice.name,
        program=programs[choice.digest],
        command=choice.command,
        runtime=choice.runtime,
        seat=seat,
        game_id=spec.id,
        digest=choice.digest,
        cores=slot.cores,
        parking_cores=slot.judge_cores if slot.is_apart else (),
        uid=keeper.uids.get(seat),
        folders={kind: at for (whose, kind), at in keeper.places.items() if whose == seat},
    )


def _paths_of_folders(spec: GameSpec, keeper: Keeper) -> Mapping[int, str]:
    """The paths of the persistent folders of process boxes, by seat; a container always has the same one.

    A path with a blank is left out: INFO has words between blanks.
    """
    if spec.box == "docker":
        return {}
    paths = {seat: path for (seat, kind), path in keeper.places.items() if kind is FolderKind.PERSISTENT}
    return {seat: path_for(spec.seats[seat].runtime, path) for seat, path in paths.items() if not path.split()[1:]}


def _do_at_once(*steps: Callable[[], None]) -> None:
    """Take several steps at once: most of each is waiting for the Engine."""
    with ThreadPoolExecutor(len(steps)) as pool:
        for done in [pool.submit(step) for step in steps]:
            done.result()
