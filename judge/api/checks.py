"""Check an agent before a contest."""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

from judge.agents.agents import stage_agent
from judge.api.cancellation import check_cancelled
from judge.api.defaults import DEFAULT_POLICY
from judge.contest.host_setup import make_ready, slot_alone
from judge.referee.policy import load_policy
from judge.sandbox.box import BoxKind
from judge.sandbox.machine.core_locks import Tell
from judge.sandbox.machine.owner import owned_directory
from judge.submissions.check import CheckReport, examine
from judge.submissions.check.keep import TalkFolder
from judge.submissions.intake import IntakeLimits


def check(
    agent: str,
    *,
    policy: str = DEFAULT_POLICY,
    changes: Sequence[str] = (),
    clock: str = "",
    box: BoxKind = "docker",
    keep: Path | None = None,
    progress: Callable[[CheckReport], None] = lambda _: None,
    trying: Callable[[str], None] = lambda _: None,
    notify: Tell = lambda _: None,
    cancel: Event | None = None,
) -> CheckReport:
    """Check that an agent meets the requirements of a contest.

    `agent` is a house agent, an executable or a directory. `progress` receives the report after each finding, `trying`
    the name of the running check. `keep` is a directory for the conversations and the records of the games. If `cancel`
    is set, CancelledError is raised before the next check. Raises OverlongError (a HostError) after the time that a
    submission's check has.
    """
    chosen = load_policy(policy, changes, clock=clock)
    folder = None if keep is None else TalkFolder(keep)

    def begin(what: str) -> None:
        check_cancelled(cancel)
        trying(what)

    with owned_directory() as staging:
        staged = stage_agent(agent, staging)
        make_ready(box, chosen, [staged.seat(chosen).runtime], notify)
        with slot_alone(box, notify, policy=chosen) as slot:
            kept = (lambda _talk, _name: None) if folder is None else folder.keep
            return examine(staged, chosen, slot, box, staging, IntakeLimits().check_s, progress, begin, kept)
