"""Which system calls an agent may make: each tried in a real container, and each denial shown to be the filter's."""

import errno
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.sandbox.box import BoxPolicy
from judge.sandbox.docker import seccomp
from judge.sandbox.docker.hardening import INIT_USER
from judge.sandbox.evidence import ProcessReport
from judge.sandbox.runtimes import recipes
from tests.sandbox.conftest import Lodge
from tests.sandbox.guest import Guest

ROOT = Path(__file__).parents[3]
AF_UNIX = 1
SOL_SOCKET = 1
SO_ATTACH_FILTER = 26
SIGSYS = 31
OURS = seccomp.profile_names()

OPENED = {"toolchain": ("flock",), "wine32": ("sendmsg",)}
"""Of the calls that are denied, those that a profile allows: to lock files, as Cargo does; to hand descriptors on, as
Wine does."""

DOORS_OPEN = {
    0: (
        "getpid", "socket-unix", "fcntl-setlk", "fcntl64-setlk64", "fcntl64-setlkw64", "fadvise64", "fadvise64_64",
        "fsync",
    ),
    errno.EPERM: (
        "ptrace", "clone-newuser", "unshare", "socket-inet", "fcntl64-lease", "ioctl-tiocsti", "personality", "ipc",
        "keyctl", "vm86", "setsockopt-filter", "getsockopt-pidfd",
    ),
    errno.ENOSYS: (
        "clone3", "socketcall-inet", "socketcall-vsock", "io_uring_setup", "signalfd4", "timer_create",
        "timerfd_create", "timerfd_settime64",
    ),
}  # fmt: skip
"""Calls through the entry of 32 bits, by the answer under the profile that opens it."""

NO_FILTER = {
    "defaultAction": "SCMP_ACT_ALLOW",
    "archMap": [{"architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X86"]}],
}

NEEDS_NO_RIGHTS = {
    "ptrace", "process_vm_readv", "process_vm_writev", "unshare-files", "keyctl", "add_key", "sendmsg", "sendmmsg",
    "name_to_handle_at", "inotify_init1", "sched_setaffinity", "madvise-cold", "madvise-pageout",
    "sched_setattr", "setpriority", "ioprio_set", "sync", "syncfs", "sync_file_range", "shmget", "semget", "msgget",
    "mknod-fifo", "fchown", "flock", "fcntl-lease", "fcntl-notify", "fcntl-owner", "fcntl-signal", "fcntl-async",
    "fcntl-pipe-size", "ioctl-async", "membarrier-global",
    "personality-no-randomize", "personality-read-implies-exec", "personality-32", "setuid",
}  # fmt: skip
"""What any kernel does for anybody, so that the filter alone prevents it."""


SAME_USER = ("kill", "kill-nothing", "tkill", "tgkill", "prlimit64-get", "prlimit64-set")
"""What the kernel permits for processes of one user, and denies for others."""

READABLE = {
    "arch_status", "attr", "autogroup", "cgroup", "cmdline", "comm", "coredump_filter", "cpuset", "gid_map", "limits",
    "loginuid", "mountinfo", "mounts", "mountstats", "net", "oom_adj", "oom_score", "oom_score_adj", "projid_map",
    "sched", "schedstat", "sessionid", "setgroups", "stat", "statm", "status", "task", "timens_offsets",
    "timerslack_ns", "uid_map", "wchan", "cpu_resctrl_groups", "patch_state",
}  # fmt: skip
"""Files of PID 1 that any user may read."""


def answers(guest: Guest, table: str) -> dict[str, str]:
    """What the kernel said to each call of a table of agents/caller.c."""
    guest.tell(table)
    said = {}
    while (line := guest.line()) != ".":
        name, _, answer = line.partition(" ") if table != "needed" else line.rpartition(" ")
        said[name] = answer
    return said


def caller(lodge: Lodge, profile: str, **fields: int | None) -> Guest:
    return lodge("caller", policy=BoxPolicy(seccomp_of={"native": profile}), **fields).move_in()


def all_are(answer: int | str, said: dict[str, str]) -> bool:
    return said == dict.fromkeys(said, str(answer))


def opened(said: dict[str, str], profile: str) -> dict[str, str]:
    """Take out of the answers those to calls that this profile alone allows."""
    return {name: said.pop(name) for name in OPENED.get(profile, ())}


NAMED = tomllib.loads((ROOT / "docs/system-calls.toml").read_text(encoding="utf-8"))["first"]
"""What docs/system-calls.md says of each call that names PID 1."""

TABLES = {
    "denied": (100, errno.EPERM), "missing": (10, errno.ENOSYS), "skipped": (1, 0), "needed": (13, 0),
    "rights": (1, errno.EPERM),
}  # fmt: skip
"""The least number of calls, and the answer to each: the kernel denies, has no such call, or does what is asked."""


@pytest.fixture
def no_filter(tmp_path: Path) -> str:
    profile = tmp_path / "none.json"
    profile.write_text(json.dumps(NO_FILTER), encoding="ascii")
    return str(profile)


