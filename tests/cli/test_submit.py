"""`judge submit` and `judge submissions`: what an organiser sees, decides, and gets back."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docker
import pytest
import structlog
from typer.testing import CliRunner, Result

import judge.cli.orders
import judge.cli.submit
import judge.play.game
from judge.base.errors import InputError
from judge.base.resources import IMAGES
from judge.cli import app
from judge.cli.submit_remote import next_words
from judge.host.build_images import build_images
from judge.web.schemas import ContestInfo
from tests.cli.conftest import Judge
from tests.web.intake.conftest import make_contest
from tests.web.intake.standing_in import process

Run = Callable[..., Result]


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    make_contest(tmp_path / "cup")
    return tmp_path / "cup"


@pytest.fixture
def run(cup: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`judge ARGUMENTS... cup`, with a gate that does what an upload says."""
    for module in (judge.cli.submit, judge.cli.orders):
        monkeypatch.setattr(module, "processor", lambda _: process)

    def typed(*words: str) -> Result:
        return CliRunner().invoke(app, [*words, str(cup)], catch_exceptions=False, env={"COLUMNS": "200"})

    return typed


@pytest.fixture
def upload(tmp_path: Path) -> Callable[[str], str]:
    """A file of which the gate does what it says."""

    def make(text: str) -> str:
        path = tmp_path / f"{text.split()[-1]}.zip"
        path.write_text(text)
        return str(path)

    return make


def test_line_gets_every_step_and_then_the_result(run: Run, upload: Callable[[str], str]) -> None:
    done = run("submit", upload("good five"), "--author", "ada")
    assert 0 == done.exit_code
    lines = done.stdout.splitlines()
    assert lines[0].startswith("submission 1: five.zip, 9 bytes, SHA-256 ")
    assert [
        "ok    received  five.zip of ada (0.0 s)",
        "ok    checked   1 finding (0.2 s)",
        "passed: five version 1",
    ] == lines[1:]


def test_second_archive_of_a_name_reports_the_replaced_one(run: Run, upload: Callable[[str], str]) -> None:
    run("submit", upload("good five"), "--author", "ada")
    second = upload("good more five")
    assert "replaces" not in run("submit", upload("good six"), "--author", "ada").stdout

    done = run("submit", second, "--author", "ada")

    assert "passed: five version 2" in done.stdout
    assert "it replaces version 1 of five, uploaded as five.zip" in done.stdout
    assert "--name" in done.stdout


def test_refusal_reports_cause_fix_and_next_step(run: Run, upload: Callable[[str], str]) -> None:
    done = run("submit", upload("bad slow"))
    assert 1 == done.exit_code
    lines = done.stdout.splitlines()
    assert "FAIL  checked   1 finding (0.2 s)" in lines
    assert "fail    time: a turn: it took 9000 of 5000 ms \\x1b[31m" in lines
    assert "        fix: think less" in lines
    assert "refused: failed checks: time (see the report)" == lines[-1]
    assert "judge submissions show 1" in done.stderr
    assert "judge submissions approve 1" in done.stderr
    assert "\x1b" not in done.output


def test_a_host_that_fails_costs_the_author_nothing(run: Run, upload: Callable[[str], str]) -> None:
    done = run("submit", upload("host"))
    assert 1 == done.exit_code
    assert done.stdout.splitlines()[-1].startswith("failed: ")
    assert "judge submissions retry 1" in done.stderr
    assert 1 == run("submissions", "retry", "1", "--why", "the Engine is back").exit_code
    assert "the Engine is back" in run("submissions", "show", "1").stdout


def test_a_script_gets_one_document(run: Run, upload: Callable[[str], str]) -> None:
    done = run("submit", upload("bad slow"), "--name", "snail", "--json")
    document = json.loads(done.stdout)
    assert (1, "refused") == (done.exit_code, document["state"])
    assert ("snail", "organiser") == (document["name"], document["author"])
    assert ["received", "checked"] == [step["stage"] for step in document["steps"]]
    assert "fail" == document["report"]["findings"][0]["grade"]


def test_the_organiser_lists_overrules_and_withdraws(run: Run, upload: Callable[[str], str]) -> None:
    run("submit", upload("bad slow"), "--author", "ada")
    run("submit", upload("good five"), "--author", "bob")
    assert "approved" in run("submissions", "approve", "1", "--why", "our host was busy").stdout
    entries = json.loads(run("submissions", "list", "--entries", "--json").stdout)
    assert ["five", "slow"] == [entry["name"] for entry in entries]
    assert "withdrawn" in run("submissions", "withdraw", "2", "--why", "their wish").stdout
    listed = run("submissions", "list").stdout.splitlines()
    assert [["2", "withdrawn", "five", "v1", "bob"], ["1", "approved", "slow", "v1", "ada"]] == [
        line.split()[:5] for line in listed[1::2]
    ]
    assert ["their wish", "our host was busy"] == [line.strip() for line in listed[2::2]]
    shown = run("submissions", "show", "1").stdout
    assert "refused by judge: failed checks: time" in shown
    assert ": our host was busy" in shown


