"""Attacks on files (D), and on the judge's file handling (I1 to I3): images/attacks/disk.c.

Rows that end in `kept` use the persistent folder, which the judge packs and restores; others the working directory.
"""

from dataclasses import replace

from judge.attacks.attack import BY_ITSELF, NOT_PERMITTED, Attack, Control, Expected, Observed, Opponent
from judge.attacks.fixtures import CANARY_TEXT, canary, killed_judge
from judge.attacks.weak_box import (
    allowing,
    unfiltered,
    with_more_shared_memory,
    with_shared_scratch,
    with_the_scene,
    with_ulimit,
)

FULL = frozenset({"ENOSPC"})
ABSENT = NOT_PERMITTED | {"ENOENT", "EROFS", "ENXIO", "ENOTDIR"}
FOLDER_MIB = 20
OVER = "30"

CAPPED = {
    "folders": {"temporary_bytes": FOLDER_MIB << 20, "temporary_inodes": 2048},
}
LARGER = {"folders": {"temporary_bytes": 64 << 20}}
MORE_INODES = {"folders": {"temporary_bytes": 64 << 20, "temporary_inodes": 40000}}
WRITES = (
    "/agent/disk", "/agent/new", "/judge/init", "/etc/passwd", "/new", "/dev/new", "/io/new",
    "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/fs/cgroup/cgroup.procs",
)  # fmt: skip
HARD_LINKS = ("/agent/disk", "/etc/passwd", "/judge/init", "/proc/self/exe")
PLANTED = ("pipe-link", "pipe-rename", "pipe-remove", "program-link", "program-remove")

FILLED = "an agent could fill the host's memory or disk"
FOLLOWED = "the judge, with nearly root rights, would read or write a file that the agent chose"
NOT_READ_HERE = BY_ITSELF + "the judge reads no files of an agent in this folder"


def _secret_is_not_recorded(seen: Observed) -> str:
    told = any(CANARY_TEXT.strip() in file.model_dump_json() for file in seen.files)
    return "a host file is in the record" if told else ""


