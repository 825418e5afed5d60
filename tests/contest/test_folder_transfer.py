"""Folders brought into a contest and taken out of it: whole, by digest, or refused by the path that is wrong."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.agents.kept_folders import FolderStore
from judge.base.errors import InputError
from judge.contest.folder_transfer import AgentFolder, bring, brought, read_folders, write_folders
from judge.contest.plan import Planned, load_plan
from judge.record.policy import load_policy
from judge.sandbox.archive import EMPTY, Archive, pack_folder
from tests.examples import evidence

pytestmark = pytest.mark.slow

POLICY = load_policy("gomocup-freestyle")
ONE = AgentFolder("one", "1" * 64, pack_folder({b"book": b"e4", b"deep": None}))
TWO = AgentFolder("two", "2" * 64, pack_folder({b"games": b"7"}))
PLAN = """
name = "{name}"
policy = "gomocup-freestyle"
[format]
name = "round-robin"
{more}
[[agents]]
path = "house-instant"
name = "one"
[[agents]]
path = "house-python"
name = "two"
"""


def planned(folder: Path, more: str = "", name: str = "cup") -> Planned:
    folder.mkdir(exist_ok=True)
    (folder / "contest.toml").write_text(PLAN.format(name=name, more=more))
    return load_plan(folder)


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    write_folders([ONE, TWO], tmp_path / "learned", replaces=False)
    return tmp_path / "learned"


def state_of(exported: Path, carried: AgentFolder) -> Path:
    return exported / carried.owner / f"{carried.state.digest}.tar"


def test_written_files_are_readable(exported: Path) -> None:
    read = read_folders(exported, POLICY)

    assert [("one", ONE.state), ("two", TWO.state)] == [(each.name, each.state) for each in read]
    # And `judge match --folders` finds it.
    assert ONE.state == FolderStore(exported).get(ONE.owner, ONE.state.digest)


def change_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(data)


def add(name: str, data: bytes = b"") -> Callable[[Path], object]:
    return lambda state: (state.parent / name).write_bytes(data)


def link(state: Path) -> None:
    state.rename(state.parent.parent.parent / "elsewhere")
    state.symlink_to(state.parent.parent.parent / "elsewhere")


SPOILED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a changed byte": (change_a_byte, "SHA-256 differs from its name"),
    "cut short": (lambda state: os.truncate(state, 512), "SHA-256 differs from its name"),
    "missing": (Path.unlink, "missing, but listed"),
    "one more": (add("readme", b"x"), "not part of any folder here"),
    "a judge's intent": (add("intent.json", b"{}"), "not part of any folder here"),
    "a link": (link, "not a regular file"),
    "a pipe": (lambda state: os.mkfifo(state.parent / "lock"), "not a regular file"),
    "a directory": (lambda state: (state.parent / "more").mkdir(), "not a regular file"),
    "no heads": (lambda state: (state.parent / "heads.json").unlink(), "not part of any folder here"),
    "spoiled heads": (add("heads.json", b"{"), "not written by judge"),
    "large heads": (add("heads.json", b" " * 5000), "it is too large"),
    "odd heads": (add("heads.json", b'{"persistent": "../../x"}'), "it contains invalid digests"),
    "a file of others": (lambda state: (state.parent.parent / "readme").write_text("x"), "not an agent's folder"),
    "a huge sparse file": (lambda state: os.truncate(state, 1 << 40), "larger than any folder under this policy"),
}


@pytest.mark.parametrize("how", SPOILED)
def test_damaged_file_is_refused_with_its_path(exported: Path, tmp_path: Path, how: str) -> None:
    spoil, words = SPOILED[how]
    spoil(state_of(exported, ONE))

    with pytest.raises(InputError, match=words) as refused:
        bring(planned(tmp_path / "cup"), exported, replaces=False)
    assert str(exported) in str(refused.value)
    assert None is brought(load_plan(tmp_path / "cup"))


@pytest.mark.parametrize(
    "make",
    [
        lambda at: (at / "link").symlink_to("/etc/passwd"),
        lambda at: os.mkfifo(at / "pipe"),
        lambda at: (at / "/".join(["d"] * 40)).mkdir(parents=True),
        lambda at: (at / "plain").write_text("x"),
    ],
    ids=["link", "pipe", "deep", "packed otherwise"],
)
def test_a_state_that_no_judge_packed_is_refused(tmp_path: Path, make: Callable[[Path], object]) -> None:
    source = tmp_path / "source"
    source.mkdir()
    make(source)
    packing = ["tar", "--create", "--file=-", "--format=gnu", "-C", str(source), "."]
    data = subprocess.run(packing, check=True, capture_output=True).stdout
    each = AgentFolder("one", "1" * 64, Archive(data, hashlib.sha256(data).hexdigest(), 0, 1))
    write_folders([each], tmp_path / "learned", replaces=False)

    with pytest.raises(InputError, match="not packed by a judge"):
        read_folders(tmp_path / "learned", POLICY)


def test_more_than_the_policy_allows_is_refused(tmp_path: Path) -> None:
    many = pack_folder({b"%d" % number: b"" for number in range(3000)})
    write_folders([AgentFolder("one", "1" * 64, many)], tmp_path / "learned", replaces=False)

    with pytest.raises(InputError, match="would not fit"):
        read_folders(tmp_path / "learned", POLICY)


def test_an_import_is_kept_with_the_contest_and_never_replaced_unasked(exported: Path, tmp_path: Path) -> None:
    cup = planned(tmp_path / "cup")
    bring(cup, exported, replaces=False)
    write_folders([TWO], tmp_path / "other", replaces=False)

    with pytest.raises(InputError, match="--force replaces them"):
        bring(cup, tmp_path / "other", replaces=False)
    found = brought(cup)
    assert found
    assert {"one": ONE.state, "two": TWO.state} == found.of([("one", "f" * 64), ("two", "2" * 64)])
    bring(cup, tmp_path / "other", replaces=True)
    again = brought(cup)
    assert again
    assert ["two"] == [each.name for each in again.folders]


def test_file_may_name_a_directory_but_not_also_an_import(exported: Path, tmp_path: Path) -> None:
    cup = planned(tmp_path / "cup", '[folders]\nfrom = "../learned"')

    found = brought(cup)
    assert found
    assert "../learned" == found.source
    with pytest.raises(InputError, match="already names a source"):
        bring(cup, exported, replaces=False)
    plain = planned(tmp_path / "plain")
    bring(plain, exported, replaces=False)
    both = planned(tmp_path / "plain", '[folders]\nfrom = "../learned"')
    with pytest.raises(InputError, match="and others were imported"):
        brought(both)


def test_a_policy_without_persistent_folders_takes_none(exported: Path, tmp_path: Path) -> None:
    cup = planned(tmp_path / "cup")
    text = cup.path.read_text().replace("gomocup-freestyle", "stratego-2012")
    cup.path.write_text(text)

    with pytest.raises(InputError, match="has no persistent folders"):
        bring(load_plan(tmp_path / "cup"), exported, replaces=False)


def test_versions_of_an_agent_are_distinguished_by_their_files(tmp_path: Path) -> None:
    old = AgentFolder("one", "9" * 64, TWO.state)
    write_folders([ONE, old], tmp_path / "learned", replaces=False)
    cup = planned(tmp_path / "cup", '[folders]\nfrom = "../learned"')

    found = brought(cup)

    assert found
    assert {"one": ONE.state} == found.of([("one", "1" * 64)])
    assert {"one": TWO.state} == found.of([("one", "9" * 64)])
    with pytest.raises(InputError, match="several folders are of one"):
        found.of([("one", "5" * 64)])


def test_files_are_not_overwritten_and_no_folder_is_lost(exported: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--force replaces it"):
        write_folders([ONE], exported, replaces=False)
    with pytest.raises(InputError, match="would be lost"):
        write_folders([ONE], exported, replaces=True)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").write_text("x")
    with pytest.raises(InputError, match="would be lost"):
        write_folders([ONE], tmp_path / "home", replaces=True)

    newer = AgentFolder("one", "3" * 64, TWO.state)
    write_folders([newer, TWO], exported, replaces=True)

    assert {newer.owner, TWO.owner} == {path.name for path in exported.iterdir()}
    assert ["home", "learned"] == sorted(path.name for path in tmp_path.iterdir())


def test_empty_folders_need_no_file(tmp_path: Path) -> None:
    owner = tmp_path / "learned" / ONE.owner
    owner.mkdir(parents=True)
    (owner / "lock").touch()
    (owner / "heads.json").write_text(json.dumps({"persistent": EMPTY.digest}))

    assert [] == read_folders(tmp_path / "learned", POLICY)


WRITES = """
import sys
from pathlib import Path
from judge.contest.folder_transfer import AgentFolder, bring, write_folders
from judge.contest.plan import load_plan
from judge.sandbox.archive import pack_folder

