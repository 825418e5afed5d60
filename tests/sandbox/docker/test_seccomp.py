"""Which system calls an agent may make: each tried in a real container, and each denial shown to be the filter's."""

import errno
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.host.build_images import build_images
from judge.sandbox import BoxPolicy
from judge.sandbox.box import ProcessReport
from judge.sandbox.docker import seccomp
from judge.sandbox.docker.hardening import INIT_USER
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
    "x86-getpid": 0,
    "x86-ptrace": errno.EPERM,
    "x86-clone-newuser": errno.EPERM,
    "x86-clone3": errno.ENOSYS,
    "x86-unshare": errno.EPERM,
    "x86-socket-inet": errno.EPERM,
    "x86-socket-unix": 0,
    "x86-socketcall-inet": errno.ENOSYS,
    "x86-socketcall-vsock": errno.ENOSYS,
    "x86-fcntl64-lease": errno.EPERM,
    "x86-ioctl-tiocsti": errno.EPERM,
    "x86-personality": errno.EPERM,
    "x86-ipc": errno.EPERM,
    "x86-keyctl": errno.EPERM,
    "x86-io_uring_setup": errno.ENOSYS,
    "x86-vm86": errno.EPERM,
    "x86-fcntl-setlk": 0,
    "x86-fcntl64-setlk64": 0,
    "x86-fcntl64-setlkw64": 0,
    "x86-fadvise64": 0,
    "x86-fadvise64_64": 0,
    "x86-fsync": 0,
    "x86-signalfd4": errno.ENOSYS,
    "x86-timer_create": errno.ENOSYS,
    "x86-timerfd_create": errno.ENOSYS,
    "x86-timerfd_settime64": errno.ENOSYS,
    "x86-setsockopt-filter": errno.EPERM,
    "x86-getsockopt-pidfd": errno.EPERM,
}

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


SAME_USER = (
    "kill", "kill-nothing", "tkill", "tgkill", "prlimit64-get", "prlimit64-set",
)  # fmt: skip
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


def caller(lodge: Lodge, profile: str) -> Guest:
    return lodge("caller", policy=BoxPolicy(seccomp_of={"native": profile})).move_in()


def all_are(answer: int | str, said: dict[str, str]) -> bool:
    return said == dict.fromkeys(said, str(answer))


def opened(said: dict[str, str], profile: str) -> dict[str, str]:
    """Take out of the answers those to calls that this profile alone allows."""
    return {name: said.pop(name) for name in OPENED.get(profile, ())}


# --- what is denied, call by call ----------------------------------------------------------------


@pytest.mark.docker
@pytest.mark.parametrize("profile", OURS)
def test_each_call_that_is_denied_is_not_permitted(lodge: Lodge, profile: str) -> None:
    said = answers(caller(lodge, profile), "denied")
    assert dict.fromkeys(OPENED.get(profile, ()), "0") == opened(said, profile)
    assert len(said) > 100
    assert all_are(errno.EPERM, said), said


@pytest.mark.docker
@pytest.mark.parametrize("profile", OURS)
def test_each_call_that_libraries_fall_back_from_is_not_there(lodge: Lodge, profile: str) -> None:
    assert all_are(errno.ENOSYS, answers(caller(lodge, profile), "missing"))


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
def test_without_a_filter_the_same_calls_are_made(lodge: Lodge, tmp_path: Path) -> None:
    """The control: nothing above fails for a reason of its own."""
    none = tmp_path / "none.json"
    none.write_text(json.dumps(NO_FILTER), encoding="ascii")
    guest = caller(lodge, str(none))
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


# --- calls that name PID 1 -----------------------------------------------------------------------

NAMED = tomllib.loads((ROOT / "docs/system-calls.toml").read_text(encoding="utf-8"))["first"]
"""What docs/system-calls.md says of each."""


@pytest.mark.docker
@pytest.mark.parametrize("profile", OURS)
def test_each_call_that_names_pid_1_has_the_documented_answer(lodge: Lodge, profile: str) -> None:
    expected = {name: errno.errorcode.get(int(answer), "0") for name, answer in first_of(lodge, profile).items()}
    assert {call: row["answer"] for row in NAMED for call in row["calls"]} == expected


@pytest.mark.docker
def test_an_agent_has_no_rights_and_can_get_none(lodge: Lodge) -> None:
    assert all_are(errno.EPERM, answers(caller(lodge, "native"), "rights"))
    guest = lodge("puppet").move_in()
    for field in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert 0 == int(guest.ask(f"status {field}"), 16), field
    assert "1" == guest.ask("status NoNewPrivs")
    assert "" == guest.ask("status Groups").strip()


