"""The Engine's create arguments. The attacks of tests/attacks show what they prevent."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge.sandbox.box import BoxPolicy, Limits, Tenant
from judge.sandbox.docker import hardening
from judge.sandbox.docker.hardening import container_config
from judge.sandbox.layout import command_in_box

TENANT = Tenant("brain", Path("/staged/brain"), ("brain",), "native", 1, "m-17", cores=(2, 3))

ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/home/agent", "TMPDIR": "/tmp",
    "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1", "USER": "agent", "LOGNAME": "agent",
}  # fmt: skip


def tmpfs(size: int, inodes: int, runs: str = "noexec") -> str:
    return f"rw,nosuid,nodev,{runs},size={size},nr_inodes={inodes},mode=0700,uid=20002,gid=20002"


def bind(source: str, target: str) -> dict[str, Any]:
    options = {"Propagation": "rprivate", "NonRecursive": True}
    return {"Type": "bind", "Source": source, "Target": target, "ReadOnly": True, "BindOptions": options}


def ulimit(name: str, soft: int, hard: int | None = None) -> dict[str, Any]:
    return {"Name": name, "Soft": soft, "Hard": soft if hard is None else hard}


ULIMITS = {
    "core": ulimit("core", 0), "cpu": ulimit("cpu", -1), "fsize": ulimit("fsize", 64 << 20),
    "memlock": ulimit("memlock", 0), "msgqueue": ulimit("msgqueue", 0), "nice": ulimit("nice", 0),
    "nofile": ulimit("nofile", 300), "rtprio": ulimit("rtprio", 0), "sigpending": ulimit("sigpending", 64),
    "stack": ulimit("stack", 8 << 20, -1),
}  # fmt: skip

PROGRAM = bind("/staged/brain", "/agent")
FOLDERS = {"/home/agent": tmpfs(20 << 20, 2048), "/tmp": tmpfs(16 << 20, 1024), "/dev/shm": tmpfs(1 << 20, 257)}

EXPECTED: dict[str, Any] = {
    "Image": "sha256:1",
    "Entrypoint": ["/judge/init", str(16 << 30), "128", "20002"],
    "Cmd": ["/agent/brain", "-v"],
    "User": "0:0",
    "WorkingDir": "/home/agent",
    "Hostname": "box",
    "Env": [f"{name}={value}" for name, value in ENVIRONMENT.items()],
    "Labels": {"judge.game": "m-17", "judge.seat": "1", "judge.owner": "0:1:2:here"},
    "Tty": False,
    **dict.fromkeys(("OpenStdin", "StdinOnce", "AttachStdin", "AttachStdout", "AttachStderr"), True),
    "NetworkDisabled": True,
    "StopTimeout": 1,
    "HostConfig.CapDrop": ["ALL"],
    "HostConfig.CapAdd": ["KILL", "SETGID", "SETPCAP", "SETUID"],
    "HostConfig.Privileged": False,
    "HostConfig.SecurityOpt": ["no-new-privileges"],
    "HostConfig.ReadonlyRootfs": True,
    "HostConfig.ReadonlyPaths": ["/proc"],
    "HostConfig.NetworkMode": "none",
    "HostConfig.IpcMode": "none",
    "HostConfig.CgroupnsMode": "private",
    "HostConfig.Init": False,
    "HostConfig.RestartPolicy": {"Name": "no"},
    "HostConfig.AutoRemove": False,
    "HostConfig.LogConfig": {"Type": "none"},
    "HostConfig.Runtime": "",
    "HostConfig.Sysctls": {"net.core.somaxconn": "0"},
    "HostConfig.Memory": 387 << 20,
    "HostConfig.MemorySwap": 387 << 20,
    "HostConfig.OomScoreAdj": 1000,
    "HostConfig.PidsLimit": 65,
    "HostConfig.Ulimits": list(ULIMITS.values()),
    "HostConfig.Mounts": [PROGRAM],
    "HostConfig.Tmpfs": FOLDERS,
    "HostConfig.CpuShares": 1024,
    "HostConfig.CpusetCpus": "2,3",
}
"""Of `TENANT`, with the default limits and policy, and without what depends on the host: the masked paths."""


def config(
    tenant: Tenant = TENANT, limits: Limits | None = None, policy: BoxPolicy | None = None, **options: Any
) -> dict[str, Any]:
    """Each option by its path; the masked paths are a set."""
    body = container_config(
        image="sha256:1",
        command=("/agent/brain", "-v"),
        tenant=tenant,
        limits=limits or Limits(),
        policy=policy or BoxPolicy(),
        owner="0:1:2:here",
        uid=20002,
        **options,
    )
    host = {f"HostConfig.{name}": value for name, value in body.pop("HostConfig").items()}
    return body | host | {"HostConfig.MaskedPaths": set(host["HostConfig.MaskedPaths"])}


@pytest.fixture(autouse=True)
def no_selinux(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(hardening, "SELINUX", tmp_path / "enforce")


def test_container_has_exactly_these_options() -> None:
    found = config()
    del found["HostConfig.MaskedPaths"]
    assert EXPECTED == found


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"seccomp": "{}"}, {"SecurityOpt": ["no-new-privileges", "seccomp={}"]}),
        ({"maps_users": True}, {"Sysctls": {}}),
        ({"pipes": Path("/x/io")}, {"Mounts": [PROGRAM, bind("/x/io", "/io")]}),
        ({"tenant": replace(TENANT, parking_cores=(0,))}, {"CpusetCpus": "0"}),
        ({"tenant": replace(TENANT, cores=())}, {"CpusetCpus": ""}),
        (
            {"tenant": replace(TENANT, runs_scratch=True)},
            {"Tmpfs": FOLDERS | {"/tmp": tmpfs(16 << 20, 1024, "exec")}},
        ),
        (
            {"limits": Limits(processes=10)},
            {"PidsLimit": 11, "Ulimits": [*(ULIMITS | {"sigpending": ulimit("sigpending", 10)}).values()]},
        ),
        ({"limits": Limits(temporary_bytes=0, scratch_bytes=0, shm_bytes=0)}, {"Tmpfs": {}, "Memory": 350 << 20}),
        (
            {"limits": Limits(persistent_bytes=20 << 20)},
            {"Tmpfs": FOLDERS | {"/persistent": tmpfs(20 << 20, 2048)}, "Memory": 407 << 20},
        ),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, dict) else None,
)
def test_option_changes_only_these_values(options: dict[str, Any], expected: dict[str, Any]) -> None:
    """To a tmpfs a size of 0 is no limit. All writable folders count as memory, which is never swapped."""
    before, after = config(), config(**options)

    if "Memory" in expected:
        expected["MemorySwap"] = expected["Memory"]
    changes = {name.removeprefix("HostConfig."): after[name] for name in before if before[name] != after[name]}
    assert expected == changes


def test_pid_1_gets_limits_and_the_agent_the_environment_of_its_manifest() -> None:
    found = config(replace(TENANT, environment=(("DEPTH", "3"),)), Limits(address_bytes=0, open_files=20))
    assert ["/judge/init", "0", "20", "20002"] == found["Entrypoint"]
    assert {"DEPTH=3"} == {*found["Env"]} - {*EXPECTED["Env"]}


def test_a_runtime_with_its_own_kernel_counts_for_itself() -> None:
    alone = config(policy=BoxPolicy(runtime="runsc"), accounts=Path("/x"))
    accounts = [PROGRAM, bind("/x/passwd", "/etc/passwd"), bind("/x/group", "/etc/group")]

    assert accounts == alone["HostConfig.Mounts"]
    assert not {"/proc/stat", "/proc/meminfo"} & alone["HostConfig.MaskedPaths"]
    assert {"/proc/stat", "/proc/meminfo"} <= config()["HostConfig.MaskedPaths"]


def test_runtime_of_selinux_writes_to_proc() -> None:
    hardening.SELINUX.touch()
    assert "/proc" not in config()["HostConfig.ReadonlyPaths"]
    assert "/proc/sys" in config()["HostConfig.ReadonlyPaths"]


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
        (("./brain", "-v"), ("/agent/brain", "-v")),
        (("brain", "lib/book.bin"), ("/agent/brain", "/agent/lib/book.bin")),
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
