"""The Engine's create arguments, one promise a test."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge.sandbox import BoxPolicy, Limits, Tenant
from judge.sandbox.box import FolderKind
from judge.sandbox.docker import hardening
from judge.sandbox.docker.hardening import container_config
from judge.sandbox.layout import command_in_box

TENANT = Tenant("brain", Path("/staged/brain"), ("brain",), "native", 1, "m-17", cores=(2, 3))


def config(
    tenant: Tenant = TENANT,
    limits: Limits | None = None,
    policy: BoxPolicy | None = None,
    pipes: Path | None = None,
    accounts: Path | None = None,
    seccomp: str | None = None,
    *,
    maps_users: bool = False,
) -> dict[str, Any]:
    return container_config(
        image="sha256:1",
        command=("/agent/brain", "-v"),
        tenant=tenant,
        limits=limits or Limits(),
        policy=policy or BoxPolicy(),
        owner="0:1:2:here",
        uid=20002,
        pipes=pipes,
        accounts=accounts,
        seccomp=seccomp,
        maps_users=maps_users,
    )


def host(**options: Any) -> dict[str, Any]:
    return dict(config(**options)["HostConfig"])


def test_pid_1_is_ours_and_runs_the_agent() -> None:
    body = config()
    assert body["Entrypoint"] == ["/judge/init", str(16 << 30), "128", "20002"]
    assert body["Cmd"] == ["/agent/brain", "-v"]
    assert host()["Init"] is False


def test_pid_1_starts_as_root_and_makes_the_agent_the_user_that_its_box_has_claimed() -> None:
    assert config()["User"] == "0:0"
    assert config()["Entrypoint"][-1] == "20002"


def test_pid_1_has_the_rights_to_change_users_and_to_kill() -> None:
    assert host()["CapDrop"] == ["ALL"]
    assert host()["CapAdd"] == ["KILL", "SETGID", "SETPCAP", "SETUID"]
    assert host()["SecurityOpt"] == ["no-new-privileges"]
    assert host()["Privileged"] is False
    assert host()["ReadonlyRootfs"] is True


def test_terminals_and_all_paths_masked_by_the_engine_are_masked() -> None:
    assert {"/dev/ptmx", "/dev/pts", "/proc/kcore", "/proc/keys", "/sys/firmware"} <= set(host()["MaskedPaths"])


def test_files_of_the_kernel_that_lock_or_show_others_are_masked() -> None:
    masked = set(host()["MaskedPaths"])
    assert {"/proc/locks", "/proc/pressure", "/proc/zoneinfo", "/proc/sys/fs", "/sys/kernel", "/dev/mqueue"} <= masked
    assert {"/sys/fs/cgroup/cgroup.events", "/sys/fs/cgroup/cpu.pressure"} <= masked
    assert not masked & {"/proc/cpuinfo", "/proc/cgroups", "/sys/fs/cgroup"}


def test_counters_of_the_whole_host_are_files_of_the_judge_or_masked() -> None:
    counters = {"/proc/stat", "/proc/loadavg", "/proc/meminfo", "/proc/uptime"}
    mounted = host(accounts=Path("/tmp/judge-box-1"))
    assert counters <= {mount["Target"] for mount in mounted["Mounts"]}
    assert not counters & set(mounted["MaskedPaths"])
    assert counters <= set(host()["MaskedPaths"])


def test_a_box_with_a_separate_kernel_has_its_counters() -> None:
    alone = host(policy=BoxPolicy(runtime="runsc"), accounts=Path("/tmp/judge-box-1"))
    assert not [mount for mount in alone["Mounts"] if mount["Target"].startswith("/proc/")]
    assert "/proc/stat" not in alone["MaskedPaths"]


def test_one_connection_waits_at_a_socket_where_the_setting_can_be_made() -> None:
    assert host()["Sysctls"] == {"net.core.somaxconn": "0"}
    assert host(maps_users=True)["Sysctls"] == {}


@pytest.mark.skipif(not Path("/sys/devices/system/cpu").exists(), reason="this host shows no devices")
def test_of_the_devices_an_agent_sees_the_processors_only() -> None:
    masked = {path for path in host()["MaskedPaths"] if path.startswith("/sys/devices/")}
    shown = {str(path) for path in Path("/sys/devices").iterdir()} - masked
    assert {"/sys/devices/system"} == shown
    assert {"/sys/devices/system/cpu"} == {str(path) for path in Path("/sys/devices/system").iterdir()} - masked


def test_proc_is_read_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(hardening, "SELINUX", tmp_path / "enforce")
    assert ["/proc"] == host()["ReadonlyPaths"]
    (tmp_path / "enforce").touch()
    assert "/proc/sys" in host()["ReadonlyPaths"]


def test_a_seccomp_profile_is_handed_over_as_text() -> None:
    assert host(seccomp="{}")["SecurityOpt"] == ["no-new-privileges", "seccomp={}"]


def test_an_apparmor_profile_is_asked_for_by_name() -> None:
    assert host(policy=BoxPolicy(apparmor="docker-default"))["SecurityOpt"] == [
        "no-new-privileges",
        "apparmor=docker-default",
    ]


def test_agent_has_no_network_connection() -> None:
    assert host()["NetworkMode"] == "none"
    assert host()["IpcMode"] == "none"
    assert host()["CgroupnsMode"] == "private"


def test_nothing_of_a_container_outlives_it() -> None:
    assert host()["RestartPolicy"] == {"Name": "no"}
    assert host()["LogConfig"] == {"Type": "none"}


def test_streams_stay_apart_and_end_with_the_judge() -> None:
    body = config()
    assert body["Tty"] is False
    assert body["OpenStdin"] is True
    assert body["StdinOnce"] is True


def test_memory_is_capped_with_all_writable_folders_and_without_swap() -> None:
    limits = Limits(
        memory_bytes=100 << 20,
        temporary_bytes=20 << 20,
        persistent_bytes=20 << 20,
        scratch_bytes=5 << 20,
        shm_bytes=1 << 20,
    )
    assert host(limits=limits)["Memory"] == 146 << 20
    assert host(limits=limits)["MemorySwap"] == 146 << 20


def test_shared_memory_has_a_file_for_each_page_at_most() -> None:
    shared = host(limits=Limits(shm_bytes=1 << 20))
    assert (
        "rw,nosuid,nodev,noexec,size=1048576,nr_inodes=257,mode=0700,uid=20002,gid=20002" == shared["Tmpfs"]["/dev/shm"]
    )
    assert "none" == shared["IpcMode"]


def test_the_account_files_are_mounted_read_only() -> None:
    mounts = host(accounts=Path("/tmp/judge-box-1"))["Mounts"][1:]
    assert [
        ("/tmp/judge-box-1/passwd", "/etc/passwd", True),
        ("/tmp/judge-box-1/group", "/etc/group", True),
    ] == [(mount["Source"], mount["Target"], mount["ReadOnly"]) for mount in mounts][:2]


def test_processes_are_the_agent_s_own_and_pid_1() -> None:
    assert host(limits=Limits(processes=10))["PidsLimit"] == 11


def test_pid_1_gets_the_limits_of_address_space_and_open_files() -> None:
    limits = Limits(address_bytes=0, open_files=20)
    body = config(limits=limits)
    assert body["Entrypoint"][:3] == ["/judge/init", "0", "20"]


def test_resource_limits_name_no_processes_and_none_that_the_engine_does_not_know() -> None:
    limits = {limit["Name"]: (limit["Soft"], limit["Hard"]) for limit in host()["Ulimits"]}
    assert limits["core"] == (0, 0)
    assert limits["nofile"] == (300, 300)
    assert (64, 64) == limits["sigpending"]
    assert limits["stack"] == (8 << 20, -1)
    assert not {"as", "nproc"} & set(limits)


def test_the_host_kills_an_agent_before_the_judge() -> None:
    assert 1000 == host()["OomScoreAdj"]


def test_folders_end_at_the_byte_and_run_nothing() -> None:
    tmpfs = host()["Tmpfs"]
    assert set(tmpfs) == {"/home/agent", "/tmp", "/dev/shm"}
    assert tmpfs["/home/agent"] == ("rw,nosuid,nodev,noexec,size=20971520,nr_inodes=2048,mode=0700,uid=20002,gid=20002")
    assert config()["WorkingDir"] == "/home/agent"


def test_build_runs_its_own_programs_only_in_its_scratch_space() -> None:
    tmpfs = host(tenant=replace(TENANT, runs_scratch=True))["Tmpfs"]

    assert tmpfs["/tmp"].startswith("rw,nosuid,nodev,exec,size=")
    assert tmpfs["/home/agent"].startswith("rw,nosuid,nodev,noexec,size=")


def test_a_folder_of_no_bytes_cannot_be_written_rather_than_without_end() -> None:
    """To a tmpfs, a size of 0 is no limit."""
    assert host(limits=Limits(temporary_bytes=0, scratch_bytes=0, shm_bytes=0))["Tmpfs"] == {}


def test_kept_folders_are_volumes_in_place_of_fresh_ones() -> None:
    limits = Limits(persistent_bytes=1 << 20)
    kept = replace(TENANT, folders={FolderKind.PERSISTENT: "volume-1"})
    assert set(host(limits=limits)["Tmpfs"]) == {"/home/agent", "/persistent", "/tmp", "/dev/shm"}
    assert set(host(limits=limits, tenant=kept)["Tmpfs"]) == {"/home/agent", "/tmp", "/dev/shm"}
    _, mount = host(limits=limits, tenant=kept)["Mounts"]
    assert (mount["Type"], mount["Source"], mount["Target"]) == (
        "volume",
        "volume-1",
        "/persistent",
    )


def test_the_program_is_mounted_read_only() -> None:
    (mount,) = host()["Mounts"]
    assert (mount["Source"], mount["Target"]) == ("/staged/brain", "/agent")
    assert mount["ReadOnly"] is True


def test_pipes_are_mounted_read_only_where_there_are_any() -> None:
    _, mount = host(pipes=Path("/tmp/judge-box-1/io"))["Mounts"]
    assert (mount["Source"], mount["Target"]) == ("/tmp/judge-box-1/io", "/io")
    assert mount["ReadOnly"] is True


def test_a_box_runs_on_its_cores_or_in_its_cradle_first() -> None:
    assert host()["CpusetCpus"] == "2,3"
    nursed = Tenant("b", Path("/b"), ("b",), "native", 0, "m", cores=(3,), parking_cores=(0,))
    assert host(tenant=nursed)["CpusetCpus"] == "0"
    assert host(tenant=Tenant("b", Path("/b"), ("b",), "native", 0, "m"))["CpusetCpus"] == ""


def test_environment_is_a_short_list_plus_the_manifest() -> None:
    assert {line.partition("=")[0] for line in config()["Env"]} == {
        "PATH",
        "HOME",
        "TMPDIR",
        "LANG",
        "PYTHONUNBUFFERED",
        "USER",
        "LOGNAME",
    }
    added = Tenant("b", Path("/b"), ("b",), "native", 0, "m", environment=(("DEPTH", "3"),))
    assert "DEPTH=3" in config(tenant=added)["Env"]


def test_labels_name_the_owner() -> None:
    assert config()["Labels"] == {
        "judge.game": "m-17",
        "judge.seat": "1",
        "judge.owner": "0:1:2:here",
    }


# --- the command ---------------------------------------------------------------------------------


@pytest.fixture
def staged(tmp_path: Path) -> Path:
    (tmp_path / "lib").mkdir()
    for name in ("brain", "main.py", "lib/book.bin"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "out").symlink_to("/etc/passwd")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("brain",), ("/agent/brain",)),
        (("./brain", "-v"), ("/agent/brain", "-v")),
        (("python3", "main.py"), ("python3", "/agent/main.py")),
        (("brain", "lib/book.bin"), ("/agent/brain", "/agent/lib/book.bin")),
        (("brain", "lib"), ("/agent/brain", "lib")),
        (("java", "-cp", ".", "Main"), ("java", "-cp", "/agent", "Main")),
        (("brain", "./lib", ".."), ("/agent/brain", "/agent/lib", "..")),
        (("brain", "out"), ("/agent/brain", "out")),
        (("brain", "../x", "lib/../main.py"), ("/agent/brain", "../x", "/agent/main.py")),
        (("/usr/bin/env", ""), ("/usr/bin/env", "")),
        (("java", "-cp", ".:lib/book.bin", "Main"), ("java", "-cp", "/agent:/agent/lib/book.bin", "Main")),
        (("java", "-cp", "lib:lib/*", "Main"), ("java", "-cp", "/agent/lib:/agent/lib/*", "Main")),
        (
            ("brain", "lib:../x", "lib:", "lib:gone", "lib:out"),
            ("/agent/brain", "lib:../x", "lib:", "lib:gone", "lib:out"),
        ),
    ],
)
def test_words_that_name_files_of_the_program_become_paths(
    staged: Path, command: tuple[str, ...], words: tuple[str, ...]
) -> None:
    tenant = Tenant("b", staged, command, "native", 0, "m")
    assert command_in_box(tenant, "/agent") == words
