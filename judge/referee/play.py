"""`play(spec, programs) -> record`: creates boxes, takes kept folders from a shelf, and runs the referee.

New states of the folders are stored after the game. They have no effect until `judge.agents.kept_folders` selects
those that the record names.
"""

import platform
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from judge.base.errors import HostError, InputError
from judge.base.garbage import exempt
from judge.base.logs import get_logger
from judge.games.types import SEATS, End, Game, Verdict
from judge.protocols import protocol_entry
from judge.referee.blame import Cause, Void, judge_failure
from judge.referee.bounds import MIN_COUNT_BYTES, STDERR_BYTES
from judge.referee.drive import drive
from judge.referee.live_wire import LiveWire
from judge.referee.make_record import NO_READINGS, Circumstances, RefereedGame, record_of
from judge.referee.observer import AnswerObserver
from judge.referee.policy import Policy
from judge.referee.pulse import Pulse, pulse
from judge.referee.referee import Referee
from judge.referee.setup import build_referee
from judge.referee.side import Ply
from judge.referee.spec import FolderRecord, GameSpec, Placement, RecordFile
from judge.referee.transcript import Transcript, mark_private, seal
from judge.sandbox import BoxKind, open_box, open_keeper
from judge.sandbox.archive import Archive
from judge.sandbox.box import Box, BoxPolicy, FolderKind, Limits, Tenant
from judge.sandbox.folders import CollectedFolder, Folder, FolderKey, Keeper
from judge.sandbox.host_activity.core_use import CoreUse
from judge.sandbox.host_activity.stalls import StallWatch, watch_stalls
from judge.sandbox.machine.cores import count_cores, split_cores
from judge.sandbox.runtimes import path_for


class Shelf(Protocol):
    """Folder states of a game's agents, by seat and digest."""

    def get(self, seat: int, digest: str) -> Archive:
        """Raises InputError if it is missing or has another digest."""

    def put(self, seat: int, state: Archive) -> None:
        """Raises HostError."""


def folders_of(spec: GameSpec, shelf: Shelf | None) -> list[Folder]:
    """The kept folders with contents. Raises InputError if a state is missing or too large."""
    return [
        _folder(spec, seat, kind, digest, shelf)
        for seat in SEATS
        if (kept := spec.seats[seat].folders)
        for kind, digest in kept.digests.items()
    ]


def store_states(
    folders: Sequence[Folder], left: Mapping[FolderKey, CollectedFolder], shelf: Shelf
) -> dict[FolderKey, FolderRecord]:
    """Returns the entries of the record. Raises HostError."""
    records = {}
    for folder in folders:
        found = left[folder.place]
        state = found.archive or folder.start
        if state.digest != folder.start.digest:
            shelf.put(folder.seat, state)
        records[folder.place] = FolderRecord(
            digest=state.digest, used_bytes=found.used_bytes, used_inodes=found.used_inodes, notes=found.notes
        )
    return records


def _folder(spec: GameSpec, seat: int, kind: FolderKind, digest: str, shelf: Shelf | None) -> Folder:
    if shelf is None:
        raise InputError(f"{spec.seats[seat].name} has a {kind} folder, and no folder store is available")
    return kept_folder(spec, seat, kind, shelf.get(seat, digest))


def kept_folder(spec: GameSpec, seat: int, kind: FolderKind, start: Archive) -> Folder:
    """A folder of a seat that begins with `start`. Raises InputError if the seat or the policy does not permit it."""
    who, limits, kept = spec.seats[seat].name, spec.policy.enforced(), spec.seats[seat].folders
    if kept is None:
        raise InputError(f"{who} has a {kind} folder, and the game keeps no folders")
    is_temporary = kind is FolderKind.TEMPORARY
    size, inodes = (
        (limits.temporary_bytes, limits.temporary_inodes)
        if is_temporary
        else (limits.persistent_bytes, limits.persistent_inodes)
    )
    if not size:
        raise InputError(f"{who} has a {kind} folder, which policy {spec.policy.name} does not offer")
    folder = Folder(
        seat=seat,
        kind=kind,
        name=kept.name if is_temporary else ".",
        size_bytes=size,
        inodes=inodes,
        start=start,
    )
    if not folder.start.fits(folder.room):
        raise InputError(
            f"the {kind} folder of {who} takes {folder.start.size_bytes} bytes and {folder.start.inodes} files and "
            f"directories, more than policy {spec.policy.name} allows: raise folders.{kind}_bytes and "
            f"folders.{kind}_inodes, or start without the folder"
        )
    return folder


