"""Refusals of agents, and lines of journals, in the languages of pages."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from judge.agents.agents import stage_agent
from judge.base.errors import InputError
from judge.journal.events import Paused, WorkerBarred, WorkerJoined, WorkerLost
from judge.site.site import pages
from judge.submissions.windows import Windows
from judge.translations.language import CODES, languages
from tests.publish.cups import STRONG_TO_WEAK, Cup

CLOSES = datetime(2027, 3, 31, 18, tzinfo=UTC)
MANIFEST = 'name = "{name}"\ncommand = ["{command}"]\n{more}'


def write(folder: Path, name: str = "mine", command: str = "./a", more: str = "") -> None:
    (folder / "agent.toml").write_text(MANIFEST.format(name=name, command=command, more=more))
    (folder / "a").write_text("#!/bin/sh\n")
    (folder / "a").chmod(0o755)


@pytest.mark.parametrize(
    ("lay", "reason"),
    [
        (lambda folder: write(folder, name="žofinka"), "only A-Z, a-z"),
        (lambda folder: write(folder, command="a\\tb"), "control character U[+]0009"),
        (lambda folder: write(folder, more='description = "\\u0000"'), "control character U[+]0000"),
        (lambda folder: (folder / "agent.toml.txt").write_text("name"), "call it agent.toml"),
        (lambda folder: (folder / "Main.hs").write_text("main = x"), "no source that is built here"),
    ],
)
def test_refusal_is_explained_in_each_language(lay: Callable[[Path], object], reason: str, tmp_path: Path) -> None:
    source, staging = tmp_path / "source", tmp_path / "staging"
    source.mkdir()
    staging.mkdir()
    lay(source)

    with pytest.raises(InputError, match=reason) as refused:
        stage_agent(str(source), staging)

    for language in languages(CODES):
        assert all(is_own for _, is_own in language.explanation(str(refused.value))), language.code


def test_journal_is_translated_except_for_reasons(tmp_path: Path) -> None:
    with Cup(tmp_path, STRONG_TO_WEAK) as cup:
        windows = Windows(closes=CLOSES, starts=CLOSES + timedelta(hours=1))
        for event in (windows.event, WorkerJoined("anton", 2), WorkerBarred("anton", "Ursache"), WorkerLost("anton")):
            cup.store.remark(cup.contest.name, event)
        cup.store.set_state(cup.contest.name, Paused("Mittagspause"))
        cup.store.withdraw(cup.contest.name, "anna", "Krankheit", is_annulled=True)
        shown = pages(cup.contest.read(), {}, languages(CODES))

        for code in CODES[1:]:
            page = shown[f"{code}/journal.html"]().decode()
            assert [] == re.findall('<span lang="en">(.*?)</span>', page), code
            assert all(reason in page for reason in ("Mittagspause", "Krankheit", "Ursache"))
            lines = re.sub("<[^>]*>", " ", page[page.index("<h1") :]).replace("journal.csv", "")
            assert not re.search("entries|games|worker|folders|submissions close", lines), code
