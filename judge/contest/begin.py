"""Announces and begins a contest: commitment, lock-in, first games."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from judge.base.errors import InputError
from judge.base.owner import owned_directory
from judge.base.text import sentence
from judge.contest.contest import Contest, has_begun
from judge.contest.plan import Planned
from judge.journal.events import FoldersTransferred, Moment, StartRatingsRead, StartTimeReached, cut
from judge.record.seeds import Key
from judge.store.contests import Store
from judge.store.types import EntryRow, SubmissionsChangedError
from judge.tournament.snapshot import Snapshot, commitment_to, new_secret

MAX_LOCK_INS = 10
"""Maximum number of attempts to lock in the entries while submissions change."""


def why_not_yet(store: Store, planned: Planned) -> str:
    """Why a contest may not begin yet; empty if it may. Setting the clock back after the start has no effect."""
    starts = planned.plan.windows.starts
    begun = store.last_lines(planned.name, 1, StartTimeReached) if starts is not None else ()
    if starts is not None and begun and begun[0].change == StartTimeReached(Moment.of(starts)):
        return ""
    return planned.waits_for()


def announce(store: Store, planned: Planned) -> None:
    """Start the contest's log with the commitment to its secret, unless it is started.

    Raises InputError if the fixed seed was added or removed since, or the cup was changed.
    """
    if has_begun(store, planned):
        return
    secret = None if planned.plan.seed is not None else new_secret()
    store.announce(planned.name, secret, None if secret is None else commitment_to(secret), planned.announced)
    if store.leaves(planned.name, 0, 1)[0].change != planned.announced:
        raise InputError(
            f"{planned.path}: cup was changed since the contest was announced; restore it, or choose another name"
        )
    if (store.announced_secret(planned.name) is None) != (secret is None):
        raise InputError(
            f"{planned.path}: seed was {'added' if secret is None else 'removed'} since the contest was announced; "
            "restore the file, or choose another name"
        )


def begin(store: Store, planned: Planned, host: Mapping[str, Any], *, is_early: bool = False) -> Contest:
    """Lock in and store a contest with its first games, or open it.

    Raises InputError before the end of submissions or the start, unless `is_early`.
    """
    from judge.contest.resolved_format import skip_words
    from judge.contest.runner import Scheduler
    from judge.contest.shared_files import share_files
    from judge.contest_view.values import folder_words

    if not has_begun(store, planned):
        if not is_early and (waits := why_not_yet(store, planned)):
            raise InputError(f"{planned.name} has not begun: {waits}; --now begins it now, which cannot be undone")
        announce(store, planned)
        secret = store.announced_secret(planned.name)
        snapshot = _lock_in(store, planned, host, secret)
        share_files(store, planned, snapshot)
        entered = [EntryRow(entry.name, entry.rank, entry.model_dump_json()) for entry in snapshot.entries]
        store.create(planned.name, snapshot.model_dump_json(), entered, secret, snapshot.withheld_from)
        if words := skip_words(planned):
            store.remark(planned.name, StartRatingsRead(cut(words)))
        if source := planned.plan.ratings.from_:
            words = sentence(f"the agents start from their ratings in {source}")
            store.remark(planned.name, StartRatingsRead(cut(words)))
        if snapshot.policy.folders.persistent:
            states = {entry.name: entry.persistent for entry in snapshot.entries if entry.persistent}
            words = folder_words([entry.name for entry in snapshot.entries], states, snapshot.folders_from)
            digests = "; ".join(f"{name} {digest}" for name, digest in states.items())
            store.remark(planned.name, FoldersTransferred(cut(f"{words}: {digests}" if digests else words)))
    contest = Contest(store, planned)
    share_files(store, planned, contest.snapshot)
    # A ladder first enters submissions that passed.
    if contest.snapshot.format.has_rounds and not store.pairings(planned.name):
        Scheduler(contest).schedule_next()
    return contest


def _lock_in(store: Store, planned: Planned, host: Mapping[str, Any], secret: Key | None) -> Snapshot:
    for _ in range(MAX_LOCK_INS - 1):
        with suppress(SubmissionsChangedError):
            return _locked_in(store, planned, host, secret)
    return _locked_in(store, planned, host, secret)


def _locked_in(store: Store, planned: Planned, host: Mapping[str, Any], secret: Key | None) -> Snapshot:
    from judge.contest.take_snapshot import take_snapshot

    with owned_directory() as staging:
        return take_snapshot(planned, staging, dict(host), secret, store)
