"""Examinations of agents."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from judge.agents.agents import stage_agent
from judge.base.owner import owned_directory
from judge.host.build_images import build_images
from judge.host.house_agents import build_house_agents
from judge.play.venue import Slot
from judge.record.policy import load_policy
from judge.sandbox.box import BoxKind
from judge.submissions.check import CheckReport, Finding, Grade, examine
from judge.translations.language import CODES, language
from tests.releases import require_for_release

MANAGERS_WORDS = ("GIBBERISH ", "Selected piece ")
"""Reasons in the words of the UCC contests' own managers, which are the same in all languages."""

Examine = Callable[..., CheckReport]


@pytest.fixture(scope="session")
def house() -> None:
    """The house agents."""
    build_house_agents()


@pytest.fixture(scope="session")
def runtimes(house: None) -> None:
    """What agents in containers need."""
    build_images(["native", "python"])


@pytest.fixture
def examined(house: None) -> Iterator[Examine]:
    """The report on an agent."""
    with owned_directory() as staging:

        def run(
            agent: str | Path, policy: str = "gomocup-standard", *overrides: str, box: BoxKind = "docker", **more: Any
        ) -> CheckReport:
            chosen = load_policy(policy, overrides)
            report = examine(stage_agent(str(agent), staging), chosen, Slot(), box, staging, **more)
            require_for_release("texts of reports without a translation", untranslated(report))
            return report

        yield run


def untranslated(report: CheckReport) -> list[str]:
    """What the page of a submission would show in English."""
    shown = [finding.tried for finding in report.findings]
    shown += [text for each in problems(report) for text in (each.evidence, each.fix) if text]
    parts = {
        part for code in CODES[1:] for text in shown for part, is_own in language(code).explanation(text) if not is_own
    }
    return sorted(part for part in parts if not part.startswith(MANAGERS_WORDS))


def problems(report: CheckReport) -> list[Finding]:
    return [finding for finding in report.findings if finding.grade is not Grade.PASS]


def finding(report: CheckReport, check: str) -> Finding:
    return next(finding for finding in report.findings if finding.check == check)
