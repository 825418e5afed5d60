"""Check an agent before a contest."""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

from judge.agents.agents import stage_agent
from judge.api.matches import check_cancelled
from judge.base.owner import owned_directory
from judge.base.resources import DEFAULT_POLICY
from judge.contest.host_setup import make_ready, slot_alone
from judge.record.policy import load_policy
from judge.sandbox.box import BoxKind
from judge.sandbox.machine.cores import Tell
from judge.submissions.check import CheckReport, examine
from judge.submissions.check.runner import CheckObserver, RecordedTalk
from judge.submissions.check.suite import TalkFolder
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

    class Reported(CheckObserver):
        def trying(self, step: str) -> None:
            check_cancelled(cancel)
            trying(step)

        def keep(self, talk: RecordedTalk, check: str) -> None:
            if folder is not None:
                folder.keep(talk, check)

        def progress(self, report: CheckReport) -> None:
            progress(report)

    with owned_directory() as staging:
        staged = stage_agent(agent, staging)
        make_ready(box, chosen, [staged.seat(chosen).runtime], notify)
        with slot_alone(box, notify, policy=chosen) as slot:
            return examine(staged, chosen, slot, box, staging, IntakeLimits().check_s, Reported())