LOGGED_BYTES = 4096

SPIN_NS = 100_000
"""Time of polling before sleeping, for a judge with its own core."""

BoxBuilder = Callable[[BoxKind, Tenant, Limits, BoxPolicy], Box]

log = get_logger()


@dataclass(frozen=True, slots=True)
class Slot:
    """Cores of a game and of its judge, and the machine's name."""

    cores: tuple[int, ...] = ()
    judge_cores: tuple[int, ...] = ()
    host: str = field(default_factory=platform.node)

    @property
    def is_apart(self) -> bool:
        return bool(self.cores) and not set(self.cores) & set(self.judge_cores)

    def unfit_reason(self, policy: Policy) -> str:
        """Why a contest cannot use the slot; empty if it can."""
        count, needed = count_cores(self.cores), policy.slot_cores
        if self.cores and count < needed:
            return f"{policy.slot_reason} need {needed} cores for a game, and a slot has {count}"
        if policy.clock.ponder and not self.is_apart:
            return "clock.ponder = true needs a slot without the judge's core"
        return ""

    def seat_cores(self, spec: GameSpec) -> tuple[tuple[int, ...], ...]:
        """Empty if agents do not ponder. Raises InputError if the slot cannot be divided."""
        if not spec.policy.clock.ponder or (spec.box == "process" and not self.cores):
            return ()
        return split_cores(self.cores)


@dataclass(frozen=True, slots=True)
class Venue:
    """Where games are played, and their observers.

    `turn` is entered when the boxes are ready and left when the slot is free; steps outside it may overlap with another
    game. `watch` receives each answer. `follow` receives new packed parts of the transcript; it must not block.
    """

    slot: Slot = field(default_factory=Slot)
    shelf: Shelf | None = None
    turn: Callable[[], AbstractContextManager[object]] = nullcontext
    watch: Callable[[Ply], None] | None = None
    follow: Callable[[bytes], None] | None = None
    build: BoxBuilder = open_box


ANYWHERE = Venue()


def play(
    spec: GameSpec, programs: Mapping[str, Path], attempt: int = 1, venue: Venue = ANYWHERE, game: Game | None = None
) -> RecordFile:
    """Play one attempt of a game. `programs` maps digests to staged files.

    `game` replaces the spec's game; that record cannot be verified. A host failure makes the record
    void. Raises InputError if the spec cannot be played.
    """
    slot, shelf = venue.slot, venue.shelf
    seat_cores, boxes_policy = slot.seat_cores(spec), spec.policy.game_box
    folders = folders_of(spec, shelf)
    transcript = Transcript(venue.follow)
    started_at = datetime.now(UTC)
    end: End | Void
    referee, readings, late_ns = None, NO_READINGS, 0
    lingered_s: list[float] = []
    names: tuple[str, ...] = ()
    kept: Mapping[FolderKey, FolderRecord] = {}
    cores = slot.judge_cores or slot.cores
    with closing(open_keeper(spec.box, folders, spec.id, cores)) as keeper:

        def new_box(seat: int, policy: BoxPolicy = boxes_policy.once) -> Box:
            tenant = _tenant(spec, seat, programs, slot, keeper)
            if seat_cores:
                tenant = replace(tenant, cores=seat_cores[seat])
            return venue.build(spec.box, tenant, spec.policy.enforced(), policy)

        try:
            keeper.make()
            with ExitStack() as at_end:
                boxes = [new_box(seat, boxes_policy) for seat in SEATS]
                for box in boxes:
                    at_end.callback(box.close)
                _do_at_once(keeper.load, *(box.prepare for box in boxes))
                names = (_kind_of(boxes[0], spec), _kind_of(boxes[1], spec))
                stalls = _stall_watch(boxes, at_end)
                # A garbage collection during a turn would be charged to an agent.
                with venue.turn(), exempt(), ExitStack() as at_slot, pulse() as beats:
                    started_at = datetime.now(UTC)
                    for box in boxes:
                        at_slot.callback(box.leave)
                        box.enter()
                    wire = _wire(spec, slot, boxes, transcript, new_box, stalls, beats)
                    at_end.callback(wire.close)
                    at_end.callback(lambda: _do_at_once(*(box.close for box in wire.boxes)))
                    at_slot.callback(lambda: lingered_s.extend(wire.leave()))
                    folder_paths = _paths_of_folders(spec, keeper)
                    observer = None if venue.watch is None else AnswerObserver(venue.watch)
                    referee = build_referee(spec, observer, game, folders=folder_paths)
                    end = _end_of(referee, wire, spec, transcript)
                    late_ns = wire.late_ns
                    with suppress(HostError):
                        readings = (wire.boxes[0].meter.readings(), wire.boxes[1].meter.readings())
            if shelf is not None and not isinstance(end, Void):
                kept = store_states(folders, keeper.collect(), shelf)
        except HostError as error:
            end = judge_failure(Cause.HOST, str(error))
        except (InputError, BrokenPipeError):
            raise
        except OSError as error:
            end = judge_failure(
                Cause.HOST, f"A box could not be made or closed: {error}: see `judge doctor` and TMPDIR"
            )
        except Exception as error:  # noqa: BLE001 as in _end_of, for the boxes
            end = _failed(spec, transcript, error)
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
            started_at=started_at.isoformat(timespec="seconds"),
            judge_late_ms=round(late_ns / 1e6, 3),
            placement=Placement(
                box=names,
                judge_cores=slot.judge_cores,
                slot_cores=slot.cores,
                seat_cores=seat_cores,
                host=slot.host,
            ),
            transcript=sealed,
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