def state(number):
    return pack_folder({b"%d" % at: b"%d" % number * 5000 for at in range(200)})

what, where = sys.argv[1], Path(sys.argv[2])
print("begins", flush=True)
for number in range(10_000):
    made = [AgentFolder(name, "1" * 64, state(number)) for name in ("one", "two")]
    if what == "export":
        write_folders(made, where / "learned", replaces=number > 0)
    else:
        write_folders(made, where / f"from-{number}", replaces=False)
        bring(load_plan(where / "cup"), where / f"from-{number}", replaces=number > 0)
    print(number, flush=True)
"""


@pytest.mark.parametrize("what", ["export", "import"])
@pytest.mark.parametrize("moment", [pytest.param(0, marks=evidence), 1, pytest.param(2, marks=evidence)])
def test_a_judge_that_is_killed_leaves_the_old_or_the_new(tmp_path: Path, what: str, moment: int) -> None:
    """After so many whole writes it is killed in the middle of one more: what is there is one of all, never a mix."""
    planned(tmp_path / "cup")
    command = [sys.executable, "-c", WRITES, what, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        while process.stdout.readline().strip() != str(1 + moment):
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)

    if what == "export":
        folders = read_folders(tmp_path / "learned", POLICY)
    else:
        found = brought(load_plan(tmp_path / "cup"))
        assert found
        folders = found.folders
    assert ["one", "two"] == [each.name for each in folders]
    assert 1 == len({each.state.digest for each in folders})
    # And it can be written again.
    write_folders(folders, tmp_path / "learned", replaces=(tmp_path / "learned").exists())
