"""Attacks by processes and on processes (A7, A8, C): images/attacks/processes.c."""

from dataclasses import replace

from judge.attacks.attack import BY_ITSELF, NOT_PERMITTED, Attack, Control, Expected
from judge.attacks.cpu import LATE, TURN
from judge.attacks.fixtures import bystanders, hoarder
from judge.attacks.weak_box import (
    as_the_hoarder,
    both,
    unfiltered,
    with_core_dumps,
    with_more_groups,
    with_new_privileges,
    with_writable_proc,
)
from judge.games.types import Verdict

LEFT = Expected(verdict=Verdict.CRASH, because="exited with code 3")
OUTLIVED = Control(off="the agent is a shell, which waits for what it started", in_shell="{}; sleep 30")
ROOMY = {"limits": {"processes": 400}}
MANY = "200"
NONE = frozenset({"NONE"})
INSIDES = ("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "mem", "environ", "stderr", "root")

BY_PROCESSES = (
    Attack(
        id="A7", title="ends, and a child plays on", program="processes", words=("child-plays-on",),
        danger="nobody would know which process a verdict is about", expected=LEFT, control=OUTLIVED,
    ),
    Attack(
        id="A8", title="ends, and a daemon plays on", program="processes", words=("daemon-plays-on",),
        danger="processes would be left on the host", expected=LEFT, control=OUTLIVED,
    ),
    Attack(
        id="C1", title="starts many processes", program="processes", words=("fork", "4000"),
        danger="an agent could use up the host's processes",
        expected=Expected(denied=("fork",), by=frozenset({"EAGAIN"})),
        control=Control(
            off="the limit: it is 400", policy=ROOMY, words=("fork", MANY), expected=Expected(got=("fork",))
        ),
    ),
    Attack(
        id="C1.bomb", title="starts processes that start processes", program="processes", words=("bomb",),
        danger="an agent could use up the host's processes", policy=TURN, expected=replace(LATE, did={"processes": 5}),
        control="it would be a danger to the host",
    ),
    Attack(
        id="C2", title="starts many threads", program="processes", words=("threads", "4000"),
        danger="an agent could use up the host's processes",
        expected=Expected(denied=("thread",), by=frozenset({"EAGAIN"})),
        control=Control(
            off="the limit: it is 400", policy=ROOMY, words=("threads", MANY), expected=Expected(got=("thread",))
        ),
    ),
    Attack(
        id="C4", title="kills all that it can, and the judge by its number", program="processes",
        words=("kill", "{judge}"), danger="an agent could end the contest",
        expected=Expected(denied=("judge",), by=frozenset({"ESRCH"}), did={"killed": 1}),
        control="without a world of its own it would kill others on the host", scene=bystanders,
    ),
    Attack(
        id="C5", title="looks into PID 1", program="processes", words=("look-into", "1"),
        danger="an agent could forge the report of its own end",
        expected=Expected(denied=INSIDES, by=NOT_PERMITTED | {"ESRCH", "ENOENT"}),
        control=Control(
            off="it is a child of its own, no call is filtered, and /proc can be written",
            words=("look-into", "child"), weaken=both(unfiltered, with_writable_proc),
            expected=Expected(got=INSIDES),
        ),
    ),
    Attack(
        id="C6", title="runs a program as another user", program="processes", words=("setuid",),
        danger="an agent could become root in its box, the first half of a way out",
        expected=Expected(denied=("setuid-file", "setuid", "new-privileges"), by=NOT_PERMITTED | NONE),
        control=Control(
            off="no-new-privileges", weaken=with_new_privileges,
            expected=Expected(denied=("setuid-file", "setuid"), by=NOT_PERMITTED | NONE, got=("new-privileges",)),
        ),
    ),
    Attack(
        id="C7", title="has groups left over from the judge", program="processes", words=("groups",),
        danger="an agent could read what is for a group of the host's",
        expected=Expected(denied=("group", "setgroups"), by=NOT_PERMITTED | NONE),
        control=Control(
            off="the empty list of groups", weaken=with_more_groups,
            expected=Expected(got=("group",), denied=("setgroups",)),
        ),
    ),
    Attack(
        id="C8", title="leaves core dumps", program="processes", words=("core",),
        danger="an agent could fill the disk, or have the host's crash handler run on its memory",
        expected=Expected(denied=("core-limit", "core"), by=NOT_PERMITTED | NONE),
        control=Control(off="the limit of core dumps", weaken=with_core_dumps, expected=Expected(got=("core-limit",))),
    ),
    Attack(
        id="C9", title="has all signals and pipes of the user that it was in another game", program="processes",
        words=("probe",), scene=hoarder,
        danger="an agent could break the programs of other games: signals and pipes are counted by user",
        expected=Expected(got=("signals", "pipe")),
        control=Control(
            off="a user of its own for each box", weaken=as_the_hoarder,
            expected=Expected(denied=("signals", "pipe"), by=frozenset({"EAGAIN", "ENOSPC"})),
        ),
    ),
    Attack(
        id="I4", title="plays like any other, beside a process and a box that look like its own", program="processes",
        words=("kill", "{judge}"), danger="ending one game would end others", scene=bystanders,
        expected=Expected(denied=("judge",), by=frozenset({"ESRCH"})),
        control=BY_ITSELF + "the judge ends boxes by their ids only",
    ),
)  # fmt: skip
