"""The two folders of an agent, in every kind of box: what it finds, what it may, and what is left of it."""

import errno
import socket
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import docker
import pytest

from judge.base.errors import HostError
from judge.base.owner import Owner, directories
from judge.games.types import SEATS
from judge.host.build_images import build_images
from judge.sandbox.archive import EMPTY, PAGE_BYTES, Archive, pack_folder
from judge.sandbox.box import BoxPolicy, FolderKind, Limits
from judge.sandbox.docker.folder_volumes import VolumeKeeper
from judge.sandbox.docker.reaper import reap
from judge.sandbox.folders import CollectedFolder, Folder, Keeper
from judge.sandbox.open_box import open_keeper
from tests.examples import evidence, of_evidence
from tests.forked import ForkedProcess
from tests.sandbox import test_archive
from tests.sandbox.conftest import ATTACH, GROUP, PIPES, PROCESS, REMOTE, Lodge, Variant, of
from tests.sandbox.guest import Guest

everywhere = of(PIPES, GROUP, PROCESS, evidence=(ATTACH, REMOTE))
in_a_container_and_a_process = of(PIPES, PROCESS, evidence=(ATTACH, GROUP, REMOTE))
in_containers = of(PIPES, evidence=(ATTACH, GROUP, REMOTE))
in_a_container = of(PIPES)

ROOT = Path(__file__).parents[2]
TEMPORARY, PERSISTENT = FolderKind.TEMPORARY, FolderKind.PERSISTENT
NAME = "pbrain-rat"
SIZE, INODES = 20971520, 2048
LIMITS = Limits(persistent_bytes=SIZE)

Keep = Callable[..., Keeper]
Live = Callable[..., Mapping[FolderKind, CollectedFolder]]


def folder(kind: FolderKind, start: Archive = EMPTY, **changes: int) -> Folder:
    values = {"seat": 0, "size_bytes": SIZE, "inodes": INODES} | changes
    name = NAME if kind is TEMPORARY else "."
    return Folder(kind=kind, name=name, start=start, **values)


@pytest.fixture(scope="session")
def python() -> None:
    build_images(["python"])


@pytest.fixture
def game() -> str:
    return f"test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def keep(variant: Variant, game: str) -> Iterator[Keep]:
    """Keep folders through one game of the test's kind."""
    keepers: list[Keeper] = []

    def make(*folders: Folder) -> Keeper:
        keepers.append(open_keeper(variant.kind, folders, game, ()))
        keepers[-1].make()
        keepers[-1].load()
        return keepers[-1]

    yield make
    for keeper in keepers:
        keeper.close()


@pytest.fixture
def live(keep: Keep, lodge: Lodge) -> Live:
    """Let a shell live in folders, give it lines to run, and see what it leaves."""

    def run(
        *lines: str, temporary: Archive = EMPTY, persistent: Archive = EMPTY, runtime: str = "native"
    ) -> Mapping[FolderKind, CollectedFolder]:
        keeper = keep(folder(TEMPORARY, temporary), folder(PERSISTENT, persistent))
        guest = moved_in(keeper, lodge, runtime)
        for line in lines:
            assert guest.ask(f"{line} && echo well done") == "well done", line
        guest.close()
        left = {kind: left for (_, kind), left in keeper.collect().items()}
        keeper.close()
        return left

    return run


def moved_in(keeper: Keeper, lodge: Lodge, runtime: str = "native", seat: int = 0) -> Guest:
    """A shell in the folders of its seat."""
    places = {kind: place for (owner, kind), place in keeper.places.items() if owner == seat}
    # The filter of system calls denies FIFOs and attributes: what folders are to withstand is tried without its help.
    policy = BoxPolicy(seccomp_of={runtime: "engine"})
    fields = {"folders": places, "runtime": runtime, "seat": seat, "uid": keeper.uids.get(seat)}
    guest = lodge("/bin/bash", limits=LIMITS, policy=policy, **fields).move_in()
    guest.tell("exec 2>/dev/null; cd -P . || exit")
    return guest


def contents(left: CollectedFolder) -> dict[str, bytes | None]:
    assert left.archive is not None, left.notes
    return test_archive.contents(left.archive)


def remains(client: docker.DockerClient, game: str) -> list[str]:
    label = {"label": f"judge.game={game}"}
    volumes = client.api.volumes(filters=label)["Volumes"] or []
    return [v["Name"] for v in volumes] + [c["Id"] for c in client.api.containers(all=True, filters=label)]