ON_FILES = (
    Attack(
        id="D1", title="writes and reserves a big file", program="disk", words=("big", OVER),
        danger=FILLED, policy=CAPPED, expected=Expected(denied=("write", "fallocate"), by=FULL),
        control=Control(
            off="the quota: it is 64 MiB", policy=LARGER, expected=Expected(got=("write", "fallocate"))
        ),
    ),
    Attack(
        id="D2", title="makes many folders", program="disk", words=("many", "4000"),
        danger=FILLED, policy=CAPPED, expected=Expected(denied=("mkdir",), by=FULL),
        control=Control(
            off="the quota: it is 40,000 files", policy=MORE_INODES, expected=Expected(got=("mkdir",))
        ),
    ),
    Attack(
        id="D3", title="makes a file of 10 GiB without a byte in it", program="disk", words=("sparse",),
        danger="a copy of the folder would have 10 GiB", policy=CAPPED,
        expected=Expected(denied=("sparse",), by=frozenset({"EFBIG"})),
        control=Control(
            off="the largest file: it is 16 GiB", weaken=with_ulimit("fsize", 16 << 30),
            expected=Expected(got=("sparse",)),
        ),
    ),
    Attack(
        id="D4", title="keeps a deleted file open and fills the folder again", program="disk", words=("deleted", "15"),
        danger=FILLED, policy=CAPPED, expected=Expected(denied=("second",), by=FULL),
        control=Control(off="the quota: it is 64 MiB", policy=LARGER, expected=Expected(got=("second",))),
    ),
    Attack(
        id="D5", title="hides data in extended attributes", program="disk", words=("attributes", "8"),
        danger=FILLED, policy=CAPPED,
        expected=Expected(denied=("setxattr",), by=NOT_PERMITTED | FULL | {"EOPNOTSUPP"}),
        control=Control(
            off="the filter, and the quota: it is 40,000 files", policy=MORE_INODES, weaken=unfiltered,
            expected=Expected(got=("setxattr",)), since_linux=(6, 6),
        ),
    ),
    Attack(
        id="D6", title="makes malicious names, and a path above the length limit", program="disk",
        words=("names",), danger="a tool that reads the folder could fail or execute them",
        expected=Expected(did={"names": 10, "levels": 20}), control=NOT_READ_HERE,
    ),
    Attack(
        id="D7", title="makes links to the host's files", program="disk", words=("links", "{canary}"), danger=FOLLOWED,
        scene=canary, expected=Expected(did={"links": 8}, proof=_secret_is_not_recorded), control=NOT_READ_HERE,
    ),
    Attack(
        id="D8", title="makes hard links to the judge's files", program="disk", words=("hard-links",),
        danger="changing the agent's file would change the judge's",
        expected=Expected(denied=HARD_LINKS, by=NOT_PERMITTED | {"EXDEV"}),
        control=Control(
            off="it is its own file", words=("hard-links", "own"), weaken=unfiltered, expected=Expected(got=("link",))
        ),
    ),
    Attack(
        id="D9", title="makes devices, pipes and sockets", program="disk", words=("specials",),
        danger="an agent could read the host's disk; a reader of the folder would hang",
        expected=Expected(denied=("character-device", "block-device")),
        control="the right to make devices allows reading the host's disk",
    ),
    Attack(
        id="D11", title="reads and writes other users' files", program="disk",
        words=("others", "{canary}", "{opponent}", "/var/run/docker.sock", "/run/docker.sock"),
        danger="an agent could read its opponent, or control the host through the Engine's socket", scene=canary,
        expected=Expected(denied=("{canary}", "{opponent}", "/var/run/docker.sock", *WRITES), by=ABSENT),
        control=Control(
            off="the box has a folder of the host", words=("others", "{canary}"), weaken=with_the_scene,
            policy={"box": {"reuse": "never"}},  # a reused box renews its scratch space
            expected=Expected(got=("{canary}",), denied=WRITES, by=ABSENT),
        ),
    ),
    Attack(
        id="D12", title="leaves a file for its next game", program="disk", words=("leave",), plays=2,
        danger="games would not be independent", expected=Expected(denied=("leftover",), by=frozenset({"NONE"})),
        scene=canary,
        control=Control(
            off="fresh scratch space", weaken=with_shared_scratch, expected=Expected(got=("leftover",))
        ),
    ),
    Attack(
        id="D16", title="changes the quota of its file", program="disk", words=("flags",),
        danger="an agent could exceed its quota, or make files that cannot be removed",
        expected=Expected(
            denied=("project", "immutable"), by=NOT_PERMITTED | {"ENOTTY", "EOPNOTSUPP", "EINVAL"}
        ),
        control=BY_ITSELF + "the quota is the size of the agent's separate file system",
    ),
    Attack(
        id="D18", title="exchanges a file and a link endlessly, even after the game", program="disk",
        words=("race", "{canary}"), danger=FOLLOWED, scene=canary,
        expected=Expected(did={"exchanges": 10}, proof=_secret_is_not_recorded), control=NOT_READ_HERE,
    ),
    Attack(
        id="D19", title="leaves a number for its next game in cached pages of its files",
        program="traces", words=("pages", "/agent/pages.dat"), plays=2, danger="an agent could learn from game to game",
        expected=Expected(denied=("residue",), by=frozenset({"NONE"})), engine_allows=("residue",),
        control=Control(
            off="ignoring advice about files, and separate files for each game", weaken=allowing("fadvise64"),
            shares_files=True,
            expected=Expected(got=("residue",), did={"bits": 10}),
        ),
    ),
    Attack(
        id="D19.image", title="leaves a number for its next game in cached pages of a file of the image",
        program="traces", words=("pages",), plays=2, danger="an agent could learn from game to game, and inform others",
        expected=Expected(denied=("residue",), by=frozenset({"NONE"})), engine_allows=("residue",),
        control=Control(
            off="ignoring advice about files, and reading the image before a game", weaken=allowing("fadvise64"),
            shares_files=True,
            expected=Expected(got=("residue",), did={"bits": 10}),
        ),
    ),
    Attack(
        id="D21", title="requests locks that another box holds on the agent's files", program="traces",
        words=("ask-for-locks",), danger="simultaneous games of one agent could communicate",
        opponent=Opponent("hold-locks", program="traces", is_accomplice=True),
        expected=Expected(denied=("lock-of-another-box",), by=frozenset({"NONE"})),
        engine_allows=("lock-of-another-box",),
        control=Control(
            off="answering fcntl without a lock, and separate files for each box", weaken=allowing("fcntl"),
            shares_files=True,
            expected=Expected(got=("lock-of-another-box",)),
        ),
    ),
    Attack(
        id="D20", title="fills shared memory with bytes and with files", program="disk",
        words=("shared-memory", "8", "2000"), danger=FILLED,
        expected=Expected(denied=("shared-memory", "shared-files"), by=FULL),
        control=Control(
            off="the quota: it is 64 MiB", weaken=with_more_shared_memory,
            expected=Expected(got=("shared-memory", "shared-files")),
        ),
    ),
)  # fmt: skip

KEPT_ROWS = ("D1", "D2", "D3", "D4", "D6", "D7", "D9", "D18")
KEPT_CAP = {"folders": {"persistent_bytes": FOLDER_MIB << 20, "persistent_inodes": 2048}}


def _kept(attack: Attack) -> Attack:
    return replace(
        attack,
        id=f"{attack.id}.kept",
        title=f"{attack.title}, in its persistent folder",
        policy={**CAPPED, **KEPT_CAP},
        control=f"as for {attack.id}",
        is_kept=True,
    )


ON_KEPT_FILES = tuple(_kept(attack) for attack in ON_FILES if attack.id in KEPT_ROWS)

ON_THE_JUDGE = (
    Attack(
        id="I1", title="puts links where the judge writes", program="disk", words=("plant-links", "{canary}"),
        danger=FOLLOWED, scene=canary, expected=Expected(denied=PLANTED, by=ABSENT),
        control="the judge would write through the link",
    ),
    Attack(
        id="I2", title="puts programs where a copy out of the container would run them", program="disk",
        words=("plant-programs",), danger="the Engine, which is root, would run the agent's program",
        expected=Expected(did={"programs": 5}),
        control=BY_ITSELF + "the Engine's events show that the judge never copies files with it",
    ),
    Attack(
        id="I3", title="makes logs that are links to the host's files", program="disk",
        words=("plant-logs", "{canary}"), danger=FOLLOWED, scene=canary,
        expected=Expected(did={"logs": 5}, proof=_secret_is_not_recorded), control=NOT_READ_HERE,
    ),
    Attack(
        id="I6", title="plays after a judge that was killed in the middle of a game", program="honest",
        words=("instant",), danger="containers of killed judges would accumulate", scene=killed_judge,
        control=BY_ITSELF + "every start removes leftovers without an owner",
    ),
)  # fmt: skip
