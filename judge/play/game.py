"""`play(spec, programs) -> record`: creates boxes and runs the referee. Whatever fails, there is a record."""

import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from judge.base.errors import HostError, JudgeError
from judge.base.garbage import exempt
from judge.base.logs import get_logger
from judge.games.types import SEATS, End, Game, Verdict
from judge.play.folders import folder_paths, folders_of, store_states
from judge.play.live_wire import LiveWire
from judge.play.pulse import Pulse, pulse
from judge.play.venue import ANYWHERE, Venue
from judge.protocols import protocol_entry
from judge.record.bounds import MIN_COUNT_BYTES, STDERR_BYTES
from judge.record.spec import FolderRecord, GameRecord, GameSpec, Placement, RecordFile
from judge.record.transcript import SealedTranscript, Transcript, mark_private, seal
from judge.referee.blame import Cause, Void, judge_failure
from judge.referee.observer import AnswerObserver
from judge.referee.referee import Referee
from judge.referee.requests import drive
from judge.referee.setup import build_referee, check_playable
from judge.referee.verify import NO_READINGS, record_of
from judge.sandbox.box import ENGINE_FREEZER, NO_FREEZER, Box, BoxPolicy, ImageFacts, Tenant
from judge.sandbox.folders import FolderKey, Keeper
from judge.sandbox.host_activity.core_use import CoreUse
from judge.sandbox.host_activity.stalls import StallWatch, watch_stalls
from judge.sandbox.open_box import open_keeper

LOGGED_BYTES = 4096

SPIN_NS = 100_000
"""Time of polling before sleeping, for a judge with its own core."""

log = get_logger()


def play(
    spec: GameSpec, programs: Mapping[str, Path], attempt: int = 1, venue: Venue = ANYWHERE, game: Game | None = None
) -> RecordFile:
    """Play one attempt of a game. `programs` maps digests to staged files.

    `game` replaces the spec's game; that record cannot be verified. An error of the host or of the judge makes the
    record void, unless the game has ended before it. Raises InputError if the spec cannot be played, before a box is
    made, and HostError if a folder could not be stored.
    """
    if game is None:
        check_playable(spec)
    played = _Attempt(spec, programs, venue, game)
    played.run()
    played.transcript.tell()
    if isinstance(played.end, Void):
        log.warning("void", game=spec.id, attempt=attempt, why=played.end.reason)
    is_private = [protocol_entry(seat.protocol).is_private for seat in spec.seats]
    sealed = seal(mark_private(played.transcript, lambda seat, line: is_private[seat](line)))
    played.transcript.close()
    return RecordFile(record=played.record(attempt, sealed), transcript=sealed)