@everywhere
def test_the_temporary_folder_is_where_the_agent_makes_it(live: Live) -> None:
    """Gomoku AI protocol: in the working directory, called like the agent; the persistent one is common, with one
    inside."""
    left = live(
        f"mkdir {NAME} && echo now > {NAME}/file && echo stray > other",
        "cd ../persistent || cd /persistent",
        f"mkdir -p {NAME} && echo ever > {NAME}/file",
    )

    assert {"file": b"now\n"} == contents(left[TEMPORARY])
    beside = f"not kept: 1 files or directories outside ./{NAME}; only that folder is kept"
    assert ((beside,), ()) == (left[TEMPORARY].notes, left[PERSISTENT].notes)
    assert {NAME: None, f"{NAME}/file": b"ever\n"} == contents(left[PERSISTENT])


@in_a_container_and_a_process
def test_stored_state_is_there_in_the_next_game_until_the_agent_removes_it(live: Live) -> None:
    """Gomoku AI protocol, END: the brain should delete its temporary files."""
    first = live(f"mkdir -p {NAME}/deep/er && echo 1 > {NAME}/deep/er/file && chmod 400 {NAME}/deep/er/file")

    second = live(
        f"cd {NAME}",
        "[ $(cat deep/er/file) = 1 ]",
        "echo 2 > deep/er/file && chmod 700 deep && rm -r deep/er && echo 3 > deep/new",
        temporary=first[TEMPORARY].archive or EMPTY,
    )
    assert {"deep": None, "deep/new": b"3\n"} == contents(second[TEMPORARY])

    third = live(f"rm -r {NAME}", temporary=second[TEMPORARY].archive or EMPTY)
    assert (EMPTY, ()) == (third[TEMPORARY].archive, third[TEMPORARY].notes)


@in_containers
@pytest.mark.parametrize("place", [f"/home/agent/{NAME}", "/persistent"])
def test_a_kept_folder_ends_at_the_byte(live: Live, place: str) -> None:
    left = live(
        f"mkdir -p {place}",
        f"! cat /dev/zero > {place}/big",
        f"[ $(stat -c %s {place}/big) = {SIZE} ]",
        f"! echo x > {place}/more",
    )

    kind = PERSISTENT if place == "/persistent" else TEMPORARY
    assert (SIZE, ()) == (left[kind].used_bytes, left[kind].notes)
    assert {"big": SIZE, "more": 0} == {n: len(c or b"") for n, c in contents(left[kind]).items()}


@in_containers
def test_a_kept_folder_ends_at_the_inode_and_still_fits_the_next_time(live: Live) -> None:
    """10,000 names: so many as there is room for, and the numbers in the record say that it was full."""
    many = "for n in $(seq 10000); do : > $n || break; done"

    first = live(f"mkdir {NAME} && cd {NAME}", many, f"cd /persistent; {many}")
    second = live(
        f"[ $(ls {NAME} | wc -l) = {INODES - 2} ]",
        f"[ $(ls /persistent | wc -l) = {INODES - 1} ]",
        "! : > /persistent/more",
        temporary=first[TEMPORARY].archive or EMPTY,
        persistent=first[PERSISTENT].archive or EMPTY,
    )

    for left in (first, second):
        assert (INODES, ()) == (left[TEMPORARY].used_inodes, left[TEMPORARY].notes)
        assert (INODES, ()) == (left[PERSISTENT].used_inodes, left[PERSISTENT].notes)


@in_containers
def test_a_full_folder_is_full_again_the_next_time(live: Live) -> None:
    full = pack_folder({b"big": b"x" * (SIZE - 2 * PAGE_BYTES), b"small": b"x", b"tiny": b"y"})

    left = live("! echo x > /persistent/more", persistent=full)

    assert SIZE == left[PERSISTENT].used_bytes
    assert 1 == len(left[PERSISTENT].notes) + (left[PERSISTENT].archive != full)


@in_a_container
def test_one_agent_s_folders_are_not_the_other_s(keep: Keep, lodge: Lodge) -> None:
    keeper = keep(folder(PERSISTENT), folder(PERSISTENT, seat=1))
    first, second = (moved_in(keeper, lodge, seat=seat) for seat in (0, 1))

    assert first.ask("echo secret > /persistent/own; ls /persistent") == "own"
    assert second.ask("ls /persistent | wc -l; cat /persistent/own") == "0"
    first.close()
    second.close()

    left = keeper.collect()
    assert {"own": b"secret\n"} == contents(left[0, PERSISTENT])
    assert {} == contents(left[1, PERSISTENT])