@pytest.mark.docker
@pytest.mark.parametrize("profile", OURS)
def test_each_call_has_its_answer(lodge: Lodge, profile: str) -> None:
    """Calls of all kinds, those that name PID 1, sockets of all families, and their options."""
    guest = caller(lodge, profile)
    said = {table: answers(guest, table) for table in (*TABLES, "first", "sockets", "options")}

    assert dict.fromkeys(OPENED.get(profile, ()), "0") == opened(said["denied"], profile)
    for table, (least, answer) in TABLES.items():
        assert len(said[table]) >= least
        assert all_are(answer, said[table]), said[table]
    documented = {call: row["answer"] for row in NAMED for call in row["calls"]}
    assert documented == {name: errno.errorcode.get(int(answer), "0") for name, answer in said["first"].items()}
    assert "0" == said["sockets"].pop(str(AF_UNIX))
    assert 45 == len(said["sockets"])
    assert all_are(errno.EPERM, said["sockets"])
    assert 2 * 7 * 128 == len(said["options"])
    rules = seccomp.load_profile(profile).only
    named = {f"set-{SOL_SOCKET}-{option}" for option in rules["setsockopt"].values.values()}
    named |= {f"get-{SOL_SOCKET}-{option}" for option in rules["getsockopt"].values.values()}
    assert named == {name for name, answer in said["options"].items() if answer != str(errno.EPERM)}


@pytest.mark.docker
@pytest.mark.parametrize("profile", OURS)
def test_it_is_the_filter_that_denies_and_not_the_kernel(lodge: Lodge, profile: str, tmp_path: Path) -> None:
    """The same profile with a trap where it had an error: every call must fall into it."""
    text = seccomp.engine_text(profile) or ""
    trap = tmp_path / "trap.json"
    trap.write_text(text.replace("SCMP_ACT_ERRNO", "SCMP_ACT_TRAP"), encoding="ascii")
    guest = caller(lodge, str(trap))
    denied = answers(guest, "denied")
    opened(denied, profile)
    assert all_are(f"signal {SIGSYS}", denied)
    missing = answers(guest, "missing")
    assert missing.pop("a-call-of-the-future") in (str(errno.ENOSYS), f"signal {SIGSYS}")
    assert all_are(f"signal {SIGSYS}", missing)


@pytest.mark.docker
def test_without_a_filter_the_same_calls_are_made(lodge: Lodge, no_filter: str) -> None:
    """The control: nothing above fails for a reason of its own."""
    guest = caller(lodge, no_filter)
    said = answers(guest, "denied") | answers(guest, "missing")
    assert dict.fromkeys(NEEDS_NO_RIGHTS, "0") == {name: said[name] for name in NEEDS_NO_RIGHTS}
    assert said["memfd_create"] == said["pidfd_open"] == said["mincore"] == "0"
    assert said["signalfd"] == said["timerfd_create"] == said["timer_create"] == "0"
    assert {str(errno.EBADF), str(errno.ENOMEM)} == set(answers(guest, "skipped").values())
    options = answers(guest, "options")
    assert str(errno.EPERM) != options[f"set-{SOL_SOCKET}-{SO_ATTACH_FILTER}"]
    families = answers(guest, "sockets")
    assert families["2"] == families["16"] == "0"  # AF_INET and AF_NETLINK
    assert answers(guest, "doors")["x86-getpid"] == "0"


@pytest.mark.docker
@pytest.mark.parametrize(("uid", "answer"), [(None, errno.EPERM), (INIT_USER, 0)], ids=["its own", "of PID 1"])
def test_the_user_of_pid_1_protects_it_without_a_filter(
    lodge: Lodge, no_filter: str, uid: int | None, answer: int
) -> None:
    """An agent of the same user is the control."""
    said = answers(caller(lodge, no_filter, uid=uid), "first")
    assert dict.fromkeys(SAME_USER, str(answer)) == {name: said[name] for name in SAME_USER}
    assert "0" == said["clock_gettime"]  # this needs the filter


@pytest.mark.docker
def test_files_of_pid_1_are_not_writable_and_the_readable_ones_are_documented(lodge: Lodge) -> None:
    guest = lodge("puppet").move_in()
    said = {}
    for name in (f"/proc/1/{name}" for name in guest.ask("list /proc/1").split()):
        assert guest.ask(f"write {name}") != "open 0", name
        said[name] = guest.ask(f"read {name}")
    assert {name.removeprefix("/proc/1/") for name, answer in said.items() if answer == "open 0"} <= READABLE


@pytest.mark.docker
def test_calls_through_another_entry_are_killed_and_segments_are_denied(lodge: Lodge) -> None:
    guest = caller(lodge, "native")
    said = answers(guest, "doors")
    assert {"x32-getpid", *(f"x86-{name}" for names in DOORS_OPEN.values() for name in names)} == set(said)
    assert all_are(f"signal {SIGSYS}", said)
    assert answers(guest, "segments") == {"modify_ldt": str(errno.EPERM)}