def play_until_scored(
    spec: GameSpec,
    programs: Mapping[str, Path],
    venue: Venue = ANYWHERE,
    *,
    new_game: Callable[[], Game] | None = None,
    before: Callable[[int], None] | None = None,
    after: Callable[[RecordFile], None] | None = None,
) -> RecordFile:
    """Repeat a game while it is void, up to the policy's attempts: the last record.

    `before` is called with each attempt's number, from 1, and `after` with its record. `new_game` replaces
    the spec's game. Raises as `play` and the callbacks do.
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


class _Attempt:
    """Collects the parts of the record. What is missing after an error has its default."""

    def __init__(self, spec: GameSpec, programs: Mapping[str, Path], venue: Venue, game: Game | None) -> None:
        """Raises InputError."""
        self._spec = spec
        self._programs = programs
        self._venue = venue
        self._game = game
        self._seat_cores = venue.slot.seat_cores(spec)
        self._folders = folders_of(spec, venue.shelf)
        self._has_ended = False
        self.end: End | Void = judge_failure(Cause.JUDGE, "before any output of an agent")
        self.transcript = Transcript(venue.follow)
        self._started_at = datetime.now(UTC)
        self._box_names: tuple[str, ...] = ()
        self._freezer = ""
        self._thaw_ns = 0
        self._images: dict[str, ImageFacts] = {}
        self._referee: Referee | None = None
        self._readings = NO_READINGS
        self._late_ns = 0
        self._lingered_s: list[float] = []
        self._kept: Mapping[FolderKey, FolderRecord] = {}

    def record(self, attempt: int, transcript: SealedTranscript) -> GameRecord:
        slot = self._venue.slot
        return record_of(
            self._spec,
            self.end,
            self._referee,
            attempt=attempt,
            started_at=self._started_at.isoformat(timespec="seconds"),
            placement=Placement(
                box=self._box_names,
                judge_cores=slot.judge_cores,
                slot_cores=slot.cores,
                seat_cores=self._seat_cores,
                freezer=self._freezer,
                thaw_ms=round(self._thaw_ns / 1e6, 3) if self._freezer == ENGINE_FREEZER else 0.0,
                host=slot.host,
                images=self._images,
            ),
            transcript=transcript,
            readings=self._readings,
            lingered_s=self._lingered_s or (0.0, 0.0),
            folders=self._kept,
            judge_late_ms=round(self._late_ns / 1e6, 3),
        )

    def run(self) -> None:
        """Errors of the game give an end, which a later error does not change.

        Raises HostError if a folder could not be stored: then neither it nor the result counts.
        """
        slot, shelf = self._venue.slot, self._venue.shelf
        cores = slot.judge_cores or slot.cores
        with closing(open_keeper(self._spec.box, self._folders, self._spec.id, cores)) as keeper:
            try:
                keeper.make()
                self._play_in_boxes(keeper)
            except BrokenPipeError:
                raise
            except Exception as error:  # noqa: BLE001 any error gives a record
                if self._has_ended:
                    self._log_failure("after its end", error)
                else:
                    self.end = self._void(error)
            if shelf is not None and not isinstance(self.end, Void):
                self._kept = store_states(self._folders, keeper.collect(), shelf)

    def _play_in_boxes(self, keeper: Keeper) -> None:
        with ExitStack() as at_end:
            boxes = [self._new_box(seat, keeper, self._spec.policy.game_box) for seat in SEATS]
            for box in boxes:
                at_end.callback(box.close)
            _do_at_once(keeper.load, *(box.prepare for box in boxes))
            self._box_names = (self._kind_of(boxes[0]), self._kind_of(boxes[1]))
            self._freezer = next((box.freezer for box in boxes if box.freezer != NO_FREEZER), NO_FREEZER)
            seats = zip(self._spec.seats, boxes, strict=True)
            self._images = {seat.runtime: box.image for seat, box in seats if box.image is not None}
            stalls = _stall_watch(boxes, at_end)
            # A garbage collection during a turn would be charged to an agent.
            with self._venue.turn(), exempt(), ExitStack() as at_slot, pulse() as beats:
                self._started_at = datetime.now(UTC)
                for box in boxes:
                    at_slot.callback(box.leave)
                    box.enter()
                wire = self._wire(boxes, keeper, stalls, beats)
                at_end.callback(wire.close)
                at_end.callback(lambda: _do_at_once(*(box.close for box in wire.boxes)))
                at_slot.callback(lambda: self._lingered_s.extend(wire.leave()))
                watch = self._venue.watch
                observer = None if watch is None else AnswerObserver(watch)
                paths = folder_paths(self._spec, keeper)
                self._referee = build_referee(self._spec, observer, self._game, folders=paths)
                self.end = self._drive(self._referee, wire)
                self._has_ended = True
                self._late_ns, self._thaw_ns = wire.late_ns, wire.thaw_ns
                with suppress(HostError):
                    self._readings = (wire.boxes[0].meter.readings(), wire.boxes[1].meter.readings())

    def _drive(self, referee: Referee, wire: LiveWire) -> End | Void:
        try:
            return drive(referee.requests(), wire)
        except (HostError, BrokenPipeError):
            raise
        except Exception as error:  # noqa: BLE001 any error voids the game and keeps the transcript
            failure = self._failed(error)
            if referee.game.end is None:
                return failure
            drive(referee.stop_closing(referee.game.end, failure.reason), wire)
            return referee.game.end

    def _void(self, error: Exception) -> Void:
        if isinstance(error, JudgeError):
            return judge_failure(Cause.HOST, str(error))
        if isinstance(error, OSError):
            reason = f"A box could not be made or closed: {error}: see `judge doctor` and TMPDIR"
            return judge_failure(Cause.HOST, reason)
        return self._failed(error)

    def _failed(self, error: Exception) -> Void:
        entry = self.transcript.last_read()
        when = "before any output of an agent"
        if entry is not None:
            name = self._spec.seats[entry.seat].name
            when = f"after output of {name} (seat {entry.seat}) at {entry.ns / 1e6:.3f} ms of the transcript"
        self._log_failure(when, error, repr(entry.data[-LOGGED_BYTES:]) if entry is not None else "")
        return judge_failure(Cause.JUDGE, f"{when}: {type(error).__name__}")

    def _log_failure(self, when: str, error: Exception, data: str = "") -> None:
        log.error(
            "the judge failed",
            game=self._spec.id,
            when=when,
            input=data,
            error=repr(error),
            traceback="".join(traceback.format_exception(error)),
        )

    def _new_box(self, seat: int, keeper: Keeper, policy: BoxPolicy) -> Box:
        choice, slot = self._spec.seats[seat], self._venue.slot
        tenant = Tenant(
            name=choice.name,
            program=self._programs[choice.digest],
            command=choice.command,
            runtime=choice.runtime,
            seat=seat,
            game_id=self._spec.id,
            digest=choice.digest,
            cores=self._seat_cores[seat] if self._seat_cores else slot.cores,
            parking_cores=slot.judge_cores if slot.is_apart else (),
            uid=keeper.uids.get(seat),
            folders={kind: at for (whose, kind), at in keeper.places.items() if whose == seat},
        )
        return self._venue.build(self._spec.box, tenant, self._spec.policy.enforced(), policy)

    def _kind_of(self, box: Box) -> str:
        if self._spec.box != "docker" or self._spec.policy.box.reuse == "never" or box.name == "person":
            return box.name
        return f"{box.name}, {'reused' if box.is_reused else 'fresh'}"

    def _wire(self, boxes: Sequence[Box], keeper: Keeper, stalls: StallWatch | None, beats: Pulse) -> LiveWire:
        slot, policy = self._venue.slot, self._spec.policy
        is_alone = policy.box.sharing == 1
        # If the Engine carries the bytes, agents cause CPU time of it that cannot be separated.
        counts_cores = is_alone and bool(slot.cores) and all(box.shows_host_evidence for box in boxes)
        return LiveWire(
            boxes,
            self.transcript,
            lambda seat: self._new_box(seat, keeper, policy.game_box.once),
            CoreUse(slot.cores) if counts_cores else None,
            len(slot.cores),
            STDERR_BYTES,
            SPIN_NS if slot.is_apart and is_alone else 0,
            MIN_COUNT_BYTES,
            stalls,
            beats,
            kernel_bytes=policy.enforced().kernel_bytes,
            seat_cores=self._seat_cores,
            is_elsewhere=any(box.is_elsewhere for box in boxes),
        )


def _stall_watch(boxes: Sequence[Box], at_end: ExitStack) -> StallWatch | None:
    if not all(box.shows_host_evidence for box in boxes):
        return None
    try:
        return at_end.enter_context(watch_stalls([box.nearby() for box in boxes]))
    except OSError as error:
        raise HostError(f"The probe process for host stalls could not be started: {error}") from error


def _do_at_once(*steps: Callable[[], None]) -> None:
    with ThreadPoolExecutor(len(steps)) as pool:
        for done in [pool.submit(step) for step in steps]:
            done.result()
