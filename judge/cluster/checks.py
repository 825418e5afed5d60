"""What a worker says of a match is believed as far as it can be checked: the same referee replays the transcript.

What a replay cannot make again is the worker's word: what the agents wrote and when, inside the time that the match
took as seen from here, and what their folders hold.
"""

import hashlib

from judge.base.errors import InputError
from judge.base.parsing import parse_json
from judge.cluster.messages import Played
from judge.contest.worker import Job, JobResult, job_result
from judge.referee.spec import RecordFile
from judge.referee.verify import verify
from judge.sandbox.archive import EMPTY, UnkeptError, measure_folder

DRIFT = 1.001
"""How much faster than ours the clock of an honest worker may run."""


def checked(job: Job, played: Played, elapsed_s: float) -> JobResult:
    """The result of a job that was given to a worker `elapsed_s` seconds ago.

    Raises InputError with the reason if the record is not of this job, does not replay to its result, or if the match
    lasted longer than it was away.
    """
    file = parse_json(RecordFile, played.record, "the record cannot be read")
    record = file.record
    if record.id != job.match.id or record.spec != job.spec():
        raise InputError(f"the record is of another game ({record.id})")
    if record.attempt != job.match.attempt:
        raise InputError(f"the record is of attempt {record.attempt}, not {job.match.attempt}")
    if problems := verify(file).problems:
        raise InputError(f"the record does not replay: {'; '.join(problems)[:1000]}")
    last_ns = max((ns for block in file.transcript.blocks for ns, *_ in block.entries), default=0)
    longest_s = max(record.seconds, last_ns / 1e9)
    if record.seconds < 0 or longest_s > elapsed_s * DRIFT:
        raise InputError(f"the game lasted {longest_s:.1f} s by the record, but was away for {elapsed_s:.1f} s only")
    _check_states(job, file, played)
    return job_result(file, played.states)


def _check_states(job: Job, file: RecordFile, played: Played) -> None:
    """Every state that the record names is there, and no other."""
    named = {folder.digest for seat in file.record.seats for folder in seat.folders.values()}
    if named - job.states.keys() - {EMPTY.digest} != played.states.keys() - job.states.keys():
        raise InputError("the states of folders are not those that the record names")
    for digest, data in played.states.items():
        if hashlib.sha256(data).hexdigest() != digest:
            raise InputError(f"the folder's state {digest[:12]} has another digest")
        try:
            measure_folder(data)
        except UnkeptError as error:
            raise InputError(f"the folder's state {digest[:12]} cannot be used: {error}") from None
