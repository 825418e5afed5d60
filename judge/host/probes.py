"""Tests features of boxes in containers, because an Engine may not do what it reports."""

import time
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from judge.base.errors import HostError
from judge.sandbox.box import BoxPolicy, Limits, Readings, Tenant
from judge.sandbox.docker.docker_box import DockerBox
from judge.sandbox.docker.engine import Engine
from judge.sandbox.docker.hardening import container_config
from judge.sandbox.docker.images import runtime_image
from judge.sandbox.docker.run_in_box import Command, run_in_box
from judge.sandbox.docker.seccomp import load_profile
from judge.sandbox.machine.owner import Owner, owned_directory
from judge.sandbox.machine.users import claim_user

PATIENCE_S = 60.0
FREEZES = 5
FOLDER_BYTES = 1 << 20
SCRIPT = f"""
head -c 4M /dev/zero >/probe/file 2>/dev/null
found=0
[ "$(wc -c </probe/file)" = {FOLDER_BYTES} ] || found=1
(: <>/dev/ptmx) && [ -t 3 ] 3<>/dev/ptmx && found=$((found + 2))
(echo 0 >/proc/self/oom_score_adj) && found=$((found + 4))
exit $found
"""
"""Forbidden actions. The exit code shows which succeeded."""
NO_END, TERMINAL, LESS_LIKELY = 1, 2, 4

SURFACE = """
kernel() {
    find /proc /sys -path '/proc/[0-9]*' -prune -o -type f "$1" -exec stat -c %F '{}' + 2>/dev/null | grep -c regular
}
echo $(kernel -readable) $(kernel -writable) $(find /dev '(' -type c -o -type b ')' | wc -l)
"""
"""Reachable kernel files, except those of the agent's processes in /proc."""
SURFACE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class KernelSurface:
    """Visible to an agent, counted inside a box."""

    calls: int
    readable_files: int
    """In /proc and /sys, except those of the agent's processes."""
    writable_files: int
    devices: int


@dataclass(frozen=True, slots=True)
class BoxTrial:
    """Abilities of boxes on this host."""

    box: str
    """`docker-pipes` if judge and Engine share a kernel, otherwise `docker-attach`."""
    freezer: str
    """Selected by `box.freeze = "auto"`."""
    freeze_us: int
    readings: Readings
    folder_ends: bool
    opens_terminals: bool = False
    """An agent can, although terminals are masked."""
    lowers_oom_score: bool = False
    """An agent can, so that other processes are killed first."""
    surface: KernelSurface | None = None


def try_boxes() -> BoxTrial:
    """Test a box and a volume. Raises HostError."""
    policy = BoxPolicy(start_timeout_s=PATIENCE_S)
    with owned_directory() as program:
        program.chmod(0o755)
        tenant = Tenant("probe", program, ("probe",), "native", 0, "probe")
        box = DockerBox(tenant, Limits(), policy)
        with closing(box):
            box.prepare()
            box.enter()
            freeze_us = min(_freeze(box) for _ in range(FREEZES))
            name, freezer, readings = box.name, box.freezer, box.meter.readings()
        found = _found_inside(tenant, policy)
        return BoxTrial(
            name,
            freezer,
            freeze_us,
            readings,
            folder_ends=not found & NO_END,
            opens_terminals=bool(found & TERMINAL),
            lowers_oom_score=bool(found & LESS_LIKELY),
            surface=_surface(program, policy),
        )


def _freeze(box: DockerBox) -> int:
    began = time.monotonic_ns()
    box.freeze()
    while not box.is_frozen():
        if time.monotonic_ns() - began > PATIENCE_S * 1e9:
            raise HostError(f"the freezer {box.freezer} did not freeze a container in {PATIENCE_S} s")
    took = time.monotonic_ns() - began
    box.thaw()
    return took // 1000


def _found_inside(tenant: Tenant, policy: BoxPolicy) -> int:
    user = claim_user(policy)
    config = container_config(
        image=runtime_image("native"),
        command=["-c", SCRIPT],
        tenant=tenant,
        limits=Limits(),
        policy=policy,
        owner=Owner.me().encode(),
        uid=user.uid,
    )
    config["Entrypoint"] = ["/bin/sh"]
    options = {"type": "tmpfs", "device": "tmpfs", "o": f"size={FOLDER_BYTES},nr_inodes=16,mode=0777"}
    driver = {"Name": "local", "Options": options}
    volume = {"Type": "volume", "Target": "/probe", "VolumeOptions": {"DriverConfig": driver}}
    config["HostConfig"]["Mounts"].append(volume)
    with closing(user), closing(Engine(PATIENCE_S)) as engine:
        container = engine.create(config)
        try:
            engine.start(container)
            engine.wait(container)
            return int(engine.state(container)["ExitCode"])
        finally:
            engine.remove(container)


def _surface(program: Path, policy: BoxPolicy) -> KernelSurface:
    command = Command(
        "probe", program, ("/bin/sh", "-c", SURFACE), "native", Limits(), PATIENCE_S, SURFACE_BYTES, SURFACE_BYTES
    )
    output = BytesIO()
    result = run_in_box(command, policy, output)
    if not result.is_success:
        raise HostError(f"a box could not count what it can reach of the kernel: {result.report}, {result.stderr}")
    return KernelSurface(len(load_profile(policy.seccomp).calls), *map(int, output.getvalue().split()))