def nested(name: str, depth: int) -> str:
    """Make directories in directories, more than any path can name."""
    step = f'os.mkdir("{name}"), os.chdir("{name}")'
    return f"python3 -c 'import os; [({step}) for _ in range({depth})]'"


# What it makes in its folder, what of it is kept, and the words of the note.
HOSTILE = [
    ("ln -s /etc/passwd a; ln -s /proc/self/mem b; ln -s nowhere c; ln -s . d", {}, "4 links and"),
    ("! truncate -s 10G sparse; truncate -s 60M sparse", None, "would not fit again"),
    ("echo x > a; chmod 000 a; mkdir d; echo y > d/b; chmod 000 d",
     {"a": b"x\n", "d": None, "d/b": b"y\n"}, ""),
]  # fmt: skip
MORE_HOSTILE = [
    ("echo x > a; ln a b; ln a c", {"a": b"x\n"}, "2 second names of files"),
    ("touch $'a\\nb' $'\\e[2J' $'\\xff\\xfe' -- '-rf' '--checkpoint-action=exec=sh' ' ' '*'",
     dict.fromkeys(["a\nb", "\x1b[2J", "\udcff\udcfe", "-rf", "--checkpoint-action=exec=sh", " ", "*"], b""), ""),
    (nested("d", 40), ..., "not kept: 8 entries nested deeper than 32 names"),
    ("ln -s /etc etc; mkdir -p real; ln -s ../.. real/up", {"real": None}, "2 links and"),
    ("mkfifo pipe", {}, "1 links and special files, the first './pipe'"),
    ("! mknod dev c 1 3 && ! mknod disk b 8 0", {}, ""),
    ("! ln /etc/passwd hard && ! ln /agent/puppet hard", {}, ""),
    ("truncate -s 19M sparse; truncate -s 19M other", None, "would not fit again"),
    ("truncate -s 9000 sparse", {"sparse": bytes(9000)}, ""),
    ("exec 9> gone; rm gone; head -c 20000000 /dev/zero >&9", {}, ""),
    (nested("d", 2000), ..., "not kept: 1968 entries nested deeper than 32 names"),
    (nested("7" * 250, 40), ..., "nested deeper than 32 names"),
    (nested("7" * 250, 2040), None, "would not fit again"),
]  # fmt: skip


@in_a_container
@pytest.mark.usefixtures("python")
@pytest.mark.parametrize(
    ("acts", "kept", "words"),
    [
        pytest.param(*row, id=row[0][:30], marks=marks)
        for rows, marks in ((HOSTILE, ()), (MORE_HOSTILE, evidence))
        for row in rows
    ],
)
def test_nothing_that_an_agent_leaves_does_any_harm(live: Live, acts: str, kept: Any, words: str) -> None:
    """It is kept, left out or refused as is written, and the next game can be played with what is left of it."""
    before = pack_folder({b"before": b"x"})
    lines = ("cd /persistent && rm before", acts)
    left = live(*lines, persistent=before, runtime="python")[PERSISTENT]

    if kept is None:
        assert left.archive is None
    elif kept is not ...:
        assert kept == contents(left)
    assert [words] == [words for note in left.notes if words in note] or (words, ()) == ("", left.notes)
    assert all(note.isascii() and note.isprintable() for note in left.notes)
    again = live("true", persistent=left.archive or before)[PERSISTENT]
    assert (left.archive or before, ()) == (again.archive, again.notes)


@in_a_container
@pytest.mark.usefixtures("python")
def test_sockets_and_attributes_are_not_kept_nor_hidden_on_the_folder_s_own_root(live: Live) -> None:
    steps = (
        'import os, socket; os.chdir("/persistent"); socket.socket(socket.AF_UNIX).bind("s"); '
        'open("f", "w").write("x"); os.setxattr("f", "user.a", b"v" * 1000)'
    )
    on_the_root = 'python3 -c \'import os; os.setxattr("/persistent", "user.a", b"v")\''
    left = live(
        f"python3 -c '{steps}'",
        f"! {on_the_root}",
        "! chmod 700 /persistent",
        "! rmdir /persistent",
        runtime="python",
    )[PERSISTENT]

    assert {"f": b"x"} == contents(left)
    assert ("not kept: 1 sockets",) == left.notes