@pytest.mark.docker
def test_the_user_of_pid_1_protects_it_without_a_filter(lodge: Lodge, tmp_path: Path) -> None:
    none = tmp_path / "none.json"
    none.write_text(json.dumps(NO_FILTER), encoding="ascii")
    said = first_of(lodge, str(none))
    assert dict.fromkeys(SAME_USER, str(errno.EPERM)) == {name: said[name] for name in SAME_USER}
    assert "0" == said["clock_gettime"]  # this needs the filter


@pytest.mark.docker
def test_an_agent_of_the_same_user_could_change_pid_1(lodge: Lodge, tmp_path: Path) -> None:
    """The control."""
    none = tmp_path / "none.json"
    none.write_text(json.dumps(NO_FILTER), encoding="ascii")
    said = first_of(lodge, str(none), uid=INIT_USER)
    assert dict.fromkeys(SAME_USER, "0") == {name: said[name] for name in SAME_USER}


def first_of(lodge: Lodge, profile: str, uid: int | None = None) -> dict[str, str]:
    return answers(lodge("caller", policy=BoxPolicy(seccomp_of={"native": profile}), uid=uid).move_in(), "first")


@pytest.mark.docker
def test_files_of_pid_1_are_not_writable_and_the_readable_ones_are_documented(lodge: Lodge) -> None:
    guest = lodge("puppet").move_in()
    said = {}
    for name in (f"/proc/1/{name}" for name in guest.ask("list /proc/1").split()):
        assert guest.ask(f"write {name}") != "open 0", name
        said[name] = guest.ask(f"read {name}")
    assert {name.removeprefix("/proc/1/") for name, answer in said.items() if answer == "open 0"} <= READABLE


@pytest.mark.docker
@pytest.mark.parametrize("profile", OURS)
def test_a_socket_is_of_the_unix_family_or_is_not(lodge: Lodge, profile: str) -> None:
    said = answers(caller(lodge, profile), "sockets")
    assert said.pop(str(AF_UNIX)) == "0"
    assert len(said) == 45
    assert all_are(errno.EPERM, said)


@pytest.mark.docker
@pytest.mark.parametrize("profile", OURS)
def test_calls_that_are_skipped_succeed_and_do_nothing(lodge: Lodge, profile: str) -> None:
    assert all_are(0, answers(caller(lodge, profile), "skipped"))


@pytest.mark.docker
@pytest.mark.parametrize("profile", OURS)
def test_options_of_sockets_are_those_that_the_profile_names(lodge: Lodge, profile: str) -> None:
    said = answers(caller(lodge, profile), "options")
    assert 2 * 7 * 128 == len(said)
    rules = seccomp.load_profile(profile).only
    named = {f"set-{SOL_SOCKET}-{option}" for option in rules["setsockopt"].values.values()}
    named |= {f"get-{SOL_SOCKET}-{option}" for option in rules["getsockopt"].values.values()}
    assert named == {name for name, answer in said.items() if answer != str(errno.EPERM)}


@pytest.mark.docker
def test_caller_through_another_entry_is_killed(lodge: Lodge) -> None:
    said = answers(caller(lodge, "native"), "doors")
    assert {"x32-getpid", *DOORS_OPEN} == set(said)
    assert all_are(f"signal {SIGSYS}", said)


@pytest.mark.docker
def test_same_call_through_the_32_bit_entry_is_denied(lodge: Lodge) -> None:
    said = answers(caller(lodge, "wine32"), "doors")
    assert said.pop("x32-getpid") == f"signal {SIGSYS}"
    assert {name: str(answer) for name, answer in DOORS_OPEN.items()} == said


@pytest.mark.docker
def test_segments_are_for_wine_only(lodge: Lodge) -> None:
    assert answers(caller(lodge, "native"), "segments") == {"modify_ldt": str(errno.EPERM)}
    assert answers(caller(lodge, "wine32"), "segments") == {"modify_ldt": "0"}


# --- what programs need --------------------------------------------------------------------------


@pytest.mark.docker
@pytest.mark.parametrize("profile", [*OURS, "engine"])
def test_required_program_files_are_present(lodge: Lodge, profile: str) -> None:
    said = answers(caller(lodge, profile), "needed")
    assert len(said) == 13
    assert all_are(0, said), said


@pytest.mark.docker
def test_a_program_of_32_bits_runs_under_its_profile_only(lodge: Lodge, program: Path) -> None:
    words = ("thirty-two",)
    guest = lodge(*words, policy=BoxPolicy(seccomp_of={"native": "wine32"})).move_in()
    assert guest.ask("hello") == "hello"
    refused = lodge(*words, seat=1).move_in()
    assert refused.end() == ProcessReport("signalled", SIGSYS)