def test_a_listing_fits_into_80_columns(run: Run, upload: Callable[[str], str], cup: Path) -> None:
    run("submit", upload("good five"), "--author", "Ada the author of a very long name")
    run("submit", upload("good more five"), "--author", "Ada the author of a very long name")
    run("submit", upload("bad slow"), "--name", "a-snail-of-a-name-that-goes-on-and-on-and-on-for-ever")

    narrow = ["submissions", "list", str(cup)]
    listed = CliRunner().invoke(app, narrow, env={"COLUMNS": "80"}).stdout.splitlines()

    assert all(len(line) <= 80 for line in listed)
    rows = [line for line in listed if not line.startswith(" ")]
    assert len(rows) == 4  # the heading too: nobody's name takes more than a line
    assert len(listed) == 7  # one was refused, one replaces another and says so in two lines
    assert listed[1].startswith("3    refused    a-snail-of-a-na… organiser")


def test_no_log_line_interrupts_output(
    run: Run, upload: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def loud(*arguments: object, **more: object) -> object:
        judge.play.game.log.warning("void", attempt=1)
        return process(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(judge.cli.submit, "processor", lambda _: loud)
    before = structlog.get_config()
    try:
        done = run("submit", upload("good five"))
    finally:
        structlog.configure(**before)

    assert 0 == done.exit_code
    assert "void" not in done.output + "".join(capfd.readouterr())


def test_the_log_is_shown_and_no_terminal_obeys_it(run: Run, upload: Callable[[str], str]) -> None:
    run("submit", upload("good five"))
    shown = run("submissions", "show", "1", "--log")
    assert ["cc -o five", "\\x1b[31mwarning\\u202e: hostile", ""] == shown.stdout.split("\n")[:3]


def test_a_token_is_printed_once_and_ended(run: Run) -> None:
    made = run("tokens", "make", "ada", "--url", "https://example.org/cup/")
    token, link = made.stdout.splitlines()
    assert token.startswith("judge-")
    assert f"https://example.org/cup/author/index.html#{token}" == link
    assert "shown only once" in made.stderr
    assert "1 revoked\n" == run("tokens", "revoke", "ada").stdout


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("submit nowhere.zip", "nowhere.zip: No such file"),
        ("submit cup", "a directory; pack it: tar czf"),
        ("submit empty.zip", "the file is empty"),
        ("submit six.zip --name a;b", "only A-Z"),
        ("submit six.zip --author a\x1bb", "printable characters"),
        ("submit six.zip --name Five", "another author is called 'Five'"),
        ("submit large.zip", r"more than 999 bytes; .* upload_bytes"),
        ("submissions show 77", "there is no submission 77"),
        ("submissions approve 1 --why so", "is passed: only a refused one"),
        ("submissions withdraw 1 --why \xa0", "--why is missing"),
        ("submissions retry 1", "only a failed or refused one"),
        ("tokens revoke bob", "'bob' has no token"),
        ("tokens make ada --url example.org", "not an address"),
        ("serve --intake-only --listen 0.0.0.0:0", "let a server with TLS forward"),
        ("serve --intake-only --proxy *", "use one IP address"),
        ("serve --intake-only --listen nowhere", "use an IP address and a port"),
        ("serve --intake-only --listen 192.0.2.1:0 --beyond-loopback", "Cannot assign"),
        ("serve --intake-only --read-only", "leave out --read-only"),
    ],
)
def test_errors_are_reported(
    run: Run, upload: Callable[[str], str], cup: Path, monkeypatch: pytest.MonkeyPatch, words: str, why: str
) -> None:
    make_contest(cup, "upload_bytes = 999")
    monkeypatch.chdir(cup.parent)
    Path("empty.zip").touch()
    Path("large.zip").write_bytes(bytes(1000))
    upload("good six")
    run("submit", upload("good five"), "--author", "ada")

    with pytest.raises(InputError, match=why):
        run(*words.split(" "))


TAKES_PART = "it takes part; you may replace it until the contest begins; its page: /1"


@pytest.mark.parametrize(
    ("has_begun", "joins_later", "words"),
    [
        (False, False, TAKES_PART),
        (True, False, "the contest has begun: its entries are locked in, so this agent does not take part"),
        (False, True, "it takes part; a new version that passes its check replaces it; its page: /1"),
        (True, True, "it joins the contest, which has begun; its page: /1"),
    ],
)
def test_passed_upload_is_told_whether_it_plays(has_begun: bool, joins_later: bool, words: str) -> None:
    fields: dict[str, Any] = {"has_begun": has_begun, "joins_later": joins_later}
    assert words == next_words(ContestInfo.model_construct(None, **fields), "/1")


@pytest.mark.alone
@pytest.mark.docker
def test_missing_image_is_built_and_reported(judge: Judge, client: docker.DockerClient, tmp_path: Path) -> None:
    (tmp_path / "cup").mkdir()
    (tmp_path / "cup/contest.toml").write_text('name = "cup"\npolicy = "qchess-2013"\n[format]\nname = "round-robin"\n')
    archive = shutil.make_archive(str(tmp_path / "mine"), "gztar", IMAGES / "starter-qchess-python")
    build_images(["native", "python", "keeper", "unpacker"])
    client.images.remove("judge/unpacker:1", force=True)
    try:
        done = judge("submit", archive, "cup", code=0)
    finally:
        build_images(["unpacker"])

    assert "passed: starter-qchess-python version 1" in done.out
    assert "judge: building the images unpacker, once" in done.err