@in_a_container_and_a_process
@pytest.mark.parametrize("instead", [f"ln -s /etc {NAME}", *of_evidence(f"echo x > {NAME}", f"mkfifo {NAME}")])
def test_invalid_temporary_folder_is_not_followed(live: Live, instead: str) -> None:
    left = live(f"rm -r {NAME}; {instead}", temporary=pack_folder({b"file": b"x"}))[TEMPORARY]

    assert EMPTY == left.archive
    assert (f"not kept: {NAME} is not a directory",) == left.notes


@in_a_container
def test_an_agent_that_dies_of_memory_leaves_its_folder_all_the_same(keep: Keep, lodge: Lodge) -> None:
    keeper = keep(folder(PERSISTENT))
    places = {PERSISTENT: keeper.places[0, PERSISTENT]}
    small = Limits(
        memory_bytes=32 << 20, temporary_bytes=4 << 20, scratch_bytes=1 << 20, persistent_bytes=SIZE, shm_bytes=0
    )
    guest = lodge("puppet", limits=small, folders=places).move_in()
    assert guest.ask("fill /persistent/file") == f"no space after {SIZE}"
    assert guest.ask("run-own /persistent/file") == f"exec {errno.EACCES}"
    guest.tell("eat")
    guest.end()

    assert (32 + 4 + 1 + 20) << 20 == guest.box.meter.readings().memory_cap_bytes
    guest.close()
    assert SIZE == len(contents(keeper.collect()[0, PERSISTENT])["file"] or b"")


@in_containers
def test_no_container_and_no_volume_is_left(live: Live, outsider: docker.DockerClient, game: str) -> None:
    live("echo x > /persistent/x")

    assert [] == remains(outsider, game)


@pytest.mark.alone
@pytest.mark.docker
@pytest.mark.usefixtures("native")
def test_next_judge_removes_resources_of_a_killed_judge(outsider: docker.DockerClient, game: str) -> None:
    words = [sys.executable, "-m", "tests.sandbox.killed_judges", "folders", game]
    with ForkedProcess(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout
        assert "ready\n" in killed.stdout
        assert 3 == len(remains(outsider, game))
        killed.kill()

    reap()

    assert [] == remains(outsider, game)


@of(PROCESS)
def test_no_directory_is_left(live: Live) -> None:
    live("echo x > ../persistent/x")

    assert [] == [path for path, owner in directories() if owner == Owner.me()]


@in_a_container
def test_killed_keeper_costs_only_the_new_state(
    keep: Keep, lodge: Lodge, outsider: docker.DockerClient, game: str
) -> None:
    """The agent plays on; what it has written cannot be read back, and is not kept."""
    keeper = keep(folder(PERSISTENT))
    guest = moved_in(keeper, lodge)
    assert guest.ask("echo x > /persistent/x && echo written") == "written"
    (container,) = outsider.containers.list(filters={"label": f"judge.game={game}"})
    container.kill()

    assert guest.ask("cat /persistent/x") == "x"
    guest.close()
    left = keeper.collect()[0, PERSISTENT]
    keeper.close()
    assert (None, ("not kept: the folder could not be read",)) == (left.archive, left.notes)
    assert [] == remains(outsider, game)


@in_a_container
def test_a_keeper_that_cannot_be_made_leaves_nothing(
    keep: Keep, outsider: docker.DockerClient, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge.sandbox.docker.folder_volumes.SCRIPT", "exit 1")
    with suppress(HostError):
        keep(folder(PERSISTENT, pack_folder({b"x": b""})))
        pytest.fail("a container that ends at once cannot fill a folder")
    open_keeper("docker", (folder(PERSISTENT),), game, ()).close()


def test_late_answer_of_the_keeper_is_not_that_of_the_next_folder() -> None:
    """After a time-out no folder is asked for: its answer would be that of the folder before."""
    folders = [Folder(seat, FolderKind.PERSISTENT, ".", 1 << 20, 64, EMPTY) for seat in SEATS]
    near, far = socket.socketpair()
    with near, far:
        near.settimeout(0.01)
        keeper = VolumeKeeper(folders, "game", ())
        keeper.uids = dict.fromkeys(SEATS, 0)
        keeper._attached = near
        collected = keeper.collect()

        assert 1 == far.recv(4096).count(b"pack ")
    assert [None, None] == [each.archive for each in collected.values()]