SEVERAL_PROCESSES = r"""
import asyncio, concurrent.futures, multiprocessing, os, sys

async def child():
    words = (sys.executable, "-c", "print(input()[::-1])")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe)
    return (await process.communicate(b"5,7"))[0].strip().decode()

async def server():
    async def serve(reader, writer):
        writer.write((await reader.readline()) * 100000)
        await writer.drain()
        writer.close()
    async with await asyncio.start_unix_server(serve, "/tmp/server"):
        reader, writer = await asyncio.open_unix_connection("/tmp/server")
        writer.write(b"0123456789\n")
        return len(await reader.read())

if __name__ == "__main__":
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        print(sum(pool.map(abs, range(-9, 0))))
    process = multiprocessing.get_context("spawn").Process(target=os.write, args=(1, b"spawned\n"))
    process.start()
    process.join()
    print(asyncio.run(child()), asyncio.run(server()))
"""


@pytest.mark.docker
def test_several_processes_of_python_speak_with_each_other(lodge: Lodge, tmp_path: Path) -> None:
    build_images(["python"])
    tmp_path.chmod(0o755)
    (tmp_path / "main.py").write_text(SEVERAL_PROCESSES, encoding="ascii")
    words = ("python3", "main.py")
    guest = lodge(*words, staged=tmp_path, runtime="python").move_in()
    assert [guest.line() for _ in range(3)] == ["45", "spawned", "7,5 1100000"]


# --- the sources ---------------------------------------------------------------------------------


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


def test_a_profile_adds_calls_and_values_to_the_parts_of_its_base() -> None:
    rules = seccomp.load_profile("wine32").engine_form()["syscalls"]
    fcntl = [rule for rule in rules if rule["names"] == ["fcntl", "fcntl64"]]
    by_action = {
        action: [rule["args"][0]["value"] for rule in fcntl if rule["action"] == action and len(rule["args"]) == 1]
        for action in ("SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO")
    }
    assert {"SCMP_ACT_ALLOW": [0, 1, 2, 3, 5, 1030, 1032, 12], "SCMP_ACT_ERRNO": [6, 7, 13, 14]} == by_action
    assert [rule for rule in fcntl if len(rule["args"]) == 2] == [
        {
            "names": ["fcntl", "fcntl64"],
            "action": "SCMP_ACT_ALLOW",
            "args": [
                {"index": 1, "value": 4, "op": "SCMP_CMP_EQ"},
                {"index": 2, "value": 0x2000, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"},
            ],
        }
    ]


def test_a_profile_that_extends_has_all_of_its_base() -> None:
    native, wine = (seccomp.load_profile(name) for name in ("native", "wine32"))
    assert {"socketcall", "timer_settime64"} <= set(wine.missing) - set(native.missing)
    for group, calls in native.allow.items():
        assert set(calls) <= set(wine.allow[group])
    assert native.entries["x86_64"] == ()
    assert wine.entries == {"x86_64": ("x86",), "aarch64": ()}


def test_a_contest_can_bring_its_own(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('extends = "native"\n[allow]\nfiles = ["splice2"]\n', encoding="utf-8")
    assert "splice2" in seccomp.load_profile(str(own)).allow["files"]
    ready = tmp_path / "own.json"
    ready.write_text("{}", encoding="utf-8")
    assert seccomp.engine_text(str(ready)) == "{}"
    assert seccomp.engine_text("engine") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("allow = 3\n", "allow: Input should be a valid dictionary"),
        ("allow = \n", "Invalid value"),
        ("[forbid]\n", "unknown key 'forbid'; "),
        ('extends = "wine"\n', "there is no seccomp profile 'wine'"),
    ],
)
def test_invalid_profile_is_named(tmp_path: Path, text: str, said: str) -> None:
    own = tmp_path / "own.toml"
    own.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        seccomp.load_profile(str(own))
    assert said in str(caught.value)


def test_a_profile_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give engine, native, toolchain, wine32, or a file"):
        seccomp.engine_text("default")
    for name, said in (("no.json", "cannot be read"), ("no.toml", "give the path of a seccomp profile")):
        with pytest.raises(InputError, match=said):
            seccomp.engine_text(str(tmp_path / name))


def test_a_runtime_can_have_its_own() -> None:
    policy = BoxPolicy(seccomp_of={"local/wine:1": "wine32"})
    assert seccomp.profile_for(policy, "local/wine:1", "") == "wine32"
    assert seccomp.profile_for(policy, "python", "") == "native"
