"""Carries agents, authors and keys over to the next contest."""

import secrets
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from pathlib import Path

from judge.agents.store import AgentStore
from judge.base.durable_files import create_private, write_durably
from judge.base.errors import HostError
from judge.contest.begin import announce
from judge.contest.contest import open_store
from judge.contest.entries import intake_directory
from judge.contest.plan import Planned
from judge.journal.events import SubmissionState
from judge.store.submissions import Register
from judge.store.types import ProcessingResult, Upload
from judge.submissions.service import IntakeDirectory, agent_of
from judge.transparency.keys import KEY_FILE

PUBLIC_KEY_FILE = "organiser.pem"


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """Carried-over items."""

    checked: Sequence[str]
    """Submitted agents that keep their checks."""
    unchecked: Sequence[str]
    """To check again, because the policy differs."""
    tokens: int
    has_key: bool
    shares_store: bool
    """Then tokens cannot be carried over."""


def carry_over(last: Planned, following: Planned, who: str) -> CarriedOver:
    """Copy keys, tokens and submitted agents with their checks. Starts the next log.

    Raises HostError, or InputError for a damaged contest.
    """
    has_key = _copy_keys(last.folder, following.folder)
    with closing(open_store(following)) as store:
        announce(store, following)
    shares_store = last.store_url == following.store_url
    if last.has_no_store:
        return CarriedOver((), (), 0, has_key, shares_store)
    source, target = intake_directory(last), intake_directory(following)
    is_same_policy = last.policy == following.policy
    names = _copy_submissions(source, target, who, keeps_checks=is_same_policy)
    count = 0
    if not shares_store:
        with closing(source.tokens()) as given, closing(target.tokens()) as taken:
            count = taken.adopt(given)
    if is_same_policy:
        return CarriedOver(names, (), count, has_key, shares_store)
    return CarriedOver((), names, count, has_key, shares_store)


def _copy_keys(last: Path, following: Path) -> bool:
    if not (last / KEY_FILE).is_file():
        return False
    try:
        create_private(following / KEY_FILE, (last / KEY_FILE).read_bytes())
        if (last / PUBLIC_KEY_FILE).is_file():
            write_durably(following / PUBLIC_KEY_FILE, (last / PUBLIC_KEY_FILE).read_bytes())
    except OSError as error:
        raise HostError(f"{error.filename or following}: {error.strerror}: the key was not copied") from None
    return True


def _copy_submissions(source: IntakeDirectory, target: IntakeDirectory, who: str, *, keeps_checks: bool) -> list[str]:
    """Returns the agents' names."""
    names: list[str] = []
    reason = f"carried over from {source.contest}"
    # `plan` reports clashes with listed agents.
    with closing(source.register()) as old, closing(Register(target.store_url, target.contest)) as new:
        for submission in old.entries():
            names.append(submission.name)
            for digest in filter(None, (submission.upload, submission.log, submission.report)):
                target.files.put(source.files.get(digest))
            if keeps_checks:
                AgentStore(target.agents).put(agent_of(source, submission).program)
            upload = Upload(**{field.name: getattr(submission, field.name) for field in fields(Upload)})
            taken = new.receive(upload, worker=secrets.token_hex(8) if keeps_checks else "")
            if not keeps_checks:
                continue
            for step in old.steps(submission):
                new.step(taken.id, replace(step, attempt=taken.attempt))
            refusal = "" if submission.state is SubmissionState.PASSED else reason
            checked = (submission.name, submission.digest, submission.agent, submission.log, submission.report)
            new.finish(taken.id, taken.attempt, ProcessingResult(refusal, *checked))
            if refusal:
                new.approve(taken.id, who, reason)
    return names
