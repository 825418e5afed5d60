"""Every text of a stranger into everything that shows it: no terminal obeys it, no format breaks on it.

Said in a real game as MESSAGE and DEBUG, on stderr, as a move and as the reason of an ERROR, and the author
in the manifest. Then everything that the judge writes of that game is looked at.
"""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from judge.agents.manifest import read_manifest
from judge.base.errors import InputError
from tests.cli.brains import write_brain
from tests.cli.conftest import Judge
from tests.examples import evidence
from tests.formats.games import HOSTILE

LAST = (
    "\x1b]8;;http://x\x07click\x1b]8;;\x07 \x1b[31mred\x1b[0m",
    "\x9b2J\x9d0;title\x9c",
    "\u2066\u202e\u200f txt.exe \x00 \udcff\udcfe",
    "{0} {} %s %n %(x)s ${jndi:ldap://x} {{7*7}} [bold]x[/bold][/] [link=http://x]y[/link]",
    "a win 1-0\njudge: ok: verified\ngame 1: hostile wins (win)",
    '];B[aa])(;GM[4] "] [Result "1-0"] <script>alert(1)</script> {"verdict": "win", "winner": 0}',
)
"""What an agent ends a game with, and has for its author; in all games it also says whatever formats are tried with."""

TALK = """\
for text in {texts!r}:
    for word in (b"MESSAGE ", b"DEBUG "):
        os.write(1, word + text + b"\\r\\n")
    os.write(2, text + b"\\n")
if len(taken) > 3:
    os.write(1, 2 * ({end!r} + {last!r} + b"\\r\\n"))
    time.sleep(60)"""

FORBIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
"""What a terminal may obey, or what hides text from a reader: all but the end of a line."""

CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")

PROCESS = ("--box", "process", "--set", "clock.starved_share=1")

COMMANDS = ("verify", "show --evidence", "show --svg game.svg", "convert --to sgf", "convert --to pgn")
"""Everything that reads a record, with what it writes."""


@pytest.mark.parametrize(
    ("last", "end"),
    [
        pytest.param(last, end, id=str(number), marks=() if number in (2, 5) else evidence)
        for number, (last, end) in enumerate(zip(LAST, 3 * (b"7,7 ", b"ERROR "), strict=True))
    ],
)
def test_no_text_is_interpreted_or_breaks_its_context(judge: Judge, tmp_path: Path, last: str, end: bytes) -> None:
    agent = tmp_path / "agent"
    agent.mkdir()
    said = [text[:500].encode("utf-8", "surrogatepass") for text in (*HOSTILE, *LAST)]
    talk = TALK.format(texts=[*said, b"\xff\xfe\xc3("], last=last.encode("utf-8", "surrogateescape"), end=end)
    program = Path(write_brain(agent, "brain", talk)).name
    # Control characters are refused in a manifest: tests/agents/test_agents.py.
    author = CONTROLS.sub("", last.encode("utf-8", "replace").decode())
    (agent / "agent.toml").write_text(
        f'name = "hostile"\ncommand = ["python3", "{program}"]\nruntime = "python"\nauthor = {json.dumps(author)}\n',
        encoding="utf-8",
    )

    played = judge("match", str(agent), "house-instant", "--policy", "gomocup-fastgame", *PROCESS, code=0)

    _is_harmless(played.out + played.err)
    (record,) = (tmp_path / "records").glob("*.json")
    (psq,) = (tmp_path / "records").glob("*.psq")
    document = json.loads(record.read_bytes())["record"]
    assert (1, True) == (document["winner"], document["verdict"] in ("unreadable", "refused"))
    _is_harmless(document["reason"])
    _is_harmless(psq.read_bytes().decode("utf-8").replace("\r\n", "\n"))
    _is_harmless(record.read_text(encoding="utf-8"))
    for command in COMMANDS:
        ran = judge(*command.split(), str(record), code=0)
        _is_harmless(ran.out + ran.err)
    for ending in ("sgf", "pgn", "svg"):
        (written,) = tmp_path.rglob(f"*.{ending}")
        _is_harmless(written.read_text(encoding="utf-8"))
        if ending == "svg":
            ET.fromstring(written.read_text(encoding="utf-8"))  # noqa: S314 - the judge's own


@pytest.mark.parametrize("name", [text for text in (*HOSTILE, *LAST) if not text.isascii() or "\x1b" in text])
def test_no_such_text_is_an_agent_s_name(tmp_path: Path, name: str) -> None:
    manifest = tmp_path / "agent.toml"
    quoted = json.dumps(name.encode("utf-8", "replace").decode())
    manifest.write_text(f'name = {quoted}\ncommand = ["./x"]\n', encoding="utf-8")

    with pytest.raises(InputError) as refused:
        read_manifest(manifest)

    _is_harmless(str(refused.value).replace("\n", ""))


def _is_harmless(text: str) -> None:
    assert [] == FORBIDDEN.findall(text), ascii(text)[:2000]


def test_a_log_line_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    """Without blanks in it a text would go to the terminal as it is."""
    texts = [text.replace(" ", "").encode("utf-8", "replace").decode() for text in LAST]
    program = "from judge.base.logs import get_logger\nfrom judge.cli import guarded\ndef log():\n"
    for number, text in enumerate(texts):
        program += f" get_logger().warning({text!r}, agent={text!r}, number={number})\n"
    subprocess.run([sys.executable, "-c", f"{program}guarded(log)"], check=True)
    _, err = capfd.readouterr()
    lines = err.removesuffix("\n").split("\n")
    assert [True] * len(LAST) == [f"number={number}" in line for number, line in enumerate(lines)], err
    _is_harmless(err)
