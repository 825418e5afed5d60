"""Two containers that try what boxes rely on: what an Engine says of itself is one thing, what it does another."""

import time
from contextlib import closing
from dataclasses import dataclass

from judge.errors import HostError
from judge.sandbox.box import BoxPolicy, Limits, Readings, Tenant
from judge.sandbox.docker_box import DockerBox
from judge.sandbox.engine import Engine
from judge.sandbox.hardening import container_config
from judge.sandbox.images import runtime_image
from judge.sandbox.owner import Owner, owned_directory
from judge.sandbox.users import claim_user

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
"""What an agent could try; tells in its exit code what it could do."""
NO_END, TERMINAL, LESS_LIKELY = 1, 2, 4


@dataclass(frozen=True, slots=True)
class BoxTrial:
    """What boxes can have on this host."""

    box: str
    """`docker-pipes` where judge and Engine share a kernel, else `docker-attach`."""
    freezer: str
    """Which freezer `box.freeze = "auto"` takes."""
    freeze_us: int
    """From the order to the kernel's word that everything stands still, the shortest of a few."""
    readings: Readings
    folder_ends: bool
    """Whether a tmpfs volume ends exactly at its size."""
    opens_terminals: bool = False
    """Whether an agent can open a terminal, though they are masked."""
    lowers_oom_score: bool = False
    """Whether an agent can make itself as unlikely as the judge to be killed by a host that is out of memory."""


def try_boxes() -> BoxTrial:
    """Make a box and a volume, try them, and leave nothing; HostError where that cannot be done."""
    policy = BoxPolicy(start_timeout_s=PATIENCE_S)
    with owned_directory() as program:
        program.chmod(0o755)
        tenant = Tenant("probe", program, ("probe",), "native", 0, "probe")
        box = DockerBox(tenant, Limits(), policy)
        with closing(box):
            box.prepare()
            box.enter()
            freeze_us = min(_freeze(box) for _ in range(FREEZES))
            name, freezer, readings = box.name, box.freezer, box.readings()
        found = _found_inside(tenant, policy)
        return BoxTrial(
            name,
            freezer,
            freeze_us,
            readings,
            folder_ends=not found & NO_END,
            opens_terminals=bool(found & TERMINAL),
            lowers_oom_score=bool(found & LESS_LIKELY),
        )


def _freeze(box: DockerBox) -> int:
    began = time.monotonic_ns()
    box.freeze()
    while not box.is_frozen():
        if time.monotonic_ns() - began > PATIENCE_S * 1e9:
            raise HostError(f"The freezer {box.freezer} did not stop a container in {PATIENCE_S} s")
    took = time.monotonic_ns() - began
    box.thaw()
    return took // 1000


def _found_inside(tenant: Tenant, policy: BoxPolicy) -> int:
    """Fill a volume as a folder of an agent is made of, and try what an agent should not be able to: see `SCRIPT`."""
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
    config["HostConfig"]["Mounts"].append(_volume())
    with closing(user), closing(Engine(PATIENCE_S)) as engine:
        container = engine.create(config)
        try:
            engine.start(container)
            engine.wait(container)
            return int(engine.state(container)["ExitCode"])
        finally:
            engine.remove(container)


def _volume() -> dict[str, object]:
    options = {"type": "tmpfs", "device": "tmpfs", "o": f"size={FOLDER_BYTES},nr_inodes=16,mode=0777"}
    driver = {"Name": "local", "Options": options}
    return {"Type": "volume", "Target": "/probe", "VolumeOptions": {"DriverConfig": driver}}