def _end_of(referee: Referee, wire: LiveWire, spec: GameSpec, transcript: Transcript) -> End | Void:
    try:
        return drive(referee.requests(), wire)
    except (HostError, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 any error voids the game and keeps the transcript
        failure = _failed(spec, transcript, error)
        if referee.game.end is None:
            return failure
        drive(referee.stop_closing(referee.game.end, failure.reason), wire)
        return referee.game.end


def _failed(spec: GameSpec, transcript: Transcript, error: Exception) -> Void:
    entry = transcript.last_read()
    when = "before any output of an agent"
    if entry is not None:
        name = spec.seats[entry.seat].name
        when = f"after output of {name} (seat {entry.seat}) at {entry.ns / 1e6:.3f} ms of the transcript"
    log.error(
        "the judge failed",
        game=spec.id,
        when=when,
        input=repr(entry.data[-LOGGED_BYTES:]) if entry is not None else "",
        error=repr(error),
        traceback="".join(traceback.format_exception(error)),
    )
    return judge_failure(Cause.JUDGE, f"{when}: {type(error).__name__}")


def _stall_watch(boxes: Sequence[Box], at_end: ExitStack) -> StallWatch | None:
    if not all(box.shows_host_evidence for box in boxes):
        return None
    try:
        return at_end.enter_context(watch_stalls([box.nearby() for box in boxes]))
    except OSError as error:
        raise HostError(f"The probe process for host stalls could not be started: {error}") from error


def _wire(
    spec: GameSpec,
    slot: Slot,
    boxes: Sequence[Box],
    transcript: Transcript,
    new_box: Callable[[int], Box],
    stalls: StallWatch | None,
    beats: Pulse,
) -> LiveWire:
    is_alone = spec.policy.box.sharing == 1
    # If the Engine carries the bytes, agents cause CPU time of it that cannot be separated.
    counts_cores = is_alone and bool(slot.cores) and all(box.shows_host_evidence for box in boxes)
    return LiveWire(
        boxes,
        transcript,
        new_box,
        CoreUse(slot.cores) if counts_cores else None,
        len(slot.cores),
        STDERR_BYTES,
        SPIN_NS if slot.is_apart and is_alone else 0,
        MIN_COUNT_BYTES,
        stalls,
        beats,
        kernel_bytes=spec.policy.enforced().kernel_bytes,
        seat_cores=slot.seat_cores(spec),
        is_elsewhere=any(box.is_elsewhere for box in boxes),
    )


def _kind_of(box: Box, spec: GameSpec) -> str:
    if spec.box != "docker" or spec.policy.box.reuse == "never" or box.name == "person":
        return box.name
    return f"{box.name}, {'reused' if box.is_reused else 'fresh'}"


def _tenant(
    spec: GameSpec,
    seat: int,
    programs: Mapping[str, Path],
    slot: Slot,
    keeper: Keeper,
) -> Tenant:
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
    """Not paths with a blank, because INFO separates words by blanks."""
    if spec.box == "docker":
        return {}
    paths = {seat: path for (seat, kind), path in keeper.places.items() if kind is FolderKind.PERSISTENT}
    return {seat: path_for(spec.seats[seat].runtime, path) for seat, path in paths.items() if not path.split()[1:]}


def _do_at_once(*steps: Callable[[], None]) -> None:
    with ThreadPoolExecutor(len(steps)) as pool:
        for done in [pool.submit(step) for step in steps]:
            done.result()