@pytest.mark.docker
def test_wine_has_the_entry_of_32_bits_with_the_same_answers_and_segments(lodge: Lodge) -> None:
    guest = caller(lodge, "wine32")
    said = answers(guest, "doors")
    assert said.pop("x32-getpid") == f"signal {SIGSYS}"
    assert {f"x86-{name}": str(answer) for answer, names in DOORS_OPEN.items() for name in names} == said
    assert answers(guest, "segments") == {"modify_ldt": "0"}


@pytest.mark.docker
def test_a_program_of_32_bits_runs_under_its_profile_only(lodge: Lodge, program: Path) -> None:
    guest = lodge("thirty-two", policy=BoxPolicy(seccomp_of={"native": "wine32"})).move_in()
    assert guest.ask("hello") == "hello"
    assert lodge("thirty-two", seat=1).move_in().end() == ProcessReport("signalled", SIGSYS)


def names(profile: dict[str, Any], action: str) -> list[str]:
    return [name for rule in profile["syscalls"] if rule["action"] == action for name in rule["names"]]


@pytest.mark.parametrize("name", OURS)
def test_unlisted_system_calls_are_denied(name: str) -> None:
    profile = seccomp.load_profile(name).engine_form()
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    allowed = set(names(profile, "SCMP_ACT_ALLOW"))
    by_argument = {"fcntl", "fcntl64", "msync", "prctl"}
    assert allowed & set(names(profile, "SCMP_ACT_ERRNO")) <= by_argument
    assert not allowed & {"ptrace", "bpf", "mount", "unshare", "setns", "clone3", "mknod"}


@pytest.mark.parametrize("name", OURS)
def test_a_call_is_allowed_in_one_place(name: str) -> None:
    profile = seccomp.load_profile(name)
    calls = [(call, "") for group in profile.allow.values() for call in group]
    for rule in profile.engine_form()["syscalls"]:
        calls += [(call, str(rule["args"])) for call in rule["names"] if "args" in rule]
    assert sorted(set(calls)) == sorted(calls)
    by_value = {call for call, args in calls if args}
    assert not by_value & {call for call, args in calls if not args}


@pytest.mark.parametrize("name", OURS)
def test_a_rule_has_one_condition_for_an_argument(name: str) -> None:
    """The Engine's runtime takes two conditions on one argument as two rules, of which either is enough."""
    for rule in seccomp.load_profile(name).engine_form()["syscalls"]:
        arguments = [condition["index"] for condition in rule.get("args", [])]
        assert len(set(arguments)) == len(arguments)


def test_a_rule_is_about_the_first_argument_and_about_bits_that_are_not_set() -> None:
    """As the Engine reads them: of MASKED_EQ `value` is the mask, `valueTwo` what is left of the argument."""
    rules = list(seccomp.CallRule(calls=("a",), without=6).rules({"action": "x"}))
    condition = {"index": 0, "value": 6, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}

    assert [{"names": ["a"], "action": "x", "args": [condition]}] == rules


def test_a_contest_can_bring_its_own(tmp_path: Path) -> None:
    profile = tmp_path / "own.toml"
    profile.write_text('extends = "native"\n[allow]\nfiles = ["splice2"]\n', encoding="utf-8")
    assert "splice2" in seccomp.load_profile(str(profile)).allow["files"]
    ready = tmp_path / "own.json"
    ready.write_text("{}", encoding="utf-8")
    assert seccomp.engine_text(str(ready)) == "{}"
    assert seccomp.engine_text("engine") is None


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("own.toml", "allow = 3\n", "allow: Input should be a valid dictionary"),
        ("own.toml", "allow = \n", "Invalid value"),
        ("own.toml", "[forbid]\n", "unknown key 'forbid'; "),
        ("own.toml", 'extends = "wine"\n', "there is no seccomp profile 'wine'"),
        ("no.json", "", "cannot be read"),
        ("no.toml", "", "give the path of a seccomp profile"),
        ("default", "", "give engine, native, toolchain, wine32, or a file"),
    ],
)
def test_invalid_or_missing_profile_is_named(tmp_path: Path, name: str, text: str, said: str) -> None:
    if text:
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        seccomp.engine_text(str(tmp_path / name) if "." in name else name)
    assert said in str(caught.value)


def test_a_runtime_has_the_profile_that_it_needs_and_a_policy_may_give_another() -> None:
    policy = BoxPolicy(seccomp_of={"local/wine:1": "wine32"})
    assert seccomp.profile_for(policy, "local/wine:1", "") == "wine32"
    assert seccomp.profile_for(policy, "python", "") == "native"
    wine = recipes()["wine"].seccomp
    assert seccomp.profile_for(policy, "wine", wine) == "wine32"
    assert seccomp.profile_for(BoxPolicy(seccomp_of={"wine": "ours.toml"}), "wine", wine) == "ours.toml"
    assert seccomp.profile_for(policy, "java", recipes()["java"].seccomp) == "native"
